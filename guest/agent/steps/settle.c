// SPDX-License-Identifier: GPL-2.0-only
/*
 * settle.c - the steps that let time pass: sleep and settle.
 *
 * File systems format in the background: JFFS2 writes a clean marker into every
 * erased block, UBI an erase counter.  Until that is done a workload on an
 * empty file system would be charged for it.
 */
#include <errno.h>

#include "core/clock.h"
#include "flash/monitor.h"
#include "plan/verbs.h"
#include "steps/step.h"

#define NS_PER_MS 1000000u

static int sleep_ms(const struct plan_step *step, struct run_state *state,
		    struct ffs_error *error)
{
	(void)state;
	return clock_sleep_ns((uint64_t)step_number(step, "ms") * NS_PER_MS,
			      error);
}

/* Return: 0 with the requests that the monitor has counted so far, or -1. */
static int count_requests(const struct flash_monitor *monitor,
			  struct flash_snapshot *snapshot, uint64_t *requests,
			  struct ffs_error *error)
{
	static const char *const watched[] = {
		"read_calls", "write_calls", "erase_calls",
	};
	/* The chip's own counters say nothing more, and cost time to read. */
	const struct flash_monitor alone = { .mtd = monitor->mtd, .chip = "" };
	size_t i;

	if (snapshot_take_counters(snapshot, &alone, error))
		return -1;
	*requests = 0;
	for (i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
		*requests += snapshot_counter(snapshot, watched[i]);
	return 0;
}

static int settle(const struct plan_step *step, struct run_state *state,
		  struct ffs_error *error)
{
	int64_t quiet_ms = step_number(step, "quiet_ms"), waited_ms = 0;
	struct flash_snapshot now = { 0 };
	uint64_t before = UINT64_MAX, requests = 0;
	int result = 0;

	if (!state->monitor)
		return ffs_fail(error, 0,
			"settle needs the flash monitor: put a monitor step before it");
	while (!result && requests != before) {
		if (waited_ms > step_number(step, "max_ms")) {
			result = ffs_fail(error, ETIMEDOUT,
				"the flash was still busy after %lld ms",
				(long long)waited_ms);
			break;
		}
		before = requests;
		result = clock_sleep_ns((uint64_t)quiet_ms * NS_PER_MS, error);
		waited_ms += quiet_ms;
		if (!result)
			result = count_requests(state->monitor, &now, &requests,
						error);
	}
	snapshot_free(&now);
	return result;
}

const struct verb_spec settle_verbs[] = {
	{
		.name = "sleep",
		.run = sleep_ms,
		.keys = {
			{ "ms", KEY_NUMBER, NULL, 0, 1000000000000, NULL },
		},
	},
	{
		.name = "settle",
		.flags = VERB_PHASE,
		.run = settle,
		.keys = {
			{ "quiet_ms", KEY_NUMBER, "1000", 1, 3600000, NULL },
			{ "max_ms", KEY_NUMBER, "600000", 1, 1000000000, NULL },
			PLAN_PHASE_KEY,
		},
	},
	{ .name = NULL },
};
