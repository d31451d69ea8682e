// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_micro_report.c - what tasks asked of the flash reaches the right request
 * and the records, from a file that stands for /proc/flashmon/chip/live.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kmod/flashmon/live_slots.h"
#include "emitted.h"
#include "live_page.h"
#include "measure/tasks.h"
#include "workloads/micro/report.h"

#define LIVE_FILE MONITOR_ROOT "/busy-chip/live"
#define TEST_FILE MONITOR_ROOT "/busy-chip/test"
#define REQUESTS 1500
#define CHANGES 20000
#define OTHER_PID 7

static const struct flash_monitor busy_chip = { .mtd = "busy-chip", .chip = "" };

static void rows_in_records(void)
{
	static struct record_sink sink;
	static struct live_snapshot from, to;
	struct flash_row rows[600] = {
		{ .request = 0, .when = AFTER_REQUEST, .task = 2,
		  .pages_programmed = 9, .busy_ns = 5000000000 },
		{ .request = 3, .when = DURING_REQUEST, .task = 0,
		  .pages_read = 1, .blocks_erased = 2, .oob_pages = 64 },
		{ .request = 3, .when = AFTER_REQUEST, .task = 2,
		  .busy_ns = 1 },
	};
	struct stream stream = { .rows = rows, .n_rows = 600, .pid = 11 };
	struct stream_set set = { .streams = &stream, .n = 1 };
	FILE *file = emitted_open(&sink);
	char *text, *second;
	size_t i;

	for (i = 3; i < 600; i++)
		rows[i] = (struct flash_row){ .request = 4, .task = 1 };
	to.n = 3;
	to.tasks[0] = (struct live_task){ .pid = 5, .name = "first" };
	to.tasks[1] = (struct live_task){ .pid = 11, .name = "renamed" };
	to.tasks[2] = (struct live_task){ .pid = 6, .name = "third",
					  .pages_read = 9, .busy_ns = 8,
					  .oob_pages = 7 };
	from.n = 3;
	memcpy(from.tasks, to.tasks, sizeof(from.tasks));
	from.tasks[2].pages_read = 4;
	report_request_flash(&set, &to, &sink);
	tasks_record("micro", "flush", &from, &to, &sink);
	from.n = 2;	/* the third task is new */
	tasks_record("micro", "flush", &from, &to, &sink);
	text = emitted_text(file);
	CHECKF(strstr(text, "\"stream\":0,\"tasks\":[\"ffsagent\",\"third\",\"first\"],\"rows\":[[0,1,1,0,9,0,5000000000,0],[3,0,2,1,0,2,0,64],[3,1,1,0,0,0,1,0],[4,0,0,0,0,0,0,0],"),
	       "got %.300s", text);
	second = strchr(text, '\n');
	CHECKF(second && strstr(second, "\"tasks\":[\"ffsagent\"],\"rows\":[[4,0,0,0,0,0,0,0],"),
	       "got %.300s", second ? second : "");
	CHECK(strstr(text, "\"phase\":\"flush\",\"tasks\":[{\"name\":\"third\",\"pages_read\":5,\"pages_programmed\":0,\"blocks_erased\":0,\"busy_ns\":0,\"oob_pages\":0}]}\n"));
	CHECK(strstr(text, "[{\"name\":\"third\",\"pages_read\":9,\"pages_programmed\":0,\"blocks_erased\":0,\"busy_ns\":8,\"oob_pages\":7}]}\n"));
	free(text);
}

/* Two tasks ask for something again and again, once @first requests are done.
 * Return: whether it was over before @last were.
 */
static int disturb(struct flashmon_live *page,
		   const volatile struct stream *stream, int own_pid,
		   uint64_t first, uint64_t last)
{
	const struct flashmon_share share = {
		.pages_read = 1, .pages_programmed = 2, .blocks_erased = 3,
		.busy_ns = 4, .oob_pages = 5,
	};
	int i;

	while (stream->done < first)
		usleep(10);
	for (i = 0; i < CHANGES; i++) {
		flashmon_live_add(page, OTHER_PID, "other", &share);
		flashmon_live_add(page, own_pid, "own", &share);
	}
	return stream->done < last;
}

static void check_rows(const struct stream *stream)
{
	uint64_t sums[2][5] = { { 0 } };
	size_t i, wrong = 0;
	int k;

	for (i = 0; i < stream->n_rows; i++) {
		const struct flash_row *row = &stream->rows[i];
		uint64_t *sum = sums[row->task % 2];

		wrong += row->request >= REQUESTS || row->task > 1;
		/* In order of time. */
		wrong += i && (row->request < row[-1].request ||
			       (row->request == row[-1].request &&
				row->when < row[-1].when));
		sum[0] += row->pages_read;
		sum[1] += row->pages_programmed;
		sum[2] += row->blocks_erased;
		sum[3] += row->busy_ns;
		sum[4] += row->oob_pages;
	}
	CHECKF(!wrong, "%zu of %zu rows", wrong, stream->n_rows);
	for (k = 0; k < 5; k++)
		CHECKF(sums[0][k] == CHANGES * (k + 1ull) &&
		       sums[1][k] == CHANGES * (k + 1ull),
		       "column %d: %llu and %llu", k,
		       (unsigned long long)sums[0][k],
		       (unsigned long long)sums[1][k]);
}

/* All of it came in the pause after the first of two requests. */
static void check_after(const struct stream *stream)
{
	size_t i, wrong = 0;

	for (i = 0; i < stream->n_rows; i++)
		wrong += stream->rows[i].request != 0 ||
			 stream->rows[i].when != AFTER_REQUEST ||
			 stream->rows[i].pages_read != CHANGES;
	CHECKF(stream->n_rows == 2 && !wrong, "%zu of %zu rows", wrong,
	       stream->n_rows);
}

/* Return: whether the disturber was over before request @last. */
static bool run_disturbed(const struct micro_params *params, uint64_t first,
			  uint64_t last,
			  void (*check_stream)(const struct stream *stream))
{
	struct flashmon_live *page = live_page_new(LIVE_FILE);
	struct pattern patterns[MICRO_STREAMS_MAX];
	struct stream_set set = { 0 };
	struct live live;
	struct requests_site site = {
		.params = params, .path = TEST_FILE, .live = &live,
		.source = &content_random,
	};
	int fd = open(TEST_FILE, O_RDWR | O_CREAT | O_TRUNC, 0644);
	int status = 0, own_pid = (int)getpid();
	struct ffs_error error;
	pid_t disturber;

	flashmon_live_init(page);
	CHECK(!live_open(&live, &busy_chip, &error));
	CHECK(pattern_layout(params, params->file_bytes, params->volume_bytes,
			     patterns, &error) == 1);
	CHECK(!streams_reserve(&set, patterns, 1, true, &error));
	streams_set(&set, patterns);
	disturber = fork();
	if (disturber == 0)
		_exit(disturb(page, &set.streams[0], own_pid, first, last));
	streams_run(&set, &site, fd);
	waitpid(disturber, &status, 0);
	CHECK(set.streams[0].done == patterns[0].requests);
	CHECK(!set.streams[0].failed);
	CHECK(!set.streams[0].dropped_rows);
	if (WEXITSTATUS(status))
		check_stream(&set.streams[0]);
	streams_free(&set);
	live_close(&live);
	munmap(page, sizeof(*page));
	close(fd);
	return WEXITSTATUS(status);
}

/* Every page belongs to one request: none is lost, none counted twice. */
static void nothing_is_lost(void)
{
	struct micro_params params = {
		.dir = "/", .kind = MICRO_RANDOM_WRITE, .request_bytes = 512,
		.volume_bytes = REQUESTS * 512, .file_bytes = 1 << 20,
		.partitions = 1, .increment = 1, .parallel = 1,
		.mix_ratio = 1, .burst = 1, .pause_us = 50,
	};
	bool overlapped = false;
	int attempt;

	/* A loaded machine may give one of the two no time for long. */
	for (attempt = 0; attempt < 20 && !overlapped; attempt++)
		overlapped = run_disturbed(&params, 3, REQUESTS - 3,
					   check_rows);
	CHECK(overlapped);
	params.volume_bytes = 2 * 512;
	params.pause_us = 100000;
	for (attempt = 0, overlapped = false; attempt < 20 && !overlapped;
	     attempt++)
		overlapped = run_disturbed(&params, 1, 2, check_after);
	CHECK(overlapped);
	unlink(TEST_FILE);
	unlink(LIVE_FILE);
}

void test_micro_report(void)
{
	mkdir(MONITOR_ROOT, 0755);
	mkdir(MONITOR_ROOT "/busy-chip", 0755);
	rows_in_records();
	nothing_is_lost();
}
