/* SPDX-License-Identifier: GPL-2.0-only */
/* What a test of the format sees: the codecs, and what all such tests share. */
#ifndef LOGFS_TEST_HARNESS_H
#define LOGFS_TEST_HARNESS_H

#include "../../test/harness.h"
#include "../format/codec.h"

/* Puts the CRC of @n bytes at @from to @at. */
static __maybe_unused void sign(void *bytes, u32 at, u32 from, u32 n)
{
	put_be(bytes, at, 4, logfs_crc((u8 *)bytes + from, n));
}

/* A superblock as mkfs makes it: 1024 segments of 128 KiB, write units of 2 KiB. */
static __maybe_unused struct logfs_super a_super(void)
{
	return (struct logfs_super){
		.segment = { .type = 1, .ec = 1, .gec = 0x1001 },
		.ifile_levels = 3, .iblock_levels = 4, .segment_shift = 17,
		.write_shift = 11, .segment_bytes = 1 << 17,
		.n_segments = 1024, .bad_reserve = 4,
		.compat = 0x30, .flags = 0x40, .root_reserve = 0x50000,
		.speed_reserve = 0x60000, .n_journal = 4,
		.journal = { 1, 2, 3, 4 },
		.super_at = { 0, (1024ull << 17) - 4096 },
	};
}

#endif
