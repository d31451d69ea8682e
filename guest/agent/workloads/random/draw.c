// SPDX-License-Identifier: GPL-2.0-only
/* draw.c - see draw.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/random/history.h"

#define TEXT_STEP ((size_t)64 << 10)

static void append(struct draws *draws, const char *text, size_t bytes)
{
	if (draws->bytes + bytes + 1 > draws->room) {
		draws->room += bytes + TEXT_STEP;
		draws->text = realloc(draws->text, draws->room);
		if (!draws->text)
			exit(3);
	}
	memcpy(draws->text + draws->bytes, text, bytes);
	draws->bytes += bytes;
	draws->text[draws->bytes] = '\0';
}

static void tell(struct history *h, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void tell(struct history *h, const char *format, ...)
{
	char word[320];
	va_list arguments;
	int bytes;

	if (!h->draws.told)
		return;
	va_start(arguments, format);
	bytes = vsnprintf(word, sizeof(word), format, arguments);
	va_end(arguments);
	append(&h->draws, word, bytes);
}

bool draws_replaying(const struct history *h)
{
	return h->draws.rest;
}

/* Return: the next word of the line, "" at its end. */
static const char *next_word(struct draws *draws)
{
	char *word = draws->rest + strspn(draws->rest, " ");
	size_t length = strcspn(word, " ");

	draws->rest = word + length;
	if (*draws->rest)
		*draws->rest++ = '\0';
	return word;
}

/* --- numbers ------------------------------------------------------------- */

static uint64_t number(struct history *h, uint64_t drawn)
{
	tell(h, " %llu", (unsigned long long)drawn);
	return drawn;
}

static uint64_t replayed(struct history *h)
{
	return strtoull(next_word(&h->draws), NULL, 10);
}

/* The model may differ from what it was, and so may the bound. */
uint64_t draw_below(struct history *h, uint64_t bound)
{
	if (draws_replaying(h))
		return replayed(h) % bound;
	return number(h, rng_below(&h->draws.rng, bound));
}

uint64_t draw_between(struct history *h, uint64_t low, uint64_t high)
{
	return low + draw_below(h, high - low + 1);
}

uint64_t draw_next(struct history *h)
{
	if (draws_replaying(h))
		return replayed(h);
	return number(h, rng_next(&h->draws.rng));
}

/* --- names --------------------------------------------------------------- */

static void tell_name(struct history *h, const char *name)
{
	for (; h->draws.told && *name; name++) {
		unsigned char c = *name;

		if (c > ' ' && c < 127 && c != '%' && c != '#')
			append(&h->draws, name, 1);
		else
			tell(h, "%%%02x", c);
	}
}

static void tell_path(struct history *h, const struct entry *entry)
{
	if (entry->dir->self)
		tell_path(h, entry->dir->self);
	tell(h, "/");
	tell_name(h, entry->name);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One name of at most 255 bytes, up to a slash or the end.  Return: its end. */
static const char *read_name(const char *text, char *name)
{
	size_t length = 0;

	while (*text && *text != '/' && length < 255) {
		bool coded = *text == '%' && hex_digit(text[1]) >= 0 &&
			     hex_digit(text[2]) >= 0;

		name[length++] = coded ? hex_digit(text[1]) * 16 +
					 hex_digit(text[2]) : *text;
		text += coded ? 3 : 1;
	}
	name[length] = '\0';
	return text;
}

static struct entry *find_path(struct history *h, const char *path)
{
	struct node *dir = h->model.root;
	struct entry *entry = NULL;
	char name[256];

	while (*path == '/') {
		path = read_name(path + 1, name);
		entry = dir ? entry_find(dir, name) : NULL;
		dir = entry && S_ISDIR(entry->node->mode) ? entry->node : NULL;
	}
	return entry;
}

struct entry *draw_entry(struct history *h, struct entry *chosen)
{
	if (draws_replaying(h))
		return find_path(h, next_word(&h->draws));
	tell(h, chosen ? " " : " -");
	if (chosen)
		tell_path(h, chosen);
	return chosen;
}

int draw_handle(struct history *h, int chosen)
{
	if (draws_replaying(h)) {
		const char *word = next_word(&h->draws);

		return *word == '@' ? atoi(word + 1) % HANDLES : -1;
	}
	if (chosen < 0)
		tell(h, " -");
	else
		tell(h, " @%d", chosen);
	return chosen;
}

void draw_name(struct history *h, char *name)
{
	if (draws_replaying(h)) {
		const char *word = next_word(&h->draws);

		read_name(*word == '=' ? word + 1 : "lost", name);
		return;
	}
	tell(h, " =");
	tell_name(h, name);
}

/* --- lines --------------------------------------------------------------- */

static void begin_aux(struct history *h)
{
	rng_seed(&h->aux, rng_mix(~h->opt.seed) + h->op);
}

void draws_begin(struct history *h, const char *name)
{
	begin_aux(h);
	h->draws.did[0] = '\0';
	tell(h, "%llu %s", (unsigned long long)h->op, name);
}

void draws_end(struct history *h)
{
	tell(h, " # %s\n", h->draws.did);
}

const char *draws_open_line(struct history *h, char *line)
{
	char *words = strstr(line, " # ");

	if (words)
		*words = '\0';
	h->draws.rest = line;
	h->op = replayed(h);
	begin_aux(h);
	return next_word(&h->draws);
}

void draws_close_line(struct history *h)
{
	h->draws.rest = NULL;
}
