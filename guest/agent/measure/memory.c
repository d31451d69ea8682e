// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory.c - see memory.h.
 */
#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/files.h"
#include "measure/memory.h"

#define TEXT_LIMIT ((size_t)4 << 20)
#define SLAB_HEADER "slabinfo - version: 2."
#define SLAB_NUMBERS 5
#define SLAB_TRIES 3
#define RCU_YIELDS 4
#define LARGE_KMALLOC "kmalloc-large"

static int not_understood(const char *file, size_t number, const char *line,
			  struct ffs_error *error)
{
	return ffs_fail(error, 0,
			"line %zu of /proc/%s is not understood: '%.100s' (a kernel with another format?)",
			number, file, line);
}

/* A decimal number that ends at @end or at a blank. Return: what follows. */
static const char *parse_number(const char *text, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	errno = 0;
	*number = strtoull(text, &end, 10);
	if (errno || (*end && *end != ' ' && *end != '\n'))
		return NULL;
	return end;
}

/* --- /proc/meminfo ------------------------------------------------------- */

/* A line reads: MemFree:          1234 kB */
static int meminfo_figure(const char *text, const char *name, uint64_t *bytes,
			  struct ffs_error *error)
{
	size_t length = strlen(name), number = 1;
	const char *rest;
	uint64_t kib;

	*bytes = 0;
	while (strncmp(text, name, length) || text[length] != ':') {
		text = strchr(text, '\n');
		if (!text)
			return 0;
		text++;
		number++;
	}
	rest = text + length + 1;
	rest += strspn(rest, " ");
	rest = parse_number(rest, &kib);
	if (!rest || strncmp(rest, " kB\n", 4) || kib > UINT64_MAX / 1024)
		return not_understood("meminfo", number, text, error);
	*bytes = kib * 1024;
	return 0;
}

int memory_parse_meminfo(struct memory *memory, const char *text,
			 struct ffs_error *error)
{
	uint64_t buffers = 0, cached = 0;
	const struct {
		const char *name;
		uint64_t *bytes;
	} figures[] = {
		{ "MemFree", &memory->mem_free_bytes },
		{ "Buffers", &buffers },
		{ "Cached", &cached },
		{ "AnonPages", &memory->anonymous_bytes },
		{ "Slab", &memory->slab_bytes },
		{ "KernelStack", &memory->kernel_stack_bytes },
		{ "PageTables", &memory->page_table_bytes },
		{ "Percpu", &memory->percpu_bytes },
	};
	size_t i;

	for (i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		if (meminfo_figure(text, figures[i].name, figures[i].bytes,
				   error))
			return -1;
	memory->page_cache_bytes = buffers + cached;
	return 0;
}

/* --- /proc/zoneinfo ------------------------------------------------------ */

/*
 * Each zone has, for each CPU, a line "count: N": pages that are free but kept
 * at hand for that CPU, which MemFree does not count.
 */
int memory_parse_zones(struct memory *memory, const char *text,
		       uint64_t page_bytes, struct ffs_error *error)
{
	const char *line = text;
	size_t number = 1;
	uint64_t pages;

	while (*line) {
		const char *word = line + strspn(line, " "), *end;

		if (!strncmp(word, "count:", 6)) {
			word += 6;
			word += strspn(word, " ");
			if (!parse_number(word, &pages) ||
			    pages > UINT32_MAX)
				return not_understood("zoneinfo", number, line,
						      error);
			memory->mem_free_bytes += pages * page_bytes;
		}
		end = strchr(line, '\n');
		if (!end)
			break;
		line = end + 1;
		number++;
	}
	return 0;
}

/* --- lines and rows ------------------------------------------------------ */

/* The number of lines is enough room for the rows of a file. */
static size_t count_lines(const char *text)
{
	size_t n = 1;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n;
}

/*
 * Cut the next line off. Return: the line; NULL at the end of the text, with
 * @cut if it ends in the middle of a line, which is then the remaining text.
 */
static char *next_line(char **text, bool *cut)
{
	char *line = *text, *end = strchr(line, '\n');

	*cut = !end && *line;
	if (!end)
		return NULL;
	*end = '\0';
	*text = end + 1;
	return line;
}

/* --- /proc/slabinfo ------------------------------------------------------ */

/* The numbers between @from and @end, which are separated by blanks. */
static int parse_numbers(const char *from, uint64_t *numbers, size_t n)
{
	size_t i;

	for (i = 0; from && i < n; i++) {
		from += strspn(from, " ");
		from = parse_number(from, &numbers[i]);
	}
	return from ? 0 : -1;
}

/* Cut the last @n words off @text, which may begin with words of its own. */
static char *last_words(char *text, size_t n)
{
	char *at = text + strlen(text);

	while (n--) {
		while (at > text && at[-1] == ' ')
			at--;
		while (at > text && at[-1] != ' ')
			at--;
	}
	if (at == text)
		return NULL;
	at[-1] = '\0';
	return at;
}

/*
 * name active_objs num_objs objsize objperslab pagesperslab : tunables 0 0 0
 * : slabdata active_slabs num_slabs sharedavail
 *
 * A name may contain blanks, so the numbers are found from behind.
 */
static int parse_slab(char *line, uint64_t page_bytes,
		      struct memory_slab *slab)
{
	char *tunables = strstr(line, " : tunables ");
	char *data = tunables ? strstr(tunables, " : slabdata ") : NULL;
	uint64_t head[SLAB_NUMBERS], slabs[3];
	char *numbers, *end;

	if (!data || parse_numbers(data + strlen(" : slabdata "), slabs, 3))
		return -1;
	*tunables = '\0';
	numbers = last_words(line, SLAB_NUMBERS);
	if (!numbers || parse_numbers(numbers, head, SLAB_NUMBERS))
		return -1;
	for (end = line + strlen(line); end > line && end[-1] == ' '; end--)
		end[-1] = '\0';
	if (!*line || __builtin_mul_overflow(slabs[1], head[4],
					     &slab->pages_bytes) ||
	    __builtin_mul_overflow(slab->pages_bytes, page_bytes,
				   &slab->pages_bytes))
		return -1;
	slab->cache = line;
	slab->active_objects = head[0];
	slab->object_bytes = head[2];
	return 0;
}

int memory_parse_slabs(struct memory *memory, char *text, uint64_t page_bytes,
		       struct ffs_error *error)
{
	size_t number = 1;
	char *line;
	bool cut;

	memory->n_slabs = 0;
	memory->slabs = calloc(count_lines(text), sizeof(*memory->slabs));
	if (!memory->slabs)
		return ffs_fail(error, ENOMEM, "no memory for slab caches");
	if (strncmp(text, SLAB_HEADER, strlen(SLAB_HEADER)))
		return not_understood("slabinfo", 1, text, error);
	next_line(&text, &cut);
	while ((line = next_line(&text, &cut))) {
		struct memory_slab *slab = &memory->slabs[memory->n_slabs];

		number++;
		if (*line == '#')
			continue;
		if (parse_slab(line, page_bytes, slab))
			return not_understood("slabinfo", number, line, error);
		memory->n_slabs += slab->pages_bytes > 0;
	}
	if (cut)
		return not_understood("slabinfo", number + 1, text, error);
	return 0;
}

/* --- /proc/vmallocinfo --------------------------------------------------- */

/*
 * 0xffff…-0xffff…   20480 caller+0x94/0x3e0 [module] pages=4 vmalloc
 *
 * Return: 1 for an area with pages, 0 for one without, -1 for anything else.
 */
static int parse_area(char *line, uint64_t page_bytes, struct memory_area *area)
{
	char *pages = strstr(line, " pages="), *caller, *end;
	uint64_t bytes, n;

	/* An address, or "(ptrval)" before there is entropy to hide it. */
	if (strncmp(line, "0x", 2) && *line != '(')
		return -1;
	if (!pages)
		return 0;
	caller = strchr(line, ' ');
	caller += strspn(caller, " ");
	caller = (char *)parse_number(caller, &bytes);
	if (!caller || caller >= pages ||
	    !parse_number(pages + strlen(" pages="), &n) ||
	    __builtin_mul_overflow(n, page_bytes, &area->bytes))
		return -1;
	*pages = '\0';
	caller += strspn(caller, " ");
	end = strstr(caller, "+0x");
	if (end)
		*end = '\0';
	if (!*caller)
		return -1;
	area->caller = caller;
	return 1;
}

static int by_caller(const void *a, const void *b)
{
	const struct memory_area *first = a, *second = b;

	return strcmp(first->caller, second->caller);
}

/* Sort by caller, and make one row of those that have the same. */
static void sum_areas(struct memory *memory)
{
	size_t i, n = 0;

	if (!memory->n_areas)
		return;
	qsort(memory->areas, memory->n_areas, sizeof(*memory->areas),
	      by_caller);
	for (i = 1; i < memory->n_areas; i++) {
		if (by_caller(&memory->areas[n], &memory->areas[i]))
			memory->areas[++n] = memory->areas[i];
		else
			memory->areas[n].bytes += memory->areas[i].bytes;
	}
	memory->n_areas = n + 1;
}

int memory_parse_areas(struct memory *memory, char *text, uint64_t page_bytes,
		       struct ffs_error *error)
{
	size_t number = 0;
	char *line;
	bool cut;

	memory->n_areas = 0;
	memory->areas = calloc(count_lines(text), sizeof(*memory->areas));
	if (!memory->areas)
		return ffs_fail(error, ENOMEM, "no memory for vmalloc areas");
	while ((line = next_line(&text, &cut))) {
		int found = parse_area(line, page_bytes,
				       &memory->areas[memory->n_areas]);

		number++;
		if (found < 0)
			return not_understood("vmallocinfo", number, line,
					      error);
		memory->n_areas += (size_t)found;
	}
	if (cut)
		return not_understood("vmallocinfo", number + 1, text, error);
	sum_areas(memory);
	return 0;
}

/* --- all together -------------------------------------------------------- */

static int read_meminfo(struct memory *memory, struct ffs_error *error)
{
	char *text = file_read("/proc/meminfo", TEXT_LIMIT, NULL, error);
	int result;

	if (!text)
		return -1;
	result = memory_parse_meminfo(memory, text, error);
	free(text);
	if (result)
		return -1;
	text = file_read("/proc/zoneinfo", TEXT_LIMIT, NULL, NULL);
	if (text)
		result = memory_parse_zones(memory, text,
					    (uint64_t)sysconf(_SC_PAGESIZE),
					    error);
	free(text);
	return result;
}

/*
 * What was freed a moment ago may still wait for the end of an RCU grace
 * period, and then be freed while we read.  On one CPU a few turns of the
 * scheduler end it, which take almost no time.
 */
static void let_go(void)
{
	int i;

	for (i = 0; i < RCU_YIELDS; i++)
		sched_yield();
}

/* Both files as of one moment, or nearly so if it does not come. */
static int read_slabs(struct memory *memory, struct ffs_error *error)
{
	uint64_t before;
	int tries = 0;

	let_go();
	if (read_meminfo(memory, error))
		return -1;
	do {
		before = memory->slab_bytes;
		free(memory->slab_text);
		memory->slab_text = file_read("/proc/slabinfo", TEXT_LIMIT,
					      NULL, NULL);
		if (!memory->slab_text)
			return 0;
		if (read_meminfo(memory, error))
			return -1;
	} while (memory->slab_bytes != before && ++tries < SLAB_TRIES);
	return 0;
}

int memory_read(struct memory *memory, struct ffs_error *error)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

	memset(memory, 0, sizeof(*memory));
	memory->t_ns = clock_now_ns();
	if (read_slabs(memory, error))
		return -1;
	memory->area_text = file_read("/proc/vmallocinfo", TEXT_LIMIT, NULL,
				      NULL);
	if (memory->slab_text &&
	    memory_parse_slabs(memory, memory->slab_text, page_bytes, error))
		return -1;
	if (memory->area_text &&
	    memory_parse_areas(memory, memory->area_text, page_bytes, error))
		return -1;
	return 0;
}

static void put_slab(const struct memory_slab *slab, struct record_sink *sink)
{
	record_open(sink, NULL, '[');
	record_string(sink, NULL, slab->cache);
	record_item(sink, slab->pages_bytes);
	record_item(sink, slab->active_objects);
	record_item(sink, slab->object_bytes);
	record_close(sink, ']');
}

static void put_slabs(const struct memory *memory, struct record_sink *sink)
{
	struct memory_slab large = { .cache = LARGE_KMALLOC };
	uint64_t sum = 0;
	size_t i;

	record_open(sink, "slabs", '[');
	for (i = 0; i < memory->n_slabs; i++) {
		sum += memory->slabs[i].pages_bytes;
		put_slab(&memory->slabs[i], sink);
	}
	large.pages_bytes = memory->slab_bytes - sum;
	if (memory->n_slabs && memory->slab_bytes > sum)
		put_slab(&large, sink);
	record_close(sink, ']');
}

static void put_areas(const struct memory *memory, struct record_sink *sink)
{
	size_t i;

	record_open(sink, "vmalloc", '[');
	for (i = 0; i < memory->n_areas; i++) {
		record_open(sink, NULL, '[');
		record_string(sink, NULL, memory->areas[i].caller);
		record_item(sink, memory->areas[i].bytes);
		record_close(sink, ']');
	}
	record_close(sink, ']');
}

void memory_record(const struct memory *memory, const char *label,
		   struct record_sink *sink)
{
	record_begin(sink, "memory");
	record_string(sink, "label", label);
	record_number(sink, "t_ns", memory->t_ns);
	record_number(sink, "mem_free_bytes", memory->mem_free_bytes);
	record_number(sink, "page_cache_bytes", memory->page_cache_bytes);
	record_number(sink, "anonymous_bytes", memory->anonymous_bytes);
	record_number(sink, "kernel_stack_bytes", memory->kernel_stack_bytes);
	record_number(sink, "page_table_bytes", memory->page_table_bytes);
	record_number(sink, "percpu_bytes", memory->percpu_bytes);
	put_slabs(memory, sink);
	put_areas(memory, sink);
	record_end(sink);
}

void memory_free(struct memory *memory)
{
	free(memory->slabs);
	free(memory->areas);
	free(memory->slab_text);
	free(memory->area_text);
	memset(memory, 0, sizeof(*memory));
}
