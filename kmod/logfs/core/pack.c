// SPDX-License-Identifier: GPL-2.0-only
/*
 * zlib, at the level that the format's first writer chose. The workspaces are large, so they
 * are there from the first use on only; without memory for one nothing is compressed. What is
 * compressed at once is a block or little more, and needs no larger window than that.
 */

#include <linux/vmalloc.h>
#include <linux/zlib.h>

#include "data.h"

#define LEVEL		3
#define WINDOW_BITS	13
#define MEMORY_LEVEL	6

static void *workspace(void **at, size_t bytes)
{
	if (!*at)
		*at = __vmalloc(bytes, GFP_NOFS);
	return *at;
}

u32 logfs_pack(struct logfs_device *dev, const void *from, u32 bytes, u8 *to,
	       u32 room)
{
	struct z_stream_s stream = {
		.next_in = from,
		.avail_in = bytes,
		.next_out = to,
		.avail_out = room - 1,
	};
	int status;

	stream.workspace = workspace(&dev->deflate,
				     zlib_deflate_workspacesize(WINDOW_BITS,
								MEMORY_LEVEL));
	if (!stream.workspace ||
	    zlib_deflateInit2(&stream, LEVEL, Z_DEFLATED, WINDOW_BITS,
			      MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return 0;
	status = zlib_deflate(&stream, Z_FINISH);
	zlib_deflateEnd(&stream);
	return status == Z_STREAM_END ? stream.total_out : 0;
}

int logfs_unpack(struct logfs_device *dev, const void *from, u32 packed,
		 void *to, u32 bytes)
{
	struct z_stream_s stream = {
		.next_in = from,
		.avail_in = packed,
		.next_out = to,
		.avail_out = bytes,
	};
	int status;

	stream.workspace = workspace(&dev->inflate,
				     zlib_inflate_workspacesize());
	if (!stream.workspace)
		return -ENOMEM;
	if (zlib_inflateInit(&stream) != Z_OK)
		return -EUCLEAN;
	status = zlib_inflate(&stream, Z_FINISH);
	zlib_inflateEnd(&stream);
	return status == Z_STREAM_END && stream.total_out == bytes ? 0 :
								      -EUCLEAN;
}

void logfs_pack_forget(struct logfs_device *dev)
{
	vfree(dev->deflate);
	vfree(dev->inflate);
	dev->deflate = NULL;
	dev->inflate = NULL;
}
