// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_append_log_lines.c - the lines of a log, and in which file each is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "harness.h"
#include "workloads/append_log/lines.h"

#define TEXT_BYTES (256 * 1024)

static struct append_log_params params_of(uint64_t line_bytes)
{
	return (struct append_log_params) {
		.dir = "/", .lines = 100, .line_bytes = line_bytes, .seed = 7,
		.contents = { .kind = CONTENT_TEXT },
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

/*
 * The text of a line is a window into 256 KiB, which the seed and the number choose:
 * what a seed means must stay what it is, or a recorded log could not be written again.
 */
static void windows_of_lines(void)
{
	struct append_log_params params = params_of(64);
	uint64_t number, i, other = 0, blanks = 0;
	unsigned char line[64];
	struct ffs_error error;
	struct log_lines lines;

	CHECK(!log_lines_init(&lines, &params, &error));
	CHECK(lines.seed == 7 && lines.line_bytes == 64);
	/* The last window begins at the last of these bytes. */
	for (i = 0; i < TEXT_BYTES + 64; i++) {
		other += lines.text[i] < ' ' || lines.text[i] > '~';
		blanks += lines.text[i] == ' ';
	}
	/* A word has fourteen letters at most, and two marks behind it. */
	CHECKF(!other && blanks > TEXT_BYTES / 16, "%llu other, %llu blanks",
	       (unsigned long long)other, (unsigned long long)blanks);
	for (number = 0; number < 1000; number++) {
		uint64_t window = rng_mix(7 ^ rng_mix(number)) % TEXT_BYTES;

		log_line(&lines, number, line);
		other += memcmp(line + 11, lines.text + window + 11, 52) != 0;
	}
	CHECKF(!other, "%llu lines of another window", (unsigned long long)other);
	log_lines_free(&lines);
	CHECK(!lines.text);
	log_lines_free(&lines);		/* what is free already */
}

/* No machine has that much memory. */
static void too_long_lines(void)
{
	struct append_log_params params = params_of((uint64_t)1 << 62);
	struct ffs_error error = { .errnum = 0 };
	struct log_lines lines;

	CHECK(log_lines_init(&lines, &params, &error));
	CHECK(error.errnum == ENOMEM && !lines.text);
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

void test_append_log_lines(void)
{
	form_of_lines();
	texts_of_lines();
	windows_of_lines();
	too_long_lines();
	wrong_bytes();
	parts_of_files();
	when_to_sync();
}
