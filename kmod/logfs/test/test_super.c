// SPDX-License-Identifier: GPL-2.0-only
/* The superblock, and the space and levels that follow from it. */

#include "harness.h"

/* Decodes a_super() with @n bytes at @at changed, and CRCs that are right. */
static int super_with(u32 at, u32 n, u64 value)
{
	const struct logfs_super s = a_super();
	struct logfs_super_media m;
	struct logfs_super back;

	logfs_super_encode(&s, &m);
	put_be(&m, at, n, value);
	sign(&m, 0, 4, 20);
	sign(&m, 32, 36, 220);
	return logfs_super_decode(&m, &back);
}

static void test_bytes(void)
{
	const struct logfs_super s = a_super();
	struct logfs_super_media m;
	struct logfs_super back;
	u32 i, seen = 0;

	memset(&m, 0xee, sizeof(m));
	logfs_super_encode(&s, &m);
	/* zlib.crc32(struct.pack('>HBBIIQ', 0, 1, 0, 0, 1, 0x1001)) ^ 0xffffffff */
	check(get_be(&m, 0, 4) == 0x35c6e417, "CRC of the segment");
	/*
	 * The same of '>6B6xQII4QQQ16I2Q64x', 3, 4, 1, 17, 12, 11, 1024<<17, 1<<17, 4,
	 * 0, 0, 0x30, 0x40, 0x50000, 0x60000, 1, 2, 3, 4, 12 zeros, 0, (1024<<17)-4096
	 */
	check(get_be(&m, 32, 4) == 0x6c7c5c30, "CRC of a superblock");
	check(get_be(&m, 24, 8) == 0x7a3a8e5cb9d5bf67, "magic");
	memset(&back, 0xee, sizeof(back));
	check(!logfs_super_decode(&m, &back), "superblock");
	check(back.segment.type == 1 && back.segment.ec == 1 &&
	      back.segment.gec == 0x1001, "its segment");
	check(back.ifile_levels == 3 && back.iblock_levels == 4 &&
	      back.segment_shift == 17 && back.write_shift == 11 &&
	      back.n_segments == 1024 && back.bad_reserve == 4, "sizes");
	check(!back.read_only && !back.ro_compat && back.compat == 0x30 &&
	      back.flags == 0x40, "features");
	check(back.segment_bytes == 1 << 17, "bytes of a segment");
	check(back.root_reserve == 0x50000 && back.speed_reserve == 0x60000,
	      "reserves");
	check(back.n_journal == 4 && !memcmp(back.journal, s.journal,
					     sizeof(s.journal)), "journal");
	check(!memcmp(back.super_at, s.super_at, sizeof(s.super_at)), "copies");
	for (i = 0; i < 256 * 8; i++) {
		((u8 *)&m)[i / 8] ^= (u8)(1 << i % 8);
		seen += logfs_super_decode(&m, &back) ==
			(i / 64 == 3 ? -EINVAL : -EUCLEAN);
		((u8 *)&m)[i / 8] ^= (u8)(1 << i % 8);
	}
	check(seen == 256 * 8, "%u of 2048 bits are watched", seen);
}

static void test_limits(void)
{
	static const struct {
		u32 at, n;
		u64 value;
		int status;
	} by_hand[] = {
		{ 24, 8, 0, -EINVAL },
		{ 24, 8, 0xb21f205ac97e8168, -EOPNOTSUPP },
		{ 6, 1, 2, -EUCLEAN },		/* a segment of the journal */
		{ 36, 1, 0, -EUCLEAN }, { 36, 1, 1, 0 },
		{ 36, 1, 6, 0 }, { 36, 1, 7, -EUCLEAN },
		{ 37, 1, 0, -EUCLEAN }, { 37, 1, 1, 0 },
		{ 37, 1, 5, 0 }, { 37, 1, 6, -EUCLEAN },
		{ 38, 1, 0, -EUCLEAN }, { 38, 1, 2, -EUCLEAN },
		{ 39, 1, 16, -EUCLEAN },	/* is not what the bytes say */
		{ 39, 1, 255, -EUCLEAN },
		{ 40, 1, 11, -EOPNOTSUPP }, { 40, 1, 13, -EOPNOTSUPP },
		{ 41, 1, 0, 0 }, { 41, 1, 15, 0 }, { 41, 1, 16, -EOPNOTSUPP },
		{ 48, 8, (1024 << 17) + 4096, -EUCLEAN },
		{ 48, 8, (1024 << 17) + 1, -EUCLEAN },
		{ 48, 8, 1 << 29, 0 },		/* 4096 segments */
		{ 48, 8, 0, -EUCLEAN },
		{ 48, 8, 0xffffffffull << 17, 0 },
		{ 48, 8, 0x100000000ull << 17, -EUCLEAN },
		{ 56, 4, 1 << 16, -EUCLEAN }, { 56, 4, 1, -EUCLEAN },
		{ 56, 4, 0, 0 },		/* the shift says it */
		{ 60, 4, 1024, 0 }, { 60, 4, 1025, -EUCLEAN },
		{ 64, 8, 1, -EOPNOTSUPP },
		{ 72, 8, 1, 0 }, { 80, 8, ~0ull, 0 }, { 88, 8, ~0ull, 0 },
		{ 96, 8, 1024 << 17, 0 }, { 96, 8, (1024 << 17) + 1, -EUCLEAN },
		{ 104, 8, 1024 << 17, 0 }, { 104, 8, (1024 << 17) + 1, -EUCLEAN },
		{ 112, 4, 1022, 0 },
		{ 112, 4, 1023, -EUCLEAN },	/* a superblock's */
		{ 128, 4, 1024, -EUCLEAN },	/* behind the end */
		{ 124, 4, 1, -EUCLEAN },	/* twice */
		{ 172, 4, 1022, 0 }, { 172, 4, 1024, -EUCLEAN },
		{ 112, 4, 0, 0 },
		{ 176, 8, 5 << 17, 0 },
		{ 176, 8, 4 << 17, -EUCLEAN },	/* in the journal */
		{ 176, 8, 100, -EUCLEAN },
		{ 184, 8, 1024 << 17, -EUCLEAN },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(by_hand); i++)
		check(super_with(by_hand[i].at, by_hand[i].n,
				 by_hand[i].value) == by_hand[i].status,
		      "%llu at byte %u is %d",
		      (unsigned long long)by_hand[i].value, by_hand[i].at,
		      super_with(by_hand[i].at, by_hand[i].n,
				 by_hand[i].value));
}

static int shifts(u32 segment_shift, u32 write_shift)
{
	struct logfs_super s = a_super();
	struct logfs_super_media m;

	s.segment_shift = (u8)segment_shift;
	s.segment_bytes = 1U << segment_shift;
	s.write_shift = (u8)write_shift;
	s.super_at[1] = 4096;
	logfs_super_encode(&s, &m);
	return logfs_super_decode(&m, &s);
}

static void test_shifts(void)
{
	struct logfs_super s = a_super();
	struct logfs_super_media m;

	check(shifts(14, 13) == 0 && shifts(14, 14) == -EUCLEAN, "write unit");
	check(shifts(13, 0) == -EUCLEAN && shifts(30, 0) == 0, "segment");
	check(shifts(31, 0) == -EUCLEAN, "segment of 2 GiB");
	check(logfs_has_super(&s, 0) && logfs_has_super(&s, 1023) &&
	      !logfs_has_super(&s, 1) && !logfs_has_super(&s, 1022),
	      "segments of superblocks");
	s.segment_bytes = 0;
	logfs_super_encode(&s, &m);
	check(!get_be(&m, 56, 4) && !logfs_super_decode(&m, &s) &&
	      !s.segment_bytes, "bytes of a segment stay 0");
	memset(s.journal, 0, sizeof(s.journal));
	logfs_super_encode(&s, &m);
	check(logfs_super_decode(&m, &s) == -EUCLEAN, "no journal");
	s.journal[15] = 7;
	s.super_at[0] = 5 << 17;
	s.ro_compat = 2;
	logfs_super_encode(&s, &m);
	check(!logfs_super_decode(&m, &s) && s.n_journal == 1 &&
	      s.journal[15] == 7 && s.super_at[0] == 5 << 17 && s.read_only && s.ro_compat == 2,
	      "last slot of the journal, and features for writers");
}

static void test_levels(void)
{
	/* GC levels 0 to 4 of files, 6 to 8 of the inode file; 7 - level, then 2, 1, 0. */
	static const int by_hand[] = { 7, 6, 5, 4, 3, -1, 2, 1, 0, -1, -1, -1 };
	struct logfs_super s = a_super();
	u32 level;

	check(logfs_total_levels(&s) == 8, "levels");
	for (level = 0; level < 12; level++) {
		check(logfs_has_level(&s, level) == (by_hand[level] >= 0),
		      "level %u", level);
		if (by_hand[level] >= 0)
			check(logfs_root_distance(&s, level) ==
			      (u32)by_hand[level], "distance of %u", level);
	}
	check(!logfs_has_level(&s, 12), "no level 12");
	check(logfs_write_unit(&s) == 4096, "write unit is a page of memory");
	s.write_shift = 13;
	check(logfs_write_unit(&s) == 8192, "write unit");
	/* 65536 / 32, 16384 / 32. */
	s.segment_shift = 16;
	check(logfs_write_unit(&s) == 8192, "page of a small segment");
	s.write_shift = 0;
	check(logfs_write_unit(&s) == 2048, "unit of 64 KiB");
	s.segment_shift = 14;
	check(logfs_write_unit(&s) == 512, "unit of 16 KiB");
}

static void test_space(void)
{
	/*
	 * 1024 - 2 - 4 - 2 * 8 = 1002 segments with 131072 - 4147 = 126925 bytes:
	 * 127178850. Less 8 * 4096 = 32768 and 4 bad segments of 131072 = 524288, which
	 * are more than the speed reserve of 393216.
	 */
	const u64 all = 127178850 - 32768 - 524288;
	struct logfs_super s = a_super();

	check(LOGFS_SEGMENT_RESERVE_BYTES == 24 + 4096 + 28 - 1, "reserve");
	check(logfs_free_bytes(&s, 0, 0) == all, "nothing used");
	check(logfs_free_bytes(&s, 1000, 0) == all - 1000, "some used");
	check(logfs_free_bytes(&s, 1000, 3) == all - 1000 - 3 * 131072, "bad");
	check(logfs_free_bytes(&s, all - 1, 0) == 1, "one left");
	check(!logfs_free_bytes(&s, all, 0) && !logfs_free_bytes(&s, all + 1, 0),
	      "none left");
	check(!logfs_free_bytes(&s, ~0ull, ~0u), "more than there is");
	s.speed_reserve = 600000;
	check(logfs_free_bytes(&s, 0, 0) == 127178850 - 32768 - 600000, "speed");
	s.speed_reserve = 127178850 - 32768;
	check(!logfs_free_bytes(&s, 0, 0), "all is reserve");
	s = a_super();
	s.bad_reserve = 0;
	s.speed_reserve = 0;
	s.n_segments = 22;
	check(!logfs_free_bytes(&s, 0, 0), "no segment of its own");
	s.n_segments = 21;
	check(!logfs_free_bytes(&s, 0, 0), "too small");
	s.n_segments = 23;
	check(logfs_free_bytes(&s, 0, 0) == 126925 - 32768, "one segment");
}

int main(void)
{
	test_bytes();
	test_limits();
	test_shifts();
	test_levels();
	test_space();
	return report("test_super");
}
