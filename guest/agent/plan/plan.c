// SPDX-License-Identifier: GPL-2.0-only
/*
 * plan.c - the plan parser; see plan.h.
 *
 * The text comes from outside and is treated so: the parser is fuzzed
 * (make fuzz), every number is checked for range before it is used, and all
 * memory belongs to the plan and is freed on any error.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>

#include "plan/plan.h"
#include "plan/verbs.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int percent_decode(char *text)
{
	char *out = text;

	while (*text) {
		int high, low;

		if (*text != '%') {
			*out++ = *text++;
			continue;
		}
		high = hex_digit(text[1]);
		low = high < 0 ? -1 : hex_digit(text[2]);
		if (low < 0 || high + low == 0)
			return -1;
		*out++ = (char)(high << 4 | low);
		text += 3;
	}
	*out = '\0';
	return 0;
}

/* A decimal number with an optional minus; no spaces, no other base. */
static int parse_number(const char *text, int64_t *number)
{
	const char *digits = text + (*text == '-');
	char *end;

	if (*digits < '0' || *digits > '9')
		return -1;
	errno = 0;
	*number = strtoll(text, &end, 10);
	return errno || *end ? -1 : 0;
}

unsigned long plan_mount_flag(const char *name, size_t length)
{
	static const struct {
		const char *name;
		unsigned long flag;
	} flags[] = {
		{ "sync", MS_SYNCHRONOUS },
		{ "ro", MS_RDONLY },
		{ "noatime", MS_NOATIME },
		{ "nodiratime", MS_NODIRATIME },
		{ "dirsync", MS_DIRSYNC },
	};
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strlen(flags[i].name) == length &&
		    !memcmp(flags[i].name, name, length))
			return flags[i].flag;
	return 0;
}

static int check_mount_flags(const char *list, size_t line,
			     struct ffs_error *error)
{
	while (*list) {
		size_t length = strcspn(list, ",");

		if (!plan_mount_flag(list, length))
			return ffs_fail(error, 0,
				"line %zu: unknown mount flag '%.*s'; known are sync, ro, noatime, nodiratime, dirsync (options of the file system go into options=)",
				line, (int)length, list);
		list += length;
		if (*list == ',')
			list++;
	}
	return 0;
}

static int check_choice(const struct key_spec *key, struct plan_value *value,
			size_t line, struct ffs_error *error)
{
	char known[200];
	size_t used = 0, i;

	value->number = -1;
	if (!*value->text && key->preset && !*key->preset)
		return 0;
	for (i = 0; key->choices[i]; i++) {
		if (!strcmp(key->choices[i], value->text)) {
			value->number = (int64_t)i;
			return 0;
		}
		if (used < sizeof(known))
			used += (size_t)snprintf(known + used,
						 sizeof(known) - used, "%s%s",
						 i ? ", " : "", key->choices[i]);
	}
	return ffs_fail(error, 0,
		"line %zu: there is no %s '%s'; it takes one of %s", line,
		key->name, value->text, known);
}

static int check_value(const struct key_spec *key, struct plan_value *value,
		       size_t line, struct ffs_error *error)
{
	const char *text = value->text;

	switch (key->kind) {
	case KEY_TEXT:
		return 0;
	case KEY_NAME:
		if (*text)
			return 0;
		return ffs_fail(error, 0, "line %zu: '%s' is empty; give it a value",
				line, key->name);
	case KEY_PATH:
		if (*text == '/')
			return 0;
		return ffs_fail(error, 0,
			"line %zu: %s=%s is not an absolute path; start it with '/'",
			line, key->name, text);
	case KEY_MOUNT_FLAGS:
		return check_mount_flags(text, line, error);
	case KEY_CHOICE:
		return check_choice(key, value, line, error);
	case KEY_SIZE_OR_MAX:
		value->number = PLAN_SIZE_MAX;
		if (!strcmp(text, "max"))
			return 0;
		if (!parse_number(text, &value->number) && value->number > 0)
			return 0;
		return ffs_fail(error, 0,
			"line %zu: %s=%s is neither a number of bytes above 0 nor the word max",
			line, key->name, text);
	case KEY_NUMBER:
		if (!parse_number(text, &value->number) &&
		    value->number >= key->low && value->number <= key->high)
			return 0;
		return ffs_fail(error, 0,
			"line %zu: %s=%s is out of range; it takes a decimal number from %lld to %lld",
			line, key->name, text, (long long)key->low,
			(long long)key->high);
	}
	return 0;
}

static void list_keys(const struct verb_spec *verb, char *out, size_t bytes)
{
	const struct key_spec *key;
	size_t used = 0;

	for (key = verb->keys; key->name && used < bytes; key++)
		used += (size_t)snprintf(out + used, bytes - used, "%s, ",
					 key->name);
	if (used < bytes)
		snprintf(out + used, bytes - used, "label, may_fail");
}

/* The keys every step has. Return: 1 if @name is one of them. */
static int parse_common(struct plan_step *step, const char *name,
			const char *text, struct ffs_error *error)
{
	bool *given;

	if (!strcmp(name, "label"))
		given = &step->label_given;
	else if (!strcmp(name, "may_fail"))
		given = &step->may_fail_given;
	else
		return 0;
	if (*given)
		return ffs_fail(error, 0, "line %zu: '%s' is given twice",
				step->line, name);
	*given = true;
	if (given == &step->may_fail_given) {
		if (strcmp(text, "0") && strcmp(text, "1"))
			return ffs_fail(error, 0,
				"line %zu: may_fail=%s must be 0 or 1",
				step->line, text);
		step->may_fail = *text == '1';
		return 1;
	}
	if (!*text)
		return ffs_fail(error, 0, "line %zu: 'label' is empty",
				step->line);
	free(step->label);
	step->label = strdup(text);
	if (!step->label)
		return ffs_fail(error, ENOMEM, "line %zu", step->line);
	return 1;
}

static int parse_field(struct plan_step *step, char *field,
		       struct ffs_error *error)
{
	char *text = strchr(field, '=');
	const struct key_spec *key;
	struct plan_value *value;
	char known[320];
	int common;

	if (!text)
		return ffs_fail(error, 0,
			"line %zu: '%s' is not key=value; a space inside a value is written %%20",
			step->line, field);
	*text++ = '\0';
	if (percent_decode(text))
		return ffs_fail(error, 0,
			"line %zu: the value of '%s' has a broken %%-escape; write %% itself as %%25",
			step->line, field);
	common = parse_common(step, field, text, error);
	if (common)
		return common < 0 ? -1 : 0;
	for (key = step->verb->keys; key->name; key++)
		if (!strcmp(key->name, field))
			break;
	if (!key->name) {
		list_keys(step->verb, known, sizeof(known));
		return ffs_fail(error, 0,
			"line %zu: '%s' has no key '%s'; it knows %s",
			step->line, step->verb->name, field, known);
	}
	value = &step->values[key - step->verb->keys];
	if (value->given)
		return ffs_fail(error, 0, "line %zu: '%s' is given twice",
				step->line, field);
	value->given = true;
	value->text = strdup(text);
	if (!value->text)
		return ffs_fail(error, ENOMEM, "line %zu", step->line);
	return check_value(key, value, step->line, error);
}

static int fill_defaults(struct plan_step *step, struct ffs_error *error)
{
	const struct key_spec *key;

	for (key = step->verb->keys; key->name; key++) {
		struct plan_value *value = &step->values[key - step->verb->keys];

		if (value->given)
			continue;
		if (!key->preset)
			return ffs_fail(error, 0, "line %zu: '%s' needs %s=",
					step->line, step->verb->name, key->name);
		value->text = strdup(key->preset);
		if (!value->text)
			return ffs_fail(error, ENOMEM, "line %zu", step->line);
		if (check_value(key, value, step->line, error))
			return -1;
	}
	return 0;
}

static int parse_step(struct plan_step *step, char *line,
		      struct ffs_error *error)
{
	char *next = NULL;
	char *field = strtok_r(line, " ", &next);

	step->verb = plan_verb(field);
	if (!step->verb)
		return ffs_fail(error, 0,
			"line %zu: unknown verb '%s'; check the spelling, or this agent is older than the plan",
			step->line, field);
	step->label = strdup("");
	if (!step->label)
		return ffs_fail(error, ENOMEM, "line %zu", step->line);
	while ((field = strtok_r(NULL, " ", &next)))
		if (parse_field(step, field, error))
			return -1;
	return fill_defaults(step, error);
}

/* What the step asks of its keys together, and of the steps before it. */
static int check_step(const struct plan_step *step, bool monitored,
		      struct ffs_error *error)
{
	const struct verb_spec *verb = step->verb;
	struct ffs_error cause;

	if (verb->check && verb->check(step, &cause))
		return ffs_fail(error, 0, "line %zu: %s", step->line,
				cause.message);
	if (verb->flags & VERB_LABELLED && !step->label_given)
		return ffs_fail(error, 0,
			"line %zu: '%s' needs label=, the name of its record",
			step->line, verb->name);
	if (verb->flags & VERB_NEEDS_MONITOR && !monitored)
		return ffs_fail(error, 0,
			"line %zu: '%s' needs a 'monitor' step before it",
			step->line, verb->name);
	return 0;
}

static struct plan_step *append_step(struct plan *plan, size_t line)
{
	struct plan_step *steps = plan->steps;
	size_t n = plan->n_steps;

	/* Room doubles whenever the number of steps is a power of two. */
	if (!(n & (n - 1))) {
		steps = realloc(steps, (n ? 2 * n : 1) * sizeof(*steps));
		if (!steps)
			return NULL;
		plan->steps = steps;
	}
	memset(&steps[n], 0, sizeof(*steps));
	steps[n].line = line;
	plan->n_steps++;
	return &steps[n];
}

static int parse_lines(struct plan *plan, char *text, struct ffs_error *error)
{
	bool versioned = false, monitored = false;
	size_t number = 0;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		struct plan_step *step;

		number++;
		if (!versioned) {
			if (strcmp(line, "ffsplan 1"))
				return ffs_fail(error, 0,
					"line 1: the first line must be 'ffsplan 1'; this is not a plan, or one of another version");
			versioned = true;
			continue;
		}
		if (line[strspn(line, " ")] == '\0' || *line == '#')
			continue;
		step = append_step(plan, number);
		if (!step)
			return ffs_fail(error, ENOMEM, "line %zu", number);
		if (parse_step(step, line, error) ||
		    check_step(step, monitored, error))
			return -1;
		monitored |= !!(step->verb->flags & VERB_ATTACHES_MONITOR);
	}
	return 0;
}

static int check_bytes(const char *text, size_t bytes, struct ffs_error *error)
{
	size_t line = 1, i;

	if (bytes > PLAN_TEXT_MAX)
		return ffs_fail(error, 0,
			"line 1: the plan has %zu bytes, at most %u are read",
			bytes, PLAN_TEXT_MAX);
	for (i = 0; i < bytes; i++) {
		if (text[i] == '\n')
			line++;
		else if ((unsigned char)text[i] < 0x20)
			return ffs_fail(error, 0,
				"line %zu: control character 0x%02x; write it as %%%02X%s",
				line, (unsigned char)text[i],
				(unsigned char)text[i],
				text[i] == '\r' ? " (the file has Windows line ends)" : "");
	}
	return 0;
}

int plan_parse(struct plan *plan, const char *text, size_t bytes,
	       struct ffs_error *error)
{
	char *copy;
	int result;

	memset(plan, 0, sizeof(*plan));
	if (check_bytes(text, bytes, error))
		return -1;
	copy = malloc(bytes + 1);
	if (!copy)
		return ffs_fail(error, ENOMEM, "plan of %zu bytes", bytes);
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	result = parse_lines(plan, copy, error);
	free(copy);
	if (result)
		plan_free(plan);
	return result;
}

void plan_free(struct plan *plan)
{
	size_t i, k;

	for (i = 0; i < plan->n_steps; i++) {
		free(plan->steps[i].label);
		for (k = 0; k < PLAN_KEYS_MAX; k++)
			free(plan->steps[i].values[k].text);
	}
	free(plan->steps);
	memset(plan, 0, sizeof(*plan));
}

static const struct plan_value *find_value(const struct plan_step *step,
					   const char *name)
{
	const struct key_spec *key;

	for (key = step->verb->keys; key->name; key++)
		if (!strcmp(key->name, name))
			return &step->values[key - step->verb->keys];
	fprintf(stderr, "ffsagent: bug: '%s' has no key '%s'\n",
		step->verb->name, name);
	abort();
}

int64_t step_number(const struct plan_step *step, const char *key)
{
	return find_value(step, key)->number;
}

const char *step_text(const struct plan_step *step, const char *key)
{
	return find_value(step, key)->text;
}
