// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_tiobench.c - how many requests there are, where they go, and what
 * becomes of the figures of several threads.
 */
#include <errno.h>
#include <string.h>

#include "harness.h"
#include "workloads/tiobench/worker.h"

static struct tio_params params_of(uint32_t threads, uint64_t block_bytes)
{
	return (struct tio_params) {
		.dir = "/", .threads = threads, .file_bytes = 1000,
		.random_bytes = 400, .block_bytes = block_bytes, .seed = 7,
	};
}

static void requests_of_a_thread(void)
{
	struct tio_params params = params_of(3, 100);

	/* 1000 / 3 = 333 bytes: 3 blocks of 100; 400 / 3 = 133: 1. */
	CHECK(tio_file_blocks(&params) == 3);
	CHECK(tio_requests(&params, TIO_WRITE) == 3);
	CHECK(tio_requests(&params, TIO_READ) == 3);
	CHECK(tio_requests(&params, TIO_RANDOM_WRITE) == 1);
	CHECK(tio_requests(&params, TIO_RANDOM_READ) == 1);
}

static void contradictions(void)
{
	struct tio_params params = params_of(1, 400);
	struct ffs_error error = { .errnum = -1 };

	CHECK(!tio_params_check(&params, &error));
	params.block_bytes = 401;	/* no room among the random ones */
	CHECK(tio_params_check(&params, &error));
	CHECK(!error.errnum);		/* no system call is to blame */
	params = params_of(11, 100);	/* 90 bytes for a thread */
	CHECK(tio_params_check(&params, &error));
	params = params_of(1, 100);
	params.settle_ms = 1;
	error.errnum = -1;
	CHECK(tio_params_check(&params, &error));
	CHECK(!error.errnum);
	params.remove = true;
	CHECK(!tio_params_check(&params, &error));
	/* Twice 100,000 and twice 31,072 are 262,144; one more is too many. */
	params.file_bytes = 100000 * 100;
	params.random_bytes = 31072 * 100;
	params.full = true;
	CHECK(!tio_params_check(&params, &error));
	params.random_bytes += 100;
	error.errnum = -1;
	CHECK(tio_params_check(&params, &error));
	CHECK(!error.errnum);
}

static void sequential_places(void)
{
	struct tio_params params = params_of(2, 100);
	struct tio_places places;
	uint64_t i;

	tio_places_init(&places, &params, TIO_READ, 1);
	for (i = 0; i < 5; i++)
		CHECK(tio_place(&places) == i * 100);
}

static void random_places(void)
{
	struct tio_params params = params_of(1, 100);
	unsigned int hits[10] = { 0 }, others = 0, i;
	struct tio_places places, other, same;

	tio_places_init(&places, &params, TIO_RANDOM_WRITE, 0);
	tio_places_init(&same, &params, TIO_RANDOM_WRITE, 0);
	tio_places_init(&other, &params, TIO_RANDOM_READ, 0);
	for (i = 0; i < 10000; i++) {
		uint64_t offset = tio_place(&places);

		if (!CHECK(offset % 100 == 0 && offset < 1000))
			return;
		hits[offset / 100]++;
		CHECK(tio_place(&same) == offset);
		others += tio_place(&other) == offset;
	}
	/* Ten blocks, a thousand each: within six standard deviations of 30. */
	for (i = 0; i < 10; i++)
		CHECKF(hits[i] > 820 && hits[i] < 1180, "block %u: %u", i,
		       hits[i]);
	/* Another phase goes elsewhere: a tenth of its places agree by chance. */
	CHECK(others > 820 && others < 1180);
	tio_places_init(&other, &params, TIO_RANDOM_WRITE, 1);
	tio_places_init(&same, &params, TIO_RANDOM_WRITE, 0);
	for (i = 0, others = 0; i < 100; i++)
		others += tio_place(&other) == tio_place(&same);
	CHECK(others < 50);
}

/*
 * Each thread in each phase has a sequence of its own.  What a seed means must stay
 * what it is, or recorded results could not be repeated.
 */
static void sequences(void)
{
	struct tio_params params = params_of(1, 100);
	uint32_t thread, part, others = 0;
	struct tio_places places;
	struct rng rng;
	int i;

	for (thread = 0; thread < 64; thread++)
		for (part = TIO_RANDOM_WRITE; part < TIO_PARTS; part += 2) {
			tio_places_init(&places, &params, part, thread);
			rng_seed(&rng, rng_mix(7) + 4 * thread + part);
			for (i = 0; i < 20; i++)
				others += tio_place(&places) !=
					  100 * rng_below(&rng, 10);
		}
	CHECKF(!others, "%u places are others", others);
}

static void kinds_of_phases(void)
{
	CHECK(!tio_reads(TIO_WRITE) && !tio_reads(TIO_RANDOM_WRITE) &&
	      tio_reads(TIO_READ) && tio_reads(TIO_RANDOM_READ));
	CHECK(!tio_is_random(TIO_WRITE) && tio_is_random(TIO_RANDOM_WRITE) &&
	      !tio_is_random(TIO_READ) && tio_is_random(TIO_RANDOM_READ));
}

static void merged(void)
{
	static struct tio_work total, one, two;
	uint64_t values[3] = { 0 };

	tio_work_reset(&total);
	tio_work_reset(&one);
	tio_work_reset(&two);
	total.latency.values = values;
	total.latency.room = 3;
	latency_add(&one.latency, 10);
	one.done = 1;
	one.above_2s = 1;
	one.slowest.latency_ns = 10;
	latency_add(&two.latency, 30);
	latency_add(&two.latency, 20);
	two.done = 2;
	two.above_10s = 2;
	two.slowest.latency_ns = 30;
	two.slowest.thread = 1;
	two.failed = true;
	two.error.errnum = ENOSPC;
	tio_work_merge(&total, &one);
	CHECK(total.done == 1 && total.slowest.latency_ns == 10);
	tio_work_merge(&total, &two);
	tio_work_merge(&total, &one);
	CHECK(total.done == 4 && total.above_2s == 2 && total.above_10s == 2);
	CHECK(total.latency.histogram.count == 4 &&
	      total.latency.histogram.sum == 70);
	CHECK(total.slowest.latency_ns == 30 && total.slowest.thread == 1);
	CHECK(total.failed && total.error.errnum == ENOSPC);
}

/* Beside a request of ten hours that was counted before. */
static bool counted(uint64_t latency_ns, uint64_t above_2s, uint64_t above_10s)
{
	static struct tio_work work;

	tio_work_reset(&work);
	tio_work_count(&work, 36000 * 1000000000ull);
	tio_work_count(&work, latency_ns);
	return work.above_2s == 1 + above_2s && work.above_10s == 1 + above_10s;
}

/* Two seconds are not above two seconds, a nanosecond more is. */
static void slow_requests(void)
{
	CHECK(counted(0, 0, 0));
	CHECK(counted(2 * 1000 * 1000 * 1000ull, 0, 0));
	CHECK(counted(2 * 1000 * 1000 * 1000ull + 1, 1, 0));
	CHECK(counted(10 * 1000 * 1000 * 1000ull, 1, 0));
	CHECK(counted(10 * 1000 * 1000 * 1000ull + 1, 1, 1));
	CHECK(counted(UINT64_MAX, 1, 1));
}

void test_tiobench(void)
{
	slow_requests();
	requests_of_a_thread();
	contradictions();
	sequential_places();
	random_places();
	sequences();
	kinds_of_phases();
	merged();
}
