/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an operation will do, decided before any of it is done: from the chip's
 * description, the state of the page and the block, and what is asked. Pure: the
 * same question has the same answer, and nothing is changed by asking.
 *
 * chip.c applies a decision to the contents and the counters, and then lets its
 * time pass. So an operation can be cut between the two, or applied in part.
 */
#ifndef VNAND_DECIDE_H
#define VNAND_DECIDE_H

#include "faults.h"
#include "rules.h"
#include "timing.h"

/* No page of the chip: the driver keeps none. */
#define VNAND_NO_PAGE	(~0U)
/* ECC steps of the largest page. */
#define VNAND_MAX_STEPS	128

/**
 * struct vnand_block_facts - what is known of an erase block
 * @erases: how often it was erased, also before the chip's contents began
 * @reads_since_erase: page reads since then
 * @shelf_hours: hours without power since the first program after that
 * @next_page: one behind the highest page that is programmed
 * @bad: it is marked bad
 * @failed: it has failed, and every further use fails
 */
struct vnand_block_facts {
	u32 erases;
	u32 reads_since_erase;
	u32 shelf_hours;
	u32 next_page;
	bool bad;
	bool failed;
};

/**
 * struct vnand_request - a read or a program of one page
 * @page: number of the page in the chip
 * @column: first data byte
 * @data_bytes: how many data bytes; 0: none, the OOB alone
 * @oob: with the whole OOB
 * @raw: a read without ECC
 * @sets_bits: of NOR, a program that asks for ones where zeros are
 */
struct vnand_request {
	u32 page;
	u32 column;
	u32 data_bytes;
	bool oob;
	bool raw;
#ifdef VNOR
	bool sets_bits;
#endif
};

/**
 * struct vnand_read_decision - a read
 * @served: from the page that the driver kept: no operation of the chip
 * @erased: the page was never programmed
 * @data_bytes, @oob_bytes: what crosses the bus
 * @bitflips: most corrected bit errors in an ECC step
 * @corrected: all corrected bit errors
 * @uncorrectable: ECC steps with more errors than can be corrected
 * @wrong_steps: bit mask of the steps that keep their wrong bits
 * @kept_page: the page that the driver keeps from now on
 * @time: how long it takes
 */
struct vnand_read_decision {
	bool served;
	bool erased;
	u32 data_bytes;
	u32 oob_bytes;
	u32 bitflips;
	u32 corrected;
	u32 uncorrectable;
	u64 wrong_steps[VNAND_MAX_STEPS / 64];
	u32 kept_page;
	struct vnand_duration time;
};

enum vnand_change_kind {
	VNAND_PROGRAM,
	VNAND_ERASE,
	VNAND_MARK_BAD,
};

/**
 * struct vnand_change - an operation that changes the flash
 * @kind: which
 * @block: the erase block
 * @page: a program: number of the page in the chip
 * @violation: the rule that it breaks, or VNAND_OK
 * @fails: the chip will report a failure
 * @stored_bytes: a program: data bytes that reach the page, from the first on;
 *	half of them when it fails
 * @state: a program: what is known of the page afterwards
 * @next_page: that of the block, afterwards
 * @bytes_to_chip: what crosses the bus and is counted
 * @time: how long it takes
 */
struct vnand_change {
	enum vnand_change_kind kind;
	u32 block;
	u32 page;
	enum vnand_violation violation;
	bool fails;
	u32 stored_bytes;
	struct vnand_page_state state;
	u32 next_page;
	u32 bytes_to_chip;
	struct vnand_duration time;
};

/**
 * vnand_decide_read() - what reading a page gives, and costs
 * @p: the chip
 * @r: what is asked
 * @page: state of the page
 * @block: its block
 * @kept_page: the page that the driver has kept
 */
struct vnand_read_decision
vnand_decide_read(const struct vnand_params *p, const struct vnand_request *r,
		  const struct vnand_page_state *page,
		  const struct vnand_block_facts *block, u32 kept_page);

/* The same of programming a page, some of its sub-pages, or its OOB. */
struct vnand_change
vnand_decide_program(const struct vnand_params *p,
		     const struct vnand_request *r,
		     const struct vnand_page_state *page,
		     const struct vnand_block_facts *block);

/* The same of erasing block number @number. */
struct vnand_change
vnand_decide_erase(const struct vnand_params *p, u32 number,
		   const struct vnand_block_facts *block);

/* The same of marking it bad: the driver programs the mark into its OOB. */
struct vnand_change
vnand_decide_mark_bad(const struct vnand_params *p, u32 number,
		      const struct vnand_block_facts *block);

/* What the bit errors of the block depend on. */
static inline struct vnand_age
vnand_age_of(const struct vnand_block_facts *block)
{
	return (struct vnand_age){
		.erases = block->erases,
		.reads = block->reads_since_erase,
		.shelf_hours = block->shelf_hours,
	};
}

/* Does step number @step keep its wrong bits? */
static inline bool vnand_step_is_wrong(const struct vnand_read_decision *d,
				       u32 step)
{
	return d->wrong_steps[step / 64] >> (step % 64) & 1;
}

#endif
