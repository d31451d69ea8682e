// SPDX-License-Identifier: GPL-2.0-only
/* check_mount.c - mounts, read-only, space. */
#include <sys/mount.h>
#include <sys/statfs.h>
#include <sys/xattr.h>

#include "posix.h"

static void need_mount(void)
{
	if (!can_remount())
		skip("not mounted by this program");
}

static void expect_read_only(void)
{
	FAILS(EROFS, open("new", O_CREAT | O_RDWR, 0644));
	FAILS(EROFS, open("file", O_RDWR));
	FAILS(EROFS, open("file", O_RDONLY | O_TRUNC));
	FAILS(EROFS, truncate("file", 0));
	FAILS(EROFS, mkdir("new", 0755));
	FAILS(EROFS, mknod("new", S_IFIFO | 0644, 0));
	FAILS(EROFS, symlink("x", "new"));
	FAILS(EROFS, link("file", "new"));
	FAILS(EROFS, rename("file", "new"));
	FAILS(EROFS, unlink("file"));
	FAILS(EROFS, rmdir("dir"));
	FAILS(EROFS, chmod("file", 0600));
	FAILS(EROFS, lchown("file", 1, 1));
	FAILS(EROFS, utimensat(AT_FDCWD, "file", NULL, 0));
	FAILS(EROFS, setxattr("file", "user.a", "b", 1, 0));
	FAILS(EROFS, access("file", W_OK));
	FAILS(EEXIST, mkdir("dir", 0755));
	FAILS(ENOENT, open("none", O_RDONLY));
	OK(access("file", R_OK));
	expect_pattern("file", 5000);
}

static void read_only(void)
{
	need_mount();
	make_file("file", 5000);
	OK(mkdir("dir", 0755));
	OK(mount(NULL, opt.dir, NULL, MS_REMOUNT | MS_RDONLY, mount_data()));
	expect_read_only();
	OK(mount(NULL, opt.dir, NULL, MS_REMOUNT, mount_data()));
	make_file("dir/later", 3000);
	leave_and_unmount();
	mount_and_enter(MS_RDONLY);
	expect_read_only();
	expect_pattern("dir/later", 3000);
	/* From a read-only mount to a writable one. */
	OK(mount(NULL, opt.dir, NULL, MS_REMOUNT, mount_data()));
	make_file("dir/last", 100);
	remount();
	expect_pattern("dir/last", 100);
	expect_pattern("file", 5000);
}

static void busy(void)
{
	int fd;

	need_mount();
	fd = must_open("file", O_CREAT | O_RDWR, 0644);
	EQUAL(4, write(fd, "data", 4));
	FAILS(EBUSY, umount(opt.dir));
	FAILS(EBUSY, mount(NULL, opt.dir, NULL, MS_REMOUNT | MS_RDONLY,
			   mount_data()));
	EQUAL(4, write(fd, "more", 4));
	OK(close(fd));
	expect_file("file", "datamore", 8);
	fd = must_open("file", O_RDONLY, 0);
	OK(mount(NULL, opt.dir, NULL, MS_REMOUNT | MS_RDONLY, mount_data()));
	OK(mount(NULL, opt.dir, NULL, MS_REMOUNT, mount_data()));
	OK(close(fd));
}

static void unknown_option(void)
{
	need_mount();
	make_file("file", 3000);
	leave_and_unmount();
	FAILS(EINVAL, mount(opt.source, opt.dir, opt.type, 0,
			    "no-such-option"));
	mount_and_enter(0);
	expect_pattern("file", 3000);
}

static void many_mounts(void)
{
	char name[20];
	int i;

	need_mount();
	for (i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "file%d", i);
		if (i % 3)
			make_file(name, i * 1000);
		remount();
	}
	for (i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "file%d", i);
		if (i % 3)
			expect_pattern(name, i * 1000);
		else
			TRUE(!exists(name), "%s is there", name);
	}
}

/* With the mount flag sync nothing waits in memory. */
static void synchronous(void)
{
	need_mount();
	leave_and_unmount();
	mount_and_enter(MS_SYNCHRONOUS | MS_DIRSYNC);
	make_file("file", 20001);
	OK(mkdir("dir", 0755));
	OK(rename("file", "dir/file"));
	leave_and_unmount();
	mount_and_enter(MS_NOATIME);
	expect_pattern("dir/file", 20001);
}

static void space(void)
{
	struct statfs before, during, after;

	sync_here();
	OK(statfs(".", &before));
	EQUAL(opt.name_max, before.f_namelen);
	TRUE(before.f_type && before.f_bsize && before.f_blocks,
	     "statfs() is empty");
	TRUE(before.f_bavail <= before.f_bfree &&
	     before.f_bfree < before.f_blocks,
	     "statfs(): %llu blocks, %llu free, %llu available",
	     (unsigned long long)before.f_blocks,
	     (unsigned long long)before.f_bfree,
	     (unsigned long long)before.f_bavail);
	make_file("file", 2 << 20);
	sync_here();
	OK(statfs(".", &during));
	TRUE(during.f_bfree < before.f_bfree, "a file takes no space");
	EQUAL(before.f_blocks, during.f_blocks);
	TRUE(during.f_fsid.__val[0] == before.f_fsid.__val[0],
	     "the file system's id changed");
	OK(unlink("file"));
	sync_here();
	OK(statfs(".", &after));
	TRUE((after.f_bfree + (1 << 20) / after.f_bsize) > before.f_bfree,
	     "free blocks: before %llu, after %llu",
	     (unsigned long long)before.f_bfree,
	     (unsigned long long)after.f_bfree);
}

/* Return: bytes that fitted. */
static uint64_t fill(const char *name, uint64_t limit)
{
	static unsigned char data[65536];
	int fd = must_open(name, O_CREAT | O_RDWR, 0644);
	uint64_t bytes = 0;

	for (;;) {
		ssize_t done;

		pattern(bytes, data, sizeof(data));
		done = write(fd, data, sizeof(data));
		if (done < 0)
			break;
		bytes += done;
		TRUE(bytes < limit, "it is never full");
	}
	EQUAL(ENOSPC, errno);
	EQUAL(bytes, status_of(name).st_size);
	OK(close(fd));
	return bytes;
}

static void full(void)
{
	struct statfs status;
	uint64_t bytes, again;

	OK(statfs(".", &status));
	if (status.f_blocks * status.f_bsize > 1ull << 30)
		skip("the file system is too large to fill");
	make_file("kept", 50000);
	bytes = fill("full", 2ull << 30);
	TRUE(bytes > status.f_bavail * status.f_bsize / 2,
	     "%llu bytes were available, %llu fitted",
	     (unsigned long long)status.f_bavail * status.f_bsize,
	     (unsigned long long)bytes);
	remount();
	expect_pattern("kept", 50000);
	EQUAL(bytes, status_of("full").st_size);
	OK(unlink("full"));
	sync_here();
	again = fill("full", 2ull << 30);
	TRUE(again > bytes - bytes / 10, "first %llu bytes fitted, then %llu",
	     (unsigned long long)bytes, (unsigned long long)again);
	/* Only removing must work without any space. */
	TRUE(!truncate("full", 0) || errno == ENOSPC, "truncate(): %s",
	     strerror(errno));
	OK(unlink("full"));
	make_file("new", 100000);
	remount();
	expect_pattern("new", 100000);
	expect_pattern("kept", 50000);
}

const struct check mount_checks[] = {
	{ "mount-read-only", read_only },
	{ "mount-busy", busy },
	{ "mount-unknown-option", unknown_option },
	{ "mount-many", many_mounts },
	{ "mount-synchronous", synchronous },
	{ "space-statfs", space },
	{ "space-full", full },
	{ NULL, NULL },
};
