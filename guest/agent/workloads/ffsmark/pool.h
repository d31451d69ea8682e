/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pool.h - what the ffsmark workload does next: pure decisions, no I/O.
 *
 * The behaviour is that of Postmark 1.5 as it is publicly described (Katcher,
 * "PostMark: A New File System Benchmark", NetApp TR3022, 1997): a pool of
 * files of uniformly distributed size; a transaction is (A) read a whole file
 * or append to one, and (B) create a file or delete one.
 *
 * Because nothing here touches a file system, the sequence depends on the
 * parameters and the seed only, can be tested without one, and can be played
 * through in advance: ops_forecast() does so to size the buffers of full
 * latency recording and to find a pool that will run empty before it does.
 *
 * Limits: file sizes below 2 GiB; the draws are not Postmark's own, so a seed
 * means another sequence of the same distribution.
 */
#ifndef FFSAGENT_FFSMARK_POOL_H
#define FFSAGENT_FFSMARK_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/content.h"
#include "core/error.h"
#include "core/random.h"
#include "measure/latency.h"

struct ffsmark_location {
	char *path;
	uint32_t weight;	/* share of the files, relative to the others */
};

struct ffsmark_params {
	struct ffsmark_location *locations;
	size_t n_locations;
	uint32_t number;		/* files in the pool */
	uint32_t subdirectories;	/* in each location; 0: none */
	uint32_t size_min, size_max;	/* bytes */
	uint32_t transactions;
	uint32_t read_bytes, write_bytes; /* unit of one request */
	int bias_read, bias_create;	/* out of 10; -1: that half is left out */
	struct content_choice contents;	/* of the pool */
	bool buffering;			/* stdio instead of system calls */
	unsigned int valid_percent, invalid_percent;
	bool drop_caches;
	uint64_t seed;
	bool verify, full;
	bool tidy;	/* remove what is left, the valid data and after errors */
};

enum file_op_kind { OP_NONE, OP_READ, OP_APPEND, OP_CREATE, OP_DELETE };

struct pool_file {
	uint32_t serial;	/* its name */
	uint32_t directory;	/* location * max(1, subdirectories) + sub */
	uint32_t size;
};

struct file_op {
	enum file_op_kind kind;
	struct pool_file file;	/* size: before an append, final otherwise */
	uint32_t append_bytes;
};

struct pool {
	const struct ffsmark_params *params;
	struct rng rng;
	struct pool_file *files;
	size_t count, room;
	uint32_t next_serial;
	uint64_t total_weight;
	uint64_t live_bytes;
};

int pool_init(struct pool *pool, const struct ffsmark_params *params,
	      struct ffs_error *error);
/** pool_restart() - empty pool, start of the sequence. */
void pool_restart(struct pool *pool);
void pool_free(struct pool *pool);

/** pool_create() - the next file of the creation phase. */
void pool_create(struct pool *pool, struct file_op *op);

/**
 * pool_access(), pool_replace() - the halves of one transaction.
 *
 * OP_NONE is a half that is switched off, or an append to a file that has
 * reached its largest size (Postmark does nothing then, either).
 *
 * Return: 0, or -1 if the pool is empty.
 */
int pool_access(struct pool *pool, struct file_op *op);
int pool_replace(struct pool *pool, struct file_op *op);

/**
 * pool_replay() - the pool as it is after so many operations of the sequence.
 * @last: the last of them; OP_NONE if there is none.
 */
void pool_replay(struct pool *pool, uint64_t operations, struct file_op *last);

struct ops_forecast {
	uint64_t most[LATENCY_OPS];	/* operations in one phase, at most */
	uint64_t peak_bytes;		/* largest sum of live file sizes */
	uint32_t out_of_files_at;	/* transaction from 1, or 0 */
};

/** ops_forecast() - play the whole sequence without doing it. */
void ops_forecast(struct pool *pool, struct ops_forecast *forecast);

#endif
