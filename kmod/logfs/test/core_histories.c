// SPDX-License-Identifier: GPL-2.0-only
/*
 * The core of the file system with random operations, on a chip in memory, against a model:
 *
 *	core_histories RUNS SEED [FIRST]
 *
 * With FIRST, as a failure says it, it also tells what it does and what the module says.
 *
 * A run is a history, of a kind that its number says: so the first runs are one of each. In a
 * history there are rounds of operations, each until the power goes or a number of them was
 * done; then the partition is mounted, which may lose power again. A mount must find one of
 * the states since the last commit that was asked for, and be sound (soundness.c).
 *
 * Power goes by switching the chip off: the core sees errors from then on, so it is seen that
 * it gives back what it had, too. Tests of leaks are the sanitizer's.
 */

#include <linux/err.h>

#include "../../../tests/replay.h"
#include "../core/area.h"
#include "../core/segments.h"
#include "histories/operations.h"
#include "histories/soundness.h"

/**
 * struct kind - of a history
 * @name: for messages
 * @page_bytes, @block_bytes, @blocks: the chip
 * @file_blocks: that a file has at most
 * @rounds, @operations: in each
 * @cut_in: programs and erases until power goes, on the average; 0: it does not
 * @compress: files are compressed
 * @fail_program, @fail_erase: one of so many fails
 * @correct: one of so many reads finds bit errors
 * @endurance: of a block; the history ends when the chip is worn out
 * @is_original: what the original's mkfs leaves is there: make_original()
 */
struct kind {
	const char *name;
	u32 page_bytes, block_bytes, blocks;
	u32 file_blocks;
	u32 rounds, operations;
	u32 cut_in;
	bool compress;
	u32 fail_program, fail_erase, correct;
	u32 endurance;
	bool is_original;
};

static const struct kind kinds[] = {
	{ "cuts", 2048, 131072, 48, 200, 12, 400,
	  .cut_in = 200, .compress = true },
	{ "full", 2048, 131072, 40, 690, 2, 1500,
	  .cut_in = 0 },
	{ "full with cuts", 2048, 131072, 40, 690, 6, 600,
	  .cut_in = 1500 },
	{ "small blocks", 512, 16384, 400, 60, 6, 400,
	  .cut_in = 500 },
	{ "pages of 8 KiB", 8192, 524288, 40, 200, 4, 400,
	  .cut_in = 300, .compress = true },
	{ "pages of 16 KiB", 16384, 262144, 64, 300, 4, 400,
	  .cut_in = 500 },
	{ "failing", 2048, 131072, 64, 100, 3, 800,
	  .compress = true,
	  .fail_program = 3000, .fail_erase = 400, .correct = 2000 },
	{ "failing with cuts", 2048, 131072, 64, 100, 5, 400,
	  .cut_in = 700,
	  .fail_program = 6000, .fail_erase = 800, .correct = 2000 },
	{ "worn out", 2048, 131072, 40, 60, 40, 600,
	  .endurance = 12 },
	{ "segments of 16 KiB", 512, 16384, 200, 690, 4, 1200,
	  .cut_in = 20000, .is_original = true },
	{ "segments of 64 KiB", 2048, 65536, 64, 690, 4, 1200,
	  .cut_in = 3000, .compress = true, .is_original = true },
};

static struct history h;
static bool is_replay;

void kernel_message(char level, const char *format, ...)
{
	va_list args;

	if (!is_replay)
		return;
	va_start(args, format);
	fprintf(stderr, "<%c> ", level);
	vfprintf(stderr, format, args);
	va_end(args);
}

/* The state that was found is one of those that it may be. */
static void judge_mount(void)
{
	u64 sum;

	logfs_lock(h.dev);
	judge_soundness(h.dev);
	sum = sum_of_mount(&h);
	judge_history(model_return_to(&h.model, sum), "a state that never was, of",
		      h.model.n_changes + 1);
	logfs_unlock(h.dev);
}

static void unmount(void)
{
	if (h.dev)
		logfs_unmount(h.dev);
	h.dev = NULL;
}

/* Power may go while it is mounted, some times. */
static void mount(const struct kind *kind, bool writable)
{
	u32 cuts = kind->cut_in ? draw_below(&h.random, 3) : 0;

	do {
		h.chip.is_off = false;
		h.chip.cut_in = cuts ? draw_below(&h.random, 40) + 1 : 0;
		h.dev = logfs_mount(&h.chip.mtd, writable);
		if (!IS_ERR(h.dev) && h.chip.is_off)
			unmount();
	} while (h.chip.is_off && cuts--);
	h.chip.cut_in = 0;
	judge_history(!IS_ERR(h.dev), "mount", PTR_ERR(h.dev));
}

static void do_round(const struct kind *kind)
{
	u32 i;

	if (kind->cut_in)
		h.chip.cut_in = draw_below(&h.random, 2 * kind->cut_in) + 1;
	for (i = 0; i < kind->operations && !is_over(&h); i++)
		operate(&h);
	h.chip.cut_in = 0;
	if (is_over(&h))
		return;
	logfs_lock(h.dev);
	judge_soundness(h.dev);
	logfs_unlock(h.dev);
	commit(&h);
	if (is_over(&h))
		return;
	logfs_lock(h.dev);
	judge_history(sum_of_mount(&h) == model_sum(&h.model),
		      "what is in memory differs", 0);
	logfs_unlock(h.dev);
}

/*
 * A segment is an erase block, however small, and the superblock does not say its bytes. Such a
 * superblock in front of an empty journal is one whose format was interrupted.
 */
static void make_super(const struct kind *kind)
{
	struct logfs_super s = {
		.segment = { .type = LOGFS_SEGMENT_SUPER },
		.ifile_levels = 3, .iblock_levels = 4,
		.segment_shift = (u8)__builtin_ctz(kind->block_bytes),
		.write_shift = (u8)__builtin_ctz(kind->page_bytes),
		.n_segments = kind->blocks, .bad_reserve = 4,
		.journal = { 1, 2, 3, 4 },
	};
	u8 page[4096] = {};
	size_t done;

	s.super_at[1] = (u64)(kind->blocks - 1) * kind->block_bytes - 4096;
	logfs_super_encode(&s, (void *)page);
	mtd_write(&h.chip.mtd, 0, kind->page_bytes, &done, page);
}

/* The segment file calls the segment of the second superblock free, and the next one reserved. */
static void make_original(void)
{
	const u32 last = h.dev->super.n_segments - 1;
	const struct logfs_segment_entry none = { .level = 0 };
	const struct logfs_segment_entry reserved = {
		.state = LOGFS_SEGMENT_RESERVED,
	};

	logfs_lock(h.dev);
	logfs_lists_del(h.dev, last);
	judge_history(logfs_has_super(&h.dev->super, last - 1) &&
		      !logfs_segment_set(h.dev, last - 1, &none) &&
		      !logfs_segment_set(h.dev, last, &reserved) &&
		      !logfs_commit(h.dev), "segments of superblocks", last);
	logfs_unlock(h.dev);
}

/* Nothing but the second superblock was written to its segment. */
static void judge_original(void)
{
	struct logfs_super_media m;
	struct logfs_super s;
	size_t done;

	h.chip.correct = 0;
	judge_history(!mtd_read(&h.chip.mtd, h.dev->super.super_at[1],
				sizeof(m), &done, (u8 *)&m) &&
		      !logfs_super_decode(&m, &s) && !s.segment_bytes,
		      "second superblock", h.dev->super.n_segments);
}

/* Which of two states a mount found, it can only tell if names have sums of their own. */
static void judge_names(void)
{
	u64 sums[MODEL_FILES * MODEL_DIRECTORIES];
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(sums); i++) {
		sums[i] = model_sum_of_file(i / MODEL_DIRECTORIES,
					    i % MODEL_DIRECTORIES, 4096);
		for (k = 0; k < i; k++)
			judge_history(sums[k] != sums[i], "names of one sum", i);
	}
}

static void tell(const struct kind *kind, u32 rounds)
{
	printf("%llu: %s, %u rounds, %llu programs, %llu erases, %u refused, digest %016llx\n",
	       replay.run, kind->name, rounds,
	       (unsigned long long)h.chip.programs,
	       (unsigned long long)h.chip.erases, h.refused,
	       (unsigned long long)chip_digest(&h.chip));
}

static void run(void)
{
	const struct kind *kind = &kinds[replay.run % ARRAY_SIZE(kinds)];
	u32 n = 0;

	memset(&h, 0, sizeof(h));
	h.random = replay.seed * 0x9e3779b97f4a7c15ull ^ replay.run;
	h.blocks = kind->file_blocks;
	h.compress = kind->compress;
	h.may_end = kind->endurance;
	chip_make(&h.chip, kind->page_bytes, kind->block_bytes, kind->blocks);
	h.chip.random = draw(&h.random);
	model_committed(&h.model);
	if (kind->is_original)
		make_super(kind);
	mount(&(struct kind){}, true);
	if (kind->is_original)
		make_original();
	make_directories(&h);
	h.chip.fail_program = kind->fail_program;
	h.chip.fail_erase = kind->fail_erase;
	h.chip.correct = kind->correct;
	h.chip.endurance = kind->endurance;
	for (; n < kind->rounds && !h.has_ended; n++) {
		do_round(kind);
		unmount();
		/* What is worn out can still be read. */
		mount(kind, !h.has_ended);
		judge_mount();
	}
	judge_history(h.has_ended == !!kind->endurance, "worn out", n);
	if (kind->is_original)
		judge_original();
	unmount();
	if (is_replay)
		tell(kind, n);
	chip_free(&h.chip);
}

int main(int argc, char **argv)
{
	u64 runs = 0;

	is_replay = argc > 3;
	replay_begin("core_histories", argc, argv, ARRAY_SIZE(kinds));
	judge_names();
	for (; replay.run < replay.end; replay.run++, runs++)
		run();
	printf("core_histories: %llu histories\n", (unsigned long long)runs);
	return 0;
}
