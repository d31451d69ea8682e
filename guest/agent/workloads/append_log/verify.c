// SPDX-License-Identifier: GPL-2.0-only
/*
 * verify.c - see verify.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/append_log/verify.h"

struct reader {
	const struct log_lines *lines;
	const char *path;
	FILE *stream;
	unsigned char *line, *scratch;
	uint64_t *bytes_read;
};

int log_files_init(struct log_files *files,
		   const struct append_log_params *params,
		   struct ffs_error *error)
{
	size_t room = strlen(params->dir) + sizeof("/log.") + 3;
	uint64_t i;

	files->n = params->keep + 2;
	files->paths = calloc(files->n, sizeof(*files->paths));
	for (i = 0; files->paths && i < files->n; i++) {
		files->paths[i] = malloc(room);
		if (!files->paths[i])
			break;
		if (i)
			snprintf(files->paths[i], room, "%s/log.%u",
				 params->dir, (unsigned int)i);
		else
			snprintf(files->paths[i], room, "%s/log", params->dir);
	}
	if (i == files->n)
		return 0;
	log_files_free(files);
	return ffs_fail(error, ENOMEM, "no memory for the names of the logs");
}

void log_files_free(struct log_files *files)
{
	uint64_t i;

	for (i = 0; files->paths && i < files->n; i++)
		free(files->paths[i]);
	free(files->paths);
	files->paths = NULL;
}

static int check_line(struct reader *r, uint64_t number,
		      struct ffs_error *error)
{
	uint64_t bytes = r->lines->line_bytes, equal;
	size_t n = fread(r->line, 1, bytes, r->stream);

	*r->bytes_read += n;
	if (n < bytes && ferror(r->stream))
		return ffs_fail(error, errno, "cannot read %s", r->path);
	if (n < bytes)
		return ffs_fail(error, EBADMSG,
			"%s ends within line %llu, after %zu of its %llu bytes",
			r->path, (unsigned long long)number, n,
			(unsigned long long)bytes);
	equal = log_line_equal(r->lines, number, r->line, r->scratch);
	if (equal == bytes)
		return 0;
	return ffs_fail(error, EBADMSG,
		"line %llu in %s is not what was written from its byte %llu on",
		(unsigned long long)number, r->path,
		(unsigned long long)equal);
}

/* @rest: what may follow the lines: less than so many bytes. */
static int check_part(struct reader *r, struct log_part part, uint64_t rest,
		      struct ffs_error *error)
{
	uint64_t i;
	size_t n;

	for (i = 0; i < part.count; i++)
		if (check_line(r, part.first + i, error))
			return -1;
	n = fread(r->line, 1, r->lines->line_bytes, r->stream);
	*r->bytes_read += n;
	if (n && n >= rest)
		return ffs_fail(error, EBADMSG,
			"%s goes on after line %llu, which was its last",
			r->path, (unsigned long long)(part.first + part.count));
	return 0;
}

static int check_file(struct reader *r, struct log_part part, uint64_t rest,
		      struct ffs_error *error)
{
	int result;

	r->stream = fopen(r->path, "re");
	if (!r->stream)
		return ffs_fail(error, errno == ENOENT ? EBADMSG : errno,
			"cannot open %s, which was written", r->path);
	(void)posix_fadvise(fileno(r->stream), 0, 0, POSIX_FADV_DONTNEED);
	result = check_part(r, part, rest, error);
	fclose(r->stream);
	return result;
}

int log_verify(const struct log_files *files, const struct log_lines *lines,
	       const struct append_log_params *params,
	       const struct log_written *written, uint64_t *bytes_read,
	       struct ffs_error *error)
{
	uint64_t kept = log_files_kept(params, written->rotations), i;
	unsigned char *buffer = malloc(2 * lines->line_bytes);
	struct reader r = {
		.lines = lines, .line = buffer, .bytes_read = bytes_read,
	};
	int result = 0;

	if (!buffer)
		return ffs_fail(error, ENOMEM, "no memory for two lines");
	r.scratch = buffer + lines->line_bytes;
	for (i = 0; i <= kept && !result; i++) {
		r.path = files->paths[i];
		result = check_file(&r, log_part(params, i, written->rotations,
						 written->done),
				    !i && written->cut ? lines->line_bytes : 0,
				    error);
	}
	free(buffer);
	return result;
}
