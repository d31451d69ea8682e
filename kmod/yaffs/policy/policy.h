/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Policy, apart from mechanism: which block is written next and with what, which one is
 * collected, and how much of it now. Pure: it sees the flash by a view (view.h), is told
 * what happens, and answers with a number; the core does what it says.
 *
 * A policy is a table of functions, chosen when the partition is mounted, and what it
 * remembers for one mount: a structure of its own that begins with struct yaffs_policy.
 * All calls come with the device locked, but for has_pressing.
 */
#ifndef YAFFS_POLICY_H
#define YAFFS_POLICY_H

#include "view.h"

/* The most blocks that are written side by side. */
#define YAFFS_STREAMS	2

/*
 * What a page holds, and whether it is new or moved by the collector. Metadata are headers,
 * and in the segregated layout index pages.
 */
enum yaffs_page_kind {
	YAFFS_PAGE_DATA,
	YAFFS_PAGE_METADATA,
	YAFFS_PAGE_DATA_COPY,
	YAFFS_PAGE_METADATA_COPY,
	YAFFS_PAGE_KINDS
};

/**
 * struct yaffs_occasion - when the collector asks what to do
 * @background: nobody waits; else a page is about to be written
 * @round: how often it has asked already on this occasion
 * @reserved_blocks: erased blocks that only some writers may use
 * @checkpoint_blocks: erased blocks to be kept for the checkpoint, beyond these
 * @bounded: somebody must not wait longer than @ns; in the background, longer than a step
 * @steps: pages that were copied, and blocks erased, since it asked last
 * @ns: what the collector may take, if @bounded
 * @after_cut: the mount found no checkpoint: power has failed, and may again
 */
struct yaffs_occasion {
	bool background;
	u32 round;
	u32 reserved_blocks;
	u32 checkpoint_blocks;
	bool bounded;
	u32 steps;
	u64 ns;
	bool after_cut;
};

/* With fewer erased blocks the original design is aggressive. */
static inline u32 yaffs_enough_blocks(const struct yaffs_occasion *occasion)
{
	return occasion->reserved_blocks + 1 + occasion->checkpoint_blocks;
}

/**
 * struct yaffs_budget - how much is collected now
 * @aggressive: space is short: any block that gives a page back will do
 * @forced: there is no choice, whatever is said of the time
 * @copies: pages that may be copied; if @ns is a limit, an erase counts as one
 * @ns: what all of it may take; 0: no limit
 */
struct yaffs_budget {
	bool aggressive;
	bool forced;
	u32 copies;
	u64 ns;
};

struct yaffs_policy;

/**
 * struct yaffs_policy_ops - a policy
 * @name: for messages
 * @bytes: of what it remembers
 * @n_streams: blocks that it has written side by side, at most YAFFS_STREAMS
 * @init: at mount, on zeroed memory with @ops and @view set
 * @stream_of: the stream that a page of that kind goes to, below @n_streams
 * @empty_block: the empty block that the stream goes on with; 0 if there is none
 * @victim: the block to collect next; 0 if none is worth it now
 * @budget: false: nothing is to be collected now. It is asked again after each block that
 *	it gave a budget for, until it says so
 * @urgency: 0, 1 or 2: how soon the background should collect
 * @has_pressing: there may be a block that must be collected though nothing is written,
 *	such as one with bit errors. Without the lock
 * @dirtied: pages of the block died, or it became full
 * @erased: the block was erased or retired
 * @prioritised: the block's pages had bit errors, or writing to it failed
 */
struct yaffs_policy_ops {
	const char *name;
	size_t bytes;
	u32 n_streams;
	void (*init)(struct yaffs_policy *policy);
	u32 (*stream_of)(const struct yaffs_policy *policy,
			 enum yaffs_page_kind kind);
	u32 (*empty_block)(struct yaffs_policy *policy, u32 stream);
	u32 (*victim)(struct yaffs_policy *policy, bool aggressive,
		      bool background);
	bool (*budget)(struct yaffs_policy *policy,
		       const struct yaffs_occasion *occasion,
		       struct yaffs_budget *budget);
	unsigned int (*urgency)(const struct yaffs_policy *policy);
	bool (*has_pressing)(const struct yaffs_policy *policy);
	void (*dirtied)(struct yaffs_policy *policy, u32 block);
	void (*erased)(struct yaffs_policy *policy, u32 block);
	void (*prioritised)(struct yaffs_policy *policy, u32 block);
};

/**
 * struct yaffs_policy - one mount's; the structure of each policy begins with it
 * @ops: which policy it is
 * @view: what it sees
 */
struct yaffs_policy {
	const struct yaffs_policy_ops *ops;
	struct yaffs_view view;
};

/* Begins anew, with nothing remembered; @policy has room for @ops->bytes. */
static inline void yaffs_policy_init(struct yaffs_policy *policy,
				     const struct yaffs_policy_ops *ops,
				     const struct yaffs_view *view)
{
	memset(policy, 0, ops->bytes);
	policy->ops = ops;
	policy->view = *view;
	ops->init(policy);
}

#endif
