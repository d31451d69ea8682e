// SPDX-License-Identifier: GPL-2.0-only
/*
 * ops_tree.c - names appear and disappear.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "workloads/random/ops_tree.h"

static mode_t choose_mode(struct history *h)
{
	return chance(h, 70) ? 0644 : draw_below(h, 010000);
}

/* A directory, and a name that mostly is not there yet. */
void place_pick(struct history *h, struct place *place)
{
	struct entry *used = chance(h, 4) ? pick_entry(h, KIND_ANY) : NULL;

	place->dir = pick_dir(h);
	if (used) {
		place->dir = used->dir;
		strcpy(place->name, used->name);
	} else {
		new_name(h, place->name);
	}
	place->taken = entry_find(place->dir, place->name);
	node_path(h, place->dir, place->name, place->path);
}

const char *place_name(struct history *h, const struct place *place)
{
	return show_path(h, place->dir, place->name);
}

/* A new node at @place: a directory with the set-group-id bit hands it on. */
struct node *place_new(struct history *h, const struct place *place,
		       mode_t mode)
{
	struct node *node = node_new(&h->model, mode);

	if (place->dir->mode & S_ISGID) {
		node->gid = place->dir->gid;
		if (S_ISDIR(mode))
			node->mode |= S_ISGID;
	}
	entry_add(&h->model, place->dir, place->name, node);
	touch(h, node, MODIFIED | CHANGED);
	touch(h, place->dir, MODIFIED | CHANGED);
	return node;
}

void op_create(struct history *h)
{
	mode_t mode = choose_mode(h);
	bool keep = chance(h, 20), exclusive = chance(h, 60);
	struct handle *handle = handle_free(h);
	struct place place;
	struct node *node;
	int fd = -1, wanted;

	place_pick(h, &place);
	wanted = place.taken ? EEXIST : 0;
	exclusive = exclusive || wanted;
	describe(h, NULL, place.dir, "create %s mode %o",
		 place_name(h, &place), mode);
	CALL(h, wanted, fd = open(place.path, O_RDWR | O_CREAT | O_CLOEXEC |
				  (exclusive ? O_EXCL : 0), mode));
	if (wanted)
		return;
	node = place_new(h, &place, S_IFREG | mode);
	describe(h, node, NULL, "created %s", place_name(h, &place));
	if (keep && handle)
		handle_open(h, handle, node, fd, false);
	else
		CALL(h, 0, close(fd));
}

void op_mkdir(struct history *h)
{
	mode_t mode = chance(h, 85) ? 0755 : 0700 | draw_below(h, 02000);
	struct place place;
	int wanted;

	place_pick(h, &place);
	if (node_depth(place.dir) >= DEPTH_MAX)
		return;
	wanted = place.taken ? EEXIST : 0;
	describe(h, NULL, place.dir, "mkdir %s mode %o",
		 place_name(h, &place), mode);
	CALL(h, wanted, mkdir(place.path, mode));
	/* mkdir() takes no set-id bits, only the sticky one. */
	if (!wanted)
		describe(h, place_new(h, &place, S_IFDIR | (mode & 01777)),
			 NULL, "made %s", place_name(h, &place));
}

/* A target need not exist: any text will do, most of all the longest. */
static size_t choose_target(struct history *h, char *target)
{
	size_t i, length = draw_between(h, 1, 40);
	unsigned int kind = draw_below(h, 100);
	struct rng rng;

	if (kind < 25)
		length = draw_between(h, 1, h->opt.symlink_max);
	else if (kind < 45)
		length = h->opt.symlink_max - draw_below(h, 2);
	rng_seed(&rng, draw_next(h));
	for (i = 0; i < length; i++) {
		unsigned char c = rng_next(&rng) >> 32;

		target[i] = kind % 2 && c ? c : "abcdef/.gh-012"[c % 14];
	}
	target[length] = '\0';
	return length;
}

void op_symlink(struct history *h)
{
	char target[PATH_BYTES + 1];
	size_t length = choose_target(h, target);
	struct place place;
	int wanted;

	place_pick(h, &place);
	wanted = place.taken ? EEXIST : 0;
	describe(h, NULL, place.dir, "symlink %s of length %zu",
		 place_name(h, &place), length);
	CALL(h, wanted, symlink(target, place.path));
	if (!wanted) {
		struct node *node = place_new(h, &place, S_IFLNK | 0777);

		node->target = strcpy(allocate(length + 1), target);
		node->size = length;
		describe(h, node, NULL, "made %s", place_name(h, &place));
	}
}

void op_mknod(struct history *h)
{
	static const mode_t types[] = { S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK };
	mode_t mode = types[draw_below(h, 4)] |
		      (draw_next(h) & 0777);
	dev_t rdev = 0;
	struct place place;
	struct node *node;
	int wanted;

	if (S_ISCHR(mode) || S_ISBLK(mode))
		rdev = h->opt.small_devices || chance(h, 50) ?
			makedev(draw_between(h, 1, 255),
				draw_below(h, 256)) :
			makedev(draw_between(h, 1, 4095),
				draw_below(h, 1 << 20));
	place_pick(h, &place);
	wanted = place.taken ? EEXIST : 0;
	describe(h, NULL, place.dir, "mknod %s mode %o device %u:%u",
		 place_name(h, &place), mode, major(rdev), minor(rdev));
	CALL(h, wanted, mknod(place.path, mode, rdev));
	if (!wanted) {
		node = place_new(h, &place, mode);
		node->rdev = rdev;
		describe(h, node, NULL, "made %s", place_name(h, &place));
	}
}

void op_link(struct history *h)
{
	struct entry *from = pick_entry(h, KIND_NOT_DIR);
	char path[PATH_BYTES];
	struct place place;
	int wanted;

	if (!from)
		return;
	place_pick(h, &place);
	entry_path(h, from, path);
	wanted = place.taken ? EEXIST : 0;
	describe(h, from->node, place.dir, "link %s to %s",
		 show_path(h, from->dir, from->name), place_name(h, &place));
	CALL(h, wanted, link(path, place.path));
	if (!wanted) {
		entry_add(&h->model, place.dir, place.name, from->node);
		touch(h, place.dir, MODIFIED | CHANGED);
		touch_unless_lax(h, from->node, CHANGED);
	}
}

/* A name is gone; the node may live on by other names and open descriptors. */
void name_removed(struct history *h, struct entry *entry)
{
	struct node *node = entry->node, *dir = entry->dir;

	entry_remove(&h->model, entry);
	touch(h, dir, MODIFIED | CHANGED);
	if (node->links)
		touch_unless_lax(h, node, CHANGED);
	node_drop(&h->model, node);
}

static void unlink_entry(struct history *h, struct entry *entry)
{
	char path[PATH_BYTES];
	bool dir = S_ISDIR(entry->node->mode);
	int wanted = dir ? EISDIR : 0;

	entry_path(h, entry, path);
	describe(h, entry->node, entry->dir, "unlink %s, links %u%s",
		 show_path(h, entry->dir, entry->name), entry->node->links,
		 entry->node->handles ? ", open" : "");
	CALL(h, wanted, unlink(path));
	if (!wanted)
		name_removed(h, entry);
}

void op_unlink(struct history *h)
{
	struct entry *entry = pick_entry(h, chance(h, 97) ? KIND_NOT_DIR :
						   KIND_DIR);

	if (entry)
		unlink_entry(h, entry);
}

static void rmdir_entry(struct history *h, struct entry *entry)
{
	char path[PATH_BYTES];
	int wanted = 0;

	if (!S_ISDIR(entry->node->mode))
		wanted = ENOTDIR;
	else if (entry->node->entry_count)
		wanted = ENOTEMPTY;
	entry_path(h, entry, path);
	describe(h, entry->node, entry->dir, "rmdir %s",
		 show_path(h, entry->dir, entry->name));
	CALL(h, wanted, rmdir(path));
	if (!wanted)
		name_removed(h, entry);
}

void op_rmdir(struct history *h)
{
	struct entry *entry = pick_entry(h, chance(h, 92) ? KIND_DIR :
						   KIND_ANY);

	if (entry)
		rmdir_entry(h, entry);
}

void remove_below(struct history *h, struct node *dir)
{
	while (dir->entries) {
		struct entry *entry = dir->entries;

		if (S_ISDIR(entry->node->mode)) {
			remove_below(h, entry->node);
			rmdir_entry(h, entry);
		} else {
			unlink_entry(h, entry);
		}
	}
}

void op_remove_tree(struct history *h)
{
	struct entry *entry = pick_entry(h, KIND_DIR);

	if (!entry || node_height(entry->node) > 2)
		return;
	remove_below(h, entry->node);
	rmdir_entry(h, entry);
}

void remove_everything(struct history *h)
{
	remove_below(h, h->model.root);
}

/* A file that begins without a name, is written, and sometimes gets one. */
void op_tmpfile(struct history *h)
{
	struct handle *handle = handle_free(h);
	char path[PATH_BYTES], self[64];
	struct place place;
	struct node *node;
	int fd = -1;

	if (!h->opt.tmpfile || !handle)
		return;
	place_pick(h, &place);
	node_path(h, place.dir, NULL, path);
	describe(h, NULL, place.dir, "open O_TMPFILE");
	CALL(h, 0, fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0640));
	node = node_new(&h->model, S_IFREG | 0640);
	if (place.dir->mode & S_ISGID)
		node->gid = place.dir->gid;
	touch(h, node, MODIFIED | CHANGED);
	handle_open(h, handle, node, fd, false);
	if (place.taken || chance(h, 50))
		return;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	describe(h, node, place.dir, "link of the O_TMPFILE to %s",
		 place_name(h, &place));
	CALL(h, 0, linkat(AT_FDCWD, self, AT_FDCWD, place.path,
			  AT_SYMLINK_FOLLOW));
	entry_add(&h->model, place.dir, place.name, node);
	touch(h, place.dir, MODIFIED | CHANGED);
	touch_unless_lax(h, node, CHANGED);
}

/* Calls that must fail and change nothing. */
void op_refused(struct history *h)
{
	struct entry *dir = pick_entry(h, KIND_DIR);
	struct entry *file = pick_entry(h, KIND_FILE);
	char name[512], path[PATH_BYTES], other[PATH_BYTES + 2];
	char inside[PATH_BYTES + 16];
	struct node *where = pick_dir(h);

	memset(name, 'n', h->opt.name_max + 1);
	name[h->opt.name_max + 1] = '\0';
	node_path(h, where, name, path);
	describe(h, where, dir ? dir->node : NULL, "calls to be refused");
	CALL(h, ENAMETOOLONG, mkdir(path, 0755));
	CALL(h, ENAMETOOLONG, open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0644));
	CALL(h, ENAMETOOLONG, symlink("x", path));
	node_path(h, where, "no-such", path);
	if (!entry_find(where, "no-such")) {
		memset(other, 't', h->opt.symlink_max + 1);
		other[h->opt.symlink_max + 1] = '\0';
		CALL(h, ENAMETOOLONG, symlink(other, path));
		CALL(h, ENOENT, unlink(path));
		CALL(h, ENOENT, rmdir(path));
		CALL(h, ENOENT, rename(path, path));
		CALL(h, ENOENT, truncate(path, 0));
	}
	if (dir) {
		entry_path(h, dir, other);
		CALL(h, EPERM, link(other, path));
		CALL(h, EISDIR, open(other, O_RDWR | O_CLOEXEC));
		snprintf(inside, sizeof(inside), "%s/inside", other);
		if (!entry_find(dir->node, "inside"))
			CALL(h, EINVAL, rename(other, inside));
	}
	if (file) {
		entry_path(h, file, other);
		strcat(other, "/below");
		CALL(h, ENOTDIR, mkdir(other, 0755));
		CALL(h, ENOTDIR, unlink(other));
	}
}
