// SPDX-License-Identifier: GPL-2.0-only
/*
 * error.c - fills struct ffs_error; see error.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

int ffs_fail(struct ffs_error *error, int errnum, const char *format, ...)
{
	va_list args;
	size_t used;

	if (!error)
		return -1;
	error->errnum = errnum;
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	used = strlen(error->message);
	if (errnum)
		snprintf(error->message + used, sizeof(error->message) - used,
			 ": %s", strerror(errnum));
	return -1;
}

const char *ffs_errno_name(int errnum)
{
	const char *name = errnum ? strerrorname_np(errnum) : "";

	return name ? name : "UNKNOWN";
}
