// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_append_log.c - the files of a log, and that reading them back finds what is
 * wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "workloads/append_log/append_log.h"
#include "workloads/append_log/lines.h"
#include "workloads/append_log/verify.h"

static void names_of_files(void)
{
	const struct append_log_params params = {
		.dir = "/a b", .keep = LOG_KEEP_MAX,
	};
	struct log_files files;
	struct ffs_error error;

	CHECK(!log_files_init(&files, &params, &error));
	CHECK(files.n == LOG_KEEP_MAX + 2);
	CHECK(!strcmp(files.paths[0], "/a b/log"));
	CHECK(!strcmp(files.paths[1], "/a b/log.1"));
	CHECK(!strcmp(files.paths[LOG_KEEP_MAX + 1], "/a b/log.100"));
	log_files_free(&files);
}

/* --- verification -------------------------------------------------------- */

/* Three files of four lines of 50 bytes, and one of two; two old ones are kept. */
static const struct append_log_params written_params = {
	.lines = 14, .line_bytes = 50, .rotate_bytes = 200, .keep = 2,
	.seed = 3, .fsync_every = 1,
};
static const struct log_written all_written = { .done = 14, .rotations = 3 };

struct written_log {
	char dir[96];
	struct append_log_params params;
	struct log_files files;
	struct log_lines lines;
};

static bool write_log(struct written_log *log)
{
	struct record_sink *sink = malloc(sizeof(*sink));
	struct ffs_error error = { .message = "" };
	bool good;

	scratch_template(log->dir, sizeof(log->dir), "log");
	if (!CHECK(mkdtemp(log->dir)))
		return false;
	log->params = written_params;
	log->params.dir = log->dir;
	record_sink_init(sink, -1);
	good = CHECKF(!append_log_run(&log->params, NULL, sink, &error), "%s",
		      error.message) &&
	       CHECK(!log_files_init(&log->files, &log->params, &error)) &&
	       CHECK(!log_lines_init(&log->lines, &log->params, &error));
	free(sink);
	return good;
}

static void remove_log(struct written_log *log)
{
	uint64_t i;

	for (i = 0; i < log->files.n; i++)
		unlink(log->files.paths[i]);
	rmdir(log->dir);
	log_files_free(&log->files);
	log_lines_free(&log->lines);
}

/* Return: the errnum of the verification, or -1 if all is well. */
static int verified(const struct written_log *log,
		    const struct log_written *written, const char *words)
{
	struct ffs_error error = { .errnum = -1, .message = "" };
	uint64_t bytes = 0;
	int result = log_verify(&log->files, &log->lines, &log->params, written,
				&bytes, &error);

	CHECKF(strstr(error.message, words), "'%s' has no '%s'", error.message,
	       words);
	CHECK(result || bytes >= 450);
	return result ? error.errnum : -1;
}

static void change_byte(const char *path, off_t at)
{
	int fd = open(path, O_RDWR);
	char byte;

	CHECK(pread(fd, &byte, 1, at) == 1);
	byte ^= 1;
	CHECK(pwrite(fd, &byte, 1, at) == 1);
	close(fd);
}

static void what_is_wrong_is_found(void)
{
	struct written_log log;
	struct stat info;

	if (!write_log(&log))
		return;
	CHECK(verified(&log, &all_written, "") == -1);
	CHECK(!stat(log.files.paths[0], &info) && info.st_size == 100);
	CHECK(stat(log.files.paths[3], &info) && errno == ENOENT);
	/* Line 9 is the second of log.1, whose first is line 8. */
	change_byte(log.files.paths[1], 50 + 20);
	CHECK(verified(&log, &all_written, "line 9 in") == EBADMSG);
	CHECK(verified(&log, &all_written, "from its byte 20 on") == EBADMSG);
	change_byte(log.files.paths[1], 50 + 20);
	CHECK(verified(&log, &all_written, "") == -1);
	CHECK(!truncate(log.files.paths[0], 99));
	CHECK(verified(&log, &all_written, "ends within line 13") == EBADMSG);
	CHECK(!truncate(log.files.paths[0], 50));
	CHECK(verified(&log, &all_written, "after 0 of its 50") == EBADMSG);
	CHECK(!unlink(log.files.paths[2]));
	CHECK(!truncate(log.files.paths[0], 0));
	CHECK(!rename(log.files.paths[1], log.files.paths[2]));
	CHECK(verified(&log, &all_written, "ends within line 12") == EBADMSG);
	remove_log(&log);
}

/* A full partition leaves a part of a line, no whole one and none elsewhere. */
static void what_is_too_much_is_found(void)
{
	const struct log_written cut = {
		.done = 13, .rotations = 3, .cut = true,
	};
	struct written_log log;

	if (!write_log(&log))
		return;
	CHECK(!truncate(log.files.paths[0], 99));
	CHECK(verified(&log, &cut, "") == -1);
	CHECK(!truncate(log.files.paths[0], 100));
	CHECK(verified(&log, &cut, "goes on after line 13") == EBADMSG);
	CHECK(!truncate(log.files.paths[0], 50));
	CHECK(!truncate(log.files.paths[1], 201));
	CHECK(verified(&log, &cut, "log.1 goes on after line 12") == EBADMSG);
	CHECK(!truncate(log.files.paths[1], 200));
	CHECK(verified(&log, &cut, "") == -1);
	CHECK(!unlink(log.files.paths[2]));
	CHECK(verified(&log, &cut, "log.2, which was written") == EBADMSG);
	remove_log(&log);
}

void test_append_log(void)
{
	names_of_files();
	what_is_wrong_is_found();
	what_is_too_much_is_found();
}
