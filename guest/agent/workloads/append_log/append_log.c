// SPDX-License-Identifier: GPL-2.0-only
/*
 * append_log.c - see append_log.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/caches.h"
#include "core/clock.h"
#include "flash/live.h"
#include "measure/phase.h"
#include "measure/tasks.h"
#include "workloads/append_log/append_log.h"
#include "workloads/append_log/lines.h"
#include "workloads/append_log/verify.h"
#include "workloads/prepare/left.h"

#define WORKLOAD "append-log"

enum { PHASE_INVALIDATE, PHASE_APPEND, PHASE_FLUSH, PHASE_VERIFY, PHASES };

static const char *const phase_names[PHASES] = {
	[PHASE_INVALIDATE] = PHASE_NAME_INVALIDATE,
	[PHASE_APPEND] = "append",
	[PHASE_FLUSH] = "flush",
	[PHASE_VERIFY] = "verify",
};

enum { OP_APPEND, OP_SYNC, OP_APPEND_SYNC, OP_ROTATE, OPS };

static const char *const op_names[OPS] = {
	[OP_APPEND] = "append",		/* write() of a line */
	[OP_SYNC] = "sync",		/* fsync() or fdatasync() */
	[OP_APPEND_SYNC] = "append-sync", /* a line with its sync */
	[OP_ROTATE] = "rotate",
};

struct append_log {
	const struct append_log_params *params;
	struct phase_site site;
	struct log_lines lines;
	struct log_files files;
	struct left_files left;
	unsigned char *line;
	int fd;				/* of the log */
	uint64_t done, synced;		/* lines */
	uint64_t rotations;
	bool in_rotation;		/* one has begun and not ended */
	struct latency latencies[OPS];
	struct phase phases[PHASES];
	struct live live;
	struct live_snapshot before[PHASES], after[PHASES];
};

/* --- before the phases --------------------------------------------------- */

static int open_log(struct append_log *log, struct ffs_error *error)
{
	const char *path = log->files.paths[0];

	log->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC,
		       0644);
	if (log->fd >= 0)
		return 0;
	return ffs_fail(error, errno, "cannot create %s%s", path,
		errno == EEXIST ? " (left over from an earlier run? remove it)" : "");
}

static int reserve(struct append_log *log, struct ffs_error *error)
{
	const struct append_log_params *params = log->params;
	int i;

	if (left_find(&log->left, params->dir, params->remove, error) ||
	    log_files_init(&log->files, log->params, error) ||
	    log_lines_init(&log->lines, log->params, error))
		return -1;
	log->line = malloc(log->params->line_bytes);
	if (!log->line)
		return ffs_fail(error, ENOMEM, "no memory for a line");
	log_line(&log->lines, 0, log->line);
	/* Resetting touches the memory before the phase. */
	for (i = 0; i < OPS; i++)
		latency_reset(&log->latencies[i]);
	for (i = 0; i < PHASES; i++)
		if (phase_reserve(&log->phases[i], &log->site, error))
			return -1;
	if (live_open(&log->live, log->site.monitor, error))
		return -1;
	live_read(&log->live, &log->before[PHASE_APPEND]);
	return 0;
}

/* A log on a full partition can be created only after this. */
static int make_room(struct append_log *log, struct ffs_error *error)
{
	uint64_t settle_ms = log->params->settle_ms;

	if (!log->params->remove)
		return 0;
	if (left_know(&log->left, error) ||
	    left_invalidate(&log->left, &log->phases[PHASE_INVALIDATE],
			    &log->site, error))
		return -1;
	return settle_ms ? clock_sleep_ns(settle_ms * 1000000, error) : 0;
}

/* --- the phase append ---------------------------------------------------- */

/* Return: 0, or the errno. */
static int write_line(struct append_log *log)
{
	uint64_t at = 0;

	while (at < log->params->line_bytes) {
		ssize_t n = write(log->fd, log->line + at,
				  log->params->line_bytes - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : EIO;
		at += (uint64_t)n;
		log->phases[PHASE_APPEND].bytes_written += (uint64_t)n;
	}
	return 0;
}

/* Return: 0, or the errno. */
static int sync_lines(struct append_log *log)
{
	uint64_t start = clock_now_ns();
	int result = log->params->sync == LOG_FSYNC ? fsync(log->fd) :
						      fdatasync(log->fd);

	if (result)
		return errno;
	latency_add_at(&log->latencies[OP_SYNC], start, clock_now_ns());
	log->synced = log->done;
	return 0;
}

/* What logrotate does, after the daemon has let go of its file. */
static int move_files(struct append_log *log, struct ffs_error *error)
{
	char *const *paths = log->files.paths;
	uint64_t kept = log_files_kept(log->params, log->rotations);
	struct phase *phase = &log->phases[PHASE_APPEND];
	uint64_t i;

	for (i = kept + 1; i > 0; i--)
		if (rename(paths[i - 1], paths[i]))
			return ffs_fail(error, errno, "cannot rename %s to %s",
					paths[i - 1], paths[i]);
	if (open_log(log, error))
		return -1;
	phase->files_created++;
	if (kept < log->params->keep)
		return 0;
	if (unlink(paths[kept + 1]))
		return ffs_fail(error, errno, "cannot delete %s",
				paths[kept + 1]);
	phase->files_deleted++;
	return 0;
}

static int rotate(struct append_log *log, struct ffs_error *error)
{
	uint64_t start = clock_now_ns();
	int failed = 0;

	log->in_rotation = true;
	/* A daemon that syncs leaves no line behind in a file that it closes. */
	if (log->params->fsync_every && log->synced < log->done)
		failed = sync_lines(log);
	if (failed)
		return ffs_fail(error, failed, "cannot sync %s before it is rotated",
				log->files.paths[0]);
	close(log->fd);
	log->fd = -1;
	if (move_files(log, error))
		return -1;
	latency_add_at(&log->latencies[OP_ROTATE], start, clock_now_ns());
	log->rotations++;
	log->in_rotation = false;
	return 0;
}

static int fail_line(const struct append_log *log, int failed, const char *what,
		     struct ffs_error *error)
{
	return ffs_fail(error, failed, "cannot %s line %llu of %llu%s", what,
		(unsigned long long)log->done + 1,
		(unsigned long long)log->params->lines,
		failed == ENOSPC ? " (the partition is full: lower lines, or set rotate_bytes and keep so that all files fit)" : "");
}

static int append_line(struct append_log *log, struct ffs_error *error)
{
	uint64_t start, end;
	int failed;

	log_line(&log->lines, log->done, log->line);
	start = clock_now_ns();
	failed = write_line(log);
	end = clock_now_ns();
	if (failed)
		return fail_line(log, failed, "append", error);
	latency_add_at(&log->latencies[OP_APPEND], start, end);
	log->done++;
	if (!log_sync_due(log->params, log->done - log->synced))
		return 0;
	failed = sync_lines(log);
	end = clock_now_ns();
	if (failed)
		return fail_line(log, failed, "sync", error);
	latency_add_at(&log->latencies[OP_APPEND_SYNC], start, end);
	return 0;
}

static int append_lines(struct append_log *log, struct ffs_error *error)
{
	const struct append_log_params *params = log->params;
	uint64_t file_lines = log_file_lines(params), in_file = 0;

	while (log->done < params->lines) {
		if (in_file == file_lines) {
			if (rotate(log, error))
				return -1;
			in_file = 0;
		}
		if (append_line(log, error))
			return -1;
		in_file++;
		if (params->interval_us && log->done < params->lines &&
		    clock_sleep_ns(params->interval_us * 1000, error))
			return -1;
	}
	return 0;
}

/* --- phases -------------------------------------------------------------- */

static int flush(struct append_log *log, struct ffs_error *error)
{
	return sync_filesystem(log->params->dir, error);
}

static int verify(struct append_log *log, struct ffs_error *error)
{
	const struct log_written written = {
		.done = log->done,
		.rotations = log->rotations,
		.cut = log->done < log->params->lines,
	};

	return log_verify(&log->files, &log->lines, log->params, &written,
			  &log->phases[PHASE_VERIFY].bytes_read, error);
}

static int run_phase(struct append_log *log, int id,
		     int (*body)(struct append_log *log, struct ffs_error *error),
		     struct ffs_error *error)
{
	struct phase *phase = &log->phases[id];
	int result;

	if (phase_begin(phase, &log->site, error))
		return -1;
	live_read(&log->live, &log->before[id]);
	result = body(log, error);
	phase_stop(phase);
	live_read(&log->live, &log->after[id]);
	return phase_end(phase, &log->site, result, error);
}

static void report_phase(struct append_log *log, int id,
			 const struct latency_list *latencies,
			 struct record_sink *sink)
{
	if (!log->phases[id].ran)
		return;
	phase_record(&log->phases[id], WORKLOAD, phase_names[id], latencies,
		     sink);
	if (log->live.page)
		tasks_record(WORKLOAD, phase_names[id], &log->before[id],
			     &log->after[id], sink);
}

static void report_invalidate(struct append_log *log, struct record_sink *sink)
{
	phase_record(&log->phases[PHASE_INVALIDATE], WORKLOAD,
		     phase_names[PHASE_INVALIDATE], NULL, sink);
}

static void report_log(const struct append_log *log, const char *stopped,
		       struct record_sink *sink)
{
	record_begin(sink, "append-log");
	record_number(sink, "lines", log->params->lines);
	record_number(sink, "lines_done", log->done);
	record_number(sink, "synced", log->synced);
	record_number(sink, "rotations", log->rotations);
	record_number(sink, "bytes", log->done * log->params->line_bytes);
	record_string(sink, "stopped", stopped);
	record_end(sink);
}

static int run_phases(struct append_log *log, struct record_sink *sink,
		      struct ffs_error *error)
{
	const struct latency_list latencies = {
		.latencies = log->latencies, .names = op_names, .n = OPS,
	};
	int result = run_phase(log, PHASE_APPEND, append_lines, error);
	bool full = result && error->errnum == ENOSPC;
	struct ffs_error wrong;

	log->phases[PHASE_APPEND].files_appended = log->done;
	if (!result)
		result = run_phase(log, PHASE_FLUSH, flush, error);
	report_invalidate(log, sink);
	report_phase(log, PHASE_APPEND, &latencies, sink);
	report_phase(log, PHASE_FLUSH, NULL, sink);
	report_log(log, full ? "ENOSPC" : "", sink);
	/* A rotation that failed halfway leaves files under other names. */
	if (!log->params->verify || log->in_rotation || (result && !full))
		return result;
	if (run_phase(log, PHASE_VERIFY, verify, &wrong)) {
		*error = wrong;
		result = -1;
	}
	report_phase(log, PHASE_VERIFY, NULL, sink);
	return result;
}

static void release(struct append_log *log)
{
	int i;

	if (log->fd >= 0)
		close(log->fd);
	left_release(&log->left);
	live_close(&log->live);
	for (i = 0; i < PHASES; i++)
		phase_free(&log->phases[i]);
	log_lines_free(&log->lines);
	log_files_free(&log->files);
	free(log->line);
	free(log);
}

int append_log_run(const struct append_log_params *params,
		   const struct flash_monitor *monitor,
		   struct record_sink *sink, struct ffs_error *error)
{
	struct append_log *log = calloc(1, sizeof(*log));
	int result = -1;

	if (!log)
		return ffs_fail(error, ENOMEM, "no memory for the workload");
	log->params = params;
	log->fd = -1;
	log->left.valid_fd = -1;
	log->site.root = params->dir;
	log->site.monitor = monitor;
	if (!reserve(log, error)) {
		if (!make_room(log, error) && !open_log(log, error))
			result = run_phases(log, sink, error);
		report_invalidate(log, sink);	/* if that failed */
	}
	release(log);
	return result;
}
