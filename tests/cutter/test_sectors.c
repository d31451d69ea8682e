// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "harness.h"
#include "observe/crc32.h"
#include "observe/sectors.h"

void test_sectors(void);

/* The check value of the CRC's catalogues, and any way to cut it. */
static void crcs(void)
{
	static struct crc32 crc32;

	crc32_init(&crc32);
	CHECK(crc32_of(&crc32, "123456789", 9) == 0xcbf43926);
	CHECK(crc32_of(&crc32, "", 0) == 0);
	CHECK(crc32_of(&crc32, "a", 1) == 0xe8b7be43);
	CHECK(crc32_of(&crc32, "12345678123456781234567812345678", 32) ==
	      crc32_of(&crc32, "x12345678123456781234567812345678" + 1, 32));
}

static void expect(struct sectors *sectors, const char *expected)
{
	struct text *text = sectors->text;

	sectors_end(sectors);
	CHECKF(text->n == strlen(expected) &&
	       !memcmp(text->data, expected, text->n), "%s: %.*s", expected,
	       (int)text->n, text->data);
	text_clear(text);
	sectors_begin(sectors, text);
}

static void runs(void)
{
	struct text text = { 0 };
	struct sectors s;

	sectors_begin(&s, &text);
	expect(&s, "-");
	sectors_add(&s, 1);
	expect(&s, "00000001");
	sectors_add(&s, 0);
	sectors_add(&s, 0);
	sectors_add_unreadable(&s, 1);
	sectors_add_unreadable(&s, 0);
	sectors_add_unreadable(&s, 2);
	sectors_add(&s, 0);
	sectors_add(&s, 0xffffffff);
	expect(&s, "00000000*2,!*3,00000000,ffffffff");
	sectors_add_unreadable(&s, 1);
	sectors_add(&s, 0);
	sectors_add_unreadable(&s, 1);
	expect(&s, "!,00000000,!");
	text_free(&text);
}

static void counts(void)
{
	CHECK(sectors_of(0) == 0 && sectors_of(1) == 1);
	CHECK(sectors_of(512) == 1 && sectors_of(513) == 2);
	CHECK(sectors_of(UINT64_MAX) == ((uint64_t)1 << 55));
}

void test_sectors(void)
{
	crcs();
	runs();
	counts();
}
