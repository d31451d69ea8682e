/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * messages.h - what the kernel said during a state: warnings and worse, and
 * notices, too, where it refused to mount: JFFS2 gives its reason as one.
 *
 * They come from /proc/kmsg, which gives many lines by one read, where /dev/kmsg
 * gives one.  Nobody else may read it at the same time.
 */
#ifndef FFSCRASH_MESSAGES_H
#define FFSCRASH_MESSAGES_H

#include <stddef.h>

#include "core/error.h"
#include "text/text.h"

/* Of one state; what is beyond is left out, and "..." says so. */
#define MESSAGES_BYTES_MAX ((size_t)32 << 10)
#define MESSAGES_READ_BYTES ((size_t)16 << 10)

/* For messages_show(): errors, warnings and worse, or what the lab begins with. */
#define MESSAGES_SHOW_ERRORS 4
#define MESSAGES_SHOW_WARNINGS 5
#define MESSAGES_SHOW_ALL 7

/** messages_open() - the descriptor to read from, not waiting. */
int messages_open(struct ffs_error *error);

/**
 * messages_show() - from which level on the console has them.
 *
 * Every line that a console prints costs the host some system calls. UBI says a
 * lot when all is well, and JFFS2 warns of every page that it cannot read.
 */
void messages_show(unsigned int level);

/** messages_drain() - append all that is there. Return: 0 or an errno. */
int messages_drain(int fd, struct text *raw);

#define MESSAGES_WARNINGS 4
#define MESSAGES_NOTICES 5

/**
 * messages_filter() - of lines "<PRIORITY>[TIME] TEXT" those of level
 * @wanted or worse, as "LEVEL TEXT".
 */
void messages_filter(const struct text *raw, unsigned int wanted,
		     struct text *out);

#endif
