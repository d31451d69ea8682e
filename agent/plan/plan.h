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
#define PLAN_KEYS_MAX 24
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

struct verb_spec {
	const char *name;
	struct key_spec keys[PLAN_KEYS_MAX];	/* ends at a NULL name */
};

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

/** plan_verbs - the table of verbs; ends at a NULL name. */
extern const struct verb_spec plan_verbs[];

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
