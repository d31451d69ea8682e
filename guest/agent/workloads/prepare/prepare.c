// SPDX-License-Identifier: GPL-2.0-only
/*
 * prepare.c - see prepare.h.
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
#include "core/content.h"
#include "measure/phase.h"
#include "plan/content_keys.h"
#include "workloads/prepare/prepare.h"

#define WORKLOAD "prepare"

const char *const prepare_state_names[] = {
	[PREPARE_FREE] = "free",
	[PREPARE_AGED] = "aged",
	[PREPARE_SATURATED] = "saturated",
	[PREPARE_FILLED] = "filled",
	NULL,
};

struct preparation {
	const struct prepare_params *params;
	struct phase phase;
	unsigned char *buffer;	/* one unit */
	struct content_source test_source;
	uint64_t valid_bytes, invalid_bytes, file_bytes, capacity_bytes;
	bool invalid_present;
};

/* --- keys ---------------------------------------------------------------- */

void prepare_params_read(struct prepare_params *params,
			 const struct plan_step *step)
{
	*params = (struct prepare_params) {
		.dir = step_text(step, "dir"),
		.state = (enum prepare_state)step_number(step, "state"),
		.valid_percent = (uint64_t)step_number(step, "valid_percent"),
		.invalid_percent =
			(uint64_t)step_number(step, "invalid_percent"),
		.rate_percent = (uint64_t)step_number(step, "rate_percent"),
		.partition_bytes =
			(uint64_t)step_number(step, "partition_bytes"),
		.file_bytes = (uint64_t)step_number(step, "file_bytes"),
		.test_file = step_number(step, "test_file"),
		.limit = step_number(step, "limit"),
		.contents = content_choice_of(step, CONTENT_RANDOM),
		.unit_bytes = (uint64_t)step_number(step, "unit_bytes"),
		.seed = (uint64_t)step_number(step, "seed"),
	};
}

int prepare_params_check(const struct prepare_params *params,
			 struct ffs_error *error)
{
	const char *name = prepare_state_names[params->state];
	uint64_t percents = params->valid_percent + params->invalid_percent;

	if (percents && params->state != PREPARE_AGED)
		return ffs_fail(error, 0,
			"valid_percent and invalid_percent are of state=aged, not of %s; leave them out",
			name);
	if (percents > 100)
		return ffs_fail(error, 0,
			"valid_percent + invalid_percent is %llu; both are shares of the space available at the start, so their sum is at most 100",
			(unsigned long long)percents);
	if (params->rate_percent && params->state != PREPARE_FILLED)
		return ffs_fail(error, 0,
			"rate_percent is of state=filled, not of %s; leave it out",
			name);
	if (params->state == PREPARE_FILLED &&
	    (!params->rate_percent || !params->partition_bytes))
		return ffs_fail(error, 0,
			"state=filled needs rate_percent and partition_bytes, of which it is the share; set both");
	if (params->test_file && !params->file_bytes)
		return ffs_fail(error, 0,
			"test_file=1 needs the size of the file; set file_bytes");
	return content_choice_check(&params->contents, error);
}

/* --- files --------------------------------------------------------------- */

static int file_path(const struct preparation *p, const char *name, char *path,
		     struct ffs_error *error)
{
	int n = snprintf(path, PATH_MAX, "%s/%s", p->params->dir, name);

	if (n >= PATH_MAX)
		return ffs_fail(error, ENAMETOOLONG, "%.64s...",
				p->params->dir);
	return 0;
}

/* Return: 0, or the errno; *written grows by what went in. */
static int write_unit(int fd, const unsigned char *data, size_t bytes,
		      uint64_t *written)
{
	while (bytes) {
		ssize_t n = write(fd, data, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : EIO;
		*written += (uint64_t)n;
		data += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/*
 * Write a new file from its start to its end.
 *
 * Return: 0 or -1 with @error, whose errnum is ENOSPC if it did not fit; what
 * went in then stays, and is counted in *written in any case.
 */
static int write_file(struct preparation *p, const char *name,
		      enum content_file file, uint64_t bytes,
		      uint64_t *written, struct ffs_error *error)
{
	struct content content;
	char path[PATH_MAX];
	int failed = 0, fd;

	if (file_path(p, name, path, error))
		return -1;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return ffs_fail(error, errno, "cannot create %s%s", path,
			errno == EEXIST ? " (left over from an earlier run? remove it)" : "");
	p->phase.files_created++;
	content_init(&content, file == CONTENT_TEST ? &p->test_source :
		     &content_random, p->params->seed, file, 0);
	*written = 0;
	while (*written < bytes && !failed) {
		uint64_t left = bytes - *written;
		size_t unit = left < p->params->unit_bytes ? (size_t)left :
				(size_t)p->params->unit_bytes;

		content_fill(&content, *written, p->buffer, unit);
		failed = write_unit(fd, p->buffer, unit, written);
	}
	p->phase.bytes_written += *written;
	if (close(fd) && errno != EINTR && !failed)
		failed = errno;
	if (failed)
		return ffs_fail(error, failed, "cannot write %s", path);
	return sync_filesystem(p->params->dir, error);
}

/* ENOSPC where it is expected: what went in is good, and goes to the flash. */
static int forgive_full(struct preparation *p, struct ffs_error *error)
{
	if (error->errnum != ENOSPC)
		return -1;
	return sync_filesystem(p->params->dir, error);
}

/*
 * Bytes of a file that takes the place of the test file, or becomes it: cut to
 * what is available, if the plan allows it.
 */
static int room_for_file(struct preparation *p, uint64_t *bytes,
			 struct ffs_error *error)
{
	struct space space;

	*bytes = p->params->file_bytes;
	if (!p->params->limit)
		return 0;
	if (space_read(&space, p->params->dir, error))
		return -1;
	if (*bytes <= space.available_bytes)
		return 0;
	*bytes = space.available_bytes / LAB_CUT_BYTES * LAB_CUT_BYTES;
	if (*bytes)
		return 0;
	return ffs_fail(error, ENOSPC,
		"no room for the test file: %llu bytes are available, and file_bytes=%llu can be cut to multiples of %llu only; lower the share of valid data, or take a larger partition",
		(unsigned long long)space.available_bytes,
		(unsigned long long)p->params->file_bytes,
		(unsigned long long)LAB_CUT_BYTES);
}

/* Write a file of file_bytes, or less if the plan allows it. */
static int write_limited(struct preparation *p, const char *name,
			 enum content_file file, uint64_t *written,
			 struct ffs_error *error)
{
	uint64_t bytes;

	if (room_for_file(p, &bytes, error))
		return -1;
	if (!write_file(p, name, file, bytes, written, error))
		return 0;
	if (error->errnum != ENOSPC)
		return -1;
	/* A file system may have promised more than it can hold. */
	if (p->params->limit && *written >= LAB_CUT_BYTES)
		return forgive_full(p, error);
	return ffs_fail(error, ENOSPC,
		"%s of file_bytes=%llu does not fit, %llu bytes of it went in; lower file_bytes or the share of valid data, set limit=1, or take a larger partition",
		name, (unsigned long long)bytes,
		(unsigned long long)*written);
}

static int remove_invalid(struct preparation *p, struct ffs_error *error)
{
	char path[PATH_MAX];

	if (file_path(p, LAB_FILE_INVALID, path, error))
		return -1;
	if (unlink(path))
		return ffs_fail(error, errno, "cannot delete %s", path);
	p->phase.files_deleted++;
	p->invalid_present = false;
	return sync_filesystem(p->params->dir, error);
}

/* --- states -------------------------------------------------------------- */

static int write_invalid(struct preparation *p, uint64_t bytes,
			 struct ffs_error *error)
{
	p->invalid_present = true;
	return write_file(p, LAB_FILE_INVALID, CONTENT_INVALID, bytes,
			  &p->invalid_bytes, error);
}

static int make_aged(struct preparation *p, struct ffs_error *error)
{
	uint64_t valid = p->params->valid_percent;
	uint64_t invalid = p->params->invalid_percent;
	uint64_t percent = p->phase.space_start.available_bytes / 100;

	if ((!valid || !write_file(p, LAB_FILE_VALID, CONTENT_VALID,
				   percent * valid, &p->valid_bytes, error)) &&
	    (!invalid || !write_invalid(p, percent * invalid, error)))
		return 0;
	if (error->errnum != ENOSPC)
		return -1;
	return ffs_fail(error, ENOSPC,
		"valid_percent=%llu and invalid_percent=%llu cannot be reached: of the %llu bytes that the file system called available %llu went in; lower them, since its overhead needs room, too",
		(unsigned long long)valid, (unsigned long long)invalid,
		(unsigned long long)p->phase.space_start.available_bytes,
		(unsigned long long)(p->valid_bytes + p->invalid_bytes));
}

static int make_saturated(struct preparation *p, struct ffs_error *error)
{
	int result = write_invalid(p, UINT64_MAX, error);

	if (result)
		result = forgive_full(p, error);
	p->capacity_bytes = p->invalid_bytes;
	return result;
}

static int make_filled(struct preparation *p, struct ffs_error *error)
{
	uint64_t bytes = p->params->partition_bytes / 100 *
			 p->params->rate_percent;
	int result = write_file(p, LAB_FILE_VALID, CONTENT_VALID, bytes,
				&p->valid_bytes, error);

	if (result && error->errnum == ENOSPC)
		return ffs_fail(error, ENOSPC,
			"rate_percent=%llu cannot be reached: of %llu bytes of valid data %llu went in (%llu %% of the partition); the rest is the file system's reserve and overhead, so lower rate_percent below that",
			(unsigned long long)p->params->rate_percent,
			(unsigned long long)bytes,
			(unsigned long long)p->valid_bytes,
			(unsigned long long)(p->valid_bytes * 100 /
					     p->params->partition_bytes));
	if (result || !p->params->file_bytes)
		return result;
	p->invalid_present = true;
	return write_limited(p, LAB_FILE_INVALID, CONTENT_INVALID,
			     &p->invalid_bytes, error);
}

static int make_state(struct preparation *p, struct ffs_error *error)
{
	switch (p->params->state) {
	case PREPARE_FREE:
		return 0;
	case PREPARE_AGED:
		return make_aged(p, error);
	case PREPARE_SATURATED:
		return make_saturated(p, error);
	case PREPARE_FILLED:
		return make_filled(p, error);
	}
	return 0;
}

static int make_all(struct preparation *p, struct ffs_error *error)
{
	bool in_its_place = p->params->state == PREPARE_SATURATED ||
			    p->params->state == PREPARE_FILLED;

	if (make_state(p, error))
		return -1;
	if (p->params->test_file) {
		if (in_its_place && remove_invalid(p, error))
			return -1;
		if (write_limited(p, LAB_FILE_TEST, CONTENT_TEST,
				  &p->file_bytes, error))
			return -1;
	}
	return sync_filesystem(p->params->dir, error);
}

/* --- the step ------------------------------------------------------------ */

static void put_prepared(const struct preparation *p, struct record_sink *sink)
{
	record_begin(sink, "prepared");
	record_string(sink, "state", prepare_state_names[p->params->state]);
	record_number(sink, "valid_bytes", p->valid_bytes);
	record_number(sink, "invalid_bytes", p->invalid_bytes);
	record_number(sink, "invalid_present", p->invalid_present);
	record_number(sink, "file_bytes", p->file_bytes);
	record_number(sink, "capacity_bytes", p->capacity_bytes);
	record_end(sink);
}

static int run_phase(struct preparation *p, const struct flash_monitor *monitor,
		     struct record_sink *sink, struct ffs_error *error)
{
	const struct phase_site site = {
		.root = p->params->dir, .monitor = monitor,
	};
	int result;

	if (phase_begin(&p->phase, &site, error))
		return -1;
	result = make_all(p, error);
	phase_stop(&p->phase);
	result = phase_end(&p->phase, &site, result, error);
	phase_record(&p->phase, WORKLOAD, "prepare", NULL, sink);
	put_prepared(p, sink);
	return result;
}

int prepare_run(const struct prepare_params *params,
		const struct flash_monitor *monitor,
		struct record_sink *sink, struct ffs_error *error)
{
	struct preparation *p = calloc(1, sizeof(*p));
	int result;

	if (!p)
		return ffs_fail(error, ENOMEM, "no memory for the preparation");
	p->params = params;
	p->buffer = malloc(params->unit_bytes);
	if (!p->buffer)
		result = ffs_fail(error, ENOMEM,
			"no memory for units of %llu bytes; lower unit_bytes",
			(unsigned long long)params->unit_bytes);
	else if (content_source_init(&p->test_source, &params->contents, error))
		result = -1;
	else
		result = run_phase(p, monitor, sink, error);
	phase_free(&p->phase);
	content_source_free(&p->test_source);
	free(p->buffer);
	free(p);
	return result;
}
