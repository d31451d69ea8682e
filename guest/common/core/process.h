/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process.h - runs other programs.
 *
 * Their standard output goes to the agent's standard error: standard output
 * may be the channel of the records.
 */
#ifndef FFSAGENT_PROCESS_H
#define FFSAGENT_PROCESS_H

#include <stdbool.h>

#include "core/error.h"

/**
 * process_stay_in_memory() - lock all memory of the process, and bring what it
 * allocates from now on at once.
 *
 * A small guest under memory pressure must not evict the agent and read it back
 * in a timed phase; and for the host, pages that come together are cheaper than
 * one fault each.  Children have to call it themselves.  Only for root without a
 * limit: under one, later allocations would fail.
 */
void process_stay_in_memory(void);

/**
 * process_run() - run a program and wait for it.
 * @args: arguments after the program's name, separated by spaces.
 *
 * Return: 0 if it exited with 0; otherwise -1 with what became of it.
 */
int process_run(const char *path, const char *args, struct ffs_error *error);

/**
 * process_shell() - an interactive shell.
 * @own_console: make the console its controlling terminal (as init).
 *
 * Its exit status is not judged: it is that of the last command typed.
 */
int process_shell(const char *path, bool own_console, struct ffs_error *error);

#endif
