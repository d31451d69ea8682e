// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the command line of fsfuzz, which damages a file system on flash and then
 * mounts and uses it, over and over.
 *
 *	fsfuzz run      in a guest: one boot's part of a fuzz run (run.c)
 *	fsfuzz mutate   anywhere: a mutated image from an image file
 *	fsfuzz check    anywhere: what an image file holds
 *
 * An image file holds the pages of the partition, each followed by its OOB.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "run.h"

static const char help_text[] =
	"usage: fsfuzz run --chip=chip=name=N;... [options]\n"
	"       fsfuzz mutate --image=FILE [--output=FILE] [options]\n"
	"       fsfuzz check --image=FILE [options]\n"
	"\n"
	"--seed=S --first=N --count=K  mutations N to N+K-1 of seed S (1, 0, 1)\n"
	"--base=NAME     plain, scan, inband, churned, full, many, live, deep, compressed (plain)\n"
	"--tags-at=N     offset of the tags in the OOB (2)\n"
	"--type=T        of the mount: the format (yaffs2)\n"
	"run:\n"
	"--chip=TEXT     parameter of vnand, with its name first; one partition\n"
	"--source=S --mtd=N   of the mount, and name of the MTD device\n"
	"--module=FILE --name=NAME     module of the file system, and its name\n"
	"--vnand=FILE    module of the chip (/lab/vnand.ko)\n"
	"--options=LIST  mount options to choose from, separated by commas\n"
	"--always=LIST   mount options of every mount\n"
	"--faults=TEXT   more of vnand's parameter, once the base image is made\n"
	"--operations=N  operations on each mounted image (30)\n"
	"--leaks         look for leaks after each mutation, not only at the end\n"
	"mutate, check:\n"
	"--page-bytes=N --oob-bytes=N --pages-per-block=N  geometry (1024, 64, 16)\n"
	"--inband        tags are at the end of the page\n";

struct arguments {
	struct run_options run;
	struct geometry g;
	const char *image, *output;
};

enum {
	OPT_SEED = 1, OPT_FIRST, OPT_COUNT, OPT_BASE, OPT_TAGS_AT, OPT_CHIP,
	OPT_TYPE, OPT_SOURCE, OPT_MTD, OPT_MODULE, OPT_NAME, OPT_VNAND,
	OPT_OPTIONS, OPT_ALWAYS, OPT_OPERATIONS, OPT_LEAKS, OPT_PAGE, OPT_OOB,
	OPT_PAGES, OPT_INBAND, OPT_IMAGE, OPT_OUTPUT, OPT_FAULTS,
};

static const struct option long_options[] = {
	{ "seed", 1, NULL, OPT_SEED },
	{ "first", 1, NULL, OPT_FIRST },
	{ "count", 1, NULL, OPT_COUNT },
	{ "base", 1, NULL, OPT_BASE },
	{ "tags-at", 1, NULL, OPT_TAGS_AT },
	{ "chip", 1, NULL, OPT_CHIP },
	{ "type", 1, NULL, OPT_TYPE },
	{ "source", 1, NULL, OPT_SOURCE },
	{ "mtd", 1, NULL, OPT_MTD },
	{ "module", 1, NULL, OPT_MODULE },
	{ "name", 1, NULL, OPT_NAME },
	{ "vnand", 1, NULL, OPT_VNAND },
	{ "options", 1, NULL, OPT_OPTIONS },
	{ "always", 1, NULL, OPT_ALWAYS },
	{ "faults", 1, NULL, OPT_FAULTS },
	{ "operations", 1, NULL, OPT_OPERATIONS },
	{ "leaks", 0, NULL, OPT_LEAKS },
	{ "page-bytes", 1, NULL, OPT_PAGE },
	{ "oob-bytes", 1, NULL, OPT_OOB },
	{ "pages-per-block", 1, NULL, OPT_PAGES },
	{ "inband", 0, NULL, OPT_INBAND },
	{ "image", 1, NULL, OPT_IMAGE },
	{ "output", 1, NULL, OPT_OUTPUT },
	{ 0 },
};

static void take_number(struct arguments *a, int option, const char *text)
{
	uint64_t n = strtoull(text ? text : "1", NULL, 0);

	switch (option) {
	case OPT_SEED:
		a->run.seed = n;
		break;
	case OPT_FIRST:
		a->run.first = n;
		break;
	case OPT_COUNT:
		a->run.count = n;
		break;
	case OPT_OPERATIONS:
		a->run.operations = (unsigned int)n;
		break;
	case OPT_LEAKS:
		a->run.leaks = true;
		break;
	case OPT_TAGS_AT:
		a->run.tags_at = a->g.tags_at = (u32)n;
		break;
	case OPT_PAGE:
		a->g.page_bytes = (u32)n;
		break;
	case OPT_OOB:
		a->g.oob_bytes = (u32)n;
		break;
	case OPT_PAGES:
		a->g.pages_per_block = (u32)n;
		break;
	case OPT_INBAND:
		a->g.inband = true;
		break;
	}
}

/* Returns where the text of that option goes, or NULL if it is a number. */
static const char **text_place(struct arguments *a, int option)
{
	switch (option) {
	case OPT_BASE:
		return &a->run.base;
	case OPT_CHIP:
		return &a->run.chip;
	case OPT_TYPE:
		return &a->run.type;
	case OPT_SOURCE:
		return &a->run.source;
	case OPT_MTD:
		return &a->run.mtd;
	case OPT_MODULE:
		return &a->run.module;
	case OPT_NAME:
		return &a->run.name;
	case OPT_VNAND:
		return &a->run.vnand;
	case OPT_OPTIONS:
		return &a->run.options;
	case OPT_ALWAYS:
		return &a->run.always;
	case OPT_FAULTS:
		return &a->run.faults;
	case OPT_IMAGE:
		return &a->image;
	case OPT_OUTPUT:
		return &a->output;
	default:
		return NULL;
	}
}

static struct image load_image(struct arguments *a)
{
	size_t page_bytes = a->g.page_bytes + a->g.oob_bytes;
	FILE *file = fopen(a->image, "rb");
	struct image image;
	u32 page;

	if (!file || fseek(file, 0, SEEK_END)) {
		fprintf(stderr, "fsfuzz: %s: %s\n", a->image, strerror(errno));
		exit(3);
	}
	a->g.blocks = (u32)((size_t)ftell(file) /
			    (page_bytes * a->g.pages_per_block));
	rewind(file);
	image = image_new(&a->g);
	if (!a->g.blocks || image_pages(&image) > MAX_PAGES) {
		fprintf(stderr, "fsfuzz: %s is not of a size for this\n",
			a->image);
		exit(3);
	}
	for (page = 0; page < image_pages(&image); page++)
		if (fread(image_data(&image, page), a->g.page_bytes, 1, file) +
		    fread(image_oob(&image, page), a->g.oob_bytes, 1, file) != 2)
			exit(3);
	fclose(file);
	return image;
}

static void store_image(const struct image *image, const char *path)
{
	FILE *file = fopen(path, "wb");
	bool good = file;
	u32 page;

	for (page = 0; good && page < image_pages(image); page++)
		good = fwrite(image_data(image, page), image->g.page_bytes, 1,
			      file) == 1 &&
		       fwrite(image_oob(image, page), image->g.oob_bytes, 1,
			      file) == 1;
	if (!file || fclose(file) || !good) {
		fprintf(stderr, "fsfuzz: %s: %s\n", path, strerror(errno));
		exit(3);
	}
}

/* Mutates the image as often as it is told; writes the last one. */
static int mutate_file(struct arguments *a)
{
	struct image base = load_image(a), image = image_new(&a->g);
	struct survey *s = survey_new();
	struct mutator m;
	u64 n;

	for (n = a->run.first; n < a->run.first + a->run.count; n++) {
		image_copy(&image, &base);
		mutate(&m, &image, s, a->run.seed, n);
		printf("%llu %s\n", (unsigned long long)n, m.text);
	}
	if (a->output)
		store_image(&image, a->output);
	image_free(&image);
	image_free(&base);
	free(s);
	return 0;
}

static int check_file(struct arguments *a)
{
	struct image image = load_image(a);
	u32 wrong = a->g.format->check(&image, stdout);

	image_free(&image);
	return wrong ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct arguments a = {
		.run = {
			.seed = 1, .count = 1, .base = "plain", .tags_at = 2,
			.type = "yaffs2", .source = "mtd:data", .mtd = "data",
			.vnand = "/lab/vnand.ko", .options = "", .always = "",
			.faults = "", .operations = 30,
		},
		.g = {
			.page_bytes = 1024, .oob_bytes = 64,
			.pages_per_block = 16, .tags_at = 2,
		},
	};
	const char *verb = argc > 1 ? argv[1] : "";
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) > 0) {
		const char **text = text_place(&a, option);

		if (text)
			*text = optarg;
		else
			take_number(&a, option, optarg);
	}
	a.g.format = format_of(a.run.type);
	if (option == -1 && !strcmp(verb, "run") && a.run.chip)
		return run(&a.run);
	if (option == -1 && !strcmp(verb, "mutate") && a.image)
		return mutate_file(&a);
	if (option == -1 && !strcmp(verb, "check") && a.image)
		return check_file(&a);
	fputs(help_text, stderr);
	return 2;
}
