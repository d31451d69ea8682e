// SPDX-License-Identifier: GPL-2.0-only
/* Block summaries: pages taken, sums, and the bytes of header and entries. */

#include "harness.h"

static void test_pages(void)
{
	static const u32 by_hand[][3] = {
		/* pages, bytes, floor((12 * pages + bytes - 1) / (bytes - 16)) */
		{ 64, 2048, 1 },	/* 2815 / 2032 */
		{ 64, 2032, 1 },	/* 2799 / 2016 */
		{ 64, 1024, 1 },	/* 1791 / 1008 */
		{ 128, 2048, 1 },	/* 3583 / 2032 */
		{ 256, 2048, 2 },	/* 5119 / 2032 */
		{ 256, 4096, 1 },	/* 7167 / 4080 */
		{ 512, 2048, 4 },	/* 8191 / 2032 */
		{ 1023, 1024, 13 },	/* 13299 / 1008 */
		{ 1, 2048, 0 },		/* would leave no page */
		{ 0, 2048, 0 },
		{ 1024, 2048, 0 },	/* not a block of this format */
		{ 64, 16, 0 },
		{ 64, 0, 0 },
		{ 64, 0xffffffff, 1 },
	};
	static const u32 sizes[] = { 1008, 1024, 2032, 2048, 4096, 16384 };
	u32 i, pages, n, wrong = 0;

	for (i = 0; i < ARRAY_SIZE(by_hand); i++) {
		n = yaffs_summary_pages(by_hand[i][0], by_hand[i][1]);
		check(n == by_hand[i][2], "%u pages of %u bytes: %u",
		      by_hand[i][0], by_hand[i][1], n);
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (pages = 2; pages < 1024; pages++) {
			n = yaffs_summary_pages(pages, sizes[i]);
			wrong += n != (12 * pages + sizes[i] - 1) /
				      (sizes[i] - 16) && n;
			/* The entries of the other pages must fit. */
			wrong += n && 12 * (pages - n) > n * (sizes[i] - 16);
			wrong += n >= pages;
		}
	}
	check(!wrong, "%u geometries with a wrong number of pages", wrong);
}

static void test_sum(void)
{
	u64 state = 1;
	u32 n, i, wrong = 0;

	for (n = 0; n < 1024; n = n < 200 ? n + 1 : n + 103) {
		u8 *bytes = malloc(n * 12 + !n);
		u32 sum = 0;

		draw_bytes(&state, bytes, n * 12);
		if (n % 5 == 0)
			memset(bytes, 0xff, n * 12);
		for (i = 0; i < n * 12; i++)
			sum += bytes[i];
		wrong += yaffs_summary_sum((void *)bytes, n) != sum;
		free(bytes);
	}
	check(!wrong, "%u sums differ from the sum byte by byte", wrong);
}

static void test_bytes(void)
{
	struct yaffs_summary_header_media h;
	struct yaffs_summary_entry_media e;
	struct yaffs_tags_media m, back;
	u64 state = 2;

	yaffs_summary_header(7, 0x1005, 0xabcd, &h);
	check(get32(&h, 0) == 1 && get32(&h, 4) == 7 &&
	      get32(&h, 8) == 0x1005 && get32(&h, 12) == 0xabcd,
	      "header of a summary");
	check(yaffs_summary_header_valid(&h, 0x1005), "valid header");
	check(!yaffs_summary_header_valid(&h, 0x1006), "other sequence");
	put32(&h, 4, 8);
	check(yaffs_summary_header_valid(&h, 0x1005), "block is not checked");
	put32(&h, 0, 2);
	check(!yaffs_summary_header_valid(&h, 0x1005), "other version");

	draw_bytes(&state, &m, sizeof(m));
	yaffs_summary_entry(&m, &e);
	check(get32(&e, 0) == get32(&m, 4) && get32(&e, 4) == get32(&m, 8) &&
	      get32(&e, 8) == get32(&m, 12), "entry of a page");
	yaffs_summary_tags(&e, get32(&m, 0), false, &back);
	check(!memcmp(&m, &back, sizeof(m)), "tags from an entry");
}

int main(void)
{
	test_pages();
	test_sum();
	test_bytes();
	return report("test_summary");
}
