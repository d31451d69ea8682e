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

/* A file of a megabyte has thousands of them: they are put down by hand. */
static void write_run(struct sectors *sectors)
{
	static const char digits[] = "0123456789abcdef";
	struct text *text = sectors->text;
	char *room, *at;
	int shift;

	if (!sectors->run)
		return;
	room = text_room(text, CRC_DIGITS + 1);
	if (!room)
		return;
	at = room;
	if (sectors->any)
		*at++ = ',';
	if (sectors->unreadable)
		*at++ = '!';
	else
		for (shift = 4 * CRC_DIGITS; shift; )
			*at++ = digits[sectors->crc >> (shift -= 4) & 15];
	text->n += (size_t)(at - room);
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
