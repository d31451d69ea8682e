// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzes everything that decodes: fuzz_decode RUNS SEED. The sanitizers judge; besides,
 * what is accepted must be within its limits and come back when it is encoded again.
 */

#include "../../test/fuzz.h"
#include "harness.h"

#define XATTR_BYTES	160
#define MAP_BYTES	1024	/* a page */
#define MAX_SIZE	0x8000000000ull

static bool id_valid(u32 id)
{
	return id >= 1 && id <= YAFFS_MAX_OBJECT_ID;
}

static void judge_tags(const struct yaffs_tags *t)
{
	judge(id_valid(t->obj_id), "object id");
	judge(t->chunk_id <= YAFFS_MAX_CHUNK_ID, "chunk id");
	judge(t->chunk_id || !t->n_bytes || t->is_index, "byte count of a header");
	judge(!t->metadata || t->segregated, "kind of block");
	judge(!t->is_index || t->metadata, "index page");
	if (!t->extended)
		return;
	judge(!t->chunk_id && t->type > 0 && t->type < YAFFS_TYPES, "type");
	judge(id_valid(t->parent_id) || (!t->parent_id && t->obj_id == 1),
	      "parent");
	judge(t->type != YAFFS_TYPE_HARDLINK || id_valid(t->link_target),
	      "link target");
}

static void try_tags(u8 *bytes)
{
	struct yaffs_tags_media *m = (void *)bytes, again, more;
	struct yaffs_tags t;

	if (yaffs_tags_unpack(m, &t) || !t.used)
		return;
	if (t.seq != YAFFS_SEQ_CHECKPOINT)
		judge_tags(&t);
	yaffs_tags_pack(&t, &again);
	/* Packed in the plain form, without what the extended one says. */
	if (t.extended && t.size >= YAFFS_TAG_SIZE_END)
		return;
	judge(!yaffs_tags_unpack(&again, &t), "packed tags are refused");
	yaffs_tags_pack(&t, &more);
	judge(!memcmp(&again, &more, sizeof(more)), "tags differ");
}

static void try_ecc(u8 *bytes)
{
	struct yaffs_tags_oob_media *m = (void *)bytes;
	u8 before[sizeof(m->tags)];
	enum yaffs_ecc_result result;
	u32 i, changed = 0;

	memcpy(before, &m->tags, sizeof(before));
	result = yaffs_tags_ecc_correct(&m->tags, &m->ecc);
	for (i = 0; i < sizeof(before); i++)
		changed += hweight8(before[i] ^ bytes[i]);
	judge(changed <= (result == YAFFS_ECC_CORRECTED), "tags changed");
	if (!changed)
		return;
	judge(yaffs_tags_ecc_correct(&m->tags, &m->ecc) == YAFFS_ECC_GOOD,
	      "corrected tags are not good");
}

static void try_header(u8 *bytes)
{
	struct yaffs_header_media *m = (void *)bytes, again, more;
	struct yaffs_header h;

	if (yaffs_header_decode(m, MAX_SIZE, &h))
		return;
	judge(h.type > 0 && h.type < YAFFS_TYPES, "type");
	judge(id_valid(h.parent_id) ||
	      (!h.parent_id && h.type == YAFFS_TYPE_DIRECTORY), "parent");
	judge(h.name_bytes <= YAFFS_NAME_MAX &&
	      !memchr(h.name, 0, h.name_bytes) &&
	      !memchr(h.name, '/', h.name_bytes), "name");
	judge(h.size <= MAX_SIZE && (!h.size || h.type == YAFFS_TYPE_FILE),
	      "size");
	judge(!h.symlink == (h.type != YAFFS_TYPE_SYMLINK) &&
	      h.symlink_bytes <= YAFFS_SYMLINK_MAX, "symbolic link");
	judge(!h.shadowed_id || id_valid(h.shadowed_id), "shadow");
	yaffs_header_encode(&h, false, &again);
	judge(!yaffs_header_decode(&again, MAX_SIZE, &h),
	      "encoded header is refused");
	yaffs_header_encode(&h, false, &more);
	judge(!memcmp(&again, &more, sizeof(more)), "headers differ");
}

static void try_summary(u8 *bytes)
{
	struct yaffs_summary_header_media *m = (void *)bytes;
	struct yaffs_summary_entry_media *entry = (void *)(m + 1);
	u32 n = bytes[2] % 8;
	struct yaffs_tags_media tags;
	struct yaffs_tags t;
	u32 sum, i;

	if (yaffs_summary_header_valid(m, 0x1001))
		judge(get32(bytes, 0) == 1 && get32(bytes, 8) == 0x1001,
		      "header of a summary");
	sum = yaffs_summary_sum(entry, n);
	judge(sum <= n * 12 * 255, "sum");
	for (i = 0; i < n; i++) {
		yaffs_summary_tags(&entry[i], 0x1001, false, &tags);
		if (!yaffs_tags_unpack(&tags, &t))
			judge_tags(&t);
	}
}

/* As if a writer had made it: all else would be refused for its CRC. */
static void sign(u8 *page, u32 start, u32 fixed)
{
	u32 bytes = fixed + (get32(page, start + 20) >> 16) +
		    4 * (get32(page, start + 16) & 0x1ff);

	put32(page, start + 8, 0);
	if (start + bytes <= MAP_BYTES)
		put32(page, start + 8, ~crc32_le(~0u, page + start, bytes));
}

static void try_map_index(u8 *bytes)
{
	struct yaffs_map_head head;
	u8 again[MAP_BYTES];

	sign(bytes, 0, 48);
	if (yaffs_map_unpack_index(bytes, MAP_BYTES, &head))
		return;
	judge(head.n_entries <= yaffs_map_entries(MAP_BYTES), "entries");
	memcpy(again, bytes, sizeof(again));
	yaffs_map_pack_index(&head, again, MAP_BYTES);
	judge(!yaffs_map_unpack_index(again, MAP_BYTES, &head), "index page");
}

static void try_map_header(u8 *bytes)
{
	struct yaffs_map_head head;
	u8 again[MAP_BYTES];
	u32 used;

	sign(bytes, 512, yaffs_map_header_offset() - 512);
	if (yaffs_map_unpack_header(bytes, MAP_BYTES, &head))
		return;
	used = head.xattr_bytes + 4 * head.n_entries;
	judge(used <= yaffs_map_room(MAP_BYTES) && head.n_cuts <= YAFFS_MAP_CUTS,
	      "room in a header");
	memcpy(again, bytes, sizeof(again));
	yaffs_map_pack_header(&head, again, MAP_BYTES);
	judge(!yaffs_map_unpack_header(again, MAP_BYTES, &head), "header page");
}

static void try_cuts(u8 *bytes)
{
	struct yaffs_cut cuts[YAFFS_MAP_CUTS];
	u64 position = 0;
	u32 n = 0, i, j, next;

	for (i = 0; i < 16; i++) {
		position += bytes[2 * i] % 4;
		next = yaffs_cuts_add(cuts, n, position, bytes[2 * i + 1] % 8);
		if (next > YAFFS_MAP_CUTS)
			continue;
		n = next;
		judge(n >= 1, "no cut");
		for (j = 1; j < n; j++)
			judge(cuts[j].chunks > cuts[j - 1].chunks &&
			      cuts[j].position > cuts[j - 1].position,
			      "cuts do not ascend");
	}
}

static void try_leaf(u8 *bytes)
{
	u32 bits = 16 + 2 * (bytes[0] % 9);
	u8 again[YAFFS_CKPT_LEAF_BYTES];
	u32 entry[YAFFS_LEAF_ENTRIES];
	u32 i;

	yaffs_ckpt_leaf_unpack(bytes + 1, bits, entry);
	for (i = 0; i < YAFFS_LEAF_ENTRIES; i++)
		judge((u64)entry[i] >> bits == 0, "entry of a leaf");
	yaffs_ckpt_leaf_pack(entry, bits, again);
	judge(!memcmp(again, bytes + 1, 2 * bits) &&
	      all_bytes(again + 2 * bits, sizeof(again) - 2 * bits, 0), "leaf");
}

static void try_block(u8 *bytes)
{
	struct yaffs_ckpt_block_media *m = (void *)bytes, again;
	struct yaffs_block b;

	if (yaffs_ckpt_block_unpack(m, 64, &b))
		return;
	judge(b.state < YAFFS_BLOCK_STATES && b.pages_in_use <= 64 &&
	      b.strikes <= 7, "block");
	yaffs_ckpt_block_pack(&b, &again);
	/* All but the soft-deleted pages, which are not kept; the lowest bit is the kind's. */
	put32(m, 0, get32(m, 0) & ~0x3feu);
	judge(!memcmp(m, &again, sizeof(again)), "blocks differ");
}

static void try_object(u8 *bytes)
{
	struct yaffs_ckpt_object_media *m = (void *)bytes, again;
	struct yaffs_ckpt_object o;
	int status = yaffs_ckpt_object_unpack(m, &o);

	if (status < 0)
		return;
	if (status) {
		judge(id_valid(o.id) && o.parent_id <= YAFFS_MAX_OBJECT_ID &&
		      o.type > 0 && o.type < YAFFS_TYPES, "object");
		yaffs_ckpt_object_pack(&o, &again);
		put32(bytes, 16, get32(bytes, 16) & 0x1ffff);
	} else {
		yaffs_ckpt_object_end(&again);
	}
	judge(!memcmp(m, &again, sizeof(again)), "objects differ");
}

static int emit(void *context, const char *name, u32 name_bytes,
		const u8 *value, u32 size)
{
	u32 *n = context;

	judge(name_bytes && strlen(name) == name_bytes &&
	      value == (const u8 *)name + name_bytes + 1 &&
	      name_bytes + size < XATTR_BYTES, "attribute");
	return ++*n > XATTR_BYTES;
}

static void try_xattr(u8 *bytes)
{
	u32 before = 0, after = 0;
	u8 value[XATTR_BYTES];
	int found, status;

	judge(!yaffs_xattr_each(bytes, XATTR_BYTES, emit, &before),
	      "too many attributes");
	judge(yaffs_xattr_any(bytes, XATTR_BYTES) == (before > 0), "any");
	found = yaffs_xattr_find(bytes, XATTR_BYTES, "user.a", value,
				 XATTR_BYTES);
	status = yaffs_xattr_store(bytes, XATTR_BYTES, "user.a", "xyz", 3,
				   false, false);
	judge(status == 0 || status == -ENOSPC, "status of a change");
	yaffs_xattr_each(bytes, XATTR_BYTES, emit, &after);
	/* More may go than come: there can be several of one name. */
	if (status == 0)
		judge(yaffs_xattr_find(bytes, XATTR_BYTES, "user.a", value,
				       3) == 3 && !memcmp(value, "xyz", 3) &&
		      after <= before + (found == -ENODATA), "changed");
	status = yaffs_xattr_store(bytes, XATTR_BYTES, "user.a", NULL, 0, false,
				   false);
	judge(yaffs_xattr_find(bytes, XATTR_BYTES, "user.a", NULL, 0) ==
	      -ENODATA, "removed");
}

/* ---- targets, and valid inputs to start from ---- */

static void seed_tags(u8 *bytes)
{
	const struct yaffs_tags t = {
		.seq = 0x1001, .obj_id = 257, .extended = true, .parent_id = 1,
		.type = YAFFS_TYPE_FILE, .size = 5000,
	};
	struct yaffs_tags_oob_media *m = (void *)bytes;

	yaffs_tags_pack(&t, &m->tags);
	yaffs_tags_ecc_calculate(&m->tags, &m->ecc);
}

static void seed_header(u8 *bytes)
{
	const struct yaffs_header h = {
		.type = YAFFS_TYPE_SYMLINK, .parent_id = 1,
		.name = (const u8 *)"name", .name_bytes = 4,
		.symlink = (const u8 *)"target", .symlink_bytes = 6,
		.link_target = 257,
	};
	struct yaffs_header_media *m = (void *)bytes;

	yaffs_header_encode(&h, false, m);
	/* Valid as any type: the first word decides. */
	put32(bytes, 292, 5000);
	put32(bytes, 296, 257);
}

static void seed_summary(u8 *bytes)
{
	yaffs_summary_header(1, 0x1001, 0, (void *)bytes);
	put32(bytes, 16, 257);
	put32(bytes, 20, 1);
	put32(bytes, 24, 2048);
}

static void seed_map(u8 *bytes)
{
	struct yaffs_map_head head = {
		.has_entries = true, .n_entries = 3, .position = 0x400400,
		.horizon = 0x400000, .size = 5000,
	};
	bool is_header = bytes[0] & 1;

	if (is_header) {
		head.n_cuts = 1;
		head.xattr_bytes = 8;
		yaffs_map_pack_header(&head, bytes, MAP_BYTES);
	} else {
		yaffs_map_pack_index(&head, bytes, MAP_BYTES);
	}
}

static void seed_object(u8 *bytes)
{
	const struct yaffs_ckpt_object o = {
		.id = 257, .parent_id = 1, .type = YAFFS_TYPE_FILE,
	};

	if (bytes[0] & 1)
		yaffs_ckpt_object_pack(&o, (void *)bytes);
	else
		yaffs_ckpt_object_end((void *)bytes);
}

static void seed_xattr(u8 *bytes)
{
	static const char * const names[] = { "user.b", "user.a", "trusted.c" };
	u32 i;

	memset(bytes, 0xff, XATTR_BYTES);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		yaffs_xattr_store(bytes, XATTR_BYTES, names[i], "0123456789ab",
				  4 * i, false, false);
}

const struct target fuzz_targets[] = {
	{ try_tags, seed_tags, sizeof(struct yaffs_tags_media) },
	{ try_ecc, seed_tags, sizeof(struct yaffs_tags_oob_media) },
	{ try_header, seed_header, sizeof(struct yaffs_header_media) },
	{ try_summary, seed_summary, 16 + 8 * 12 },
	{ try_map_index, seed_map, MAP_BYTES },
	{ try_map_header, seed_map, MAP_BYTES },
	{ try_cuts, seed_none, 32 },
	{ try_leaf, seed_none, 1 + YAFFS_CKPT_LEAF_BYTES },
	{ try_block, seed_none, sizeof(struct yaffs_ckpt_block_media) },
	{ try_object, seed_object, sizeof(struct yaffs_ckpt_object_media) },
	{ try_xattr, seed_xattr, XATTR_BYTES },
};

const u32 n_fuzz_targets = ARRAY_SIZE(fuzz_targets);
