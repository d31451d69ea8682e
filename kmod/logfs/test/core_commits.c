// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which commit a mount takes when the journal is damaged, and whether it says so: a state that
 * is older than the last commit must not be gone on from, unless power has torn that commit.
 * And what a mount does without memory.
 */

#include <linux/err.h>
#include <linux/slab.h>

#include "histories/operations.h"
#include "histories/soundness.h"

#define UNIT	4096u

static struct history h;
static u32 errors;

/* ---- a file system with some commits ---- */

/**
 * struct place - of a commit
 * @at: on the device
 * @bytes: whole write units
 * @sum: of the tree that it has
 */
struct place {
	u64 at;
	u32 bytes;
	u64 sum;
};

void kernel_message(char level, const char *format, ...)
{
	(void)format;
	errors += level == 'e';
}

static u64 journal_end(void)
{
	const struct logfs_journal *j = &h.dev->journal;

	return logfs_segment_place(h.dev, h.dev->super.journal[j->slot]) +
	       j->used;
}

/*
 * With so many aliases that it takes some units. It is the only one, for there is plenty of
 * room, and does not begin a segment of the journal.
 */
static struct place long_commit(void)
{
	const u64 before = h.dev->stats.commits;
	struct place place = {};
	u32 i;

	for (i = 0; i < 100; i++)
		operate(&h);
	place.at = journal_end();
	commit(&h);
	place.bytes = (u32)(journal_end() - place.at);
	place.sum = model_sum(&h.model);
	check(h.dev->stats.commits == before + 1, "one commit");
	return place;
}

/* A new file system with its directories, which nothing but a call of commit() commits. */
static void begin_new(void)
{
	memset(&h, 0, sizeof(h));
	h.random = 1;
	h.blocks = 100;
	h.no_commits = true;
	chip_make(&h.chip, 2048, 131072, 128);
	model_committed(&h.model);
	h.dev = logfs_mount(&h.chip.mtd, true);
	make_directories(&h);
}

static void begin(void)
{
	begin_new();
	/* The next commits have a segment to themselves. */
	h.dev->journal.used = h.dev->segment_bytes;
	long_commit();
	errors = 0;
}

static void unmount(void)
{
	logfs_unmount(h.dev);
	h.dev = NULL;
}

static void end(void)
{
	if (h.dev)
		unmount();
	chip_free(&h.chip);
}

/* @what of the mount is as it should be: it has this state. */
static void check_state(bool writable, u64 sum, const char *what)
{
	h.dev = logfs_mount(&h.chip.mtd, writable);
	check(!IS_ERR(h.dev), "%s: mount %ld", what, PTR_ERR(h.dev));
	if (IS_ERR(h.dev)) {
		h.dev = NULL;
		return;
	}
	logfs_lock(h.dev);
	check(sum_of_mount(&h) == sum, "%s: state", what);
	logfs_unlock(h.dev);
}

/* It goes on, and the next mount finds what was done. */
static void check_goes_on(const char *what)
{
	u64 sum;

	if (!h.dev)
		return;
	logfs_lock(h.dev);
	sum = sum_of_mount(&h);
	check(model_return_to(&h.model, sum), "%s: model", what);
	logfs_unlock(h.dev);
	sum = long_commit().sum;
	logfs_lock(h.dev);
	judge_soundness(h.dev);
	logfs_unlock(h.dev);
	unmount();
	check_state(true, sum, what);
}

static void check_refused(u64 older, const char *what)
{
	struct logfs_device *dev = logfs_mount(&h.chip.mtd, true);

	check(dev == ERR_PTR(-EUCLEAN) && errors, "%s: refused", what);
	if (!IS_ERR(dev))
		logfs_unmount(dev);
	check_state(false, older, what);
	if (h.dev)
		check(logfs_make_writable(h.dev) == -EROFS, "%s: remount", what);
}

/* ---- tests ---- */

/* The model goes back to any state only if its changes are there: not across commits. */
static void test_last_unit_torn(void)
{
	struct place before, last;

	begin();
	before = long_commit();
	last = long_commit();
	h.model.n_changes = 0;
	h.model.sums[0] = before.sum;
	unmount();
	chip_tear(&h.chip, last.at + last.bytes - UNIT, UNIT);
	check_state(true, before.sum, "torn commit");
	check(!errors, "power has torn it");
	end();
}

static void test_entry_damaged(void)
{
	struct place before, last;

	begin();
	before = long_commit();
	last = long_commit();
	check(last.bytes > UNIT, "a commit of some units");
	unmount();
	chip_tear(&h.chip, last.at, UNIT);
	check_refused(before.sum, "entry of a finished commit");
	end();
}

/* Power has torn the commit behind one that cannot be read. */
static void test_damage_within(void)
{
	struct place before, last, torn;

	begin();
	before = long_commit();
	last = long_commit();
	torn = long_commit();
	unmount();
	chip_tear(&h.chip, last.at + last.bytes - UNIT, UNIT);
	check_state(true, torn.sum, "damage before the last commit");
	check(!errors, "nothing is lost");
	unmount();
	chip_tear(&h.chip, torn.at + torn.bytes - UNIT, UNIT);
	check_refused(before.sum, "damage in front of a torn commit");
	end();
}

/* Nothing that can be read is left in the segment begun last, but it had finished something. */
static void test_segment_damaged(void)
{
	struct place before, first, second;

	begin();
	before = long_commit();
	h.dev->journal.used = h.dev->segment_bytes;
	first = long_commit();
	first.at = journal_end() - UNIT;
	second = long_commit();
	unmount();
	chip_tear(&h.chip, first.at, UNIT);
	check_state(true, second.sum, "first commit of a segment");
	unmount();
	chip_tear(&h.chip, second.at + second.bytes - UNIT, UNIT);
	check_refused(before.sum, "all commits of a segment");
	end();
}

static void test_header_damaged(void)
{
	struct place last;
	u64 segment;

	begin();
	long_commit();
	last = long_commit();
	segment = last.at & ~(u64)(h.dev->segment_bytes - 1);
	unmount();
	chip_tear(&h.chip, segment, UNIT);
	check_state(true, last.sum, "header of a segment");
	check(!errors, "nothing is lost");
	check_goes_on("header of a segment");
	end();
}

static void test_driver_fails(void)
{
	struct logfs_device *dev;
	u64 sum;

	begin();
	sum = long_commit().sum;
	unmount();
	h.chip.is_off = true;
	dev = logfs_mount(&h.chip.mtd, true);
	check(dev == ERR_PTR(-EIO), "driver fails: %ld", PTR_ERR(dev));
	h.chip.is_off = false;
	check_state(true, sum, "driver works again");
	end();
}

/* One allocation fails, one later each time: a mount has the last commit, or is none. */
static void test_no_memory(void)
{
	u32 n, mounts = 0;
	u64 sum;

	begin();
	sum = long_commit().sum;
	unmount();
	for (n = 0; n < 200; n++) {
		kernel_fail_allocation(n);
		h.dev = logfs_mount(&h.chip.mtd, true);
		kernel_fail_allocation(U32_MAX);
		if (IS_ERR(h.dev)) {
			check(h.dev == ERR_PTR(-ENOMEM), "memory: %ld",
			      PTR_ERR(h.dev));
			h.dev = NULL;
			continue;
		}
		mounts++;
		logfs_lock(h.dev);
		check(sum_of_mount(&h) == sum, "state without memory %u", n);
		logfs_unlock(h.dev);
		unmount();
	}
	check(mounts && mounts < 190, "%u mounts", mounts);
	end();
}

/*
 * Programming fails now and then while it is formatted: the first commit has all that there is,
 * nothing of it is in memory alone.
 */
static void test_format_fails_in_part(void)
{
	u32 seed, mounts = 0;

	for (seed = 1; seed <= 100; seed++) {
		memset(&h, 0, sizeof(h));
		chip_make(&h.chip, 2048, 131072, 40);
		h.chip.random = seed;
		h.chip.fail_program = 25;
		h.dev = logfs_mount(&h.chip.mtd, true);
		check(!IS_ERR(h.dev), "format %u: %ld", seed, PTR_ERR(h.dev));
		unmount();
		h.chip.fail_program = 0;
		h.dev = logfs_mount(&h.chip.mtd, true);
		check(!IS_ERR(h.dev), "mount %u: %ld", seed, PTR_ERR(h.dev));
		check(!logfs_begin_write(h.dev, 1), "room %u", seed);
		mounts += h.dev->n_bad > 0;
		logfs_unlock(h.dev);
		end();
	}
	check(mounts > 10, "%u chips had a segment that failed", mounts);
}

/*
 * No commit is left in a journal of which the first segment alone was ever used. @operations are
 * few enough to be in commits alone, or many.
 */
static void test_all_commits_damaged(u32 operations)
{
	u64 journal, digest;
	u32 i;

	begin_new();
	for (i = 0; i < operations; i++)
		operate(&h);
	commit(&h);
	journal = logfs_segment_place(h.dev, h.dev->super.journal[0]);
	check(journal_end() > journal + UNIT && journal_end() < journal + 131072,
	      "commits of one segment");
	chip_tear(&h.chip, journal, (u32)(journal_end() - journal));
	unmount();
	digest = chip_digest(&h.chip);
	errors = 0;
	for (i = 0; i < 2; i++)
		check(logfs_mount(&h.chip.mtd, i) == ERR_PTR(-EUCLEAN),
		      "%u operations: refused", operations);
	check(errors == 2 && chip_digest(&h.chip) == digest,
	      "%u operations: nothing is written", operations);
	chip_free(&h.chip);
}

int main(void)
{
	test_format_fails_in_part();
	test_all_commits_damaged(0);
	test_all_commits_damaged(100);
	test_last_unit_torn();
	test_entry_damaged();
	test_damage_within();
	test_segment_damaged();
	test_header_damaged();
	test_driver_fails();
	test_no_memory();
	return report("core_commits");
}
