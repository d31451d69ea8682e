/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * plan.h - a plan: the list of steps the host wants executed.
 *
 * docs/plan-format.md is the definition.  plan_parse() checks everything that
 * can be checked without executing anything: verbs, keys, ranges, keys that
 * contradict each other, and steps that need an earlier one.  So a plan that
 * parses runs without surprises from its text, and a wrong one costs nothing.
 *
 * Limits: 4 MiB of text, INT64 numbers, decimal only.
 */
#ifndef FFSAGENT_PLAN_H
#define FFSAGENT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define PLAN_TEXT_MAX (4u << 20)
#define PLAN_KEYS_MAX 32
/* What a KEY_SIZE_OR_MAX key holds for the word "max". */
#define PLAN_SIZE_MAX INT64_MAX

enum key_kind {
	KEY_NAME,		/* text, not empty */
	KEY_TEXT,		/* text, may be empty */
	KEY_PATH,		/* starts with a slash */
	KEY_NUMBER,		/* decimal, between low and high */
	KEY_SIZE_OR_MAX,	/* decimal, or the word max */
	KEY_MOUNT_FLAGS,	/* comma list of mount flags */
	KEY_CHOICE,		/* one of some words; may be empty if that is the preset */
};

struct key_spec {
	const char *name;
	enum key_kind kind;
	const char *preset;	/* default as it would be written; NULL: required */
	int64_t low, high;	/* KEY_NUMBER */
	const char *const *choices;	/* KEY_CHOICE; ends at NULL */
};

struct plan_step;
struct run_state;	/* steps/step.h */

/* Return: 0, or -1 with @error. */
typedef int (*verb_check)(const struct plan_step *step,
			  struct ffs_error *error);
typedef int (*verb_function)(const struct plan_step *step,
			     struct run_state *state, struct ffs_error *error);
typedef void (*verb_report)(const struct plan_step *step,
			    struct run_state *state);

enum verb_flag {
	/* It may fill the partition: ENOSPC is a result, and the plan goes on. */
	VERB_MAY_FILL = 1 << 0,
	/* Its key "seed" names the whole run if no step before it has the flag. */
	VERB_SEEDED = 1 << 1,
	/* It is measured as a phase if its key "phase" names one. */
	VERB_PHASE = 1 << 2,
	/* It needs label=, the name of its record. */
	VERB_LABELLED = 1 << 3,
	/* It attaches the flash monitor; it needs one attached before it. */
	VERB_ATTACHES_MONITOR = 1 << 4,
	VERB_NEEDS_MONITOR = 1 << 5,
};

/**
 * struct verb_spec - all that is known of a verb
 * @check: finds keys that contradict each other, before anything is executed;
 *	or NULL
 * @before: what precedes @run and belongs to the step, not to its phase; or NULL
 * @run: does the step
 * @after: emits what a step that ended well has to report, outside of its time;
 *	or NULL
 * @keys: ends at a NULL name
 */
struct verb_spec {
	const char *name;
	unsigned int flags;	/* enum verb_flag */
	verb_check check;
	verb_function before, run;
	verb_report after;
	struct key_spec keys[PLAN_KEYS_MAX];
};

#define PLAN_MIB(n) ((int64_t)(n) << 20)
/* No flash file system is larger; products of such sizes stay in range. */
#define PLAN_SIZE_LIMIT PLAN_MIB(1 << 20)
/* The key of VERB_PHASE: the name of the phase; empty: it is not measured. */
#define PLAN_PHASE_KEY { "phase", KEY_TEXT, "", 0, 0, NULL }

struct plan_value {
	bool given;
	/* KEY_NUMBER, KEY_SIZE_OR_MAX; of a KEY_CHOICE which, or -1: none. */
	int64_t number;
	char *text;		/* decoded */
};

struct plan_step {
	const struct verb_spec *verb;
	size_t line;
	char *label;		/* "" if none was given */
	bool label_given;
	bool may_fail;
	bool may_fail_given;
	struct plan_value values[PLAN_KEYS_MAX];
};

struct plan {
	struct plan_step *steps;
	size_t n_steps;
};

/**
 * plan_parse() - read and validate a plan.
 * @text: need not end in NUL; @bytes long.
 * @error: on failure, "line N: what; likely cause".
 *
 * Return: 0 with @plan to be freed by plan_free(), or -1 with nothing to free.
 */
int plan_parse(struct plan *plan, const char *text, size_t bytes,
	       struct ffs_error *error);
void plan_free(struct plan *plan);

/** percent_decode() - decode in place; -1 for a broken escape, or %00. */
int percent_decode(char *text);

/** plan_mount_flag() - MS_* of one flag name, or 0. */
unsigned long plan_mount_flag(const char *name, size_t length);

/* Values by key; the key must be one of the step's verb. */
int64_t step_number(const struct plan_step *step, const char *key);
const char *step_text(const struct plan_step *step, const char *key);

#endif
