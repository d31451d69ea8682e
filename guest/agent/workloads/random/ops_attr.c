// SPDX-License-Identifier: GPL-2.0-only
/*
 * ops_attr.c - modes, owners, times.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "workloads/random/target.h"

#define NS_PER_S 1000000000ll

void op_chmod(struct history *h)
{
	struct entry *entry = pick_entry(h, KIND_ANY & ~KIND_LINK);
	mode_t mode = chance(h, 30) ? 0644 : draw_below(h, 010000);
	char path[PATH_BYTES];

	if (!entry)
		return;
	entry_path(h, entry, path);
	describe(h, entry->node, NULL, "chmod %s from %o to %o",
		 show_path(h, entry->dir, entry->name), entry->node->mode,
		 mode);
	CALL(h, 0, chmod(path, mode));
	entry->node->mode = (entry->node->mode & S_IFMT) | mode;
	touch(h, entry->node, CHANGED);
}

/* Even of root a change of owner takes the set-id bits that execute. */
static void own(struct node *node, uid_t uid, gid_t gid)
{
	node->uid = uid;
	node->gid = gid;
	if (S_ISDIR(node->mode))
		return;
	node->mode &= ~S_ISUID;
	if (node->mode & S_IXGRP)
		node->mode &= ~S_ISGID;
}

void op_chown(struct history *h)
{
	struct entry *entry = pick_entry(h, KIND_ANY);
	uint64_t limit = chance(h, 80) ? 1000 : h->opt.id_max;
	uid_t uid = draw_below(h, limit + 1);
	gid_t gid = draw_below(h, limit + 1);
	char path[PATH_BYTES];

	if (!entry)
		return;
	entry_path(h, entry, path);
	describe(h, entry->node, NULL, "chown %s to %u:%u",
		 show_path(h, entry->dir, entry->name), uid, gid);
	CALL(h, 0, lchown(path, uid, gid));
	own(entry->node, uid, gid);
	touch(h, entry->node, CHANGED);
}

static uint64_t choose_second(struct history *h)
{
	static const uint64_t seconds[] = {
		1, 86400, 1000000000, 2147483647, 2208988800, 4102444800,
	};
	uint64_t second = seconds[draw_below(h, 6)];

	if (chance(h, 50))
		second = draw_below(h, h->opt.time_max_s);
	return second < h->opt.time_max_s ? second : h->opt.time_max_s;
}

static void set_exactly(const struct history *h, struct time_range *range,
			const struct timespec *time)
{
	int64_t ns = time->tv_sec * NS_PER_S + time->tv_nsec;

	range->low = ns - ns % (int64_t)h->opt.granularity_ns;
	range->high = range->low;
}

void op_utimens(struct history *h)
{
	struct entry *entry = pick_entry(h, KIND_ANY);
	struct timespec times[2];
	unsigned int kind = draw_below(h, 100);
	char path[PATH_BYTES];

	if (!entry)
		return;
	times[0].tv_sec = choose_second(h);
	times[0].tv_nsec = draw_below(h, NS_PER_S);
	times[1].tv_sec = choose_second(h);
	times[1].tv_nsec = draw_below(h, NS_PER_S);
	if (kind < 10)
		times[1].tv_nsec = UTIME_OMIT;
	else if (kind < 20)
		times[1].tv_nsec = UTIME_NOW;
	entry_path(h, entry, path);
	describe(h, entry->node, NULL, "utimensat %s to %lld.%09ld%s",
		 show_path(h, entry->dir, entry->name),
		 (long long)times[1].tv_sec, times[1].tv_nsec,
		 kind < 10 ? " (omit)" : kind < 20 ? " (now)" : "");
	CALL(h, 0, utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW));
	touch(h, entry->node, CHANGED);
	if (kind >= 20)
		set_exactly(h, &entry->node->mtime, &times[1]);
	else if (kind >= 10)
		touch(h, entry->node, MODIFIED);
}
