/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * contents.h - what a history writes: bytes that say which write they are from.
 *
 * The byte at position p of a file is a function of the seed of the write that
 * put it there and of p alone, so that the host can tell of any 512 bytes whose
 * they are.  An odd seed gives what no compressor shortens, an even one repeats
 * each word of 8 bytes 8 times.
 */
#ifndef FFSCRASH_CONTENTS_H
#define FFSCRASH_CONTENTS_H

#include <stddef.h>
#include <stdint.h>

/** contents_fill() - the bytes of the file from @position on. */
void contents_fill(uint64_t seed, uint64_t position, void *buffer,
		   size_t bytes);

#endif
