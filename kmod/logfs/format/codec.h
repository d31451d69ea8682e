/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the format on flash and the structures in memory: pure functions, one file for
 * each part of the format. None allocates, none trusts what it decodes: whatever bytes
 * come in, the result is valid or the function says that it is not.
 *
 * What decodes returns 0, -ENODATA where flash is erased, and -EUCLEAN for what no writer
 * would have left, unless something else is said.
 */
#ifndef LOGFS_CODEC_H
#define LOGFS_CODEC_H

#include "media.h"

/* ---- crc.c ---- */

/* Seeded with ones, and not inverted. */
u32 logfs_crc(const void *bytes, size_t n);
/* Goes on from @crc. */
u32 logfs_crc_more(u32 crc, const void *bytes, size_t n);
/* No bit was programmed. */
bool logfs_is_erased(const void *bytes, size_t n);

/* ---- segment.c ---- */

/**
 * struct logfs_segment - decoded header of a segment
 * @type: enum logfs_segment_type
 * @level: GC level
 * @segno: its own number
 * @ec: erase count
 * @gec: global erase count
 */
struct logfs_segment {
	u8 type;
	u8 level;
	u32 segno;
	u32 ec;
	u64 gec;
};

void logfs_segment_encode(const struct logfs_segment *s,
			  struct logfs_segment_header_media *m);
/* Whether @segno is the segment's is for the caller to see. */
int logfs_segment_decode(const struct logfs_segment_header_media *m,
			 struct logfs_segment *s);

enum logfs_segment_state {
	LOGFS_SEGMENT_NORMAL,
	LOGFS_SEGMENT_RESERVED,
	LOGFS_SEGMENT_BAD,
};

/**
 * struct logfs_segment_entry - what the segment file says of a segment
 * @state: enum logfs_segment_state
 * @level: GC level
 * @ec: erase count, at most LOGFS_ENTRY_MAX_EC; a bad segment has none
 * @valid_bytes: headers and payloads of valid objects; normal segments only
 */
struct logfs_segment_entry {
	u8 state;
	u8 level;
	u32 ec;
	u32 valid_bytes;
};

/* The word, in the CPU's order. */
u64 logfs_segment_entry_encode(const struct logfs_segment_entry *e);
int logfs_segment_entry_decode(u64 word, struct logfs_segment_entry *e);

/* ---- super.c ---- */

/**
 * struct logfs_super - decoded superblock
 * @segment: header of the segment it was written to; that of the last copy is not where
 *	the segment begins
 * @ifile_levels: of the inode file, level 0 among them
 * @iblock_levels: of blocks of pointers in a file
 * @segment_shift: log2 of the bytes of a segment
 * @segment_bytes: these bytes, or 0, as the original's mkfs has it
 * @write_shift: log2 of what the device programs at once
 * @n_segments: of the device
 * @bad_reserve: segments kept for those that become bad
 * @read_only: it has features that a reader need not know, but a writer
 * @ro_compat: these, as they are
 * @compat: features that nobody need know
 * @flags: as they are
 * @root_reserve: bytes
 * @speed_reserve: bytes
 * @n_journal: segments of the journal
 * @journal: the segments, 0 for an empty slot; one at least is there, and all differ
 * @super_at: where both copies are
 */
struct logfs_super {
	struct logfs_segment segment;
	u8 ifile_levels;
	u8 iblock_levels;
	u8 segment_shift;
	u8 write_shift;
	u32 segment_bytes;
	u32 n_segments;
	u32 bad_reserve;
	bool read_only;
	u64 ro_compat;
	u64 compat;
	u64 flags;
	u64 root_reserve;
	u64 speed_reserve;
	u32 n_journal;
	u32 journal[LOGFS_JOURNAL_SEGMENTS];
	u64 super_at[LOGFS_SUPERBLOCKS];
};

/* @read_only and @n_journal are not looked at. */
void logfs_super_encode(const struct logfs_super *s,
			struct logfs_super_media *m);
/*
 * -EINVAL: no LogFS; -EUCLEAN: damaged, or impossible; -EOPNOTSUPP: of another version,
 * with features that must be known, with other blocks than of 4 KiB, or with write units
 * that do not fit into the journal.
 */
int logfs_super_decode(const struct logfs_super_media *m, struct logfs_super *s);
/* True if a copy of the superblock is in the segment. */
bool logfs_has_super(const struct logfs_super *s, u32 segno);

/* ---- space.c ---- */

/* Of blocks of the inode file, of blocks of pointers, and of data. */
u32 logfs_total_levels(const struct logfs_super *s);
/* What is programmed at once, in bytes. */
u32 logfs_write_unit(const struct logfs_super *s);
/* True if the file system has blocks of this GC level. */
bool logfs_has_level(const struct logfs_super *s, u32 gc_level);
/*
 * How many levels are between one that the file system has and the journal: 0 is next to
 * the root.
 */
u32 logfs_root_distance(const struct logfs_super *s, u32 gc_level);
/*
 * Bytes that may yet be written, @n_bad segments being bad and objects taking
 * @used_bytes; 0 if there are none.
 */
u64 logfs_free_bytes(const struct logfs_super *s, u64 used_bytes, u32 n_bad);

/* ---- object.c ---- */

/**
 * struct logfs_object - decoded header of an object
 * @type: enum logfs_object_type
 * @compression: enum logfs_compression; blocks only
 * @stored_bytes: of the payload; if it is not compressed, what its type has
 * @data_crc: of the payload; encoding does not look at it
 * @ino: the file, at most LOGFS_MAX_INO; LOGFS_INO_INODES for inodes
 * @bix: less than LOGFS_MAX_BLOCKS
 */
struct logfs_object {
	u8 type;
	u8 compression;
	u16 stored_bytes;
	u32 data_crc;
	u64 ino;
	u64 bix;
};

/* Bytes of a payload before it is compressed; 0 if there is no such type. */
u32 logfs_object_payload_bytes(u32 type);
void logfs_object_encode(const struct logfs_object *o, const void *payload,
			 struct logfs_object_header_media *m);
/* Whether the level of the segment suits the type is for the caller to see. */
int logfs_object_decode(const struct logfs_object_header_media *m,
			struct logfs_object *o);
/* The payload is what was written. */
bool logfs_object_intact(const struct logfs_object *o, const void *payload);

/* ---- inode.c ---- */

/**
 * struct logfs_inode - decoded inode
 * @mode: with the bits of the file type, which the caller judges
 * @height: levels of blocks of pointers
 * @flags: of LOGFS_FLAGS_MEDIA
 * @ctime_ns: since the epoch, as the others
 * @used_bytes: headers and payloads of all blocks
 * @pointer: direct pointers, then the root of the others
 */
struct logfs_inode {
	u16 mode;
	u8 height;
	u32 flags;
	u32 uid;
	u32 gid;
	u64 ctime_ns;
	u64 mtime_ns;
	u64 atime_ns;
	u32 nlink;
	u32 generation;
	u64 used_bytes;
	u64 size;
	u64 pointer[LOGFS_INODE_POINTERS];
};

/* A word less than LOGFS_INODE_WORDS, which is what an alias has for a child. */
u64 logfs_inode_word(const struct logfs_inode *i, u32 word);
/* -EUCLEAN: the height or size is too large; nothing is set then. */
int logfs_inode_set_word(struct logfs_inode *i, u32 word, u64 value);
void logfs_inode_encode(const struct logfs_inode *i,
			struct logfs_inode_media *m);
int logfs_inode_decode(const struct logfs_inode_media *m,
		       struct logfs_inode *i);

/**
 * struct logfs_dentry - decoded entry of a directory
 * @ino: not a reserved one
 * @type: one of a mode, shifted
 * @name_bytes: 1 to LOGFS_NAME_MAX
 * @name: points into what was decoded; no slash or NUL is in it, and it is not "." or ".."
 */
struct logfs_dentry {
	u64 ino;
	u8 type;
	u16 name_bytes;
	const u8 *name;
};

void logfs_dentry_encode(const struct logfs_dentry *d,
			 struct logfs_dentry_media *m);
int logfs_dentry_decode(const struct logfs_dentry_media *m,
			struct logfs_dentry *d);

/* ---- journal.c ---- */

/**
 * struct logfs_journal_entry - decoded header of a journal entry
 * @type: enum logfs_journal_type
 * @compression: enum logfs_compression
 * @stored_bytes: of the payload
 * @unpacked_bytes: the same if it is not compressed, else more
 */
struct logfs_journal_entry {
	u16 type;
	u8 compression;
	u16 stored_bytes;
	u16 unpacked_bytes;
};

/* Bytes of an entry with its header and what aligns the next. */
u32 logfs_journal_entry_bytes(u32 stored_bytes);
/* @payload is what is to be stored. What aligns the next entry is the caller's. */
void logfs_journal_encode(const struct logfs_journal_entry *e,
			  const void *payload,
			  struct logfs_journal_header_media *m);
/*
 * Reads the entry at @bytes, where @room bytes are; its payload is behind the header. The
 * CRC of both is right if it returns 0.
 */
int logfs_journal_decode(const u8 *bytes, u32 room,
			 struct logfs_journal_entry *e);
/*
 * Finds the next entry of the segment at *@at, a multiple of LOGFS_JOURNAL_ALIGN, or behind
 * it. -ENODATA: there is none. To go on, add logfs_journal_entry_bytes().
 */
int logfs_journal_next(const u8 *segment, u32 segment_bytes, u32 *at,
		       struct logfs_journal_entry *e);
/* The newest commit of the segment, likewise. */
int logfs_journal_last_commit(const u8 *segment, u32 segment_bytes, u32 *at,
			      struct logfs_journal_entry *e);

/* ---- payload.c: what entries of the journal hold, unpacked ---- */
/* Payloads are aligned to 8 bytes, as they are in a segment. */

/* Places that a commit of @bytes has; 0: it is not one. */
u32 logfs_commit_entries(u32 bytes);
void logfs_commit_put(u8 *payload, u32 index, u64 place);
/*
 * Where in its segment, which begins at @base, is an entry of the commit. -EUCLEAN: in
 * another, or where no entry can begin.
 */
int logfs_commit_get(const u8 *payload, u32 index, u64 base, u32 segment_bytes,
		     u32 *at);

struct logfs_dynamic {
	u64 gec;
	u64 sweeper;
	u64 rename_dir;
	u64 rename_bix;
	u64 victim_ino;
	u64 used_bytes;
	u32 generation;
};

void logfs_dynamic_encode(const struct logfs_dynamic *d,
			  struct logfs_dynamic_media *m);
/* The inodes are at most LOGFS_MAX_INO and not reserved, or 0. */
int logfs_dynamic_decode(const u8 *payload, u32 bytes,
			 struct logfs_dynamic *d);

/**
 * struct logfs_anchor - decoded anchor
 * @size: of the inode file in bytes, a block for each inode
 * @last_ino: the inode last given
 * @used_bytes: as of an inode
 * @height: as of an inode
 * @pointer: as of an inode
 */
struct logfs_anchor {
	u64 size;
	u64 last_ino;
	u64 used_bytes;
	u8 height;
	u64 pointer[LOGFS_INODE_POINTERS];
};

void logfs_anchor_encode(const struct logfs_anchor *a,
			 struct logfs_anchor_media *m);
int logfs_anchor_decode(const u8 *payload, u32 bytes, struct logfs_anchor *a);

void logfs_erase_counts_encode(const u32 ec[LOGFS_JOURNAL_SEGMENTS],
			       struct logfs_erase_counts_media *m);
int logfs_erase_counts_decode(const u8 *payload, u32 bytes,
			      u32 ec[LOGFS_JOURNAL_SEGMENTS]);

/**
 * struct logfs_area - decoded area: a segment that was open at the commit
 * @segno: less than the segments of the device
 * @used_bytes: from the segment's start, its header among them
 * @level: GC level, one that the file system has
 * @unit: contents of the write unit that @used_bytes ends in; NULL if it ends with one
 */
struct logfs_area {
	u32 segno;
	u32 used_bytes;
	u8 level;
	const u8 *unit;
};

/* Bytes of the payload. */
u32 logfs_area_bytes(const struct logfs_super *s, u32 used_bytes);
/* The contents of the unit, which follow, are the caller's. */
void logfs_area_encode(const struct logfs_area *a, struct logfs_area_media *m);
int logfs_area_decode(const struct logfs_super *s, const u8 *payload, u32 bytes,
		      struct logfs_area *a);

/**
 * struct logfs_alias - decoded alias
 * @ino: the file
 * @level: of the block in the file; 0: an inode, or a block of the segment file
 * @bix: of the block
 * @child: which word of it
 * @value: of the word
 */
struct logfs_alias {
	u64 ino;
	u8 level;
	u64 bix;
	u16 child;
	u64 value;
};

/* Aliases that are in @bytes; 0: none are. */
u32 logfs_aliases(u32 bytes);
void logfs_alias_put(u8 *payload, u32 index, const struct logfs_alias *a);
int logfs_alias_get(const u8 *payload, u32 index, struct logfs_alias *a);

/* ---- dirhash.c ---- */

u32 logfs_dir_hash(const u8 *name, u32 n);
/* Block index of a try, which is less than LOGFS_DIR_TRIES. */
u64 logfs_dir_try(u32 hash, u32 n);

/* ---- tree_math.c ---- */

/* bix of the block of a level in which @bix is. */
u64 logfs_block_start(u32 level, u64 bix);
/* Which pointer of the block of a level, 1 at least, leads to @bix. */
u32 logfs_slot(u32 level, u64 bix);
/* The word of an inode that leads to @bix. */
u32 logfs_inode_child(u64 bix);
/* The height that a file must have to have a block @bix. */
u32 logfs_height(u64 bix);
/* The last block that a file of a height can have. */
u64 logfs_last_bix(u32 height);
/* GC level of a block. */
u32 logfs_gc_level(u64 ino, u32 level);

/* True if there can be such a block: then it has a key. */
bool logfs_block_possible(u64 ino, u32 level, u64 bix);
/*
 * A number for a possible block. Those of a file are next to each other, by level and then
 * by index.
 */
u64 logfs_block_key(u64 ino, u32 level, u64 bix);
void logfs_block_of_key(u64 key, u64 *ino, u32 *level, u64 *bix);

/* The place that a pointer says. */
static inline u64 logfs_pointer_place(u64 pointer)
{
	return pointer & ~LOGFS_POINTER_FULL;
}

/* True if there is no hole below the pointer, which is one of a block of that level. */
bool logfs_pointer_full(u32 level, u64 pointer);
/* True if no pointer of the block is a hole, or has one below. */
bool logfs_indirect_full(const __be64 words[LOGFS_BLOCK_POINTERS], u32 level,
			 u64 bix);
bool logfs_indirect_empty(const __be64 words[LOGFS_BLOCK_POINTERS]);

#endif
