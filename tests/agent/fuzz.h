/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz.h - what a fuzz target gives to the driver in fuzz_main.c.
 *
 * The targets have libFuzzer's entry point and so can be linked with it where
 * clang is at hand; the driver needs gcc only.
 */
#ifndef FFSAGENT_FUZZ_H
#define FFSAGENT_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Inputs to start from, and words worth inserting; both end at NULL. */
extern const char *const fuzz_seeds[];
extern const char *const fuzz_words[];

#endif
