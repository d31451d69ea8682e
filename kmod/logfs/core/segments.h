/* SPDX-License-Identifier: GPL-2.0-only */
/* What is known of each segment: segments.c. */
#ifndef LOGFS_SEGMENTS_H
#define LOGFS_SEGMENTS_H

#include "device.h"

/* As of the last commit. */
int logfs_segment_entry(struct logfs_device *dev, u32 segno,
			struct logfs_segment_entry *e);
int logfs_segment_set(struct logfs_device *dev, u32 segno,
		      const struct logfs_segment_entry *e);
/* As of now: bytes that are valid. */
int logfs_segment_valid(struct logfs_device *dev, u32 segno, s64 *valid_bytes);
/* A commit takes what has changed over into the segment file. */
int logfs_segments_book(struct logfs_device *dev);
/* The commit is on flash: what it made free may be erased. */
int logfs_segments_booked(struct logfs_device *dev);
/* How many segments a commit would make free. */
int logfs_segments_soon_free(struct logfs_device *dev, u32 *n);
/* Looks at the next segments for candidates. */
int logfs_segments_scan(struct logfs_device *dev);

#endif
