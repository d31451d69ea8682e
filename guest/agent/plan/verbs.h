/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * verbs.h - where the verbs of a plan come from.
 *
 * A verb is one row (struct verb_spec): its keys with their defaults, which are
 * those of docs/plan-format.md, its functions, and what it may do.  Rows stand
 * in the table of the file or folder that executes them.  The list below has the
 * tables of the program that most guests get; a workload's folder that it does
 * not name has a program of its own, with its table NAME_verbs beside these.
 */
#ifndef FFSAGENT_VERBS_H
#define FFSAGENT_VERBS_H

#include "plan/plan.h"

#define PLAN_VERB_TABLES(TABLE) \
	TABLE(module_verbs) \
	TABLE(flash_verbs) \
	TABLE(ubi_verbs) \
	TABLE(mount_verbs) \
	TABLE(settle_verbs) \
	TABLE(report_verbs) \
	TABLE(file_verbs) \
	TABLE(program_verbs) \
	TABLE(ffsmark_verbs) \
	TABLE(prepare_verbs) \
	TABLE(micro_verbs) \
	TABLE(tree_verbs) \
	TABLE(append_log_verbs) \
	TABLE(wear_verbs) \
	TABLE(tiobench_verbs) \
	TABLE(probe_verbs) \
	FURTHER_TABLES(TABLE)

/* Those of the workloads with a program of their own: sources.mk. */
#ifndef FURTHER_TABLES
#define FURTHER_TABLES(TABLE)
#endif

/* Each ends at a NULL name. */
#define DECLARE_TABLE(name) extern const struct verb_spec name[];
PLAN_VERB_TABLES(DECLARE_TABLE)
#undef DECLARE_TABLE

/** plan_verb() - the row of a verb, NULL if there is none. */
const struct verb_spec *plan_verb(const char *name);

/** plan_verb_next() - the row after @verb, the first after NULL; NULL: the end. */
const struct verb_spec *plan_verb_next(const struct verb_spec *verb);

#endif
