// SPDX-License-Identifier: GPL-2.0-only
/*
 * settings.c - the "set" commands; see postmark.h.
 *
 * A value that is refused leaves the setting as it was, as in Postmark.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "postmark/commands.h"

#define LOCATIONS_MAX 4096

void complain(struct postmark *postmark, const struct origin *origin,
	      const char *format, ...)
{
	va_list args;

	postmark->misunderstood = true;
	fprintf(postmark->errors, "Error: %s:%u: ", origin->file, origin->line);
	va_start(args, format);
	vfprintf(postmark->errors, format, args);
	va_end(args);
	fputc('\n', postmark->errors);
}

/* --- arguments ---------------------------------------------------------- */

/*
 * A decimal number that ends at a blank or the end.
 * Return: where it ends, or NULL if there is none in [low, high].
 */
static const char *take_number(const char *text, long long low, long long high,
			       long long *number)
{
	char *end;

	errno = 0;
	*number = strtoll(text, &end, 10);
	if (errno || end == text || (*end && !isspace((unsigned char)*end)) ||
	    *number < low || *number > high)
		return NULL;
	return end + strspn(end, " \t\r\v\f");
}

static bool set_number(struct postmark *postmark, const struct origin *origin,
		       const char *argument, long long low, long long high,
		       uint32_t *target, const char *what)
{
	long long number;

	if (!take_number(argument, low, high, &number)) {
		complain(postmark, origin,
			 "'%s' is no %s; it takes a number from %lld to %lld",
			 argument, what, low, high);
		return false;
	}
	*target = (uint32_t)number;
	return true;
}

static void set_switch(struct postmark *postmark, const struct origin *origin,
		       const char *argument, bool *target, const char *what)
{
	size_t length = strcspn(argument, " \t\r");

	if (length == 4 && !strncmp(argument, "true", 4))
		*target = true;
	else if (length == 5 && !strncmp(argument, "false", 5))
		*target = false;
	else
		complain(postmark, origin, "%s takes true or false, not '%s'",
			 what, argument);
}

/* --- locations ---------------------------------------------------------- */

static void forget_location(struct ffsmark_params *params, size_t index)
{
	free(params->locations[index].path);
	params->n_locations--;
	memmove(&params->locations[index], &params->locations[index + 1],
		(params->n_locations - index) * sizeof(*params->locations));
}

void postmark_forget_locations(struct ffsmark_params *params)
{
	while (params->n_locations)
		forget_location(params, params->n_locations - 1);
}

static void add_location(struct postmark *postmark, const struct origin *origin,
			 const char *path, size_t length, uint32_t weight)
{
	struct ffsmark_params *params = &postmark->params;
	struct ffsmark_location *larger;
	char *copy;

	if (params->n_locations == LOCATIONS_MAX) {
		complain(postmark, origin, "more than %d locations",
			 LOCATIONS_MAX);
		return;
	}
	larger = realloc(params->locations,
			 (params->n_locations + 1) * sizeof(*larger));
	if (larger)
		params->locations = larger;
	copy = strndup(path, length);
	if (!larger || !copy) {
		free(copy);
		complain(postmark, origin, "no memory for a location");
		return;
	}
	larger[params->n_locations].path = copy;
	larger[params->n_locations].weight = weight;
	params->n_locations++;
}

static void remove_location(struct postmark *postmark,
			    const struct origin *origin, const char *path)
{
	struct ffsmark_params *params = &postmark->params;
	size_t i;

	for (i = 0; i < params->n_locations; i++)
		if (!strcmp(params->locations[i].path, path)) {
			forget_location(params, i);
			return;
		}
	complain(postmark, origin, "'%s' is not among the locations", path);
}

/* "set location PATH [WEIGHT]" replaces all, +PATH adds, -PATH removes. */
void command_location(struct postmark *postmark, const struct origin *origin,
		      const char *argument)
{
	bool add = *argument == '+';
	size_t length;
	const char *blank;
	long long weight = 1;

	if (*argument == '-') {
		remove_location(postmark, origin, argument + 1);
		return;
	}
	argument += add;
	length = strlen(argument);
	blank = strrchr(argument, ' ');
	if (blank) {
		length = (size_t)(blank - argument);
		if (!take_number(blank + 1, 1, 1000000, &weight)) {
			complain(postmark, origin,
				 "'%s' is no weight (1 to 1000000); 1 is taken",
				 blank + 1);
			weight = 1;
		}
	}
	if (!length) {
		complain(postmark, origin, "a directory is missing");
		return;
	}
	if (!add)
		postmark_forget_locations(&postmark->params);
	add_location(postmark, origin, argument, length, (uint32_t)weight);
}

/* --- the other settings -------------------------------------------------- */

#define COMMAND(name, call) \
	void command_##name(struct postmark *postmark, \
			    const struct origin *origin, const char *argument) \
	{ \
		call; \
	}
#define NUMBER_COMMAND(name, low, high, field, what) \
	COMMAND(name, set_number(postmark, origin, argument, low, high, \
				 &postmark->params.field, what))
#define SWITCH_COMMAND(name, what) \
	COMMAND(name, set_switch(postmark, origin, argument, \
				 &postmark->params.name, what))

NUMBER_COMMAND(number, 1, 10000000, number, "number of files")
NUMBER_COMMAND(transactions, 1, 100000000, transactions, "number of transactions")
NUMBER_COMMAND(subdirectories, 0, 1000000, subdirectories, "number of subdirectories")
NUMBER_COMMAND(read, 1, 64 << 20, read_bytes, "read block size")
NUMBER_COMMAND(write, 1, 64 << 20, write_bytes, "write block size")
NUMBER_COMMAND(valid, 0, 100, valid_percent, "percentage")
NUMBER_COMMAND(invalid, 0, 100, invalid_percent, "percentage")
SWITCH_COMMAND(buffering, "buffering")
SWITCH_COMMAND(drop_caches, "drop-caches")
SWITCH_COMMAND(verify, "verify")
SWITCH_COMMAND(full, "full")

void command_text(struct postmark *postmark, const struct origin *origin,
		  const char *argument)
{
	struct content_choice *contents = &postmark->params.contents;
	bool text = contents->kind == CONTENT_PRINTABLE;

	set_switch(postmark, origin, argument, &text, "text");
	contents->kind = text ? CONTENT_PRINTABLE : CONTENT_RANDOM;
}

void command_size(struct postmark *postmark, const struct origin *origin,
		  const char *argument)
{
	struct ffsmark_params *params = &postmark->params;
	long long low, high;
	const char *rest = take_number(argument, 1, INT_MAX, &low);

	if (!rest || (*rest && !take_number(rest, 1, INT_MAX, &high))) {
		complain(postmark, origin,
			 "'%s' is no size; it takes LOW [HIGH], in bytes, from 1 to %d",
			 argument, INT_MAX);
		return;
	}
	if (!*rest || high < low)
		high = low;
	params->size_min = (uint32_t)low;
	params->size_max = (uint32_t)high;
}

void command_seed(struct postmark *postmark, const struct origin *origin,
		  const char *argument)
{
	uint32_t seed;

	if (set_number(postmark, origin, argument, 1, UINT32_MAX, &seed, "seed"))
		postmark->params.seed = seed;
}

static void set_bias(struct postmark *postmark, const struct origin *origin,
		     const char *argument, int *target)
{
	long long number;

	if (!take_number(argument, -1, 10, &number))
		complain(postmark, origin,
			 "'%s' is no bias; it takes 0 to 10, or -1 to leave that half of a transaction out",
			 argument);
	else
		*target = (int)number;
}

void command_bias_read(struct postmark *postmark, const struct origin *origin,
		       const char *argument)
{
	set_bias(postmark, origin, argument, &postmark->params.bias_read);
}

void command_bias_create(struct postmark *postmark, const struct origin *origin,
			 const char *argument)
{
	set_bias(postmark, origin, argument, &postmark->params.bias_create);
}

void command_report(struct postmark *postmark, const struct origin *origin,
		    const char *argument)
{
	size_t length = strcspn(argument, " \t\r");

	if (length == 5 && !strncmp(argument, "terse", 5))
		postmark->terse = true;
	else if (length == 7 && !strncmp(argument, "verbose", 7))
		postmark->terse = false;
	else
		complain(postmark, origin,
			 "report takes verbose or terse, not '%s'", argument);
}

void command_monitor(struct postmark *postmark, const struct origin *origin,
		     const char *argument)
{
	if (!*argument) {
		complain(postmark, origin,
			 "monitor takes the name of an MTD device (see /proc/mtd), or off");
		return;
	}
	free(postmark->monitor);
	postmark->monitor = NULL;
	if (!strcmp(argument, "off"))
		return;
	postmark->monitor = strdup(argument);
	if (!postmark->monitor)
		complain(postmark, origin, "no memory");
}
