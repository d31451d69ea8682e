// SPDX-License-Identifier: GPL-2.0-only
/*
 * What collecting garbage costs, on a chip in memory: of a layout that is known to the block,
 * and of full partitions after long use. The bounds are worked out from the layout, so that a
 * collector that takes the wrong segments, or too early, or makes no progress, is beyond them.
 *
 * Sizes: 31 objects with a block of data go into a segment of 128 KiB: 24 + 31 * 4,124 =
 * 127,868 bytes. Of all segments 6 are not for objects: two have superblocks, four the journal.
 * The file system has 8 levels.
 */

#include <linux/err.h>
#include <linux/stat.h>

#include "../core/device.h"
#include "harness.h"
#include "histories/chip.h"

#define PAGE_BYTES	2048
#define SEGMENT_BYTES	131072
#define SEGMENT_BLOCKS	31
/* One for each level, and one for the operation. */
#define NEED_FREE	9
#define MOST_FILES	1000

static struct chip chip;
static struct logfs_device *dev;
static u32 next_seed;
static u64 inos[MOST_FILES];

void kernel_message(char level, const char *format, ...)
{
	(void)level;
	(void)format;
}

/* ---- a partition ---- */

static void must(bool good, const char *what, u32 which)
{
	if (good)
		return;
	printf("core_collect: %s %u\n", what, which);
	exit(1);
}

static void begin(u32 blocks)
{
	chip_make(&chip, PAGE_BYTES, SEGMENT_BYTES, blocks);
	dev = logfs_mount(&chip.mtd, true);
	must(!IS_ERR(dev), "mount", 0);
}

static void end(void)
{
	logfs_unmount(dev);
	chip_free(&chip);
}

/* With the lock. */
static struct logfs_node *node_of(u64 ino)
{
	struct logfs_node *node = logfs_node_get(dev, ino);

	must(!IS_ERR(node), "inode", (u32)ino);
	return node;
}

static void make_file(u32 number)
{
	struct logfs_node *root, *node;
	char name[8];
	const u32 len = (u32)sprintf(name, "%u", number);

	must(!logfs_begin_write(dev, 3), "no room for file", number);
	root = node_of(LOGFS_INO_ROOT);
	node = logfs_node_new(dev, root, S_IFREG | 0644);
	must(!IS_ERR(node), "new inode", number);
	must(!logfs_create(root, name, len, node, NULL), "create", number);
	inos[number] = node->ino;
	logfs_node_put(node);
	logfs_node_put(root);
	logfs_unlock(dev);
}

static void delete_file(u32 number)
{
	struct logfs_node *root, *node;
	char name[8];
	const u32 len = (u32)sprintf(name, "%u", number);

	must(!logfs_begin_write(dev, 0), "delete", number);
	root = node_of(LOGFS_INO_ROOT);
	node = node_of(inos[number]);
	must(!logfs_unlink(root, name, len, node), "unlink", number);
	logfs_node_put(root);
	logfs_unlock(dev);
	must(!logfs_node_delete(node), "delete inode", number);
}

/* What does not compress. False: there is no room. */
static bool may_write(u32 number, u32 bix)
{
	u64 page[LOGFS_BLOCK_BYTES / sizeof(u64)], state = ++next_seed;
	struct logfs_node *node;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(page); i++)
		page[i] = draw(&state);
	if (logfs_reserve(dev, 1))
		return false;
	must(!logfs_begin_write(dev, 0), "block", bix);
	node = node_of(inos[number]);
	must(!logfs_block_write(node, bix, page,
				(bix + 1ull) * LOGFS_BLOCK_BYTES),
	     "write block", bix);
	logfs_node_put(node);
	logfs_unlock(dev);
	logfs_unreserve(dev, 1);
	return true;
}

static void write_block(u32 number, u32 bix)
{
	must(may_write(number, bix), "no room for block", bix);
}

/* So that there is room for what takes the place of a block, before that is garbage. */
static void cut_file(u32 number, u32 blocks)
{
	struct logfs_node *node;

	logfs_lock(dev);
	node = node_of(inos[number]);
	logfs_unlock(dev);
	must(!logfs_truncate(node, blocks * (u64)LOGFS_BLOCK_BYTES), "cut to",
	     blocks);
	logfs_lock(dev);
	logfs_node_put(node);
	logfs_unlock(dev);
}

/* ---- what it costs ---- */

/**
 * struct cost - since a moment
 * @segments: that were cleaned
 * @copies: objects that were moved
 * @copied_bytes: their bytes
 * @programs: pages
 * @erases: blocks
 */
struct cost {
	u64 segments;
	u64 copies;
	u64 copied_bytes;
	u64 programs;
	u64 erases;
};

static struct cost now(void)
{
	return (struct cost){
		.segments = dev->stats.gc_segments,
		.copies = dev->stats.gc_objects,
		.copied_bytes = dev->stats.gc_bytes,
		.programs = chip.programs,
		.erases = chip.erases,
	};
}

static struct cost since(const struct cost *then)
{
	struct cost cost = now();

	cost.segments -= then->segments;
	cost.copies -= then->copies;
	cost.copied_bytes -= then->copied_bytes;
	cost.programs -= then->programs;
	cost.erases -= then->erases;
	return cost;
}

/* No more than @bound thousandths of it for each of @n. */
static void check_mean(u64 all, u64 n, u64 bound, const char *what)
{
	check(all * 1000 <= n * bound, "%s: %llu for %llu, bound %llu / 1000",
	      what, (unsigned long long)all, (unsigned long long)n,
	      (unsigned long long)bound);
}

/* ---- a known layout ---- */

#define FILLED		50	/* segments with 31 blocks of the file each */
#define HOT		6	/* of these, in which 3 are still valid */
#define HOT_LEFT	3
#define COLD		40	/* others, in which 1 and then more become invalid */

/* The file's blocks lie in its order; those that are written again go behind. */
static void lay_out(void)
{
	u32 i, segment;

	make_file(0);
	for (i = 0; i < FILLED * SEGMENT_BLOCKS; i++)
		write_block(0, i);
	for (i = 0; i < SEGMENT_BLOCKS - HOT_LEFT; i++)
		for (segment = 0; segment < HOT; segment++)
			write_block(0, segment * SEGMENT_BLOCKS + i);
}

/* The @n-th block that is written then: of one cold segment after the other. */
static void overwrite_cold(u32 n)
{
	const u32 segment = HOT + n % COLD;

	write_block(0, segment * SEGMENT_BLOCKS + n / COLD);
}

/* As long as there are enough free segments nothing is cleaned, and then there are. */
static u32 until_cleaning(void)
{
	u32 n = 0, n_free;

	do {
		n_free = dev->free.n;
		must(n < 1000, "nothing is cleaned after blocks", n);
		overwrite_cold(n++);
	} while (!dev->stats.gc_segments);
	check(n_free < NEED_FREE, "cleaned while %u segments are free", n_free);
	check(n_free == NEED_FREE - 1, "not cleaned until %u are", n_free);
	check(dev->free.n >= NEED_FREE - 1, "%u are free then", dev->free.n);
	return n;
}

/*
 * Of the hot segments each gives room for 28 blocks and costs 3 copies; in one there is the
 * name of the file, too. So they suffice for 6 * 28 = 168 blocks, the one before among them:
 * 19 copies at most, where cleaning a cold segment takes 22 at least.
 *
 * When they are used up, (n + 167) / 40 blocks of each cold segment are invalid, and those that
 * are cleaned next are of these.
 */
static void test_known_layout(void)
{
	struct cost start, cost;
	u32 n, i, invalid;

	begin(80);
	lay_out();
	check(!dev->stats.gc_segments && dev->free.n > NEED_FREE,
	      "nothing is cleaned yet");
	start = now();
	n = until_cleaning();
	for (i = 1; i < HOT * (SEGMENT_BLOCKS - HOT_LEFT); i++)
		overwrite_cold(n++);
	cost = since(&start);
	check(cost.segments == HOT, "%llu hot segments",
	      (unsigned long long)cost.segments);
	check(cost.copies <= HOT * HOT_LEFT + 1, "%llu copies from there",
	      (unsigned long long)cost.copies);

	invalid = n / COLD;
	start = now();
	for (i = 0; i < 4 * invalid; i++)
		overwrite_cold(n++);
	cost = since(&start);
	check(cost.segments >= 3 && cost.segments <= 4, "%llu cold segments",
	      (unsigned long long)cost.segments);
	check(cost.copies <= cost.segments * (SEGMENT_BLOCKS - invalid),
	      "%llu copies from there", (unsigned long long)cost.copies);
	end();
}

/* ---- full partitions ---- */

#define AGEING	3000	/* operations before, and as many that are measured */

/*
 * What is written at once opens a segment of data at most, or one of inodes. To have one more
 * again takes four victims, for they are valid to less than three quarters: of each 64 pages
 * and a commit, which is 4 units of 2 pages.
 */
static void check_at_once(const struct cost *before, const char *what)
{
	const struct cost cost = since(before);

	check(cost.programs <= 4 * (64 + 8), "%s: %llu programs at once", what,
	      (unsigned long long)cost.programs);
}

/*
 * One file, as large as there is room for in 64 segments: some 1,140 blocks, anywhere written
 * again. 58 segments are for objects, 9 stay free and 5 are open, for data, for two levels of
 * pointers, inodes and their file. So there are m = 44 * 31 = 1,364 places, and u = 0.84 of
 * them are valid.
 *
 * If the segments were cleaned by turns, each with a share v that is valid, m (1 - v) blocks
 * would be written in between. Of u m blocks each is left alone by so many random writes with a
 * probability of e^(-(1 - v) / u), and that is v: 0.69. To take always the one with the most
 * garbage is better. So for each block at most v / (1 - v) = 2.26 are moved. 3.26 objects are
 * 6.74 pages of 2 KiB, of which 64 hold 31, and 0.105 segments; for each of those there is a
 * commit, of 8 pages at most.
 */
static void test_full_of_data(void)
{
	struct cost start = {}, before, cost;
	u64 random = 1;
	u32 n = 0, i;

	begin(64);
	make_file(0);
	while (may_write(0, n))
		n++;
	check(n > 1130 && n < 1160, "%u blocks", n);
	n -= 4;
	cut_file(0, n);
	for (i = 0; i < 2 * AGEING && !failed; i++) {
		before = now();
		if (i == AGEING)
			start = before;
		write_block(0, draw_below(&random, n));
		check_at_once(&before, "data");
	}
	cost = since(&start);
	check_mean(cost.copies, AGEING, 2260, "copies of data");
	check_mean(cost.programs, AGEING, 6740 + 8 * 105, "programs of data");
	check_mean(cost.erases, AGEING, 105 + 8 * 105 / 64, "erases of data");
	end();
}

/*
 * Files of one block, which are replaced. So there is garbage on two levels: of data, and of
 * inodes, which are nearer to the root. 4.3 MB are valid, of 44 * 131,072 bytes: 0.75. A victim
 * is not more valid than the mean, so that for what a file takes at most 3 times as much is
 * moved. A file takes a block, a name, two times of the directory's and three of its own inode:
 * 4,124 + 300 + 5 * 228 bytes. Times 4 that is 11 pages, and a tenth of a segment, 0.17: for
 * each of these another 8 pages for a commit.
 */
static void test_full_of_files(void)
{
	struct cost start = {}, before, cost;
	u64 random = 1;
	u32 n = 0, i, number;

	begin(64);
	for (; dev->used_bytes < 4300000; n++) {
		must(n < MOST_FILES, "too many files:", n);
		make_file(n);
		write_block(n, 0);
	}
	for (i = 0; i < 2 * AGEING && !failed; i++) {
		before = now();
		if (i == AGEING)
			start = before;
		number = draw_below(&random, n);
		delete_file(number);
		make_file(number);
		write_block(number, 0);
		check_at_once(&before, "file");
	}
	cost = since(&start);
	check_mean(cost.copied_bytes, AGEING, 3 * 5564000ull, "bytes of files");
	check_mean(cost.programs, AGEING, 11000 + 8 * 170, "programs of files");
	check_mean(cost.erases, AGEING, 170 + 8 * 170 / 64, "erases of files");
	end();
}

int main(void)
{
	test_known_layout();
	test_full_of_data();
	test_full_of_files();
	return report("core_collect");
}
