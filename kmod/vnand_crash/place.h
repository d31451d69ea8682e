/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A weak place: a page whose bits are not what a program or an erase meant, since
 * it was cut off. The chip's contents hold the true bits; here is what the ECC
 * makes of them. Pure.
 */
#ifndef VNAND_CRASH_PLACE_H
#define VNAND_CRASH_PLACE_H

#include "../vnand/decide.h"

/**
 * struct vnand_place - a weak page; never changed once it is in the table
 * @page: number of the page in the chip
 * @unstable: it reads well as long as the chip is not switched off
 * @boot: the time between two power cuts in which it was made
 * @errors: wrong bits of each ECC step, against the nearest codeword; those that only
 *	    a program brings to light are not counted before it
 * @good: that codeword: data, then OOB, as read when all errors are corrected
 * @home: the log whose memory it is in
 * @moved: its copy, when that memory is about to go, else NULL
 */
struct vnand_place {
	u32 page;
	bool unstable;
	u32 boot;
	u16 errors[VNAND_MAX_STEPS];
	u8 *good;
	u32 home;
	struct vnand_place *moved;
};

/* Does it still read well? */
static inline bool vnand_place_sleeps(const struct vnand_place *place, u32 boot)
{
	return place->unstable && place->boot == boot;
}

/**
 * vnand_place_decide() - bit errors of a read, added to what was decided
 * @p: the chip
 * @place: the page's weak place
 * @boot: present time between two power cuts
 * @r: what is read
 * @d: the decision; a page with errors is not kept by the driver
 */
void vnand_place_decide(const struct vnand_params *p,
			const struct vnand_place *place, u32 boot,
			const struct vnand_request *r,
			struct vnand_read_decision *d);

/* All of it but @home and @moved; @to->good has room for a page and its OOB. */
void vnand_place_copy(const struct vnand_params *p,
		      const struct vnand_place *from, struct vnand_place *to);

/* Does a read of that step give the codeword, and not the true bits? */
bool vnand_place_corrects(const struct vnand_params *p,
			  const struct vnand_place *place, u32 boot, u32 step,
			  bool raw);

/* How many bits differ? */
u32 vnand_bits_differ(const u8 *a, const u8 *b, u32 bytes);

/* Counts the errors of steps @first to @last of @place, whose true bits are @true_bits. */
void vnand_place_count(const struct vnand_params *p, struct vnand_place *place,
		       const u8 *true_bits, u32 first, u32 last);

/**
 * vnand_place_program() - what is left of a weak place when its page is programmed
 * @p: the chip
 * @before: the place
 * @column: first byte of the program
 * @data_bytes: its data bytes
 * @data: they, or NULL
 * @oob: the whole OOB, or NULL
 * @true_bits: the page afterwards
 * @after: filled in but for @home and @moved; its @good has room for a page and its OOB
 *
 * Return: is the page still weak?
 */
bool vnand_place_program(const struct vnand_params *p,
			 const struct vnand_place *before, u32 column,
			 u32 data_bytes, const u8 *data, const u8 *oob,
			 const u8 *true_bits, struct vnand_place *after);

#endif
