/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One virtual chip, and what its parts ask of each other:
 *
 *	main.c	the module: parameters to chips
 *	mtd.c	the MTD device: cuts requests into page operations
 *	chip.c	page operations: decided, applied to contents and counters, timed
 *	store.c	where contents and state live: a host file or guest memory
 *	proc.c	/proc/vnand/NAME
 *
 * and the pure parts params.c, timing.c, faults.c, rules.c, decide.c.
 *
 * kmod/vnor compiles main.c, chip.c, store.c, proc.c, params.c and faults.c once
 * more, with VNOR defined, beside its own mtd.c, timing.c, rules.c and decide.c.
 */
#ifndef VNAND_H
#define VNAND_H

#include <linux/list.h>
#include <linux/mtd/mtd.h>
#include <linux/mutex.h>

#include "crash_hooks.h"
#include "decide.h"
#include "faults.h"
#include "image_format.h"
#include "params.h"
#include "rules.h"
#include "timing.h"

/* What the kernel's log calls it: kmod/vnor compiles these sources too. */
#ifdef VNOR
#define VNAND_MODULE	"vnor"
#define VNAND_CHIPS	"NOR flash"
#else
#define VNAND_MODULE	"vnand"
#define VNAND_CHIPS	"NAND chips"
#endif

/* What the chip has done since the module was loaded. */
struct vnand_counters {
	u64 array_reads;	/* pages read from the array */
	u64 cached_reads;	/* served from the page the driver kept */
	u64 reads_erased;	/* array reads of a page never programmed */
	u64 programs;		/* program operations, of any size */
	u64 oob_programs;	/* of them, of OOB only */
	u64 erases;
	u64 changes;		/* programs, erases and bad-block marks */
	u64 bytes_from_chip;	/* over the bus */
	u64 bytes_to_chip;
	u64 read_ns;		/* time of the chip: command, array, ECC of reads */
	u64 program_ns;		/* the same of programs */
	u64 erase_ns;		/* and of erases */
	u64 transfer_ns;	/* the bus, both ways */
	u64 driver_ns;		/* CPU work of the driver beside them */
	u64 bitflips_corrected;
	u64 steps_uncorrectable;
	u64 program_failures;
	u64 erase_failures;
	u64 violations[VNAND_VIOLATIONS];
};

/**
 * struct vnand_store - contents and state of a chip
 * @region: the mapping of the host file; else NULL
 * @block: state of each erase block, @blocks entries
 * @page: state of each page
 * @data: all pages, when the store is a host file; else NULL
 * @block_data: pages of each erase block or NULL, when the store is memory
 */
struct vnand_store {
	void *region;
	struct vnand_image_block *block;
	struct vnand_page_state *page;
	u8 *data;
	u8 **block_data;
};

/**
 * struct vnand_chip - a chip
 * @p: its description
 * @lock: held during every operation; a chip does one thing at a time.
 *	Protects everything below.
 * @store: contents
 * @kept_page: number of the page in the driver's buffer, or VNAND_NO_PAGE
 * @counters: see there
 * @mtd: its MTD device, the master of its partitions
 * @list: in the module's list of chips
 * @crash: log and state of vnand_crash, or NULL when it is off
 */
struct vnand_chip {
	struct vnand_params p;
	struct mutex lock;	/* a chip does one thing at a time */
	struct vnand_store store;
	u32 kept_page;
	struct vnand_counters counters;
	struct mtd_info mtd;
	struct list_head list;
#ifdef VNAND_CRASH
	struct vnand_crash *crash;
#endif
};

/*
 * Moving contents is the emulation's work, not the guest's: its CPU model counts
 * the bytes of memcpy() and memset(), so these do without them. The bus
 * transfer is charged by the timing model.
 */
static inline void vnand_copy(void *to, const void *from, size_t bytes)
{
#ifdef CONFIG_UML_X86
	asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes)
		     : : "memory");
#else
	memcpy(to, from, bytes);
#endif
}

/*
 * A part of a page reaches the caller of a NAND driver through the driver's
 * buffer, which is work of the guest; that of NOR needs none.
 */
static inline void vnand_copy_part(void *to, const void *from, size_t bytes)
{
#ifdef VNOR
	vnand_copy(to, from, bytes);
#else
	memcpy(to, from, bytes);
#endif
}

static inline void vnand_fill(void *to, u8 byte, size_t bytes)
{
#ifdef CONFIG_UML_X86
	asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(byte) : "memory");
#else
	memset(to, byte, bytes);
#endif
}

static inline u32 vnand_block_of(const struct vnand_chip *chip, u32 page)
{
	return page / chip->p.pages_per_block;
}

/**
 * struct vnand_read - one page read
 * @page: number of the page in the chip
 * @column: first data byte
 * @data: where @data_bytes go, or NULL
 * @data_bytes: how many data bytes
 * @oob: where the whole OOB goes, or NULL
 * @raw: without ECC
 * @bitflips: result: most corrected bit errors in an ECC step
 * @corrected: result: all corrected bit errors
 * @uncorrectable: result: ECC steps with more errors than can be corrected
 */
struct vnand_read {
	u32 page;
	u32 column;
	u8 *data;
	u32 data_bytes;
	u8 *oob;
	bool raw;
	u32 bitflips;
	u32 corrected;
	u32 uncorrectable;
};

/* chip.c; the caller holds the lock. */
void vnand_chip_read(struct vnand_chip *chip, struct vnand_read *r);

/**
 * vnand_chip_program() - program a page, some of its sub-pages, or its OOB
 * @chip: the chip
 * @page: number of the page in the chip
 * @column: first data byte, at a sub-page boundary
 * @data: @data_bytes bytes, whole sub-pages, or NULL
 * @data_bytes: how many
 * @oob: the whole OOB, 0xff where nothing is programmed, or NULL
 *
 * Return: 0, or -EIO when the chip reports a failure.
 */
int vnand_chip_program(struct vnand_chip *chip, u32 page, u32 column,
		       const u8 *data, u32 data_bytes, const u8 *oob);

/* Return: 0, or -EIO when the chip reports a failure. */
int vnand_chip_erase(struct vnand_chip *chip, u32 block);

int vnand_chip_mark_bad(struct vnand_chip *chip, u32 block);

/**
 * vnand_store_open() - find or make the contents
 * Return: 0, -ENOMEM, -ENODEV (no such iomem region), -ENOSPC (region too
 * small), -EBADMSG (damaged image), -EINVAL (image of another geometry).
 */
int vnand_store_open(struct vnand_chip *chip);
void vnand_store_close(struct vnand_chip *chip);

/* What the table of bad blocks says: no operation of the chip. */
bool vnand_chip_is_bad(struct vnand_chip *chip, u32 block);

/* Contents of a page (data, then OOB), or NULL if the block holds none. */
u8 *vnand_store_page(struct vnand_chip *chip, u32 page);

/* The same, for writing. Return: NULL when there is no memory. */
u8 *vnand_store_page_to_write(struct vnand_chip *chip, u32 page);

/* All pages of @block are erased. */
void vnand_store_erase(struct vnand_chip *chip, u32 block);

int vnand_mtd_register(struct vnand_chip *chip);
int vnand_mtd_unregister(struct vnand_chip *chip);

int vnand_proc_init(void);
void vnand_proc_exit(void);
int vnand_proc_add(struct vnand_chip *chip);
void vnand_proc_remove(struct vnand_chip *chip);

#endif
