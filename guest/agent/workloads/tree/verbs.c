// SPDX-License-Identifier: GPL-2.0-only
/*
 * verbs.c - the steps tree-* as a plan has them: rows and keys.
 */
#include "plan/content_keys.h"
#include "plan/verbs.h"
#include "steps/step.h"
#include "workloads/tree/params.h"
#include "workloads/tree/run.h"
#include "workloads/tree/tree.h"

#define STEP(name, function) \
	static int run_##name(const struct plan_step *step, \
			      struct run_state *state, struct ffs_error *error) \
	{ \
		return tree_step(function, step, state, error); \
	}

STEP(create, tree_create)
STEP(list, tree_list)
STEP(find, tree_find)
STEP(delete, tree_delete)
STEP(copy, tree_copy)
STEP(check, tree_check)
STEP(digest, tree_digest)
STEP(warm, tree_warm)
STEP(read, tree_read_files)

const struct verb_spec tree_verbs[] = {
	{
		.name = "tree-create",
		.flags = VERB_MAY_FILL | VERB_SEEDED,
		.check = tree_check_shape,
		.run = run_create,
		.keys = {
			{ "dir", KEY_PATH, NULL, 0, 0, NULL },
			{ "phase", KEY_NAME, NULL, 0, 0, NULL },
			{ "files", KEY_NAME, "normal(4,1)", 0, 0, NULL },
			{ "directories", KEY_NAME, "normal(3,1)", 0, 0, NULL },
			{ "size", KEY_NAME, "normal(1024,64)", 0, 0, NULL },
			{ "depth", KEY_NAME, "constant(5)", 0, 0, NULL },
			PLAN_CONTENT_KEYS("random"),
			{ "write_bytes", KEY_NUMBER, "4096", 1, PLAN_MIB(64), NULL },
			{ "sync", KEY_NUMBER, "0", 0, 1, NULL },
			{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
		},
	},
	{
		.name = "tree-list",
		.run = run_list,
		.keys = {
			{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
			{ "phase", KEY_NAME, NULL, 0, 0, NULL },
			{ "stat", KEY_NUMBER, "1", 0, 1, NULL },
		},
	},
	{
		.name = "tree-find",
		.run = run_find,
		.keys = {
			{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
			{ "phase", KEY_NAME, NULL, 0, 0, NULL },
			{ "name", KEY_NAME, NULL, 0, 0, NULL },
			{ "stat", KEY_NUMBER, "1", 0, 1, NULL },
		},
	},
	{
		.name = "tree-delete",
		.check = tree_check_delete,
		.run = run_delete,
		.keys = {
			{ "dir", KEY_PATH, NULL, 0, 0, NULL },
			{ "phase", KEY_NAME, NULL, 0, 0, NULL },
			{ "keep", KEY_NUMBER, "0", 0, 1, NULL },
		},
	},
	{
		.name = "tree-copy",
		.flags = VERB_MAY_FILL,
		.check = tree_check_copy,
		.run = run_copy,
		.keys = {
			{ "from", KEY_PATH, NULL, 0, 0, NULL },
			{ "dir", KEY_PATH, NULL, 0, 0, NULL },
			{ "phase", KEY_NAME, NULL, 0, 0, NULL },
			{ "exclude", KEY_TEXT, "", 0, 0, NULL },
		},
	},
	{
		.name = "tree-check",
		.check = tree_check_shape,
		.run = run_check,
		.keys = {
			{ "dir", KEY_PATH, NULL, 0, 0, NULL },
			{ "phase", KEY_NAME, NULL, 0, 0, NULL },
			{ "files", KEY_NAME, "normal(4,1)", 0, 0, NULL },
			{ "directories", KEY_NAME, "normal(3,1)", 0, 0, NULL },
			{ "size", KEY_NAME, "normal(1024,64)", 0, 0, NULL },
			{ "depth", KEY_NAME, "constant(5)", 0, 0, NULL },
			PLAN_CONTENT_KEYS("random"),
			{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
		},
	},
	{
		.name = "tree-digest",
		.check = tree_check_digest,
		.run = run_digest,
		.keys = {
			{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
			{ "phase", KEY_NAME, NULL, 0, 0, NULL },
			{ "expect", KEY_TEXT, "", 0, 0, NULL },
			{ "exclude", KEY_TEXT, "", 0, 0, NULL },
		},
	},
	{
		.name = "tree-warm",
		.flags = VERB_SEEDED,
		.check = tree_check_warm,
		.run = run_warm,
		.keys = {
			{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
			{ "phase", KEY_NAME, NULL, 0, 0, NULL },
			PLAN_CONTENT_KEYS("random"),
			{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
		},
	},
	{
		.name = "tree-read",
		.run = run_read,
		.keys = {
			{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
			{ "phase", KEY_NAME, NULL, 0, 0, NULL },
			{ "files", KEY_TEXT, NULL, 0, 0, NULL },
		},
	},
	{ .name = NULL },
};
