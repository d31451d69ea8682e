// SPDX-License-Identifier: GPL-2.0-only
/*
 * verbs.c - the steps probe-flash and probe-cpu as a plan has them.
 */
#include "plan/verbs.h"
#include "steps/step.h"
#include "workloads/probe/probe.h"

static int run_flash(const struct plan_step *step, struct run_state *state,
		     struct ffs_error *error)
{
	struct probe probe = {
		.phase = step_text(step, "phase"),
		.bytes = (uint64_t)step_number(step, "bytes"),
	};

	return probe_flash(&probe, step_text(step, "mtd"),
			   (enum probe_flash_op)step_number(step, "what"),
			   (uint64_t)step_number(step, "blocks"),
			   (uint64_t)step_number(step, "page_bytes"),
			   (uint64_t)step_number(step, "seed"),
			   state->monitor, state->sink, error);
}

static int run_cpu(const struct plan_step *step, struct run_state *state,
		   struct ffs_error *error)
{
	struct probe probe = {
		.phase = step_text(step, "phase"),
		.bytes = (uint64_t)step_number(step, "bytes"),
		.count = (uint64_t)step_number(step, "count"),
	};

	return probe_cpu(&probe, (enum probe_cpu_op)step_number(step, "what"),
			 state->monitor, state->sink, error);
}

const struct verb_spec probe_verbs[] = {
	{
		.name = "probe-flash",
		.flags = VERB_SEEDED,
		.run = run_flash,
		.keys = {
			{ "mtd", KEY_NAME, NULL, 0, 0, NULL },
			{ "what", KEY_CHOICE, NULL, 0, 0, probe_flash_names },
			{ "phase", KEY_NAME, NULL, 0, 0, NULL },
			{ "blocks", KEY_NUMBER, "8", 1, PROBE_BLOCKS_MAX, NULL },
			{ "bytes", KEY_NUMBER, "512", 1, PROBE_BYTES_MAX, NULL },
			{ "page_bytes", KEY_NUMBER, "0", 0, PROBE_BYTES_MAX,
			  NULL },
			{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
		},
	},
	{
		.name = "probe-cpu",
		.run = run_cpu,
		.keys = {
			{ "what", KEY_CHOICE, NULL, 0, 0, probe_cpu_names },
			{ "phase", KEY_NAME, NULL, 0, 0, NULL },
			{ "count", KEY_NUMBER, "1000", 1, PROBE_COUNT_MAX, NULL },
			{ "bytes", KEY_NUMBER, "65536", 1, PROBE_BYTES_MAX,
			  NULL },
		},
	},
	{ .name = NULL },
};
