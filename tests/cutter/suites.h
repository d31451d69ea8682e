/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * suites.h - the unit tests of ffscrash, for the harness of the agent's.
 */
#define SUITES(SUITE) \
	SUITE(text) \
	SUITE(numbers) \
	SUITE(history) \
	SUITE(contents) \
	SUITE(sectors) \
	SUITE(chip) \
	SUITE(states) \
	SUITE(messages) \
	SUITE(digests) \
	SUITE(nodes) \
	SUITE(observe) \
	SUITE(slots) \
	SUITE(moves) \
	SUITE(ec_header) \
	SUITE(words)
