/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * output.h - where the lines go that are for the host.
 */
#ifndef FFSCRASH_OUTPUT_H
#define FFSCRASH_OUTPUT_H

#include "core/error.h"

/**
 * output_open() - a file that is made if it is missing, or a serial line; what is
 * written comes behind what is there.
 * @path: NULL for standard output.
 *
 * Return: the descriptor, or -1 with @error.
 */
int output_open(const char *path, struct ffs_error *error);

#endif
