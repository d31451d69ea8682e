// SPDX-License-Identifier: GPL-2.0-only
/*
 * error.c - fills struct ffs_error; see error.h.
 *
 * The names of errors are a table here: glibc has a function for them, musl,
 * which the lab's agent is linked with, has not.  Nor has musl a text for each.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"

#define NAMED(number) [number] = #number
static const char *const names[] = {
	NAMED(EPERM), NAMED(ENOENT), NAMED(ESRCH), NAMED(EINTR), NAMED(EIO),
	NAMED(ENXIO), NAMED(E2BIG), NAMED(ENOEXEC), NAMED(EBADF),
	NAMED(ECHILD), NAMED(EAGAIN), NAMED(ENOMEM), NAMED(EACCES),
	NAMED(EFAULT), NAMED(ENOTBLK), NAMED(EBUSY), NAMED(EEXIST),
	NAMED(EXDEV), NAMED(ENODEV), NAMED(ENOTDIR), NAMED(EISDIR),
	NAMED(EINVAL), NAMED(ENFILE), NAMED(EMFILE), NAMED(ENOTTY),
	NAMED(ETXTBSY), NAMED(EFBIG), NAMED(ENOSPC), NAMED(ESPIPE),
	NAMED(EROFS), NAMED(EMLINK), NAMED(EPIPE), NAMED(EDOM), NAMED(ERANGE),
	NAMED(EDEADLK), NAMED(ENAMETOOLONG), NAMED(ENOLCK), NAMED(ENOSYS),
	NAMED(ENOTEMPTY), NAMED(ELOOP), NAMED(ENOMSG), NAMED(EIDRM),
	NAMED(ECHRNG), NAMED(EL2NSYNC), NAMED(EL3HLT), NAMED(EL3RST),
	NAMED(ELNRNG), NAMED(EUNATCH), NAMED(ENOCSI), NAMED(EL2HLT),
	NAMED(EBADE), NAMED(EBADR), NAMED(EXFULL), NAMED(ENOANO),
	NAMED(EBADRQC), NAMED(EBADSLT), NAMED(EBFONT), NAMED(ENOSTR),
	NAMED(ENODATA), NAMED(ETIME), NAMED(ENOSR), NAMED(ENONET),
	NAMED(ENOPKG), NAMED(EREMOTE), NAMED(ENOLINK), NAMED(EADV),
	NAMED(ESRMNT), NAMED(ECOMM), NAMED(EPROTO), NAMED(EMULTIHOP),
	NAMED(EDOTDOT), NAMED(EBADMSG), NAMED(EOVERFLOW), NAMED(ENOTUNIQ),
	NAMED(EBADFD), NAMED(EREMCHG), NAMED(ELIBACC), NAMED(ELIBBAD),
	NAMED(ELIBSCN), NAMED(ELIBMAX), NAMED(ELIBEXEC), NAMED(EILSEQ),
	NAMED(ERESTART), NAMED(ESTRPIPE), NAMED(EUSERS), NAMED(ENOTSOCK),
	NAMED(EDESTADDRREQ), NAMED(EMSGSIZE), NAMED(EPROTOTYPE),
	NAMED(ENOPROTOOPT), NAMED(EPROTONOSUPPORT), NAMED(ESOCKTNOSUPPORT),
	NAMED(EOPNOTSUPP), NAMED(EPFNOSUPPORT), NAMED(EAFNOSUPPORT),
	NAMED(EADDRINUSE), NAMED(EADDRNOTAVAIL), NAMED(ENETDOWN),
	NAMED(ENETUNREACH), NAMED(ENETRESET), NAMED(ECONNABORTED),
	NAMED(ECONNRESET), NAMED(ENOBUFS), NAMED(EISCONN), NAMED(ENOTCONN),
	NAMED(ESHUTDOWN), NAMED(ETOOMANYREFS), NAMED(ETIMEDOUT),
	NAMED(ECONNREFUSED), NAMED(EHOSTDOWN), NAMED(EHOSTUNREACH),
	NAMED(EALREADY), NAMED(EINPROGRESS), NAMED(ESTALE), NAMED(EUCLEAN),
	NAMED(ENOTNAM), NAMED(ENAVAIL), NAMED(EISNAM), NAMED(EREMOTEIO),
	NAMED(EDQUOT), NAMED(ENOMEDIUM), NAMED(EMEDIUMTYPE), NAMED(ECANCELED),
	NAMED(ENOKEY), NAMED(EKEYEXPIRED), NAMED(EKEYREVOKED),
	NAMED(EKEYREJECTED), NAMED(EOWNERDEAD), NAMED(ENOTRECOVERABLE),
	NAMED(ERFKILL), NAMED(EHWPOISON),
};

static const char *errno_text(int errnum)
{
	const char *text = strerror(errnum);

	return strcmp(text, strerror(-1)) ? text : ffs_errno_name(errnum);
}

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
			 ": %s", errno_text(errnum));
	return -1;
}

const char *ffs_errno_name(int errnum)
{
	if (!errnum)
		return "";
	if (errnum < 0 || (size_t)errnum >= sizeof(names) / sizeof(*names) ||
	    !names[errnum])
		return "UNKNOWN";
	return names[errnum];
}
