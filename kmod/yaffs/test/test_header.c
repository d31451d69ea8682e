// SPDX-License-Identifier: GPL-2.0-only
/*
 * Object headers. What is expected is written with the byte offsets of the format's
 * description, so that a mistake in our structure shows.
 */

#include "harness.h"

#define MAX_SIZE	0x8000000000ull

/* Offsets of the description. */
#define TYPE		0
#define PARENT		4
#define NAME		10
#define MODE		268
#define ATIME		280
#define MTIME		284
#define CTIME		288
#define SIZE_LOW	292
#define LINK_TARGET	296
#define SYMLINK		300
#define RDEV		460
#define CTIME64		464
#define ATIME64		472
#define MTIME64		480
#define INBAND_SHADOW	488
#define INBAND_SHRINK	492
#define SIZE_HIGH	496
#define SHADOW		504
#define SHRINK		508

static const struct yaffs_header file_header = {
	.type = YAFFS_TYPE_FILE, .parent_id = 0x1234,
	.name = (const u8 *)"hello", .name_bytes = 5,
	.mode = 0100644, .uid = 1000, .gid = 0x12345678,
	.atime_s = 0x1000000a1ull, .mtime_s = 0x2000000a2ull,
	.ctime_s = 0x3000000a3ull, .size = 0x500000123ull,
	.shadowed_id = 400, .is_shrink = true,
};

static void expect32(const u8 *raw, u32 offset, u32 value)
{
	check(get32(raw, offset) == value, "offset %u: %08x, not %08x", offset,
	      get32(raw, offset), value);
}

static u8 *encode(const struct yaffs_header *h, bool inband)
{
	u8 *raw = malloc(512);

	memset(raw, 0x5a, 512);
	yaffs_header_encode(h, inband, (struct yaffs_header_media *)raw);
	return raw;
}

static int decode(const u8 *raw, struct yaffs_header *h)
{
	return yaffs_header_decode((const struct yaffs_header_media *)raw,
				   MAX_SIZE, h);
}

static void test_file_offsets(void)
{
	u8 *raw = encode(&file_header, false);

	expect32(raw, TYPE, 1);
	expect32(raw, PARENT, 0x1234);
	check(all_bytes(raw + 8, 2, 0xff), "obsolete checksum");
	check(!memcmp(raw + NAME, "hello", 5) &&
	      all_bytes(raw + NAME + 5, 251, 0), "name, zero padded");
	expect32(raw, MODE, 0100644);
	expect32(raw, 272, 1000);
	expect32(raw, 276, 0x12345678);
	expect32(raw, ATIME, 0xa1);
	expect32(raw, MTIME, 0xa2);
	expect32(raw, CTIME, 0xa3);
	expect32(raw, SIZE_LOW, 0x123);
	check(all_bytes(raw + LINK_TARGET, 164, 0xff),
	      "a file has no link target or symbolic link");
	expect32(raw, RDEV, 0);
	expect32(raw, CTIME64, 0xa3);
	expect32(raw, CTIME64 + 4, 3);
	expect32(raw, ATIME64, 0xa1);
	expect32(raw, ATIME64 + 4, 1);
	expect32(raw, MTIME64, 0xa2);
	expect32(raw, MTIME64 + 4, 2);
	check(all_bytes(raw + INBAND_SHADOW, 8, 0xff), "in-band copies unset");
	expect32(raw, SIZE_HIGH, 5);
	expect32(raw, 500, 0xffffffff);
	expect32(raw, SHADOW, 400);
	expect32(raw, SHRINK, 1);
	free(raw);
	raw = encode(&file_header, true);
	expect32(raw, INBAND_SHADOW, 400);
	expect32(raw, INBAND_SHRINK, 1);
	expect32(raw, SHADOW, 400);
	expect32(raw, SHRINK, 1);
	free(raw);
}

static void test_other_types(void)
{
	struct yaffs_header h = {
		.type = YAFFS_TYPE_SYMLINK, .parent_id = 1, .mode = 0120777,
		.name = (const u8 *)"s", .name_bytes = 1,
		.symlink = (const u8 *)"a/b", .symlink_bytes = 3,
		.rdev = 0x0801, .size = 77, .link_target = 300,
	};
	u8 *raw = encode(&h, false);

	check(!memcmp(raw + SYMLINK, "a/b", 4) &&
	      all_bytes(raw + SYMLINK + 4, 156, 0), "target of the link");
	expect32(raw, SIZE_LOW, 0xffffffff);
	expect32(raw, SIZE_HIGH, 0xffffffff);
	expect32(raw, LINK_TARGET, 0xffffffff);
	expect32(raw, RDEV, 0);
	expect32(raw, SHADOW, 0);
	expect32(raw, SHRINK, 0);
	free(raw);
	h.type = YAFFS_TYPE_SPECIAL;
	raw = encode(&h, false);
	expect32(raw, RDEV, 0x0801);
	check(all_bytes(raw + SYMLINK, 160, 0xff), "no target for a device");
	free(raw);
	h.type = YAFFS_TYPE_HARDLINK;
	h.uid = 5;
	h.ctime_s = 99;
	raw = encode(&h, false);
	expect32(raw, LINK_TARGET, 300);
	check(all_bytes(raw + MODE, 24, 0) && all_bytes(raw + CTIME64, 24, 0),
	      "mode, owner and times of a hard link are 0");
	expect32(raw, SIZE_LOW, 0xffffffff);
	free(raw);
}

static void test_names_encoded(void)
{
	struct yaffs_header h = file_header, back;
	u8 text[300];
	u8 *raw;

	memset(text, 'n', sizeof(text));
	h.name = text;
	for (h.name_bytes = 250; h.name_bytes <= 300; h.name_bytes++) {
		u32 stored = h.name_bytes < 254 ? h.name_bytes : 254;

		raw = encode(&h, false);
		check(all_bytes(raw + NAME, stored, 'n') &&
		      all_bytes(raw + NAME + stored, 256 - stored, 0) &&
		      !decode(raw, &back) && back.name_bytes == stored,
		      "name of %u bytes", h.name_bytes);
		free(raw);
	}
	h.type = YAFFS_TYPE_SYMLINK;
	h.symlink = text;
	for (h.symlink_bytes = 158; h.symlink_bytes < 162; h.symlink_bytes++) {
		u32 stored = h.symlink_bytes < 159 ? h.symlink_bytes : 159;

		raw = encode(&h, false);
		check(all_bytes(raw + SYMLINK, stored, 'n') &&
		      all_bytes(raw + SYMLINK + stored, 160 - stored, 0) &&
		      !decode(raw, &back) && back.symlink_bytes == stored &&
		      back.symlink == raw + SYMLINK,
		      "symbolic link of %u bytes", h.symlink_bytes);
		free(raw);
	}
}

static void test_names_decoded(void)
{
	static const struct {
		const char *stored;
		u32 bytes;
	} names[] = {
		{ "", 0 }, { "a", 1 }, { "a/b", 1 }, { "/", 0 }, { ".", 0 },
		{ "..", 0 }, { "...", 3 }, { ".a", 2 }, { "./x", 0 },
		{ "\xff\xfe", 2 },
	};
	struct yaffs_header h;
	u8 *raw = encode(&file_header, false);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		memset(raw + NAME, 0, 256);
		strcpy((char *)raw + NAME, names[i].stored);
		check(!decode(raw, &h) && h.name == raw + NAME &&
		      h.name_bytes == names[i].bytes, "name '%s' has %u bytes",
		      names[i].stored, h.name_bytes);
	}
	memset(raw + NAME, 'x', 256);
	check(!decode(raw, &h) && h.name_bytes == 254, "name without end");
	raw[NAME + 254] = '/';
	check(!decode(raw, &h) && h.name_bytes == 254, "slash behind a name");
	memset(raw + NAME, 0xff, 256);
	check(!decode(raw, &h) && h.name_bytes == 254, "unset name");
	free(raw);
}

static void test_older_fields(void)
{
	struct yaffs_header h;
	u8 *raw = encode(&file_header, true);

	put32(raw, CTIME64 + 4, 0xffffffff);
	put32(raw, CTIME, 0xfffffff0);
	check(!decode(raw, &h) && h.ctime_s == 0xfffffff0 &&
	      h.atime_s == 0x1000000a1ull && h.mtime_s == 0x2000000a2ull,
	      "a time without high word");
	put32(raw, SIZE_HIGH, 0xffffffff);
	check(!decode(raw, &h) && h.size == 0x123, "a size of 32 bits");
	put32(raw, SHRINK, 0xffffffff);
	check(!decode(raw, &h) && !h.is_shrink, "an unset shrink flag");
	put32(raw, SHRINK, 0);
	check(!decode(raw, &h) && !h.is_shrink, "no shrink");
	put32(raw, SHADOW, 0xffffffff);
	check(!decode(raw, &h) && !h.shadowed_id, "an unset shadow");
	put32(raw, SHADOW, 0x40000);
	check(!decode(raw, &h) && !h.shadowed_id, "a shadow that is no id");
	put32(raw, SHADOW, 0x3ffff);
	check(!decode(raw, &h) && h.shadowed_id == 0x3ffff, "a shadow");
	free(raw);
}

/* A valid header with one word changed. */
static void expect_change(u32 type, u32 offset, u32 value, int status)
{
	struct yaffs_header h = file_header, back;
	u8 *raw;
	int got;

	h.type = type;
	h.symlink = (const u8 *)"t";
	h.symlink_bytes = 1;
	h.link_target = 257;
	raw = encode(&h, false);
	put32(raw, offset, value);
	got = decode(raw, &back);
	check(got == status, "type %u with %08x at %u gives %d", type, value,
	      offset, got);
	free(raw);
}

static void test_refused(void)
{
	struct yaffs_header h = { .type = YAFFS_TYPE_DIRECTORY }, back;
	u8 *raw = encode(&h, false);
	u32 type;

	check(!decode(raw, &back) && !back.parent_id && !back.name_bytes,
	      "header of the root");
	raw[NAME] = 'r';
	check(decode(raw, &back) == -EUCLEAN, "a named root");
	free(raw);
	h.type = YAFFS_TYPE_FILE;
	raw = encode(&h, false);
	check(decode(raw, &back) == -EUCLEAN, "a file above all");
	memset(raw, 0xff, 512);
	check(decode(raw, &back) == -EUCLEAN, "erased header");
	memset(raw, 0, 512);
	check(decode(raw, &back) == -EUCLEAN, "zero header");
	free(raw);
	for (type = 1; type < YAFFS_TYPES; type++) {
		expect_change(type, TYPE, type, 0);
		expect_change(type, TYPE, 0, -EUCLEAN);
		expect_change(type, TYPE, 6, -EUCLEAN);
		expect_change(type, PARENT, 0, -EUCLEAN);
		expect_change(type, PARENT, 0x3ffff, 0);
		expect_change(type, PARENT, 0x40000, -EUCLEAN);
	}
	expect_change(YAFFS_TYPE_HARDLINK, LINK_TARGET, 0, -EUCLEAN);
	expect_change(YAFFS_TYPE_HARDLINK, LINK_TARGET, 0x3ffff, 0);
	expect_change(YAFFS_TYPE_HARDLINK, LINK_TARGET, 0x40000, -EUCLEAN);
	expect_change(YAFFS_TYPE_FILE, LINK_TARGET, 0, 0);
	expect_change(YAFFS_TYPE_FILE, SIZE_HIGH, 0x7f, 0);
	expect_change(YAFFS_TYPE_FILE, SIZE_HIGH, 0x80, -EUCLEAN);
	expect_change(YAFFS_TYPE_DIRECTORY, SIZE_HIGH, 0x80, 0);
	raw = encode(&file_header, false);
	put32(raw, TYPE, YAFFS_TYPE_SYMLINK);
	check(decode(raw, &back) == -EUCLEAN, "symbolic link without end");
	raw[SYMLINK + 159] = 0;
	check(!decode(raw, &back) && back.symlink_bytes == 159,
	      "longest symbolic link");
	free(raw);
}

/* One field of file_header is changed; then it is read as what the tags know. */
static void expect_reconciled(u32 offset, u32 value,
			      const struct yaffs_header *known, u64 size)
{
	u8 *raw = encode(&file_header, false);
	struct yaffs_header back;
	int err;

	put32(raw, offset, value);
	yaffs_header_reconcile((struct yaffs_header_media *)raw, known,
			       MAX_SIZE);
	err = decode(raw, &back);
	check(!err && back.type == known->type && back.size == size &&
	      back.link_target == known->link_target &&
	      back.name_bytes == 5 && !memcmp(back.name, "hello", 5) &&
	      back.uid == 1000 && back.mtime_s == 0x2000000a2ull,
	      "%08x at %u: %d, type %u, size %llx", value, offset, err,
	      back.type, (unsigned long long)back.size);
	free(raw);
}

static void test_contradictions(void)
{
	struct yaffs_header file = {
		.type = YAFFS_TYPE_FILE, .parent_id = 0x1234, .size = 7,
	};
	struct yaffs_header other = { .parent_id = 0x1234 };
	u8 *raw = encode(&file_header, false);

	expect_reconciled(TYPE, YAFFS_TYPE_DIRECTORY, &file, 7);
	expect_reconciled(TYPE, 0x80000001, &file, 7);
	expect_reconciled(PARENT, 0, &file, 0x500000123ull);
	expect_reconciled(PARENT, 0x40000, &file, 0x500000123ull);
	expect_reconciled(SIZE_HIGH, 0x80, &file, 7);
	other.type = YAFFS_TYPE_DIRECTORY;
	expect_reconciled(TYPE, YAFFS_TYPE_FILE, &other, 0);
	other.type = YAFFS_TYPE_HARDLINK;
	other.link_target = 300;
	expect_reconciled(LINK_TARGET, 0x40000, &other, 0);

	check(yaffs_header_has_name((void *)raw), "a name");
	raw[NAME + 200] = 1;
	check(!yaffs_header_has_name((void *)raw), "bytes behind a name");
	memset(raw + NAME, 'x', 256);
	check(!yaffs_header_has_name((void *)raw), "a name without end");
	memset(raw + NAME, 0, 256);
	check(!yaffs_header_has_name((void *)raw), "no name");
	memcpy(raw + NAME, "a/b", 3);
	check(!yaffs_header_has_name((void *)raw), "a path");
	memset(raw, 0xff, 512);
	check(!yaffs_header_has_name((void *)raw), "an erased page");
	free(raw);
}

static struct yaffs_header random_header(u64 *state, u8 *name, u8 *symlink)
{
	struct yaffs_header h = {
		.type = 1 + draw_below(state, YAFFS_TYPES - 1),
		.parent_id = 1 + draw_below(state, YAFFS_MAX_OBJECT_ID),
		.name = name, .name_bytes = 3 + draw_below(state, 252),
		.shadowed_id = draw_below(state, YAFFS_MAX_OBJECT_ID + 1),
		.is_shrink = draw(state) & 1,
	};

	memset(name, (int)(1 + draw_below(state, '.')), h.name_bytes);
	memset(symlink, '/', YAFFS_SYMLINK_MAX);
	switch (h.type) {
	case YAFFS_TYPE_HARDLINK:
		h.link_target = 1 + draw_below(state, YAFFS_MAX_OBJECT_ID);
		return h;
	case YAFFS_TYPE_FILE:
		h.size = draw(state) >> 25;
		break;
	case YAFFS_TYPE_SYMLINK:
		h.symlink = symlink;
		h.symlink_bytes = draw_below(state, YAFFS_SYMLINK_MAX + 1);
		break;
	case YAFFS_TYPE_SPECIAL:
		h.rdev = (u32)draw(state);
		break;
	}
	h.mode = (u32)draw(state);
	h.uid = (u32)draw(state);
	h.gid = (u32)draw(state);
	h.atime_s = draw(state) >> 1;
	h.mtime_s = draw(state) >> 30;
	h.ctime_s = draw(state) >> 40;
	return h;
}

static bool same(const struct yaffs_header *a, const struct yaffs_header *b)
{
	return a->type == b->type && a->parent_id == b->parent_id &&
	       a->name_bytes == b->name_bytes &&
	       !memcmp(a->name, b->name, a->name_bytes) &&
	       a->symlink_bytes == b->symlink_bytes &&
	       !a->symlink == !b->symlink &&
	       (!a->symlink ||
		!memcmp(a->symlink, b->symlink, a->symlink_bytes)) &&
	       a->mode == b->mode && a->uid == b->uid && a->gid == b->gid &&
	       a->rdev == b->rdev && a->atime_s == b->atime_s &&
	       a->mtime_s == b->mtime_s && a->ctime_s == b->ctime_s &&
	       a->size == b->size && a->link_target == b->link_target &&
	       a->shadowed_id == b->shadowed_id &&
	       a->is_shrink == b->is_shrink;
}

static void test_round_trips(void)
{
	u8 name[YAFFS_NAME_MAX], symlink[YAFFS_SYMLINK_MAX];
	u64 state = 1;
	u32 i, wrong = 0;

	for (i = 0; i < 20000; i++) {
		struct yaffs_header h = random_header(&state, name, symlink);
		struct yaffs_header back;
		u8 *raw = encode(&h, i & 1);

		wrong += decode(raw, &back) || !same(&h, &back);
		free(raw);
	}
	check(!wrong, "%u of %u random headers do not come back", wrong, i);
}

int main(void)
{
	test_file_offsets();
	test_other_types();
	test_names_encoded();
	test_names_decoded();
	test_older_fields();
	test_refused();
	test_contradictions();
	test_round_trips();
	return report("test_header");
}
