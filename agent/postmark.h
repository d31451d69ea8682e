/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FFSAGENT_POSTMARK_H
#define FFSAGENT_POSTMARK_H
#include "record.h"
enum ffs_exit postmark_main(const char *config, struct record_sink *sink);
#endif
