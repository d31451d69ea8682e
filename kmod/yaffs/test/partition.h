/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A partition that is not there, for the tests of the policy: what the mechanism would
 * know of its blocks, set as a test wants it.
 */
#ifndef YAFFS_TEST_PARTITION_H
#define YAFFS_TEST_PARTITION_H

#include "harness.h"
#include "../policy/original.h"

#define BLOCKS	40
#define PAGES	64

struct partition {
	struct yaffs_block block[BLOCKS + 1];
	u32 erases[BLOCKS + 1];
	struct yaffs_space space;
	struct yaffs_original policy;
	u32 seq;
};

static const struct yaffs_policy_ops *const ops = &yaffs_policy_original;

static __maybe_unused void init(struct partition *p, u32 blocks, u32 pages)
{
	const struct yaffs_view view = {
		.blocks = p->block,
		.erases = p->erases,
		.space = &p->space,
		.n_blocks = blocks,
		.pages_per_block = pages,
	};

	yaffs_policy_init(&p->policy.base, ops, &view);
}

static __maybe_unused u32 next_empty(struct partition *p)
{
	return ops->empty_block(&p->policy.base, 0);
}

static __maybe_unused u32 victim_of(struct partition *p, bool aggressive, bool background)
{
	return ops->victim(&p->policy.base, aggressive, background);
}

static __maybe_unused void begin(struct partition *p)
{
	u32 i;

	memset(p, 0, sizeof(*p));
	p->seq = YAFFS_SEQ_LOWEST;
	for (i = 1; i <= BLOCKS; i++)
		p->block[i].state = YAFFS_BLOCK_EMPTY;
	init(p, BLOCKS, PAGES);
}

static __maybe_unused void set_full(struct partition *p, u32 block, u32 seq, u32 in_use)
{
	p->block[block].state = YAFFS_BLOCK_FULL;
	p->block[block].seq = seq;
	p->block[block].pages_in_use = in_use;
}

/* As the collector does it. */
static __maybe_unused void erase_block(struct partition *p, u32 block)
{
	memset(&p->block[block], 0, sizeof(p->block[block]));
	p->block[block].state = YAFFS_BLOCK_EMPTY;
	ops->erased(&p->policy.base, block);
}

#endif
