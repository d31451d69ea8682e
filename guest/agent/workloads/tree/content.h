/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * content.h - what is in the files of a generated tree.
 *
 * A function of the file's key, its size and the position, so any piece can be
 * made and checked without the rest:
 *
 * - random: any bytes, which no compressor can shorten (core/content.h);
 * - text: English words drawn by a Zipf-like law, with spaces, commas, stops
 *   and line ends.  It compresses as prose does;
 * - compressible: of each sector of 512 bytes, so much at its end is one byte
 *   repeated as the percentage says, the rest is random.  So every compressor
 *   that knows repetitions saves about that share, in pieces of any size.
 *
 * All of them make some hundreds of megabytes a second or more.
 */
#ifndef FFSAGENT_TREE_CONTENT_H
#define FFSAGENT_TREE_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

enum tree_content_kind {
	TREE_CONTENT_RANDOM,
	TREE_CONTENT_TEXT,
	TREE_CONTENT_COMPRESSIBLE,
};

/* The names in plans, by enum tree_content_kind; ends at NULL. */
extern const char *const tree_content_names[];

struct word_table;

struct tree_content {
	enum tree_content_kind kind;
	unsigned int saving_percent;	/* compressible */
	struct word_table *words;	/* text */
};

/** tree_content_init() - allocates what ->kind needs. */
int tree_content_init(struct tree_content *content,
		      enum tree_content_kind kind, unsigned int saving_percent,
		      struct ffs_error *error);
void tree_content_free(struct tree_content *content);

/**
 * tree_content_fill() - the bytes of a file from @offset on.
 * @key: of the file.
 * @file_bytes: its size; @offset + @bytes is not above it.
 */
void tree_content_fill(const struct tree_content *content, uint64_t key,
		       uint64_t file_bytes, uint64_t offset, void *buffer,
		       size_t bytes);

#endif
