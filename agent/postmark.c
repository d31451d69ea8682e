// SPDX-License-Identifier: GPL-2.0-only
#include "postmark.h"
enum ffs_exit postmark_main(const char *config, struct record_sink *sink)
{
	(void)config;
	(void)sink;
	return EXIT_USAGE;
}
