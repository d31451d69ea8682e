// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the accounting: random requests are counted by account.c and by a
 * model that marks every byte of a small device, and both must agree.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../account.h"

enum { PAGE = 64, BLOCK = 4 * PAGE, BLOCKS = 8, DEVICE = BLOCK * BLOCKS };

static int passed, failed;

static void check(bool good, const char *what, long n)
{
	if (good) {
		passed++;
		return;
	}
	failed++;
	printf("FAILED: %s (case %ld)\n", what, n);
}

/* Sizes that are powers of two, and others, up to the largest. */
static void test_divide(void)
{
	static const u32 sizes[] = {
		1, 2, 3, 512, 528, 2048, 2112, 1 << 17, 132 * 1024,
		1u << 31, (1u << 31) + 1, UINT32_MAX,
	};
	static const u64 offsets[] = {
		0, 1, 527, 2048, 131071, 131072, UINT32_MAX,
		5000000000, 1ull << 40, UINT64_MAX,
	};
	size_t i, j;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		for (j = 0; j < sizeof(offsets) / sizeof(*offsets); j++) {
			u32 rest = 1;
			u64 a = offsets[j], b = sizes[i];

			check(flashmon_divide_rest(a, sizes[i], &rest) == a / b,
			      "quotient with a rest", (long)j);
			check(rest == a % b, "rest", (long)j);
			check(flashmon_divide(a, sizes[i]) == a / b,
			      "quotient", (long)j);
		}
	}
}

struct model {
	u32 pages, partial;
	u32 of_block[BLOCKS];
};

/* Counts the pages that have a byte in the range, one byte at a time. */
static struct model by_bytes(u64 offset, u64 bytes)
{
	u32 in_page[DEVICE / PAGE] = { 0 };
	struct model m = { 0 };
	u64 i;

	for (i = offset; i < offset + bytes; i++)
		in_page[i / PAGE]++;
	for (i = 0; i < DEVICE / PAGE; i++) {
		if (!in_page[i])
			continue;
		m.pages++;
		m.partial += in_page[i] < PAGE;
		m.of_block[i / (BLOCK / PAGE)]++;
	}
	return m;
}

static void one_request(long n, bool program)
{
	struct flashmon_block block[BLOCKS] = { 0 };
	struct flashmon_totals t = {
		.page_bytes = PAGE, .block_bytes = BLOCK, .blocks = BLOCKS,
		.block = block,
	};
	u64 offset = (u64)(rand() % DEVICE);
	u64 bytes = (u64)(rand() % (int)(DEVICE - offset)) + 1;
	struct flashmon_request r = {
		.offset = offset, .data_bytes = bytes, .ns = 7,
	};
	struct model m = by_bytes(offset, bytes);
	bool same = true;
	int i;

	if (program)
		flashmon_count_program(&t, &r);
	else
		flashmon_count_read(&t, &r);
	for (i = 0; i < BLOCKS; i++)
		same &= m.of_block[i] ==
			(program ? block[i].programs : block[i].reads);
	if (program)
		check(same && t.counters.pages_programmed == m.pages &&
		      t.counters.subpage_programs == m.partial &&
		      t.counters.bytes_programmed == bytes &&
		      t.counters.write_calls == 1 && t.counters.program_ns == 7,
		      "program", n);
	else
		check(same && t.counters.pages_read == m.pages &&
		      t.counters.bytes_read == bytes &&
		      t.counters.read_calls == 1 && t.counters.read_ns == 7,
		      "read", n);
}

static void test_erase(void)
{
	struct flashmon_block block[BLOCKS] = { 0 };
	struct flashmon_totals t = {
		.page_bytes = PAGE, .block_bytes = BLOCK, .blocks = BLOCKS,
		.block = block,
	};
	struct flashmon_request r = {
		.offset = 2 * BLOCK, .data_bytes = 3 * BLOCK, .failed = true,
	};
	int i;

	flashmon_count_erase(&t, &r);
	for (i = 0; i < BLOCKS; i++)
		check(block[i].erases == (i >= 2 && i < 5), "erase of a block",
		      i);
	check(t.counters.blocks_erased == 3 && t.counters.erase_calls == 1 &&
	      t.counters.erase_errors == 1, "erase counters", 0);
	/* A request behind the device's end is counted, but in no block. */
	r.offset = (u64)(BLOCKS - 1) * BLOCK;
	flashmon_count_erase(&t, &r);
	check(block[BLOCKS - 1].erases == 1 && t.counters.blocks_erased == 4,
	      "erase across the end", 0);
}

static void test_oob(void)
{
	struct flashmon_block block[BLOCKS] = { 0 };
	struct flashmon_totals t = {
		.page_bytes = PAGE, .block_bytes = BLOCK, .blocks = BLOCKS,
		.block = block,
	};
	struct flashmon_request r = { .offset = 4 * PAGE, .oob_pages = 1 };

	flashmon_count_program(&t, &r);
	check(t.counters.oob_programs == 1 && !t.counters.pages_programmed &&
	      block[1].programs == 1, "OOB-only program", 0);
	flashmon_count_read(&t, &r);
	check(t.counters.oob_reads == 1 && !t.counters.pages_read &&
	      block[1].reads == 1, "OOB-only read", 0);
}

/*
 * Every request adds to what was counted before. Pages of 64 bytes, four to a block:
 * the sums beside the checks are of the requests above them, in their order.
 */
static void test_sums(void)
{
	static const struct flashmon_request reads[] = {
		{ .offset = 60, .data_bytes = 10, .ns = 5, .failed = true },
		{ .offset = 256, .data_bytes = 64, .ns = 7 },
		{ .offset = 256, .oob_pages = 3, .ns = 11, .failed = true },
		{ .offset = 0, .oob_pages = 2, .ns = 13 },
	};
	static const struct flashmon_request programs[] = {
		{ .offset = 0, .data_bytes = 64, .ns = 3 },
		{ .offset = 80, .data_bytes = 16, .ns = 4, .failed = true },
		{ .offset = 120, .data_bytes = 80, .ns = 6, .failed = true },
		{ .offset = 0, .oob_pages = 1, .ns = 10 },
		{ .offset = 256, .oob_pages = 2, .ns = 20 },
	};
	static const struct flashmon_request erases[] = {
		{ .offset = 0, .data_bytes = 256, .ns = 100, .failed = true },
		{ .offset = 256, .data_bytes = 512, .ns = 200, .failed = true },
	};
	struct flashmon_block block[BLOCKS] = { 0 };
	struct flashmon_totals t = {
		.page_bytes = PAGE, .block_bytes = BLOCK, .blocks = BLOCKS,
		.block = block,
	};
	const struct flashmon_counters *c = &t.counters;
	int i;

	for (i = 0; i < 4; i++)
		flashmon_count_read(&t, &reads[i]);
	check(c->read_calls == 4, "read calls", 0);
	check(c->pages_read == 2 + 1, "pages read", 0);
	check(c->oob_reads == 3 + 2, "OOB reads", 0);
	check(c->bytes_read == 10 + 64, "bytes read", 0);
	check(c->read_ns == 5 + 7 + 11 + 13, "time of reads", 0);
	check(c->read_errors == 2, "read errors", 0);
	check(block[0].reads == 2 + 2 && block[1].reads == 1 + 3,
	      "reads by block", 0);

	for (i = 0; i < 5; i++)
		flashmon_count_program(&t, &programs[i]);
	check(c->write_calls == 5, "write calls", 0);
	/* The third touches the end of page 1, page 2, the beginning of 3. */
	check(c->pages_programmed == 1 + 1 + 3, "pages programmed", 0);
	check(c->subpage_programs == 0 + 1 + 2, "parts of pages", 0);
	check(c->oob_programs == 1 + 2, "OOB programs", 0);
	check(c->bytes_programmed == 64 + 16 + 80, "bytes programmed", 0);
	check(c->program_ns == 3 + 4 + 6 + 10 + 20, "time of programs", 0);
	check(c->program_errors == 2, "program errors", 0);
	check(block[0].programs == 1 + 1 + 3 + 1 && block[1].programs == 2,
	      "programs by block", 0);

	for (i = 0; i < 2; i++)
		flashmon_count_erase(&t, &erases[i]);
	check(c->erase_calls == 2 && c->blocks_erased == 1 + 2, "erases", 0);
	check(c->erase_ns == 100 + 200, "time of erases", 0);
	check(c->erase_errors == 2, "erase errors", 0);
}

/* What a driver is asked for behind the device's end is in no block. */
static void test_end(void)
{
	struct flashmon_block block[BLOCKS + 1] = { 0 };
	struct flashmon_totals t = {
		.page_bytes = PAGE, .block_bytes = BLOCK, .blocks = BLOCKS,
		.block = block,
	};
	struct flashmon_request r = {
		.offset = DEVICE - PAGE, .data_bytes = 2 * PAGE,
	};

	flashmon_count_read(&t, &r);
	flashmon_count_program(&t, &r);
	check(block[BLOCKS - 1].reads == 1 && block[BLOCKS - 1].programs == 1 &&
	      !block[BLOCKS].reads && !block[BLOCKS].programs,
	      "a request across the end", 0);
}

int main(void)
{
	long n;

	srand(1);
	for (n = 0; n < 20000; n++)
		one_request(n, n & 1);
	test_divide();
	test_erase();
	test_oob();
	test_sums();
	test_end();
	printf("%d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}
