// SPDX-License-Identifier: GPL-2.0-only
/*
 * chipcuts DEVICE CHIP SCRIPT OUTPUT - carries out the lines of SCRIPT on an MTD
 * device and its chip below /proc/vnand, and writes what each gave to OUTPUT:
 *
 *	erase BLOCK, mark BLOCK		one operation; "did ERRNO"
 *	program PAGE COLUMN BYTES OOB SEED	likewise; BYTES or OOB may be 0
 *	chip COMMAND...			"chip ERRNO"; \n in it is a line's end
 *	state, log			lines of the chip's files, "state " before each
 *	digest				"digest HEX"
 *	block BLOCK			"block ERASES PROGRAMS READS FLAGS IS-BAD"
 *	read PAGE			"read CORRECTED FAILED DATA RAW OOB", in hex
 *	memory				"memory FREE SLAB VMALLOC", in KiB
 *
 * Only reading may fail: then it says so and ends with status 1. Blocks and pages
 * are those of the device, which begins where the chip does.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "flash.h"

struct run {
	struct flash flash;
	const char *chip;
	FILE *out;
};

static int fail(const char *what, int err)
{
	fprintf(stderr, "chipcuts: %s: %s\n", what, strerror(err));
	return -1;
}

static FILE *open_chip(const struct run *run, const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/vnand/%.64s/%s", run->chip, file);
	return fopen(path, "r");
}

static int print_file(struct run *run, const char *file, const char *word)
{
	FILE *from = open_chip(run, file);
	char line[256];

	if (!from)
		return fail(file, errno);
	while (fgets(line, sizeof(line), from))
		fprintf(run->out, "%s %s", word, line);
	fclose(from);
	return 0;
}

static int command(struct run *run, const char *text)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/vnand/%.64s/crash", run->chip);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return fail(path, errno);
	errno = 0;
	if (write(fd, text, strlen(text)) >= 0)
		errno = 0;
	fprintf(run->out, "chip %d\n", errno);
	close(fd);
	return 0;
}

static int print_block(struct run *run, uint32_t block)
{
	FILE *from = open_chip(run, "blocks");
	char line[256] = "";
	uint32_t i;

	if (!from)
		return fail("blocks", errno);
	for (i = 0; i <= block && fgets(line, sizeof(line), from); i++)
		;
	fclose(from);
	line[strcspn(line, "\n")] = '\0';
	fprintf(run->out, "block %s %d\n", line,
		flash_is_bad(&run->flash, block));
	return 0;
}

static void print_hex(FILE *out, const uint8_t *from, uint32_t bytes)
{
	static const char digit[] = "0123456789abcdef";
	uint32_t i;

	putc(' ', out);
	for (i = 0; i < bytes; i++) {
		putc(digit[from[i] >> 4], out);
		putc(digit[from[i] & 15], out);
	}
}

static int print_page(struct run *run, uint32_t page)
{
	struct flash_read read;
	int err = flash_read(&run->flash, page, &read);

	if (err)
		return fail("a page", err);
	fprintf(run->out, "read %u %u", read.corrected, read.failed);
	print_hex(run->out, read.data, run->flash.page_bytes);
	print_hex(run->out, read.raw, run->flash.page_bytes);
	print_hex(run->out, read.oob, run->flash.oob_bytes);
	putc('\n', run->out);
	return 0;
}

static int print_memory(struct run *run)
{
	static const char *const key[] = { "MemFree:", "Slab:", "VmallocUsed:" };
	FILE *from;
	char line[256];
	long value;
	size_t i;

	fputs("memory", run->out);
	for (i = 0; i < sizeof(key) / sizeof(*key); i++) {
		from = fopen("/proc/meminfo", "r");
		if (!from)
			return fail("/proc/meminfo", errno);
		while (fgets(line, sizeof(line), from))
			if (!strncmp(line, key[i], strlen(key[i])) &&
			    sscanf(line + strlen(key[i]), "%ld", &value) == 1)
				fprintf(run->out, " %ld", value);
		fclose(from);
	}
	putc('\n', run->out);
	return 0;
}

/* One operation of the flash; -1 if the line is none. */
static int operation(const struct run *run, const char *line)
{
	uint32_t n[5];

	if (sscanf(line, "erase %u", n) == 1)
		return flash_erase(&run->flash, n[0]);
	if (sscanf(line, "mark %u", n) == 1)
		return flash_mark(&run->flash, n[0]);
	if (sscanf(line, "program %u %u %u %u %u", n, n + 1, n + 2, n + 3,
		   n + 4) == 5)
		return flash_program(&run->flash, n[0], n[1], n[2], (int)n[3],
				     n[4]);
	return -1;
}

/* A command may end with what a shell's echo ends it with. */
static int chip_line(struct run *run, char *text)
{
	size_t length = strlen(text);

	if (length >= 2 && !strcmp(text + length - 2, "\\n"))
		strcpy(text + length - 2, "\n");
	return command(run, text);
}

static int carry_out(struct run *run, char *line)
{
	uint32_t number;
	int err = operation(run, line);

	if (err >= 0) {
		fprintf(run->out, "did %d\n", err);
		return 0;
	}
	if (!strncmp(line, "chip ", 5))
		return chip_line(run, line + 5);
	if (!strcmp(line, "state"))
		return print_file(run, "crash", "state");
	if (!strcmp(line, "log"))
		return print_file(run, "log", "log");
	if (!strcmp(line, "digest"))
		return print_file(run, "digest", "digest");
	if (!strcmp(line, "memory"))
		return print_memory(run);
	if (sscanf(line, "block %u", &number) == 1)
		return print_block(run, number);
	if (sscanf(line, "read %u", &number) == 1)
		return print_page(run, number);
	return fail(line, EINVAL);
}

static FILE *open_output(const char *path)
{
	struct termios mode;
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY, 0644);

	/* A serial line is not to change what is written to it. */
	if (fd >= 0 && isatty(fd) && !tcgetattr(fd, &mode)) {
		cfmakeraw(&mode);
		tcsetattr(fd, TCSANOW, &mode);
	}
	return fd < 0 ? NULL : fdopen(fd, "a");
}

int main(int argc, char **argv)
{
	struct run run = { .chip = argc == 5 ? argv[2] : "" };
	char line[512];
	FILE *script;
	int err;

	if (argc != 5) {
		fputs("usage: chipcuts DEVICE CHIP SCRIPT OUTPUT\n", stderr);
		return 2;
	}
	err = flash_open(&run.flash, argv[1]);
	if (err)
		return fail(argv[1], err) != 0;
	script = fopen(argv[3], "r");
	run.out = open_output(argv[4]);
	if (!script || !run.out)
		return fail("files", errno) != 0;
	while (fgets(line, sizeof(line), script)) {
		line[strcspn(line, "\n")] = '\0';
		if (carry_out(&run, line))
			return 1;
	}
	return fclose(run.out) ? fail(argv[4], errno) != 0 : 0;
}
