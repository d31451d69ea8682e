// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzes everything that decodes: fuzz_decode RUNS SEED. The sanitizers judge; besides,
 * what is accepted must be within its limits and come back when it is encoded again. CRCs
 * are put right in most inputs: these would be refused for them.
 */

#include "../../test/fuzz.h"
#include "../core/data.h"
#include "harness.h"

#define JOURNAL_BYTES	1024
#define PACKED_BYTES	1024

/* But where the first byte is zero, which mutate() likes. */
static void sign_most(u8 *bytes, u32 at, u32 from, u32 n)
{
	if (bytes[at])
		sign(bytes, at, from, n);
}

static void try_segment(u8 *bytes)
{
	struct logfs_segment_header_media *m = (void *)bytes, again;
	struct logfs_segment s;

	sign_most(bytes, 0, 4, 20);
	if (logfs_segment_decode(m, &s))
		return;
	judge(s.type >= 1 && s.type <= 3 && s.level < 12, "segment");
	logfs_segment_encode(&s, &again);
	judge(!memcmp(&again.type, &m->type, 18), "segments differ");
}

static void try_segment_entry(u8 *bytes)
{
	const u64 word = get_be(bytes, 0, 8);
	struct logfs_segment_entry e;

	if (!logfs_segment_entry_decode(word, &e))
		judge(logfs_segment_entry_encode(&e) == word && e.level < 12,
		      "words differ");
}

static void try_super(u8 *bytes)
{
	struct logfs_super s, back;
	struct logfs_super_media m;
	u32 i;

	sign_most(bytes, 0, 4, 20);
	sign_most(bytes, 32, 36, 220);
	if (logfs_super_decode((void *)bytes, &s))
		return;
	judge(s.n_journal && s.segment_shift >= 14 && s.segment_shift <= 30 &&
	      s.write_shift < s.segment_shift, "sizes");
	for (i = 0; i < 16; i++)
		judge(s.journal[i] < s.n_segments, "journal");
	for (i = 0; i < 12; i++)
		judge(!logfs_has_level(&s, i) ||
		      logfs_root_distance(&s, i) < logfs_total_levels(&s),
		      "distance to the root");
	judge(logfs_free_bytes(&s, 0, bytes[0]) <=
	      (u64)s.n_segments << s.segment_shift, "free bytes");
	logfs_super_encode(&s, &m);
	judge(!logfs_super_decode(&m, &back) && !memcmp(back.journal, s.journal,
							sizeof(s.journal)),
	      "encoded superblock is refused");
}

static void try_object(u8 *bytes)
{
	struct logfs_object_header_media *m = (void *)bytes, again;
	u8 payload[LOGFS_BLOCK_BYTES] = { 0 };
	struct logfs_object o;

	sign_most(bytes, 0, 4, 20);
	if (logfs_object_decode(m, &o))
		return;
	judge(o.stored_bytes && o.stored_bytes <= sizeof(payload) &&
	      o.compression <= 1 && o.type >= 4 && o.type <= 6, "object");
	logfs_object_encode(&o, payload, &again);
	judge(!memcmp(m, &again, 24), "objects differ");
	judge(!logfs_object_decode(&again, &o) &&
	      logfs_object_intact(&o, payload), "payload");
}

static void try_inode(u8 *bytes)
{
	struct logfs_inode_media again;
	struct logfs_inode i;

	if (logfs_inode_decode((void *)bytes, &i))
		return;
	judge(i.height <= 5 && i.size <= 1ull << 43, "inode");
	logfs_inode_encode(&i, &again);
	/* All but padding and the flags of memory. */
	bytes[3] = 0;
	bytes[4] &= 0x1f;
	judge(!memcmp(bytes, &again, sizeof(again)), "inodes differ");
}

static void try_dentry(u8 *bytes)
{
	struct logfs_dentry_media again;
	struct logfs_dentry d;

	if (logfs_dentry_decode((void *)bytes, &d))
		return;
	judge(d.ino >= 16 && d.name_bytes && d.name_bytes <= 255 &&
	      (d.name[0] != '.' || (d.name_bytes > 1 && (d.name_bytes > 2 ||
							 d.name[1] != '.'))) &&
	      !memchr(d.name, 0, d.name_bytes) &&
	      !memchr(d.name, '/', d.name_bytes), "dentry");
	logfs_dentry_encode(&d, &again);
	judge(!memcmp(bytes, &again, 11 + d.name_bytes), "dentries differ");
}

static void try_journal(u8 *bytes)
{
	struct logfs_journal_entry e;
	u32 at = LOGFS_JOURNAL_FIRST, end = at, commit;
	bool any = false;

	if (bytes[0] % 4)
		sign(bytes, 32, 36,
		     min_t(u32, 12 + (u32)get_be(bytes, 36, 2),
			   JOURNAL_BYTES - 36));
	while (!logfs_journal_next(bytes, JOURNAL_BYTES, &at, &e)) {
		judge(at >= end && at % 16 == 0 &&
		      at + 16 + e.stored_bytes <= JOURNAL_BYTES, "entry");
		any |= e.type == LOGFS_JOURNAL_COMMIT;
		at += logfs_journal_entry_bytes(e.stored_bytes);
		end = at;
	}
	judge(!logfs_journal_last_commit(bytes, JOURNAL_BYTES, &commit, &e) ==
	      any, "last commit");
	judge(!any || (e.type == LOGFS_JOURNAL_COMMIT && commit < end), "commit");
}

static void try_commit(u8 *bytes)
{
	u32 at, i;

	for (i = 0; i < logfs_commit_entries(64); i++)
		if (!logfs_commit_get(bytes, i, 0x20000, 0x20000, &at))
			judge(at >= 32 && at < 0x20000 && at % 16 == 0, "place");
}

static void try_dynamic(u8 *bytes)
{
	struct logfs_dynamic_media again;
	struct logfs_dynamic d;

	if (logfs_dynamic_decode(bytes, sizeof(again), &d))
		return;
	judge(d.victim_ino <= LOGFS_MAX_INO && d.rename_dir <= LOGFS_MAX_INO,
	      "inodes");
	logfs_dynamic_encode(&d, &again);
	judge(!memcmp(bytes, &again, 40) && !memcmp(bytes + 48,
						    &again.used_bytes, 12),
	      "dynamic superblocks differ");
}

static void try_anchor(u8 *bytes)
{
	struct logfs_anchor_media again;
	struct logfs_anchor a;

	if (logfs_anchor_decode(bytes, sizeof(again), &a))
		return;
	judge(a.height <= 5 && a.last_ino <= LOGFS_MAX_INO, "anchor");
	logfs_anchor_encode(&a, &again);
	judge(!memcmp(bytes, &again, 25) &&
	      !memcmp(bytes + 32, again.pointer, 136), "anchors differ");
}

static void try_erase_counts(u8 *bytes)
{
	struct logfs_erase_counts_media again;
	u32 ec[LOGFS_JOURNAL_SEGMENTS];

	judge(!logfs_erase_counts_decode(bytes, sizeof(again), ec),
	      "erase counts");
	logfs_erase_counts_encode(ec, &again);
	judge(!memcmp(bytes, &again, sizeof(again)), "erase counts differ");
}

/* With the write unit behind, if there must be one. */
static void try_area(u8 *bytes)
{
	const struct logfs_super s = a_super();
	const u32 n = logfs_area_bytes(&s, (u32)get_be(bytes, 4, 4));
	struct logfs_area_media again;
	struct logfs_area a;
	u8 *payload = calloc(1, n);

	memcpy(payload, bytes, sizeof(again));
	if (!logfs_area_decode(&s, payload, n, &a)) {
		judge(a.unit == (a.used_bytes % 4096 ?
				 payload + sizeof(again) : NULL) &&
		      a.used_bytes <= 1u << 17 && a.segno < 1024, "area");
		logfs_area_encode(&a, &again);
		judge(!memcmp(bytes, &again, 9), "areas differ");
	}
	free(payload);
}

static void try_alias(u8 *bytes)
{
	struct logfs_alias a;
	u64 again[4] = { 0 }, ino, bix;
	u32 level;

	if (logfs_alias_get(bytes, 0, &a))
		return;
	judge(a.child < 512, "child");
	logfs_block_of_key(logfs_block_key(a.ino, a.level, a.bix), &ino, &level,
			   &bix);
	judge(ino == a.ino && level == a.level && bix == a.bix, "key");
	logfs_alias_put((void *)again, 0, &a);
	judge(!memcmp(bytes, again, 25) &&
	      !memcmp(bytes + 30, (u8 *)again + 30, 2), "aliases differ");
}

/* Behind the number of its bytes. What comes out can be packed, and comes out again. */
static void try_packed(u8 *bytes)
{
	const u32 n = (u32)get_be(bytes, 0, 2) % (PACKED_BYTES - 2) + 1;
	static struct logfs_device dev;
	u8 *packed = exact_copy(bytes + 2, n), *again = malloc(8192);
	u8 *page = malloc(LOGFS_BLOCK_BYTES), *back = malloc(LOGFS_BLOCK_BYTES);
	int err = logfs_unpack(&dev, packed, n, page, LOGFS_BLOCK_BYTES);
	u32 m;

	judge(!err || err == -EUCLEAN, "unpacking");
	if (!err) {
		m = logfs_pack(&dev, page, LOGFS_BLOCK_BYTES, again, 8192);
		judge(m && !logfs_unpack(&dev, again, m, back,
					 LOGFS_BLOCK_BYTES) &&
		      !memcmp(page, back, LOGFS_BLOCK_BYTES), "packed");
		judge(logfs_unpack(&dev, again, m, back, 4095) == -EUCLEAN &&
		      logfs_unpack(&dev, again, m - 1, back, 4096) == -EUCLEAN,
		      "too few bytes");
	}
	free(packed);
	free(again);
	free(page);
	free(back);
}

static void try_name(u8 *bytes)
{
	const u32 hash = logfs_dir_hash(bytes, 16);
	u64 bix, last = 0;
	u32 n;

	for (n = 0; n < LOGFS_DIR_TRIES; n++) {
		bix = logfs_dir_try(hash, n);
		judge((!n || bix > last) && bix < LOGFS_MAX_BLOCKS, "try");
		judge(bix <= logfs_last_bix(logfs_height(bix)), "height");
		last = bix;
	}
}

/* ---- targets, and valid inputs to start from ---- */

static void seed_segment(u8 *bytes)
{
	const struct logfs_segment s = { .type = 3, .level = 6, .segno = 7 };

	logfs_segment_encode(&s, (void *)bytes);
}

static void seed_super(u8 *bytes)
{
	const struct logfs_super s = a_super();

	logfs_super_encode(&s, (void *)bytes);
}

static void seed_object(u8 *bytes)
{
	static const struct logfs_object objects[] = {
		{ .type = 5, .stored_bytes = 200, .ino = 1, .bix = 17 },
		{ .type = 4, .stored_bytes = 100, .compression = 1, .ino = 17 },
	};
	const u8 payload[200] = { 0 };

	logfs_object_encode(&objects[bytes[0] % 2], payload, (void *)bytes);
}

static void seed_inode(u8 *bytes)
{
	put_be(bytes, 0, 8, 0x81a4010000000004);
	put_be(bytes, 56, 8, 100000);
}

static void seed_dentry(u8 *bytes)
{
	static const char * const names[] = { "name", ".", "..", "..." };
	const char *name = names[bytes[0] % ARRAY_SIZE(names)];
	const struct logfs_dentry d = {
		.ino = 17, .type = 8, .name_bytes = (u16)strlen(name),
		.name = (const u8 *)name,
	};

	logfs_dentry_encode(&d, (void *)bytes);
}

static void seed_journal(u8 *bytes)
{
	struct logfs_journal_entry e = {
		.type = LOGFS_JOURNAL_DYNAMIC, .stored_bytes = 64,
		.unpacked_bytes = 64,
	};
	u32 at = LOGFS_JOURNAL_FIRST;

	for (; at + 80 <= JOURNAL_BYTES; at += 80) {
		e.type = e.type == LOGFS_JOURNAL_DYNAMIC ?
			 LOGFS_JOURNAL_COMMIT : LOGFS_JOURNAL_DYNAMIC;
		logfs_journal_encode(&e, bytes + at + 16, (void *)(bytes + at));
	}
}

static void seed_commit(u8 *bytes)
{
	u32 i;

	for (i = 0; i < 8; i++)
		logfs_commit_put(bytes, i, 0x20020 + 16 * i);
}

static void seed_dynamic(u8 *bytes)
{
	const struct logfs_dynamic d = { .rename_dir = 2, .victim_ino = 17 };

	logfs_dynamic_encode(&d, (void *)bytes);
}

static void seed_anchor(u8 *bytes)
{
	const struct logfs_anchor a = { .size = 65536, .last_ino = 16 };

	logfs_anchor_encode(&a, (void *)bytes);
}

static void seed_area(u8 *bytes)
{
	const struct logfs_area a = {
		.segno = 7, .used_bytes = bytes[0] & 1 ? 8192 : 8000,
	};

	logfs_area_encode(&a, (void *)bytes);
}

/* Of the first bytes again and again. */
static void seed_packed(u8 *bytes)
{
	static struct logfs_device dev;
	u8 page[LOGFS_BLOCK_BYTES];
	u32 i, n;

	for (i = 0; i < sizeof(page); i++)
		page[i] = bytes[i % (bytes[0] + 1)];
	n = logfs_pack(&dev, page, sizeof(page), bytes + 2, PACKED_BYTES - 2);
	put_be(bytes, 0, 2, n - 1);
}

static void seed_alias(u8 *bytes)
{
	const struct logfs_alias a = { .ino = 1, .bix = 17, .child = 24 };

	logfs_alias_put(bytes, 0, &a);
}

const struct target fuzz_targets[] = {
	{ try_segment, seed_segment, sizeof(struct logfs_segment_header_media) },
	{ try_segment_entry, seed_none, 8 },
	{ try_super, seed_super, sizeof(struct logfs_super_media) },
	{ try_object, seed_object, sizeof(struct logfs_object_header_media) },
	{ try_inode, seed_inode, sizeof(struct logfs_inode_media) },
	{ try_dentry, seed_dentry, sizeof(struct logfs_dentry_media) },
	{ try_journal, seed_journal, JOURNAL_BYTES },
	{ try_commit, seed_commit, 64 },
	{ try_dynamic, seed_dynamic, sizeof(struct logfs_dynamic_media) },
	{ try_anchor, seed_anchor, sizeof(struct logfs_anchor_media) },
	{ try_erase_counts, seed_none, sizeof(struct logfs_erase_counts_media) },
	{ try_area, seed_area, sizeof(struct logfs_area_media) },
	{ try_alias, seed_alias, sizeof(struct logfs_alias_media) },
	{ try_name, seed_none, 16 },
	{ try_packed, seed_packed, PACKED_BYTES },
};

const u32 n_fuzz_targets = ARRAY_SIZE(fuzz_targets);
