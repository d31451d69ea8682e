/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sectors.h - a file's contents as the CRCs of its sectors of 512 bytes.
 *
 * "CRC,CRC*N,!,!*N": equal neighbours are counted, "!" is a sector that cannot
 * be read.  The last sector may be shorter, which the file's size tells.
 */
#ifndef FFSCRASH_SECTORS_H
#define FFSCRASH_SECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/text.h"

#define SECTOR_BYTES 512

/* A list that is being written. */
struct sectors {
	struct text *text;
	uint32_t crc;		/* of the run that is not written yet */
	bool unreadable;	/* so are the run's sectors */
	uint64_t run;		/* how many; 0 before the first */
	bool any;		/* something has been written */
};

void sectors_begin(struct sectors *sectors, struct text *text);
void sectors_add(struct sectors *sectors, uint32_t crc);
void sectors_add_unreadable(struct sectors *sectors, uint64_t n);

/** sectors_end() - write the rest; "-" if there was no sector. */
void sectors_end(struct sectors *sectors);

/** sectors_of() - how many sectors @bytes take. */
static inline uint64_t sectors_of(uint64_t bytes)
{
	return bytes / SECTOR_BYTES + (bytes % SECTOR_BYTES != 0);
}

#endif
