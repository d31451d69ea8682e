/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * commands.h - what the two halves of the command language share:
 * postmark.c (reading, matching, running) and settings.c ("set ...").
 * Private to them.
 */
#ifndef FFSAGENT_POSTMARK_COMMANDS_H
#define FFSAGENT_POSTMARK_COMMANDS_H

#include "postmark/postmark.h"

/* Where a line came from; handed to each command for its messages. */
struct origin {
	const char *file;
	unsigned int line;
};

typedef void (*command_function)(struct postmark *postmark,
				 const struct origin *origin,
				 const char *argument);

/** complain() - report a line that cannot be executed, and remember it. */
void complain(struct postmark *postmark, const struct origin *origin,
	      const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** postmark_forget_locations() - empty the list of locations. */
void postmark_forget_locations(struct ffsmark_params *params);

/* One function per setting; the argument has no blanks around it. */
void command_location(struct postmark *postmark, const struct origin *origin,
		      const char *argument);
void command_size(struct postmark *postmark, const struct origin *origin,
		  const char *argument);
void command_number(struct postmark *postmark, const struct origin *origin,
		    const char *argument);
void command_seed(struct postmark *postmark, const struct origin *origin,
		  const char *argument);
void command_transactions(struct postmark *postmark, const struct origin *origin,
			  const char *argument);
void command_subdirectories(struct postmark *postmark, const struct origin *origin,
			    const char *argument);
void command_read(struct postmark *postmark, const struct origin *origin,
		  const char *argument);
void command_write(struct postmark *postmark, const struct origin *origin,
		   const char *argument);
void command_buffering(struct postmark *postmark, const struct origin *origin,
		       const char *argument);
void command_bias_read(struct postmark *postmark, const struct origin *origin,
		       const char *argument);
void command_bias_create(struct postmark *postmark, const struct origin *origin,
			 const char *argument);
void command_report(struct postmark *postmark, const struct origin *origin,
		    const char *argument);
void command_valid(struct postmark *postmark, const struct origin *origin,
		   const char *argument);
void command_invalid(struct postmark *postmark, const struct origin *origin,
		     const char *argument);
void command_drop_caches(struct postmark *postmark, const struct origin *origin,
			 const char *argument);
void command_text(struct postmark *postmark, const struct origin *origin,
		  const char *argument);
void command_verify(struct postmark *postmark, const struct origin *origin,
		    const char *argument);
void command_full(struct postmark *postmark, const struct origin *origin,
		  const char *argument);
void command_monitor(struct postmark *postmark, const struct origin *origin,
		     const char *argument);

#endif
