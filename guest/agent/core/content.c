// SPDX-License-Identifier: GPL-2.0-only
/*
 * content.c - see content.h.
 */
#include <endian.h>
#include <string.h>

#include "core/content.h"
#include "core/random.h"

#define GOLDEN_GAMMA 0x9e3779b97f4a7c15u
#define SECTOR_WORDS (CONTENT_SECTOR_BYTES / sizeof(uint64_t))

void content_init(struct content *content, uint64_t seed,
		  enum content_file file, unsigned int generation)
{
	uint64_t key = rng_mix(seed + GOLDEN_GAMMA);

	key = rng_mix(key + (uint64_t)file + 1);
	content->key = rng_mix(key + generation + 1);
}

static void make_sector(const struct content *content, uint64_t number,
			unsigned char *out)
{
	uint64_t state = rng_mix(content->key + number * GOLDEN_GAMMA);
	size_t i;

	for (i = 0; i < SECTOR_WORDS; i++) {
		uint64_t word;

		state += GOLDEN_GAMMA;
		word = htole64(rng_mix(state));
		memcpy(out + i * sizeof(word), &word, sizeof(word));
	}
}

/* How much of @bytes lies in the sector that holds @offset. */
static size_t piece_bytes(uint64_t offset, size_t bytes)
{
	size_t left = CONTENT_SECTOR_BYTES -
		      (size_t)(offset % CONTENT_SECTOR_BYTES);

	return left < bytes ? left : bytes;
}

void content_fill(const struct content *content, uint64_t offset,
		  void *buffer, size_t bytes)
{
	unsigned char sector[CONTENT_SECTOR_BYTES], *out = buffer;

	while (bytes) {
		size_t piece = piece_bytes(offset, bytes);
		uint64_t number = offset / CONTENT_SECTOR_BYTES;

		if (piece == CONTENT_SECTOR_BYTES) {
			make_sector(content, number, out);
		} else {
			make_sector(content, number, sector);
			memcpy(out, sector + offset % CONTENT_SECTOR_BYTES,
			       piece);
		}
		out += piece;
		offset += piece;
		bytes -= piece;
	}
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
	unsigned char sectors[2][CONTENT_SECTOR_BYTES];
	uint64_t number = offset / CONTENT_SECTOR_BYTES;
	size_t start = (size_t)(offset % CONTENT_SECTOR_BYTES);
	size_t right[2];

	make_sector(&generations[0], number, sectors[0]);
	right[0] = equal_bytes(sectors[0] + start, found, bytes);
	if (right[0] == bytes)
		return bytes;
	make_sector(&generations[1], number, sectors[1]);
	if (mixed)
		return equal_mixed(sectors[0] + start, sectors[1] + start,
				   found, bytes);
	right[1] = equal_bytes(sectors[1] + start, found, bytes);
	return right[0] > right[1] ? right[0] : right[1];
}

bool content_check(const struct content generations[2], uint64_t offset,
		   const void *buffer, size_t bytes, bool mixed,
		   uint64_t *wrong_at)
{
	const unsigned char *found = buffer;

	while (bytes) {
		size_t piece = piece_bytes(offset, bytes);
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
