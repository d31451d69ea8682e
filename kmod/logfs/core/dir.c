// SPDX-License-Identifier: GPL-2.0-only
/*
 * Directories: a dentry for each block, at one of twenty places that the hash of its name says
 * (format/dirhash.c). A new name takes the first of these that is free; who looks for a name
 * has to see them all, since others may have gone from places before it. Most are holes, and
 * that costs no read.
 *
 * An operation is done under one lock, and no commit falls into it: what it changes in several
 * inodes and directories is on flash altogether, or not at all. So all that it changes is read
 * before it changes anything, for that may be damaged. An inode that has lost its
 * last name is there until nobody uses it any more. The first of those is the "victim" in
 * commits until then, and is deleted by a mount after a power cut; others stay (recover.c).
 */

#include <linux/err.h>
#include <linux/stat.h>

#include "data.h"
#include "node.h"
#include "tree.h"

/* The entry at @bix. -ENOENT: there is none. */
static int read_entry(struct logfs_node *dir, u64 bix,
		      struct logfs_found *found)
{
	struct logfs_dentry_media m;
	struct logfs_dentry d;
	int err = logfs_data_get(dir->dev, dir->ino, bix, LOGFS_OBJECT_DENTRY,
				 &m);

	if (!err)
		err = logfs_dentry_decode(&m, &d);
	if (err)
		return err;
	found->ino = d.ino;
	found->bix = bix;
	found->type = d.type;
	found->len = d.name_bytes;
	memcpy(found->name, d.name, d.name_bytes);
	found->name[d.name_bytes] = 0;
	return 0;
}

/*
 * -ENOENT: there is no such name, but @found->bix is where it could be; U64_MAX: nowhere. An
 * entry that cannot be read may be the name or not, so it is an error.
 */
static int look_up(struct logfs_node *dir, const char *name, u32 len,
		   struct logfs_found *found)
{
	const u32 hash = logfs_dir_hash((const u8 *)name, len);
	const u64 end = dir->size >> LOGFS_BLOCK_SHIFT;
	u64 bix, place = U64_MAX;
	u32 n;
	int err;

	logfs_assert_locked(dir->dev);
	for (n = 0; n < LOGFS_DIR_TRIES; n++) {
		bix = logfs_dir_try(hash, n);
		/* Each place is behind the one before. */
		if (bix >= end && place != U64_MAX)
			break;
		err = bix < end ? read_entry(dir, bix, found) : -ENOENT;
		if (err && err != -ENOENT)
			return err;
		if (!err && found->len == len &&
		    !memcmp(found->name, name, len))
			return 0;
		if (err && place == U64_MAX &&
		    logfs_height(bix) <= dir->dev->super.iblock_levels)
			place = bix;
	}
	found->bix = place;
	return -ENOENT;
}

int logfs_dir_find(struct logfs_node *dir, const char *name, u32 len,
		   struct logfs_found *found)
{
	return look_up(dir, name, len, found);
}

int logfs_dir_next(struct logfs_node *dir, u64 bix, struct logfs_found *found)
{
	int err = logfs_tree_seek(dir->dev, dir->ino, bix, true, &bix);

	if (err)
		return err == -ENXIO ? -ENOENT : err;
	return read_entry(dir, bix, found);
}

int logfs_dir_is_empty(struct logfs_node *dir)
{
	u64 bix;
	int err = logfs_tree_seek(dir->dev, dir->ino, 0, true, &bix);

	if (err == -ENXIO)
		return 1;
	return err;
}

/* What is there is replaced. */
static int put_entry(struct logfs_node *dir, u64 bix, const char *name,
		     u32 len, u64 ino, u8 type)
{
	const struct logfs_dentry d = {
		.ino = ino,
		.type = type,
		.name_bytes = len,
		.name = (const u8 *)name,
	};
	struct logfs_dentry_media m;
	int err;

	logfs_dentry_encode(&d, &m);
	err = logfs_data_put(dir->dev, dir->ino, bix, LOGFS_OBJECT_DENTRY, &m);
	return err ? err : logfs_node_extend(dir,
					     (bix + 1) << LOGFS_BLOCK_SHIFT);
}

static int put_node(struct logfs_node *dir, u64 bix, const char *name, u32 len,
		    const struct logfs_node *node)
{
	return put_entry(dir, bix, name, len, node->ino, node->mode >> 12);
}

/* The directory was changed when @node was. */
static int write_dir(struct logfs_node *dir, const struct logfs_node *node)
{
	dir->mtime_ns = node->ctime_ns;
	dir->ctime_ns = node->ctime_ns;
	return logfs_node_write(dir);
}

/* Where a new name goes. */
static int find_place(struct logfs_node *dir, const char *name, u32 len,
		      u64 *bix)
{
	struct logfs_found found;
	int err = look_up(dir, name, len, &found);

	if (!err)
		return -EEXIST;
	*bix = found.bix;
	if (err == -ENOENT)
		err = *bix == U64_MAX ? -ENOSPC : 0;
	return err;
}

static int write_target(struct logfs_node *node, const char *target)
{
	const size_t bytes = strlen(target);
	u8 *page;
	int err;

	if (bytes > LOGFS_BLOCK_BYTES)
		return -ENAMETOOLONG;
	page = kzalloc(LOGFS_BLOCK_BYTES, LOGFS_GFP);
	memcpy(page, target, bytes);
	err = logfs_block_write(node, 0, page, bytes);
	kfree(page);
	return err;
}

int logfs_create(struct logfs_node *dir, const char *name, u32 len,
		 struct logfs_node *node, const char *target)
{
	u64 bix;
	int err = find_place(dir, name, len, &bix);

	if (!err)
		err = logfs_node_write(node);
	if (!err && target)
		err = write_target(node, target);
	if (!err)
		err = put_node(dir, bix, name, len, node);
	return err ? err : write_dir(dir, node);
}

/* An inode that cannot be read cannot be written either, but in full when it is new. */
static int see_inode(const struct logfs_node *node)
{
	return PTR_ERR_OR_ZERO(logfs_tree_inode(node->dev, node->ino));
}

int logfs_link(struct logfs_node *dir, const char *name, u32 len,
	       struct logfs_node *node)
{
	u64 bix;
	int err = find_place(dir, name, len, &bix);

	if (!err)
		err = see_inode(node);
	if (err)
		return err;
	node->nlink++;
	err = logfs_node_write(node);
	if (!err)
		err = put_node(dir, bix, name, len, node);
	return err ? err : write_dir(dir, node);
}

/* One name less. */
static int lose_name(struct logfs_node *node)
{
	struct logfs_device *dev = node->dev;

	if (node->nlink)
		node->nlink--;
	if (!node->nlink && !dev->victim_ino)
		dev->victim_ino = node->ino;
	return logfs_node_write(node);
}

static int check_empty(struct logfs_node *node)
{
	int empty = S_ISDIR(node->mode) ? logfs_dir_is_empty(node) : 1;

	if (empty < 0)
		return empty;
	return empty ? 0 : -ENOTEMPTY;
}

static int drop_entry(struct logfs_node *dir, u64 bix)
{
	int err = logfs_data_drop(dir->dev, dir->ino, bix);

	logfs_node_refresh(dir);
	return err;
}

int logfs_unlink(struct logfs_node *dir, const char *name, u32 len,
		 struct logfs_node *node)
{
	struct logfs_found found;
	int err = look_up(dir, name, len, &found);

	if (!err)
		err = see_inode(node);
	if (!err)
		err = check_empty(node);
	if (!err)
		err = drop_entry(dir, found.bix);
	if (!err)
		err = lose_name(node);
	return err ? err : write_dir(dir, node);
}

/* The new name; *@bix: where. */
static int make_new_name(struct logfs_node *dir, const char *name, u32 len,
			 struct logfs_node *node, struct logfs_node *target)
{
	struct logfs_found found;
	u64 bix;
	int err;

	if (!target) {
		err = find_place(dir, name, len, &bix);
		return err ? err : put_node(dir, bix, name, len, node);
	}
	err = look_up(dir, name, len, &found);
	if (!err)
		err = see_inode(target);
	if (!err)
		err = check_empty(target);
	if (!err)
		err = put_node(dir, found.bix, name, len, node);
	return err ? err : lose_name(target);
}

int logfs_rename(struct logfs_node *old_dir, const char *old_name, u32 old_len,
		 struct logfs_node *new_dir, const char *new_name, u32 new_len,
		 struct logfs_node *node, struct logfs_node *target)
{
	struct logfs_found found;
	int err = look_up(old_dir, old_name, old_len, &found);

	if (!err)
		err = see_inode(node);
	if (!err)
		err = make_new_name(new_dir, new_name, new_len, node, target);
	if (!err)
		err = drop_entry(old_dir, found.bix);
	if (!err)
		err = logfs_node_write(node);
	if (!err)
		err = write_dir(old_dir, node);
	if (!err && new_dir != old_dir)
		err = write_dir(new_dir, node);
	return err;
}

int logfs_exchange(struct logfs_node *a_dir, const char *a_name, u32 a_len,
		   struct logfs_node *b_dir, const char *b_name, u32 b_len)
{
	struct logfs_found a, b;
	int err = look_up(a_dir, a_name, a_len, &a);

	if (!err)
		err = look_up(b_dir, b_name, b_len, &b);
	if (!err)
		err = put_entry(a_dir, a.bix, a_name, a_len, b.ino, b.type);
	if (!err)
		err = put_entry(b_dir, b.bix, b_name, b_len, a.ino, a.type);
	return err;
}
