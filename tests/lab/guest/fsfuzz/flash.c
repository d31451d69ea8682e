// SPDX-License-Identifier: GPL-2.0-only
/*
 * flash.c - see flash.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <mtd/mtd-user.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "flash.h"
#include "guest.h"

/* Of a block: whether its contents are known, and its counters at that time. */
struct block_state {
	bool known;
	bool bad;
	unsigned int erases, programs;
};

static int mtd_number(const char *name)
{
	char *text = file_text("/proc/mtd"), *rest = text, *line;
	char quoted[64];
	int number = -1, n;

	snprintf(quoted, sizeof(quoted), "\"%s\"", name);
	while ((line = strsep(&rest, "\n")))
		if (strstr(line, quoted) && sscanf(line, "mtd%d:", &n) == 1)
			number = n;
	free(text);
	return number;
}

static void open_device(struct flash *f, u64 seed)
{
	struct mtd_info_user info;
	char path[32], chip[1024];

	snprintf(chip, sizeof(chip), "%s%s%s;seed=%llu", f->chip,
		 *f->faults ? ";" : "", f->faults, (unsigned long long)seed);
	module_load(f->module, chip);
	f->number = mtd_number(f->mtd);
	snprintf(path, sizeof(path), "/dev/mtd%d", f->number);
	f->fd = open(path, O_RDWR | O_CLOEXEC);
	if (f->fd < 0 || ioctl(f->fd, MEMGETINFO, &info))
		die("cannot open %s (MTD device %s): %s", path, f->mtd,
		    strerror(errno));
	f->g.page_bytes = info.writesize;
	f->g.oob_bytes = info.oobsize;
	f->g.pages_per_block = info.erasesize / info.writesize;
	f->g.blocks = info.size / info.erasesize;
}

void flash_load(struct flash *f, const char *module, const char *chip,
		const char *mtd)
{
	f->module = module;
	f->chip = chip;
	f->mtd = mtd;
	f->faults = "";
	if (sscanf(chip, "chip=name=%31[^;]", f->name) != 1)
		die("--chip must begin with chip=name=NAME");
	open_device(f, 1);
	f->now = image_new(&f->g);
	f->block = calloc(f->g.blocks, sizeof(*f->block));
	if (!f->block)
		die("no memory for the blocks");
}

void flash_unload(struct flash *f)
{
	close(f->fd);
	module_unload("vnand");
}

/* A new chip, erased, without bad blocks, with all counters at zero. */
static void replace_chip(struct flash *f, u64 seed)
{
	flash_unload(f);
	open_device(f, seed);
	memset(f->block, 0, f->g.blocks * sizeof(*f->block));
}

void flash_faulty(struct flash *f, const char *faults, u64 seed)
{
	f->faults = faults;
	replace_chip(f, seed);
}

static void read_block(struct flash *f, struct image *image, u32 block)
{
	u32 page = block * f->g.pages_per_block;
	struct mtd_read_req request = {
		.start = (u64)page * f->g.page_bytes,
		.len = (u64)f->g.pages_per_block * f->g.page_bytes,
		.ooblen = (u64)f->g.pages_per_block * f->g.oob_bytes,
		.usr_data = (uintptr_t)image_data(image, page),
		.usr_oob = (uintptr_t)image_oob(image, page),
		.mode = MTD_OPS_PLACE_OOB,
	};

	if (ioctl(f->fd, MEMREAD, &request))
		die("cannot read block %u: %s", block, strerror(errno));
}

void flash_read(struct flash *f, struct image *image)
{
	u32 block;

	/* Not at once: data and OOB of a longer request would get out of step. */
	for (block = 0; block < f->g.blocks; block++)
		read_block(f, image, block);
}

/* Reads the counters: into the blocks, or compares them with these. */
static void take_counters(struct flash *f, bool compare)
{
	char path[64], *text, *rest, *line;
	u32 block = 0;

	snprintf(path, sizeof(path), "/proc/vnand/%s/blocks", f->name);
	text = file_text(path);
	rest = text;
	while (block < f->g.blocks && (line = strsep(&rest, "\n"))) {
		struct block_state *b = &f->block[block++], now = *b;
		unsigned int reads, flags;

		if (sscanf(line, "%u %u %u %u", &now.erases, &now.programs,
			   &reads, &flags) != 4)
			die("cannot understand %s", path);
		now.bad = flags;
		if (compare && (now.erases != b->erases ||
				now.programs != b->programs))
			now.known = false;
		*b = now;
	}
	if (block < f->g.blocks)
		die("%s is too short", path);
	free(text);
}

static bool block_differs(const struct flash *f, const struct image *image,
			  u32 block)
{
	u32 first = block * f->g.pages_per_block;
	size_t pages = f->g.pages_per_block;

	return !f->block[block].known ||
	       memcmp(image_data(&f->now, first), image_data(image, first),
		      pages * f->g.page_bytes) ||
	       memcmp(image_oob(&f->now, first), image_oob(image, first),
		      pages * f->g.oob_bytes);
}

static void write_pages(struct flash *f, const struct image *image, u32 first,
			u32 n)
{
	struct mtd_write_req request = {
		.start = (u64)first * f->g.page_bytes,
		.len = (u64)n * f->g.page_bytes,
		.ooblen = (u64)n * f->g.oob_bytes,
		.usr_data = (uintptr_t)image_data(image, first),
		.usr_oob = (uintptr_t)image_oob(image, first),
		.mode = MTD_OPS_PLACE_OOB,
	};

	if (ioctl(f->fd, MEMWRITE, &request) && !*f->faults)
		die("cannot write %u pages from %u: %s", n, first,
		    strerror(errno));
}

static void write_block(struct flash *f, const struct image *image, u32 block)
{
	struct erase_info_user64 range = {
		.start = (u64)block * f->g.pages_per_block * f->g.page_bytes,
		.length = (u64)f->g.pages_per_block * f->g.page_bytes,
	};
	u32 first = block * f->g.pages_per_block;
	u32 end = first + f->g.pages_per_block, page, run = first;

	if (ioctl(f->fd, MEMERASE64, &range) && !*f->faults)
		die("cannot erase block %u: %s", block, strerror(errno));
	for (page = first; page < end; page++) {
		if (!image_page_erased(image, page))
			continue;
		if (page > run)
			write_pages(f, image, run, page - run);
		run = page + 1;
	}
	if (end > run)
		write_pages(f, image, run, end - run);
	f->block[block].known = true;
}

void flash_write(struct flash *f, const struct image *image)
{
	u32 block;

	for (block = 0; block < f->g.blocks; block++)
		if (block_differs(f, image, block))
			write_block(f, image, block);
	image_copy(&f->now, image);
	take_counters(f, false);
}

static unsigned int count_violations(const struct flash *f)
{
	char path[64], *text, *rest, *line;
	unsigned int total = 0, n;

	snprintf(path, sizeof(path), "/proc/vnand/%s/counters", f->name);
	text = file_text(path);
	rest = text;
	while ((line = strsep(&rest, "\n"))) {
		if (sscanf(line, "violation_%*s %u", &n) != 1 || !n)
			continue;
		say("chip: %s", line);
		total += n;
	}
	free(text);
	return total;
}

unsigned int flash_inspect(struct flash *f)
{
	unsigned int violations = count_violations(f), bad = 0;
	u32 block;

	take_counters(f, true);
	for (block = 0; block < f->g.blocks; block++)
		bad += f->block[block].bad;
	if (bad)
		say("chip: %u blocks were retired", bad);
	if (bad || violations)
		replace_chip(f, 1);
	return violations;
}
