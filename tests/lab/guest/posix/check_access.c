// SPDX-License-Identifier: GPL-2.0-only
/* check_access.c - modes, owners, and what other users may do. */
#include "posix.h"

#define USER 1000
#define OTHER 1001

static void modes(void)
{
	mode_t mode;

	make_file("file", 10);
	OK(mkdir("dir", 0755));
	for (mode = 0; mode < 010000; mode += 0111) {
		OK(chmod("file", mode));
		EQUAL(S_IFREG | mode, status_of("file").st_mode);
	}
	OK(chmod("file", 07777));
	OK(chmod("dir", 07751));
	OK(chmod("/proc/self/cwd", 0711));
	remount();
	EQUAL(S_IFREG | 07777, status_of("file").st_mode);
	EQUAL(S_IFDIR | 07751, status_of("dir").st_mode);
	EQUAL(S_IFDIR | 0711, status_of(".").st_mode);
}

/* The mode of a new file is what was asked for, less the mask. */
static void masks(void)
{
	umask(027);
	OK(close(must_open("file", O_CREAT | O_RDWR, 0666)));
	OK(mkdir("dir", 0777));
	OK(mknod("fifo", S_IFIFO | 0666, 0));
	EQUAL(S_IFREG | 0640, status_of("file").st_mode);
	EQUAL(S_IFDIR | 0750, status_of("dir").st_mode);
	EQUAL(S_IFIFO | 0640, status_of("fifo").st_mode);
	umask(0);
	OK(close(must_open("all", O_CREAT | O_RDWR, 07777)));
	EQUAL(S_IFREG | 07777, status_of("all").st_mode);
	/* A mode without any right does not hinder the one who made it. */
	make_empty("x");
	OK(close(must_open("none", O_CREAT | O_RDWR, 0)));
	remount();
	EQUAL(S_IFREG, status_of("none").st_mode);
	EQUAL(S_IFREG | 0640, status_of("file").st_mode);
}

static void as_refused(void)
{
	FAILS(EOVERFLOW, open("new", O_CREAT | O_RDWR, 0644));
	FAILS(EOVERFLOW, mkdir("new", 0755));
}

/* Nothing gets an owner that would be another one after a mount. */
static void owner_refused(void)
{
	FAILS(EOVERFLOW, chown("file", opt.id_refused, -1));
	FAILS(EOVERFLOW, chown("file", -1, opt.id_refused));
	OK(mkdir("open", 0777));
	OK(chmod("open", 0777));
	OK(chdir("open"));
	as_user(opt.id_refused, opt.id_refused, as_refused);
	OK(chdir(".."));
}

static void owners(void)
{
	make_file("file", 10);
	OK(mkdir("dir", 0755));
	OK(symlink("file", "link"));
	OK(mkfifo("fifo", 0644));
	OK(chown("file", 65534, 100));
	OK(chown("dir", opt.id_max, opt.id_max));
	OK(lchown("link", 7, 8));
	OK(chown("fifo", -1, 9));
	OK(chown("fifo", 10, -1));
	if (opt.id_refused)
		owner_refused();
	remount();
	EQUAL(65534, status_of("file").st_uid);
	EQUAL(100, status_of("file").st_gid);
	EQUAL(opt.id_max, status_of("dir").st_uid);
	EQUAL(opt.id_max, status_of("dir").st_gid);
	EQUAL(7, status_of("link").st_uid);
	EQUAL(8, status_of("link").st_gid);
	EQUAL(10, status_of("fifo").st_uid);
	EQUAL(9, status_of("fifo").st_gid);
}

static void as_stranger(void)
{
	FAILS(EACCES, open("secret", O_RDONLY));
	FAILS(EACCES, open("secret", O_WRONLY));
	OK(close(must_open("readable", O_RDONLY, 0)));
	FAILS(EACCES, open("readable", O_WRONLY));
	FAILS(EACCES, open("readable", O_RDONLY | O_TRUNC));
	FAILS(EACCES, truncate("readable", 0));
	FAILS(EACCES, open("closed/file", O_RDONLY));
	FAILS(EACCES, open("new", O_CREAT | O_RDWR, 0644));
	FAILS(EACCES, mkdir("new", 0755));
	FAILS(EACCES, symlink("x", "new"));
	/* EPERM where the kernel protects hard links, else EACCES. */
	TRUE(link("readable", "new") && (errno == EPERM || errno == EACCES),
	     "link(): %s", strerror(errno));
	FAILS(EACCES, rename("readable", "new"));
	FAILS(EACCES, unlink("readable"));
	FAILS(EACCES, rmdir("closed"));
	FAILS(EPERM, chmod("readable", 0666));
	FAILS(EPERM, chown("readable", USER, USER));
	FAILS(EACCES, access("secret", R_OK));
	OK(access("readable", R_OK));
	FAILS(EACCES, execl("readable", "readable", NULL));
}

static void strangers(void)
{
	make_file("secret", 10);
	OK(chmod("secret", 0600));
	make_file("readable", 10);
	OK(mkdir("closed", 0755));
	make_file("closed/file", 10);
	OK(chmod("closed", 0700));
	as_user(USER, USER, as_stranger);
	remount();
	as_user(USER, USER, as_stranger);
	expect_pattern("readable", 10);
}

static void as_owner(void)
{
	OK(chmod("file", 0640));
	FAILS(EPERM, chown("file", OTHER, -1));
	FAILS(EPERM, chown("file", -1, OTHER));
	OK(chown("file", -1, USER));
	OK(close(must_open("dir/new", O_CREAT | O_RDWR, 0600)));
	EQUAL(USER, status_of("dir/new").st_uid);
	OK(rename("dir/new", "dir/renamed"));
	OK(unlink("dir/renamed"));
	FAILS(EPERM, mknod("dir/device", S_IFCHR | 0600, 0x103));
	OK(mknod("dir/fifo", S_IFIFO | 0600, 0));
	/* Not of a group of the owner: the set-group-id bit is not given. */
	OK(chmod("foreign", 02755));
	EQUAL(S_IFREG | 0755, status_of("foreign").st_mode);
}

static void owner(void)
{
	make_file("file", 10);
	OK(chown("file", USER, USER));
	make_file("foreign", 10);
	OK(chown("foreign", USER, OTHER));
	OK(mkdir("dir", 0755));
	OK(chown("dir", USER, USER));
	as_user(USER, USER, as_owner);
}

static void in_sticky(void)
{
	FAILS(EPERM, unlink("sticky/file"));
	FAILS(EPERM, rename("sticky/file", "sticky/other"));
	FAILS(EPERM, rmdir("sticky/dir"));
	make_file("sticky/own", 10);
	FAILS(EPERM, rename("sticky/own", "sticky/file"));
	OK(rename("sticky/own", "sticky/mine"));
	OK(unlink("sticky/mine"));
	OK(unlink("loose/file"));
}

static void sticky(void)
{
	OK(mkdir("sticky", 0755));
	OK(chmod("sticky", 01777));
	OK(mkdir("loose", 0755));
	OK(chmod("loose", 0777));
	make_file("sticky/file", 10);
	OK(mkdir("sticky/dir", 0755));
	make_file("loose/file", 10);
	remount();
	as_user(USER, USER, in_sticky);
	expect_pattern("sticky/file", 10);
}

static void in_group_directory(void)
{
	make_empty("dir/by-user");
	EQUAL(USER, status_of("dir/by-user").st_uid);
	EQUAL(50, status_of("dir/by-user").st_gid);
	OK(mkdir("dir/by-user-dir", 0755));
	EQUAL(S_IFDIR | 02755, status_of("dir/by-user-dir").st_mode);
}

/* A directory with the set-group-id bit hands on its group and the bit. */
static void group_directories(void)
{
	OK(mkdir("dir", 0755));
	OK(chown("dir", 0, 50));
	OK(chmod("dir", 02777));
	make_empty("dir/file");
	OK(mkdir("dir/sub", 0755));
	OK(symlink("x", "dir/link"));
	OK(mkfifo("dir/fifo", 0644));
	as_user(USER, USER, in_group_directory);
	remount();
	EQUAL(50, status_of("dir/file").st_gid);
	EQUAL(S_IFREG | 0644, status_of("dir/file").st_mode);
	EQUAL(50, status_of("dir/sub").st_gid);
	EQUAL(S_IFDIR | 02755, status_of("dir/sub").st_mode);
	EQUAL(50, status_of("dir/link").st_gid);
	EQUAL(50, status_of("dir/fifo").st_gid);
	make_empty("dir/sub/inner");
	EQUAL(50, status_of("dir/sub/inner").st_gid);
}

static void write_set_id(void)
{
	int fd = must_open("written", O_WRONLY, 0);

	EQUAL(1, write(fd, "x", 1));
	OK(close(fd));
	OK(truncate("cut", 5));
}

/* Who changes a file takes its set-id bits; so does a change of owner. */
static void set_id(void)
{
	static const char *const names[] = { "written", "cut", "owned", "kept" };
	size_t i;

	for (i = 0; i < 4; i++) {
		make_file(names[i], 10);
		OK(chmod(names[i], 06777));
	}
	as_user(USER, USER, write_set_id);
	OK(chown("owned", 5, 5));
	/* Root may write without that. */
	make_file("kept", 20);
	remount();
	EQUAL(S_IFREG | 0777, status_of("written").st_mode);
	EQUAL(S_IFREG | 0777, status_of("cut").st_mode);
	EQUAL(S_IFREG | 0777, status_of("owned").st_mode);
	EQUAL(S_IFREG | 06777, status_of("kept").st_mode);
}

const struct check access_checks[] = {
	{ "access-modes", modes },
	{ "access-masks", masks },
	{ "access-owners", owners },
	{ "access-strangers", strangers },
	{ "access-owner", owner },
	{ "access-sticky", sticky },
	{ "access-group-directories", group_directories },
	{ "access-set-id", set_id },
	{ NULL, NULL },
};
