/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live_page.h - a file that stands for the flash monitor's live page.
 */
#ifndef TESTS_LIVE_PAGE_H
#define TESTS_LIVE_PAGE_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../kmod/flashmon/live_format.h"
#include "harness.h"

/* A page of zeros in the file, mapped for writing; the test ends if that fails. */
static inline struct flashmon_live *live_page_new(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	void *page;

	if (!CHECK(fd >= 0) ||
	    !CHECK(!ftruncate(fd, sizeof(struct flashmon_live))))
		exit(1);
	page = mmap(NULL, sizeof(struct flashmon_live), PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
	close(fd);
	if (!CHECK(page != MAP_FAILED))
		exit(1);
	return page;
}

#endif
