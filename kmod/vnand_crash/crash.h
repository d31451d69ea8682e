/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A chip that logs its changes, goes to any moment of them, and leaves one as a
 * power cut does (docs/fault-model.md). kmod/vnor_crash compiles the same sources
 * for NOR flash, with VNOR defined.
 *
 * A change is an entry: what it changed, before and after. An erase changes the
 * state of its pages only; their bytes stay where they are until a page is
 * programmed again, and are in that program's entry. So to go a step is to copy a
 * page.
 *
 * Logs are stacked. Level 0 is the workload's. While the flash stands at a moment
 * of a log, all changes (a cut, then the recovery from it) go to that level's
 * @undo, by which they are taken back; or the recovery becomes the log of the
 * next level, and cuts are made in that.
 *
 *	log.c	 entries: their memory, undoing and redoing them
 *	levels.c moments and levels: the commands
 *	keep.c	 one of them: what was cut becomes the flash that is there
 *	cut.c	 what a cut leaves of an operation; tear.c: of bits (pure)
 *	place.c	 what the ECC makes of such a page (pure)
 *	hooks.c	 called by the chip (../vnand/crash_hooks.h)
 *	digest.c a number that stands for what is on the flash
 *	files.c	 /proc/vnand/NAME/{crash,log,digest,difference}
 */
#ifndef VNAND_CRASH_H
#define VNAND_CRASH_H

#include "../vnand/vnand.h"
#include "place.h"
#include "tear.h"

#define CRASH_LEVELS 4

enum crash_when { CRASH_BEFORE, CRASH_AFTER };

/**
 * struct crash_entry - a change of one erase block
 * @kind: what kind of operation, or what it was before a cut
 * @block: number of the erase block
 * @first: the first page that is in it
 * @pages: how many pages are in it: their states and places
 * @with_contents: and their bytes
 * @column, @bytes, @oob: a program, for people
 * @state: of the block, before and after
 * @rest: states, places, contents of the pages: see log.c
 */
struct crash_entry {
	enum vnand_change_kind kind;
	u32 block;
	u32 first;
	u32 pages;
	bool with_contents;
	u32 column, bytes;
	bool oob;
	struct vnand_image_block state[2];
	u8 rest[] __aligned(8);
};

/**
 * struct crash_log - entries in order
 * @entry: @n of @room
 * @chunk: their memory, @chunks vmalloc areas, the last filled up to @used
 * @full: there was no memory for one
 * @id: which of all it is, for struct vnand_place
 */
struct crash_log {
	struct crash_entry **entry;
	u32 n, room;
	u8 **chunk;
	u32 chunks, chunk_room, current_chunk;
	size_t used;
	bool full;
	u32 id;
};

/**
 * struct crash_level - a log, and where the flash stands in it
 * @log: the operations
 * @undo: what was changed since it stands at @position
 * @logging: operations go to @log; else they go to @undo
 * @position: so many operations of the log have happened
 * @boot: times that power was off before it
 * @cut: the kind of cut that was made there, or NULL
 * @variant: which of its variants
 */
struct crash_level {
	struct crash_log log;
	struct crash_log undo;
	bool logging;
	u32 position;
	u32 boot;
	const char *cut;
	u64 variant;
};

/**
 * struct vnand_crash - of a chip; all of it is protected by the chip's lock
 * @level: the logs, @depth is the present one
 * @limit_bytes: how much memory all may take, @taken_bytes: they do
 * @boot: how often power was off; unstable places of earlier ones read badly
 * @halt_at: at this operation power fails for good, or U32_MAX
 * @pending: the entry of the change that is being made
 * @place: the weak place of each page, or NULL
 * @touched_page, @touched_block: @era in which it was used last
 * @era: begins anew with each state
 * @mixed_page, @mixed_block: @mixing in which it was mixed into a digest last
 */
struct vnand_crash {
	struct crash_level level[CRASH_LEVELS];
	u32 depth;
	size_t limit_bytes, taken_bytes;
	u32 boot;
	u32 halt_at;
	struct crash_entry *pending;
	struct vnand_place **place;
	u32 *touched_page, *touched_block;
	u32 era;
	u32 *mixed_page, *mixed_block;
	u32 mixing;
};

static inline struct crash_level *crash_level(const struct vnand_chip *chip)
{
	return &chip->crash->level[chip->crash->depth];
}

static inline u32 crash_raw_bytes(const struct vnand_chip *chip)
{
	return chip->p.page_bytes + chip->p.oob_bytes;
}

/* A bit for each technology of flash; rows of kinds say on which they are. */
#define CRASH_NAND	BIT(0)
#define CRASH_NOR	BIT(1)

/* Which this is, and the bytes of what is programmed whole or not at all. */
#ifdef VNOR
#define CRASH_FLASH	CRASH_NOR
static inline u32 crash_unit_bytes(const struct vnand_chip *chip)
{
	return 1;
}
#else
#define CRASH_FLASH	CRASH_NAND
static inline u32 crash_unit_bytes(const struct vnand_chip *chip)
{
	return chip->p.page_bytes / chip->p.subpages;
}
#endif

/* --- log.c ------------------------------------------------------------------ */

/**
 * crash_log_add() - an entry for a change of @pages pages, with what is there now
 * Return: the entry, or NULL with @log->full when there is no memory.
 */
struct crash_entry *crash_log_add(struct vnand_chip *chip,
				  struct crash_log *log,
				  enum vnand_change_kind kind, u32 first,
				  u32 pages, bool with_contents);

/* Memory that lives as long as the log's entries; NULL if there is none. */
void *crash_log_alloc(struct vnand_chip *chip, struct crash_log *log,
		      size_t bytes);
void crash_log_reset(struct crash_log *log);

/* Calls @move for each weak place that an entry names. */
void crash_log_places(struct vnand_chip *chip, struct crash_log *log,
		      void (*move)(struct vnand_chip *, struct vnand_place **));

/* A weak place with room for its codeword; NULL if there is no memory. */
struct vnand_place *crash_log_place(struct vnand_chip *chip,
				    struct crash_log *log);
void crash_log_free(struct vnand_chip *chip, struct crash_log *log);

/* Take what is on the flash now as what it was @when. */
void crash_entry_take(struct vnand_chip *chip, struct crash_entry *e,
		      enum crash_when when);

/* Make the flash what it was @when. */
void crash_entry_give(struct vnand_chip *chip, const struct crash_entry *e,
		      enum crash_when when);

u8 *crash_entry_page(const struct vnand_chip *chip,
		     const struct crash_entry *e, u32 i, enum crash_when when);
struct vnand_page_state *crash_entry_state(const struct crash_entry *e, u32 i,
					   enum crash_when when);

/* --- levels.c --------------------------------------------------------------- */

/* Each returns 0 or a negative errno; the caller holds the chip's lock. */
int crash_begin_log(struct vnand_chip *chip, u64 limit_mib);
int crash_stop(struct vnand_chip *chip);
int crash_at(struct vnand_chip *chip, u64 position);
int crash_back(struct vnand_chip *chip);
int crash_push(struct vnand_chip *chip);
int crash_pop(struct vnand_chip *chip);

/**
 * crash_keep() - the level below is forgotten, and this one takes its place
 *
 * So a power cut stays, and the next is made in what happened after it, as often
 * as one likes, with the memory of two levels. The cut can still be taken back.
 * Return: 0; -EINVAL at level 0, or while it logs; -ENOSPC.
 */
int crash_keep(struct vnand_chip *chip);
int crash_cycle(struct vnand_chip *chip);
int crash_halt(struct vnand_chip *chip, u64 operation);
void crash_off(struct vnand_chip *chip);
bool crash_is_full(const struct vnand_chip *chip);

/* Has anything since the last state looked at, or changed, what @e changed? */
bool crash_touched(const struct vnand_chip *chip, const struct crash_entry *e);

/* --- digest.c --------------------------------------------------------------- */

/* Of the whole flash; how often it was read is no part of it. */
u64 crash_digest(struct vnand_chip *chip);

/*
 * Of what may be other than before the present level began.  Two moments with the
 * same one are the same flash, with what its weak places will be, but for chance.
 */
u64 crash_difference(struct vnand_chip *chip);

/* --- cut.c ------------------------------------------------------------------ */

/* The flash stands before an operation: leave it as a cut of @kind does. */
int crash_cut(struct vnand_chip *chip, const char *kind, u64 variant);

/**
 * struct crash_kind - a kind of cut
 * @name: as it is asked for
 * @flash: a bit for each technology that has it
 * @cuts: a bit for each kind of operation that it can cut
 * @variants: in how many ways it can cut an operation; U32_MAX if the variant is a seed
 * @cut: what it does; NULL: nothing of the operation happened
 */
struct crash_kind {
	const char *name;
	u32 flash;
	u32 cuts;
	u32 (*variants)(const struct vnand_chip *chip,
			const struct crash_entry *e);
	int (*cut)(struct vnand_chip *chip, const struct crash_entry *e,
		   u64 variant);
};

/* The kinds in order, NULL behind the last one. */
const struct crash_kind *crash_kind(u32 i);

/* In how many ways a kind can cut an operation; U32_MAX: seeds; 0: it does not apply. */
u32 crash_variants(const struct vnand_chip *chip, const struct crash_entry *e,
		   const struct crash_kind *kind);

#endif
