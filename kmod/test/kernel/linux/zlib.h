/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stand-in: zlib by its interface in the kernel, for streams that are packed or unpacked in
 * one call.
 */
#ifndef USER_LINUX_ZLIB_H
#define USER_LINUX_ZLIB_H

#include <linux/types.h>

struct z_stream_s {
	const void *next_in;
	u32 avail_in;
	void *next_out;
	u32 avail_out;
	u64 total_out;
	void *workspace;
	int level;
	int window_bits;
	int memory_level;
};

#define MAX_WBITS	15
#define MAX_MEM_LEVEL	8
#define Z_FINISH	4
#define Z_OK		0
#define Z_STREAM_END	1
#define Z_DEFLATED	8
#define Z_DEFAULT_STRATEGY	0

#define zlib_deflate_workspacesize(window_bits, memory_level)	16
#define zlib_inflate_workspacesize()				16

int zlib_deflateInit2(struct z_stream_s *stream, int level, int method,
		      int window_bits, int memory_level, int strategy);
int zlib_deflate(struct z_stream_s *stream, int flush);
int zlib_deflateEnd(struct z_stream_s *stream);
int zlib_inflateInit(struct z_stream_s *stream);
int zlib_inflate(struct z_stream_s *stream, int flush);
int zlib_inflateEnd(struct z_stream_s *stream);

#endif
