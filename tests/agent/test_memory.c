// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_memory.c - the parsers of measure/memory.h on text that a guest of the lab had
 * in /proc (RECORDED, set by the Makefile), whole, cut and damaged, and on
 * lines that other kernels write.
 */
#include <stdlib.h>
#include <string.h>

#include "core/files.h"
#include "emitted.h"
#include "measure/memory.h"

#define PAGE 4096

typedef int (*parser)(struct memory *memory, char *text,
		      struct ffs_error *error);

static int slabs(struct memory *memory, char *text, struct ffs_error *error)
{
	return memory_parse_slabs(memory, text, PAGE, error);
}

static int areas(struct memory *memory, char *text, struct ffs_error *error)
{
	return memory_parse_areas(memory, text, PAGE, error);
}

static int zones(struct memory *memory, char *text, struct ffs_error *error)
{
	return memory_parse_zones(memory, text, 4096, error);
}

static int meminfo(struct memory *memory, char *text, struct ffs_error *error)
{
	return memory_parse_meminfo(memory, text, error);
}

static char *recorded(const char *name)
{
	struct ffs_error error;
	char path[512], *text;

	snprintf(path, sizeof(path), RECORDED "/%s.txt", name);
	text = file_read(path, 1 << 20, NULL, &error);
	if (!text) {
		CHECKF(false, "%s", error.message);
		exit(1);
	}
	return text;
}

static const struct memory_slab *find(const struct memory *memory,
				      const char *cache)
{
	static const struct memory_slab none;
	size_t i;

	for (i = 0; i < memory->n_slabs; i++)
		if (!strcmp(memory->slabs[i].cache, cache))
			return &memory->slabs[i];
	return &none;
}

static void whole_slabs(void)
{
	struct memory memory = { .slab_text = recorded("slabinfo") };
	const struct memory_slab *slab;
	struct ffs_error error;
	uint64_t sum = 0;
	size_t i;

	CHECKF(!slabs(&memory, memory.slab_text, &error), "%s", error.message);
	for (i = 0; i < memory.n_slabs; i++)
		sum += memory.slabs[i].pages_bytes;
	/* 49 of its 101 caches have a slab; Slab of meminfo is 16 KiB more. */
	CHECKF(memory.n_slabs == 49 && sum == 1814528, "%zu caches, %llu bytes",
	       memory.n_slabs, (unsigned long long)sum);
	CHECK(!strcmp(memory.slabs[0].cache, "bio-184"));
	CHECK(!strcmp(memory.slabs[48].cache, "kmem_cache"));
	/* jffs2_i 25 25 632 25 4 … slabdata 1 1 0 */
	slab = find(&memory, "jffs2_i");
	CHECK(slab->pages_bytes == 4 * PAGE && slab->active_objects == 25 &&
	      slab->object_bytes == 632);
	/* filp 20 32 256 16 1 … slabdata 2 2 0 */
	slab = find(&memory, "filp");
	CHECK(slab->pages_bytes == 2 * PAGE && slab->active_objects == 20);
	CHECK(!find(&memory, "jffs2_node_frag")->pages_bytes);
	memory_free(&memory);
}

static void whole_areas(void)
{
	static const struct memory_area expected[] = {
		{ "control_write", 4096 }, { "deflate_comp_init", 270336 },
		{ "deflate_init", 45056 }, { "flashmon_live_alloc", 4096 },
		{ "jffs2_lzo_init", 24576 }, { "jffs2_zlib_init", 315392 },
		{ "load_module", 40960 }, { "n_tty_open", 24576 },
		{ "zstd_comp_init", 1298432 }, { "zstd_init", 163840 },
	};
	struct memory memory = { .area_text = recorded("vmallocinfo") };
	struct ffs_error error;
	size_t i;

	CHECKF(!areas(&memory, memory.area_text, &error), "%s", error.message);
	if (!CHECKF(memory.n_areas == 10, "%zu callers", memory.n_areas))
		return;
	for (i = 0; i < memory.n_areas; i++)
		CHECKF(!strcmp(memory.areas[i].caller, expected[i].caller) &&
		       memory.areas[i].bytes == expected[i].bytes,
		       "%s %llu", memory.areas[i].caller,
		       (unsigned long long)memory.areas[i].bytes);
	memory_free(&memory);
}

static void kept_per_cpu(void)
{
	static const char text[] =
		"Node 0, zone   Normal\n"
		"  pages free     1000\n"
		"        low      500\n"
		"  pagesets\n"
		"    cpu: 0\n"
		"              count: 7\n"
		"              high:  378\n"
		"    cpu: 1\n"
		"              count:    5\n";
	struct memory memory = { .mem_free_bytes = 1000 * 4096 };
	struct ffs_error error;

	CHECK(!memory_parse_zones(&memory, text, 4096, &error));
	CHECK(memory.mem_free_bytes == 1012 * 4096);
}

static void whole_meminfo(void)
{
	struct memory memory = { 0 };
	char *text = recorded("meminfo");
	struct ffs_error error;

	CHECKF(!meminfo(&memory, text, &error), "%s", error.message);
	CHECK(memory.mem_free_bytes == 115076 * 1024);
	CHECK(memory.page_cache_bytes == 1124 * 1024);
	CHECK(memory.anonymous_bytes == 136 * 1024);
	CHECK(memory.kernel_stack_bytes == 1152 * 1024);
	CHECK(memory.page_table_bytes == 56 * 1024);
	CHECK(memory.percpu_bytes == 32 * 1024);
	CHECK(memory.slab_bytes == 1788 * 1024);
	free(text);
}

/*
 * Every truncation either fails or, at the end of a line, is a shorter file.
 * Figures that a cut meminfo has lost are those of a kernel without them.
 */
static void cut(const char *name, parser parse, bool needs_header)
{
	char *text = recorded(name);
	size_t length = strlen(text), at;

	for (at = 0; at < length; at++) {
		bool whole = (at || !needs_header) &&
			     (!at || text[at - 1] == '\n');
		struct memory memory = { 0 };
		struct ffs_error error;
		char *copy = strndup(text, at);
		int result = parse(&memory, copy, &error);

		if (parse != meminfo)
			CHECKF(result == (whole ? 0 : -1),
			       "%s cut at %zu gives %d", name, at, result);
		if (result)
			CHECKF(strstr(error.message, name) != NULL,
			       "the message is '%s'", error.message);
		memory_free(&memory);
		free(copy);
	}
	free(text);
}

static const struct {
	parser parse;
	const char *text;
	const char *words;	/* of the message; NULL: good */
} texts[] = {
	{ slabs, "", "line 1 of /proc/slabinfo" },
	{ slabs, "slabinfo - version: 1.1\n", "line 1 of /proc/slabinfo" },
	{ slabs, "slabinfo - version: 2.1 (statistics)\n# name\n", NULL },
	{ slabs, "slabinfo - version: 2.1\n\n", "line 2" },
	/* CONFIG_DEBUG_SLAB adds statistics. */
	{ slabs, "slabinfo - version: 2.1 (statistics)\na 1 2 8 4 1 : tunables 1 2 3 : slabdata 1 1 0 : globalstat 1 2 3 : cpustat 1 2\n", NULL },
	{ slabs, "slabinfo - version: 2.1\na b 1 2 8 4 1 : tunables 1 2 3 : slabdata 1 1 0\n", NULL },
	{ slabs, "slabinfo - version: 2.1\n1 2 8 4 1 : tunables 1 2 3 : slabdata 1 1 0\n", "line 2" },
	{ slabs, "slabinfo - version: 2.1\na 1 -2 8 4 1 : tunables 1 2 3 : slabdata 1 1 0\n", "line 2" },
	{ slabs, "slabinfo - version: 2.1\na 1 2x 8 4 1 : tunables 1 2 3 : slabdata 1 1 0\n", "line 2" },
	{ slabs, "slabinfo - version: 2.1\na 1 2 8 4 1 : slabdata 1 1 0\n", "line 2" },
	{ slabs, "slabinfo - version: 2.1\na 1 2 8 4 1 : tunables 1 2 3 : slabdata 1 1\n", "line 2" },
	{ slabs, "slabinfo - version: 2.1\na 1 2 8 4 4 : tunables 1 2 3 : slabdata 1 9223372036854775807 0\n", "line 2" },
	{ slabs, "slabinfo - version: 2.1\na 1 2 8 4 1 : tunables 1 2 3 : slabdata 1 99999999999999999999 0\n", "line 2" },
	{ areas, "", NULL },
	{ areas, "0x1-0x2 4096 vm_map_ram\n0x1-0x2 4096 unpurged vm_area\n", NULL },
	{ areas, "0x1-0x2   20480 irq_init+0xca/0x100 vmap\n0x1-0x2    8192 acpi_os+0x1/0x2 phys=0x00000000000a0000 ioremap\n", NULL },
	{ areas, "0x1-0x2 20480 kernel_clone+0x94/0x3e0 pages=4 vmalloc N0=4\n", NULL },
	{ areas, "0x1-0x2 20480 0xffffffff81000000 pages=4 vmalloc\n", NULL },
	{ areas, "0x1-0x2 20480 pages=4 vmalloc\n", "line 1 of /proc/vmallocinfo" },
	{ areas, "0x1-0x2 pages=4\n", "line 1" },
	{ areas, "0x1-0x2 20480 f+0x1/0x2 pages=\n", "line 1" },
	{ areas, "0x1-0x2 20480 f+0x1/0x2 pages=4x\n", "line 1" },
	{ areas, "0x1-0x2 20480 f+0x1/0x2 pages=9223372036854775807\n", "line 1" },
	{ areas, "vmalloc\n", "line 1" },
	{ zones, "", NULL },
	{ zones, "Node 0, zone   Normal\n  pagesets\n    cpu: 0\n              count: 12\n", NULL },
	{ zones, "  cpu: 0\n     count: x\n", "line 2 of /proc/zoneinfo" },
	{ zones, "     count: 99999999999\n", "line 1" },
	{ meminfo, "", NULL },
	{ meminfo, "MemFree:      12 kB\n", NULL },
	{ meminfo, "X:  1 kB\nMemFree:      12", "line 2 of /proc/meminfo" },
	{ meminfo, "MemFree:      12 MB\n", "line 1" },
	{ meminfo, "MemFree:       kB\n", "line 1" },
	{ meminfo, "MemFree: 99999999999999999 kB\n", "line 1" },
};

static void lines(void)
{
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct memory memory = { 0 };
		struct ffs_error error = { 0 };
		char *copy = strdup(texts[i].text);
		int result = texts[i].parse(&memory, copy, &error);

		CHECKF(texts[i].words ?
		       result == -1 && strstr(error.message, texts[i].words) :
		       !result, "'%s' gives %d '%s'", texts[i].text, result,
		       error.message);
		memory_free(&memory);
		free(copy);
	}
}

static void names(void)
{
	char slab_text[] = "slabinfo - version: 2.1\n"
		"a b  1 2 8 4 2 : tunables 1 2 3 : slabdata 1 3 0\n";
	char area_text[] =
		"0x1-0x2 20480 z+0x94/0x3e0 pages=4 vmalloc\n"
		"0x1-0x2 20480 a_b+0x94/0x3e0 [module] pages=1 vmalloc\n"
		"0x1-0x2 20480 z+0x1/0x3e0 pages=2 vmalloc\n"
		"0x1-0x2 20480 0xffffffff81000000 pages=1 vmalloc\n";
	struct memory memory = { 0 };
	struct ffs_error error;

	CHECK(!slabs(&memory, slab_text, &error) && memory.n_slabs == 1);
	CHECK(!strcmp(memory.slabs[0].cache, "a b") &&
	      memory.slabs[0].pages_bytes == 6 * PAGE);
	CHECK(!areas(&memory, area_text, &error) && memory.n_areas == 3);
	CHECK(!strcmp(memory.areas[0].caller, "0xffffffff81000000"));
	CHECK(!strcmp(memory.areas[1].caller, "a_b"));
	CHECK(!strcmp(memory.areas[2].caller, "z") &&
	      memory.areas[2].bytes == 6 * PAGE);
	memory_free(&memory);
}

/* The record of @memory as one line. */
static void emitted(const struct memory *memory, const char *expected)
{
	static struct record_sink sink;
	FILE *file = emitted_open(&sink);
	char *text;

	memory_record(memory, "here", &sink);
	text = emitted_text(file);
	CHECKF(!strcmp(text, expected), "got %s", text);
	free(text);
}

static void record(void)
{
	struct memory_slab slab = { "a", 8192, 3, 40 };
	struct memory_area area = { "f", 4096 };
	struct memory memory = {
		.t_ns = 1, .mem_free_bytes = 2, .page_cache_bytes = 3,
		.anonymous_bytes = 4, .kernel_stack_bytes = 5,
		.page_table_bytes = 6, .percpu_bytes = 7, .slab_bytes = 24576,
		.slabs = &slab, .n_slabs = 1, .areas = &area, .n_areas = 1,
	};

#define HEAD "{\"v\":1,\"type\":\"memory\",\"label\":\"here\",\"t_ns\":1,\"mem_free_bytes\":2,\"page_cache_bytes\":3,\"anonymous_bytes\":4,\"kernel_stack_bytes\":5,\"page_table_bytes\":6,\"percpu_bytes\":7,"
	emitted(&memory, HEAD "\"slabs\":[[\"a\",8192,3,40],[\"kmalloc-large\",16384,0,0]],\"vmalloc\":[[\"f\",4096]]}\n");
	/* Caches' pages that meminfo does not have are no large kmalloc(). */
	memory.slab_bytes = 4096;
	emitted(&memory, HEAD "\"slabs\":[[\"a\",8192,3,40]],\"vmalloc\":[[\"f\",4096]]}\n");
	/* Without slabinfo nothing is known of kmalloc() either. */
	memory.n_slabs = memory.n_areas = 0;
	memory.slab_bytes = 4096;
	emitted(&memory, HEAD "\"slabs\":[],\"vmalloc\":[]}\n");
}

void test_memory(void)
{
	whole_slabs();
	whole_areas();
	whole_meminfo();
	kept_per_cpu();
	cut("slabinfo", slabs, true);
	cut("vmallocinfo", areas, false);
	cut("meminfo", meminfo, false);
	lines();
	names();
	record();
}
