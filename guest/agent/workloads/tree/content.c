// SPDX-License-Identifier: GPL-2.0-only
/*
 * content.c - see content.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/content.h"
#include "core/random.h"
#include "core/words.h"
#include "workloads/tree/content.h"

/* Text begins anew after so many bytes, so that any piece can be made. */
#define TEXT_BLOCK_BYTES 4096
#define GOLDEN_GAMMA 0x9e3779b97f4a7c15u

const char *const tree_content_names[] = {
	[TREE_CONTENT_RANDOM] = "random",
	[TREE_CONTENT_TEXT] = "text",
	[TREE_CONTENT_COMPRESSIBLE] = "compressible",
	NULL,
};

int tree_content_init(struct tree_content *content,
		      enum tree_content_kind kind, unsigned int saving_percent,
		      struct ffs_error *error)
{
	content->kind = kind;
	content->saving_percent = saving_percent;
	content->words = NULL;
	if (kind != TREE_CONTENT_TEXT)
		return 0;
	content->words = malloc(sizeof(*content->words));
	if (!content->words)
		return ffs_fail(error, ENOMEM, "no memory for a list of words");
	words_init(content->words);
	return 0;
}

void tree_content_free(struct tree_content *content)
{
	free(content->words);
	content->words = NULL;
}

static size_t smaller(uint64_t a, uint64_t b)
{
	return (size_t)(a < b ? a : b);
}

static void fill_text(const struct tree_content *content, uint64_t key,
		      uint64_t offset, unsigned char *out, size_t bytes)
{
	unsigned char block[TEXT_BLOCK_BYTES + WORDS_SLACK];

	while (bytes) {
		size_t skip = (size_t)(offset % TEXT_BLOCK_BYTES);
		size_t piece = smaller(bytes, TEXT_BLOCK_BYTES - skip);
		uint64_t number = offset / TEXT_BLOCK_BYTES;

		words_fill(content->words,
			   rng_mix(key + number * GOLDEN_GAMMA), block,
			   skip + piece);
		memcpy(out, block + skip, piece);
		out += piece;
		offset += piece;
		bytes -= piece;
	}
}

/* Write the repeated byte over the ends of the sectors. */
static void repeat(const struct tree_content *content, uint64_t key,
		   uint64_t file_bytes, uint64_t offset, unsigned char *out,
		   size_t bytes)
{
	while (bytes) {
		size_t skip = (size_t)(offset % CONTENT_SECTOR_BYTES);
		uint64_t start = offset - skip;
		/* The last sector of a file is short, and so are small files. */
		size_t sector = smaller(file_bytes - start,
					CONTENT_SECTOR_BYTES);
		size_t piece = smaller(bytes, sector - skip);
		size_t random = sector -
				sector * content->saving_percent / 100;

		if (skip + piece > random) {
			size_t from = skip > random ? skip : random;

			memset(out + (from - skip), (int)(key & 0xff),
			       skip + piece - from);
		}
		out += piece;
		offset += piece;
		bytes -= piece;
	}
}

void tree_content_fill(const struct tree_content *content, uint64_t key,
		       uint64_t file_bytes, uint64_t offset, void *buffer,
		       size_t bytes)
{
	const struct content random = { .key = key };

	if (content->kind == TREE_CONTENT_TEXT) {
		fill_text(content, key, offset, buffer, bytes);
		return;
	}
	content_fill(&random, offset, buffer, bytes);
	if (content->kind == TREE_CONTENT_COMPRESSIBLE)
		repeat(content, key, file_bytes, offset, buffer, bytes);
}
