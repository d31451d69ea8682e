/* SPDX-License-Identifier: GPL-2.0-only */
/* Blocks of level 0: data.c, and zlib: pack.c. */
#ifndef LOGFS_DATA_H
#define LOGFS_DATA_H

#include "device.h"

/* Result: bytes in @to, fewer than @room; 0: they would be more, or there is no memory. */
u32 logfs_pack(struct logfs_device *dev, const void *from, u32 bytes, u8 *to,
	       u32 room);
/* Exactly @bytes have to come out. -EUCLEAN. */
int logfs_unpack(struct logfs_device *dev, const void *from, u32 packed,
		 void *to, u32 bytes);
/* Workspaces are given up; the next use makes new ones. */
void logfs_pack_forget(struct logfs_device *dev);

/* Writes a block, a dentry for one of a directory. */
int logfs_data_put(struct logfs_device *dev, u64 ino, u64 bix, u8 type,
		   const void *payload);
/* Reads one. -ENOENT: it is a hole. */
int logfs_data_get(struct logfs_device *dev, u64 ino, u64 bix, u8 type,
		   void *payload);
/* A hole instead. */
int logfs_data_drop(struct logfs_device *dev, u64 ino, u64 bix);
/* All blocks that one block of pointers leads to, of which @start is the first. */
int logfs_data_drop_all(struct logfs_device *dev, u64 ino, u64 start);

#endif
