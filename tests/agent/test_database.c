// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_database.c - the pages of a database, which ones a transaction changes,
 * what is in its journal when it could be needed, and that a wrong page is found.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "workloads/database/files.h"

#define PAGE 512
#define PAGES 20
#define FRAME (24 + PAGE)

static const struct database_params params = {
	.dir = "", .journal = DATABASE_DELETE, .transactions = 1,
	.pages_per_transaction = 3, .page_bytes = PAGE,
	/* Less than a page at the end is left out. */
	.database_bytes = PAGES * PAGE + 100, .checkpoint_frames = 7, .seed = 5,
};

/* --- pages --------------------------------------------------------------- */

static void a_page_follows_from_seed_number_and_changes(void)
{
	unsigned char one[PAGE], other[PAGE];
	struct database_pages pages;
	struct ffs_error error;

	CHECK(!database_pages_init(&pages, &params, &error));
	CHECK(pages.n == PAGES);
	database_page(&pages, 3, one);
	database_page(&pages, 3, other);
	CHECK(!memcmp(one, other, PAGE));
	database_page(&pages, 4, other);
	CHECK(memcmp(one, other, PAGE));
	pages.changes[3]++;
	database_page(&pages, 3, other);
	CHECK(memcmp(one, other, PAGE) && memcmp(one + 8, other + 8, PAGE - 8));
	database_pages_free(&pages);
}

/* With all pages but the first in a transaction each is drawn once. */
static void pages_are_drawn_without_the_first_and_once(void)
{
	struct database_params all = params;
	uint32_t seen[PAGES] = { 0 };
	struct database_pages pages;
	struct ffs_error error;
	int i;

	all.pages_per_transaction = PAGES - 1;
	CHECK(!database_pages_init(&pages, &all, &error));
	database_draw(&pages);
	for (i = 0; i < PAGES - 1; i++)
		seen[pages.drawn[i]]++;
	CHECK(!seen[0]);
	for (i = 1; i < PAGES; i++)
		CHECKF(seen[i] == 1, "page %d: %u", i, seen[i]);
	database_pages_free(&pages);
}

/* 3 of 19 pages in each of 3,000 transactions: 474 times each, ±5 deviations of 20. */
static void pages_are_drawn_uniformly(void)
{
	uint32_t seen[PAGES] = { 0 };
	struct database_pages pages;
	struct ffs_error error;
	uint64_t i;
	int n;

	CHECK(!database_pages_init(&pages, &params, &error));
	for (n = 0; n < 3000; n++) {
		database_draw(&pages);
		for (i = 0; i < pages.n_drawn; i++)
			seen[pages.drawn[i]]++;
	}
	for (n = 1; n < PAGES; n++)
		CHECKF(seen[n] > 374 && seen[n] < 574, "page %d: %u", n, seen[n]);
	database_pages_free(&pages);
}

/* --- files --------------------------------------------------------------- */

static bool begin(struct database_files *files, struct database_params *own,
		  char *dir, size_t size, enum database_journal journal)
{
	struct ffs_error error = { .message = "" };

	scratch_template(dir, size, "database");
	if (!CHECK(mkdtemp(dir)))
		return false;
	*own = params;
	own->dir = dir;
	own->journal = journal;
	memset(files, 0, sizeof(*files));
	return CHECK(!database_files_init(files, own, &error)) &&
	       CHECKF(!database_create(files, &error), "%s", error.message);
}

static void end(struct database_files *files, const char *dir)
{
	CHECK(!unlink(files->path));
	CHECKF(!rmdir(dir), "%s is not empty", dir);
	database_files_free(files);
}

static bool transaction(struct database_files *files)
{
	struct ffs_error error = { .message = "" };

	database_draw(&files->pages);
	return CHECKF(!database_transaction(files, &error), "%s",
		      error.message);
}

static off_t size_of(const char *path)
{
	struct stat info;

	return stat(path, &info) ? -1 : info.st_size;
}

/* Return: its errnum, -1 if all pages are right. */
static int verified(struct database_files *files)
{
	struct ffs_error error = { .errnum = -1 };

	return database_verify(files, &error) ? error.errnum : -1;
}

static uint32_t number_at(int fd, off_t at)
{
	unsigned char b[4] = { 0 };

	CHECK(pread(fd, b, 4, at) == 4);
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
	       (uint32_t)b[2] << 8 | b[3];
}

static void a_rollback_journal_is_gone_after_each_transaction(void)
{
	/* Header, its number of pages, four pages in the journal and in the database. */
	const uint64_t each = 512 + 4 + 4 * (PAGE + 8) + 4 * PAGE;
	struct database_params own;
	struct database_files files;
	char dir[96];
	int i;

	if (!begin(&files, &own, dir, sizeof(dir), DATABASE_DELETE))
		return;
	files.bytes_written = 0;
	for (i = 1; i <= 5; i++) {
		transaction(&files);
		CHECK(size_of(files.journal_path) == -1);
		CHECK(files.pages.changes[0] == (uint32_t)i);
	}
	CHECK(files.bytes_written == 5 * each);
	CHECK(files.latencies[DATABASE_OP_SYNC].histogram.count == 15);
	CHECK(verified(&files) == -1);
	end(&files, dir);
}

/* Without the database's own file the transaction fails once the journal is whole. */
static void the_journal_has_the_pages_as_they_were(void)
{
	unsigned char kept[PAGE], right[PAGE];
	struct database_params own;
	struct database_files files;
	struct ffs_error error;
	char dir[96];
	int fd, i;

	if (!begin(&files, &own, dir, sizeof(dir), DATABASE_DELETE))
		return;
	close(files.fd);
	files.fd = open(files.path, O_RDONLY);
	database_draw(&files.pages);
	CHECK(database_transaction(&files, &error) && error.errnum == EBADF);
	fd = open(files.journal_path, O_RDONLY);
	CHECK(number_at(fd, 8) == 4 && number_at(fd, 16) == PAGES);
	CHECK(number_at(fd, 20) == 512 && number_at(fd, 24) == PAGE);
	CHECK(size_of(files.journal_path) == 512 + 4 * (PAGE + 8));
	memset(files.pages.changes, 0, PAGES * sizeof(uint32_t));
	for (i = 0; i < 4; i++) {
		off_t at = 512 + i * (PAGE + 8);
		uint64_t page = i ? files.pages.drawn[i - 1] : 0;

		CHECK(number_at(fd, at) == page + 1);
		database_page(&files.pages, page, right);
		CHECK(pread(fd, kept, PAGE, at + 4) == PAGE);
		CHECK(!memcmp(kept, right, PAGE));
	}
	close(fd);
	unlink(files.journal_path);
	end(&files, dir);
}

/* Frames 0 to 8, checkpoint, 0 to 8, checkpoint: the file stays as long. */
static void a_log_begins_anew_after_its_checkpoint(void)
{
	struct database_params own;
	struct database_files files;
	struct ffs_error error;
	char dir[96];
	int i;

	if (!begin(&files, &own, dir, sizeof(dir), DATABASE_WAL))
		return;
	files.bytes_written = 0;
	transaction(&files);
	CHECK(files.bytes_written == 32 + 3 * FRAME);
	CHECK(number_at(files.journal_fd, 0) == 0x377f0682);
	CHECK(number_at(files.journal_fd, 8) == PAGE);
	for (i = 0; i < 3; i++) {
		off_t at = 32 + i * FRAME;

		CHECK(number_at(files.journal_fd, at) ==
		      files.pages.drawn[i] + 1);
		/* Only the last frame commits. */
		CHECK(number_at(files.journal_fd, at + 4) ==
		      (i == 2 ? PAGES : 0));
	}
	CHECK(verified(&files) == EBADMSG);	/* the log has the newest */
	transaction(&files);
	CHECK(!files.checkpoints && files.n_frames == 6);
	transaction(&files);
	CHECK(files.checkpoints == 1 && files.n_frames == 0);
	CHECK(verified(&files) == -1);
	for (i = 0; i < 4; i++)
		transaction(&files);
	CHECK(files.checkpoints == 2 && files.n_frames == 3);
	CHECK(size_of(files.journal_path) == 32 + 9 * FRAME);
	CHECK(!database_close(&files, &error) && files.checkpoints == 3);
	CHECK(size_of(files.journal_path) == -1 && verified(&files) == -1);
	CHECK(!database_close(&files, &error) && files.checkpoints == 3);
	end(&files, dir);
}

static void a_wrong_page_is_found(void)
{
	struct database_params own;
	struct database_files files;
	char dir[96];

	if (!begin(&files, &own, dir, sizeof(dir), DATABASE_WAL))
		return;
	CHECK(size_of(files.path) == PAGES * PAGE && verified(&files) == -1);
	CHECK(pwrite(files.fd, "\xff", 1, PAGES * PAGE - 1) == 1);
	CHECK(verified(&files) == EBADMSG);
	CHECK(!ftruncate(files.fd, PAGES * PAGE - 1));
	CHECK(verified(&files) == EBADMSG);
	end(&files, dir);
}

void test_database(void)
{
	a_page_follows_from_seed_number_and_changes();
	pages_are_drawn_without_the_first_and_once();
	pages_are_drawn_uniformly();
	a_rollback_journal_is_gone_after_each_transaction();
	the_journal_has_the_pages_as_they_were();
	a_log_begins_anew_after_its_checkpoint();
	a_wrong_page_is_found();
}
