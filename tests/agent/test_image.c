// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_image.c - which pages of an image a flasher programs.  Writing them
 * needs a flash: the tests of the lab have one.
 */
#include <stdlib.h>
#include <string.h>

#include "flash/image.h"
#include "harness.h"

static void blank(void)
{
	uint8_t data[64];
	size_t i;

	memset(data, 0xff, sizeof(data));
	CHECK(image_is_blank(data, 0));
	CHECK(image_is_blank(data, 1) && image_is_blank(data, sizeof(data)));
	for (i = 0; i < sizeof(data); i++) {
		data[i] = 0x7f;
		CHECKF(!image_is_blank(data, sizeof(data)), "byte %zu", i);
		CHECK(image_is_blank(data, i));
		data[i] = 0xff;
	}
	memset(data, 0, sizeof(data));
	CHECK(!image_is_blank(data, sizeof(data)));
}

static void pages_used(void)
{
	/* Exactly as large as four pages, so that overreads are caught. */
	uint8_t *data = malloc(4 * 16);
	size_t i;

	memset(data, 0xff, 4 * 16);
	CHECK(image_pages_used(data, 16, 4) == 0);
	CHECK(image_pages_used(data, 16, 0) == 0);
	for (i = 0; i < 4; i++) {
		memset(data, 0xff, 4 * 16);
		data[i * 16 + 15] = 0;
		CHECK(image_pages_used(data, 16, 4) == i + 1);
		data[i * 16 + 15] = 0xff;
		data[i * 16] = 0xfe;
		CHECK(image_pages_used(data, 16, 4) == i + 1);
	}
	free(data);
}

void test_image(void)
{
	blank();
	pages_used();
}
