// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wear leveling: the two pools, against a slow model of them; what is too little worn; and
 * counts of erases in summaries.
 */

#include "partition.h"

#define NONE	0

struct model {
	u32 queue[2][4 * BLOCKS];
	u32 n[2];
};

struct worn {
	struct partition p;
	u32 links[BLOCKS + 1];
	u64 all_erases;
	struct yaffs_pools pools;
	struct model model;
};

static struct yaffs_view view_of(struct worn *w)
{
	return (struct yaffs_view) {
		.blocks = w->p.block,
		.erases = w->p.erases,
		.all_erases = &w->all_erases,
		.links = w->links,
		.space = &w->p.space,
		.n_blocks = BLOCKS,
		.pages_per_block = PAGES,
	};
}

static void clear(struct worn *w)
{
	u32 i;

	memset(w, 0, sizeof(*w));
	begin(&w->p);
	for (i = 1; i <= BLOCKS; i++)
		w->model.queue[0][w->model.n[0]++] = i;
}

/* ---- the model ---- */

static u32 shift(struct model *m, int kind)
{
	u32 block;

	if (!m->n[kind])
		return NONE;
	block = m->queue[kind][0];
	memmove(m->queue[kind], m->queue[kind] + 1, --m->n[kind] * sizeof(block));
	return block;
}

static void unshift(struct model *m, int kind, u32 block)
{
	memmove(m->queue[kind] + 1, m->queue[kind], m->n[kind]++ * sizeof(block));
	m->queue[kind][0] = block;
}

static u32 expected(struct worn *w, bool metadata)
{
	struct model *m = &w->model;
	int kind = m->n[!metadata] ? !metadata : metadata;
	u32 first = shift(m, kind), second;

	if (!first || (u64)w->p.erases[first] * BLOCKS <= w->all_erases)
		return first;
	second = shift(m, kind);
	if (!second)
		return first;
	if (w->p.erases[second] < w->p.erases[first]) {
		unshift(m, kind, first);
		return second;
	}
	unshift(m, kind, second);
	return first;
}

static void erase(struct worn *w, u32 block)
{
	const struct yaffs_view view = view_of(w);

	w->p.erases[block]++;
	w->all_erases++;
	w->p.block[block].state = YAFFS_BLOCK_EMPTY;
	yaffs_pools_erased(&w->pools, &view, block);
	w->model.queue[w->p.block[block].metadata][w->model.n[w->p.block[block].metadata]++] =
		block;
}

static void test_against_the_model(void)
{
	struct worn w;
	u64 random = 7;
	u32 i, block, want, wrong = 0, taken = 0;
	bool metadata;

	clear(&w);
	for (i = 0; i < 20000; i++) {
		const struct yaffs_view view = view_of(&w);

		if (draw_below(&random, 2)) {
			metadata = draw_below(&random, 3) == 0;
			want = expected(&w, metadata);
			block = yaffs_pools_take(&w.pools, &view, metadata);
			wrong += block != want;
			if (!block)
				continue;
			taken++;
			w.p.block[block].state = YAFFS_BLOCK_FULL;
			w.p.block[block].metadata = metadata;
		} else {
			block = 1 + draw_below(&random, BLOCKS);
			if (w.p.block[block].state == YAFFS_BLOCK_FULL)
				erase(&w, block);
		}
	}
	check(!wrong, "%u blocks were not those that the rules say", wrong);
	check(taken > 5000, "%u were taken", taken);
}

static void test_swap(void)
{
	struct worn w;
	u32 block;

	clear(&w);
	w.p.block[2].metadata = true;
	w.p.block[5].metadata = true;
	{
		const struct yaffs_view view = view_of(&w);

		check(yaffs_pools_take(&w.pools, &view, false) == 2,
		      "data go where metadata were");
		check(yaffs_pools_take(&w.pools, &view, true) == 1,
		      "metadata go where data were");
		/* Taken for something else, such as a checkpoint. */
		w.p.block[5].state = YAFFS_BLOCK_CHECKPOINT;
		w.p.block[2].state = YAFFS_BLOCK_FULL;
		w.p.block[1].state = YAFFS_BLOCK_FULL;
		block = yaffs_pools_take(&w.pools, &view, false);
		check(block == 3, "if there is none, another will do: %u", block);
		w.p.block[3].state = YAFFS_BLOCK_FULL;
		w.p.block[5].state = YAFFS_BLOCK_EMPTY;
		yaffs_pools_erased(&w.pools, &view, 5);
		check(yaffs_pools_take(&w.pools, &view, false) == 5, "it is there again");
	}
}

static void test_queued_once(void)
{
	struct worn w;
	u32 block;

	clear(&w);
	{
		const struct yaffs_view view = view_of(&w);

		yaffs_pools_erased(&w.pools, &view, 7);
		check(yaffs_pools_take(&w.pools, &view, false) == 1,
		      "before the first is taken they are all alike");
		w.p.block[1].state = YAFFS_BLOCK_FULL;
		for (block = 2; block < BLOCKS; block++)
			w.p.block[block].state = YAFFS_BLOCK_FULL;
		/* The last one is in its queue, and was used past it. */
		yaffs_pools_erased(&w.pools, &view, BLOCKS);
		check(yaffs_pools_take(&w.pools, &view, false) == BLOCKS, "the last");
		check(!yaffs_pools_take(&w.pools, &view, false), "it is there once");
		w.p.block[BLOCKS].state = YAFFS_BLOCK_FULL;
		yaffs_pools_erased(&w.pools, &view, BLOCKS);
		w.p.block[BLOCKS].state = YAFFS_BLOCK_EMPTY;
		check(!yaffs_pools_take(&w.pools, &view, false), "a bad one does not come back");
	}
}

static void test_second_candidate(void)
{
	struct worn w;

	clear(&w);
	w.p.erases[1] = 9;
	w.p.erases[2] = 3;
	w.all_erases = 8 * BLOCKS;
	{
		const struct yaffs_view view = view_of(&w);

		check(yaffs_pools_take(&w.pools, &view, false) == 2,
		      "worn more than the mean, and the next is worn less");
		w.p.block[2].state = YAFFS_BLOCK_FULL;
		w.p.erases[3] = 9;
		check(yaffs_pools_take(&w.pools, &view, false) == 1,
		      "the next is worn as much");
		w.p.block[1].state = YAFFS_BLOCK_FULL;
		w.p.erases[3] = 8;
		w.p.erases[4] = 1;
		check(yaffs_pools_take(&w.pools, &view, false) == 3,
		      "it is not worn more than the mean");
	}
}

static void test_cold(void)
{
	struct worn w;
	struct yaffs_view view;

	clear(&w);
	view = view_of(&w);
	w.all_erases = 100 * BLOCKS;
	w.p.erases[7] = 83;
	check(!yaffs_pools_cold(&view, 7), "no bound");
	view.spread = 16;
	check(yaffs_pools_cold(&view, 7) == 7, "17 behind the mean");
	w.p.erases[7] = 84;
	check(!yaffs_pools_cold(&view, 7), "16 behind it");
	check(!yaffs_pools_cold(&view, 0), "no block at all");
}

/* What the policy says is in the queues. */
static void test_through_the_policy(void)
{
	struct worn w;
	u32 block;

	clear(&w);
	w.p.policy.base.view = view_of(&w);
	for (block = next_empty(&w.p); block; block = next_empty(&w.p))
		w.p.block[block].state = YAFFS_BLOCK_FULL;
	erase_block(&w.p, 9);
	check(next_empty(&w.p) == 9, "what was erased is there again");
	check(!next_empty(&w.p), "once");
}

/* Full blocks that are all live, and worn alike but for one. */
static void begin_cold(struct worn *w, u32 cold)
{
	u32 i;

	clear(w);
	for (i = 1; i <= BLOCKS; i++) {
		set_full(&w->p, i, YAFFS_SEQ_LOWEST + i, PAGES);
		w->p.erases[i] = 50;
	}
	w->p.erases[cold] = 2;
	w->all_erases = 40 * BLOCKS;
	w->p.policy.base.view = view_of(w);
	w->p.policy.base.view.spread = 16;
}

static void test_cold_victim(void)
{
	static const u32 places[] = { 1, 4, BLOCKS };
	struct worn w;
	u32 i, victim;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		begin_cold(&w, places[i]);
		victim = victim_of(&w.p, false, false);
		check(victim == places[i], "the least worn is %u", victim);
	}
	begin_cold(&w, 4);
	for (i = 0; i < 3 * YAFFS_COLD_PERIOD; i++) {
		victim = victim_of(&w.p, false, false);
		check(victim == (i % 16 ? 0 : 4), "it is looked for each 16th time: %u at %u",
		      victim, i);
	}
	w.p.policy.base.view.spread = 0;
	for (i = 0; i < 2 * YAFFS_COLD_PERIOD; i++)
		check(!victim_of(&w.p, false, false), "not without a bound");
}

static void test_counts(void)
{
	u8 bytes[12 + 2 * 8] = {};
	u32 block, erases;

	check(yaffs_wear_counts(1276) == 158 && yaffs_wear_counts(20) == 1 &&
	      !yaffs_wear_counts(19) && !yaffs_wear_counts(0), "what has room");
	yaffs_wear_put(bytes, 0, 17, 1000);
	yaffs_wear_put(bytes, 1, 18, 2);
	yaffs_wear_pack(bytes, 2);
	check(get32(bytes, 0) == 0x52414557 && get32(bytes, 8) == 2 &&
	      get32(bytes, 12) == 17 && get32(bytes, 16) == 1000 &&
	      get32(bytes, 20) == 18 && get32(bytes, 24) == 2, "its bytes");
	check(get32(bytes, 4) == 0xceb8afc4, "its CRC: %08x", get32(bytes, 4));
	check(yaffs_wear_unpack(bytes, sizeof(bytes)) == 2, "read again");
	yaffs_wear_get(bytes, 1, &block, &erases);
	check(block == 18 && erases == 2, "a count");
	check(!yaffs_wear_unpack(bytes, sizeof(bytes) - 1), "more than there is room for");
	bytes[13] ^= 1;
	check(!yaffs_wear_unpack(bytes, sizeof(bytes)), "a wrong bit");
	bytes[13] ^= 1;
	bytes[0] ^= 1;
	check(!yaffs_wear_unpack(bytes, sizeof(bytes)), "something else");
}

int main(void)
{
	test_against_the_model();
	test_swap();
	test_queued_once();
	test_second_candidate();
	test_cold();
	test_through_the_policy();
	test_cold_victim();
	test_counts();
	return report("test_wear");
}
