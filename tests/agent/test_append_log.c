// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_append_log.c - the lines of a log, in which file each is, and that reading
 * them back finds what is wrong.
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

static struct append_log_params params_of(uint64_t line_bytes)
{
	return (struct append_log_params) {
		.dir = "/", .lines = 100, .line_bytes = line_bytes, .seed = 7,
	};
}

/* --- lines --------------------------------------------------------------- */

static bool is_line(const unsigned char *line, uint64_t bytes, const char *number)
{
	uint64_t i;

	if (memcmp(line, number, 10) || line[10] != ' ')
		return false;
	for (i = 0; i < bytes - 1; i++)
		if (line[i] < ' ' || line[i] > '~')
			return false;
	return line[bytes - 1] == '\n';
}

static void form_of_lines(void)
{
	static const uint64_t sizes[] = {
		LOG_LINE_BYTES_MIN, 17, 100, 4096, LOG_LINE_BYTES_MAX,
	};
	static const struct {
		uint64_t number;
		const char *digits;
	} numbers[] = {
		{ 0, "0000000000" },
		{ 1234, "0000001234" },
		{ LOG_LINES_MAX - 1, "0999999999" },
	};
	struct ffs_error error;
	struct log_lines lines;
	size_t i, k;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct append_log_params params = params_of(sizes[i]);
		/* Of exactly that size: a sanitizer watches its end. */
		unsigned char *line = malloc(sizes[i]);

		if (!CHECK(!log_lines_init(&lines, &params, &error)))
			return;
		for (k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
			log_line(&lines, numbers[k].number, line);
			CHECKF(is_line(line, sizes[i], numbers[k].digits),
			       "%zu bytes, number %s", (size_t)sizes[i],
			       numbers[k].digits);
		}
		log_lines_free(&lines);
		free(line);
	}
}

/* Texts differ from line to line and seed to seed, and are always the same. */
static void texts_of_lines(void)
{
	enum { LINES = 300, SEEDS = 3, BYTES = 64 };
	static unsigned char made[SEEDS * LINES][BYTES], again[BYTES];
	size_t i, k, equal = 0, other = 0;
	struct ffs_error error;
	struct log_lines lines;

	for (i = 0; i < SEEDS * LINES; i++) {
		struct append_log_params params = params_of(BYTES);

		params.seed = i / LINES;
		if (i % LINES == 0)
			CHECK(!log_lines_init(&lines, &params, &error));
		log_line(&lines, i % LINES, made[i]);
		log_line(&lines, i % LINES, again);
		other += memcmp(again, made[i], BYTES) != 0;
		if (i % LINES == LINES - 1)
			log_lines_free(&lines);
	}
	for (i = 0; i < SEEDS * LINES; i++)
		for (k = 0; k < i; k++)
			equal += !memcmp(made[i] + 11, made[k] + 11, BYTES - 11);
	/* By chance two of a seed have the same of 2^18 windows. */
	CHECKF(!other && equal <= 3, "%zu other, %zu equal", other, equal);
}

static void wrong_bytes(void)
{
	struct append_log_params params = params_of(100);
	unsigned char line[100], scratch[100];
	struct ffs_error error;
	struct log_lines lines;
	uint64_t i, wrong = 0;

	CHECK(!log_lines_init(&lines, &params, &error));
	log_line(&lines, 5, line);
	CHECK(log_line_equal(&lines, 5, line, scratch) == 100);
	CHECK(log_line_equal(&lines, 6, line, scratch) == 9);
	for (i = 0; i < 100; i++) {
		line[i] ^= 1;
		wrong += log_line_equal(&lines, 5, line, scratch) != i;
		line[i] ^= 1;
	}
	CHECK(!wrong);
	log_lines_free(&lines);
}

/* --- files --------------------------------------------------------------- */

static bool part_is(const struct append_log_params *params, uint64_t file,
		    uint64_t rotations, uint64_t done, uint64_t first,
		    uint64_t count)
{
	struct log_part part = log_part(params, file, rotations, done);

	return part.first == first && part.count == count;
}

static void parts_of_files(void)
{
	struct append_log_params params = params_of(100);

	CHECK(log_file_lines(&params) == UINT64_MAX);
	CHECK(part_is(&params, 0, 0, 0, 0, 0));
	CHECK(part_is(&params, 0, 0, 77, 0, 77));
	params.rotate_bytes = 399;
	CHECK(log_file_lines(&params) == 3);
	params.rotate_bytes = 100;
	CHECK(log_file_lines(&params) == 1);
	params.rotate_bytes = 400;
	CHECK(log_file_lines(&params) == 4);
	CHECK(part_is(&params, 0, 0, 4, 0, 4));
	/* Ten lines: 0 to 3, 4 to 7, and the log with 8 and 9. */
	CHECK(part_is(&params, 0, 2, 10, 8, 2));
	CHECK(part_is(&params, 1, 2, 10, 4, 4));
	CHECK(part_is(&params, 2, 2, 10, 0, 4));
	/* Rotated, and then the first line did not fit. */
	CHECK(part_is(&params, 0, 2, 8, 8, 0));
	params.keep = 3;
	CHECK(log_files_kept(&params, 0) == 0 && log_files_kept(&params, 2) == 2);
	CHECK(log_files_kept(&params, 3) == 3 && log_files_kept(&params, 9) == 3);
	params.keep = 0;
	CHECK(log_files_kept(&params, 9) == 0);
}

static void when_to_sync(void)
{
	struct append_log_params params = params_of(100);

	CHECK(!log_sync_due(&params, 1) && !log_sync_due(&params, 1000));
	params.fsync_every = 1;
	CHECK(log_sync_due(&params, 1));
	params.fsync_every = 3;
	CHECK(!log_sync_due(&params, 2) && log_sync_due(&params, 3));
}

static void names_of_files(void)
{
	struct append_log_params params = params_of(100);
	struct log_files files;
	struct ffs_error error;

	params.dir = "/a b";
	params.keep = LOG_KEEP_MAX;
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
	form_of_lines();
	texts_of_lines();
	wrong_bytes();
	parts_of_files();
	when_to_sync();
	names_of_files();
	what_is_wrong_is_found();
	what_is_too_much_is_found();
}
