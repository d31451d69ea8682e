/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * init.h - the agent as the init process of a lab guest.
 */
#ifndef FFSAGENT_INIT_H
#define FFSAGENT_INIT_H

/** init_main() - set the guest up, run its plan, power off; never returns. */
void init_main(void) __attribute__((noreturn));

#endif
