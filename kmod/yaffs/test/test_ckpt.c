// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of the checkpoint: checksums against byte by byte, leaves against bit by
 * bit, blocks and objects against words put together by hand.
 */

#include "harness.h"

static void slow_sum(struct yaffs_ckpt_sum *sum, const u8 *bytes, u32 n)
{
	while (n--) {
		sum->sum += *bytes;
		sum->xor ^= *bytes++;
	}
}

static void test_sum_by_hand(void)
{
	struct yaffs_ckpt_sum sum = { 0 };
	u8 ones[4096];

	yaffs_ckpt_sum_add(&sum, "", 0);
	check(!sum.sum && !sum.xor, "sum of nothing");
	yaffs_ckpt_sum_add(&sum, "\x01\x02\x03", 3);
	check(sum.sum == 6 && sum.xor == 0, "1 + 2 + 3");
	yaffs_ckpt_sum_add(&sum, "\xff\x01", 2);
	check(sum.sum == 0x106 && sum.xor == 0xfe &&
	      yaffs_ckpt_sum_word(&sum) == 0x106fe, "0x106, 0xfe");
	memset(ones, 0xff, sizeof(ones));
	sum = (struct yaffs_ckpt_sum) { .sum = 0xfffffff0, .xor = 0x12 };
	yaffs_ckpt_sum_add(&sum, ones, sizeof(ones));
	/* 4096 * 255 is 0xff000; the sum wraps around. */
	check(sum.sum == 0xfeff0 && sum.xor == 0x12, "a page of ones");
	sum = (struct yaffs_ckpt_sum) { .sum = 0x12345678, .xor = 0xab };
	check(yaffs_ckpt_sum_word(&sum) == 0x345678ab, "last word");
}

static void test_sum_reference(void)
{
	u64 state = 1;
	u32 n, wrong = 0;

	for (n = 0; n < 4100; n = n < 300 ? n + 1 : n + 95) {
		struct yaffs_ckpt_sum slow = { 5, 6 };
		struct yaffs_ckpt_sum fast = slow, split = slow;
		u32 offset = draw_below(&state, 9);
		u8 *bytes = malloc(offset + n + 1);
		u32 first = draw_below(&state, n + 1);

		draw_bytes(&state, bytes, offset + n);
		slow_sum(&slow, bytes + offset, n);
		yaffs_ckpt_sum_add(&fast, bytes + offset, n);
		yaffs_ckpt_sum_add(&split, bytes + offset, first);
		yaffs_ckpt_sum_add(&split, bytes + offset + first, n - first);
		wrong += slow.sum != fast.sum || slow.xor != fast.xor;
		wrong += slow.sum != split.sum || slow.xor != split.xor;
		free(bytes);
	}
	check(!wrong, "%u checksums differ from byte by byte", wrong);
}

static void test_leaf_bits(void)
{
	/* blocks, pages per block, bits of (blocks + 1) * pages - 1, made even */
	static const u32 by_hand[][3] = {
		{ 1, 1, 16 }, { 800, 64, 16 }, { 1022, 64, 16 },
		{ 1023, 64, 16 }, { 1024, 64, 18 }, { 2048, 64, 18 },
		{ 4095, 64, 18 }, { 4096, 64, 20 }, { 8192, 64, 20 },
		{ 65536, 64, 24 }, { 8388607, 512, 32 },
	};
	u32 i, bits;

	for (i = 0; i < ARRAY_SIZE(by_hand); i++) {
		bits = yaffs_ckpt_leaf_bits(by_hand[i][0], by_hand[i][1]);
		check(bits == by_hand[i][2], "%u blocks of %u pages: %u bits",
		      by_hand[i][0], by_hand[i][1], bits);
	}
}

static void test_leaf_by_hand(void)
{
	u32 entry[16] = { 0x1234, 0xabcd }, back[16];
	u8 leaf[64];

	yaffs_ckpt_leaf_pack(entry, 16, leaf);
	check(!memcmp(leaf, "\x34\x12\xcd\xab", 4) &&
	      all_bytes(leaf + 4, 60, 0), "leaf of 16 bits");
	entry[0] = 0x3ffff;
	entry[1] = 1;
	entry[15] = 0x20000;
	yaffs_ckpt_leaf_pack(entry, 18, leaf);
	/* Entry 1 begins at bit 18; the last bit of all is bit 287. */
	check(!memcmp(leaf, "\xff\xff\x07\x00", 4) && leaf[35] == 0x80 &&
	      all_bytes(leaf + 4, 31, 0) && all_bytes(leaf + 36, 28, 0),
	      "leaf of 18 bits");
	yaffs_ckpt_leaf_unpack(leaf, 18, back);
	check(!memcmp(entry, back, sizeof(back)), "leaf of 18 bits back");
	entry[0] = 0xfff40001;
	yaffs_ckpt_leaf_pack(entry, 18, leaf);
	yaffs_ckpt_leaf_unpack(leaf, 18, back);
	check(back[0] == 1 && back[1] == 1, "bits above the width are cut");
}

static void slow_leaf(const u32 *entry, u32 bits, u8 *leaf)
{
	u32 at, bit, n = 0;

	memset(leaf, 0, 64);
	for (at = 0; at < 16; at++)
		for (bit = 0; bit < bits; bit++, n++)
			if (entry[at] >> bit & 1)
				leaf[n / 8] |= (u8)(1u << n % 8);
}

static void test_leaf_reference(void)
{
	u64 state = 2;
	u32 bits, i, k, wrong = 0;

	for (bits = 16; bits <= 32; bits++) {
		for (i = 0; i < 1000; i++) {
			u32 entry[16], back[16];
			u8 slow[64], fast[64];

			for (k = 0; k < 16; k++)
				entry[k] = (u32)draw(&state) >> (32 - bits);
			slow_leaf(entry, bits, slow);
			yaffs_ckpt_leaf_pack(entry, bits, fast);
			yaffs_ckpt_leaf_unpack(slow, bits, back);
			wrong += memcmp(slow, fast, 64) != 0;
			wrong += memcmp(entry, back, sizeof(entry)) != 0;
		}
	}
	check(!wrong, "%u leaves differ from bit by bit", wrong);
}

static void expect_block(const char *what, struct yaffs_block b, u32 word)
{
	struct yaffs_ckpt_block_media m;
	struct yaffs_block back;

	b.seq = 0x1001;
	yaffs_ckpt_block_pack(&b, &m);
	check(get32(&m, 0) == word && get32(&m, 4) == 0x1001,
	      "block with %s: %08x, not %08x", what, get32(&m, 0), word);
	check(!yaffs_ckpt_block_unpack(&m, 1023, &back) &&
	      back.seq == b.seq && back.pages_in_use == b.pages_in_use &&
	      back.state == b.state &&
	      back.strikes == b.strikes &&
	      back.needs_retiring == b.needs_retiring &&
	      back.skip_erased_check == b.skip_erased_check &&
	      back.prioritised == b.prioritised &&
	      back.has_summary == b.has_summary &&
	      back.has_shrink == b.has_shrink && !back.unreadable,
	      "block with %s back", what);
}

static void test_blocks(void)
{
	struct yaffs_ckpt_block_media m;
	struct yaffs_block b;

	expect_block("nothing", (struct yaffs_block) { .unreadable = true }, 0);
	expect_block("pages in use",
		     (struct yaffs_block) { .pages_in_use = 1023 }, 0xffc00);
	expect_block("state", (struct yaffs_block) { .state = 9 }, 0x900000);
	expect_block("needs_retiring",
		     (struct yaffs_block) { .needs_retiring = 1 }, 0x1000000);
	expect_block("skip_erased_check",
		     (struct yaffs_block) { .skip_erased_check = 1 },
		     0x2000000);
	expect_block("prioritised", (struct yaffs_block) { .prioritised = 1 },
		     0x4000000);
	expect_block("strikes", (struct yaffs_block) { .strikes = 7 },
		     0x38000000);
	expect_block("summary", (struct yaffs_block) { .has_summary = 1 },
		     0x40000000);
	expect_block("shrink header", (struct yaffs_block) { .has_shrink = 1 },
		     0x80000000);
	expect_block("five pages in use, full, a summary",
		     (struct yaffs_block) { .pages_in_use = 5, .state = 5,
					    .has_summary = 1 }, 0x40501400);
	put32(&m, 4, 0x1001);
	put32(&m, 0, 64 << 10);
	check(!yaffs_ckpt_block_unpack(&m, 64, &b), "all pages in use");
	put32(&m, 0, 65 << 10);
	check(yaffs_ckpt_block_unpack(&m, 64, &b) == -EUCLEAN,
	      "more pages in use than there are");
	put32(&m, 0, 65);
	check(yaffs_ckpt_block_unpack(&m, 64, &b) == -EUCLEAN,
	      "more soft-deleted pages than there are");
	put32(&m, 0, 10 << 20);
	check(yaffs_ckpt_block_unpack(&m, 64, &b) == -EUCLEAN, "state 10");
}

static bool same(const struct yaffs_ckpt_object *a,
		 const struct yaffs_ckpt_object *b)
{
	return a->id == b->id && a->parent_id == b->parent_id &&
	       a->hdr_chunk == b->hdr_chunk &&
	       a->data_chunks == b->data_chunks && a->size == b->size &&
	       a->type == b->type && a->serial == b->serial &&
	       a->deleted == b->deleted &&
	       a->soft_deleted == b->soft_deleted &&
	       a->unlinked == b->unlinked && a->fake == b->fake &&
	       a->rename_allowed == b->rename_allowed &&
	       a->unlink_allowed == b->unlink_allowed;
}

static void test_object_by_hand(void)
{
	const struct yaffs_ckpt_object o = {
		.id = 257, .parent_id = 1, .hdr_chunk = 70, .data_chunks = 3,
		.size = 0x500000123ull, .type = YAFFS_TYPE_FILE,
		.serial = 0x5a, .rename_allowed = true, .unlink_allowed = true,
	};
	/* type 1; bits 7 and 8; 0x5a from bit 9 */
	static const u32 words[] = { 32, 257, 1, 70, 0xb581, 3, 0x123, 5 };
	struct yaffs_ckpt_object_media m;
	struct yaffs_ckpt_object back;
	u32 i;

	yaffs_ckpt_object_pack(&o, &m);
	for (i = 0; i < ARRAY_SIZE(words); i++)
		check(get32(&m, i * 4) == words[i], "word %u of an object: %x",
		      i, get32(&m, i * 4));
	check(yaffs_ckpt_object_unpack(&m, &back) == 1 && same(&o, &back),
	      "an object back");
	put32(&m, 16, 0x78 | 3);
	check(yaffs_ckpt_object_unpack(&m, &back) == 1 && back.deleted &&
	      back.soft_deleted && back.unlinked && back.fake &&
	      !back.rename_allowed && !back.unlink_allowed && !back.serial &&
	      back.type == YAFFS_TYPE_DIRECTORY, "flags of an object");
}

static void test_objects_refused(void)
{
	static const u32 bad[][2] = {
		{ 0, 31 }, { 0, 0xffffffff }, { 4, 0 }, { 4, 0x40000 },
		{ 4, 0xffffffff }, { 8, 0x40000 }, { 16, 0 }, { 16, 6 },
		{ 16, 7 },
	};
	const struct yaffs_ckpt_object o = {
		.id = 257, .parent_id = 1, .type = YAFFS_TYPE_FILE,
	};
	struct yaffs_ckpt_object_media m;
	struct yaffs_ckpt_object back;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		yaffs_ckpt_object_pack(&o, &m);
		put32(&m, bad[i][0], bad[i][1]);
		check(yaffs_ckpt_object_unpack(&m, &back) == -EUCLEAN,
		      "object with %x at %u is refused", bad[i][1], bad[i][0]);
	}
	yaffs_ckpt_object_end(&m);
	check(get32(&m, 0) == 32 && all_bytes((u8 *)&m + 4, 28, 0xff),
	      "end of the list");
	check(yaffs_ckpt_object_unpack(&m, &back) == 0, "end is seen");
	for (i = 4; i < 32; i++) {
		yaffs_ckpt_object_end(&m);
		((u8 *)&m)[i] ^= 1;
		check(yaffs_ckpt_object_unpack(&m, &back) == -EUCLEAN,
		      "end with byte %u changed is refused", i);
	}
	yaffs_ckpt_object_end(&m);
	put32(&m, 0, 36);
	check(yaffs_ckpt_object_unpack(&m, &back) == -EUCLEAN,
	      "end of another size is refused");
}

static void test_round_trips(void)
{
	u64 state = 3;
	u32 i, wrong = 0;

	for (i = 0; i < 20000; i++) {
		u64 bits = draw(&state);
		struct yaffs_ckpt_object o = {
			.id = 1 + draw_below(&state, YAFFS_MAX_OBJECT_ID),
			.parent_id = draw_below(&state, YAFFS_MAX_OBJECT_ID + 1),
			.hdr_chunk = (u32)draw(&state),
			.data_chunks = (u32)draw(&state),
			.size = draw(&state),
			.type = (u8)(1 + draw_below(&state, YAFFS_TYPES - 1)),
			.serial = (u8)draw(&state),
			.deleted = bits & 1, .soft_deleted = bits & 2,
			.unlinked = bits & 4, .fake = bits & 8,
			.rename_allowed = bits & 16, .unlink_allowed = bits & 32,
		}, back;
		struct yaffs_ckpt_object_media m;

		yaffs_ckpt_object_pack(&o, &m);
		wrong += yaffs_ckpt_object_unpack(&m, &back) != 1;
		wrong += !same(&o, &back);
	}
	check(!wrong, "%u of %u random objects do not come back", wrong, i);
}

/* Digits 000 001 010 … read from the right: 0 4 2 6 1 5 3 7; those beyond are left out. */
static void test_places_by_hand(void)
{
	static const u32 eight[] = { 1, 5, 3, 7, 2, 6, 4, 8, 0 };
	static const u32 six[] = { 1, 5, 3, 2, 6, 4, 0 };
	u32 i, block;

	for (i = 0, block = 0; i < ARRAY_SIZE(eight); i++) {
		block = yaffs_ckpt_place_after(block, 8);
		check(block == eight[i], "turn %u of 8 is %u", i, block);
	}
	for (i = 0, block = 0; i < ARRAY_SIZE(six); i++) {
		block = yaffs_ckpt_place_after(block, 6);
		check(block == six[i], "turn %u of 6 is %u", i, block);
	}
	check(yaffs_ckpt_place_after(0, 1) == 1 && !yaffs_ckpt_place_after(1, 1),
	      "one block");
}

/* Each block once, and soon one of any @row in a row. */
static void check_places(u32 blocks, u32 row)
{
	u32 turn[1100] = { 0 }, block = 0, n = 0, i, first, last = 0;

	while ((block = yaffs_ckpt_place_after(block, blocks)) && n < blocks) {
		check(block <= blocks && !turn[block], "%u of %u", block, blocks);
		turn[block] = ++n;
	}
	check(!block && n == blocks, "%u turns for %u blocks", n, blocks);
	for (block = 1; block + row <= blocks + 1; block++) {
		first = blocks;
		for (i = 0; i < row; i++)
			first = turn[block + i] < first ? turn[block + i] : first;
		last = first > last ? first : last;
	}
	check(last <= 2 * blocks / row, "%u of %u come up at turn %u", row,
	      blocks, last);
}

static void test_places(void)
{
	u32 blocks;

	for (blocks = 20; blocks <= 1024; blocks += 251)
		check_places(blocks, 10);
	check_places(1024, 64);
	check_places(1000, 64);
}

int main(void)
{
	test_places_by_hand();
	test_places();
	test_sum_by_hand();
	test_sum_reference();
	test_leaf_bits();
	test_leaf_by_hand();
	test_leaf_reference();
	test_blocks();
	test_object_by_hand();
	test_objects_refused();
	test_round_trips();
	return report("test_ckpt");
}
