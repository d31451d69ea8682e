/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * walk.h - many states of the flash after a power cut, one after the other, each
 * mounted, observed and used.
 *
 * A state is the flash after the first K operations of the chip's log, with
 * operation K as a cut leaves it.  The chip goes there and back (chip.h).  What
 * is printed:
 *
 *	begin K KIND VARIANT		written before anything happens to it
 *	state K KIND VARIANT
 *	cut ERRNO			only if the chip refuses
 *	attach ERRNO NS READS PROGRAMS ERASES		with UBI only
 *	mount ERRNO NS READS PROGRAMS ERASES ro=0|1
 *	seen DIGEST BLOCKS FREE FREE_INODES
 *	use ok | use STEP ERRNO
 *	after DIGEST BLOCKS FREE FREE_INODES
 *	attach ...			again, with UBI
 *	remount ERRNO NS READS PROGRAMS ERASES ro=0|1
 *	again DIGEST BLOCKS FREE FREE_INODES
 *	message DIGEST
 *	touched 0|1, recorded N
 *	ended K KIND VARIANT
 *
 * and "walked N" at the end.  DIGEST stands for the lines of observe.h or of
 * messages.h, which are printed before they are first named, between "text
 * DIGEST" and "end".  A cut in the recovery from a cut has " / K2 KIND2
 * VARIANT2" behind the first; before the first of these comes "recovery K KIND
 * VARIANT OPERATIONS".  "ro" and the numbers behind DIGEST are those of statfs()
 * after the observation.
 *
 * A state that ends the guest ends the output behind its line "begin": the host
 * goes on behind it.  "stuck STEP ERRNO" says that it cannot be left (a mount
 * that stays busy); the program then ends.
 */
#ifndef FFSCRASH_WALK_H
#define FFSCRASH_WALK_H

#include "core/error.h"
#include "walk/states.h"
#include "walk/walker.h"

/** walk_states() - through all @states. */
int walk_states(const struct walk *walk, const struct states *states,
	 struct ffs_error *error);

#endif
