// SPDX-License-Identifier: GPL-2.0-only
/* Where a block is in the tree, and a name in a directory. */

#include "harness.h"

static void test_slots(void)
{
	/* 512^2 * 3 + 512 * 5 + 7 */
	const u64 bix = 3 * 262144 + 5 * 512 + 7;

	check(logfs_slot(1, bix) == 7 && logfs_slot(2, bix) == 5 &&
	      logfs_slot(3, bix) == 3 && logfs_slot(4, bix) == 0, "slots");
	check(logfs_slot(4, 0x7fffffff) == 15 && logfs_slot(3, 0x7fffffff) == 511,
	      "slots of the last block");
	check(logfs_block_start(0, bix) == bix &&
	      logfs_block_start(1, bix) == bix - 7 &&
	      logfs_block_start(2, bix) == 3 * 262144 &&
	      logfs_block_start(3, bix) == 0, "leftmost blocks");
	check(logfs_inode_child(0) == 8 && logfs_inode_child(15) == 23 &&
	      logfs_inode_child(16) == 24 && logfs_inode_child(17) == 24 &&
	      logfs_inode_child(0x7fffffff) == 24, "words of an inode");
	check(logfs_gc_level(1, 0) == 6 && logfs_gc_level(1, 5) == 11 &&
	      logfs_gc_level(2, 0) == 0 && logfs_gc_level(17, 3) == 3,
	      "GC levels");
	check(logfs_pointer_place(0x8000000000012345) == 0x12345 &&
	      logfs_pointer_place(0x12345) == 0x12345, "place");
}

static void test_height(void)
{
	static const u64 by_hand[][2] = {
		{ 0, 0 }, { 15, 0 }, { 16, 1 }, { 511, 1 }, { 512, 2 },
		{ 262143, 2 }, { 262144, 3 }, { 134217727, 3 },
		{ 134217728, 4 }, { 0x7fffffff, 4 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(by_hand); i++)
		check(logfs_height(by_hand[i][0]) == by_hand[i][1],
		      "height for %llu", (unsigned long long)by_hand[i][0]);
	check(logfs_last_bix(0) == 15 && logfs_last_bix(1) == 511 &&
	      logfs_last_bix(3) == 134217727, "last blocks");
	check(logfs_last_bix(5) == 35184372088831, "512^5 - 1");
}

static void test_keys(void)
{
	static const u64 possible[][3] = {
		{ 1, 0, 0 }, { 1, 5, 0 }, { 2, 0, 0x7fffffff }, { 2, 1, 512 },
		{ 2, 3, 134217728 }, { 0x3fffffff, 0, 1 },
	};
	static const u64 impossible[][3] = {
		{ 0, 0, 0 }, { 0x40000000, 0, 0 }, { 1, 6, 0 }, { 2, 1, 511 },
		{ 2, 2, 512 }, { 2, 0, 0x80000000 }, { 2, 1, 0x80000000 },
	};
	u64 key, last = 0, ino, bix;
	u32 level, i;

	for (i = 0; i < ARRAY_SIZE(possible); i++) {
		check(logfs_block_possible(possible[i][0], (u32)possible[i][1],
					   possible[i][2]), "possible %u", i);
		key = logfs_block_key(possible[i][0], (u32)possible[i][1],
				      possible[i][2]);
		logfs_block_of_key(key, &ino, &level, &bix);
		check(ino == possible[i][0] && level == possible[i][1] &&
		      bix == possible[i][2], "key %u comes back", i);
		/* The table is in the order of inodes, levels and indices. */
		check(key > last, "order of key %u", i);
		last = key;
	}
	for (i = 0; i < ARRAY_SIZE(impossible); i++)
		check(!logfs_block_possible(impossible[i][0],
					    (u32)impossible[i][1],
					    impossible[i][2]),
		      "impossible %u", i);
}

static void test_full(void)
{
	__be64 words[512];
	u32 i;

	for (i = 0; i < 512; i++)
		put_be(words, 8 * i, 8, 0x8000000000001000);
	check(logfs_indirect_full(words, 1, 0) &&
	      logfs_indirect_full(words, 2, 0), "full");
	for (i = 0; i < 16; i++)
		words[i] = 0;
	check(logfs_indirect_full(words, 1, 0), "without the direct blocks");
	check(logfs_indirect_full(words, 1, 511), "of the same block");
	check(!logfs_indirect_full(words, 1, 512) &&
	      !logfs_indirect_full(words, 2, 0), "not so elsewhere");
	for (i = 1; i < 16; i++)
		put_be(words, 8 * i, 8, 0x8000000000001000);
	check(!logfs_indirect_full(words, 2, 0), "first is a hole");
	put_be(words, 0, 8, 0x8000000000001000);
	put_be(words, 8 * 511, 8, 0x7ffffffffffff000);
	check(!logfs_indirect_full(words, 2, 0), "last has one below");
	check(logfs_indirect_full(words, 1, 0), "of data the bit says nothing");
	check(logfs_pointer_full(1, 4096) && !logfs_pointer_full(2, 4096) &&
	      logfs_pointer_full(2, 0x8000000000001000) &&
	      !logfs_pointer_full(1, 0), "pointers that are full");
	put_be(words, 8 * 511, 8, 0x8000000000001000);
	put_be(words, 8 * 16, 8, 0);
	check(!logfs_indirect_full(words, 1, 0), "hole behind the direct ones");
	check(!logfs_indirect_empty(words), "not empty");
	memset(words, 0, sizeof(words));
	check(logfs_indirect_empty(words), "empty");
	put_be(words, 8 * 511, 8, 1);
	check(!logfs_indirect_empty(words), "last is not empty");
	put_be(words, 8 * 511, 8, 0);
	put_be(words, 0, 8, 1);
	check(!logfs_indirect_empty(words), "first is not empty");
}

static void test_names(void)
{
	/*
	 * By hand: 'a' = 97, "ab" = 97 * 293 + 98 = 28519, ff fe = 255 * 293 + 254 =
	 * 74969. In Python, with & 0xffffffff: 0x435e8ce2 for "a-long-name.txt".
	 */
	check(logfs_dir_hash((const u8 *)"", 0) == 0 &&
	      logfs_dir_hash((const u8 *)"a", 1) == 97 &&
	      logfs_dir_hash((const u8 *)"ab", 2) == 28519, "hashes");
	check(logfs_dir_hash((const u8 *)"\xff\xfe", 2) == 74969, "bytes");
	check(logfs_dir_hash((const u8 *)"a-long-name.txt", 15) == 0x435e8ce2,
	      "hash modulo 2^32");
}

static void test_tries(void)
{
	/*
	 * In Python: h % 16, 16 + h % 496, 512 + h % (512**2 - 512),
	 * 512**2 + h % (512**3 - 512**2), 512**3 + 16 * (h % ((2**31 - 512**3) // 16))
	 */
	static const u32 by_hand[][6] = {
		{ 0, 0, 16, 512, 262144, 134217728 },
		{ 0xffffffff, 15, 143, 16895, 8650751, 402653168 },
		{ 0x435e8ce2, 2, 18, 20194, 58887394, 2112409120 },
	};
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(by_hand); i++) {
		for (n = 0; n < 5; n++)
			check(logfs_dir_try(by_hand[i][0], n) ==
			      by_hand[i][1 + n], "try %u of %u", n, i);
		for (n = 5; n < 20; n++)
			check(logfs_dir_try(by_hand[i][0], n) ==
			      by_hand[i][5] + n - 4, "try %u of %u", n, i);
	}
	/* The last bucket of all ends with the last block: 125829119 % 125829120. */
	check(logfs_dir_try(125829119, 19) == 0x7fffffff, "last try");
}

int main(void)
{
	test_slots();
	test_height();
	test_keys();
	test_full();
	test_names();
	test_tries();
	return report("test_tree");
}
