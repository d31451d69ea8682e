/* SPDX-License-Identifier: GPL-2.0-only */
/* What a test of the format sees: the codecs, and what all such tests share. */
#ifndef YAFFS_TEST_HARNESS_H
#define YAFFS_TEST_HARNESS_H

#include "../../test/harness.h"
#include "../format/codec.h"

#endif
