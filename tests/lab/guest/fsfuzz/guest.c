// SPDX-License-Identifier: GPL-2.0-only
/*
 * guest.c - see guest.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

#define KMEMLEAK	"/sys/kernel/debug/kmemleak"
/* kmemleak passes over what is younger than 5 s. */
#define LEAK_AGE_MS	6000
/* A line of the kernel's log can be a little longer. */
#define LINE_BYTES	900

static int log_fd = -1;
static unsigned int found;

static void put_line(const char *mark, const char *format, va_list args)
{
	char line[LINE_BYTES];
	int n = snprintf(line, sizeof(line), "<4>fsfuzz: %s", mark);

	vsnprintf(line + n, sizeof(line) - (size_t)n, format, args);
	if (log_fd < 0 || write(log_fd, line, strlen(line)) < 0)
		fprintf(stderr, "%s\n", line + 3);
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_line("", format, args);
	va_end(args);
}

void finding(const char *format, ...)
{
	va_list args;

	found++;
	va_start(args, format);
	put_line("FINDING: ", format, args);
	va_end(args);
}

unsigned int findings(void)
{
	return found;
}

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_line("cannot go on: ", format, args);
	va_end(args);
	exit(3);
}

void guest_prepare(void)
{
	/* What user space logs is limited to a few lines a second otherwise. */
	file_write("/proc/sys/kernel/printk_devkmsg", "on\n");
	/* A report ends the guest: the checkers say little after their first. */
	file_write("/proc/sys/kernel/panic_on_warn", "1");
	log_fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	/* The scans of its own would come at any time. */
	file_write(KMEMLEAK, "scan=off");
}

void module_load(const char *path, const char *args)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, args, 0))
		die("cannot load %s %s: %s", path, args, strerror(errno));
	close(fd);
}

void module_unload(const char *name)
{
	if (syscall(SYS_delete_module, name, O_NONBLOCK))
		finding("cannot unload %s: %s", name, strerror(errno));
}

char *file_text(const char *path)
{
	size_t room = 1 << 16, n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = fd < 0 ? NULL : malloc(room);
	ssize_t got = 1;

	while (text && got > 0) {
		if (n + 1 == room) {
			char *larger = realloc(text, room *= 2);

			if (!larger)
				free(text);
			text = larger;
			continue;
		}
		got = read(fd, text + n, room - n - 1);
		if (got > 0)
			n += (size_t)got;
	}
	if (text)
		text[n] = '\0';
	if (fd >= 0)
		close(fd);
	return text;
}

bool file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 &&
		    write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

void sleep_ms(unsigned int ms)
{
	struct timespec left = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&left, NULL);
}

void drop_caches(void)
{
	file_write("/proc/sys/vm/drop_caches", "3");
}

static void report_leaks(char *text)
{
	unsigned int leaks = 0, lines = 0;
	char *line, *rest = text;

	while ((line = strsep(&rest, "\n"))) {
		if (!strncmp(line, "unreferenced object", 19))
			leaks++;
		if (*line && leaks && lines++ < 80)
			say("leak: %s", line);
	}
	if (leaks)
		finding("kmemleak reports %u objects", leaks);
}

void leaks_check(void)
{
	char *text;

	if (access(KMEMLEAK, F_OK))
		return;
	sleep_ms(LEAK_AGE_MS);
	if (!file_write(KMEMLEAK, "scan") || !file_write(KMEMLEAK, "scan"))
		finding("kmemleak is switched off");
	text = file_text(KMEMLEAK);
	if (text)
		report_leaks(text);
	free(text);
	file_write(KMEMLEAK, "clear");
}
