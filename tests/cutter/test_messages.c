// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "harness.h"
#include "walk/messages.h"

void test_messages(void);

static void expect(const char *raw_text, const char *expected)
{
	struct text raw = { 0 }, out = { 0 };

	text_string(&raw, raw_text);
	messages_filter(&raw, MESSAGES_WARNINGS, &out);
	CHECKF(out.n == strlen(expected) &&
	       (!out.n || !memcmp(out.data, expected, out.n)), "%s: %.*s",
	       raw_text, (int)out.n, out.data ? out.data : "");
	text_free(&raw);
	text_free(&out);
}

static void notices(void)
{
	struct text raw = { 0 }, out = { 0 };

	text_string(&raw, "<6>info\n<5>[ 1.0] notice\n<3>error\n");
	messages_filter(&raw, MESSAGES_NOTICES, &out);
	CHECK(out.n == 17 && !memcmp(out.data, "5 notice\n3 error\n", 17));
	text_free(&raw);
	text_free(&out);
}

static void a_flood(void)
{
	struct text raw = { 0 }, out = { 0 };
	int i;

	for (i = 0; i < 5000; i++)
		text_line(&raw, "<4>[    0.%06d] the same again", i);
	messages_filter(&raw, MESSAGES_WARNINGS, &out);
	CHECK(out.n > MESSAGES_BYTES_MAX / 2);
	CHECK(out.n < MESSAGES_BYTES_MAX + 1000);
	CHECK(!memcmp(out.data + out.n - 5, "\n...\n", 5));
	text_free(&raw);
	text_free(&out);
}

void test_messages(void)
{
	expect("", "");
	expect("<4>[    1.000002] jffs2: a warning\n", "4 jffs2: a warning\n");
	expect("<6>[    1.0] info\n<5>[    1.0] notice\n<3>[ 1.0] error\n",
	       "3 error\n");
	/* A facility counts eights; what follows has the level before it. */
	expect("<12>[ 1.0] from a program\nits second line\n",
	       "4 from a program\n4 its second line\n");
	expect("<0>no time [1]\n<1> \n", "0 no time [1]\n1  \n");
	expect("<4>tab\t<4>", "4 tab?<4>\n");
	expect("<>x\n<4\n<4x>\n<", "");
	notices();
	a_flood();
}
