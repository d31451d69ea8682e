/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the second module, vnand_crash, looks into the chip: it logs every change
 * with what is needed to undo it, and lets a page read as a power cut left it
 * (kmod/vnand_crash). In the module vnand these are nothing, not one instruction:
 * its figures do not depend on what the other one can do.
 *
 * The caller holds the chip's lock, except for the last two.
 */
#ifndef VNAND_CRASH_HOOKS_H
#define VNAND_CRASH_HOOKS_H

#include "decide.h"

struct proc_dir_entry;
struct vnand_chip;
struct vnand_read;

/* What a program brings; an erase and a mark bring nothing. */
struct vnand_payload {
	u32 column;
	const u8 *data;
	const u8 *oob;
};

#ifdef VNAND_CRASH
/*
 * Before a change is applied.
 * Return: 0, or -EIO: the power is off, the change does not happen.
 */
int vnand_crash_begin(struct vnand_chip *chip, const struct vnand_change *c);

/* After it was applied. */
void vnand_crash_end(struct vnand_chip *chip, const struct vnand_change *c,
		     const struct vnand_payload *payload);

/* What a cut did to the page changes what reading it gives: errors first. */
void vnand_crash_decide_read(struct vnand_chip *chip,
			     const struct vnand_read *r,
			     struct vnand_read_decision *d);

/* And then the bytes, which are in the buffers already. */
void vnand_crash_contents(struct vnand_chip *chip, struct vnand_read *r);

/* Somebody asks whether @block is bad. */
void vnand_crash_queried(struct vnand_chip *chip, u32 block);

/* Must the contents of erased blocks stay in memory? */
bool vnand_crash_keeps(const struct vnand_chip *chip);

int vnand_crash_proc_add(struct vnand_chip *chip, struct proc_dir_entry *dir);
void vnand_crash_close(struct vnand_chip *chip);
#else
static inline int vnand_crash_begin(struct vnand_chip *chip,
				    const struct vnand_change *c)
{
	return 0;
}

static inline void vnand_crash_end(struct vnand_chip *chip,
				   const struct vnand_change *c,
				   const struct vnand_payload *payload)
{
}

static inline void vnand_crash_decide_read(struct vnand_chip *chip,
					   const struct vnand_read *r,
					   struct vnand_read_decision *d)
{
}

static inline void vnand_crash_contents(struct vnand_chip *chip,
					struct vnand_read *r)
{
}

static inline void vnand_crash_queried(struct vnand_chip *chip, u32 block)
{
}

static inline bool vnand_crash_keeps(const struct vnand_chip *chip)
{
	return false;
}

static inline int vnand_crash_proc_add(struct vnand_chip *chip,
				       struct proc_dir_entry *dir)
{
	return 0;
}

static inline void vnand_crash_close(struct vnand_chip *chip)
{
}
#endif

#endif
