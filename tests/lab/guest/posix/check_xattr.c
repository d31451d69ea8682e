// SPDX-License-Identifier: GPL-2.0-only
/* check_xattr.c - extended attributes. */
#include <sys/xattr.h>

#include "posix.h"

#define USER 1000

static void need_xattrs(void)
{
	make_empty("probe");
	if (opt.no_xattr) {
		FAILS(EOPNOTSUPP, setxattr("probe", "user.a", "b", 1, 0));
		skip("no extended attributes");
	}
	OK(unlink("probe"));
}

static void expect_value(const char *path, const char *name,
			 const void *wanted, size_t bytes)
{
	static char found[65536];
	ssize_t result = lgetxattr(path, name, found, sizeof(found));

	TRUE(result == (ssize_t)bytes && !memcmp(found, wanted, bytes),
	     "%.40s of %s: expected %zu bytes, found %zd (%s) or other ones",
	     name, path, bytes, result, strerror(errno));
}

static unsigned int count_names(const char *path)
{
	static char list[65536];
	ssize_t bytes = llistxattr(path, list, sizeof(list));
	unsigned int count = 0;
	const char *name;

	OK(bytes);
	for (name = list; name < list + bytes; name += strlen(name) + 1)
		count += !strncmp(name, "user.", 5) ||
			 !strncmp(name, "trusted.", 8) ||
			 !strncmp(name, "security.t", 10);
	return count;
}

static void basics(void)
{
	need_xattrs();
	make_file("file", 5000);
	OK(mkdir("dir", 0755));
	EQUAL(0, count_names("file"));
	OK(setxattr("file", "user.one", "first", 5, 0));
	OK(setxattr("file", "trusted.two", "second", 6, 0));
	if (!opt.no_security)
		OK(setxattr("file", "security.test", "third", 5, 0));
	OK(setxattr("dir", "user.one", "of dir", 6, 0));
	EQUAL(5, getxattr("file", "user.one", NULL, 0));
	EQUAL(opt.no_security ? 2 : 3, count_names("file"));
	remount();
	expect_value("file", "user.one", "first", 5);
	expect_value("file", "trusted.two", "second", 6);
	if (!opt.no_security)
		expect_value("file", "security.test", "third", 5);
	expect_value("dir", "user.one", "of dir", 6);
	EQUAL(opt.no_security ? 2 : 3, count_names("file"));
	OK(removexattr("file", "user.one"));
	FAILS(ENODATA, removexattr("file", "user.one"));
	FAILS(ENODATA, getxattr("file", "user.one", NULL, 0));
	remount();
	FAILS(ENODATA, getxattr("file", "user.one", NULL, 0));
	expect_value("file", "trusted.two", "second", 6);
	expect_pattern("file", 5000);
}

static void flags(void)
{
	char data[10];

	need_xattrs();
	make_empty("file");
	FAILS(ENODATA, setxattr("file", "user.a", "x", 1, XATTR_REPLACE));
	OK(setxattr("file", "user.a", "1234", 4, XATTR_CREATE));
	FAILS(EEXIST, setxattr("file", "user.a", "x", 1, XATTR_CREATE));
	expect_value("file", "user.a", "1234", 4);
	OK(setxattr("file", "user.a", "56", 2, XATTR_REPLACE));
	expect_value("file", "user.a", "56", 2);
	FAILS(EINVAL, setxattr("file", "user.a", "x", 1, 64));
	FAILS(ERANGE, getxattr("file", "user.a", data, 1));
	FAILS(ERANGE, listxattr("file", data, 3));
	TRUE(listxattr("file", NULL, 0) >= 7, "the list is too short");
	FAILS(ENODATA, getxattr("file", "user.none", data, 10));
	FAILS(ENODATA, getxattr("file", "user.aa", data, 10));
	FAILS(EOPNOTSUPP, setxattr("file", "unknown.a", "x", 1, 0));
	FAILS(EOPNOTSUPP, setxattr("file", "nospace", "x", 1, 0));
	FAILS(EINVAL, setxattr("file", "user.", "x", 1, 0));
	FAILS(ERANGE, setxattr("file", "", "x", 1, 0));
	FAILS(ENOENT, setxattr("none", "user.a", "x", 1, 0));
}

static void values(void)
{
	unsigned char data[256];
	char name[256];
	int i;

	need_xattrs();
	make_empty("file");
	for (i = 0; i < 256; i++)
		data[i] = i;
	OK(setxattr("file", "user.binary", data, 256, 0));
	OK(setxattr("file", "user.empty", "", 0, 0));
	OK(setxattr("file", "user.zeros", "\0\0\0", 3, 0));
	memset(name, 'n', 255);
	memcpy(name, "user.", 5);
	name[255] = '\0';
	OK(setxattr("file", name, "longest", 7, 0));
	remount();
	expect_value("file", "user.binary", data, 256);
	expect_value("file", "user.empty", "", 0);
	expect_value("file", "user.zeros", "\0\0\0", 3);
	expect_value("file", name, "longest", 7);
	EQUAL(4, count_names("file"));
	OK(removexattr("file", "user.binary"));
	expect_value("file", name, "longest", 7);
	expect_value("file", "user.empty", "", 0);
}

/* Smaller and larger values in turn; the neighbours must not suffer. */
static void replaced(void)
{
	char data[600];
	int i;

	need_xattrs();
	make_empty("file");
	OK(setxattr("file", "user.before", "before", 6, 0));
	OK(setxattr("file", "user.middle", "", 0, 0));
	OK(setxattr("file", "user.after", "after", 5, 0));
	for (i = 0; i < 100; i++) {
		size_t bytes = rng_mix(i) % 600;

		memset(data, 'a' + i % 26, bytes);
		OK(setxattr("file", "user.middle", data, bytes, 0));
		expect_value("file", "user.middle", data, bytes);
		expect_value("file", "user.before", "before", 6);
		expect_value("file", "user.after", "after", 5);
		if (i % 33 == 0)
			remount();
	}
	EQUAL(3, count_names("file"));
}

static void many(void)
{
	unsigned int count = opt.xattr_max / 20, i;
	char name[30], value[30];

	need_xattrs();
	if (count > 60)
		count = 60;
	make_empty("file");
	for (i = 0; i < count; i++) {
		sprintf(name, "user.n%u", i);
		sprintf(value, "%08u", i);
		OK(setxattr("file", name, value, 8, 0));
	}
	remount();
	EQUAL(count, count_names("file"));
	for (i = 0; i < count; i += 2) {
		sprintf(name, "user.n%u", i);
		OK(removexattr("file", name));
	}
	remount();
	EQUAL(count / 2, count_names("file"));
	for (i = 1; i < count; i += 2) {
		sprintf(name, "user.n%u", i);
		sprintf(value, "%08u", i);
		expect_value("file", name, value, 8);
	}
}

static void too_large(void)
{
	static char data[70000];
	char name[300];
	int found;

	need_xattrs();
	make_file("file", 3000);
	OK(setxattr("file", "user.small", "stays", 5, 0));
	FAILS(E2BIG, setxattr("file", "user.large", data, 65537, 0));
	memset(name, 'n', 256);
	memcpy(name, "user.", 5);
	name[256] = '\0';
	FAILS(ERANGE, setxattr("file", name, "x", 1, 0));
	if (opt.xattr_refused) {
		found = setxattr("file", "user.large", data, opt.xattr_refused,
				 0) ? errno : 0;
		TRUE(found == ENOSPC || found == E2BIG || found == ERANGE,
		     "a value that does not fit: %s", strerror(found));
		found = setxattr("file", "user.small", data, opt.xattr_refused,
				 0) ? errno : 0;
		TRUE(found == ENOSPC || found == E2BIG || found == ERANGE,
		     "a value that does not fit: %s", strerror(found));
	}
	remount();
	expect_value("file", "user.small", "stays", 5);
	EQUAL(1, count_names("file"));
	expect_pattern("file", 3000);
}

static void survive(void)
{
	int fd;

	need_xattrs();
	make_file("file", 3000);
	OK(setxattr("file", "user.a", "value", 5, 0));
	OK(rename("file", "renamed"));
	OK(chmod("renamed", 0600));
	OK(chown("renamed", 5, 5));
	OK(truncate("renamed", 10000));
	make_file("renamed", 5000);
	OK(link("renamed", "linked"));
	expect_value("linked", "user.a", "value", 5);
	OK(unlink("renamed"));
	remount();
	expect_value("linked", "user.a", "value", 5);
	expect_pattern("linked", 5000);
	fd = must_open("linked", O_RDWR, 0);
	OK(unlink("linked"));
	OK(fsetxattr(fd, "user.b", "open", 4, 0));
	EQUAL(4, fgetxattr(fd, "user.b", NULL, 0));
	OK(fremovexattr(fd, "user.a"));
	FAILS(ENODATA, fgetxattr(fd, "user.a", NULL, 0));
	OK(close(fd));
	/* A new file of the same name has none. */
	make_empty("linked");
	EQUAL(0, count_names("linked"));
	/* A file that takes another's place keeps its own. */
	make_empty("other");
	OK(setxattr("other", "user.c", "own", 3, 0));
	OK(rename("other", "linked"));
	remount();
	expect_value("linked", "user.c", "own", 3);
	EQUAL(1, count_names("linked"));
}

/* user.* is for files and directories; trusted.* for all. */
static void kinds(void)
{
	static const char *const names[] = { "link", "fifo", "device" };
	size_t i;

	need_xattrs();
	OK(symlink("nowhere", "link"));
	OK(mkfifo("fifo", 0644));
	OK(mknod("device", S_IFCHR | 0644, 0x103));
	for (i = 0; i < 3; i++) {
		FAILS(EPERM, lsetxattr(names[i], "user.a", "x", 1, 0));
		FAILS(ENODATA, lgetxattr(names[i], "user.a", NULL, 0));
		OK(lsetxattr(names[i], "trusted.a", "x", 1, 0));
	}
	remount();
	for (i = 0; i < 3; i++)
		expect_value(names[i], "trusted.a", "x", 1);
	EQUAL(7, status_of("link").st_size);
	EQUAL(0x103, status_of("device").st_rdev);
}

static void as_user_with_xattrs(void)
{
	char data[10];

	FAILS(EACCES, setxattr("file", "user.a", "x", 1, 0));
	EQUAL(1, getxattr("file", "user.a", data, 10));
	FAILS(EACCES, getxattr("secret", "user.a", data, 10));
	FAILS(EPERM, setxattr("own", "trusted.a", "x", 1, 0));
	FAILS(ENODATA, getxattr("own", "trusted.t", data, 10));
	OK(setxattr("own", "user.a", "x", 1, 0));
	EQUAL(1, count_names("own"));
	if (!opt.no_security)
		FAILS(EPERM, setxattr("own", "security.test", "x", 1, 0));
	FAILS(EPERM, setxattr("sticky", "user.a", "x", 1, 0));
}

static void permission(void)
{
	need_xattrs();
	make_file("file", 10);
	OK(setxattr("file", "user.a", "v", 1, 0));
	make_file("secret", 10);
	OK(setxattr("secret", "user.a", "v", 1, 0));
	OK(chmod("secret", 0600));
	make_file("own", 10);
	OK(setxattr("own", "trusted.t", "v", 1, 0));
	OK(chown("own", USER, USER));
	OK(mkdir("sticky", 0755));
	OK(chmod("sticky", 01777));
	as_user(USER, USER, as_user_with_xattrs);
}

const struct check xattr_checks[] = {
	{ "xattr-basics", basics },
	{ "xattr-flags", flags },
	{ "xattr-values", values },
	{ "xattr-replaced", replaced },
	{ "xattr-many", many },
	{ "xattr-too-large", too_large },
	{ "xattr-survives", survive },
	{ "xattr-kinds", kinds },
	{ "xattr-permission", permission },
	{ NULL, NULL },
};
