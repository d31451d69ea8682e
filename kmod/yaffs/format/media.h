/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The YAFFS2 format as it lies on flash: structures, constants and limits, and
 * nothing else. Offsets are those of images that the original wrote.
 *
 * A chunk is one NAND page. With tags in the OOB it holds page_bytes of data, with
 * in-band tags page_bytes - 16. Chunks are numbered block * pages_per_block + page,
 * and blocks from 1, so that 0 can mean "none": flash block b is internal block
 * b + 1. Internal numbers are found on flash in the header of a summary, in the
 * checkpoint, and in the tags of the checkpoint's pages.
 *
 * The original writes integers in the CPU's byte order. Here they are little-endian
 * on every CPU: images of a big-endian board cannot be read.
 */
#ifndef YAFFS_MEDIA_H
#define YAFFS_MEDIA_H

#include "../../portable.h"

/* Limits. */
#define YAFFS_MIN_PAGE_BYTES		1024
#define YAFFS_MAX_CHUNK_ID		((1U << 28) - 1)
#define YAFFS_MAX_OBJECT_ID		0x3ffff
/* The checkpoint has ten bits for the pages in use of a block. */
#define YAFFS_MAX_PAGES_PER_BLOCK	1023
#define YAFFS_NAME_MAX			254
#define YAFFS_SYMLINK_MAX		159

/* Object ids with a meaning of their own. */
#define YAFFS_ID_ROOT			1
#define YAFFS_ID_LOST_FOUND		2
#define YAFFS_ID_UNLINKED		3
#define YAFFS_ID_DELETED		4
#define YAFFS_ID_SUMMARY		0x10
#define YAFFS_ID_CHECKPOINT		0x20
#define YAFFS_ID_FIRST			256

/* Sequence numbers of blocks. */
#define YAFFS_SEQ_CHECKPOINT		0x21
#define YAFFS_SEQ_LOWEST		0x1000
#define YAFFS_SEQ_FIRST			0x1001
#define YAFFS_SEQ_END			0xefffff00u	/* not in the range */
#define YAFFS_SEQ_BAD_BLOCK		0xffff0000u
#define YAFFS_SEQ_ERASED		0xffffffffu

enum yaffs_object_type {
	YAFFS_TYPE_UNKNOWN,
	YAFFS_TYPE_FILE,
	YAFFS_TYPE_SYMLINK,
	YAFFS_TYPE_DIRECTORY,
	YAFFS_TYPE_HARDLINK,
	YAFFS_TYPE_SPECIAL,
	YAFFS_TYPES
};

/* Tags of a page: in the OOB, followed by their ECC, or at the end of the page. */
struct yaffs_tags_media {
	__le32 seq;		/* YAFFS_SEQ_ERASED: page unused, ignore the rest */
	__le32 obj_id;		/* header: bits 31-28 type if extended */
	__le32 chunk_id;	/* header: 0, or the bits below if extended */
	__le32 n_bytes;		/* header: size or link target if extended */
};

#define YAFFS_TAG_TYPE_SHIFT		28
#define YAFFS_TAG_ID_MASK		0x0fffffffu
#define YAFFS_TAG_EXTENDED		0x80000000u
#define YAFFS_TAG_SHRINK		0x40000000u
#define YAFFS_TAG_SHADOWS		0x20000000u
/* A file of this size or more has no extended form: n_bytes could not hold it. */
#define YAFFS_TAG_SIZE_END		0x80000000ull

/*
 * The segregated layout (docs/yaffs2-segregated.md): headers and data in blocks apart. Its
 * sequence numbers are marked, in a way that makes a reader of the plain format refuse them,
 * and their high bits are in the object id.
 */
#define YAFFS_SEGREGATED_MASK		0xf8000000u
#define YAFFS_SEGREGATED_MARK		0xf0000000u
#define YAFFS_SEGREGATED_CHECKPOINT	0xf8000021u
#define YAFFS_SEGREGATED_SEQ_SHIFT	27	/* bits in the first word */
#define YAFFS_TAG_SEQ_SHIFT		18	/* the others, in the object id */
#define YAFFS_TAG_SEQ_MASK		0x1fu
#define YAFFS_TAG_METADATA		0x00800000u
#define YAFFS_TAG_SPARE			0x0f000000u
#define YAFFS_TAG_INDEX			0x40000000u	/* in the chunk id */

struct yaffs_tags_ecc_media {
	u8 column_parity;	/* six bits */
	u8 pad[3];		/* not defined; written 0 */
	__le32 line_parity;
	__le32 line_parity_inverse;
};

struct yaffs_tags_oob_media {
	struct yaffs_tags_media tags;
	struct yaffs_tags_ecc_media ecc;
};

/* A time is low and high word; high 0xffffffff: take the 32-bit field instead. */
struct yaffs_time_media {
	__le32 low;
	__le32 high;
};

#define YAFFS_HEADER_UNSET		0xffffffffu
#define YAFFS_HEADER_BYTES		512

/*
 * Object header: the first 512 bytes of a chunk with chunk id 0. Fields that do not
 * apply are 0xff. Extended attributes follow up to the end of the chunk.
 */
struct yaffs_header_media {
	__le32 type;
	__le32 parent_id;
	__le16 name_checksum;		/* obsolete, 0xffff */
	u8 name[256];			/* zero padded */
	u8 pad[2];
	__le32 mode;			/* with the bits of the file type */
	__le32 uid;
	__le32 gid;
	__le32 atime_low;
	__le32 mtime_low;
	__le32 ctime_low;
	__le32 size_low;		/* files */
	__le32 link_target;		/* hard links */
	u8 symlink[160];		/* symbolic links, with NUL */
	__le32 rdev;			/* major << 8 | minor; 0 for what is no device */
	struct yaffs_time_media ctime;
	struct yaffs_time_media atime;
	struct yaffs_time_media mtime;
	__le32 inband_shadowed_id;
	__le32 inband_is_shrink;	/* the original leaves it unset */
	__le32 size_high;		/* unset: size_low is all */
	__le32 reserved;
	__le32 shadowed_id;		/* > 0: this header replaces that object */
	__le32 is_shrink;
};

/*
 * Where the pages of a file are: behind the header in its page, and at the beginning of an
 * index page. Segregated layout only.
 */
#define YAFFS_MAP_MAGIC			0x58444e49
#define YAFFS_MAP_VERSION		1
#define YAFFS_MAP_CUTS			4
#define YAFFS_MAP_INDEX			1	/* flags: entries follow */
#define YAFFS_MAP_TAIL			2
#define YAFFS_MAP_LOST			4

struct yaffs_map_media {
	__le32 magic;
	__le16 version;
	__le16 flags;
	__le32 crc;			/* of all up to the last entry, this as 0 */
	__le32 piece;			/* 0 in a header */
	__le32 n_entries;
	__le16 n_cuts;
	__le16 xattr_bytes;		/* a multiple of 4 */
	__le64 position;
	__le64 horizon;
	__le64 size;			/* 0 in a header */
};

struct yaffs_cut_media {
	__le64 position;
	__le32 chunks;
	__le32 zero;
};

/* Block summary: the tags of a block's pages, in its last pages. */
#define YAFFS_SUMMARY_VERSION		1

struct yaffs_summary_header_media {
	__le32 version;
	__le32 block;			/* internal number */
	__le32 seq;
	__le32 sum;			/* of the bytes of all entries */
};

struct yaffs_summary_entry_media {
	__le32 obj_id;			/* these three as in the tags */
	__le32 chunk_id;
	__le32 n_bytes;
};

/*
 * Segregated layout: behind the entries in a metadata block's summary, which objects there
 * were: a bit for each id from first_id on.
 */
#define YAFFS_IDS_MAGIC			0x53444949
/* Parts at most; objects with ids above them go without. */
#define YAFFS_IDS_PARTS			32

struct yaffs_ids_media {
	__le32 magic;
	__le32 crc;			/* of the rest, and of the bits */
	__le32 first_id;
	__le32 n_ids;			/* a multiple of 32 */
	__le64 position;		/* of the next data page: see scan_map.c */
};

/*
 * With wear=pools: behind the entries of a summary, how often some blocks were erased. Other
 * readers do not look there.
 */
#define YAFFS_WEAR_MAGIC		0x52414557

struct yaffs_wear_media {
	__le32 magic;
	__le32 crc;			/* of the rest, and of the counts */
	__le32 n_counts;
};

struct yaffs_count_media {
	__le32 block;
	__le32 erases;
};

/* The checkpoint: a stream of bytes, cut into pages with a header each. */
#define YAFFS_MAGIC			0x5941ff53
#define YAFFS_CKPT_VERSION		8
#define YAFFS_CKPT_VERSION_SEGREGATED	0x108
#define YAFFS_CKPT_BUCKETS		256
/* A checkpoint is not written on fewer blocks. */
#define YAFFS_CKPT_MIN_BLOCKS		60

struct yaffs_ckpt_page_media {
	__le32 version;
	__le32 page;			/* from 0 */
	__le32 sum;			/* of all bytes of the stream so far */
	__le32 xor;
};

struct yaffs_ckpt_validity_media {
	__le32 bytes;			/* of this structure */
	__le32 magic;
	__le32 version;
	__le32 head;			/* 1 at the start, 0 at the end */
};

struct yaffs_ckpt_device_media {
	__le32 bytes;
	__le32 erased_blocks;
	__le32 alloc_block;		/* -1: none */
	__le32 alloc_page;
	__le32 free_chunks;
	__le32 deleted_files;
	__le32 unlinked_files;
	__le32 background_deletions;
	__le32 seq;
};

/* Segregated layout: the other block that is being written. */
struct yaffs_ckpt_streams_media {
	__le32 bytes;
	__le32 alloc_block;		/* -1: none */
	__le32 alloc_page;
	__le32 ids_end;			/* no metadata page has an id as high as that */
	__le64 horizon;
	__le32 ids_block[YAFFS_IDS_PARTS];	/* with the newest of each part; 0: none */
};

/* Segregated layout: where an index page is. */
struct yaffs_ckpt_piece_media {
	__le32 number;			/* YAFFS_CKPT_LEAVES_END: there is no more */
	__le32 chunk;
	__le32 flags;
};

/*
 * word 0, from bit 0: soft-deleted pages (10 bits; segregated layout: bit 0 is for a
 * metadata block), pages in use (10), state (4),
 * needs retiring, skip erased check, prioritised, error strikes (3), has summary,
 * has shrink header.
 */
struct yaffs_ckpt_block_media {
	__le32 word;
	__le32 seq;
};

enum yaffs_block_state {
	YAFFS_BLOCK_UNKNOWN,
	YAFFS_BLOCK_SCANNING,
	YAFFS_BLOCK_NEEDS_SCAN,
	YAFFS_BLOCK_EMPTY,
	YAFFS_BLOCK_ALLOCATING,
	YAFFS_BLOCK_FULL,
	YAFFS_BLOCK_DIRTY,
	YAFFS_BLOCK_CHECKPOINT,
	YAFFS_BLOCK_COLLECTING,
	YAFFS_BLOCK_DEAD,
	YAFFS_BLOCK_STATES
};

/*
 * flags, from bit 0: type (3 bits), deleted, soft-deleted, unlinked, fake, rename
 * allowed, unlink allowed, serial (8 bits). An object whose bytes after the first
 * word are all 0xff ends the list.
 */
struct yaffs_ckpt_object_media {
	__le32 bytes;			/* of this structure */
	__le32 id;
	__le32 parent_id;
	__le32 hdr_chunk;
	__le32 flags;
	__le32 data_chunks;
	__le32 size_low;		/* file size, or a hard link's target */
	__le32 size_high;
};

/* Leaves of a file's index: 16 chunk numbers, 64 bytes whatever their width. */
#define YAFFS_LEAF_ENTRIES		16
#define YAFFS_CKPT_LEAF_BYTES		64
#define YAFFS_CKPT_LEAVES_END		0xffffffffu

static_assert(sizeof(struct yaffs_tags_media) == 16, "tags");
static_assert(sizeof(struct yaffs_tags_oob_media) == 28, "tags with ECC");
static_assert(sizeof(struct yaffs_header_media) == YAFFS_HEADER_BYTES, "header");
static_assert(offsetof(struct yaffs_header_media, mode) == 268, "mode");
static_assert(offsetof(struct yaffs_header_media, symlink) == 300, "symlink");
static_assert(offsetof(struct yaffs_header_media, rdev) == 460, "rdev");
static_assert(offsetof(struct yaffs_header_media, ctime) == 464, "ctime");
static_assert(offsetof(struct yaffs_header_media, size_high) == 496, "size");
static_assert(sizeof(struct yaffs_map_media) == 48, "map");
static_assert(sizeof(struct yaffs_cut_media) == 16, "cut");
static_assert(sizeof(struct yaffs_ids_media) == 24, "ids");
static_assert(sizeof(struct yaffs_wear_media) == 12, "wear");
static_assert(sizeof(struct yaffs_count_media) == 8, "count");
static_assert(sizeof(struct yaffs_ckpt_streams_media) == 152, "streams");
static_assert(sizeof(struct yaffs_ckpt_piece_media) == 12, "piece");
static_assert(sizeof(struct yaffs_summary_header_media) == 16, "summary header");
static_assert(sizeof(struct yaffs_summary_entry_media) == 12, "summary entry");
static_assert(sizeof(struct yaffs_ckpt_page_media) == 16, "checkpoint page");
static_assert(sizeof(struct yaffs_ckpt_validity_media) == 16, "validity");
static_assert(sizeof(struct yaffs_ckpt_device_media) == 36, "device");
static_assert(sizeof(struct yaffs_ckpt_block_media) == 8, "block");
static_assert(sizeof(struct yaffs_ckpt_object_media) == 32, "object");

#endif
