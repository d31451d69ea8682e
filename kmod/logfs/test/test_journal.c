// SPDX-License-Identifier: GPL-2.0-only
/* The journal: entries, the newest commit among them, and what each kind holds. */

#include "harness.h"

#define SEGMENT_BYTES	0x20000u

static void test_entry(void)
{
	const struct logfs_journal_entry e = {
		.type = 3, .stored_bytes = 64, .unpacked_bytes = 64,
	};
	u8 bytes[80] __aligned(8);
	struct logfs_journal_entry back;
	u32 i, seen = 0;

	memset(bytes, 0xee, sizeof(bytes));
	for (i = 0; i < 64; i++)
		bytes[16 + i] = (u8)i;
	logfs_journal_encode(&e, bytes + 16, (void *)bytes);
	/* zlib.crc32(struct.pack('>HHHB5x', 64, 64, 3, 0) + bytes(range(64))) ^ 0xffffffff */
	check(get_be(bytes, 0, 4) == 0x464a78a6, "CRC of an entry");
	check(get_be(bytes, 4, 8) == 0x0040004000030000 &&
	      get_be(bytes, 12, 4) == 0, "bytes of an entry");
	check(!logfs_journal_decode(bytes, 80, &back) && back.type == 3 &&
	      back.stored_bytes == 64 && back.unpacked_bytes == 64 &&
	      !back.compression, "entry comes back");
	check(logfs_journal_decode(bytes, 79, &back) == -EUCLEAN, "cut off");
	check(logfs_journal_decode(bytes, 15, &back) == -EUCLEAN, "no header");
	for (i = 0; i < 80 * 8; i++) {
		bytes[i / 8] ^= (u8)(1 << i % 8);
		seen += logfs_journal_decode(bytes, 80, &back) == -EUCLEAN;
		bytes[i / 8] ^= (u8)(1 << i % 8);
	}
	check(seen == 80 * 8, "%u of 640 bits are watched", seen);
	check(logfs_journal_entry_bytes(0) == 16 &&
	      logfs_journal_entry_bytes(1) == 32 &&
	      logfs_journal_entry_bytes(16) == 32 &&
	      logfs_journal_entry_bytes(17) == 48, "bytes with padding");
}

static void test_compressed_entry(void)
{
	const struct logfs_journal_entry e = {
		.type = 13, .compression = 1, .stored_bytes = 8,
		.unpacked_bytes = 32,
	};
	u8 bytes[32] __aligned(8) = { 0 };
	struct logfs_journal_entry back;

	logfs_journal_encode(&e, bytes + 16, (void *)bytes);
	check(get_be(bytes, 4, 8) == 0x00080020000d0100, "compressed entry");
	check(!logfs_journal_decode(bytes, 32, &back) && back.compression == 1 &&
	      back.stored_bytes == 8 && back.unpacked_bytes == 32,
	      "compressed entry comes back");
}

static int entry_with(u32 type, u32 compression, u32 stored, u32 unpacked)
{
	u8 bytes[64] __aligned(8) = { 0 };
	struct logfs_journal_entry e;

	put_be(bytes, 4, 2, stored);
	put_be(bytes, 6, 2, unpacked);
	put_be(bytes, 8, 2, type);
	put_be(bytes, 10, 1, compression);
	sign(bytes, 0, 4, 12 + stored);
	return logfs_journal_decode(bytes, sizeof(bytes), &e);
}

static void test_entry_limits(void)
{
	u32 type, wrong = 0;

	for (type = 0; type < 0x10000; type++)
		wrong += !entry_with(type, 0, 8, 8) !=
			 ((type >= 2 && type <= 5) || type == 13 || type == 14);
	check(!wrong, "%u types", wrong);
	check(entry_with(2, 0, 8, 9) == -EUCLEAN &&
	      entry_with(2, 0, 9, 8) == -EUCLEAN, "not compressed");
	check(!entry_with(2, 1, 8, 9) && !entry_with(2, 1, 1, 0xffff),
	      "compressed");
	check(entry_with(2, 1, 8, 8) == -EUCLEAN, "compressed, but not smaller");
	check(entry_with(2, 2, 8, 9) == -EUCLEAN, "other compression");
	check(entry_with(2, 0, 0, 0) == -EUCLEAN &&
	      entry_with(2, 1, 0, 9) == -EUCLEAN, "nothing stored");
	check(!entry_with(2, 0, 48, 48), "up to the end");
}

/* Puts an entry with a payload of zeros, or what is there, to @at; where the next begins. */
static u32 put_entry(u8 *segment, u32 at, u32 type, u32 bytes)
{
	const struct logfs_journal_entry e = {
		.type = (u16)type, .stored_bytes = (u16)bytes,
		.unpacked_bytes = (u16)bytes,
	};

	logfs_journal_encode(&e, segment + at + 16, (void *)(segment + at));
	return at + logfs_journal_entry_bytes(bytes);
}

static void test_scan(void)
{
	u8 *s = calloc(1, SEGMENT_BYTES);
	struct logfs_journal_entry e;
	u32 at = 32, next, second;

	check(logfs_journal_last_commit(s, SEGMENT_BYTES, &at, &e) == -ENODATA &&
	      logfs_journal_next(s, SEGMENT_BYTES, &at, &e) == -ENODATA,
	      "empty journal");
	put_entry(s, 16, 2, 8);
	check(logfs_journal_last_commit(s, SEGMENT_BYTES, &at, &e) == -ENODATA,
	      "too early for an entry");
	memset(s, 0, 64);

	next = put_entry(s, 32, 3, 64);
	check(next == 112, "next entry");
	check(logfs_journal_last_commit(s, SEGMENT_BYTES, &at, &e) == -ENODATA,
	      "no commit");
	put_entry(s, next, 2, 8);
	check(!logfs_journal_last_commit(s, SEGMENT_BYTES, &at, &e) &&
	      at == 112 && e.type == 2 && e.stored_bytes == 8, "first commit");

	/* Zeros up to a write unit, a second commit, and one that lasts to the end. */
	next = put_entry(s, 4096, 4, 168);
	second = next;
	put_entry(s, next, 2, 16);
	check(!logfs_journal_last_commit(s, SEGMENT_BYTES, &at, &e) &&
	      at == second && e.stored_bytes == 16, "second commit");
	put_entry(s, SEGMENT_BYTES - 32, 2, 16);
	check(!logfs_journal_last_commit(s, SEGMENT_BYTES, &at, &e) &&
	      at == SEGMENT_BYTES - 32, "commit at the end");
	check(!logfs_journal_last_commit(s, SEGMENT_BYTES - 1, &at, &e) &&
	      at == second, "commit past the end");
	s[SEGMENT_BYTES - 1] ^= 1;
	check(!logfs_journal_last_commit(s, SEGMENT_BYTES, &at, &e) &&
	      at == second, "torn commit");
	at = 32;
	check(!logfs_journal_next(s, SEGMENT_BYTES, &at, &e) && at == 32 &&
	      e.type == 3, "entry where it is looked for");
	at = 48;
	check(!logfs_journal_next(s, SEGMENT_BYTES, &at, &e) && at == 112,
	      "entry behind that");
	free(s);
}

/* Bytes of a file that look like a commit, in the area of a commit. */
static void test_forged(void)
{
	u8 *s = calloc(1, SEGMENT_BYTES);
	struct logfs_journal_entry e;
	u32 at, next;

	put_entry(s, 32 + 16 + 16, 2, 8);
	next = put_entry(s, 32, 14, 10 + 4096);
	check(logfs_journal_last_commit(s, SEGMENT_BYTES, &at, &e) == -ENODATA,
	      "bytes of a file are passed over");
	put_entry(s, next, 2, 8);
	check(!logfs_journal_last_commit(s, SEGMENT_BYTES, &at, &e) &&
	      at == next, "the commit");
	free(s);
}

static void test_commit(void)
{
	u8 p[24] __aligned(8);
	u32 at = 0;

	check(logfs_commit_entries(24) == 3 && !logfs_commit_entries(23) &&
	      !logfs_commit_entries(0) && logfs_commit_entries(8) == 1,
	      "entries of a commit");
	logfs_commit_put(p, 0, 0x40020);
	logfs_commit_put(p, 1, 0x40010);
	logfs_commit_put(p, 2, 0x5fff0);
	check(get_be(p, 0, 8) == 0x40020 && get_be(p, 16, 8) == 0x5fff0, "bytes");
	check(!logfs_commit_get(p, 0, 0x40000, SEGMENT_BYTES, &at) && at == 32,
	      "first");
	check(logfs_commit_get(p, 1, 0x40000, SEGMENT_BYTES, &at) == -EUCLEAN,
	      "in the segment's header");
	check(!logfs_commit_get(p, 2, 0x40000, SEGMENT_BYTES, &at) &&
	      at == 0x1fff0, "last");
	logfs_commit_put(p, 0, 0x40021);
	logfs_commit_put(p, 1, 0x3fff0);
	logfs_commit_put(p, 2, 0x60000);
	check(logfs_commit_get(p, 0, 0x40000, SEGMENT_BYTES, &at) == -EUCLEAN &&
	      logfs_commit_get(p, 1, 0x40000, SEGMENT_BYTES, &at) == -EUCLEAN &&
	      logfs_commit_get(p, 2, 0x40000, SEGMENT_BYTES, &at) == -EUCLEAN,
	      "unaligned, before, behind");
}

static int dynamic_with(u32 at, u64 value)
{
	u8 p[64] __aligned(8) = { 0 };
	struct logfs_dynamic d;

	put_be(p, at, 8, value);
	return logfs_dynamic_decode(p, 64, &d);
}

static void test_dynamic(void)
{
	const struct logfs_dynamic d = {
		.gec = 0x1001, .sweeper = 0x2002, .rename_dir = 2,
		.rename_bix = 0x7fffffff, .victim_ino = 0x11,
		.used_bytes = 0x3003, .generation = 5,
	};
	struct logfs_dynamic_media m;
	struct logfs_dynamic back;

	memset(&m, 0xee, sizeof(m));
	logfs_dynamic_encode(&d, &m);
	check(get_be(&m, 0, 8) == 0x1001 && get_be(&m, 8, 8) == 0x2002 &&
	      get_be(&m, 16, 8) == 2 && get_be(&m, 24, 8) == 0x7fffffff &&
	      get_be(&m, 32, 8) == 0x11 && get_be(&m, 40, 8) == 0 &&
	      get_be(&m, 48, 8) == 0x3003 && get_be(&m, 56, 8) == 5ull << 32,
	      "bytes of the dynamic superblock");
	check(!logfs_dynamic_decode((void *)&m, 64, &back) &&
	      back.gec == 0x1001 && back.sweeper == 0x2002 &&
	      back.rename_dir == 2 && back.rename_bix == 0x7fffffff &&
	      back.victim_ino == 0x11 && back.used_bytes == 0x3003 &&
	      back.generation == 5, "dynamic superblock comes back");
	check(logfs_dynamic_decode((void *)&m, 63, &back) == -EUCLEAN &&
	      logfs_dynamic_decode((void *)&m, 65, &back) == -EUCLEAN, "bytes");
	check(!dynamic_with(16, 0) && dynamic_with(16, 1) && dynamic_with(16, 3) &&
	      dynamic_with(16, 15) && !dynamic_with(16, 16) &&
	      !dynamic_with(16, 0x3fffffff) && dynamic_with(16, 0x40000000),
	      "directories of a rename");
	check(dynamic_with(24, 0x80000000) == -EUCLEAN, "dentry of a rename");
	check(!dynamic_with(32, 0) && dynamic_with(32, 1) && dynamic_with(32, 15) &&
	      !dynamic_with(32, 16) && !dynamic_with(32, 0x3fffffff) &&
	      dynamic_with(32, 0x40000000), "victims");
}

static int anchor_with(u32 at, u32 n, u64 value)
{
	u8 p[168] __aligned(8) = { 0 };
	struct logfs_anchor a;

	put_be(p, at, n, value);
	return logfs_anchor_decode(p, 168, &a);
}

static void test_anchor(void)
{
	struct logfs_anchor a = {
		.size = 16 * 4096, .last_ino = 16, .used_bytes = 228, .height = 1,
	};
	/* With what follows, which is to stay as it is. */
	u64 bytes[168 / 8 + 1], decoded[sizeof(a) / 8 + 1];
	struct logfs_anchor *back = (void *)decoded;
	void *m = bytes;
	u32 i;

	for (i = 0; i < 17; i++)
		a.pointer[i] = 0x1000 + i;
	memset(bytes, 0xee, sizeof(bytes));
	logfs_anchor_encode(&a, m);
	check(get_be(m, 0, 8) == 65536 && get_be(m, 8, 8) == 16 &&
	      get_be(m, 16, 8) == 228 && get_be(m, 24, 8) == 1ull << 56 &&
	      get_be(m, 32, 8) == 0x1000 && get_be(m, 160, 8) == 0x1010 &&
	      all_bytes(bytes + 168 / 8, 8, 0xee), "bytes of the anchor");
	memset(decoded, 0xdd, sizeof(decoded));
	check(!logfs_anchor_decode(m, 168, back) &&
	      !memcmp(back->pointer, a.pointer, sizeof(a.pointer)) &&
	      back->size == 65536 && back->last_ino == 16 &&
	      back->used_bytes == 228 && back->height == 1 &&
	      all_bytes(decoded + sizeof(a) / 8, 8, 0xdd), "anchor comes back");
	check(logfs_anchor_decode(m, 167, back) == -EUCLEAN &&
	      logfs_anchor_decode(m, 169, back) == -EUCLEAN, "bytes");
	check(!anchor_with(24, 1, 5) && anchor_with(24, 1, 6), "height");
	check(!anchor_with(0, 8, 0x80000000000) &&
	      anchor_with(0, 8, 0x80000000001), "size");
	check(!anchor_with(8, 8, 0x3fffffff) && anchor_with(8, 8, 0x40000000),
	      "last inode");
}

static void test_erase_counts(void)
{
	struct logfs_erase_counts_media m;
	u32 ec[16], back[17], i;

	for (i = 0; i < 16; i++)
		ec[i] = 0x1000 + i;
	logfs_erase_counts_encode(ec, &m);
	check(get_be(&m, 0, 4) == 0x1000 && get_be(&m, 60, 4) == 0x100f, "bytes");
	back[16] = 0xdddddddd;
	check(!logfs_erase_counts_decode((void *)&m, 64, back) &&
	      !memcmp(ec, back, sizeof(ec)) && back[16] == 0xdddddddd,
	      "erase counts come back");
	check(logfs_erase_counts_decode((void *)&m, 63, back) == -EUCLEAN &&
	      logfs_erase_counts_decode((void *)&m, 68, back) == -EUCLEAN,
	      "bytes of erase counts");
}

static int area_with(u32 segno, u32 used, u32 level, u32 bytes)
{
	const struct logfs_super s = a_super();
	u8 p[10 + 4096 + 1] __aligned(8) = { 0 };
	struct logfs_area a;

	put_be(p, 0, 4, segno);
	put_be(p, 4, 4, used);
	put_be(p, 8, 1, level);
	return logfs_area_decode(&s, p, bytes, &a);
}

static void test_area(void)
{
	const struct logfs_area a = {
		.segno = 7, .used_bytes = 5000, .level = 8,
	};
	const struct logfs_super s = a_super();
	u8 p[10 + 4096] __aligned(8);
	struct logfs_area back;

	memset(p, 0xee, sizeof(p));
	logfs_area_encode(&a, (void *)p);
	check(get_be(p, 0, 4) == 7 && get_be(p, 4, 4) == 5000 &&
	      get_be(p, 8, 2) == 0x0800, "bytes of an area");
	check(logfs_area_bytes(&s, 5000) == 4106 &&
	      logfs_area_bytes(&s, 8192) == 10, "bytes with the unit");
	check(!logfs_area_decode(&s, p, 4106, &back) && back.segno == 7 &&
	      back.used_bytes == 5000 && back.level == 8 && back.unit == p + 10,
	      "area comes back");
	put_be(p, 4, 4, 8192);
	check(!logfs_area_decode(&s, p, 10, &back) && !back.unit, "no unit");
	check(area_with(7, 8192, 8, 9) == -EUCLEAN &&
	      area_with(7, 8192, 8, 11) == -EUCLEAN &&
	      area_with(7, 8193, 8, 10) == -EUCLEAN &&
	      area_with(7, 8193, 8, 4107) == -EUCLEAN, "bytes of an area");
	check(!area_with(1023, 8192, 8, 10) && area_with(1024, 8192, 8, 10),
	      "segment of an area");
	check(!area_with(7, 24, 8, 4106) && area_with(7, 23, 8, 4106) &&
	      area_with(7, 0, 8, 10), "no header");
	check(!area_with(7, 131072, 8, 10) && area_with(7, 131072 + 4096, 8, 10),
	      "more than a segment");
	check(area_with(7, 8192, 5, 10) && area_with(7, 8192, 9, 10), "level");
}

static void test_aliases(void)
{
	static const struct {
		struct logfs_alias a;
		bool good;
	} by_hand[] = {
		{ { .ino = 1, .bix = 17, .child = 24 }, true },
		{ { .ino = 1, .bix = 17, .child = 25 }, false },
		{ { .ino = 3, .bix = 1, .child = 511 }, true },
		{ { .ino = 3, .bix = 1, .child = 512 }, false },
		{ { .ino = 2, .bix = 1 }, false },	/* data have none */
		{ { .ino = 17, .level = 1, .bix = 512, .child = 511 }, true },
		{ { .ino = 17, .level = 1, .bix = 512, .child = 512 }, false },
		{ { .ino = 17, .level = 1, .bix = 513 }, false },
		{ { .ino = 17, .level = 6 }, false },
		{ { .ino = 0, .level = 1 }, false },
	};
	const struct logfs_alias a = {
		.ino = 0x11, .level = 2, .bix = 0x40000, .child = 0x101,
		.value = 0x8000000000012345,
	};
	u8 p[64] __aligned(8);
	struct logfs_alias back;
	u32 i;

	memset(p, 0xee, sizeof(p));
	logfs_alias_put(p, 1, &a);
	check(all_bytes(p, 32, 0xee) && get_be(p, 32, 8) == 0x11 &&
	      get_be(p, 40, 8) == 0x40000 &&
	      get_be(p, 48, 8) == 0x8000000000012345 &&
	      get_be(p, 56, 8) == 0x0200000000000101, "bytes of an alias");
	check(!logfs_alias_get(p, 1, &back) && back.ino == 0x11 &&
	      back.level == 2 && back.bix == 0x40000 && back.child == 0x101 &&
	      back.value == 0x8000000000012345, "alias comes back");
	check(logfs_aliases(64) == 2 && !logfs_aliases(63) && !logfs_aliases(0) &&
	      logfs_aliases(4096) == 128, "aliases of an entry");
	for (i = 0; i < ARRAY_SIZE(by_hand); i++) {
		logfs_alias_put(p, 0, &by_hand[i].a);
		check(logfs_alias_get(p, 0, &back) ==
		      (by_hand[i].good ? 0 : -EUCLEAN), "alias %u", i);
	}
}

int main(void)
{
	test_entry();
	test_compressed_entry();
	test_entry_limits();
	test_scan();
	test_forged();
	test_commit();
	test_dynamic();
	test_anchor();
	test_erase_counts();
	test_area();
	test_aliases();
	return report("test_journal");
}
