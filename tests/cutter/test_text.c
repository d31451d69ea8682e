// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "harness.h"
#include "text/text.h"

void test_text(void);

static bool says(const struct text *text, const char *expected)
{
	return text->n == strlen(expected) &&
	       !memcmp(text->data, expected, text->n);
}

static void words(void)
{
	struct text text = { 0 };
	int i;

	text_number(&text, 0);
	text_add(&text, " ", 1);
	text_number(&text, UINT64_MAX);
	text_add(&text, " ", 1);
	text_hex(&text, 0x1234abcd, 8);
	text_hex(&text, 0xf, 2);
	CHECK(says(&text, "0 18446744073709551615 1234abcd0f"));
	text_clear(&text);
	text_name(&text, "a b%\n\xff~", 7);
	CHECK(says(&text, "a%20b%25%0a%ff~"));
	text_clear(&text);
	for (i = 0; i < 3000; i++)
		text_line(&text, "%d", i % 10);
	CHECK(text.n == 6000 && !memcmp(text.data + 5996, "8\n9\n", 4));
	text_free(&text);
}

static void long_lines_end(void)
{
	struct text text = { 0 };
	char word[2000];

	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	text_line(&text, "%s", word);
	CHECK(text.n > 400 && text.data[text.n - 1] == '\n');
	CHECK(text.data[text.n - 2] == 'x');
	text_free(&text);
}

/* One bit anywhere, and the length, are seen. */
static void digests(void)
{
	char bytes[40] = { 0 };
	struct text text = { .data = bytes, .n = 37, .room = 40 };
	uint64_t first = text_digest(&text), seen[40 * 8];
	size_t n = 0, equal = 0, i, j;

	for (i = 0; i < text.n * 8; i++) {
		bytes[i / 8] = (char)(1 << i % 8);
		seen[n++] = text_digest(&text);
		bytes[i / 8] = 0;
	}
	text.n = 36;
	seen[n++] = text_digest(&text);
	for (i = 0; i < n; i++) {
		equal += seen[i] == first;
		for (j = 0; j < i; j++)
			equal += seen[i] == seen[j];
	}
	CHECK(!equal);
}

void test_text(void)
{
	words();
	long_lines_end();
	digests();
}
