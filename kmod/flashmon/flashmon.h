/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A monitor watches one MTD device; a hook is what is installed in that
 * device's master, once, however many of its partitions are watched.
 *
 *	main.c	 the module, /proc/flashmon/control
 *	hook.c	 the wrapped operations
 *	trace.c	 the trace buffer
 *	live.c	 the live page, which a process can map
 *	proc.c	 /proc/flashmon/NAME
 *	below.c	 whether a program asks, or a file system
 *	account.c what a request adds to the counters (pure)
 *	live_slots.c what a request adds to the live page (pure)
 */
#ifndef FLASHMON_H
#define FLASHMON_H

#include <linux/list.h>
#include <linux/mtd/mtd.h>
#include <linux/spinlock.h>

struct flashmon_hook;
struct proc_ops;
struct seq_file;

#include "account.h"
#include "live_slots.h"
#include "trace_format.h"

/*
 * Bytes of a page. NOR flash takes single bytes, which MTD calls its writesize;
 * what one command programs at most is the page there (kmod/flashmon_nor).
 */
#ifdef FLASHMON_NOR
#define flashmon_page_bytes(mtd) ((mtd)->writebufsize)
#else
#define flashmon_page_bytes(mtd) ((mtd)->writesize)
#endif

/**
 * struct flashmon_trace - a buffer of records
 * @on: records are taken
 * @header: the start of the buffer, or NULL; the records follow it
 * @capacity: records that fit
 * @in_region: the buffer is an iomem region, not memory of the kernel
 */
struct flashmon_trace {
	bool on;
	struct flashmon_trace_header *header;
	u64 capacity;
	bool in_region;
};

/**
 * struct flashmon - a monitor
 * @mtd: the device, held
 * @hook: the hook in its master
 * @start: its first byte in the master
 * @totals: counters
 * @below: of these, what programs asked for below a file system (below.c)
 * @trace: trace
 * @live: the live page
 * @list: in the hook's list
 * @all: in main.c's list of all monitors
 */
struct flashmon {
	struct mtd_info *mtd;
	struct flashmon_hook *hook;
	u64 start;
	struct flashmon_totals totals;
#ifdef FLASHMON_BELOW
	struct flashmon_share below;
#endif
	struct flashmon_trace trace;
	struct flashmon_live *live;
	struct list_head list;
	struct list_head all;
};

/**
 * struct flashmon_hook - the wrapped operations of a master
 * @master: the MTD device
 * @read_oob, @write_oob, @read, @write, @panic_write, @erase: its own
 *	operations, NULL where it has none
 * @lock: protects @monitors, their counters, traces and live
 *	pages; never held while the
 *	driver works
 * @monitors: who watches
 * @busy: requests under way
 * @list: in the list of hooks, to which is only added while the module lives
 */
struct flashmon_hook {
	struct mtd_info *master;
	int (*read_oob)(struct mtd_info *mtd, loff_t from,
			struct mtd_oob_ops *ops);
	int (*write_oob)(struct mtd_info *mtd, loff_t to,
			 struct mtd_oob_ops *ops);
	int (*read)(struct mtd_info *mtd, loff_t from, size_t len,
		    size_t *retlen, u_char *buf);
	int (*write)(struct mtd_info *mtd, loff_t to, size_t len,
		     size_t *retlen, const u_char *buf);
	int (*panic_write)(struct mtd_info *mtd, loff_t to, size_t len,
			   size_t *retlen, const u_char *buf);
	int (*erase)(struct mtd_info *mtd, struct erase_info *instr);
	spinlock_t lock;	/* monitors, counters, traces, live pages */
	struct list_head monitors;
	atomic_t busy;
	struct list_head list;
};

/* hook.c: installs a hook in @master or finds it. Return: hook or ERR_PTR. */
struct flashmon_hook *flashmon_hook_get(struct mtd_info *master);

/* below.c: counts what a request added, if a program asks; what was counted. */
#ifdef FLASHMON_BELOW
void flashmon_below_count(struct flashmon *m, u8 op,
			  const struct flashmon_share *added);
void flashmon_below_show(struct seq_file *to, const struct flashmon *m);
#else
static inline void flashmon_below_count(struct flashmon *m, u8 op,
					const struct flashmon_share *added) {}
static inline void flashmon_below_show(struct seq_file *to,
				       const struct flashmon *m) {}
#endif

/* Restores every master's operations. The devices must be idle. */
void flashmon_hooks_remove(void);

/**
 * flashmon_trace_open() - find a trace region, if that is where traces go
 * @m: the monitor
 * @store: "iomem:NAME" or "ram:BYTES"
 *
 * For every monitor, traced or not, so that both take the same time to attach.
 *
 * Return: 0, or -ENODEV (no such region).
 */
int flashmon_trace_open(struct flashmon *m, const char *store);

/**
 * flashmon_trace_start() - take records from now on
 * @m: the monitor
 * @store: as above; memory is allocated at the first start
 *
 * Return: 0, -EINVAL (@store), -ENODEV (no such region), -ENOMEM.
 */
int flashmon_trace_start(struct flashmon *m, const char *store);
void flashmon_trace_stop(struct flashmon *m);
void flashmon_trace_free(struct flashmon *m);

/* Adds a record, see trace_format.h; the caller holds the lock. */
void flashmon_trace_add(struct flashmon *m, u8 op, u64 t_start_ns,
			const struct flashmon_request *r, u32 oob_bytes,
			u32 pages, int result);

/* live.c. Return: 0 or -ENOMEM. */
int flashmon_live_alloc(struct flashmon *m);
void flashmon_live_free(struct flashmon *m);

extern const struct proc_ops flashmon_live_ops;

int flashmon_proc_init(const struct proc_ops *control);
void flashmon_proc_exit(void);
int flashmon_proc_add(struct flashmon *m);
void flashmon_proc_remove(struct flashmon *m);

#endif
