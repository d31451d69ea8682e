// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of the stand-ins for the kernel's headers (linux/types.h). They see to the
 * rules that a program with one thread would never feel: a mutex is taken once and given
 * back, and nothing that is allocated while one is held calls file systems, which would
 * want the mutex.
 *
 * zlib is that of the host, which every compiler is linked with. It is declared here, for
 * its headers need not be installed.
 */

#include <stdio.h>

#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <linux/zlib.h>

static u32 mutexes_held, nofs_depth, until_failure = U32_MAX;

static void judge(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "kernel: %s\n", what);
	abort();
}

/* ---- locks and memory ---- */

void mutex_init(struct mutex *lock)
{
	lock->held = false;
}

void mutex_destroy(struct mutex *lock)
{
	judge(!lock->held, "a mutex is destroyed while it is held");
}

void mutex_lock(struct mutex *lock)
{
	judge(!lock->held, "a mutex is taken twice");
	lock->held = true;
	mutexes_held++;
}

void mutex_unlock(struct mutex *lock)
{
	judge(lock->held, "a mutex is given back that nobody has");
	lock->held = false;
	mutexes_held--;
}

unsigned int memalloc_nofs_save(void)
{
	return nofs_depth++;
}

void memalloc_nofs_restore(unsigned int flags)
{
	judge(nofs_depth == flags + 1, "allocations are restored out of order");
	nofs_depth = flags;
}

bool kernel_allocates(gfp_t flags)
{
	judge(!mutexes_held || nofs_depth || !(flags & __GFP_FS),
	      "an allocation under a mutex may call file systems");
	if (flags & __GFP_NOFAIL || until_failure == U32_MAX)
		return true;
	return until_failure--;
}

void kernel_fail_allocation(u32 n)
{
	until_failure = n;
}

/* ---- arrays ---- */

void xa_init(struct xarray *array)
{
	array->entries = NULL;
	array->n = 0;
}

void xa_destroy(struct xarray *array)
{
	free(array->entries);
	xa_init(array);
}

void *xa_load(const struct xarray *array, unsigned long index)
{
	return index < array->n ? array->entries[index] : NULL;
}

void *xa_store(struct xarray *array, unsigned long index, void *entry,
	       gfp_t flags)
{
	void *old = xa_load(array, index);

	judge(kernel_allocates(flags), "an array has no memory");
	if (index >= array->n) {
		array->entries = realloc(array->entries,
					 (index + 1) * sizeof(entry));
		memset(array->entries + array->n, 0,
		       (index + 1 - array->n) * sizeof(entry));
		array->n = index + 1;
	}
	array->entries[index] = entry;
	return old;
}

void *xa_erase(struct xarray *array, unsigned long index)
{
	void *old = xa_load(array, index);

	if (old)
		array->entries[index] = NULL;
	return old;
}

void *xa_find(const struct xarray *array, unsigned long *index, unsigned long last,
	      unsigned int filter)
{
	unsigned long at;

	judge(filter == XA_PRESENT, "any entry will do");
	for (at = *index; at < array->n && at <= last; at++) {
		if (!array->entries[at])
			continue;
		*index = at;
		return array->entries[at];
	}
	return NULL;
}

/* ---- zlib ---- */

/* The host's stream: struct z_stream of zlib 1. */
struct host_stream {
	const void *next_in;
	unsigned int avail_in;
	unsigned long total_in;
	void *next_out;
	unsigned int avail_out;
	unsigned long total_out;
	const char *message;
	void *state;
	void *allocate, *free, *opaque;
	int data_type;
	unsigned long adler, reserved;
};

int deflateInit2_(struct host_stream *host, int level, int method, int window_bits,
		  int memory_level, int strategy, const char *version, int bytes);
int deflate(struct host_stream *host, int flush);
int deflateEnd(struct host_stream *host);
int inflateInit_(struct host_stream *host, const char *version, int bytes);
int inflate(struct host_stream *host, int flush);
int inflateEnd(struct host_stream *host);

static struct host_stream host_of(const struct z_stream_s *stream)
{
	return (struct host_stream){
		.next_in = stream->next_in, .avail_in = stream->avail_in,
		.next_out = stream->next_out, .avail_out = stream->avail_out,
	};
}

int zlib_deflateInit2(struct z_stream_s *stream, int level, int method,
		      int window_bits, int memory_level, int strategy)
{
	judge(method == Z_DEFLATED && strategy == Z_DEFAULT_STRATEGY, "kind of packing");
	stream->level = level;
	stream->window_bits = window_bits;
	stream->memory_level = memory_level;
	return Z_OK;
}

int zlib_deflate(struct z_stream_s *stream, int flush)
{
	struct host_stream host = host_of(stream);
	int status = deflateInit2_(&host, stream->level, Z_DEFLATED,
				   stream->window_bits, stream->memory_level,
				   Z_DEFAULT_STRATEGY, "1", sizeof(host));

	judge(status == Z_OK, "zlib of the host is another");
	status = deflate(&host, flush);
	stream->total_out = host.total_out;
	deflateEnd(&host);
	return status;
}

int zlib_deflateEnd(struct z_stream_s *stream)
{
	(void)stream;
	return Z_OK;
}

int zlib_inflateInit(struct z_stream_s *stream)
{
	(void)stream;
	return Z_OK;
}

int zlib_inflate(struct z_stream_s *stream, int flush)
{
	struct host_stream host = host_of(stream);
	int status = inflateInit_(&host, "1", sizeof(host));

	judge(status == Z_OK, "zlib of the host is another");
	status = inflate(&host, flush);
	stream->total_out = host.total_out;
	inflateEnd(&host);
	return status;
}

int zlib_inflateEnd(struct z_stream_s *stream)
{
	(void)stream;
	return Z_OK;
}
