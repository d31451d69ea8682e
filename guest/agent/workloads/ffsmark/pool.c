// SPDX-License-Identifier: GPL-2.0-only
/*
 * pool.c - see pool.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/ffsmark/pool.h"

int pool_init(struct pool *pool, const struct ffsmark_params *params,
	      struct ffs_error *error)
{
	size_t i;

	memset(pool, 0, sizeof(*pool));
	pool->params = params;
	pool->room = params->number;
	if (params->bias_create > 0)
		pool->room += params->transactions;
	pool->files = malloc(pool->room * sizeof(*pool->files));
	if (!pool->files)
		return ffs_fail(error, ENOMEM,
			"no memory for a pool of %zu files; lower number or transactions",
			pool->room);
	/* Touched now, so that no page fault falls into a timed phase. */
	memset(pool->files, 0, pool->room * sizeof(*pool->files));
	for (i = 0; i < params->n_locations; i++)
		pool->total_weight += params->locations[i].weight;
	pool_restart(pool);
	return 0;
}

void pool_restart(struct pool *pool)
{
	rng_seed(&pool->rng, pool->params->seed);
	pool->count = 0;
	pool->next_serial = 1;
	pool->live_bytes = 0;
}

void pool_free(struct pool *pool)
{
	free(pool->files);
	memset(pool, 0, sizeof(*pool));
}

static uint32_t draw_directory(struct pool *pool)
{
	const struct ffsmark_params *params = pool->params;
	uint32_t per_location = params->subdirectories;
	uint32_t location = 0;

	if (params->n_locations > 1) {
		uint64_t ticket = rng_below(&pool->rng, pool->total_weight);

		while (ticket >= params->locations[location].weight)
			ticket -= params->locations[location++].weight;
	}
	if (!per_location)
		return location;
	return location * per_location +
	       (uint32_t)rng_below(&pool->rng, per_location);
}

void pool_create(struct pool *pool, struct file_op *op)
{
	struct pool_file *file = &pool->files[pool->count++];

	file->serial = pool->next_serial++;
	file->directory = draw_directory(pool);
	file->size = (uint32_t)rng_between(&pool->rng, pool->params->size_min,
					   pool->params->size_max);
	pool->live_bytes += file->size;
	op->kind = OP_CREATE;
	op->file = *file;
}

int pool_access(struct pool *pool, struct file_op *op)
{
	const struct ffsmark_params *params = pool->params;
	struct pool_file *file;

	op->kind = OP_NONE;
	if (params->bias_read < 0)
		return 0;
	if (!pool->count)
		return -1;
	file = &pool->files[rng_below(&pool->rng, pool->count)];
	op->file = *file;
	if (rng_below(&pool->rng, 10) < (uint64_t)params->bias_read) {
		op->kind = OP_READ;
	} else if (file->size < params->size_max) {
		op->kind = OP_APPEND;
		op->append_bytes = (uint32_t)rng_between(&pool->rng, 1,
						params->size_max - file->size);
		file->size += op->append_bytes;
		pool->live_bytes += op->append_bytes;
	}
	return 0;
}

int pool_replace(struct pool *pool, struct file_op *op)
{
	const struct ffsmark_params *params = pool->params;
	struct pool_file *file;

	op->kind = OP_NONE;
	if (params->bias_create < 0)
		return 0;
	if (rng_below(&pool->rng, 10) < (uint64_t)params->bias_create) {
		pool_create(pool, op);
		return 0;
	}
	if (!pool->count)
		return -1;
	file = &pool->files[rng_below(&pool->rng, pool->count)];
	op->kind = OP_DELETE;
	op->file = *file;
	pool->live_bytes -= file->size;
	*file = pool->files[--pool->count];
	return 0;
}

void pool_replay(struct pool *pool, uint64_t operations, struct file_op *last)
{
	uint32_t i;

	pool_restart(pool);
	last->kind = OP_NONE;
	for (i = 0; operations && i < pool->params->number; i++) {
		pool_create(pool, last);
		operations--;
	}
	for (i = 0; operations && i < pool->params->transactions; i++) {
		pool_access(pool, last);
		operations -= last->kind != OP_NONE;
		if (!operations)
			return;
		pool_replace(pool, last);
		operations -= last->kind != OP_NONE;
	}
}

static uint64_t requests(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) / unit;
}

/* Add one operation, and its requests, to the counts of a phase. */
static void tally(const struct ffsmark_params *params,
		  const struct file_op *op, uint64_t *counts)
{
	switch (op->kind) {
	case OP_CREATE:
		counts[LATENCY_CREATE]++;
		counts[LATENCY_REQUEST_WRITE] +=
			requests(op->file.size, params->write_bytes);
		break;
	case OP_APPEND:
		counts[LATENCY_APPEND]++;
		counts[LATENCY_REQUEST_WRITE] +=
			requests(op->append_bytes, params->write_bytes);
		break;
	case OP_READ:
		counts[LATENCY_READ]++;
		counts[LATENCY_REQUEST_READ] +=
			requests(op->file.size, params->read_bytes);
		break;
	case OP_DELETE:
		counts[LATENCY_DELETE]++;
		break;
	case OP_NONE:
		break;
	}
}

static void keep_most(uint64_t *most, const uint64_t *counts)
{
	int i;

	for (i = 0; i < LATENCY_OPS; i++)
		if (counts[i] > most[i])
			most[i] = counts[i];
}

void ops_forecast(struct pool *pool, struct ops_forecast *forecast)
{
	const struct ffsmark_params *params = pool->params;
	uint64_t counts[LATENCY_OPS] = { 0 };
	struct file_op op;
	uint32_t i;

	memset(forecast, 0, sizeof(*forecast));
	pool_restart(pool);
	for (i = 0; i < params->number; i++) {
		pool_create(pool, &op);
		tally(params, &op, counts);
	}
	keep_most(forecast->most, counts);
	memset(counts, 0, sizeof(counts));
	forecast->peak_bytes = pool->live_bytes;
	for (i = 0; i < params->transactions; i++) {
		int empty = pool_access(pool, &op);

		tally(params, &op, counts);
		empty |= pool_replace(pool, &op);
		tally(params, &op, counts);
		if (pool->live_bytes > forecast->peak_bytes)
			forecast->peak_bytes = pool->live_bytes;
		if (empty) {
			forecast->out_of_files_at = i + 1;
			break;
		}
	}
	keep_most(forecast->most, counts);
	memset(counts, 0, sizeof(counts));
	counts[LATENCY_DELETE] = pool->count;
	keep_most(forecast->most, counts);
	pool_restart(pool);
}
