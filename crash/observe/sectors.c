// SPDX-License-Identifier: GPL-2.0-only
/*
 * sectors.c - see sectors.h.
 */
#include "observe/sectors.h"

#define CRC_DIGITS 8

void sectors_begin(struct sectors *sectors, struct text *text)
{
	*sectors = (struct sectors){ .text = text };
}

static void write_run(struct sectors *sectors)
{
	struct text *text = sectors->text;

	if (!sectors->run)
		return;
	if (sectors->any)
		text_add(text, ",", 1);
	if (sectors->unreadable)
		text_add(text, "!", 1);
	else
		text_hex(text, sectors->crc, CRC_DIGITS);
	if (sectors->run > 1) {
		text_add(text, "*", 1);
		text_number(text, sectors->run);
	}
	sectors->any = true;
}

void sectors_add(struct sectors *sectors, uint32_t crc)
{
	if (sectors->run && !sectors->unreadable && sectors->crc == crc) {
		sectors->run++;
		return;
	}
	write_run(sectors);
	sectors->crc = crc;
	sectors->unreadable = false;
	sectors->run = 1;
}

void sectors_add_unreadable(struct sectors *sectors, uint64_t n)
{
	if (!n)
		return;
	if (!sectors->run || !sectors->unreadable) {
		write_run(sectors);
		sectors->unreadable = true;
		sectors->run = 0;
	}
	sectors->run += n;
}

void sectors_end(struct sectors *sectors)
{
	write_run(sectors);
	if (!sectors->any)
		text_add(sectors->text, "-", 1);
	sectors->run = 0;
}
