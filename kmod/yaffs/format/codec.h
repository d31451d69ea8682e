/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the format on flash and the structures in memory: pure functions, one
 * file for each part of the format. None allocates, none trusts what it decodes:
 * whatever bytes come in, the result is valid or the function says that it is not.
 */
#ifndef YAFFS_CODEC_H
#define YAFFS_CODEC_H

#include "media.h"

/* The CRC-32 of zlib, continued: @crc is that of what comes before, 0 at the beginning. */
static inline u32 yaffs_crc32(u32 crc, const void *bytes, u32 n)
{
	return ~crc32_le(~crc, bytes, n);
}

/* Whether it is one of the two directories of deleted objects. */
static inline bool yaffs_is_grave(u32 id)
{
	return id == YAFFS_ID_UNLINKED || id == YAFFS_ID_DELETED;
}

/* ---- tags.c ---- */

/**
 * struct yaffs_tags - decoded tags of a page
 * @seq: sequence number of the block
 * @obj_id: object id, never with the type in it
 * @chunk_id: from 1 for data; 0 for an object header
 * @n_bytes: data bytes of a data chunk, or YAFFS_LOST_BYTES; 0 for a header
 * @used: false: the page is not programmed, and nothing else is set
 * @segregated: they are of the segregated layout
 * @metadata: the page is in a metadata block; segregated layout only
 * @is_index: an index page, and @chunk_id the number of its piece; likewise
 * @extended: the fields below are valid; only headers can have them
 * @is_shrink: header lowers the limit of older data
 * @shadows: header replaces another object, named in the header itself
 * @type: enum yaffs_object_type
 * @parent_id: parent directory
 * @size: files: size in bytes
 * @link_target: hard links: object id of the target
 */
struct yaffs_tags {
	u32 seq;
	u32 obj_id;
	u32 chunk_id;
	u32 n_bytes;
	bool used;
	bool segregated;
	bool metadata;
	bool is_index;
	bool extended;
	bool is_shrink;
	bool shadows;
	u8 type;
	u32 parent_id;
	u64 size;
	u32 link_target;
};

/*
 * The bytes of a data chunk that was lost to bit errors and had to leave its block. No
 * other chunk is empty. The original knows no such chunk: it shows what was read.
 */
#define YAFFS_LOST_BYTES 0

enum yaffs_ecc_result {
	YAFFS_ECC_GOOD,
	YAFFS_ECC_CORRECTED,
	YAFFS_ECC_UNCORRECTABLE,
};

/*
 * Packs tags. The extended form is used if @t->extended, unless it is a file of
 * YAFFS_TAG_SIZE_END bytes or more. @t->used is not looked at.
 */
void yaffs_tags_pack(const struct yaffs_tags *t, struct yaffs_tags_media *m);

/*
 * Unpacks tags that are believed to be undamaged. Returns 0 (also for an unused
 * page) or -EUCLEAN: object id 0 or too large, chunk id or type out of range.
 * The sequence number is not judged. The object id may be YAFFS_ID_SUMMARY, and
 * with YAFFS_SEQ_CHECKPOINT any number: then only obj_id, chunk_id and n_bytes
 * are set, as they are.
 */
int yaffs_tags_unpack(const struct yaffs_tags_media *m, struct yaffs_tags *t);

/* What a page is, as in struct yaffs_tags. */
struct yaffs_identity {
	u32 obj_id;
	u32 chunk_id;
	bool is_index;
};

/*
 * Whether tags are those of that page in a block numbered @seq: not of another page, of one
 * from before the block's last erase, or of none.
 */
bool yaffs_tags_are(const struct yaffs_tags *t, const struct yaffs_identity *id,
		    u32 seq);

/* The word that says the sequence number; the segregated layout has some bits elsewhere. */
u32 yaffs_tags_seq_word(u32 seq, bool segregated);

/* ECC over the 16 bytes of packed tags (section 2.4 of the format). */
void yaffs_tags_ecc_calculate(const struct yaffs_tags_media *m,
			      struct yaffs_tags_ecc_media *ecc);
enum yaffs_ecc_result yaffs_tags_ecc_correct(struct yaffs_tags_media *m,
					     const struct yaffs_tags_ecc_media *ecc);

/* ---- header.c ---- */

/**
 * struct yaffs_header - decoded object header
 * @name: points into the page for a decoded header; not NUL-terminated
 * @name_bytes: 0 to YAFFS_NAME_MAX
 * @symlink: target, points into the page; symbolic links only, else NULL
 * @symlink_bytes: 0 to YAFFS_SYMLINK_MAX
 * @size: files only
 * @shadowed_id: 0: none
 */
struct yaffs_header {
	u32 type;
	u32 parent_id;
	const u8 *name;
	u32 name_bytes;
	const u8 *symlink;
	u32 symlink_bytes;
	u32 mode;
	u32 uid;
	u32 gid;
	u32 rdev;
	u64 atime_s;
	u64 mtime_s;
	u64 ctime_s;
	u64 size;
	u32 link_target;
	u32 shadowed_id;
	bool is_shrink;
};

/*
 * Writes the 512 bytes of a header; what lies behind them in the chunk is the
 * caller's. @inband: also set the in-band copies of shadow and shrink.
 */
void yaffs_header_encode(const struct yaffs_header *h, bool inband,
			 struct yaffs_header_media *m);

/*
 * Reads a header. Returns 0, or -EUCLEAN: type unknown or out of range, parent or
 * link target out of range, symbolic link without end, size above @max_size. A name
 * without end is cut at YAFFS_NAME_MAX; a slash or a NUL cannot be in a name: it is
 * cut there. Works on any bytes.
 */
int yaffs_header_decode(const struct yaffs_header_media *m, u64 max_size,
			struct yaffs_header *h);

/*
 * True if the name is one that a writer would have left: 1 to YAFFS_NAME_MAX bytes,
 * zeros behind it. A page of other contents has none.
 */
bool yaffs_header_has_name(const struct yaffs_header_media *m);

/*
 * Corrects what cannot be in a header by what is known of its object from the tags:
 * @known's type, parent_id, size, link_target. The rest is not looked at.
 */
void yaffs_header_reconcile(struct yaffs_header_media *m,
			    const struct yaffs_header *known, u64 max_size);

/* ---- map_format.c: where the pages of a file are; segregated layout ---- */

#define YAFFS_POSITION_PAGE_BITS 10

/*
 * When a data page was written, as a clock that each of them makes tick: the sequence
 * number of its block and its page.
 */
static inline u64 yaffs_position(u32 seq, u32 page)
{
	return (u64)seq << YAFFS_POSITION_PAGE_BITS | page;
}

/* Of a position that was read from flash it may be higher than that of any block. */
static inline u64 yaffs_position_seq(u64 position)
{
	return position >> YAFFS_POSITION_PAGE_BITS;
}

/**
 * struct yaffs_cut - a file was made shorter: what is older and behind it is dead
 * @position: of the first data page that is not older
 * @chunks: that were left
 */
struct yaffs_cut {
	u64 position;
	u32 chunks;
};

/**
 * struct yaffs_map_head - what stands before the entries of a piece of an index
 * @has_entries: it is a version of the piece; else a header without
 * @tail: the last chunk may have bytes behind the end of the file
 * @lost: one of the chunks was lost to bit errors
 * @piece: its number
 * @n_entries: that follow
 * @n_cuts: of @cuts; 0 in an index page
 * @xattr_bytes: of attributes before the entries
 * @position: of the data page that was to be written next
 * @horizon: the lowest position that is not in an index on flash
 * @size: of the file, in an index page
 */
struct yaffs_map_head {
	bool has_entries;
	bool tail;
	bool lost;
	u32 piece;
	u32 n_entries;
	u32 n_cuts;
	u32 xattr_bytes;
	u64 position;
	u64 horizon;
	u64 size;
	struct yaffs_cut cuts[YAFFS_MAP_CUTS];
};

/* Entries of a piece: chunk ids that each piece has. */
u32 yaffs_map_entries(u32 chunk_bytes);
/* Bytes of a header's page that attributes and entries share. */
u32 yaffs_map_room(u32 chunk_bytes);
/*
 * Where entries, or attributes, begin: in an index page, or in the page of a header, where
 * the attributes come before the entries.
 */
u32 yaffs_map_index_offset(void);
u32 yaffs_map_header_offset(void);

/*
 * Completes a page in which attributes and entries are: head, cuts, CRC. What follows is
 * set to 0xff up to @chunk_bytes.
 */
void yaffs_map_pack_index(const struct yaffs_map_head *head, u8 *page,
			  u32 chunk_bytes);
void yaffs_map_pack_header(const struct yaffs_map_head *head, u8 *page,
			   u32 chunk_bytes);
/*
 * Reads them. -EUCLEAN: not one, numbers out of range, or the CRC is wrong; -EOPNOTSUPP:
 * a later version.
 */
int yaffs_map_unpack_index(const u8 *page, u32 chunk_bytes,
			   struct yaffs_map_head *head);
int yaffs_map_unpack_header(const u8 *page, u32 chunk_bytes,
			    struct yaffs_map_head *head);

/*
 * Adds a cut; those that it makes void go. Returns the number of cuts; one more than
 * YAFFS_MAP_CUTS if there is no place.
 */
u32 yaffs_cuts_add(struct yaffs_cut *cuts, u32 n, u64 position, u32 chunks);
/* True if an entry for @chunk_id, in a piece written at @position, was cut off since. */
bool yaffs_cuts_entry(const struct yaffs_cut *cuts, u32 n, u64 position,
		      u32 chunk_id);
/* The same for a data page at @position. */
bool yaffs_cuts_page(const struct yaffs_cut *cuts, u32 n, u64 position,
		     u32 chunk_id);

/* ---- summary.c ---- */

/* Pages that the summary of a block takes: 0 if it cannot have one. */
u32 yaffs_summary_pages(u32 pages_per_block, u32 chunk_bytes);

/* Sum over the bytes of entries. */
u32 yaffs_summary_sum(const struct yaffs_summary_entry_media *entries, u32 n);

/* Entry of a page from its packed tags, and packed tags from an entry. */
void yaffs_summary_entry(const struct yaffs_tags_media *m,
			 struct yaffs_summary_entry_media *entry);
void yaffs_summary_tags(const struct yaffs_summary_entry_media *entry, u32 seq,
			bool segregated, struct yaffs_tags_media *m);

void yaffs_summary_header(u32 block, u32 seq, u32 sum,
			  struct yaffs_summary_header_media *m);

/* Version and sequence number; the block number is not looked at, as upstream. */
bool yaffs_summary_header_valid(const struct yaffs_summary_header_media *m,
				u32 seq);

/* ---- ids.c: which objects there were, in a summary; segregated layout ---- */

/* Ids of a part, if it has @room bytes of a page; 0: there is no place for any. */
u32 yaffs_ids_per_part(u32 room);
/* Completes a part whose bits are behind its head. */
void yaffs_ids_pack(u32 first_id, u32 n_ids, u64 position, u8 *bytes);
/*
 * Whether a part of @n_ids ids is there; then the number of the part in @part, and the position
 * that data had come to. @bits are to be asked by yaffs_ids_has().
 */
bool yaffs_ids_unpack(const u8 *bytes, u32 n_ids, u32 *part, u64 *position,
		      const u8 **bits);
bool yaffs_ids_has(const u8 *bits, u32 index);
void yaffs_ids_set(u8 *bits, u32 index);

/* ---- wear.c: how often blocks were erased, in a summary ---- */

/* Counts for which @room bytes have place. */
u32 yaffs_wear_counts(u32 room);
void yaffs_wear_put(u8 *bytes, u32 index, u32 block, u32 erases);
/* Completes what has @n counts. */
void yaffs_wear_pack(u8 *bytes, u32 n);
/* The number of counts that are there; 0 if there is nothing of it in @room bytes. */
u32 yaffs_wear_unpack(const u8 *bytes, u32 room);
void yaffs_wear_get(const u8 *bytes, u32 index, u32 *block, u32 *erases);

/* ---- ckpt_format.c ---- */

/*
 * Segregated layout: where a checkpoint is looked for after @block, in a partition of
 * @blocks; begins with 0, and ends with it.
 */
u32 yaffs_ckpt_place_after(u32 block, u32 blocks);

/* Running checksums of the checkpoint's stream. */
struct yaffs_ckpt_sum {
	u32 sum;
	u32 xor;
};

void yaffs_ckpt_sum_add(struct yaffs_ckpt_sum *sum, const void *bytes, u32 n);
/* The last word of the stream. */
u32 yaffs_ckpt_sum_word(const struct yaffs_ckpt_sum *sum);

/* Bits of a chunk number in a leaf: even, at least 16. */
u32 yaffs_ckpt_leaf_bits(u32 blocks, u32 pages_per_block);
/* @bits is 16 to 32; bytes that the entries do not fill are 0. */
void yaffs_ckpt_leaf_pack(const u32 entry[YAFFS_LEAF_ENTRIES], u32 bits,
			  u8 leaf[YAFFS_CKPT_LEAF_BYTES]);
void yaffs_ckpt_leaf_unpack(const u8 leaf[YAFFS_CKPT_LEAF_BYTES], u32 bits,
			    u32 entry[YAFFS_LEAF_ENTRIES]);

/**
 * struct yaffs_block - what is known of a block
 * @seq: sequence number, 0 if it has none
 * @pages_in_use: pages that hold live contents
 * @state: enum yaffs_block_state
 * @strikes: failures seen, at most 7
 * @needs_retiring: to be marked bad instead of erased
 * @skip_erased_check: known to be erased: do not look before the first write
 * @prioritised: to be collected soon, its pages had bit errors
 * @has_summary: its last pages hold a valid summary
 * @has_shrink: holds a header that invalidates older data
 * @suspect: looked empty after a crash: an interrupted erase may have left something
 *	behind its first page. On flash: an empty block that is prioritised, which
 *	means nothing else
 * @metadata: holds headers and index pages; segregated layout only
 * @pinned: its summary says which objects there are, as no newer one does: it must not be
 *	erased before what it voids. Segregated layout only
 * @unreadable: holds live pages that cannot be read; collected when nothing else can
 *	be. Not in the format: found out again after the next mount
 */
struct yaffs_block {
	u32 seq;
	u16 pages_in_use;
	u16 state : 4;
	u16 strikes : 3;
	u16 needs_retiring : 1;
	u16 skip_erased_check : 1;
	u16 prioritised : 1;
	u16 has_summary : 1;
	u16 has_shrink : 1;
	u16 suspect : 1;
	u16 unreadable : 1;
	u16 metadata : 1;
	u16 pinned : 1;
};

/* There is one for each block of the partition. */
static_assert(sizeof(struct yaffs_block) == 8, "block");

void yaffs_ckpt_block_pack(const struct yaffs_block *b,
			   struct yaffs_ckpt_block_media *m);
/* Returns -EUCLEAN: state out of range, or more pages in use than a block has. */
int yaffs_ckpt_block_unpack(const struct yaffs_ckpt_block_media *m,
			    u32 pages_per_block, struct yaffs_block *b);

struct yaffs_ckpt_object {
	u32 id;
	u32 parent_id;
	u32 hdr_chunk;
	u32 data_chunks;
	u64 size;		/* file size, or a hard link's target */
	u8 type;
	u8 serial;
	bool deleted;
	bool soft_deleted;
	bool unlinked;
	bool fake;
	bool rename_allowed;
	bool unlink_allowed;
};

void yaffs_ckpt_object_pack(const struct yaffs_ckpt_object *o,
			    struct yaffs_ckpt_object_media *m);
/*
 * Returns 1 for an object, 0 for the end of the list, -EUCLEAN for a wrong size,
 * type or id.
 */
int yaffs_ckpt_object_unpack(const struct yaffs_ckpt_object_media *m,
			     struct yaffs_ckpt_object *o);
void yaffs_ckpt_object_end(struct yaffs_ckpt_object_media *m);

/* ---- xattr_format.c: the area of @bytes behind a header (section 13) ---- */

/* Bytes of the list, without its end. */
u32 yaffs_xattr_used(const u8 *area, u32 bytes);
/* True if the area holds an attribute. */
bool yaffs_xattr_any(const u8 *area, u32 bytes);
/*
 * Copies the value of @name to @value, up to @size bytes. Returns its length (also
 * if @size is 0), -ENODATA, or -ERANGE if @size is too small.
 */
int yaffs_xattr_find(const u8 *area, u32 bytes, const char *name,
		     void *value, u32 size);
/*
 * Sets @name to @size bytes at @value (NULL removes it). @create: -EEXIST if there;
 * @replace: -ENODATA if not there. -ENOSPC if the area is too small: then it is
 * unchanged. Records behind a removed one move up, what becomes free is zero.
 */
int yaffs_xattr_store(u8 *area, u32 bytes, const char *name, const void *value,
		      u32 size, bool create, bool replace);
/*
 * Calls @emit for each well-formed record until it returns non-zero, and returns
 * that, else 0. @name is NUL-terminated within the area.
 */
int yaffs_xattr_each(const u8 *area, u32 bytes,
		     int (*emit)(void *context, const char *name, u32 name_bytes,
				 const u8 *value, u32 size), void *context);

#endif
