// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_pool.c - the decisions of the ffsmark workload.
 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "workloads/ffsmark/pool.h"

static struct ffsmark_location locations[] = {
	{ (char *)"/a", 1 }, { (char *)"/b", 3 },
};

static struct ffsmark_params preset(void)
{
	return (struct ffsmark_params) {
		.locations = locations,
		.n_locations = 1,
		.number = 300,
		.subdirectories = 7,
		.size_min = 512,
		.size_max = 10240,
		.transactions = 5000,
		.read_bytes = 4096,
		.write_bytes = 4096,
		.bias_read = 5,
		.bias_create = 5,
		.seed = 11,
	};
}

struct summary {
	uint64_t hash;			/* of the whole sequence */
	uint32_t kinds[OP_DELETE + 1];
	uint32_t directories[64];
	bool sizes_good, alive_good, empty;
};

static void note(struct summary *summary, const struct file_op *op,
		 const struct ffsmark_params *params)
{
	uint64_t facts[] = { op->kind, op->file.serial, op->file.directory,
			     op->file.size, op->append_bytes };
	size_t i;

	summary->kinds[op->kind]++;
	if (op->kind == OP_NONE)
		return;
	for (i = 0; i < 4 + (op->kind == OP_APPEND); i++)
		summary->hash = rng_mix(summary->hash ^ facts[i]);
	summary->sizes_good &= op->file.size >= params->size_min &&
			       op->file.size <= params->size_max;
	if (op->kind == OP_APPEND)
		summary->sizes_good &= op->append_bytes > 0 &&
			op->file.size + op->append_bytes <= params->size_max;
	if (op->kind == OP_CREATE)
		summary->directories[op->file.directory % 64]++;
}

static struct summary play(const struct ffsmark_params *params)
{
	struct summary summary = { .sizes_good = true, .alive_good = true };
	struct ops_forecast forecast;
	struct ffs_error error;
	struct file_op op;
	struct pool pool;
	uint64_t live = 0;
	unsigned char *alive;
	uint32_t i;

	if (!CHECK(!pool_init(&pool, params, &error)))
		return summary;
	ops_forecast(&pool, &forecast);
	alive = calloc(params->number + params->transactions + 2, 1);
	for (i = 0; i < params->number; i++) {
		pool_create(&pool, &op);
		alive[op.file.serial] = 1;
		note(&summary, &op, params);
	}
	for (i = 0; i < params->transactions; i++) {
		if (pool_access(&pool, &op))
			summary.empty = true;
		if (op.kind != OP_NONE)
			summary.alive_good &= alive[op.file.serial];
		note(&summary, &op, params);
		if (pool_replace(&pool, &op))
			summary.empty = true;
		if (summary.empty)
			break;
		if (op.kind == OP_DELETE)
			summary.alive_good &= alive[op.file.serial];
		if (op.kind != OP_NONE)
			alive[op.file.serial] = op.kind == OP_CREATE;
		note(&summary, &op, params);
	}
	CHECK(forecast.out_of_files_at == (summary.empty ? i + 1 : 0));
	for (i = 0; i < pool.count; i++)
		live += pool.files[i].size;
	CHECK(live == pool.live_bytes);
	CHECK(forecast.peak_bytes >= live);
	CHECK(pool.count == summary.kinds[OP_CREATE] -
			    summary.kinds[OP_DELETE]);
	free(alive);
	pool_free(&pool);
	return summary;
}

/* After any number of operations, by doing them and by playing them again. */
static void replays(void)
{
	struct ffsmark_params params = preset();
	struct file_op op, last;
	struct pool done, again;
	struct ffs_error error;
	uint64_t n = 0;
	uint32_t i;

	params.bias_create = 2;
	if (!CHECK(!pool_init(&done, &params, &error)) ||
	    !CHECK(!pool_init(&again, &params, &error)))
		return;
	for (i = 0; i < params.number + 2 * 250; i++) {
		op.kind = OP_NONE;
		if (i < params.number)
			pool_create(&done, &op);
		else if ((i - params.number) % 2 == 0)
			pool_access(&done, &op);
		else
			pool_replace(&done, &op);
		if (op.kind == OP_NONE)
			continue;
		pool_replay(&again, ++n, &last);
		CHECKF(again.count == done.count && last.kind == op.kind &&
		       last.file.serial == op.file.serial &&
		       again.live_bytes == done.live_bytes &&
		       !memcmp(again.files, done.files,
			       done.count * sizeof(*done.files)),
		       "after %llu operations", (unsigned long long)n);
	}
	pool_replay(&again, 0, &last);
	CHECK(again.count == 0 && last.kind == OP_NONE);
	pool_free(&done);
	pool_free(&again);
}

static void sequence(void)
{
	struct ffsmark_params params = preset();
	struct summary first = play(&params), second = play(&params);
	struct summary other;
	double created, read;

	CHECK(!memcmp(&first, &second, sizeof(first)));
	params.seed++;
	other = play(&params);
	CHECK(first.hash != other.hash);
	CHECK(first.sizes_good && first.alive_good && !first.empty);
	/* Five standard deviations of 5000 draws at 1/2 are 177. */
	created = first.kinds[OP_CREATE] - 300.0;
	read = first.kinds[OP_READ];
	CHECKF(created > 2323 && created < 2677, "%f created", created);
	CHECKF(read > 2323 && read < 2677, "%f read", read);
	CHECK(first.kinds[OP_CREATE] + first.kinds[OP_DELETE] == 5300);
	CHECK(first.kinds[OP_READ] + first.kinds[OP_APPEND] +
	      first.kinds[OP_NONE] == 5000);
}

static void biases(void)
{
	struct ffsmark_params params = preset();
	struct summary s;

	params.bias_read = 10;
	params.bias_create = 10;
	s = play(&params);
	CHECK(s.kinds[OP_READ] == 5000 && s.kinds[OP_CREATE] == 5300);
	params.bias_read = -1;
	params.bias_create = -1;
	s = play(&params);
	CHECK(s.kinds[OP_NONE] == 10000 && s.kinds[OP_CREATE] == 300);
	params.bias_read = 0;
	params.bias_create = -1;
	s = play(&params);
	CHECK(s.kinds[OP_READ] == 0 && s.kinds[OP_APPEND] > 300);
	params.bias_create = 0;
	s = play(&params);
	CHECK(s.empty && s.kinds[OP_DELETE] == 300);
}

static void locations_weighted(void)
{
	struct ffsmark_params params = preset();
	uint32_t first = 0, second = 0;
	struct summary s;
	int i;

	params.n_locations = 2;
	params.number = 8000;
	params.transactions = 0;
	s = play(&params);
	for (i = 0; i < 7; i++) {
		first += s.directories[i];
		second += s.directories[7 + i];
		CHECK(s.directories[i] > 150 && s.directories[7 + i] > 600);
	}
	CHECK(first + second == 8000);
	/* 2000 expected; five standard deviations are 194. */
	CHECKF(first > 1806 && first < 2194, "%u in the first", first);
	params.subdirectories = 0;
	s = play(&params);
	CHECK(s.directories[0] + s.directories[1] == 8000);
	CHECK(s.directories[0] > 1806 && s.directories[0] < 2194);
}

void test_pool(void)
{
	replays();
	sequence();
	biases();
	locations_weighted();
}
