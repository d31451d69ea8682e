// SPDX-License-Identifier: GPL-2.0-only
/* The segregated layout: tags, index pages, the pages of headers, cuts. */

#include "harness.h"

#define CHUNK	2048

/* ---- tags ---- */

static struct yaffs_tags tags_of(u32 seq, u32 obj_id, u32 chunk_id)
{
	return (struct yaffs_tags) {
		.seq = seq, .obj_id = obj_id, .chunk_id = chunk_id,
		.segregated = true,
	};
}

static void check_words(const struct yaffs_tags *t, const u32 words[4],
			const char *what)
{
	struct yaffs_tags_media m;
	struct yaffs_tags back;
	u32 i;

	yaffs_tags_pack(t, &m);
	for (i = 0; i < 4; i++)
		check(get32(&m, 4 * i) == words[i], "%s: word %u is %08x", what,
		      i, get32(&m, 4 * i));
	check(!yaffs_tags_unpack(&m, &back), "%s: cannot be read", what);
	check(back.used && back.segregated && back.seq == t->seq &&
	      back.obj_id == t->obj_id && back.chunk_id == t->chunk_id &&
	      back.metadata == t->metadata && back.is_index == t->is_index &&
	      back.extended == t->extended && back.type == t->type &&
	      back.parent_id == t->parent_id && back.shadows == t->shadows,
	      "%s: reads as something else", what);
}

static void test_tags(void)
{
	struct yaffs_tags data = tags_of(0x1001, 0x3ffff, 0x0fffffff);
	struct yaffs_tags late = tags_of(0xeffffeff, 256, 1);
	struct yaffs_tags index = tags_of(0x1234567, 300, 0);
	struct yaffs_tags header = tags_of(0x8000001, 300, 0);
	struct yaffs_tags ckpt = tags_of(YAFFS_SEQ_CHECKPOINT, 77, 1);

	data.n_bytes = 2048;
	check_words(&data, (u32[]){ 0xf0001001, 0x3ffff, 0x0fffffff, 2048 }, "data");
	late.n_bytes = 1;
	/* Of 0xeffffeff the low 27 bits are 0x7fffeff, the high five 29. */
	check_words(&late, (u32[]){ 0xf7fffeff, 29 << 18 | 256, 1, 1 }, "late");
	index.metadata = true;
	index.is_index = true;
	index.n_bytes = 2048;
	check_words(&index, (u32[]){ 0xf1234567, 0x00800000 | 300, 0x40000000, 2048 },
		    "index page");
	header.metadata = true;
	header.extended = true;
	header.type = YAFFS_TYPE_FILE;
	header.parent_id = 1;
	header.shadows = true;
	header.size = 0x123456789ull;
	check_words(&header,
		    (u32[]){ 0xf0000001, 0x10800000 | 1 << 18 | 300, 0xa0000001, 0x23456789 },
		    "header");
	ckpt.n_bytes = 2048;
	check_words(&ckpt, (u32[]){ 0xf8000021, 77, 1, 2048 }, "checkpoint");
}

static void test_wrong_tags(void)
{
	static const u32 wrong[][4] = {
		{ 0xf0001001, 0x01000100, 1, 1 },		/* a spare bit */
		{ 0xf0001001, 0x00800100, 1, 1 },		/* data in a metadata block */
		{ 0xf0001001, 0x00000100, 0x40000000, 1 },	/* an index page in a data block */
		{ 0xf0001001, 0x10000100, 0x80000001, 1 },	/* a header in one */
		{ 0xf0001001, 0x10800100, 0xc0000001, 1 },	/* a shrink header */
		{ 0xf0001001, 0x00800100, 0, 1 },		/* a header without its form */
		{ 0xf0001001, 0x00000000, 1, 1 },		/* no object */
		{ 0xf0001001, 0x00000100, 0x10000000, 1 },	/* too large a chunk */
	};
	struct yaffs_tags_media m;
	struct yaffs_tags t;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		for (j = 0; j < 4; j++)
			put32(&m, 4 * j, wrong[i][j]);
		check(yaffs_tags_unpack(&m, &t) == -EUCLEAN, "wrong tags %u", i);
	}
	/* A plain reader sees numbers that no block can have. */
	check(yaffs_tags_seq_word(0x1001, false) == 0x1001, "plain number");
	check(yaffs_tags_seq_word(0x1001, true) >= YAFFS_SEQ_END, "marked number");
}

/* ---- maps ---- */

static void test_sizes(void)
{
	check(yaffs_map_entries(2048) == 496, "500, in leaves of 16");
	check(yaffs_map_entries(2032) == 496, "just so");
	check(yaffs_map_entries(1024) == 240, "244, in leaves of 16");
	check(yaffs_map_index_offset() == 48, "index page");
	check(yaffs_map_header_offset() == 512 + 48 + 4 * 16, "header");
	check(yaffs_map_room(2048) == 2048 - 624, "room");
}

static void make_index(u8 *page)
{
	const struct yaffs_map_head head = {
		.has_entries = true, .lost = true, .piece = 3, .n_entries = 2,
		.position = 0x1111222233334444ull, .horizon = 0x0102030405060708ull,
		.size = 0x123456789ull,
	};

	memset(page, 0, CHUNK);
	put32(page, 48, 77);
	put32(page, 52, 78);
	yaffs_map_pack_index(&head, page, CHUNK);
}

static void test_index_page(void)
{
	/* Made with Python's zlib.crc32() over the bytes of the specification. */
	static const u32 words[] = {
		0x58444e49, 0x00050001, 0x69b5186c, 3, 2, 0, 0x33334444, 0x11112222,
		0x05060708, 0x01020304, 0x23456789, 1, 77, 78, 0xffffffff,
	};
	struct yaffs_map_head head;
	u8 page[CHUNK];
	u32 i;

	make_index(page);
	for (i = 0; i < ARRAY_SIZE(words); i++)
		check(get32(page, 4 * i) == words[i], "index word %u: %08x", i,
		      get32(page, 4 * i));
	check(!yaffs_map_unpack_index(page, CHUNK, &head), "index page");
	check(head.has_entries && head.lost && !head.tail && head.piece == 3 &&
	      head.n_entries == 2 && head.position == 0x1111222233334444ull &&
	      head.horizon == 0x0102030405060708ull && head.size == 0x123456789ull,
	      "its head");
}

static struct yaffs_map_head header_head(void)
{
	return (struct yaffs_map_head) {
		.has_entries = true, .tail = true, .n_entries = 1, .n_cuts = 2,
		.xattr_bytes = 8, .position = 5, .horizon = 4,
		.cuts = { { 1, 0 }, { 0x100000002ull, 7 } },
	};
}

static void make_header(u8 *page)
{
	const struct yaffs_map_head head = header_head();

	memset(page, 0xaa, CHUNK);
	put32(page, 624, 0x11111111);
	put32(page, 628, 0x22222222);
	put32(page, 632, 99);
	yaffs_map_pack_header(&head, page, CHUNK);
}

static void test_header_page(void)
{
	static const u32 words[] = {
		0x58444e49, 0x00030001, 0xc701f1bf, 0, 1, 0x00080002, 5, 0, 4, 0, 0, 0,
		1, 0, 0, 0, 2, 1, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0x11111111, 0x22222222, 99, 0xffffffff,
	};
	struct yaffs_map_head head;
	u8 page[CHUNK];
	u32 i;

	make_header(page);
	check(page[511] == 0xaa, "the header itself is left alone");
	for (i = 0; i < ARRAY_SIZE(words); i++)
		check(get32(page, 512 + 4 * i) == words[i], "header word %u: %08x",
		      i, get32(page, 512 + 4 * i));
	check(!yaffs_map_unpack_header(page, CHUNK, &head), "header page");
	check(head.tail && !head.lost && head.n_cuts == 2 && head.xattr_bytes == 8 &&
	      head.cuts[0].position == 1 && !head.cuts[0].chunks &&
	      head.cuts[1].position == 0x100000002ull && head.cuts[1].chunks == 7,
	      "its head");
}

/* As many as there is place for, and what stands behind them is left alone. */
static void test_four_cuts(void)
{
	struct {
		struct yaffs_map_head head;
		struct yaffs_cut behind;
	} read = { .behind = { 77, 77 } };
	struct yaffs_map_head head = {
		.n_cuts = 4, .xattr_bytes = 8,
		.cuts = { { 1, 0 }, { 2, 5 }, { 3, 6 }, { 4, 9 } },
	};
	u8 page[CHUNK] = {};

	put32(page, 624, 0x11111111);
	put32(page, 628, 0x22222222);
	yaffs_map_pack_header(&head, page, CHUNK);
	check(get32(page, 516) == 1, "version 1, no flags: %08x", get32(page, 516));
	check(get32(page, 512 + 96) == 4 && get32(page, 512 + 104) == 9, "the fourth");
	check(get32(page, 624) == 0x11111111 && get32(page, 628) == 0x22222222,
	      "attributes behind the cuts");
	check(!yaffs_map_unpack_header(page, CHUNK, &read.head) &&
	      read.head.n_cuts == 4 && read.head.cuts[3].position == 4 &&
	      read.head.cuts[3].chunks == 9 && read.head.xattr_bytes == 8, "read");
	check(read.behind.position == 77 && read.behind.chunks == 77, "no fifth");
	/* n at 20 is 5, the CRC at 8 that of 48 + 64 + 8 bytes. */
	put32(page, 512 + 20, 8 << 16 | 5);
	put32(page, 512 + 8, 0);
	put32(page, 512 + 8, ~crc32_le(~0u, page + 512, 120));
	check(yaffs_map_unpack_header(page, CHUNK, &read.head) == -EUCLEAN,
	      "more than there can be");
}

/* Each byte that counts is noticed, none behind the entries is. */
static void test_damage(void)
{
	struct yaffs_map_head head;
	u8 page[CHUNK];
	u32 i, missed = 0;

	for (i = 0; i < 56; i++) {
		make_index(page);
		page[i] ^= 1;
		missed += !yaffs_map_unpack_index(page, CHUNK, &head);
	}
	for (i = 512; i < 636; i++) {
		make_header(page);
		page[i] ^= 1;
		missed += !yaffs_map_unpack_header(page, CHUNK, &head);
	}
	check(!missed, "%u damaged bytes were not noticed", missed);
	make_index(page);
	page[56] ^= 1;
	check(!yaffs_map_unpack_index(page, CHUNK, &head), "behind the entries");
	make_header(page);
	check(yaffs_map_unpack_index(page, CHUNK, &head) == -EUCLEAN,
	      "a header is no index page");
}

/* With a good CRC, but what cannot be. */
static void test_impossible(void)
{
	struct yaffs_map_head head = header_head(), found;
	u8 page[CHUNK] = {};

	head.n_entries = 496;
	head.xattr_bytes = 0;
	check(head.n_entries * 4 > yaffs_map_room(CHUNK), "more than there is room for");
	head.n_entries = 356;
	yaffs_map_pack_header(&head, page, CHUNK);
	check(!yaffs_map_unpack_header(page, CHUNK, &found), "to the last byte");
	head.has_entries = false;
	yaffs_map_pack_header(&head, page, CHUNK);
	check(yaffs_map_unpack_header(page, CHUNK, &found) == -EUCLEAN,
	      "entries that are none");
	head = header_head();
	head.piece = 1;
	yaffs_map_pack_header(&head, page, CHUNK);
	check(yaffs_map_unpack_header(page, CHUNK, &found) == -EUCLEAN,
	      "a header has the first piece");
	head.n_cuts = 0;
	head.xattr_bytes = 0;
	head.piece = YAFFS_MAX_CHUNK_ID / 496;
	yaffs_map_pack_index(&head, page, CHUNK);
	check(!yaffs_map_unpack_index(page, CHUNK, &found), "the last piece");
	head.piece++;
	yaffs_map_pack_index(&head, page, CHUNK);
	check(yaffs_map_unpack_index(page, CHUNK, &found) == -EUCLEAN, "one more");
	head.piece = 0;
	head.n_cuts = 1;
	yaffs_map_pack_index(&head, page, CHUNK);
	check(yaffs_map_unpack_index(page, CHUNK, &found) == -EUCLEAN,
	      "an index page has no cuts");
}

/* A piece of 496 entries fills 2,032 of 2,048 bytes: there is room for more, and no use. */
static void test_full_piece(void)
{
	struct yaffs_map_head head = { .has_entries = true, .n_entries = 496 }, found;
	u8 page[CHUNK] = {};

	put32(page, 48 + 4 * 495, 0x3ffff);
	yaffs_map_pack_index(&head, page, CHUNK);
	check(!yaffs_map_unpack_index(page, CHUNK, &found) && found.n_entries == 496,
	      "all that there are");
	head.n_entries = 497;
	yaffs_map_pack_index(&head, page, CHUNK);
	check(yaffs_map_unpack_index(page, CHUNK, &found) == -EUCLEAN, "one more");
}

static void test_versions(void)
{
	struct yaffs_map_head head;
	u8 page[CHUNK];

	make_index(page);
	put32(page, 4, 0x00050002);
	put32(page, 8, 0);
	put32(page, 8, ~crc32_le(~0u, page, 56));
	check(yaffs_map_unpack_index(page, CHUNK, &head) == -EOPNOTSUPP,
	      "a later version");
}

/* ---- positions ---- */

static void test_positions(void)
{
	check(yaffs_position(0x1001, 1022) == 0x1001 * 1024ull + 1022,
	      "sequence number x 1024 + page");
	check(yaffs_position_seq(yaffs_position(0x1001, 1022)) == 0x1001,
	      "of the last page of a block");
	check(yaffs_position_seq(yaffs_position(0xeffffeff, 0)) == 0xeffffeff,
	      "of the last block");
	check(yaffs_position_seq(U64_MAX) > U32_MAX,
	      "a number that no block has is not cut short");
}

/* ---- cuts ---- */

static void test_cuts(void)
{
	struct yaffs_cut cuts[YAFFS_MAP_CUTS + 1] = { [YAFFS_MAP_CUTS] = { 77, 77 } };
	u32 n = yaffs_cuts_add(cuts, 0, 10, 0);

	check(n == 1, "born");
	check(yaffs_cuts_page(cuts, n, 9, 1) && !yaffs_cuts_page(cuts, n, 10, 1),
	      "pages before it");
	check(yaffs_cuts_entry(cuts, n, 10, 1) && !yaffs_cuts_entry(cuts, n, 11, 1),
	      "entries before it");
	n = yaffs_cuts_add(cuts, n, 20, 5);
	check(yaffs_cuts_entry(cuts, n, 15, 6) && !yaffs_cuts_entry(cuts, n, 15, 5) &&
	      !yaffs_cuts_entry(cuts, n, 21, 6), "entries before the second one");
	n = yaffs_cuts_add(cuts, n, 30, 9);
	check(n == 3 && cuts[2].chunks == 9, "each less short");
	check(!yaffs_cuts_page(cuts, n, 19, 5) && yaffs_cuts_page(cuts, n, 19, 6),
	      "what was left");
	check(yaffs_cuts_page(cuts, n, 29, 10) && !yaffs_cuts_page(cuts, n, 29, 9),
	      "and later");
	n = yaffs_cuts_add(cuts, n, 30, 12);
	check(n == 3, "nothing was written in between: it cut nothing off");
	n = yaffs_cuts_add(cuts, n, 40, 9);
	check(n == 3 && cuts[2].position == 40, "as short once more");
	n = yaffs_cuts_add(cuts, n, 50, 10);
	check(n == 4, "the fourth");
	check(yaffs_cuts_add(cuts, n, 60, 11) == 5 && cuts[3].position == 50 &&
	      cuts[4].position == 77, "there is no place for a fifth");
	n = yaffs_cuts_add(cuts, n, 70, 3);
	check(n == 2 && cuts[0].chunks == 0 && cuts[1].chunks == 3,
	      "it makes void what cut off less");
	cuts[2] = (struct yaffs_cut) { 90, 20 };
	check(!yaffs_cuts_page(cuts, n, 75, 21) && !yaffs_cuts_entry(cuts, n, 75, 21),
	      "what is behind the last one is none");
	check(yaffs_cuts_add(cuts, n, 80, 0) == 1 && cuts[0].position == 80,
	      "all of it");
}

int main(void)
{
	test_tags();
	test_wrong_tags();
	test_sizes();
	test_index_page();
	test_header_page();
	test_four_cuts();
	test_damage();
	test_impossible();
	test_full_piece();
	test_versions();
	test_positions();
	test_cuts();
	return report("test_map");
}
