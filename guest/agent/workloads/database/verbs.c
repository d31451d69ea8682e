// SPDX-License-Identifier: GPL-2.0-only
/*
 * verbs.c - the step database as a plan has it: its row and keys, which
 * README.md defines.
 */
#include "plan/content_keys.h"
#include "plan/verbs.h"
#include "steps/step.h"
#include "workloads/database/database.h"

static const char *const journals[] = {
	[DATABASE_DELETE] = "delete",
	[DATABASE_WAL] = "wal",
	NULL,
};

static struct database_params params_of(const struct plan_step *step)
{
	return (struct database_params) {
		.dir = step_text(step, "dir"),
		.journal = (enum database_journal)step_number(step, "journal"),
		.transactions = (uint64_t)step_number(step, "transactions"),
		.pages_per_transaction =
			(uint64_t)step_number(step, "pages_per_transaction"),
		.page_bytes = (uint64_t)step_number(step, "page_bytes"),
		.database_bytes = (uint64_t)step_number(step, "database_bytes"),
		.checkpoint_frames =
			(uint64_t)step_number(step, "checkpoint_frames"),
		.contents = content_choice_of(step, step_number(step, "text") ?
					      CONTENT_TEXT : CONTENT_RANDOM),
		.remove = step_number(step, "remove"),
		.settle_ms = (uint64_t)step_number(step, "settle_ms"),
		.seed = (uint64_t)step_number(step, "seed"),
		.verify = step_number(step, "verify"),
	};
}

static int check_database(const struct plan_step *step, struct ffs_error *error)
{
	const struct database_params params = params_of(step);

	return database_params_check(&params, error);
}

static int run_database(const struct plan_step *step, struct run_state *state,
			struct ffs_error *error)
{
	const struct database_params params = params_of(step);

	return database_workload(&params, state->monitor, state->sink, error);
}

const struct verb_spec database_verbs[] = {
	{
		.name = "database",
		.flags = VERB_MAY_FILL | VERB_SEEDED,
		.check = check_database,
		.run = run_database,
		.keys = {
			{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
			{ "journal", KEY_CHOICE, "delete", 0, 0, journals },
			{ "transactions", KEY_NUMBER, "1000", 1, 100000000,
			  NULL },
			{ "pages_per_transaction", KEY_NUMBER, "2", 1,
			  DATABASE_PAGES_DRAWN_MAX, NULL },
			{ "page_bytes", KEY_NUMBER, "4096",
			  DATABASE_PAGE_BYTES_MIN, DATABASE_PAGE_BYTES_MAX,
			  NULL },
			{ "database_bytes", KEY_NUMBER, "2097152", 1,
			  PLAN_SIZE_LIMIT, NULL },
			{ "checkpoint_frames", KEY_NUMBER, "1000", 1,
			  100000000, NULL },
			{ "text", KEY_NUMBER, "1", 0, 1, NULL },
			PLAN_CONTENT_KEYS(""),
			{ "remove", KEY_NUMBER, "0", 0, 1, NULL },
			{ "settle_ms", KEY_NUMBER, "0", 0, 1000000000000, NULL },
			{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
			{ "verify", KEY_NUMBER, "0", 0, 1, NULL },
		},
	},
	{ .name = NULL },
};
