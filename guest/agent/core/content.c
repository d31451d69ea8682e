// SPDX-License-Identifier: GPL-2.0-only
/*
 * content.c - see content.h.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/content.h"
#include "core/random.h"
#include "core/words.h"

#define GOLDEN_GAMMA 0x9e3779b97f4a7c15u
#define SECTOR_WORDS (CONTENT_SECTOR_BYTES / sizeof(uint64_t))
/* Text begins anew after so many bytes, so that any piece can be made. */
#define TEXT_BLOCK_BYTES 4096

const char *const content_kind_names[] = {
	[CONTENT_RANDOM] = "random",
	[CONTENT_ZEROS] = "zeros",
	[CONTENT_PRINTABLE] = "printable",
	[CONTENT_TEXT] = "text",
	[CONTENT_COMPRESSIBLE] = "compressible",
	NULL,
};

const struct content_source content_random;

/* --- kinds --------------------------------------------------------------- */

int content_choice_check(const struct content_choice *choice,
			 struct ffs_error *error)
{
	if (!choice->saving_percent || choice->kind == CONTENT_COMPRESSIBLE)
		return 0;
	return ffs_fail(error, 0,
		"compressibility_percent is of contents=compressible, not of %s; leave it out",
		content_kind_names[choice->kind]);
}

int content_source_init(struct content_source *source,
			const struct content_choice *choice,
			struct ffs_error *error)
{
	*source = (struct content_source) { .choice = *choice };
	if (choice->kind != CONTENT_TEXT)
		return 0;
	source->words = malloc(sizeof(*source->words));
	if (!source->words)
		return ffs_fail(error, ENOMEM, "no memory for a list of words");
	words_init(source->words);
	return 0;
}

void content_source_free(struct content_source *source)
{
	free(source->words);
	source->words = NULL;
}

static size_t smaller(uint64_t a, uint64_t b)
{
	return (size_t)(a < b ? a : b);
}

/* Any byte becomes one of the 95 printable characters of ASCII. */
static void make_printable(unsigned char *data, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		data[i] = (unsigned char)(' ' + data[i] * 95 / 256);
}

/*
 * Write the repeated byte over the ends of sectors.
 * @sector_bytes: of each but the last, which ends at @end.
 */
static void repeat(const struct content_choice *choice, uint64_t key,
		   size_t sector_bytes, uint64_t end, uint64_t offset,
		   unsigned char *out, size_t bytes)
{
	while (bytes) {
		size_t skip = (size_t)(offset % sector_bytes);
		/* The last sector of a file is short, and so are small files. */
		size_t sector = smaller(end - (offset - skip), sector_bytes);
		size_t piece = smaller(bytes, sector - skip);
		size_t random = sector - sector * choice->saving_percent / 100;

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

/* --- files --------------------------------------------------------------- */

void content_init(struct content *content, const struct content_source *source,
		  uint64_t seed, enum content_file file,
		  unsigned int generation)
{
	uint64_t key = rng_mix(seed + GOLDEN_GAMMA);

	key = rng_mix(key + (uint64_t)file + 1);
	*content = (struct content) {
		.source = source,
		.key = rng_mix(key + generation + 1),
		.file_bytes = UINT64_MAX,
	};
}

static void make_sector(uint64_t key, uint64_t number, unsigned char *out)
{
	uint64_t state = rng_mix(key + number * GOLDEN_GAMMA);
	size_t i;

	for (i = 0; i < SECTOR_WORDS; i++) {
		uint64_t word;

		state += GOLDEN_GAMMA;
		word = htole64(rng_mix(state));
		memcpy(out + i * sizeof(word), &word, sizeof(word));
	}
}

/* How much of @bytes lies in the unit of @unit_bytes that holds @offset. */
static size_t piece_bytes(uint64_t offset, size_t bytes, size_t unit_bytes)
{
	return smaller(bytes, unit_bytes - (size_t)(offset % unit_bytes));
}

static void fill_random(uint64_t key, uint64_t offset, unsigned char *out,
			size_t bytes)
{
	unsigned char sector[CONTENT_SECTOR_BYTES];

	while (bytes) {
		size_t piece = piece_bytes(offset, bytes, CONTENT_SECTOR_BYTES);
		uint64_t number = offset / CONTENT_SECTOR_BYTES;

		if (piece == CONTENT_SECTOR_BYTES) {
			make_sector(key, number, out);
		} else {
			make_sector(key, number, sector);
			memcpy(out, sector + offset % CONTENT_SECTOR_BYTES,
			       piece);
		}
		out += piece;
		offset += piece;
		bytes -= piece;
	}
}

static void fill_text(const struct word_table *words, uint64_t key,
		      uint64_t offset, unsigned char *out, size_t bytes)
{
	while (bytes) {
		size_t piece = piece_bytes(offset, bytes, TEXT_BLOCK_BYTES);
		uint64_t number = offset / TEXT_BLOCK_BYTES;

		words_fill(words, rng_mix(key + number * GOLDEN_GAMMA),
			   (size_t)(offset % TEXT_BLOCK_BYTES), out, piece);
		out += piece;
		offset += piece;
		bytes -= piece;
	}
}

void content_fill(const struct content *content, uint64_t offset,
		  void *buffer, size_t bytes)
{
	const struct content_choice *choice = &content->source->choice;

	switch (choice->kind) {
	case CONTENT_ZEROS:
		memset(buffer, 0, bytes);
		return;
	case CONTENT_TEXT:
		fill_text(content->source->words, content->key, offset, buffer,
			  bytes);
		return;
	default:
		fill_random(content->key, offset, buffer, bytes);
	}
	if (choice->kind == CONTENT_PRINTABLE)
		make_printable(buffer, bytes);
	else if (choice->kind == CONTENT_COMPRESSIBLE)
		repeat(choice, content->key, CONTENT_SECTOR_BYTES,
		       content->file_bytes, offset, buffer, bytes);
}

/* Return: how many bytes from the start on are as wanted. */
static size_t equal_bytes(const unsigned char *wanted,
			  const unsigned char *found, size_t bytes)
{
	size_t i = 0;

	if (!memcmp(wanted, found, bytes))
		return bytes;
	while (wanted[i] == found[i])
		i++;
	return i;
}

/* As above; a byte may be of either generation. */
static size_t equal_mixed(const unsigned char *one, const unsigned char *other,
			  const unsigned char *found, size_t bytes)
{
	size_t i = 0;

	while (i < bytes && (found[i] == one[i] || found[i] == other[i]))
		i++;
	return i;
}

/* Check a piece of one sector; Return: how many bytes are right. */
static size_t check_piece(const struct content generations[2], uint64_t offset,
			  const unsigned char *found, size_t bytes, bool mixed)
{
	unsigned char wanted[2][CONTENT_SECTOR_BYTES];
	size_t right[2];

	content_fill(&generations[0], offset, wanted[0], bytes);
	right[0] = equal_bytes(wanted[0], found, bytes);
	if (right[0] == bytes)
		return bytes;
	content_fill(&generations[1], offset, wanted[1], bytes);
	if (mixed)
		return equal_mixed(wanted[0], wanted[1], found, bytes);
	right[1] = equal_bytes(wanted[1], found, bytes);
	return right[0] > right[1] ? right[0] : right[1];
}

bool content_check(const struct content generations[2], uint64_t offset,
		   const void *buffer, size_t bytes, bool mixed,
		   uint64_t *wrong_at)
{
	const unsigned char *found = buffer;

	while (bytes) {
		size_t piece = piece_bytes(offset, bytes, CONTENT_SECTOR_BYTES);
		size_t right = check_piece(generations, offset, found, piece,
					   mixed);

		if (right < piece) {
			*wrong_at = offset + right;
			return false;
		}
		found += piece;
		offset += piece;
		bytes -= piece;
	}
	return true;
}

/* --- pieces -------------------------------------------------------------- */

int content_stock(const struct content_choice *choice, uint64_t key,
		  size_t piece_bytes, unsigned char *out, size_t bytes,
		  struct ffs_error *error)
{
	struct content_source source;
	struct rng rng;

	if (content_source_init(&source, choice, error))
		return -1;
	if (choice->kind == CONTENT_TEXT) {
		words_fill(source.words, key, 0, out, bytes);
	} else if (choice->kind == CONTENT_ZEROS) {
		memset(out, 0, bytes);
	} else {
		rng_seed(&rng, key);
		rng_fill(&rng, out, bytes);
	}
	if (choice->kind == CONTENT_PRINTABLE)
		make_printable(out, bytes);
	else if (choice->kind == CONTENT_COMPRESSIBLE)
		repeat(choice, key, smaller(piece_bytes, CONTENT_SECTOR_BYTES),
		       UINT64_MAX, 0, out, bytes);
	content_source_free(&source);
	return 0;
}
