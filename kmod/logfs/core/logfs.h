/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the core offers to the VFS: inodes ("nodes"), their blocks, directories, commits.
 *
 * One mutex protects a mount: logfs_lock() and logfs_unlock(), inside of inode and page locks.
 * logfs_begin_write() takes it too, and does in front of an operation whatever may move or commit
 * something: collecting garbage, writing back blocks that have too many aliases. So within an
 * operation nothing of that happens, and a commit never falls between two changes that belong
 * together, but where a directory operation says so (dir.c).
 *
 * Errors: -EIO the driver failed, -EBADMSG data beyond ECC or with a wrong CRC, -EUCLEAN what
 * breaks the format, -ENOSPC, -ENOMEM, -EROFS.
 */
#ifndef LOGFS_H
#define LOGFS_H

#include <linux/mtd/mtd.h>
#include <linux/types.h>

#include "../format/media.h"

struct logfs_device;

/**
 * struct logfs_node - an inode
 * @dev: the mount
 * @ino: its number
 * @mode: type and permissions
 * @flags: LOGFS_FLAG_COMPRESS, and others that are kept as they are
 * @uid, @gid, @nlink: directories keep @nlink 1
 * @generation: of the number, which is used again after 2^18 others
 * @ctime_ns, @mtime_ns, @atime_ns: since 1970
 * @used_bytes: of the blocks that it has, as they are stored, indirect blocks among them
 * @size: in bytes; of a directory the highest block that was ever used, and one, in bytes
 * @rdev: of device nodes, as new_encode_dev() has it
 *
 * The VFS may change all but @dev, @ino, @used_bytes and @size, under the lock, and then calls
 * logfs_node_write() or an operation that writes the inode.
 */
struct logfs_node {
	struct logfs_device *dev;
	u64 ino;
	u16 mode;
	u32 flags;
	u32 uid;
	u32 gid;
	u32 nlink;
	u32 generation;
	u64 ctime_ns;
	u64 mtime_ns;
	u64 atime_ns;
	u64 used_bytes;
	u64 size;
	u32 rdev;
};

/**
 * struct logfs_found - an entry of a directory
 * @ino: the inode's number
 * @bix: the entry's block, its place for readdir
 * @type: S_IFMT bits of the mode >> 12, as DT_* are
 * @len: bytes of @name, which ends with a 0 beside
 */
struct logfs_found {
	u64 ino;
	u64 bix;
	u8 type;
	u16 len;
	char name[LOGFS_NAME_MAX + 1];
};

/* ---- mount.c ---- */

/*
 * Mounts @mtd. @writable: recovers, and formats an erased partition; without it nothing is
 * changed on flash. ERR_PTR: -EINVAL no LogFS here (said in the log), or as above.
 */
struct logfs_device *logfs_mount(struct mtd_info *mtd, bool writable);
/*
 * Between read-only and writable; -EROFS if an error allows only the former. Read-only comes
 * before logfs_unmount() of what is writable, too.
 */
int logfs_make_writable(struct logfs_device *dev);
int logfs_make_read_only(struct logfs_device *dev);
/* Frees everything. What was not committed is lost. Without the lock. */
void logfs_unmount(struct logfs_device *dev);
struct mtd_info *logfs_mtd(const struct logfs_device *dev);

/* ---- flash.c ---- */

/**
 * struct logfs_keeper - remembers flash that was read, in memory that can be had back
 * @read: bytes of a piece, which are logfs_piece_bytes() at a multiple of that; if it has not got
 *	the piece, it calls logfs_flash_read() for all of it. -ENOMEM: it could not; or as that
 * @forget: these pieces change
 *
 * Both are called with the lock.
 */
struct logfs_keeper {
	int (*read)(void *arg, u64 place, void *to, u32 bytes);
	void (*forget)(void *arg, u64 place, u64 bytes);
};

/* A power of two, at most LOGFS_BLOCK_BYTES: a page of flash, mostly. */
u32 logfs_piece_bytes(const struct logfs_device *dev);
/*
 * Reads, what is in memory and not yet programmed too. -EBADMSG: beyond ECC; the bytes are
 * there, as they were read. -EUCLEAN: there is no such place.
 */
int logfs_flash_read(struct logfs_device *dev, u64 place, void *to, u32 bytes);

/* ---- stats.c ---- */

/**
 * struct logfs_space - for statfs(2)
 * @blocks: blocks of LOGFS_BLOCK_BYTES that it has, @free: of these still free
 * @inodes: the most inodes, @free_inodes: numbers that may still be given
 */
struct logfs_space {
	u64 blocks;
	u64 free;
	u64 inodes;
	u64 free_inodes;
};

/* With the lock. */
void logfs_space(struct logfs_device *dev, struct logfs_space *space);
/* State and counters by @nth from 0; false: there is no such. With the lock. */
bool logfs_statistic(struct logfs_device *dev, u32 nth, const char **name,
		     u64 *value);

/* ---- operation.c ---- */

/*
 * Takes the lock for an operation that writes at most @blocks new data blocks, dentries or
 * inodes. -ENOSPC: there is no room for these; the lock is not held then, as with each error.
 * @blocks 0: for what frees space or writes what room was reserved for; never -ENOSPC.
 */
int logfs_begin_write(struct logfs_device *dev, u32 blocks);
/* Takes the lock to read; nothing may be written. */
void logfs_lock(struct logfs_device *dev);
void logfs_unlock(struct logfs_device *dev);
/* Room for dirty pages of the page cache, and their parents. Take the lock themselves. */
int logfs_reserve(struct logfs_device *dev, u32 pages);
void logfs_unreserve(struct logfs_device *dev, u32 pages);
/* From now on; @arg is handed on. NULL ends it. Returns the former @arg. Without the lock. */
void *logfs_keep(struct logfs_device *dev, const struct logfs_keeper *keeper, void *arg);

/* ---- clean.c ---- */

/* All that was done is on flash, and stays. After logfs_begin_write(dev, 0). */
int logfs_commit(struct logfs_device *dev);

/* ---- node.c; all of these need the lock ---- */

/* ERR_PTR: -ENOENT there is no such inode. */
struct logfs_node *logfs_node_get(struct logfs_device *dev, u64 ino);
void logfs_node_put(struct logfs_node *node);
/* Chooses a number; nothing is written. Flags are those that @dir hands on. */
struct logfs_node *logfs_node_new(struct logfs_device *dev,
				  const struct logfs_node *dir, u16 mode);
int logfs_node_write(struct logfs_node *node);

/* ---- file.c; need the lock ---- */

/* A whole block to @page, zeros if it is a hole. */
int logfs_block_read(struct logfs_node *node, u64 bix, void *page);
/* A whole block; the file has at least @size bytes then. */
int logfs_block_write(struct logfs_node *node, u64 bix, const void *page,
		      u64 size);
/*
 * Sets the size. If it becomes less, blocks behind it are given up and the tail of the last
 * one becomes zeros. Takes the lock itself, and several times for a large file.
 */
int logfs_truncate(struct logfs_node *node, u64 size);
/* The next block from @bix on that is there (@data), or that is a hole; -ENXIO: none. */
int logfs_seek(struct logfs_node *node, u64 bix, bool data, u64 *found);
/*
 * Nobody uses it and @nlink is 0: all that it has becomes free. Takes the lock itself,
 * and several times for a large file. Puts @node.
 */
int logfs_node_delete(struct logfs_node *node);

/* ---- dir.c; need the lock, after logfs_begin_write(dev, 3) unless said otherwise ---- */

/* -ENOENT */
int logfs_dir_find(struct logfs_node *dir, const char *name, u32 len,
		   struct logfs_found *found);
/* The first entry from block @bix on; -ENOENT: there is none. */
int logfs_dir_next(struct logfs_node *dir, u64 bix, struct logfs_found *found);
/*
 * A new object, with its inode. @target: of a symbolic link, else NULL. -EEXIST, -ENOSPC if
 * the hash has no place for it. Directories get times from the node: @node->ctime_ns.
 */
int logfs_create(struct logfs_node *dir, const char *name, u32 len,
		 struct logfs_node *node, const char *target);
/* One name more for @node, whose nlink it raises. */
int logfs_link(struct logfs_node *dir, const char *name, u32 len,
	       struct logfs_node *node);
/*
 * Takes the name away and lowers nlink of @node; at 0 the inode stays until
 * logfs_node_delete(). -ENOTEMPTY. After logfs_begin_write(dev, 0).
 */
int logfs_unlink(struct logfs_node *dir, const char *name, u32 len,
		 struct logfs_node *node);
/*
 * @target: what has the new name now, or NULL; it loses that as by logfs_unlink(). All checks
 * of types and loops are the caller's, -ENOTEMPTY is not.
 */
int logfs_rename(struct logfs_node *old_dir, const char *old_name, u32 old_len,
		 struct logfs_node *new_dir, const char *new_name, u32 new_len,
		 struct logfs_node *node, struct logfs_node *target);
/* Each of two names gets the inode of the other. */
int logfs_exchange(struct logfs_node *a_dir, const char *a_name, u32 a_len,
		   struct logfs_node *b_dir, const char *b_name, u32 b_len);
/* Whether @dir has no entries: 1, 0, or an error. */
int logfs_dir_is_empty(struct logfs_node *dir);

#endif
