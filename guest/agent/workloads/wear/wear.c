// SPDX-License-Identifier: GPL-2.0-only
/*
 * wear.c - see wear.h.
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
#include "core/files.h"
#include "core/random.h"
#include "measure/phase.h"
#include "workloads/wear/grown.h"
#include "workloads/wear/wear.h"

#define WORKLOAD "wear"
#define STATIC_NAME "ffslab.static"
#define FILE_NAME "ffslab.wear"
#define BLOCKS_LIMIT ((size_t)64 << 20)
#define LOOK_BYTES 131072u

enum { PHASE_STATIC, PHASE_WRITE, PHASE_VERIFY, PHASES };

static const char *const phase_names[PHASES] = {
	[PHASE_STATIC] = "static",
	[PHASE_WRITE] = "write",
	[PHASE_VERIFY] = "verify",
};

struct wear {
	const struct wear_params *params;
	struct phase_site site;
	struct record_sink *sink;
	struct flash_snapshot snapshot;	/* at a volume */
	char static_path[PATH_MAX], file_path[PATH_MAX];
	char blocks_path[PATH_MAX];	/* of the chip; "": nobody counts */
	unsigned char *buffer;
	struct content_source source;
	uint64_t written;		/* of the file, over all times */
	uint64_t looked;		/* at grown bad blocks, when so much was */
	uint64_t files;			/* written whole, and deleted */
	unsigned int generation;	/* of what is written next */
	size_t volume;			/* the next one */
	struct rng rng;			/* places of pattern overwrite */
	struct grown grown;
	struct phase phases[PHASES];
};

/* The chip's file of blocks is beside that of its counters. */
static void find_blocks(struct wear *wear)
{
	const char *chip = wear->site.monitor ? wear->site.monitor->chip : "";
	const char *name = strrchr(chip, '/');

	if (name)
		snprintf(wear->blocks_path, sizeof(wear->blocks_path),
			 "%.*s/blocks", (int)(name - chip), chip);
}

/* The first number of each line: the block's erases. */
static int report_chip(struct wear *wear, const char *label,
		       struct ffs_error *error)
{
	char *text, *line;

	if (!*wear->blocks_path)
		return 0;
	text = file_read(wear->blocks_path, BLOCKS_LIMIT, NULL, error);
	if (!text)
		return -1;
	record_begin(wear->sink, "chip-blocks");
	record_string(wear->sink, "label", label);
	record_open(wear->sink, "erases", '[');
	for (line = text; *line; ) {
		char *end = strchr(line, '\n');

		record_item(wear->sink, strtoull(line, NULL, 10));
		if (!end)
			break;
		line = end + 1;
	}
	record_close(wear->sink, ']');
	record_end(wear->sink);
	free(text);
	return 0;
}

/* What the blocks look like now.  @what: the label, with the bytes behind it. */
static int note_blocks(struct wear *wear, const char *what, uint64_t written,
		       struct ffs_error *error)
{
	char label[32];

	snprintf(label, sizeof(label), "%s:%llu", what,
		 (unsigned long long)written);
	if (snapshot_after(&wear->snapshot, wear->site.monitor, error))
		return -1;
	snapshot_record(&wear->snapshot, label, wear->sink);
	return report_chip(wear, label, error);
}

/* The first grown bad block is noted like a volume. */
static int look_for_grown(struct wear *wear, struct ffs_error *error)
{
	if (!grown_look(&wear->grown, wear->written) || wear->grown.n > 1)
		return 0;
	return note_blocks(wear, "grown", wear->written, error);
}

static int write_piece(int fd, const unsigned char *data, size_t bytes,
		       const char *path, struct ffs_error *error)
{
	while (bytes) {
		ssize_t n = write(fd, data, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return ffs_fail(error, n ? errno : EIO,
					"cannot write %s", path);
		data += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* What has been written of the file: count it, and look at the blocks at times. */
static int count_piece(struct wear *wear, uint64_t bytes,
		       struct ffs_error *error)
{
	wear->written += bytes;
	if (wear->written - wear->looked < LOOK_BYTES)
		return 0;
	wear->looked = wear->written;
	return look_for_grown(wear, error);
}

static int sync_file(int fd, const char *path, struct ffs_error *error)
{
	return fsync(fd) ? ffs_fail(error, errno, "cannot sync %s", path) : 0;
}

/* A piece at the file's offset.  @id: the phase that counts it. */
static int put_piece(struct wear *wear, int id, int fd, const char *path,
		     size_t bytes, struct ffs_error *error)
{
	bool synced = id == PHASE_WRITE &&
		      wear->params->pattern != WEAR_REWRITE;

	if (write_piece(fd, wear->buffer, bytes, path, error))
		return -1;
	wear->phases[id].bytes_written += bytes;
	if (synced && sync_file(fd, path, error))
		return -1;
	return id == PHASE_WRITE ? count_piece(wear, bytes, error) : 0;
}

/* Write one file and sync it.  @id: the phase that counts it. */
static int write_file(struct wear *wear, int id, const char *path,
		      const struct content *content, uint64_t bytes,
		      struct ffs_error *error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	uint64_t at = 0;
	int result = 0;

	if (fd < 0)
		return ffs_fail(error, errno, "cannot create %s", path);
	wear->phases[id].files_created++;
	while (at < bytes && !result) {
		uint64_t left = bytes - at;
		size_t piece = left < wear->params->unit_bytes ?
			       left : wear->params->unit_bytes;

		content_fill(content, at, wear->buffer, piece);
		result = put_piece(wear, id, fd, path, piece, error);
		at += piece;
	}
	if (!result)
		result = sync_file(fd, path, error);
	close(fd);
	return result;
}

static int write_static(struct wear *wear, struct ffs_error *error)
{
	struct content content;

	if (wear->params->static_bytes) {
		content_init(&content, &wear->source, wear->params->seed,
			     CONTENT_VALID, 0);
		if (write_file(wear, PHASE_STATIC, wear->static_path, &content,
			       wear->params->static_bytes, error))
			return -1;
	}
	return sync_filesystem(wear->params->dir, error);
}

/* A file of its own; of the next volume no more than @left is missing. */
static int write_next(struct wear *wear, uint64_t left, struct ffs_error *error)
{
	const struct wear_params *params = wear->params;
	struct content content;

	content_init(&content, &wear->source, params->seed, CONTENT_TEST,
		     wear->generation++);
	return write_file(wear, PHASE_WRITE, wear->file_path, &content,
			  left < params->file_bytes ? left : params->file_bytes,
			  error);
}

static int delete_file(struct wear *wear, struct ffs_error *error)
{
	if (unlink(wear->file_path))
		return ffs_fail(error, errno, "cannot delete %s",
				wear->file_path);
	wear->phases[PHASE_WRITE].files_deleted++;
	wear->files++;
	return 0;
}

/* Pieces of the file that is there, at random, until @left is written. */
static int overwrite(struct wear *wear, uint64_t left, struct ffs_error *error)
{
	const struct wear_params *params = wear->params;
	uint64_t pieces = params->file_bytes / params->unit_bytes;
	int fd = open(wear->file_path, O_WRONLY | O_CLOEXEC);
	struct content content;
	int result = 0;

	if (fd < 0)
		return ffs_fail(error, errno, "cannot open %s", wear->file_path);
	while (left && !result) {
		uint64_t at = rng_below(&wear->rng, pieces) * params->unit_bytes;
		size_t piece = left < params->unit_bytes ? left :
			       params->unit_bytes;

		content_init(&content, &wear->source, params->seed,
			     CONTENT_TEST, wear->generation++);
		content_fill(&content, at, wear->buffer, piece);
		if (lseek(fd, (off_t)at, SEEK_SET) < 0)
			result = ffs_fail(error, errno, "cannot seek in %s",
					  wear->file_path);
		else
			result = put_piece(wear, PHASE_WRITE, fd,
					   wear->file_path, piece, error);
		left -= piece;
	}
	close(fd);
	return result;
}

/* The last file before a volume ends with it. */
static int write_some(struct wear *wear, uint64_t left, struct ffs_error *error)
{
	bool stays = wear->params->pattern == WEAR_OVERWRITE;

	if (stays && wear->written >= wear->params->file_bytes)
		return overwrite(wear, left, error);
	if (write_next(wear, left, error))
		return -1;
	return stays ? 0 : delete_file(wear, error);
}

static int write_over(struct wear *wear, struct ffs_error *error)
{
	const struct wear_params *params = wear->params;

	while (wear->volume < params->n_volumes) {
		uint64_t volume = params->volumes[wear->volume];

		if (write_some(wear, volume - wear->written, error))
			return -1;
		if (wear->written < volume)
			continue;
		wear->volume++;
		if (sync_filesystem(params->dir, error) ||
		    look_for_grown(wear, error) ||
		    note_blocks(wear, "written", volume, error))
			return -1;
	}
	return 0;
}

static int verify_static(struct wear *wear, struct ffs_error *error)
{
	const struct wear_params *params = wear->params;
	struct content both[2];
	uint64_t at = 0, wrong_at = 0;
	int fd, result = 0;

	fd = open(wear->static_path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ffs_fail(error, errno, "cannot open %s",
				wear->static_path);
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	content_init(&both[0], &wear->source, params->seed, CONTENT_VALID, 0);
	both[1] = both[0];
	while (at < params->static_bytes && !result) {
		uint64_t left = params->static_bytes - at;
		ssize_t n = read(fd, wear->buffer, left < params->unit_bytes ?
				 left : params->unit_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			result = ffs_fail(error, n ? errno : EBADMSG,
				"cannot read %s at byte %llu",
				wear->static_path, (unsigned long long)at);
		else if (!content_check(both, at, wear->buffer, (size_t)n,
					false, &wrong_at))
			result = ffs_fail(error, EBADMSG,
				"%s is not what was written from byte %llu on",
				wear->static_path,
				(unsigned long long)wrong_at);
		if (result)
			break;
		at += (uint64_t)n;
		wear->phases[PHASE_VERIFY].bytes_read += (uint64_t)n;
	}
	close(fd);
	return result;
}

static int run_phase(struct wear *wear, int id,
		     int (*body)(struct wear *wear, struct ffs_error *error),
		     struct ffs_error *error)
{
	struct phase *phase = &wear->phases[id];
	int result;

	if (phase_begin(phase, &wear->site, error))
		return -1;
	result = body(wear, error);
	phase_stop(phase);
	result = phase_end(phase, &wear->site, result, error);
	phase_record(phase, WORKLOAD, phase_names[id], NULL, wear->sink);
	return result;
}

static void report_wear(const struct wear *wear, int errnum)
{
	record_begin(wear->sink, "wear");
	record_number(wear->sink, "asked",
		      wear->params->volumes[wear->params->n_volumes - 1]);
	record_number(wear->sink, "written", wear->written);
	record_number(wear->sink, "files", wear->files);
	record_string(wear->sink, "stopped", ffs_errno_name(errnum));
	record_end(wear->sink);
}

static int run_phases(struct wear *wear, struct ffs_error *error)
{
	struct ffs_error wrong;
	int result;

	if (run_phase(wear, PHASE_STATIC, write_static, error) ||
	    report_chip(wear, "static", error))
		return -1;
	grown_open(&wear->grown, wear->site.monitor);
	result = run_phase(wear, PHASE_WRITE, write_over, error);
	(void)grown_look(&wear->grown, wear->written);
	grown_record(&wear->grown, wear->sink);
	grown_close(&wear->grown);
	if (result && wear->volume < wear->params->n_volumes)
		(void)report_chip(wear, "end", &wrong);
	report_wear(wear, result ? error->errnum : 0);
	if (wear->params->static_bytes &&
	    run_phase(wear, PHASE_VERIFY, verify_static, &wrong)) {
		*error = wrong;
		result = -1;
	}
	return result;
}

static int reserve(struct wear *wear, struct ffs_error *error)
{
	const char *dir = wear->params->dir;
	int i;

	snprintf(wear->static_path, PATH_MAX, "%s/" STATIC_NAME, dir);
	snprintf(wear->file_path, PATH_MAX, "%s/" FILE_NAME, dir);
	find_blocks(wear);
	wear->buffer = malloc(wear->params->unit_bytes);
	if (!wear->buffer)
		return ffs_fail(error, ENOMEM, "no memory for a piece of the file");
	if (content_source_init(&wear->source, &wear->params->contents, error))
		return -1;
	for (i = 0; i < PHASES; i++)
		if (phase_reserve(&wear->phases[i], &wear->site, error))
			return -1;
	return 0;
}

int wear_run(const struct wear_params *params,
	     const struct flash_monitor *monitor,
	     struct record_sink *sink, struct ffs_error *error)
{
	struct wear *wear = calloc(1, sizeof(*wear));
	int result = -1, i;

	if (!wear)
		return ffs_fail(error, ENOMEM, "no memory for the workload");
	wear->params = params;
	wear->sink = sink;
	rng_seed(&wear->rng, params->seed);
	wear->site.root = params->dir;
	wear->site.monitor = monitor;
	if (!reserve(wear, error))
		result = run_phases(wear, error);
	for (i = 0; i < PHASES; i++)
		phase_free(&wear->phases[i]);
	snapshot_free(&wear->snapshot);
	content_source_free(&wear->source);
	free(wear->buffer);
	free(wear);
	return result;
}
