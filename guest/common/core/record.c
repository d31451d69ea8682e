// SPDX-License-Identifier: GPL-2.0-only
/*
 * record.c - the JSON writer; see record.h.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/record.h"

void record_sink_init(struct record_sink *sink, int fd)
{
	memset(sink, 0, offsetof(struct record_sink, buffer));
	sink->fd = fd;
}

static void flush(struct record_sink *sink)
{
	size_t done = 0;

	while (sink->fd >= 0 && !sink->failed && done < sink->used) {
		ssize_t n = write(sink->fd, sink->buffer + done,
				  sink->used - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			sink->failed = errno;
	}
	sink->used = 0;
}

static void put(struct record_sink *sink, const char *text, size_t bytes)
{
	while (bytes) {
		size_t room = sizeof(sink->buffer) - sink->used;
		size_t part = bytes < room ? bytes : room;

		memcpy(sink->buffer + sink->used, text, part);
		sink->used += part;
		text += part;
		bytes -= part;
		if (sink->used == sizeof(sink->buffer))
			flush(sink);
	}
}

static void put_text(struct record_sink *sink, const char *text)
{
	put(sink, text, strlen(text));
}

/* Length of the valid UTF-8 sequence at @s, or 0. */
static size_t utf8_length(const unsigned char *s)
{
	size_t length, i;
	uint32_t code;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		length = 2;
	else if ((s[0] & 0xf0) == 0xe0)
		length = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		length = 4;
	else
		return 0;
	code = s[0] & (0x7fu >> length);
	for (i = 1; i < length; i++) {
		/* The terminating NUL fails this test, so no overrun. */
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (length == 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000)))
		return 0;
	if (length == 4 && (code < 0x10000 || code > 0x10ffff))
		return 0;
	return length;
}

/* What may stand in a string as it is: ASCII, but no control character, quote or backslash. */
static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void put_escaped(struct record_sink *sink, unsigned char c)
{
	static const char digit[] = "0123456789abcdef";
	const char code[] = { '\\', 'u', '0', '0', digit[c >> 4],
			      digit[c & 0xf] };
	const char quoted[] = { '\\', (char)c };

	if (c == '"' || c == '\\')
		put(sink, quoted, sizeof(quoted));
	else
		put(sink, code, sizeof(code));
}

static void put_string(struct record_sink *sink, const char *value)
{
	const unsigned char *s = (const unsigned char *)value;

	put_text(sink, "\"");
	while (*s) {
		size_t length = 0;

		while (is_plain(s[length]))
			length++;
		if (!length && *s >= 0x80) {
			length = utf8_length(s);
			if (!length)
				put_text(sink, "\\ufffd");
		} else if (!length) {
			put_escaped(sink, *s);
		}
		put(sink, (const char *)s, length);
		s += length ? length : 1;
	}
	put_text(sink, "\"");
}

static void put_key(struct record_sink *sink, const char *key)
{
	if (sink->need_comma)
		put_text(sink, ",");
	sink->need_comma = true;
	if (key) {
		put_string(sink, key);
		put_text(sink, ":");
	}
}

void record_begin(struct record_sink *sink, const char *type)
{
	sink->need_comma = false;
	put_text(sink, "{");
	record_number(sink, "v", 1);
	record_string(sink, "type", type);
}

void record_end(struct record_sink *sink)
{
	put_text(sink, "}\n");
	flush(sink);
}

void record_string(struct record_sink *sink, const char *key,
		   const char *value)
{
	put_key(sink, key);
	put_string(sink, value);
}

/* Without printf(): a snapshot has hundreds of numbers, and is taken often. */
static void put_number(struct record_sink *sink, uint64_t value)
{
	char text[20];	/* the digits of 2^64 - 1 */
	size_t begin = sizeof(text);

	do
		text[--begin] = (char)('0' + value % 10);
	while (value /= 10);
	put(sink, text + begin, sizeof(text) - begin);
}

void record_number(struct record_sink *sink, const char *key, uint64_t value)
{
	put_key(sink, key);
	put_number(sink, value);
}

void record_signed(struct record_sink *sink, const char *key, int64_t value)
{
	put_key(sink, key);
	if (value < 0)
		put_text(sink, "-");
	put_number(sink, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void record_true(struct record_sink *sink, const char *key)
{
	put_key(sink, key);
	put_text(sink, "true");
}

void record_status(struct record_sink *sink, const struct ffs_error *error)
{
	record_string(sink, "status", error ? "error" : "ok");
	if (!error)
		return;
	record_signed(sink, "errno", error->errnum);
	record_string(sink, "errno_name", ffs_errno_name(error->errnum));
	record_string(sink, "message", error->message);
}

void record_open(struct record_sink *sink, const char *key, char bracket)
{
	put_key(sink, key);
	put(sink, &bracket, 1);
	sink->need_comma = false;
}

void record_close(struct record_sink *sink, char bracket)
{
	put(sink, &bracket, 1);
	sink->need_comma = true;
}

void record_item(struct record_sink *sink, uint64_t value)
{
	record_number(sink, NULL, value);
}
