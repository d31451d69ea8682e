/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory.h - what the kernel's RAM is used for, from /proc/meminfo,
 * /proc/slabinfo and /proc/vmallocinfo.
 *
 * A file system's memory is in slab caches (some of its own, and the kmalloc
 * caches that all share), in vmalloc areas, and in whole pages.  Pages of the
 * first two are counted by their owner here.  Two things have no owner in
 * /proc.  What is too large for a kmalloc cache comes as whole pages: that is
 * what meminfo's Slab has beyond the sum of all caches, and is told as a row
 * "kmalloc-large" behind them.  Other pages only lower the free memory.
 *
 * Caches hold on to slabs that are partly empty, so ->pages_bytes is what is
 * taken, not what is in use; free objects of the slab that a CPU is just
 * working on count as active, since SLUB does not count them.
 *
 * Pages that the kernel keeps at hand for a CPU are not in its MemFree; here
 * they are free.
 *
 * /proc/slabinfo and /proc/vmallocinfo are root's, and not in every kernel:
 * where they cannot be opened there are no rows.  A line that is not
 * understood is an error, since wrong figures are worse than none.
 */
#ifndef FFSAGENT_MEMORY_H
#define FFSAGENT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/record.h"

struct memory_slab {
	const char *cache;
	uint64_t pages_bytes, active_objects, object_bytes;
};

/* Areas of one caller together. */
struct memory_area {
	const char *caller;
	uint64_t bytes;
};

struct memory {
	uint64_t t_ns;
	uint64_t mem_free_bytes, page_cache_bytes, anonymous_bytes;
	uint64_t kernel_stack_bytes, page_table_bytes, percpu_bytes;
	uint64_t slab_bytes;	/* meminfo's, of all kinds */
	struct memory_slab *slabs;
	size_t n_slabs;
	struct memory_area *areas;
	size_t n_areas;
	char *slab_text, *area_text;	/* the names are in them */
};

/** memory_read() - take all figures; what was in @memory is overwritten. */
int memory_read(struct memory *memory, struct ffs_error *error);

/** memory_record() - emit the "memory" record. */
void memory_record(const struct memory *memory, const char *label,
		   struct record_sink *sink);

void memory_free(struct memory *memory);

/* --- parsers; each returns 0, or -1 with @error naming file and line --- */

/** memory_parse_meminfo() - figures that the kernel does not have stay 0. */
int memory_parse_meminfo(struct memory *memory, const char *text,
			 struct ffs_error *error);

/** memory_parse_zones() - adds to the free memory what is kept free per CPU. */
int memory_parse_zones(struct memory *memory, const char *text,
		       uint64_t page_bytes, struct ffs_error *error);

/**
 * memory_parse_slabs() - caches with at least one page, in the file's order.
 * @text: changed, and must live as long as @memory.
 */
int memory_parse_slabs(struct memory *memory, char *text, uint64_t page_bytes,
		       struct ffs_error *error);

/**
 * memory_parse_areas() - bytes of the areas that have pages, by caller.
 * @text: changed, and must live as long as @memory.
 */
int memory_parse_areas(struct memory *memory, char *text, uint64_t page_bytes,
		       struct ffs_error *error);

#endif
