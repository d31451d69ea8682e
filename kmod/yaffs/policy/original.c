// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy of the original design: write to the next empty block in turn; collect
 * what costs least, but sometimes what is old.
 *
 * A victim is, in this order: the oldest full block, once in a while, so that data
 * that never change are moved before they fade (refresh); a block with bit errors;
 * the block with the fewest live pages among some that are looked at in turn. In
 * passive mode only blocks with very few live pages count; the longer nothing is
 * found, the more may be live, and in the end the oldest block with dead pages is
 * taken. Such a block may be all that keeps younger blocks with shrink headers from
 * being erased. In aggressive mode every block that gives a page back will do; one
 * with pages that cannot be read only if there is no other.
 */

#include "policy.h"

#define PASSIVE_LIVE_PAGES	4
#define ENOUGH_LIVE_PAGES	2
#define MAX_PASSIVE_BLOCKS	100
#define FAILED_FOREGROUND	20
#define FAILED_BACKGROUND	10

void yaffs_policy_init(struct yaffs_policy *p, const struct yaffs_block *blocks,
		       u32 n_blocks, u32 pages_per_block)
{
	memset(p, 0, sizeof(*p));
	p->blocks = blocks;
	p->n_blocks = n_blocks;
	p->pages_per_block = pages_per_block;
	p->refresh_in = YAFFS_REFRESH_PERIOD;
}

static u32 next_block(const struct yaffs_policy *p, u32 block)
{
	return block >= p->n_blocks ? 1 : block + 1;
}

u32 yaffs_policy_empty_block(struct yaffs_policy *p)
{
	u32 block = p->alloc_last;
	u32 i;

	for (i = 0; i < p->n_blocks; i++) {
		block = next_block(p, block);
		if (p->blocks[block].state == YAFFS_BLOCK_EMPTY) {
			p->alloc_last = block;
			return block;
		}
	}
	return 0;
}

static bool is_dirty(const struct yaffs_policy *p, u32 block)
{
	const struct yaffs_block *b = &p->blocks[block];

	return b->state == YAFFS_BLOCK_FULL &&
	       b->pages_in_use < p->pages_per_block;
}

/* Finds the oldest block with dead pages; U32 maximum if there is none. */
static void find_oldest_dirty(struct yaffs_policy *p)
{
	u32 block;

	p->oldest_dirty_seq = YAFFS_SEQ_ERASED;
	p->oldest_dirty = 0;
	for (block = 1; block <= p->n_blocks; block++)
		if (is_dirty(p, block) &&
		    p->blocks[block].seq < p->oldest_dirty_seq) {
			p->oldest_dirty_seq = p->blocks[block].seq;
			p->oldest_dirty = block;
		}
}

void yaffs_policy_dirtied(struct yaffs_policy *p, u32 block)
{
	if (p->oldest_dirty_seq && is_dirty(p, block) &&
	    p->blocks[block].seq < p->oldest_dirty_seq) {
		p->oldest_dirty_seq = p->blocks[block].seq;
		p->oldest_dirty = block;
	}
}

void yaffs_policy_erased(struct yaffs_policy *p, u32 block)
{
	if (p->candidate == block)
		p->candidate = 0;
	if (p->oldest_dirty == block)
		p->oldest_dirty_seq = 0;
}

bool yaffs_policy_may_erase(struct yaffs_policy *p, u32 block)
{
	if (!p->blocks[block].has_shrink)
		return true;
	if (!p->oldest_dirty_seq)
		find_oldest_dirty(p);
	return p->blocks[block].seq <= p->oldest_dirty_seq;
}

static bool is_eligible(struct yaffs_policy *p, u32 block)
{
	const struct yaffs_block *b = &p->blocks[block];

	return b->state == YAFFS_BLOCK_FULL && !b->unreadable &&
	       yaffs_policy_may_erase(p, block);
}

/* The oldest full block, when it is time for that. */
static u32 refresh_victim(struct yaffs_policy *p)
{
	u32 block, oldest = 0;

	if (YAFFS_REFRESH_PERIOD < 10 || --p->refresh_in)
		return 0;
	p->refresh_in = YAFFS_REFRESH_PERIOD;
	for (block = 1; block <= p->n_blocks; block++)
		if (is_eligible(p, block) &&
		    (!oldest || p->blocks[block].seq < p->blocks[oldest].seq))
			oldest = block;
	return oldest;
}

static u32 prioritised_victim(struct yaffs_policy *p)
{
	bool any = false;
	u32 block;

	if (!p->any_prioritised)
		return 0;
	for (block = 1; block <= p->n_blocks; block++) {
		if (!p->blocks[block].prioritised ||
		    p->blocks[block].unreadable)
			continue;
		any = true;
		if (is_eligible(p, block))
			return block;
	}
	p->any_prioritised = any;
	return 0;
}

static u32 passive_threshold(const struct yaffs_policy *p, bool background)
{
	u32 limit = max_t(u32, PASSIVE_LIVE_PAGES,
			  p->pages_per_block / (background ? 2 : 8));
	u32 threshold = PASSIVE_LIVE_PAGES;

	if (background)
		threshold += 2 * p->failed;
	return min_t(u32, threshold, limit);
}

/* Goes on with the search where it stopped; remembers the best so far. */
static u32 rolling_victim(struct yaffs_policy *p, bool aggressive,
			  bool background)
{
	u32 threshold = p->pages_per_block - 1, blocks = p->n_blocks;
	u32 i;

	if (!aggressive) {
		threshold = passive_threshold(p, background);
		blocks = min_t(u32, blocks / 16 + 1, MAX_PASSIVE_BLOCKS);
	}
	if (p->candidate && is_eligible(p, p->candidate))
		p->candidate_pages = p->blocks[p->candidate].pages_in_use;
	else
		p->candidate = 0;

	for (i = 0; i < blocks; i++) {
		if (p->candidate && p->candidate_pages <= ENOUGH_LIVE_PAGES)
			break;
		p->search_at = next_block(p, p->search_at);
		if (!is_dirty(p, p->search_at) ||
		    (p->candidate && p->blocks[p->search_at].pages_in_use >=
				     p->candidate_pages) ||
		    !is_eligible(p, p->search_at))
			continue;
		p->candidate = p->search_at;
		p->candidate_pages = p->blocks[p->search_at].pages_in_use;
	}
	if (!p->candidate || p->candidate_pages > threshold)
		return 0;
	return p->candidate;
}

static u32 oldest_victim(struct yaffs_policy *p)
{
	if (!p->oldest_dirty_seq)
		find_oldest_dirty(p);
	if (!p->oldest_dirty || p->blocks[p->oldest_dirty].unreadable)
		return 0;
	return p->oldest_dirty;
}

/* The oldest of them: it may be what the others wait for. */
static u32 unreadable_victim(struct yaffs_policy *p)
{
	u32 block, oldest = 0;

	for (block = 1; block <= p->n_blocks; block++)
		if (p->blocks[block].unreadable && is_dirty(p, block) &&
		    yaffs_policy_may_erase(p, block) &&
		    (!oldest || p->blocks[block].seq < p->blocks[oldest].seq))
			oldest = block;
	return oldest;
}

u32 yaffs_policy_victim(struct yaffs_policy *p, bool aggressive, bool background)
{
	u32 patience = background ? FAILED_BACKGROUND : FAILED_FOREGROUND;
	u32 victim = 0;

	if (!aggressive)
		victim = refresh_victim(p);
	if (!victim && !aggressive)
		victim = prioritised_victim(p);
	if (!victim)
		victim = rolling_victim(p, aggressive, background);
	if (!victim && (aggressive || p->failed >= patience))
		victim = oldest_victim(p);
	if (!victim && aggressive)
		victim = unreadable_victim(p);
	if (!victim) {
		p->failed++;
		return 0;
	}
	p->failed = 0;
	p->candidate = 0;
	return victim;
}
