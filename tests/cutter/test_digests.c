// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "walk/digests.h"

void test_digests(void);

static void texts_are_printed_once(void)
{
	struct digests digests = { 0 };
	struct text text = { 0 }, out = { 0 };
	uint64_t first;
	char expected[64];

	text_string(&text, "dir . 2 1 0\n");
	first = digests_put(&digests, &text, &out);
	snprintf(expected, sizeof(expected),
		 "text %016llx\ndir . 2 1 0\nend\n", (unsigned long long)first);
	CHECK(out.n == strlen(expected) && !memcmp(out.data, expected, out.n));
	text_clear(&out);
	CHECK(digests_put(&digests, &text, &out) == first && !out.n);
	text_string(&text, "lost x 5\n");
	CHECK(digests_put(&digests, &text, &out) != first && out.n);
	text_free(&text);
	text_free(&out);
	digests_free(&digests);
}

static void many(void)
{
	struct digests digests = { 0 };
	struct text text = { 0 }, out = { 0 };
	unsigned int round, i, printed = 0;

	for (round = 0; round < 2; round++)
		for (i = 0; i < 5000; i++) {
			text_clear(&text);
			text_number(&text, i);
			text_clear(&out);
			digests_put(&digests, &text, &out);
			printed += out.n != 0;
		}
	CHECK(printed == 5000);
	text_free(&text);
	text_free(&out);
	digests_free(&digests);
}

void test_digests(void)
{
	texts_are_printed_once();
	many();
}
