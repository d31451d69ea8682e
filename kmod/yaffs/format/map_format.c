// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the pages of a file are, as it lies on flash: a head, and an entry for each chunk.
 * A file's index is cut into pieces of as many chunks as an index page has room for. An
 * index that is short enough lies in the page of the file's header, behind the extended
 * attributes, and costs no page at all.
 *
 * A piece says when it was written, by the clock that data pages are. That settles what is
 * newer, an entry or a page that a mount finds: nothing else has to be kept in order between
 * the blocks with data and those with headers. What was cut off a file is settled in the
 * same way, by a list of cuts in its header. A cut makes those void that cut off less: they
 * have higher positions and more chunks in turn.
 *
 * Limits: four cuts. More are needed only by a file that is made shorter five times, each
 * time less short than before; then the writer has to make two of them one.
 */

#include "codec.h"

#define HEAD_BYTES	((u32)sizeof(struct yaffs_map_media))
#define CUTS_BYTES	(YAFFS_MAP_CUTS * (u32)sizeof(struct yaffs_cut_media))
#define ENTRY_BYTES	((u32)sizeof(__le32))

u32 yaffs_map_entries(u32 chunk_bytes)
{
	return (chunk_bytes - HEAD_BYTES) / ENTRY_BYTES / YAFFS_LEAF_ENTRIES *
	       YAFFS_LEAF_ENTRIES;
}

u32 yaffs_map_index_offset(void)
{
	return HEAD_BYTES;
}

u32 yaffs_map_header_offset(void)
{
	return YAFFS_HEADER_BYTES + HEAD_BYTES + CUTS_BYTES;
}

u32 yaffs_map_room(u32 chunk_bytes)
{
	return chunk_bytes - yaffs_map_header_offset();
}

/* ---- packing ---- */

static void pack_head(const struct yaffs_map_head *head,
		      struct yaffs_map_media *m)
{
	*m = (struct yaffs_map_media) {
		.magic = cpu_to_le32(YAFFS_MAP_MAGIC),
		.version = cpu_to_le16(YAFFS_MAP_VERSION),
		.flags = cpu_to_le16((head->has_entries ? YAFFS_MAP_INDEX : 0) |
				     (head->tail ? YAFFS_MAP_TAIL : 0) |
				     (head->lost ? YAFFS_MAP_LOST : 0)),
		.piece = cpu_to_le32(head->piece),
		.n_entries = cpu_to_le32(head->n_entries),
		.n_cuts = cpu_to_le16((u16)head->n_cuts),
		.xattr_bytes = cpu_to_le16((u16)head->xattr_bytes),
		.position = cpu_to_le64(head->position),
		.horizon = cpu_to_le64(head->horizon),
		.size = cpu_to_le64(head->size),
	};
}

static void pack_cuts(const struct yaffs_map_head *head,
		      struct yaffs_cut_media *m)
{
	u32 i;

	memset(m, 0, CUTS_BYTES);
	for (i = 0; i < head->n_cuts; i++) {
		m[i].position = cpu_to_le64(head->cuts[i].position);
		m[i].chunks = cpu_to_le32(head->cuts[i].chunks);
	}
}

/* @start: where the head is; @end: of the entries. */
static void finish(u8 *page, u32 start, u32 end, u32 chunk_bytes)
{
	struct yaffs_map_media *m = (void *)(page + start);

	m->crc = cpu_to_le32(yaffs_crc32(0, page + start, end - start));
	memset(page + end, 0xff, chunk_bytes - end);
}

void yaffs_map_pack_index(const struct yaffs_map_head *head, u8 *page,
			  u32 chunk_bytes)
{
	pack_head(head, (void *)page);
	finish(page, 0, HEAD_BYTES + head->n_entries * ENTRY_BYTES, chunk_bytes);
}

void yaffs_map_pack_header(const struct yaffs_map_head *head, u8 *page,
			   u32 chunk_bytes)
{
	u8 *at = page + YAFFS_HEADER_BYTES;

	pack_head(head, (void *)at);
	pack_cuts(head, (void *)(at + HEAD_BYTES));
	finish(page, YAFFS_HEADER_BYTES,
	       yaffs_map_header_offset() + head->xattr_bytes +
	       head->n_entries * ENTRY_BYTES, chunk_bytes);
}

/* ---- unpacking ---- */

static u32 crc_of(const u8 *start, u32 bytes)
{
	const u32 at = offsetof(struct yaffs_map_media, crc);
	static const __le32 zero;
	u32 crc = yaffs_crc32(0, start, at);

	crc = yaffs_crc32(crc, &zero, sizeof(zero));
	return yaffs_crc32(crc, start + at + sizeof(zero),
			   bytes - at - (u32)sizeof(zero));
}

/* @start: of the head; @fixed: bytes from there to attributes and entries; @room: for these. */
static int unpack(const u8 *start, u32 fixed, u32 room,
		  struct yaffs_map_head *head)
{
	const struct yaffs_map_media *m = (const void *)start;
	u16 flags = le16_to_cpu(m->flags);
	u64 bytes;

	*head = (struct yaffs_map_head) {
		.has_entries = flags & YAFFS_MAP_INDEX,
		.tail = flags & YAFFS_MAP_TAIL,
		.lost = flags & YAFFS_MAP_LOST,
		.piece = le32_to_cpu(m->piece),
		.n_entries = le32_to_cpu(m->n_entries),
		.n_cuts = le16_to_cpu(m->n_cuts),
		.xattr_bytes = le16_to_cpu(m->xattr_bytes),
		.position = le64_to_cpu(m->position),
		.horizon = le64_to_cpu(m->horizon),
		.size = le64_to_cpu(m->size),
	};
	bytes = head->xattr_bytes + (u64)head->n_entries * ENTRY_BYTES;
	if (le32_to_cpu(m->magic) != YAFFS_MAP_MAGIC || bytes > room ||
	    head->n_cuts > YAFFS_MAP_CUTS || head->xattr_bytes % ENTRY_BYTES ||
	    (head->n_entries && !head->has_entries) ||
	    le32_to_cpu(m->crc) != crc_of(start, fixed + (u32)bytes))
		return -EUCLEAN;
	return le16_to_cpu(m->version) == YAFFS_MAP_VERSION ? 0 : -EOPNOTSUPP;
}

int yaffs_map_unpack_index(const u8 *page, u32 chunk_bytes,
			   struct yaffs_map_head *head)
{
	int err = unpack(page, HEAD_BYTES,
			 yaffs_map_entries(chunk_bytes) * ENTRY_BYTES, head);

	if (err)
		return err;
	return head->has_entries && !head->n_cuts && !head->xattr_bytes &&
	       head->piece <= YAFFS_MAX_CHUNK_ID / yaffs_map_entries(chunk_bytes) ?
	       0 : -EUCLEAN;
}

static void unpack_cuts(const struct yaffs_cut_media *m,
			struct yaffs_map_head *head)
{
	u32 i;

	for (i = 0; i < head->n_cuts; i++) {
		head->cuts[i].position = le64_to_cpu(m[i].position);
		head->cuts[i].chunks = le32_to_cpu(m[i].chunks);
	}
}

int yaffs_map_unpack_header(const u8 *page, u32 chunk_bytes,
			    struct yaffs_map_head *head)
{
	const u8 *start = page + YAFFS_HEADER_BYTES;
	int err = unpack(start, HEAD_BYTES + CUTS_BYTES,
			 yaffs_map_room(chunk_bytes), head);

	if (err)
		return err;
	/* What it has room for is less than a piece. */
	if (head->piece)
		return -EUCLEAN;
	unpack_cuts((const void *)(start + HEAD_BYTES), head);
	return 0;
}

/* ---- cuts ---- */

u32 yaffs_cuts_add(struct yaffs_cut *cuts, u32 n, u64 position, u32 chunks)
{
	while (n && cuts[n - 1].chunks >= chunks)
		n--;
	/* Nothing was written since it was made shorter than that. */
	if (n && cuts[n - 1].position == position)
		return n;
	if (n < YAFFS_MAP_CUTS)
		cuts[n] = (struct yaffs_cut) { position, chunks };
	return n + 1;
}

bool yaffs_cuts_entry(const struct yaffs_cut *cuts, u32 n, u64 position,
		      u32 chunk_id)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (position <= cuts[i].position && chunk_id > cuts[i].chunks)
			return true;
	return false;
}

bool yaffs_cuts_page(const struct yaffs_cut *cuts, u32 n, u64 position,
		     u32 chunk_id)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (position < cuts[i].position && chunk_id > cuts[i].chunks)
			return true;
	return false;
}
