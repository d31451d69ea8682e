// SPDX-License-Identifier: GPL-2.0-only
/*
 * run.c - see run.h.
 *
 * The line that announces a mutation is written before it is tried, so that the
 * last one in a log that ends with a crash is the guilty one. Everything about a
 * mutation follows from base, seed and number: it can be replayed alone.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "flash.h"
#include "format.h"
#include "guest.h"
#include "history.h"
#include "mutate.h"
#include "run.h"
#include "use.h"

#define TARGET		"/fuzzed"
#define MAX_OPTIONS	16
#define OPTION_BYTES	256
#define MAX_ERRNO	200

struct fuzz {
	const struct run_options *o;
	const struct format *format;
	struct flash flash;
	struct image base, image;
	struct survey *survey;
	struct mutator mutator;
	struct use use;
	char *words;			/* what @option points into */
	char *option[MAX_OPTIONS];	/* accepted by this file system */
	unsigned int options;
	bool inband;
	unsigned long mounts, mounted, by_checkpoint, violations, excused;
	unsigned long mount_errno[MAX_ERRNO];
	struct tally tally;
};

/* ---- mounting ---- */

static void add_option(char *list, const char *word)
{
	size_t n = strlen(list);

	if (*word && n + strlen(word) + 2 < OPTION_BYTES)
		sprintf(list + n, "%s%s", n ? "," : "", word);
}

/* Returns 0 or an errno. */
static int mount_with(struct fuzz *f, const char *options, unsigned long flags)
{
	flags |= MS_NODEV | MS_NOSUID;
	return mount(f->o->source, TARGET, f->o->type, flags, options) ?
	       errno : 0;
}

static bool is_mounted(void)
{
	struct stat inside, outside;

	return !stat(TARGET, &inside) && !stat("/", &outside) &&
	       inside.st_dev != outside.st_dev;
}

static void unmount(void)
{
	if (umount2(TARGET, 0)) {
		finding("cannot unmount: %s", strerror(errno));
		umount2(TARGET, MNT_DETACH);
	}
	if (is_mounted())
		finding("it is still mounted after umount");
}

static void base_options(struct fuzz *f, char options[OPTION_BYTES])
{
	options[0] = '\0';
	add_option(options, f->o->always);
	if (f->inband)
		add_option(options, "inband-tags");
}

/* Draws options, each with a chance of its own, and says which. */
static unsigned long draw_options(struct fuzz *f, struct rng *r,
				  char options[OPTION_BYTES])
{
	unsigned int i;

	base_options(f, options);
	for (i = 0; i < f->options; i++)
		if (rng_chance(r, i ? 15 : 40))
			add_option(options, f->option[i]);
	return rng_chance(r, 12) ? MS_RDONLY : 0;
}

/* Whether a checkpoint was believed, if this file system tells it. */
static void note_checkpoint(struct fuzz *f)
{
	char path[64], *text;

	snprintf(path, sizeof(path), "%s/mtd%d", f->format->statistics,
		 f->flash.number);
	text = file_text(path);
	if (text && strstr(text, "mounted_by_checkpoint 1"))
		f->by_checkpoint++;
	free(text);
}

static bool try_mount(struct fuzz *f, struct rng *r)
{
	char options[OPTION_BYTES];
	unsigned long flags = draw_options(f, r, options);
	int error;

	f->mounts++;
	say("mount %s%s", flags & MS_RDONLY ? "ro," : "", options);
	error = mount_with(f, options, flags);
	f->mount_errno[error < MAX_ERRNO ? error : 0]++;
	f->mounted += !error;
	if (!error)
		note_checkpoint(f);
	return !error;
}

/* ---- the base image ---- */

/* Finds which of the options this file system has. */
static void try_options(struct fuzz *f)
{
	char *word, *rest = f->words = strdup(f->o->options);

	while (rest && (word = strsep(&rest, ",")) && f->options < MAX_OPTIONS) {
		char options[OPTION_BYTES];
		int error;

		if (!*word)
			continue;
		base_options(f, options);
		add_option(options, word);
		error = mount_with(f, options, 0);
		if (error) {
			say("option %s is refused: %s", word, strerror(error));
			continue;
		}
		unmount();
		f->option[f->options++] = word;
	}
}

static void mount_base(struct fuzz *f, const char *more)
{
	char options[OPTION_BYTES];
	int error;

	base_options(f, options);
	add_option(options, more);
	error = mount_with(f, options, 0);
	if (error)
		die("cannot mount an empty chip (%s %s, options '%s'): %s",
		    f->o->type, f->o->source, options, strerror(error));
}

static void report_base(struct fuzz *f)
{
	char *text = NULL, *line, *rest;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	u32 wrong;

	if (!out)
		die("no memory for a report");
	wrong = f->format->check(&f->base, out);
	fclose(out);
	rest = text;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			say("base image: %s", line);
	free(text);
	if (wrong && !strcmp(f->o->type, f->format->type))
		finding("the base image breaks the format in %u places", wrong);
}

/* A mount option that makes the base image another one. */
static const char *base_option(const char *base)
{
	if (!strcmp(base, "scan"))
		return "no-checkpoint";
	return strcmp(base, "compressed") ? "" : "compress";
}

static void make_base(struct fuzz *f)
{
	const char *base = f->o->base;
	bool live = !strcmp(base, "live");

	mount_base(f, base_option(base));
	history_objects(TARGET);
	if (!strcmp(base, "deep"))
		history_deep(TARGET);
	if (!strcmp(base, "churned"))
		history_churn(TARGET, 3);
	if (!strcmp(base, "many"))
		history_many(TARGET, 180);
	if (!strcmp(base, "full"))
		history_fill(TARGET, 3);
	if (live) {
		history_churn(TARGET, 1);
		history_orphans(TARGET);
		flash_read(&f->flash, &f->base);
		history_close();
	}
	unmount();
	if (!live)
		flash_read(&f->flash, &f->base);
	report_base(f);
}

/* The base image, not mutated, must mount and be good to walk. */
static void check_base(struct fuzz *f)
{
	struct tally before = f->tally;
	char options[OPTION_BYTES];
	int error;

	flash_write(&f->flash, &f->base);
	base_options(f, options);
	error = mount_with(f, options, 0);
	if (error) {
		finding("the base image cannot be mounted: %s", strerror(error));
		return;
	}
	f->use.rng = rng_for(0, 0, 0);
	use_walk(&f->use);
	say("base image: %u objects, %lu calls well, %lu not", f->use.paths,
	    f->tally.good - before.good, f->tally.failed - before.failed);
	unmount();
	flash_inspect(&f->flash);
}

/* ---- the loop ---- */

/* When the image says of pages that they are erased which are not, they are written twice. */
static void judge_violations(struct fuzz *f)
{
	unsigned int n = flash_inspect(&f->flash);

	if (!n)
		return;
	survey_take(f->survey, &f->image);
	if (f->format->misleads(&f->image, f->survey)) {
		say("%u rule violations of one that was misled", n);
		f->excused += n;
	} else {
		finding("%u rule violations", n);
		f->violations += n;
	}
}

static void one_mutation(struct fuzz *f, uint64_t number)
{
	struct rng r = rng_for(f->o->seed, number, 1);

	image_copy(&f->image, &f->base);
	mutate(&f->mutator, &f->image, f->survey, f->o->seed, number);
	if (*f->o->faults)
		flash_faulty(&f->flash, f->o->faults, number);
	say("#%llu %s", (unsigned long long)number, f->mutator.text);
	flash_write(&f->flash, &f->image);
	f->use.rng = rng_for(f->o->seed, number, 2);
	if (try_mount(f, &r)) {
		use_walk(&f->use);
		use_operate(&f->use, rng_below(&r, 2 * f->o->operations));
		unmount();
		if (try_mount(f, &r)) {
			use_walk(&f->use);
			unmount();
		}
	}
	judge_violations(f);
	if (f->o->leaks)
		leaks_check();
}

static void report_end(const struct fuzz *f)
{
	unsigned int i;

	for (i = 1; i < MAX_ERRNO; i++)
		if (f->mount_errno[i])
			say("mount failed %lu times: %s", f->mount_errno[i],
			    strerror((int)i));
	say("done: mutations %llu mounts %lu mounted %lu by_checkpoint %lu "
	    "calls_good %lu calls_failed %lu violations %lu excused %lu findings %u",
	    (unsigned long long)f->o->count, f->mounts, f->mounted,
	    f->by_checkpoint, f->tally.good, f->tally.failed, f->violations,
	    f->excused, findings());
}

static void prepare(struct fuzz *f)
{
	guest_prepare();
	mkdir(TARGET, 0755);
	f->inband = !strcmp(f->o->base, "inband");
	if (f->o->module)
		module_load(f->o->module, "");
	flash_load(&f->flash, f->o->vnand, f->o->chip, f->o->mtd);
	f->flash.g.inband = f->inband;
	f->flash.g.tags_at = f->o->tags_at;
	f->format = f->flash.g.format = format_of(f->o->type);
	f->base = image_new(&f->flash.g);
	f->image = image_new(&f->flash.g);
	if (image_pages(&f->base) > MAX_PAGES || f->flash.g.page_bytes > 16384 ||
	    f->flash.g.oob_bytes > 2048)
		die("the chip is too large for this program");
	f->survey = survey_new();
	f->use.root = TARGET;
	f->use.statistics = f->format->statistics;
	f->use.remount = f->format->remount;
	f->use.tally = &f->tally;
}

int run(const struct run_options *options)
{
	static struct fuzz f;
	uint64_t n;

	f.o = options;
	prepare(&f);
	make_base(&f);
	try_options(&f);
	check_base(&f);
	for (n = 0; n < options->count; n++)
		one_mutation(&f, options->first + n);
	say("#end of the mutations");
	if (!*options->faults)
		check_base(&f);
	flash_unload(&f.flash);
	/* Before, for the names in the backtraces; after, for what the module held. */
	leaks_check();
	if (options->name) {
		module_unload(options->name);
		leaks_check();
	}
	report_end(&f);
	return findings() ? 1 : 0;
}
