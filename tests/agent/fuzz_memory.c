// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_memory.c - fuzz target: the parsers of measure/memory.h, each on every input.
 * What they accept keeps the promises of measure/memory.h; what they refuse is told
 * with file and line.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "measure/memory.h"

const char *const fuzz_seeds[] = {
	"slabinfo - version: 2.1\n"
	"# name            <active_objs> <num_objs> <objsize>\n"
	"jffs2_i               25     25    632   25    4 : tunables    0    0    0 : slabdata      1      1      0\n"
	"filp                  20     32    256   16    1 : tunables    0    0    0 : slabdata      2      2      0\n"
	"a name with blanks     0      0    256   16    1 : tunables    0    0    0 : slabdata      0      0      0\n",
	"0x(____ptrval____)-0x(____ptrval____)  274432 deflate_comp_init+0x29/0xe0 pages=66 vmalloc\n"
	"0x(____ptrval____)-0x(____ptrval____)    8192 control_write+0x312/0x760 [flashmon] pages=1 vmalloc\n"
	"0x(____ptrval____)-0x(____ptrval____)   49152 deflate_init+0x4b/0xc0 pages=11 vmalloc\n"
	"0x000000006ffa622c-0x0000000041cf9729    8192 map+0x12d/0x1c0 phys=0x4000000000 ioremap\n",
	"MemTotal:         122608 kB\nMemFree:          115076 kB\n"
	"Buffers:               0 kB\nCached:             1124 kB\n"
	"AnonPages:           136 kB\nSlab:               1788 kB\n"
	"KernelStack:        1152 kB\nPageTables:           56 kB\n"
	"Percpu:               32 kB\n",
	NULL,
};

const char *const fuzz_words[] = {
	"slabinfo - version: 2.1\n", " : tunables 0 0 0", " : slabdata 1 1 0\n",
	" : slabdata ", " : tunables ", "a 1 1 8 1 1", "0x", "(", " pages=",
	"pages=1 vmalloc\n", "+0x", "\n", " ", "-1", "0", "1", "#",
	"18446744073709551615", "99999999999999999999", " kB\n", "MemFree:",
	"Cached:", "Slab:", "unpurged vm_area", NULL,
};

static void check_slabs(char *text)
{
	struct memory memory = { 0 };
	struct ffs_error error;
	size_t i;

	if (memory_parse_slabs(&memory, text, 4096, &error)) {
		assert(strstr(error.message, " of /proc/slabinfo"));
	} else {
		for (i = 0; i < memory.n_slabs; i++) {
			const struct memory_slab *slab = &memory.slabs[i];

			assert(*slab->cache && !strchr(slab->cache, '\n'));
			assert(slab->cache[strlen(slab->cache) - 1] != ' ');
			assert(slab->pages_bytes &&
			       slab->pages_bytes % 4096 == 0);
		}
	}
	memory_free(&memory);
}

static void check_areas(char *text)
{
	struct memory memory = { 0 };
	struct ffs_error error;
	size_t i;

	if (memory_parse_areas(&memory, text, 4096, &error)) {
		assert(strstr(error.message, " of /proc/vmallocinfo"));
	} else {
		for (i = 0; i < memory.n_areas; i++) {
			assert(*memory.areas[i].caller);
			assert(!strchr(memory.areas[i].caller, '\n'));
			assert(memory.areas[i].bytes % 4096 == 0);
			assert(!i || strcmp(memory.areas[i - 1].caller,
					    memory.areas[i].caller) < 0);
		}
	}
	memory_free(&memory);
}

static void check_zones(const char *text)
{
	struct memory memory = { 0 };
	struct ffs_error error;

	if (memory_parse_zones(&memory, text, 4096, &error))
		assert(strstr(error.message, " of /proc/zoneinfo"));
}

static void check_meminfo(const char *text)
{
	struct memory memory = { 0 };
	struct ffs_error error;

	if (memory_parse_meminfo(&memory, text, &error))
		assert(strstr(error.message, " of /proc/meminfo"));
	else
		assert(memory.mem_free_bytes % 1024 == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void (*const checks[])(char *) = { check_slabs, check_areas };
	char *text;
	size_t i;

	for (i = 0; i < 3; i++) {
		/* Exactly as large as the input, so that overreads are caught. */
		text = malloc(size + 1);
		assert(text);
		memcpy(text, data, size);
		text[size] = '\0';
		if (i < 2)
			checks[i](text);
		else {
			check_meminfo(text);
			check_zones(text);
		}
		free(text);
	}
	return 0;
}
