// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "harness.h"
#include "text/numbers.h"

void test_numbers(void);

static void whole_words(void)
{
	static const char *const wrong[] = {
		"", "-1", "+1", " 1", "1 ", "0x1", "1a", "18446744073709551616",
		"99999999999999999999",
	};
	uint64_t number;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CHECKF(!number_parse(wrong[i], UINT64_MAX, &number), "'%s'",
		       wrong[i]);
	CHECK(number_parse("18446744073709551615", UINT64_MAX, &number) &&
	      number == UINT64_MAX);
	CHECK(number_parse("007", 7, &number) && number == 7);
	CHECK(!number_parse("8", 7, &number));
	CHECK(!number_parse("17", 9, &number));
	CHECK(number_parse("0", 0, &number) && !number);
}

static void lines(void)
{
	static const char text[] = "a 1\nab 2\nb x\nc 3\nd 4";
	uint64_t number;

	CHECK(line_number(text, "a", &number) && number == 1);
	CHECK(line_number(text, "ab", &number) && number == 2);
	CHECK(line_number(text, "d", &number) && number == 4);
	CHECK(!line_number(text, "b", &number));
	CHECK(!line_number(text, "e", &number));
	CHECK(!line_number("", "a", &number));
}

static void words(void)
{
	char good[] = "one two three", single[] = "one", twice[] = "a  b",
	     ends[] = "a ", empty[] = "";
	char *found[3];

	CHECK(words_split(good, found, 3) == 3 && !strcmp(found[2], "three") &&
	      !strcmp(found[0], "one"));
	CHECK(words_split(single, found, 3) == 1);
	CHECK(words_split(twice, found, 3) == 0);
	CHECK(words_split(ends, found, 3) == 0);
	CHECK(words_split(empty, found, 3) == 0);
	strcpy(good, "one two three");
	CHECK(words_split(good, found, 2) == 3);
}

void test_numbers(void)
{
	whole_words();
	lines();
	words();
}
