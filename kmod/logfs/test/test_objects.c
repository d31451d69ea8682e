// SPDX-License-Identifier: GPL-2.0-only
/*
 * Headers of segments and objects, words of the segment file, inodes and dentries.
 *
 * CRCs were made with Python: zlib.crc32(struct.pack(...)) ^ 0xffffffff of the bytes that
 * the comment beside each names.
 */

#include "harness.h"

static void test_crc(void)
{
	/* The description's own value; zlib.crc32(b"123456789") is 0xcbf43926. */
	check(logfs_crc("\0\0\0", 4) == 0xdebb20e3, "CRC of four zeros");
	check(logfs_crc("123456789", 9) == (0xcbf43926 ^ 0xffffffff), "CRC");
	check(logfs_crc("", 0) == 0xffffffff, "CRC of nothing");
	check(logfs_crc_more(logfs_crc("1234", 4), "56789", 5) ==
	      logfs_crc("123456789", 9), "CRC in two pieces");
	check(logfs_is_erased("\xff\xff\xff", 3), "erased");
	check(!logfs_is_erased("\xff\xff\xfe", 3), "last byte is not");
	check(!logfs_is_erased("\x7f\xff\xff", 3), "first byte is not");
}

static int segment_with(u32 at, u32 n, u64 value)
{
	const struct logfs_segment s = { .type = 3, .level = 11 };
	struct logfs_segment_header_media m;
	struct logfs_segment back;

	logfs_segment_encode(&s, &m);
	put_be(&m, at, n, value);
	sign(&m, 0, 4, 20);
	return logfs_segment_decode(&m, &back);
}

static void test_segment(void)
{
	const struct logfs_segment s = {
		.type = 3, .level = 6, .segno = 0x01020304, .ec = 5,
		.gec = 0x1000,
	};
	struct logfs_segment_header_media m;
	struct logfs_segment back;
	u32 i, seen = 0;

	memset(&m, 0xee, sizeof(m));
	logfs_segment_encode(&s, &m);
	/* '>HBBIIQ', 0, 3, 6, 0x01020304, 5, 0x1000 */
	check(get_be(&m, 0, 4) == 0x07fb364b, "CRC of a segment");
	check(get_be(&m, 4, 4) == 0x00000306 && get_be(&m, 8, 4) == 0x01020304 &&
	      get_be(&m, 12, 4) == 5 && get_be(&m, 16, 8) == 0x1000,
	      "bytes of a segment's header");
	check(!logfs_segment_decode(&m, &back) && back.type == 3 &&
	      back.level == 6 && back.segno == 0x01020304 && back.ec == 5 &&
	      back.gec == 0x1000, "segment comes back");
	for (i = 0; i < 24 * 8; i++) {
		((u8 *)&m)[i / 8] ^= (u8)(1 << i % 8);
		seen += logfs_segment_decode(&m, &back) == -EUCLEAN;
		((u8 *)&m)[i / 8] ^= (u8)(1 << i % 8);
	}
	check(seen == 24 * 8, "%u of 192 bits are watched", seen);
	memset(&m, 0xff, sizeof(m));
	check(logfs_segment_decode(&m, &back) == -ENODATA, "erased segment");
	check(!segment_with(6, 1, 1), "superblock");
	check(segment_with(6, 1, 0) == -EUCLEAN, "no type");
	check(segment_with(6, 1, 4) == -EUCLEAN, "unknown type");
	check(!segment_with(7, 1, 11), "highest level");
	check(segment_with(7, 1, 12) == -EUCLEAN, "level too high");
}

static void test_segment_entry(void)
{
	struct logfs_segment_entry e = {
		.level = 11, .ec = 0x1234567, .valid_bytes = 0x89abcdef,
	};

	check(logfs_segment_entry_encode(&e) == 0x1234567b89abcdef, "word");
	check(!logfs_segment_entry_decode(0x1234567b89abcdef, &e) &&
	      e.state == LOGFS_SEGMENT_NORMAL && e.level == 11 &&
	      e.ec == 0x1234567 && e.valid_bytes == 0x89abcdef, "entry");
	e.state = LOGFS_SEGMENT_RESERVED;
	check(logfs_segment_entry_encode(&e) == 0x1234567bffffffff, "reserved");
	e.state = LOGFS_SEGMENT_BAD;
	check(logfs_segment_entry_encode(&e) == ~0ull, "bad");
	check(!logfs_segment_entry_decode(~0ull, &e) &&
	      e.state == LOGFS_SEGMENT_BAD && !e.ec && !e.level &&
	      !e.valid_bytes, "bad segment");
	check(!logfs_segment_entry_decode(0x00000010ffffffff, &e) &&
	      e.state == LOGFS_SEGMENT_RESERVED && e.ec == 1 &&
	      !e.valid_bytes, "reserved segment");
	check(!logfs_segment_entry_decode(0x00000010fffffffe, &e) &&
	      e.state == LOGFS_SEGMENT_NORMAL, "normal segment");
	check(logfs_segment_entry_decode(0x1c00000000, &e) == -EUCLEAN,
	      "level of a segment");
}

static int object_with(u32 type, u32 compression, u32 bytes, u64 ino, u64 bix)
{
	struct logfs_object_header_media m;
	struct logfs_object back;

	memset(&m, 0, sizeof(m));
	put_be(&m, 4, 2, bytes);
	put_be(&m, 6, 1, type);
	put_be(&m, 7, 1, compression);
	put_be(&m, 8, 8, ino);
	put_be(&m, 16, 8, bix);
	sign(&m, 0, 4, 20);
	return logfs_object_decode(&m, &back);
}

static void test_object_limits(void)
{
	static const struct {
		u32 type, compression, bytes;
		u64 ino, bix;
		bool good;
	} by_hand[] = {
		{ 4, 0, 4096, 17, 0, true },
		{ 4, 0, 4095, 17, 0, false },	/* always a whole block */
		{ 4, 0, 4097, 17, 0, false },
		{ 4, 1, 4095, 17, 0, true },
		{ 4, 1, 4096, 17, 0, false },	/* kept only if smaller */
		{ 4, 1, 1, 17, 0, true },
		{ 4, 1, 0, 17, 0, false },
		{ 4, 2, 4095, 17, 0, false },
		{ 5, 0, 200, 1, 17, true },
		{ 5, 0, 199, 1, 17, false },
		{ 5, 1, 100, 1, 17, false },
		{ 5, 0, 200, 2, 17, false },	/* not the inode file */
		{ 6, 0, 266, 2, 17, true },
		{ 6, 0, 265, 2, 17, false },
		{ 6, 1, 100, 2, 17, false },
		{ 3, 0, 0, 2, 17, false },
		{ 7, 0, 0, 2, 17, false },
		{ 7, 1, 1, 2, 17, false },
		{ 4, 0, 4096, 0, 0, false },
		{ 4, 0, 4096, 0x3fffffff, 0x7fffffff, true },
		{ 4, 0, 4096, 0x40000000, 0, false },
		{ 4, 0, 4096, 17, 0x80000000, false },
	};
	u32 i;

	check(!logfs_object_payload_bytes(3) && !logfs_object_payload_bytes(7),
	      "no such type");
	for (i = 0; i < ARRAY_SIZE(by_hand); i++)
		check(object_with(by_hand[i].type, by_hand[i].compression,
				  by_hand[i].bytes, by_hand[i].ino,
				  by_hand[i].bix) ==
		      (by_hand[i].good ? 0 : -EUCLEAN), "object %u", i);
}

static void test_object(void)
{
	struct logfs_object o = {
		.type = 5, .stored_bytes = 200, .ino = 1, .bix = 17,
	};
	struct logfs_object_header_media m;
	struct logfs_object back;
	u8 payload[200];
	u32 i, seen = 0;

	for (i = 0; i < sizeof(payload); i++)
		payload[i] = (u8)i;
	logfs_object_encode(&o, payload, &m);
	/* '>HBBQQ', 200, 5, 0, 1, 17; and bytes(range(200)) */
	check(get_be(&m, 0, 4) == 0xb7a318d9, "CRC of a header");
	check(get_be(&m, 24, 4) == 0x12f79e7f, "CRC of a payload");
	check(get_be(&m, 4, 4) == 0x00c80500 && get_be(&m, 8, 8) == 1 &&
	      get_be(&m, 16, 8) == 17, "bytes of an object's header");
	check(!logfs_object_decode(&m, &back) && back.type == 5 &&
	      !back.compression && back.stored_bytes == 200 &&
	      back.ino == 1 && back.bix == 17 && back.data_crc == 0x12f79e7f,
	      "object comes back");
	check(logfs_object_intact(&back, payload), "intact");
	payload[199] ^= 1;
	check(!logfs_object_intact(&back, payload), "not intact");
	for (i = 0; i < 24 * 8; i++) {
		((u8 *)&m)[i / 8] ^= (u8)(1 << i % 8);
		seen += logfs_object_decode(&m, &back) == -EUCLEAN;
		((u8 *)&m)[i / 8] ^= (u8)(1 << i % 8);
	}
	check(seen == 24 * 8, "%u of 192 bits are watched", seen);
	memset(&m, 0xff, sizeof(m));
	check(logfs_object_decode(&m, &back) == -ENODATA, "erased");
	((u8 *)&m)[27] = 0xfe;
	check(logfs_object_decode(&m, &back) == -EUCLEAN, "not erased");
}

static void test_inode(void)
{
	static const u64 words[8] = {
		0x81a4050000000004, 0x000003e8000003e9,
		0x0102030405060708, 0x1112131415161718, 0x2122232425262728,
		0x0000000200000003, 0x123456789, 0x4000000001,
	};
	struct logfs_inode_media m, again;
	struct logfs_inode i;
	u32 word;

	for (word = 0; word < 25; word++)
		put_be(&m, 8 * word, 8, word < 8 ? words[word] : 100 + word);
	check(!logfs_inode_decode(&m, &i), "inode");
	check(i.mode == 0100644 && i.height == 5 && i.flags == 4, "word 0");
	check(i.uid == 1000 && i.gid == 1001, "owner");
	check(i.ctime_ns == words[2] && i.mtime_ns == words[3] &&
	      i.atime_ns == words[4], "times");
	check(i.nlink == 2 && i.generation == 3, "links");
	check(i.used_bytes == words[6] && i.size == words[7], "sizes");
	check(i.pointer[0] == 108 && i.pointer[16] == 124, "pointers");
	logfs_inode_encode(&i, &again);
	check(!memcmp(&m, &again, sizeof(m)), "the same bytes");
	for (word = 0; word < 25; word++)
		check(logfs_inode_word(&i, word) == get_be(&m, 8 * word, 8),
		      "word %u", word);

	check(logfs_inode_set_word(&i, 0, 0x81a4060000000000) == -EUCLEAN &&
	      i.height == 5, "too high");
	check(!logfs_inode_set_word(&i, 7, 0x80000000000), "8 TiB");
	check(logfs_inode_set_word(&i, 7, 0x80000000001) == -EUCLEAN &&
	      i.size == 0x80000000000, "more than 8 TiB");
	/* Neither the flags of memory nor padding goes to flash or comes from there. */
	check(!logfs_inode_set_word(&i, 0, 0x41ed00ffffffffff) &&
	      i.flags == 0x1fffffff, "flags of flash");
	i.flags = 0xe0000004;
	check(logfs_inode_word(&i, 0) == 0x41ed000000000004, "flags of memory");
	put_be(&m, 2, 1, 6);
	check(logfs_inode_decode(&m, &i) == -EUCLEAN, "inode too high");
}

static void test_words(void)
{
	const u64 value = 0x0000000500000004;
	struct logfs_inode i;
	u32 word, other;

	for (word = 0; word < 25; word++) {
		memset(&i, 0, sizeof(i));
		check(!logfs_inode_set_word(&i, word, value), "set %u", word);
		for (other = 0; other < 25; other++)
			check(logfs_inode_word(&i, other) ==
			      (other != word ? 0 : word ? value : 4),
			      "word %u after %u", other, word);
	}
}

static int dentry_with(u64 ino, u32 type, u32 bytes, const char *name)
{
	struct logfs_dentry_media m;
	struct logfs_dentry d;

	memset(&m, 'x', sizeof(m));
	put_be(&m, 0, 8, ino);
	put_be(&m, 8, 2, bytes);
	put_be(&m, 10, 1, type);
	memcpy(m.name, name, strlen(name) + 1);
	return logfs_dentry_decode(&m, &d);
}

static void test_dentry(void)
{
	struct logfs_dentry d = {
		.ino = 0x11, .type = 8, .name_bytes = 2,
		.name = (const u8 *)"ab",
	};
	struct logfs_dentry_media m;
	u32 type, wrong = 0;

	memset(&m, 0xee, sizeof(m));
	logfs_dentry_encode(&d, &m);
	check(get_be(&m, 0, 8) == 0x11 && get_be(&m, 8, 3) == 0x000208 &&
	      !memcmp((u8 *)&m + 11, "ab", 2) &&
	      all_bytes((u8 *)&m + 13, 253, 0), "bytes of a dentry");
	memset(&d, 0, sizeof(d));
	check(!logfs_dentry_decode(&m, &d) && d.ino == 0x11 && d.type == 8 &&
	      d.name_bytes == 2 && d.name == m.name, "dentry comes back");

	check(dentry_with(16, 4, 7, "longer") == -EUCLEAN, "NUL in a name");
	check(!dentry_with(16, 4, 6, "longer"), "first inode");
	check(dentry_with(15, 4, 6, "longer") == -EUCLEAN, "reserved inode");
	check(!dentry_with(0x3fffffff, 4, 6, "longer"), "last inode");
	check(dentry_with(0x40000000, 4, 6, "longer") == -EUCLEAN, "ino");
	check(dentry_with(17, 4, 0, "a") == -EUCLEAN, "no name");
	check(dentry_with(17, 4, 256, "a") == -EUCLEAN, "long name");
	check(dentry_with(17, 4, 3, "a/b") == -EUCLEAN, "slash");
	check(dentry_with(17, 4, 1, ".") == -EUCLEAN, "dot");
	check(dentry_with(17, 4, 2, "..") == -EUCLEAN, "dots");
	check(!dentry_with(17, 4, 2, ".a") && !dentry_with(17, 4, 2, "a.") &&
	      !dentry_with(17, 4, 3, "..."), "names with dots");
	memset(m.name, 'y', sizeof(m.name));
	put_be(&m, 8, 2, 255);
	check(!logfs_dentry_decode(&m, &d), "longest name");
	/* FIFO, character device, directory, block device, file, link, socket. */
	for (type = 0; type < 256; type++)
		wrong += !dentry_with(17, type, 1, "a") !=
			 (type == 1 || type == 2 || type == 4 || type == 6 ||
			  type == 8 || type == 10 || type == 12);
	check(!wrong, "%u types", wrong);
}

int main(void)
{
	test_crc();
	test_segment();
	test_segment_entry();
	test_object();
	test_object_limits();
	test_inode();
	test_words();
	test_dentry();
	return report("test_objects");
}
