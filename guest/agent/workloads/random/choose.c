// SPDX-License-Identifier: GPL-2.0-only
/*
 * choose.c - random operands: names, files, offsets, lengths, contents.
 *
 * Uniform choices find few bugs.  Names are often as long as they may be;
 * offsets and sizes are often at a boundary of the file system's chunks or of
 * memory pages, or a few bytes beside it; contents are sometimes all zeros, or
 * all ones as erased flash is.
 */
#include <string.h>

#include "workloads/random/history.h"

#define TRIES 24

bool chance(struct history *h, unsigned int percent)
{
	return draw_below(h, 100) < percent;
}

static unsigned int kind_of(const struct node *node)
{
	if (S_ISREG(node->mode))
		return KIND_FILE;
	if (S_ISDIR(node->mode))
		return KIND_DIR;
	return S_ISLNK(node->mode) ? KIND_LINK : KIND_SPECIAL;
}

static struct entry *try_entries(struct history *h, unsigned int kinds)
{
	int i;

	for (i = 0; i < TRIES && h->model.entries; i++) {
		size_t at = rng_below(&h->draws.rng, h->model.entries);

		if (kinds & kind_of(h->model.entry[at]->node))
			return h->model.entry[at];
	}
	return NULL;
}

/* Return: NULL if none was met in some tries. */
struct entry *pick_entry(struct history *h, unsigned int kinds)
{
	struct entry *entry = draws_replaying(h) ? NULL : try_entries(h, kinds);

	entry = draw_entry(h, entry);
	return entry && kinds & kind_of(entry->node) ? entry : NULL;
}

struct node *pick_dir(struct history *h)
{
	struct entry *entry = chance(h, 80) ? pick_entry(h, KIND_DIR) : NULL;

	return entry ? entry->node : h->model.root;
}

struct handle *pick_handle(struct history *h)
{
	int i, at = -1;

	for (i = 0; i < HANDLES && at < 0 && !draws_replaying(h); i++) {
		at = rng_below(&h->draws.rng, HANDLES);
		if (!h->handle[at].node)
			at = -1;
	}
	at = draw_handle(h, at);
	return at >= 0 && h->handle[at].node ? &h->handle[at] : NULL;
}

static bool forbidden(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..") ||
	       !strcmp(name, SCRATCH) || !strcmp(name, "lost+found");
}

static void invent_name(struct history *h, char *name)
{
	static const char readable[] =
		"abcdefghijklmnopqrstuvwxyz0123456789-_.";
	struct rng *rng = &h->draws.rng;
	unsigned int kind = rng_below(rng, 100);
	size_t i, length = rng_between(rng, 1, 9);

	if (kind >= 94)
		length = h->opt.name_used - rng_below(rng, 3);
	else if (kind >= 84)
		length = h->opt.name_used;
	else if (kind >= 76)
		length = rng_between(rng, 10, h->opt.name_used);
	do {
		for (i = 0; i < length; i++) {
			unsigned char c = rng_next(rng) >> 32;

			if (kind < 88)
				c = readable[c % (sizeof(readable) - 1)];
			else if (c == '/' || c == '\0')
				c = 0xff;
			name[i] = c;
		}
		name[length] = '\0';
	} while (forbidden(name));
}

/* @name has room for the longest name and its end. */
void new_name(struct history *h, char *name)
{
	if (!draws_replaying(h))
		invent_name(h, name);
	draw_name(h, name);
}

uint64_t bytes_left(const struct history *h)
{
	return h->opt.bytes_max > h->model.bytes ?
	       h->opt.bytes_max - h->model.bytes : 0;
}

/* The length of a write, within what is left for contents. */
uint64_t choose_length(struct history *h)
{
	unsigned int kind = draw_below(h, 100);
	uint64_t length, left = bytes_left(h);

	if (kind < 25)
		length = draw_between(h, 1, 100);
	else if (kind < 45)
		length = draw_between(h, 1, 4096);
	else if (kind < 55)
		length = h->opt.chunk * draw_between(h, 1, 6);
	else if (kind < 85)
		length = draw_between(h, 1, 32 * 1024);
	else
		length = draw_between(h, 1, 128 * 1024);
	if (length > left)
		length = left / 2;
	return length < BUFFER_BYTES ? length : BUFFER_BYTES;
}

/* A multiple of the chunk or the page below @limit, or a few bytes beside. */
static uint64_t near_boundary(struct history *h, uint64_t limit)
{
	uint64_t unit = chance(h, 60) ? h->opt.chunk : PAGE;
	uint64_t at = unit * draw_below(h, limit / unit + 2);

	if (chance(h, 50))
		return at;
	if (chance(h, 50))
		return at + draw_between(h, 1, 5);
	at += unit;
	return at - draw_between(h, 1, 5);
}

static uint64_t largest(struct history *h)
{
	return chance(h, 4) ? h->opt.sparse_max : h->opt.file_max;
}

uint64_t choose_offset(struct history *h, const struct node *file)
{
	unsigned int kind = draw_below(h, 100);
	uint64_t offset;

	if (kind < 30)
		offset = draw_below(h, file->size + 1);
	else if (kind < 55)
		offset = near_boundary(h, file->size);
	else if (kind < 80)
		offset = file->size;
	else if (kind < 92)
		offset = file->size + draw_below(h, 16 * 1024);
	else
		offset = draw_below(h, largest(h));
	return offset < h->opt.sparse_max ? offset : h->opt.sparse_max;
}

uint64_t choose_size(struct history *h, const struct node *file)
{
	unsigned int kind = draw_below(h, 100);
	uint64_t size;

	if (kind < 12)
		size = 0;
	else if (kind < 40)
		size = draw_below(h, file->size + 1);
	else if (kind < 65)
		size = near_boundary(h, file->size);
	else if (kind < 72)
		size = file->size;
	else if (kind < 90)
		size = file->size + draw_below(h, 20 * 1024);
	else
		size = draw_below(h, largest(h));
	return size < h->opt.sparse_max ? size : h->opt.sparse_max;
}

void fill_data(struct history *h, unsigned char *data, size_t bytes)
{
	unsigned int kind = draw_below(h, 100);
	struct rng rng;
	uint64_t word;
	size_t i;

	rng_seed(&rng, draw_next(h));
	if (kind < 6)
		memset(data, 0, bytes);
	else if (kind < 12)
		memset(data, 0xff, bytes);
	else if (kind < 20)
		memset(data, 'a' + rng_next(&rng) % 26, bytes);
	if (kind < 20)
		return;
	for (i = 0; i + sizeof(word) <= bytes; i += sizeof(word)) {
		word = rng_next(&rng);
		memcpy(data + i, &word, sizeof(word));
	}
	rng_fill(&rng, data + i, bytes - i);
}
