// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the entries of the journal hold. The CRC of an entry says that it is what was
 * written; here it is seen whether that can be used without another look.
 *
 * Limits: what depends on other parts of the file system (whether a pointer leads to an
 * object, or a bix of a rename to a dentry) is found out where it is used.
 */

#include "codec.h"

#define PLACE_BYTES	((u32)sizeof(__be64))
#define ALIAS_BYTES	((u32)sizeof(struct logfs_alias_media))

/* ---- commit ---- */

u32 logfs_commit_entries(u32 bytes)
{
	return bytes % PLACE_BYTES ? 0 : bytes / PLACE_BYTES;
}

void logfs_commit_put(u8 *payload, u32 index, u64 place)
{
	__be64 *places = (void *)payload;

	places[index] = cpu_to_be64(place);
}

int logfs_commit_get(const u8 *payload, u32 index, u64 base, u32 segment_bytes,
		     u32 *at)
{
	const __be64 *places = (const void *)payload;
	const u64 place = be64_to_cpu(places[index]);

	if (place < base || place - base < LOGFS_JOURNAL_FIRST ||
	    place - base >= segment_bytes || place % LOGFS_JOURNAL_ALIGN)
		return -EUCLEAN;
	*at = (u32)(place - base);
	return 0;
}

/* ---- dynamic superblock ---- */

void logfs_dynamic_encode(const struct logfs_dynamic *d,
			  struct logfs_dynamic_media *m)
{
	memset(m, 0, sizeof(*m));
	m->gec = cpu_to_be64(d->gec);
	m->sweeper = cpu_to_be64(d->sweeper);
	m->rename_dir = cpu_to_be64(d->rename_dir);
	m->rename_bix = cpu_to_be64(d->rename_bix);
	m->victim_ino = cpu_to_be64(d->victim_ino);
	m->used_bytes = cpu_to_be64(d->used_bytes);
	m->generation = cpu_to_be32(d->generation);
}

int logfs_dynamic_decode(const u8 *payload, u32 bytes, struct logfs_dynamic *d)
{
	const struct logfs_dynamic_media *m = (const void *)payload;

	if (bytes != sizeof(*m))
		return -EUCLEAN;
	d->gec = be64_to_cpu(m->gec);
	d->sweeper = be64_to_cpu(m->sweeper);
	d->rename_dir = be64_to_cpu(m->rename_dir);
	d->rename_bix = be64_to_cpu(m->rename_bix);
	d->victim_ino = be64_to_cpu(m->victim_ino);
	d->used_bytes = be64_to_cpu(m->used_bytes);
	d->generation = be32_to_cpu(m->generation);
	/* A rename in the root has the root's directory; no victim is reserved. */
	if (d->rename_dir > LOGFS_MAX_INO || d->rename_bix >= LOGFS_MAX_BLOCKS)
		return -EUCLEAN;
	if (d->rename_dir && d->rename_dir != LOGFS_INO_ROOT &&
	    d->rename_dir < LOGFS_RESERVED_INOS)
		return -EUCLEAN;
	if (d->victim_ino > LOGFS_MAX_INO ||
	    (d->victim_ino && d->victim_ino < LOGFS_RESERVED_INOS))
		return -EUCLEAN;
	return 0;
}

/* ---- anchor ---- */

void logfs_anchor_encode(const struct logfs_anchor *a,
			 struct logfs_anchor_media *m)
{
	u32 i;

	memset(m, 0, sizeof(*m));
	m->size = cpu_to_be64(a->size);
	m->last_ino = cpu_to_be64(a->last_ino);
	m->used_bytes = cpu_to_be64(a->used_bytes);
	m->height = a->height;
	for (i = 0; i < LOGFS_INODE_POINTERS; i++)
		m->pointer[i] = cpu_to_be64(a->pointer[i]);
}

int logfs_anchor_decode(const u8 *payload, u32 bytes, struct logfs_anchor *a)
{
	const struct logfs_anchor_media *m = (const void *)payload;
	u32 i;

	if (bytes != sizeof(*m))
		return -EUCLEAN;
	a->size = be64_to_cpu(m->size);
	a->last_ino = be64_to_cpu(m->last_ino);
	a->used_bytes = be64_to_cpu(m->used_bytes);
	a->height = m->height;
	for (i = 0; i < LOGFS_INODE_POINTERS; i++)
		a->pointer[i] = be64_to_cpu(m->pointer[i]);
	if (a->height > LOGFS_MAX_LEVEL || a->last_ino > LOGFS_MAX_INO ||
	    a->size > LOGFS_MAX_FILE_BYTES)
		return -EUCLEAN;
	return 0;
}

/* ---- erase counts ---- */

void logfs_erase_counts_encode(const u32 ec[LOGFS_JOURNAL_SEGMENTS],
			       struct logfs_erase_counts_media *m)
{
	u32 i;

	for (i = 0; i < LOGFS_JOURNAL_SEGMENTS; i++)
		m->ec[i] = cpu_to_be32(ec[i]);
}

int logfs_erase_counts_decode(const u8 *payload, u32 bytes,
			      u32 ec[LOGFS_JOURNAL_SEGMENTS])
{
	const struct logfs_erase_counts_media *m = (const void *)payload;
	u32 i;

	if (bytes != sizeof(*m))
		return -EUCLEAN;
	for (i = 0; i < LOGFS_JOURNAL_SEGMENTS; i++)
		ec[i] = be32_to_cpu(m->ec[i]);
	return 0;
}

/* ---- area ---- */

u32 logfs_area_bytes(const struct logfs_super *s, u32 used_bytes)
{
	const u32 unit = logfs_write_unit(s);

	return (u32)sizeof(struct logfs_area_media) +
	       (used_bytes & (unit - 1) ? unit : 0);
}

void logfs_area_encode(const struct logfs_area *a, struct logfs_area_media *m)
{
	m->segno = cpu_to_be32(a->segno);
	m->used_bytes = cpu_to_be32(a->used_bytes);
	m->level = a->level;
	m->life = 0;
}

int logfs_area_decode(const struct logfs_super *s, const u8 *payload, u32 bytes,
		      struct logfs_area *a)
{
	const struct logfs_area_media *m = (const void *)payload;

	if (bytes < sizeof(*m))
		return -EUCLEAN;
	a->segno = be32_to_cpu(m->segno);
	a->used_bytes = be32_to_cpu(m->used_bytes);
	a->level = m->level;
	a->unit = bytes > sizeof(*m) ? payload + sizeof(*m) : NULL;
	if (a->segno >= s->n_segments || !logfs_has_level(s, a->level) ||
	    a->used_bytes < sizeof(struct logfs_segment_header_media) ||
	    a->used_bytes > 1U << s->segment_shift ||
	    bytes != logfs_area_bytes(s, a->used_bytes))
		return -EUCLEAN;
	return 0;
}

/* ---- aliases ---- */

u32 logfs_aliases(u32 bytes)
{
	return bytes % ALIAS_BYTES ? 0 : bytes / ALIAS_BYTES;
}

void logfs_alias_put(u8 *payload, u32 index, const struct logfs_alias *a)
{
	struct logfs_alias_media *m = (void *)(payload + index * ALIAS_BYTES);

	memset(m, 0, sizeof(*m));
	m->ino = cpu_to_be64(a->ino);
	m->bix = cpu_to_be64(a->bix);
	m->value = cpu_to_be64(a->value);
	m->level = a->level;
	m->child = cpu_to_be16(a->child);
}

/* How many words the block of an alias has; 0: it can have no alias. */
static u32 alias_words(const struct logfs_alias *a)
{
	if (!logfs_block_possible(a->ino, a->level, a->bix))
		return 0;
	if (a->level || a->ino == LOGFS_INO_SEGMENTS)
		return LOGFS_BLOCK_POINTERS;
	return a->ino == LOGFS_INO_INODES ? LOGFS_INODE_WORDS : 0;
}

int logfs_alias_get(const u8 *payload, u32 index, struct logfs_alias *a)
{
	const struct logfs_alias_media *m =
		(const void *)(payload + index * ALIAS_BYTES);

	a->ino = be64_to_cpu(m->ino);
	a->bix = be64_to_cpu(m->bix);
	a->value = be64_to_cpu(m->value);
	a->level = m->level;
	a->child = be16_to_cpu(m->child);
	return a->child < alias_words(a) ? 0 : -EUCLEAN;
}
