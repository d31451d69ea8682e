/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The LogFS format as it lies on flash: structures, constants and limits, and nothing
 * else. Integers are big-endian, padding is zero.
 *
 * The device is cut into segments. Two begin or end with a superblock, some are the
 * journal, and all others hold objects: blocks of files, inodes and dentries, each behind
 * a header. Nothing says which objects are valid but the tree that points to them. Its
 * root is in the journal, and so is all that was changed in the tree and not yet written
 * to it (aliases).
 *
 * A block of a file is (ino, level, bix): level 0 is data, level h a block of pointers;
 * bix is the index of its leftmost block of level 0.
 */
#ifndef LOGFS_MEDIA_H
#define LOGFS_MEDIA_H

#include "../../portable.h"

/* Blocks and the tree. */
#define LOGFS_BLOCK_SHIFT		12
#define LOGFS_BLOCK_BYTES		4096U
#define LOGFS_INDEX_BITS		9
#define LOGFS_BLOCK_POINTERS		512U
#define LOGFS_DIRECT_POINTERS		16
#define LOGFS_INODE_POINTERS		(LOGFS_DIRECT_POINTERS + 1)
#define LOGFS_MAX_LEVEL			5
/* Of a file: 8 TiB. Directories, too, use no index above. */
#define LOGFS_MAX_BLOCKS		0x80000000ULL
#define LOGFS_MAX_FILE_BYTES		(LOGFS_MAX_BLOCKS << LOGFS_BLOCK_SHIFT)
/* Ours: it leaves room for level and bix in a key of 64 bits. */
#define LOGFS_MAX_INO			0x3fffffffULL

/* A pointer is the place of an object on the device, with this if there is no hole below. */
#define LOGFS_POINTER_FULL		0x8000000000000000ULL

/* GC levels: those of files, then those of the inode file. */
#define LOGFS_FILE_LEVELS		(LOGFS_MAX_LEVEL + 1)
#define LOGFS_GC_LEVELS			(2 * LOGFS_FILE_LEVELS)

/* Inodes with a meaning of their own; all below the last are reserved. */
#define LOGFS_INO_INODES		1
#define LOGFS_INO_ROOT			2
#define LOGFS_INO_SEGMENTS		3
#define LOGFS_RESERVED_INOS		16

/* Segments. */
#define LOGFS_MIN_SEGMENT_SHIFT		14
#define LOGFS_MAX_SEGMENT_SHIFT		30
/* The journal must be able to hold a write unit behind 16 bits of length. */
#define LOGFS_MAX_WRITE_SHIFT		15
/* That much at least is programmed at once, less where a segment has not 32 of it. */
#define LOGFS_MIN_UNIT_BYTES		4096
#define LOGFS_UNITS_SHIFT		5
#define LOGFS_JOURNAL_SEGMENTS		16
#define LOGFS_SUPERBLOCKS		2

enum logfs_segment_type {
	LOGFS_SEGMENT_SUPER = 1,
	LOGFS_SEGMENT_JOURNAL,
	LOGFS_SEGMENT_OBJECTS,
};

struct logfs_segment_header_media {
	__be32 crc;		/* of what follows */
	__be16 pad;
	u8 type;
	u8 level;		/* GC level */
	__be32 segno;
	__be32 ec;		/* how often it was erased */
	__be64 gec;		/* how often any was, when this was written */
};

static_assert(sizeof(struct logfs_segment_header_media) == 24,
	      "segment header");

/* Superblock: what never changes, but for the places of the journal. */
#define LOGFS_MAGIC			0x7a3a8e5cb9d5bf67ULL
#define LOGFS_MAGIC_OLD			0xb21f205ac97e8168ULL
#define LOGFS_STATFS_MAGIC		0xc97e8168U
#define LOGFS_SUPER_BYTES		256

struct logfs_super_media {
	struct logfs_segment_header_media segment;
	__be64 magic;
	__be32 crc;		/* of what follows */
	u8 ifile_levels;
	u8 iblock_levels;
	u8 data_levels;
	u8 segment_shift;
	u8 block_shift;
	u8 write_shift;
	u8 pad0[6];
	__be64 fs_bytes;
	__be32 segment_bytes;
	__be32 bad_reserve;	/* segments */
	__be64 incompat;
	__be64 ro_compat;
	__be64 compat;
	__be64 flags;
	__be64 root_reserve;	/* bytes */
	__be64 speed_reserve;	/* bytes */
	__be32 journal[LOGFS_JOURNAL_SEGMENTS];	/* segments; 0: none */
	__be64 super_at[LOGFS_SUPERBLOCKS];	/* places of both copies */
	__be64 pad1[8];
};

static_assert(sizeof(struct logfs_super_media) == LOGFS_SUPER_BYTES,
	      "superblock");

/* Objects. */
#define LOGFS_OBJECT_HEADER_BYTES	28
#define LOGFS_MAX_OBJECT_BYTES		(LOGFS_OBJECT_HEADER_BYTES + LOGFS_BLOCK_BYTES)
/* The part of a segment that cannot be counted on: its header, and a tail that just
 * misses an object.
 */
#define LOGFS_SEGMENT_RESERVE_BYTES \
	((u32)sizeof(struct logfs_segment_header_media) + \
	 LOGFS_MAX_OBJECT_BYTES - 1)

enum logfs_object_type {
	LOGFS_OBJECT_BLOCK = 4,
	LOGFS_OBJECT_INODE,
	LOGFS_OBJECT_DENTRY,
};

enum logfs_compression {
	LOGFS_COMPRESSION_NONE,
	LOGFS_COMPRESSION_ZLIB,
	LOGFS_COMPRESSIONS
};

struct logfs_object_header_media {
	__be32 crc;		/* of what follows but for the last word */
	__be16 stored_bytes;	/* of the payload, which follows */
	u8 type;
	u8 compression;
	__be64 ino;
	__be64 bix;
	__be32 data_crc;	/* of the payload as it is stored */
} __packed;

static_assert(sizeof(struct logfs_object_header_media) ==
	      LOGFS_OBJECT_HEADER_BYTES, "object header");

/*
 * An inode is an array of words, since an alias changes one:
 *
 *   0 mode 16, height 8, pad 8, flags 32    5 nlink 32, generation 32
 *   1 uid 32, gid 32                        6 used bytes
 *   2 3 4 ctime, mtime, atime in ns         7 size
 *   8 ... the direct pointers, then the indirect one
 */
#define LOGFS_INODE_DATA		8
#define LOGFS_INODE_WORDS		(LOGFS_INODE_DATA + LOGFS_INODE_POINTERS)
#define LOGFS_INODE_BYTES		200
#define LOGFS_FLAG_COMPRESS		0x4U
/* The others are of memory only. */
#define LOGFS_FLAGS_MEDIA		0x1fffffffU

struct logfs_inode_media {
	__be64 word[LOGFS_INODE_WORDS];
};

static_assert(sizeof(struct logfs_inode_media) == LOGFS_INODE_BYTES, "inode");

#define LOGFS_NAME_MAX			255

struct logfs_dentry_media {
	__be64 ino;
	__be16 name_bytes;
	u8 type;		/* bits 12 to 15 of the mode */
	u8 name[LOGFS_NAME_MAX];	/* zero padded */
} __packed;

static_assert(sizeof(struct logfs_dentry_media) == 266, "dentry");

/*
 * The segment file has a word for each segment: erase count 28, GC level 4, valid
 * bytes 32. Bad segments have all bits set, reserved ones (superblocks, journal) all bits
 * of the valid bytes.
 */
#define LOGFS_ENTRY_EC_SHIFT		36
#define LOGFS_ENTRY_LEVEL_SHIFT		32
#define LOGFS_ENTRY_LEVEL_MASK		0xfU
#define LOGFS_ENTRY_MAX_EC		0xfffffffU
#define LOGFS_ENTRY_BAD			U64_MAX
#define LOGFS_ENTRY_RESERVED		U32_MAX

/* The journal: entries at multiples of LOGFS_JOURNAL_ALIGN, the first at LOGFS_JOURNAL_FIRST. */
#define LOGFS_JOURNAL_ALIGN		16
#define LOGFS_JOURNAL_FIRST		32

enum logfs_journal_type {
	LOGFS_JOURNAL_COMMIT = 2,	/* places of all entries of this commit */
	LOGFS_JOURNAL_DYNAMIC,
	LOGFS_JOURNAL_ANCHOR,
	LOGFS_JOURNAL_ERASE_COUNTS,
	LOGFS_JOURNAL_ALIASES = 13,
	LOGFS_JOURNAL_AREA,
};

struct logfs_journal_header_media {
	__be32 crc;		/* of what follows, and of the payload as it is stored */
	__be16 stored_bytes;
	__be16 unpacked_bytes;
	__be16 type;
	u8 compression;
	u8 pad[5];
};

static_assert(sizeof(struct logfs_journal_header_media) == 16,
	      "journal entry header");

/* Dynamic superblock. */
struct logfs_dynamic_media {
	__be64 gec;
	__be64 sweeper;		/* place in the segment file */
	__be64 rename_dir;	/* inode; 0: no rename is under way */
	__be64 rename_bix;	/* of the dentry to be deleted */
	__be64 victim_ino;	/* to be deleted; 0: none */
	__be64 victim_parent;	/* unused */
	__be64 used_bytes;
	__be32 generation;
	__be32 pad;
};

static_assert(sizeof(struct logfs_dynamic_media) == 64, "dynamic superblock");

/* The inode of the inode file. */
struct logfs_anchor_media {
	__be64 size;
	__be64 last_ino;
	__be64 used_bytes;
	u8 height;
	u8 pad[7];
	__be64 pointer[LOGFS_INODE_POINTERS];
};

static_assert(sizeof(struct logfs_anchor_media) == 168, "anchor");

struct logfs_erase_counts_media {
	__be32 ec[LOGFS_JOURNAL_SEGMENTS];
};

static_assert(sizeof(struct logfs_erase_counts_media) == 64, "erase counts");

/* An open segment; what is not yet programmed of its last write unit follows. */
struct logfs_area_media {
	__be32 segno;
	__be32 used_bytes;	/* from the segment's start */
	u8 level;		/* GC level */
	u8 life;		/* class of its data, always 0 */
} __packed;

static_assert(sizeof(struct logfs_area_media) == 10, "area");

/* A word of a block, or of an inode, that is not yet what the object on flash says. */
struct logfs_alias_media {
	__be64 ino;
	__be64 bix;
	__be64 value;
	u8 level;		/* of the block in its file */
	u8 pad[5];
	__be16 child;		/* which word */
};

static_assert(sizeof(struct logfs_alias_media) == 32, "alias");

/* Names in a directory: where a hash is looked for. */
#define LOGFS_DIR_TRIES			20
#define LOGFS_DIR_BUCKET		16

#endif
