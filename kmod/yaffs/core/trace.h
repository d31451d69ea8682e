/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events for the kernel's tracing, events/yaffs2 in tracefs: when something happened that
 * /proc/yaffs2 only counts. A kernel without CONFIG_TRACEPOINTS has no code for them, one
 * with it asks whether somebody listens. The mount's lock is held at each.
 *
 * The macros of linux/tracepoint.h make functions trace_EVENT() of this file, and trace.c
 * has it read again for the rest. Partitions go by number, as /proc/yaffs2/mtdN: how a
 * name is stored differs between kernels.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM yaffs2

#if !defined(YAFFS_CORE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define YAFFS_CORE_TRACE_H

#include <linux/tracepoint.h>

#include "device.h"

/* A run of the collector that was foretold: a line of /proc/yaffs2/mtdN-collections. */
TRACE_EVENT(yaffs2_collection,
	    TP_PROTO(const struct yaffs_device *dev,
		     const struct yaffs_work *work, u64 expected_ns,
		     u64 actual_ns),
	    TP_ARGS(dev, work, expected_ns, actual_ns),
	    TP_STRUCT__entry(__field(u64, expected_ns)
			     __field(u64, actual_ns)
			     __field(int, mtd)
			     __field(u32, copies)
			     __field(u32, erases)),
	    TP_fast_assign(__entry->expected_ns = expected_ns;
			   __entry->actual_ns = actual_ns;
			   __entry->mtd = dev->mtd->index;
			   __entry->copies = work->copies;
			   __entry->erases = work->erases;),
	    TP_printk("mtd=%d expected_ns=%llu actual_ns=%llu copies=%u erases=%u",
		      __entry->mtd, __entry->expected_ns, __entry->actual_ns,
		      __entry->copies, __entry->erases)
);

/* A call that waited for the collector longer than its bound left: one of bound_missed. */
TRACE_EVENT(yaffs2_bound_missed,
	    TP_PROTO(const struct yaffs_device *dev, u64 collected_ns,
		     u64 bound_ns),
	    TP_ARGS(dev, collected_ns, bound_ns),
	    TP_STRUCT__entry(__field(u64, collected_ns)
			     __field(u64, bound_ns)
			     __field(int, mtd)
			     __field(u32, erased_blocks)
			     __field(u32, free_chunks)),
	    TP_fast_assign(__entry->collected_ns = collected_ns;
			   __entry->bound_ns = bound_ns;
			   __entry->mtd = dev->mtd->index;
			   __entry->erased_blocks = dev->space.erased_blocks;
			   __entry->free_chunks = dev->space.free_chunks;),
	    TP_printk("mtd=%d collected_ns=%llu bound_ns=%llu erased_blocks=%u free_chunks=%u",
		      __entry->mtd, __entry->collected_ns, __entry->bound_ns,
		      __entry->erased_blocks, __entry->free_chunks)
);

#endif

/* From the module's directory, where Kbuild has the compiler look. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH core
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
