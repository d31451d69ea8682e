// SPDX-License-Identifier: GPL-2.0-only
/*
 * lines.c - see lines.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "workloads/append_log/lines.h"

#define PERIOD ((size_t)256 << 10)
#define NUMBER_DIGITS 10

int log_lines_init(struct log_lines *lines,
		   const struct append_log_params *params,
		   struct ffs_error *error)
{
	size_t bytes = PERIOD + params->line_bytes, i;

	lines->seed = params->seed;
	lines->line_bytes = params->line_bytes;
	lines->text = malloc(bytes);
	if (!lines->text)
		return ffs_fail(error, ENOMEM,
			"no memory for the text of %zu bytes", bytes);
	if (content_stock(&params->contents, rng_mix(params->seed),
			  params->line_bytes, lines->text, bytes, error)) {
		log_lines_free(lines);
		return -1;
	}
	/* Contents come with line feeds, and a line has one, at its end. */
	for (i = 0; i < bytes; i++)
		if (lines->text[i] == '\n')
			lines->text[i] = ' ';
	return 0;
}

void log_lines_free(struct log_lines *lines)
{
	free(lines->text);
	lines->text = NULL;
}

void log_line(const struct log_lines *lines, uint64_t number,
	      unsigned char *out)
{
	uint64_t window = rng_mix(lines->seed ^ rng_mix(number)) % PERIOD;
	uint64_t left = number;
	int i;

	memcpy(out, lines->text + window, lines->line_bytes - 1);
	for (i = NUMBER_DIGITS - 1; i >= 0; i--) {
		out[i] = (unsigned char)('0' + left % 10);
		left /= 10;
	}
	out[NUMBER_DIGITS] = ' ';
	out[lines->line_bytes - 1] = '\n';
}

uint64_t log_line_equal(const struct log_lines *lines, uint64_t number,
			const unsigned char *found, unsigned char *scratch)
{
	uint64_t equal = 0;

	log_line(lines, number, scratch);
	while (equal < lines->line_bytes && found[equal] == scratch[equal])
		equal++;
	return equal;
}

uint64_t log_file_lines(const struct append_log_params *params)
{
	return params->rotate_bytes ?
	       params->rotate_bytes / params->line_bytes : UINT64_MAX;
}

uint64_t log_files_kept(const struct append_log_params *params,
			uint64_t rotations)
{
	return rotations < params->keep ? rotations : params->keep;
}

struct log_part log_part(const struct append_log_params *params, uint64_t file,
			 uint64_t rotations, uint64_t done)
{
	struct log_part part = { .first = 0, .count = done };

	if (rotations) {
		part.count = log_file_lines(params);
		part.first = (rotations - file) * part.count;
	}
	if (!file)
		part.count = done - part.first;
	return part;
}

bool log_sync_due(const struct append_log_params *params, uint64_t unsynced)
{
	return params->fsync_every && unsynced >= params->fsync_every;
}
