/* SPDX-License-Identifier: GPL-2.0-only */
/* What C tests of the modules share: checks that are counted. */
#ifndef C_CHECK_H
#define C_CHECK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int passed, failed;

static void check(bool good, const char *format, ...)
{
	va_list args;

	passed += good;
	failed += !good;
	if (good)
		return;
	printf("FAILED: ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

static inline int checked(void)
{
	printf("%d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}

#endif
