// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_record.c - the JSON writer, byte by byte.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/record.h"
#include "harness.h"

static char text[1 << 20];

static int open_sink(struct record_sink *sink, FILE **file)
{
	*file = tmpfile();
	if (!*file)
		return -1;
	record_sink_init(sink, fileno(*file));
	return 0;
}

static void read_back(FILE *file)
{
	size_t n;

	rewind(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
}

static void shape(void)
{
	static struct record_sink sink;
	struct ffs_error error;
	FILE *file;

	if (!CHECK(!open_sink(&sink, &file)))
		return;
	record_begin(&sink, "a");
	record_number(&sink, "n", UINT64_MAX);
	record_signed(&sink, "s", -5);
	record_open(&sink, "list", '[');
	record_close(&sink, ']');
	record_open(&sink, "pairs", '[');
	record_open(&sink, NULL, '[');
	record_item(&sink, 1);
	record_item(&sink, 2);
	record_close(&sink, ']');
	record_open(&sink, NULL, '[');
	record_item(&sink, 3);
	record_close(&sink, ']');
	record_close(&sink, ']');
	record_status(&sink, NULL);
	record_end(&sink);
	ffs_fail(&error, ENOSPC, "say \"%d\"", 7);
	record_begin(&sink, "b");
	record_status(&sink, &error);
	record_end(&sink);
	read_back(file);
	CHECKF(!strcmp(text,
		"{\"v\":1,\"type\":\"a\",\"n\":18446744073709551615,\"s\":-5,"
		"\"list\":[],\"pairs\":[[1,2],[3]],\"status\":\"ok\"}\n"
		"{\"v\":1,\"type\":\"b\",\"status\":\"error\",\"errno\":28,"
		"\"errno_name\":\"ENOSPC\",\"message\":\"say \\\"7\\\": "
		"No space left on device\"}\n"), "got %s", text);
}

static void escapes(void)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "" },
		{ "\"\\/", "\\\"\\\\/" },
		{ "\x01\n\t\x1f\x7f", "\\u0001\\u000a\\u0009\\u001f\\u007f" },
		{ "\xc3\xa9", "\xc3\xa9" },
		{ "\xe2\x82\xac", "\xe2\x82\xac" },
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
		{ "\xff", "\\ufffd" },
		{ "\xc3", "\\ufffd" },			/* cut short */
		{ "\xc0\xaf", "\\ufffd\\ufffd" },	/* overlong */
		{ "\xe0\x80\xaf", "\\ufffd\\ufffd\\ufffd" },
		{ "\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd" }, /* surrogate */
		{ "\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd" },
		{ "a\x80z", "a\\ufffdz" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		static struct record_sink sink;
		char wanted[128];
		FILE *file;

		if (!CHECK(!open_sink(&sink, &file)))
			return;
		record_begin(&sink, "x");
		record_string(&sink, "k", cases[i].in);
		record_end(&sink);
		read_back(file);
		snprintf(wanted, sizeof(wanted),
			 "{\"v\":1,\"type\":\"x\",\"k\":\"%s\"}\n",
			 cases[i].out);
		CHECKF(!strcmp(text, wanted), "case %zu: %s", i, text);
	}
}

/* A record that is larger than the buffer, cut at every position once. */
static void long_record(void)
{
	static struct record_sink sink;
	size_t length, i;
	FILE *file;

	if (!CHECK(!open_sink(&sink, &file)))
		return;
	record_begin(&sink, "long");
	record_open(&sink, "list", '[');
	for (i = 0; i < 20000; i++)
		record_item(&sink, i);
	record_close(&sink, ']');
	record_end(&sink);
	read_back(file);
	length = strlen(text);
	CHECK(length == strlen("{\"v\":1,\"type\":\"long\",\"list\":[]}\n") +
			(10 + 180 + 2700 + 36000 + 50000) + 19999);
	CHECK(!strcmp(text + length - 9, ",19999]}\n"));
}

static void write_error(void)
{
	static struct record_sink sink;
	int fd = open("/dev/full", O_WRONLY);

	if (!CHECK(fd >= 0))
		return;
	record_sink_init(&sink, fd);
	record_begin(&sink, "lost");
	record_end(&sink);
	CHECK(sink.failed == ENOSPC);
	record_begin(&sink, "lost, too");
	record_end(&sink);
	CHECK(sink.failed == ENOSPC);
	close(fd);
	record_sink_init(&sink, -1);
	record_begin(&sink, "nowhere");
	record_end(&sink);
	CHECK(!sink.failed);
}

void test_record(void)
{
	shape();
	escapes();
	long_record();
	write_error();
	CHECK(!strcmp(ffs_errno_name(0), ""));
	CHECK(!strcmp(ffs_errno_name(ENOENT), "ENOENT"));
	CHECK(!strcmp(ffs_errno_name(99999), "UNKNOWN"));
}
