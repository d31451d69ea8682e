// SPDX-License-Identifier: GPL-2.0-only
/*
 * series.c - see series.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "core/files.h"
#include "core/random.h"
#include "series/acts.h"
#include "series/blocks.h"
#include "series/check.h"
#include "series/series.h"
#include "series/slots.h"
#include "text/numbers.h"
#include "walk/messages.h"
#include "walk/states.h"
#include "walk/use.h"

#define LOG_TEXT_MAX ((size_t)64 << 20)
#define RDONLY 1	/* of statfs(): ST_RDONLY */

struct runner {
	const struct series *series;
	struct device device;
	struct slots slots;
	struct acts acts;
	struct checker checker;
	struct use use;
	struct rng rng;
	int messages;
	bool attached, mounted;
	struct text out, raw;
	struct cut_made cut;
	char kind[KIND_BYTES];	/* of the last cut, "none" before the first */
	struct ffs_error *error;
};

/* --- lines ------------------------------------------------------------------ */

static int put_out(struct runner *runner)
{
	return text_write(&runner->out, runner->series->output, runner->error);
}

static void wrong(struct runner *runner, const char *outcome, const char *name,
		  int errnum)
{
	text_line(&runner->out, "wrong %llu %s %s %d",
		  (unsigned long long)runner->cut.cycle, outcome, name, errnum);
}

static bool says(const struct text *text, const char *words)
{
	return text->n && memmem(text->data, text->n, words, strlen(words));
}

static void put_block(struct runner *runner, const char *what,
		      const char *data, size_t bytes)
{
	text_line(&runner->out, "%s %llu", what,
		  (unsigned long long)runner->cut.cycle);
	text_add(&runner->out, data, bytes);
	text_string(&runner->out, "\nend\n");
}

static bool is_told(const struct runner *runner)
{
	return runner->cut.cycle >= runner->series->tell_from;
}

static bool is_grave(const struct text *raw)
{
	static const char *const grave[] = { "WARNING: CPU", "BUG:", "Oops",
					     "INFO: possible" };
	size_t i;

	for (i = 0; i < sizeof(grave) / sizeof(*grave); i++)
		if (says(raw, grave[i]))
			return true;
	return false;
}

/* @all: whatever it is. */
static int hear(struct runner *runner, bool all)
{
	struct text *raw = &runner->raw;
	int failed = messages_drain(runner->messages, raw);
	bool grave = is_grave(raw);

	if (failed)
		return ffs_fail(runner->error, failed, "cannot read /proc/kmsg");
	if (grave || all || is_told(runner))
		put_block(runner, "message", raw->data,
			  raw->n < MESSAGES_BYTES_MAX ? raw->n :
							MESSAGES_BYTES_MAX);
	if (grave)
		wrong(runner, "kernel-warning", "kernel", 0);
	text_clear(raw);
	return 0;
}

static int stuck(struct runner *runner, const char *step, int errnum)
{
	(void)hear(runner, true);
	text_line(&runner->out, "stuck %s %d", step, errnum);
	(void)put_out(runner);
	return ffs_fail(runner->error, errnum, "cut %llu: cannot %s",
			(unsigned long long)runner->cut.cycle, step);
}

static int command(struct runner *runner, const char *text)
{
	int failed = chip_command(&runner->device.chip, text);

	return failed ? stuck(runner, text, failed) : 0;
}

/* --- mounting ---------------------------------------------------------------- */

enum { TAG_UNMOUNT, TAG_DETACH };

static int leave(struct runner *runner)
{
	struct calls *calls = &runner->device.calls;
	const char *step;
	size_t done;
	int failed;

	if (runner->mounted)
		device_put_off_unmount(&runner->device, TAG_UNMOUNT);
	if (runner->attached)
		device_put_off_detach(&runner->device, TAG_DETACH);
	runner->mounted = false;
	runner->attached = false;
	failed = calls_run(calls, &done);
	step = failed && calls->tags[done] == TAG_UNMOUNT ? "unmount" : "detach";
	calls_clear(calls);
	return failed ? stuck(runner, step, failed) : 0;
}

static void put_recovery(struct runner *runner, const struct cost *attach,
			 const struct cost *mounted)
{
	text_line(&runner->out, "recovery %llu %s %llu %llu %llu",
		  (unsigned long long)runner->cut.cycle, runner->kind,
		  (unsigned long long)(attach->counts.reads +
				       mounted->counts.reads),
		  (unsigned long long)(attach->counts.programs +
				       mounted->counts.programs),
		  (unsigned long long)(attach->counts.erases +
				       mounted->counts.erases));
}

static bool is_read_only(const char *target)
{
	struct statfs space;

	return !statfs(target, &space) && (space.f_flags & RDONLY);
}

/* Return: 0 with ->mounted, whether it could be or not; -1 if nothing goes on. */
static int enter(struct runner *runner)
{
	struct device *device = &runner->device;
	struct cost attach, mounted;
	uint32_t tag;
	int failed;

	failed = device_mount(device, &attach, &mounted, &tag);
	if (failed)
		return stuck(runner, "read counters", failed);
	runner->attached = device->ubi_ctrl >= 0 && !attach.errnum;
	runner->mounted = !attach.errnum && !mounted.errnum;
	if (!runner->mounted) {
		wrong(runner, "mount-fails", attach.errnum ? "attach" : "mount",
		      attach.errnum ? attach.errnum : mounted.errnum);
		return hear(runner, true) || leave(runner) ? -1 : 0;
	}
	put_recovery(runner, &attach, &mounted);
	if (!is_read_only(device->fs.target))
		return 0;
	wrong(runner, "read-only", "mount", 0);
	return leave(runner);
}

/* A mount that fails leaves the cut behind it undone: "lost". */
static int enter_or_undo(struct runner *runner)
{
	if (command(runner, "push") || enter(runner))
		return -1;
	if (runner->mounted)
		return 0;
	runner->cut.torn = false;
	runner->cut.reordered = false;
	if (command(runner, "pop") || command(runner, "back") ||
	    command(runner, "cycle") || command(runner, "push") ||
	    enter(runner))
		return -1;
	return runner->mounted ? 0 : stuck(runner, "mount without the cut", 0);
}

/* --- the cut -------------------------------------------------------------------- */

/* In how many ways the kind applies; UINT64_MAX: its variants are seeds. */
static uint64_t variants(const char *state, const char *kind)
{
	char key[KIND_BYTES + sizeof("variants ")];
	uint64_t n = 0;

	snprintf(key, sizeof(key), "variants %s", kind);
	if (line_number(state, key, &n))
		return n;
	snprintf(key, sizeof(key), "variants %s any", kind);
	return strstr(state, key) ? UINT64_MAX : 0;
}

static bool is_spared(const struct series *series, uint64_t cycle)
{
	size_t i;

	for (i = 0; i < series->spared_n; i++)
		if (series->spared[i] == cycle)
			return true;
	return false;
}

/* One of the kinds that apply, and one of its variants. */
static void draw_kind(struct runner *runner, const char *state,
		      uint64_t *variant)
{
	const struct series *series = runner->series;
	const char *fits[SERIES_KINDS_MAX];
	uint64_t ways[SERIES_KINDS_MAX];
	uint64_t drawn = rng_next(&runner->rng);
	size_t n = 0, i;

	for (i = 0; i < series->kinds_n; i++) {
		ways[n] = variants(state, series->kinds[i]);
		fits[n] = series->kinds[i];
		n += ways[n] > 0;
	}
	*variant = 0;
	strcpy(runner->kind, "lost");
	if (!n || is_spared(series, runner->cut.cycle))
		return;
	i = (size_t)(drawn % n);
	snprintf(runner->kind, sizeof(runner->kind), "%s", fits[i]);
	*variant = ways[i] == UINT64_MAX ? drawn >> 32 : (drawn >> 32) % ways[i];
}

/* Go to the operation @at of the log, and read what can be made of it. */
static int stand_at(struct runner *runner, uint64_t at, char *state)
{
	char text[CHIP_COMMAND_BYTES];
	ssize_t n;

	snprintf(text, sizeof(text), "at %llu", (unsigned long long)at);
	if (command(runner, text))
		return -1;
	n = pread(runner->device.chip.crash, state, CHIP_TEXT_BYTES - 1, 0);
	if (n < 0)
		return stuck(runner, "read the chip's state", errno);
	state[n] = '\0';
	return 0;
}

/* What was called, and what that did to the flash. */
static int tell(struct runner *runner)
{
	char path[CHIP_PATH_BYTES];
	size_t bytes;
	char *log;

	chip_path(path, runner->series->chip, "log");
	log = file_read(path, LOG_TEXT_MAX, &bytes, runner->error);
	if (!log)
		return stuck(runner, "read the chip's log", runner->error->errnum);
	slots_tell(&runner->slots, &runner->out);
	put_block(runner, "log", log, bytes);
	free(log);
	return 0;
}

static bool is_reordered(const struct runner *runner)
{
	const struct series *series = runner->series;
	size_t i;

	for (i = 0; i < series->reordered_n; i++)
		if (!strcmp(series->reordered[i], runner->kind))
			return true;
	return false;
}

/* Cut the power in what has been logged, once and for all. */
static int cut_power(struct runner *runner)
{
	char state[CHIP_TEXT_BYTES], text[CHIP_COMMAND_BYTES];
	struct chip_state logged;
	uint64_t at, variant;

	if (command(runner, "stop") ||
	    chip_read(&runner->device.chip, &logged, runner->error) ||
	    (is_told(runner) && tell(runner)))
		return -1;
	runner->cut.cycle++;
	at = logged.operations ? rng_below(&runner->rng, logged.operations) : 0;
	if (stand_at(runner, at, state))
		return -1;
	draw_kind(runner, state, &variant);
	snprintf(text, sizeof(text), "cut %s %llu", runner->kind,
		 (unsigned long long)variant);
	if ((logged.operations && command(runner, text)) ||
	    command(runner, "keep") || command(runner, "cycle"))
		return -1;
	runner->cut.operations = at + !strcmp(runner->kind, "done");
	runner->cut.torn = !strncmp(runner->kind, "torn", strlen("torn"));
	runner->cut.reordered = is_reordered(runner);
	text_line(&runner->out, "cut %llu %llu %s %llu %llu",
		  (unsigned long long)runner->cut.cycle,
		  (unsigned long long)at, runner->kind,
		  (unsigned long long)variant,
		  (unsigned long long)logged.operations);
	return put_out(runner);
}

/* --- what is left of the space ---------------------------------------------------- */

/* Delete all, fill, delete. Return: 0 with @bytes, or what failed was told. */
static int fill(struct runner *runner, int root, uint64_t *bytes)
{
	int failed = slots_remove(&runner->slots, root);
	const char *step = "delete";

	if (!failed)
		step = use_room(&runner->use, root, bytes, &failed);
	if (step)
		wrong(runner, "use-fails", step, failed);
	return step ? -1 : 0;
}

static int put_space(struct runner *runner, int root)
{
	static struct blocks blocks;
	struct statfs space;
	uint64_t bytes = 0, bad = 0, erases = 0, erases_max = 0;
	int failed;
	size_t i;

	if (fill(runner, root, &bytes))
		return 0;
	if (fstatfs(root, &space))
		return stuck(runner, "statfs", errno);
	failed = blocks_read(runner->series->chip, &blocks);
	if (failed)
		return stuck(runner, "open the chip's blocks", failed);
	for (i = 0; i < blocks.n; i++) {
		bad += blocks.block[i].bad;
		erases += blocks.block[i].erases;
		if (blocks.block[i].erases > erases_max)
			erases_max = blocks.block[i].erases;
	}
	text_line(&runner->out, "space %llu %llu %llu %llu %llu %llu %llu",
		  (unsigned long long)runner->cut.cycle,
		  (unsigned long long)bytes, (unsigned long long)space.f_blocks,
		  (unsigned long long)space.f_bfree,
		  (unsigned long long)bad, (unsigned long long)erases,
		  (unsigned long long)erases_max);
	return 0;
}

/* Without a cut: all is deleted, filled, deleted, and begins anew. */
static int measure_space(struct runner *runner, int root)
{
	int result = put_space(runner, root);
	int failed;

	close(root);
	if (result || leave(runner))
		return -1;
	if (command(runner, "stop") || command(runner, "keep"))
		return -1;
	strcpy(runner->kind, "none");
	runner->cut.torn = false;
	runner->cut.reordered = false;
	failed = put_out(runner) || command(runner, "push") || enter(runner);
	if (failed)
		return -1;
	if (!runner->mounted)
		return stuck(runner, "mount after use", 0);
	slots_clear(&runner->slots);
	return 0;
}

/* --- a cycle ---------------------------------------------------------------------- */

static int open_root(struct runner *runner)
{
	int root = open(runner->device.fs.target,
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		stuck(runner, "open the root", errno);
	return root;
}

static bool is_measured(const struct runner *runner)
{
	uint64_t every = runner->series->space_every;

	return every && runner->cut.cycle % every == 0;
}

static void put_turned(struct runner *runner)
{
	text_line(&runner->out, "turned %llu %llu %llu %llu",
		  (unsigned long long)runner->cut.cycle,
		  (unsigned long long)runner->acts.turned.erased,
		  (unsigned long long)runner->acts.turned.blocks,
		  (unsigned long long)runner->acts.turned.bytes);
}

/* It is mounted: some calls. */
static int change(struct runner *runner)
{
	struct failure failure;
	int root = open_root(runner);
	int result;

	if (root < 0)
		return -1;
	result = slots_change(&runner->slots, root, &runner->rng,
			      &runner->device.chip, &failure, runner->error);
	close(root);
	if (!result && *failure.name)
		wrong(runner, "use-fails", failure.name, failure.errnum);
	if (runner->acts.turned.bytes)
		put_turned(runner);
	return result;
}

/* Mount, look, perhaps measure, change, unmount, and cut the power in that. */
static int cycle(struct runner *runner, bool last)
{
	int root;

	if (enter_or_undo(runner))
		return -1;
	root = open_root(runner);
	if (root < 0)
		return -1;
	slots_check(&runner->slots, &runner->checker, root, &runner->cut,
		    &runner->out);
	if (is_measured(runner)) {
		if (measure_space(runner, root))
			return -1;
	} else {
		close(root);
	}
	if (last)
		return leave(runner) || hear(runner, false) ||
		       command(runner, "stop") ? -1 : 0;
	rng_seed(&runner->rng,
		 runner->series->seed * UINT64_C(0x9e3779b97f4a7c15) +
			 runner->cut.cycle);
	return change(runner) || leave(runner) || hear(runner, false) ||
	       cut_power(runner) ? -1 : 0;
}

/* --- the series ------------------------------------------------------------------- */

static int reserve(struct runner *runner)
{
	struct ffs_error *error = runner->error;

	if (slots_reserve(&runner->slots, error) ||
	    use_reserve(&runner->use, error))
		return -1;
	runner->messages = messages_open(error);
	if (runner->messages < 0)
		return -1;
	if (messages_drain(runner->messages, &runner->raw))
		return ffs_fail(error, EIO, "cannot read /proc/kmsg");
	text_clear(&runner->raw);
	return 0;
}

static void release(struct runner *runner)
{
	slots_free(&runner->slots);
	use_free(&runner->use);
	if (runner->messages >= 0)
		close(runner->messages);
	text_free(&runner->out);
	text_free(&runner->raw);
}

static int all_cuts(struct runner *runner)
{
	uint64_t i;

	runner->cut.cycle = runner->series->first;
	for (i = runner->series->first; i <= runner->series->cuts; i++)
		if (cycle(runner, i == runner->series->cuts))
			return -1;
	text_line(&runner->out, "ended %llu",
		  (unsigned long long)runner->series->cuts);
	return put_out(runner);
}

static void set_acts(struct runner *runner)
{
	const struct series *series = runner->series;
	struct acts *acts = &runner->acts;

	*acts = series->acts;
	if (!acts->moving && !acts->drop_caches && !acts->turn_over)
		return;
	acts->chip_name = series->chip;
	acts->moves.two_names = series->two_names;
	acts->moves.returned_is_durable = series->returned_is_durable;
	runner->slots.acts = acts;
	slots_clear(&runner->slots);
}

int series_run(const struct series *series, struct ffs_error *error)
{
	struct runner *runner = calloc(1, sizeof(*runner));
	int result = -1;

	if (!runner)
		return ffs_fail(error, ENOMEM, "no memory for a series");
	runner->series = series;
	runner->error = error;
	runner->messages = -1;
	strcpy(runner->kind, "none");
	if (!device_open(&runner->device, &series->fs, series->chip, error)) {
		if (!reserve(runner)) {
			set_acts(runner);
			runner->slots.returned_is_durable =
				series->returned_is_durable;
			runner->checker.own_name = series->own_name;
			runner->checker.two_names = series->two_names;
			messages_show(1);
			result = all_cuts(runner);
			messages_show(MESSAGES_SHOW_ALL);
		}
		release(runner);
		device_close(&runner->device);
	}
	free(runner);
	return result;
}
