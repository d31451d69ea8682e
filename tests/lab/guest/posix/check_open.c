// SPDX-License-Identifier: GPL-2.0-only
/* check_open.c - flags of open(), and descriptors. */
#include <sys/mman.h>
#include <sys/uio.h>

#include "posix.h"

static void append(void)
{
	int a = must_open("file", O_CREAT | O_WRONLY | O_APPEND, 0644);
	int b = must_open("file", O_WRONLY | O_APPEND, 0);
	char wanted[3000];
	int i;

	for (i = 0; i < 300; i++) {
		memset(wanted + i * 10, 'a' + i % 26, 10);
		EQUAL(10, write(i % 2 ? a : b, wanted + i * 10, 10));
	}
	expect_file("file", wanted, 3000);
	/* Linux appends whatever the offset is. */
	EQUAL(10, pwrite(a, wanted, 10, 0));
	EQUAL(3010, status_of("file").st_size);
	OK(ftruncate(a, 5));
	EQUAL(10, write(b, wanted + 5, 10));
	expect_file("file", wanted, 15);
}

static void append_checked(void)
{
	char wanted[] = "0123456789";
	int fd;

	make_empty("file");
	fd = must_open("file", O_WRONLY | O_APPEND, 0);
	EQUAL(5, write(fd, wanted, 5));
	EQUAL(5, write(fd, wanted + 5, 5));
	OK(close(fd));
	remount();
	expect_file("file", wanted, 10);
}

static void truncating(void)
{
	ino_t inode;
	int fd;

	make_file("file", 10000);
	inode = status_of("file").st_ino;
	fd = must_open("file", O_RDONLY, 0);
	OK(close(must_open("file", O_WRONLY | O_TRUNC, 0)));
	EQUAL(0, status_of("file").st_size);
	EQUAL(inode, status_of("file").st_ino);
	expect_zeros(fd, 0, 0);
	OK(close(fd));
	make_file("file", 100);
	OK(close(must_open("file", O_CREAT | O_RDWR | O_TRUNC, 0600)));
	EQUAL(S_IFREG | 0644, status_of("file").st_mode);
	remount();
	EQUAL(0, status_of("file").st_size);
}

static void directions(void)
{
	char data[10] = "abcdefghi";
	int fd;

	make_file("file", 100);
	fd = must_open("file", O_RDONLY, 0);
	FAILS(EBADF, write(fd, data, 10));
	FAILS(EINVAL, ftruncate(fd, 0));
	FAILS(EINVAL, pread(fd, data, 10, -1));
	FAILS(EINVAL, lseek(fd, -1, SEEK_SET));
	FAILS(EINVAL, lseek(fd, 0, 99));
	OK(close(fd));
	fd = must_open("file", O_WRONLY, 0);
	FAILS(EBADF, read(fd, data, 10));
	FAILS(EINVAL, pwrite(fd, data, 10, -1));
	OK(close(fd));
	FAILS(EBADF, write(fd, data, 10));
	fd = must_open("file", O_PATH, 0);
	FAILS(EBADF, read(fd, data, 10));
	OK(close(fd));
	expect_pattern("file", 100);
}

static void synchronous(void)
{
	static const int flags[] = { O_SYNC, O_DSYNC };
	unsigned char data[9000];
	size_t i;

	pattern(0, data, sizeof(data));
	for (i = 0; i < 2; i++) {
		int fd = must_open("file", O_CREAT | O_RDWR | flags[i], 0644);

		EQUAL(9000, write(fd, data, 9000));
		OK(fsync(fd));
		OK(fdatasync(fd));
		OK(close(fd));
		expect_pattern("file", 9000);
		remount();
		expect_pattern("file", 9000);
		OK(unlink("file"));
	}
}

static void tmpfile_named(void)
{
	char path[40];
	int fd;

	if (!opt.tmpfile) {
		FAILS(EOPNOTSUPP, open(".", O_TMPFILE | O_RDWR, 0644));
		return;
	}
	fd = must_open(".", O_TMPFILE | O_RDWR, 0640);
	EQUAL(5, write(fd, "hello", 5));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	OK(linkat(AT_FDCWD, path, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
	OK(close(fd));
	remount();
	expect_file("named", "hello", 5);
	EQUAL(1, status_of("named").st_nlink);
	EQUAL(S_IFREG | 0640, status_of("named").st_mode);
	fd = must_open(".", O_TMPFILE | O_RDWR | O_EXCL, 0640);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	FAILS(ENOENT, linkat(AT_FDCWD, path, AT_FDCWD, "named2",
			     AT_SYMLINK_FOLLOW));
	OK(close(fd));
}

/* One that never gets a name leaves nothing. */
static void tmpfile_dropped(void)
{
	unsigned char *data = calloc(1, 1 << 20);
	uint64_t before;
	int fd;

	if (!opt.tmpfile)
		skip("no O_TMPFILE");
	sync_here();
	before = free_bytes();
	pattern(0, data, 1 << 20);
	fd = must_open(".", O_TMPFILE | O_RDWR, 0640);
	EQUAL(1 << 20, write(fd, data, 1 << 20));
	OK(fsync(fd));
	TRUE(free_bytes() < before, "it takes no space");
	OK(close(fd));
	sync_here();
	TRUE(free_bytes() + (512 << 10) > before, "its space is not free");
	free(data);
}

/* A read or write may stop where memory ends, and then says so. */
static void bad_memory(void)
{
	void *nowhere = mmap(NULL, 4096, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char data[5000];
	struct iovec part[] = { { data, 5000 }, { nowhere, 100 } };
	int fd = must_open("file", O_CREAT | O_RDWR, 0644);
	ssize_t done;

	pattern(0, data, sizeof(data));
	FAILS(EFAULT, write(fd, nowhere, 100));
	EQUAL(0, status_of("file").st_size);
	done = writev(fd, part, 2);
	TRUE(done == 5000 || (done < 0 && errno == EFAULT),
	     "writev(): expected 5000 or EFAULT, found %zd", done);
	if (done == 5000)
		expect_pattern("file", 5000);
	OK(ftruncate(fd, 5000));
	FAILS(EFAULT, pread(fd, nowhere, 100, 0));
	OK(close(fd));
}

static void vectors(void)
{
	unsigned char data[6000];
	struct iovec part[] = {
		{ data, 1 }, { data + 1, 0 }, { data + 1, 4095 },
		{ data + 4096, 1904 },
	};
	int fd = must_open("file", O_CREAT | O_RDWR, 0644);

	pattern(0, data, sizeof(data));
	EQUAL(6000, writev(fd, part, 4));
	expect_pattern("file", 6000);
	memset(data, 0, sizeof(data));
	EQUAL(6000, preadv(fd, part, 4, 0));
	OK(close(fd));
	remount();
	expect_file("file", data, 6000);
	EQUAL(0, write(must_open("file", O_WRONLY, 0), data, 0));
	expect_pattern("file", 6000);
}

const struct check open_checks[] = {
	{ "open-append", append },
	{ "open-append-remount", append_checked },
	{ "open-truncating", truncating },
	{ "open-directions", directions },
	{ "open-synchronous", synchronous },
	{ "open-tmpfile-named", tmpfile_named },
	{ "open-tmpfile-dropped", tmpfile_dropped },
	{ "open-bad-memory", bad_memory },
	{ "open-vectors", vectors },
	{ NULL, NULL },
};
