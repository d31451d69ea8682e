// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks of level 0 of files and directories: data, targets of symbolic links, dentries.
 *
 * They are compressed if the inode says so and it makes them smaller, each for itself. So the
 * header of a block that is replaced has to be read, for nobody else knows how many bytes
 * become free.
 */

#include <linux/err.h>

#include "area.h"
#include "data.h"
#include "flash.h"
#include "tree.h"

/* Bytes of the object at @place. */
static int object_bytes(struct logfs_device *dev, u64 place, s32 *bytes)
{
	struct logfs_object_header_media m;
	struct logfs_object o;
	int err = logfs_object_header(dev, place, logfs_flash_read, &m, &o);

	if (err)
		return err == -ENODATA ? -EUCLEAN : err;
	*bytes = sizeof(m) + o.stored_bytes;
	return 0;
}

static bool is_compressed(const struct logfs_block *inode)
{
	return logfs_word(inode, LOGFS_WORD_MODE) & LOGFS_FLAG_COMPRESS;
}

int logfs_data_put(struct logfs_device *dev, u64 ino, u64 bix, u8 type,
		   const void *payload)
{
	struct logfs_object o = {
		.type = type,
		.stored_bytes = logfs_object_payload_bytes(type),
		.ino = ino,
		.bix = bix,
	};
	struct logfs_block *inode = logfs_tree_inode(dev, ino);
	u64 old, place;
	s32 old_bytes = 0;
	u32 packed;
	int err;

	if (IS_ERR(inode))
		return PTR_ERR(inode);
	if (logfs_height(bix) > dev->super.iblock_levels)
		return -EFBIG;
	err = logfs_tree_pointer(dev, ino, 0, bix, &old);
	if (!err && old)
		err = object_bytes(dev, logfs_pointer_place(old), &old_bytes);
	if (err)
		return err;
	if (type == LOGFS_OBJECT_BLOCK && is_compressed(inode)) {
		packed = logfs_pack(dev, payload, o.stored_bytes, dev->packed,
				    o.stored_bytes);
		if (packed) {
			o.compression = LOGFS_COMPRESSION_ZLIB;
			o.stored_bytes = packed;
			payload = dev->packed;
		}
	}
	err = logfs_area_write(dev, 0, &o, payload, &place);
	if (err)
		return err;
	if (old)
		logfs_book(dev, logfs_pointer_place(old), -old_bytes);
	err = logfs_tree_account(dev, ino, LOGFS_OBJECT_HEADER_BYTES +
				 o.stored_bytes - old_bytes);
	return err ? err : logfs_tree_set(dev, ino, 0, bix,
					  place | LOGFS_POINTER_FULL);
}

int logfs_data_get(struct logfs_device *dev, u64 ino, u64 bix, u8 type,
		   void *payload)
{
	const bool is_dentry = type == LOGFS_OBJECT_DENTRY;
	struct logfs_object o;
	u64 pointer;
	int err;

	/* Who reads one dentry does not go on with those whose pointers are beside its own. */
	if (is_dentry)
		err = logfs_tree_peek(dev, ino, 0, bix, &pointer);
	else
		err = logfs_tree_pointer(dev, ino, 0, bix, &pointer);
	if (err)
		return err == -ENOENT ? -EUCLEAN : err;
	if (!pointer)
		return -ENOENT;
	err = logfs_object_read(dev, logfs_pointer_place(pointer),
				is_dentry ? logfs_flash_read_kept :
					    logfs_flash_read,
				&o, dev->object);
	if (err)
		return err;
	if (o.ino != ino || o.bix != bix || o.type != type)
		return -EUCLEAN;
	if (o.compression)
		return logfs_unpack(dev, dev->object, o.stored_bytes, payload,
				    logfs_object_payload_bytes(type));
	memcpy(payload, dev->object, o.stored_bytes);
	return 0;
}

int logfs_data_drop(struct logfs_device *dev, u64 ino, u64 bix)
{
	u64 old;
	s32 bytes;
	int err = logfs_tree_pointer(dev, ino, 0, bix, &old);

	if (err || !old)
		return err;
	err = object_bytes(dev, logfs_pointer_place(old), &bytes);
	if (err)
		return err;
	logfs_book(dev, logfs_pointer_place(old), -bytes);
	err = logfs_tree_account(dev, ino, -bytes);
	return err ? err : logfs_tree_set(dev, ino, 0, bix, 0);
}

/* The driver failed at @slot: what is before is given up, so that it is not counted again. */
static int drop_before(struct logfs_device *dev, u64 ino, u64 start, u32 slot, s32 bytes)
{
	u64 bix = max_t(u64, start, LOGFS_DIRECT_POINTERS);
	int err = logfs_tree_account(dev, ino, -bytes);

	for (; bix < start + slot && !err; bix++)
		err = logfs_tree_set(dev, ino, 0, bix, 0);
	return err;
}

/* An object that cannot be read takes what it takes: its segment is never cleaned then. */
int logfs_data_drop_all(struct logfs_device *dev, u64 ino, u64 start)
{
	struct logfs_block *block = logfs_tree_block(dev, ino, 1, start);
	s32 bytes, all = 0;
	u64 place;
	u32 slot;
	int err;

	if (IS_ERR(block))
		return PTR_ERR(block);
	for (slot = 0; slot < LOGFS_BLOCK_POINTERS; slot++) {
		place = logfs_pointer_place(logfs_word(block, slot));
		if (!place)
			continue;
		err = object_bytes(dev, place, &bytes);
		if (err == -EUCLEAN)
			continue;
		if (err) {
			drop_before(dev, ino, start, slot, all);
			return err;
		}
		logfs_book(dev, place, -bytes);
		all += bytes;
	}
	err = logfs_tree_account(dev, ino, -all);
	return err ? err : logfs_tree_give_up(dev, block);
}
