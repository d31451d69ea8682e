// SPDX-License-Identifier: GPL-2.0-only
/*
 * messages.c - see messages.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/klog.h>
#include <unistd.h>

#include "walk/messages.h"

#define LEVELS 8
#define ACTION_CONSOLE_LEVEL 8

int messages_open(struct ffs_error *error)
{
	int fd = open("/proc/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		ffs_fail(error, errno, "cannot open /proc/kmsg");
	return fd;
}

void messages_show(unsigned int level)
{
	/* Without the right to do so the console has more than it needs. */
	(void)klogctl(ACTION_CONSOLE_LEVEL, NULL, (int)level);
}

int messages_drain(int fd, struct text *raw)
{
	for (;;) {
		char *room = text_room(raw, MESSAGES_READ_BYTES);
		ssize_t n;

		if (!room)
			return ENOMEM;
		n = read(fd, room, MESSAGES_READ_BYTES);
		if (n > 0)
			raw->n += (size_t)n;
		else if (n == 0 || errno == EAGAIN)
			return 0;
		else if (errno != EINTR)
			return errno;
	}
}

/*
 * The level of a line, and where its text begins.  A line without "<PRIORITY>"
 * has the level @level.
 */
static const char *parse_head(const char *line, const char *end,
			      unsigned int *level)
{
	const char *at = line;
	unsigned int priority = 0;

	if (at == end || *at != '<')
		return line;
	for (at++; at < end && *at >= '0' && *at <= '9'; at++)
		priority = (10 * priority + (unsigned int)(*at - '0')) & 0xffff;
	if (at == end || *at != '>' || at == line + 1)
		return line;
	*level = priority % LEVELS;
	at++;
	/* "[   12.345678] " */
	if (at < end && *at == '[') {
		const char *close = memchr(at, ']', (size_t)(end - at));

		if (close) {
			at = close + 1;
			at += at < end && *at == ' ';
		}
	}
	return at;
}

static void put_line(struct text *out, unsigned int level, const char *line,
		     size_t bytes)
{
	char *room;
	size_t i;

	text_number(out, level);
	text_add(out, " ", 1);
	room = text_room(out, bytes + 1);
	if (!room)
		return;
	for (i = 0; i < bytes; i++)
		room[i] = line[i] >= ' ' && line[i] != 0x7f ? line[i] : '?';
	room[bytes] = '\n';
	out->n += bytes + 1;
}

void messages_filter(const struct text *raw, unsigned int wanted,
		     struct text *out)
{
	const char *at = raw->data, *all = at + raw->n;
	unsigned int level = wanted + 1;

	while (at < all) {
		const char *end = memchr(at, '\n', (size_t)(all - at)), *line;

		if (!end)
			end = all;
		line = parse_head(at, end, &level);
		at = end + (end < all);
		if (level > wanted)
			continue;
		if (out->n + (size_t)(end - line) > MESSAGES_BYTES_MAX) {
			text_string(out, "...\n");
			return;
		}
		put_line(out, level, line, (size_t)(end - line));
	}
}
