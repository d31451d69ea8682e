// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_observe.c - one observer that looks again and again says what a new one
 * says; what it sees at all is checked by test_ffscrash.py.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/random.h"
#include "harness.h"
#include "observe/observe.h"

void test_observe(void);

#define FILES 12
#define FILE_BYTES 9000

static void change(const char *root, struct rng *rng)
{
	unsigned char bytes[FILE_BYTES];
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/f%u", root,
		 (unsigned int)rng_below(rng, FILES));
	if (!rng_below(rng, 8)) {
		unlink(path);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	rng_fill(rng, bytes, sizeof(bytes));
	if (fd < 0)
		return;
	if (!rng_below(rng, 3))
		(void)!ftruncate(fd, (off_t)rng_below(rng, FILE_BYTES));
	(void)!pwrite(fd, bytes, (size_t)rng_below(rng, 2000),
		      (off_t)rng_below(rng, FILE_BYTES));
	close(fd);
}

static bool are_alike(struct observer *old, const char *root)
{
	struct text one = { 0 }, other = { 0 };
	struct observer *new = observer_new(true, NULL);
	bool alike;
	size_t n = observe(old, root, &one);

	alike = new && observe(new, root, &other) == n && one.n == other.n &&
		!memcmp(one.data, other.data, one.n);
	observer_free(new);
	text_free(&one);
	text_free(&other);
	return alike;
}

static void remove_all(const char *root)
{
	char path[160];
	int i;

	for (i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/f%d", root, i);
		unlink(path);
	}
	rmdir(root);
}

void test_observe(void)
{
	struct observer *observer = observer_new(true, NULL);
	char root[128];
	struct rng rng;
	int i;

	rng_seed(&rng, 1);
	scratch_template(root, sizeof(root), "observe");
	if (!CHECK(observer && mkdtemp(root)))
		return;
	for (i = 0; i < 300; i++) {
		change(root, &rng);
		if (!CHECKF(are_alike(observer, root), "after change %d", i))
			break;
	}
	remove_all(root);
	observer_free(observer);
}
