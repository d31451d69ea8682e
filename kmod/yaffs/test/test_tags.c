// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tags against values worked out by hand from the description of the format, and
 * their ECC against a slow one that follows the description bit by bit.
 */

#include "harness.h"

#define DATA_BITS	128
#define COLUMN_BITS	6
#define LINE_BITS	64
#define CODE_BITS	(DATA_BITS + COLUMN_BITS + LINE_BITS)

/* Bytes of a page's tags with ECC, as they lie in the OOB. */
#define COLUMN_AT	16
#define LINE_AT		20
#define INVERSE_AT	24
#define OOB_TAG_BYTES	28

static bool same(const struct yaffs_tags *a, const struct yaffs_tags *b)
{
	return a->seq == b->seq && a->obj_id == b->obj_id &&
	       a->chunk_id == b->chunk_id && a->n_bytes == b->n_bytes &&
	       a->used == b->used && a->extended == b->extended &&
	       a->is_shrink == b->is_shrink && a->shadows == b->shadows &&
	       a->type == b->type && a->parent_id == b->parent_id &&
	       a->size == b->size && a->link_target == b->link_target;
}

static void set(struct yaffs_tags_media *m, u32 seq, u32 obj_id, u32 chunk_id,
		u32 n_bytes)
{
	put32(m, 0, seq);
	put32(m, 4, obj_id);
	put32(m, 8, chunk_id);
	put32(m, 12, n_bytes);
}

static void expect(const char *what, const struct yaffs_tags *t, u32 obj_id,
		   u32 chunk_id, u32 n_bytes)
{
	struct yaffs_tags_media m;
	struct yaffs_tags back;

	yaffs_tags_pack(t, &m);
	check(get32(&m, 0) == t->seq && get32(&m, 4) == obj_id &&
	      get32(&m, 8) == chunk_id && get32(&m, 12) == n_bytes,
	      "%s: words %08x %08x %08x %08x", what, get32(&m, 0),
	      get32(&m, 4), get32(&m, 8), get32(&m, 12));
	check(!yaffs_tags_unpack(&m, &back) && same(t, &back),
	      "%s comes back", what);
}

static void test_words(void)
{
	struct yaffs_tags data = {
		.seq = 0x1001, .obj_id = 257, .chunk_id = 3, .n_bytes = 2048,
		.used = true,
	};
	struct yaffs_tags file = {
		.seq = 0x1002, .obj_id = 257, .used = true, .extended = true,
		.type = YAFFS_TYPE_FILE, .parent_id = 1, .size = 5000,
		.is_shrink = true,
	};
	struct yaffs_tags link = {
		.seq = 0x1002, .obj_id = 258, .used = true, .extended = true,
		.type = YAFFS_TYPE_HARDLINK, .parent_id = 300,
		.link_target = 257, .shadows = true,
	};
	struct yaffs_tags root = {
		.seq = 0x1003, .obj_id = 1, .used = true, .extended = true,
		.type = YAFFS_TYPE_DIRECTORY,
	};

	expect("data", &data, 0x101, 3, 0x800);
	data.chunk_id = YAFFS_MAX_CHUNK_ID;
	data.obj_id = YAFFS_MAX_OBJECT_ID;
	expect("largest ids", &data, 0x3ffff, 0x0fffffff, 0x800);
	expect("file", &file, 0x10000101, 0xc0000001, 0x1388);
	file.size = 0x7fffffff;
	expect("largest extended file", &file, 0x10000101, 0xc0000001,
	       0x7fffffff);
	expect("hard link", &link, 0x40000102, 0xa000012c, 0x101);
	expect("root", &root, 0x30000001, 0x80000000, 0);
}

static void test_large_file(void)
{
	struct yaffs_tags file = {
		.seq = 0x1002, .obj_id = 257, .used = true, .extended = true,
		.type = YAFFS_TYPE_FILE, .parent_id = 1, .size = 1ull << 31,
	};
	struct yaffs_tags_media m;
	struct yaffs_tags back;

	yaffs_tags_pack(&file, &m);
	check(get32(&m, 4) == 257 && get32(&m, 8) == 0,
	      "a file of 2 GiB has the plain form");
	check(!yaffs_tags_unpack(&m, &back) && back.used && !back.extended &&
	      back.obj_id == 257 && back.chunk_id == 0 && back.n_bytes == 0,
	      "the plain form of a header");
	put32(&m, 12, 0x12345678);
	check(!yaffs_tags_unpack(&m, &back) && back.n_bytes == 0,
	      "a header has no byte count");
}

static void test_special_sequences(void)
{
	struct yaffs_tags_media m;
	struct yaffs_tags t;

	set(&m, 0xffffffff, 0, 0x90000000, 7);
	check(!yaffs_tags_unpack(&m, &t) && !t.used && !t.obj_id &&
	      !t.chunk_id && !t.n_bytes && !t.extended, "unused page");
	set(&m, 0x21, 0xffffffff, 0x80000001, 2048);
	check(!yaffs_tags_unpack(&m, &t) && t.used && !t.extended &&
	      t.obj_id == 0xffffffff && t.chunk_id == 0x80000001 &&
	      t.n_bytes == 2048, "page of the checkpoint");
	set(&m, 0x1001, 0x10, 1, 772);
	check(!yaffs_tags_unpack(&m, &t) && t.obj_id == 0x10 &&
	      t.chunk_id == 1 && t.n_bytes == 772, "page of a summary");
}

static void test_refused(void)
{
	static const struct {
		const char *what;
		u32 obj_id, chunk_id, n_bytes;
	} bad[] = {
		{ "object 0", 0, 1, 0 },
		{ "object too large", 0x40000, 1, 0 },
		{ "a type without the extended form", 0x10000101, 1, 0 },
		{ "chunk id too large", 257, 0x10000000, 0 },
		{ "shrink without the extended form", 257, 0x40000001, 0 },
		{ "extended: type 0", 257, 0x80000001, 0 },
		{ "extended: type 6", 0x60000101, 0x80000001, 0 },
		{ "extended: object 0", 0x10000000, 0x80000001, 0 },
		{ "extended: object too large", 0x10040000, 0x80000001, 0 },
		{ "extended: parent 0", 0x10000101, 0x80000000, 0 },
		{ "extended: parent too large", 0x10000101, 0x80040000, 0 },
		{ "root with a wrong parent", 0x30000001, 0x80040000, 0 },
		{ "link to 0", 0x40000101, 0x80000001, 0 },
		{ "link too far", 0x40000101, 0x80000001, 0x40000 },
	};
	struct yaffs_tags_media m;
	struct yaffs_tags t;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		set(&m, 0x1001, bad[i].obj_id, bad[i].chunk_id, bad[i].n_bytes);
		check(yaffs_tags_unpack(&m, &t) == -EUCLEAN, "refused: %s",
		      bad[i].what);
	}
}

static struct yaffs_tags random_tags(u64 *state)
{
	struct yaffs_tags t = {
		.seq = YAFFS_SEQ_LOWEST + draw_below(state, 0xe0000000),
		.obj_id = 1 + draw_below(state, YAFFS_MAX_OBJECT_ID),
		.used = true,
	};

	if (draw(state) & 1) {
		t.chunk_id = 1 + draw_below(state, YAFFS_MAX_CHUNK_ID);
		t.n_bytes = (u32)draw(state);
		return t;
	}
	t.extended = true;
	t.is_shrink = draw(state) & 1;
	t.shadows = draw(state) & 1;
	t.type = (u8)(1 + draw_below(state, YAFFS_TYPES - 1));
	t.parent_id = 1 + draw_below(state, YAFFS_MAX_OBJECT_ID);
	if (t.type == YAFFS_TYPE_FILE)
		t.size = draw(state) >> 33;
	if (t.type == YAFFS_TYPE_HARDLINK)
		t.link_target = 1 + draw_below(state, YAFFS_MAX_OBJECT_ID);
	return t;
}

static void test_round_trips(void)
{
	u64 state = 1;
	u32 i, wrong = 0;

	for (i = 0; i < 100000; i++) {
		struct yaffs_tags t = random_tags(&state), back;
		struct yaffs_tags_media m;

		yaffs_tags_pack(&t, &m);
		wrong += yaffs_tags_unpack(&m, &back) || !same(&t, &back);
	}
	check(!wrong, "%u of %u random tags do not come back", wrong, i);
}

/* The ECC by its definition: one bit at a time. @oob: tags, then ECC. */
static void slow_ecc(u8 *oob)
{
	/* The data bits of each column parity. */
	static const u8 members[COLUMN_BITS][4] = {
		{ 0, 2, 4, 6 }, { 1, 3, 5, 7 }, { 0, 1, 4, 5 },
		{ 2, 3, 6, 7 }, { 0, 1, 2, 3 }, { 4, 5, 6, 7 },
	};
	u32 line = 0, inverse = 0, i, bit, weight;
	u8 column = 0;

	for (i = 0; i < 16; i++) {
		for (bit = 0; bit < COLUMN_BITS * 4; bit++)
			if (oob[i] >> members[bit / 4][bit % 4] & 1)
				column ^= (u8)(1u << bit / 4);
		for (weight = 0, bit = 0; bit < 8; bit++)
			weight += oob[i] >> bit & 1;
		if (weight % 2) {
			line ^= i;
			inverse ^= ~i;
		}
	}
	memset(oob + COLUMN_AT, 0, OOB_TAG_BYTES - COLUMN_AT);
	oob[COLUMN_AT] = column;
	put32(oob, LINE_AT, line);
	put32(oob, INVERSE_AT, inverse);
}

static void fast_ecc(u8 *oob)
{
	struct yaffs_tags_oob_media *m = (struct yaffs_tags_oob_media *)oob;

	yaffs_tags_ecc_calculate(&m->tags, &m->ecc);
}

static enum yaffs_ecc_result correct(u8 *oob)
{
	struct yaffs_tags_oob_media *m = (struct yaffs_tags_oob_media *)oob;

	return yaffs_tags_ecc_correct(&m->tags, &m->ecc);
}

/* Inverts bit @bit of the code: data, column parities, both line parities. */
static void flip(u8 *oob, u32 bit)
{
	if (bit >= DATA_BITS + COLUMN_BITS)
		bit += LINE_AT * 8 - (DATA_BITS + COLUMN_BITS);
	oob[bit / 8] ^= (u8)(1u << bit % 8);
}

static void test_ecc_by_hand(void)
{
	static const struct {
		u8 at[2], value[2], column;
		u32 line, inverse;
	} cases[] = {
		{ { 0, 0 }, { 0, 0 }, 0, 0, 0 },
		/* Bit 0 is in the sets of parities 0, 2 and 4. */
		{ { 5, 5 }, { 0x01, 0x01 }, 0x15, 5, 0xfffffffa },
		{ { 0, 0 }, { 0x01, 0x01 }, 0x15, 0, 0xffffffff },
		/* Bit 7: 1, 3 and 5. */
		{ { 15, 15 }, { 0x80, 0x80 }, 0x2a, 15, 0xfffffff0 },
		{ { 1, 2 }, { 0x01, 0x01 }, 0x00, 3, 3 },
		/* Even weight: no line; 0x15 and 0x16 give 0x03. */
		{ { 9, 9 }, { 0x03, 0x03 }, 0x03, 0, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u8 oob[OOB_TAG_BYTES] = { 0 };

		oob[cases[i].at[0]] = cases[i].value[0];
		oob[cases[i].at[1]] = cases[i].value[1];
		memset(oob + COLUMN_AT, 0xa5, OOB_TAG_BYTES - COLUMN_AT);
		fast_ecc(oob);
		check(oob[COLUMN_AT] == cases[i].column &&
		      get32(oob, LINE_AT) == cases[i].line &&
		      get32(oob, INVERSE_AT) == cases[i].inverse &&
		      all_bytes(oob + COLUMN_AT + 1, 3, 0), "ECC %zu by hand", i);
	}
}

static void test_ecc_reference(void)
{
	u64 state = 2;
	u32 i, wrong = 0;

	for (i = 0; i < 100000; i++) {
		u8 slow[OOB_TAG_BYTES], fast[OOB_TAG_BYTES];

		draw_bytes(&state, slow, sizeof(slow));
		memcpy(fast, slow, sizeof(fast));
		slow_ecc(slow);
		fast_ecc(fast);
		wrong += memcmp(slow, fast, sizeof(slow)) != 0;
		wrong += correct(slow) != YAFFS_ECC_GOOD;
		wrong += memcmp(slow, fast, sizeof(slow)) != 0;
	}
	check(!wrong, "%u ECC of random tags differ from the slow one's", wrong);
}

static void test_one_error(const u8 *good)
{
	u8 oob[OOB_TAG_BYTES];
	u32 bit, wrong = 0;

	for (bit = 0; bit < CODE_BITS; bit++) {
		memcpy(oob, good, sizeof(oob));
		flip(oob, bit);
		wrong += correct(oob) != YAFFS_ECC_CORRECTED;
		wrong += memcmp(oob, good, 16) != 0;
	}
	check(!wrong, "%u single errors are not corrected", wrong);
	for (bit = 0; bit < 26; bit++) {
		memcpy(oob, good, sizeof(oob));
		oob[COLUMN_AT + (bit + 6) / 8] ^= (u8)(1u << (bit + 6) % 8);
		check(correct(oob) == YAFFS_ECC_GOOD &&
		      !memcmp(oob, good, 16), "padding bit %u matters", bit);
	}
}

/* The code has distance 4: two errors are noticed, wherever they are. */
static void test_two_errors(const u8 *good)
{
	u8 oob[OOB_TAG_BYTES], damaged[OOB_TAG_BYTES];
	u32 a, b, wrong = 0, pairs = 0;

	for (a = 0; a < CODE_BITS; a++) {
		for (b = a + 1; b < CODE_BITS; b++, pairs++) {
			memcpy(damaged, good, sizeof(damaged));
			flip(damaged, a);
			flip(damaged, b);
			memcpy(oob, damaged, sizeof(oob));
			wrong += correct(oob) != YAFFS_ECC_UNCORRECTABLE;
			wrong += memcmp(oob, damaged, sizeof(oob)) != 0;
		}
	}
	check(pairs == 198 * 197 / 2 && !wrong,
	      "%u of %u double errors are not noticed", wrong, pairs);
}

/* Three may be taken for one, but never for none. */
static void test_three_errors(const u8 *good, u64 *state)
{
	u32 i, wrong = 0;

	for (i = 0; i < 20000; i++) {
		u32 a = draw_below(state, CODE_BITS);
		u32 b = (a + 1 + draw_below(state, 90)) % CODE_BITS;
		u32 c = (b + 1 + draw_below(state, 90)) % CODE_BITS;
		u8 oob[OOB_TAG_BYTES];

		memcpy(oob, good, sizeof(oob));
		flip(oob, a);
		flip(oob, b);
		flip(oob, c);
		wrong += correct(oob) == YAFFS_ECC_GOOD;
	}
	check(!wrong, "%u triple errors are called good", wrong);
}

/* Whether a page that memory has as chunk 3 of object 257, in a block numbered 0x1001, is that. */
static bool is_the_page(struct yaffs_tags t)
{
	const struct yaffs_identity id = { .obj_id = 257, .chunk_id = 3 };
	struct yaffs_tags_media m;
	struct yaffs_tags back;

	yaffs_tags_pack(&t, &m);
	return !yaffs_tags_unpack(&m, &back) && yaffs_tags_are(&back, &id, 0x1001);
}

static void test_identity(void)
{
	const struct yaffs_tags right = {
		.seq = 0x1001, .obj_id = 257, .chunk_id = 3, .n_bytes = 2048,
	};
	const struct yaffs_identity header = { .obj_id = 257 };
	struct yaffs_tags t = right;

	check(is_the_page(right), "the page is itself");
	t.n_bytes = 1;
	check(is_the_page(t), "a part of a page is the page");
	t.seq = 0x1000;
	check(!is_the_page(t), "a page of an older block is another");
	t = right;
	t.obj_id = 258;
	check(!is_the_page(t), "a page of another object is another");
	t = right;
	t.chunk_id = 4;
	check(!is_the_page(t), "another chunk is another");
	t = (struct yaffs_tags) { .seq = YAFFS_SEQ_ERASED };
	check(!is_the_page(t), "an erased page is none");
	t = right;
	t.segregated = true;
	check(is_the_page(t), "a data page of the segregated layout is the page");
	t.metadata = true;
	t.is_index = true;
	check(!is_the_page(t), "an index page is no data page");
	t = (struct yaffs_tags) {
		.seq = 0x1001, .obj_id = 257, .used = true, .extended = true,
		.type = YAFFS_TYPE_FILE, .parent_id = 1,
	};
	check(!is_the_page(t), "a header is no data page");
	check(yaffs_tags_are(&t, &header, 0x1001), "a header is a header");
}

int main(void)
{
	u64 state = 3;
	u32 i;

	test_words();
	test_large_file();
	test_special_sequences();
	test_refused();
	test_round_trips();
	test_identity();
	test_ecc_by_hand();
	test_ecc_reference();
	for (i = 0; i < 8; i++) {
		u8 oob[OOB_TAG_BYTES];

		draw_bytes(&state, oob, sizeof(oob));
		if (i < 2)
			memset(oob, i ? 0xff : 0, sizeof(oob));
		slow_ecc(oob);
		test_one_error(oob);
		test_two_errors(oob);
		test_three_errors(oob, &state);
	}
	return report("test_tags");
}
