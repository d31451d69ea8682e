// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_latency.c - which operations are kept as the slowest.
 */
#include <string.h>

#include "emitted.h"
#include "measure/latency.h"

static bool is_kept(const struct latency *latency, uint64_t start_ns,
		    uint64_t latency_ns)
{
	size_t i;

	for (i = 0; i < latency->n_slowest; i++)
		if (latency->slowest[i].t_start_ns == start_ns &&
		    latency->slowest[i].latency_ns == latency_ns)
			return true;
	return false;
}

void test_latency(void)
{
	static struct latency latency;
	struct record_sink sink;
	FILE *file = emitted_open(&sink);
	char *text;
	uint64_t i;

	latency_reset(&latency);
	/* Nothing that takes no time, however few there are. */
	latency_add_at(&latency, 5, 5);
	CHECK(latency.n_slowest == 0 && latency.histogram.count == 1);
	latency_add_at(&latency, 100, 107);
	latency_record(&latency, "w", "p", "op", &sink);
	text = emitted_text(file);
	CHECKF(strstr(text, ",\"slowest\":[[100,7]]}\n") != NULL, "%s", text);
	free(text);
	/* 1 to 100 ns, not in order: 37 is no divisor of 101. */
	for (i = 1; i <= 100; i++)
		latency_add_at(&latency, 1000 * i, 1000 * i + i * 37 % 101);
	CHECK(latency.n_slowest == LATENCY_SLOWEST);
	CHECK(latency.slower_than_ns == 85);
	for (i = 1; i <= 100; i++)
		CHECK(is_kept(&latency, 1000 * i, i * 37 % 101) ==
		      (i * 37 % 101 >= 85));
	/* Of two that are equal the first stays. */
	latency_add_at(&latency, 7, 7 + 85);
	CHECK(!is_kept(&latency, 7, 85));
	latency_reset(&latency);
	CHECK(!latency.n_slowest && !latency.slower_than_ns);
}
