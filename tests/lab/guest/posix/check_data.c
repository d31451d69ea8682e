// SPDX-License-Identifier: GPL-2.0-only
/*
 * check_data.c - contents: what was written is what is read, whatever the
 * offset, the length and the way.
 */
#include <linux/falloc.h>
#include <sys/sendfile.h>

#include "posix.h"

#define REFERENCE (64 * 1024)

/* Around every unit that a file system may work in. */
static const unsigned int edges[] = { 1, 16, 512, 2031, 2032, 2033, 2047, 2048,
				      2049, 4064, 4095, 4096, 4097, 6096, 8191,
				      8192, 8193, 20320, 32768 };
#define EDGES (sizeof(edges) / sizeof(edges[0]))

static void boundaries(void)
{
	unsigned char *wanted = calloc(1, REFERENCE);
	int fd = must_open("file", O_CREAT | O_RDWR, 0644);
	size_t i, j, size = 0, next = 0;

	for (i = 0; i < EDGES; i++) {
		for (j = 0; j < EDGES; j += 2) {
			size_t bytes = edges[j] % 5000 + 1;

			pattern(next, wanted + edges[i], bytes);
			EQUAL(bytes, pwrite(fd, wanted + edges[i], bytes,
					    edges[i]));
			next += bytes;
			if (edges[i] + bytes > size)
				size = edges[i] + bytes;
		}
		if (i % 4 == 0)
			OK(fsync(fd));
	}
	expect_file("file", wanted, size);
	OK(close(fd));
	remount();
	expect_file("file", wanted, size);
	free(wanted);
}

static void backwards(void)
{
	unsigned char data[10000];
	int fd = must_open("file", O_CREAT | O_RDWR, 0644), at;

	pattern(0, data, sizeof(data));
	for (at = sizeof(data) - 50; at >= 0; at -= 50)
		EQUAL(50, pwrite(fd, data + at, 50, at));
	OK(close(fd));
	expect_pattern("file", sizeof(data));
	remount();
	expect_pattern("file", sizeof(data));
}

static void byte_by_byte(void)
{
	unsigned char data[5000];
	int fd = must_open("file", O_CREAT | O_RDWR, 0644), i;

	pattern(0, data, sizeof(data));
	for (i = 0; i < 5000; i++)
		EQUAL(1, write(fd, data + i, 1));
	OK(close(fd));
	remount();
	expect_pattern("file", 5000);
}

static void beyond_end(void)
{
	char data[100];
	int fd;

	make_file("file", 1000);
	fd = must_open("file", O_RDWR, 0);
	EQUAL(0, pread(fd, data, 100, 1000));
	EQUAL(0, pread(fd, data, 100, 1ull << 33));
	EQUAL(50, pread(fd, data, 100, 950));
	EQUAL(5000, lseek(fd, 4000, SEEK_END));
	EQUAL(0, read(fd, data, 100));
	EQUAL(1000, status_of("file").st_size);
	EQUAL(1, write(fd, "x", 1));
	EQUAL(5001, status_of("file").st_size);
	expect_zeros(fd, 1000, 4000);
	OK(close(fd));
	remount();
	fd = must_open("file", O_RDWR, 0);
	expect_zeros(fd, 1000, 4000);
	OK(ftruncate(fd, 1000));
	OK(close(fd));
	expect_pattern("file", 1000);
}

/* Contents that look like erased flash, or like nothing. */
static void odd_contents(void)
{
	static const unsigned char bytes[] = { 0xff, 0x00, 0xff, 0x55 };
	unsigned char data[12000];
	char name[20];
	size_t i;

	for (i = 0; i < 4; i++) {
		int fd;

		memset(data, bytes[i], sizeof(data));
		snprintf(name, sizeof(name), "file%zu", i);
		fd = must_open(name, O_CREAT | O_RDWR, 0644);
		EQUAL(12000, write(fd, data, 12000));
		OK(close(fd));
	}
	remount();
	for (i = 0; i < 4; i++) {
		memset(data, bytes[i], sizeof(data));
		snprintf(name, sizeof(name), "file%zu", i);
		expect_file(name, data, 12000);
	}
}

/* Much more than the file: what was before must be collected meanwhile. */
static void overwritten(void)
{
	unsigned char *data = malloc(256 * 1024);
	int fd, round;

	make_file("other", 100000);
	fd = must_open("file", O_CREAT | O_RDWR, 0644);
	for (round = 0; round < 100; round++) {
		pattern(round, data, 256 * 1024);
		EQUAL(256 * 1024, pwrite(fd, data, 256 * 1024, 0));
		if (round % 10 == 0)
			OK(fsync(fd));
	}
	OK(close(fd));
	expect_file("file", data, 256 * 1024);
	remount();
	expect_file("file", data, 256 * 1024);
	expect_pattern("other", 100000);
	free(data);
}

static void copy_by(bool by_range, const char *name)
{
	int from = must_open("file", O_RDONLY, 0);
	int to = must_open(name, O_CREAT | O_RDWR, 0644);
	size_t left = 50001;

	while (left) {
		ssize_t done = by_range ?
			copy_file_range(from, NULL, to, NULL, left, 0) :
			sendfile(to, from, NULL, left);

		OK(done);
		TRUE(done, "nothing more was copied");
		left -= done;
	}
	OK(close(from));
	OK(close(to));
	expect_pattern(name, 50001);
}

static void copied(void)
{
	loff_t start = 0;
	int ends[2], from, to;

	make_file("file", 50001);
	copy_by(false, "by-sendfile");
	copy_by(true, "by-range");
	OK(pipe(ends));
	from = must_open("file", O_RDONLY, 0);
	to = must_open("by-splice", O_CREAT | O_RDWR, 0644);
	for (;;) {
		ssize_t done = splice(from, NULL, ends[1], NULL, 4096, 0);

		OK(done);
		if (!done)
			break;
		EQUAL(done, splice(ends[0], NULL, to, &start, done, 0));
	}
	OK(close(from));
	OK(close(to));
	remount();
	expect_pattern("by-splice", 50001);
	expect_pattern("by-sendfile", 50001);
	expect_pattern("by-range", 50001);
}

static void allocated(void)
{
	int fd;

	make_file("file", 5000);
	fd = must_open("file", O_RDWR, 0);
	if (fallocate(fd, 0, 0, 20000)) {
		EQUAL(EOPNOTSUPP, errno);
		expect_pattern("file", 5000);
	} else {
		EQUAL(20000, status_of("file").st_size);
		expect_zeros(fd, 5000, 15000);
	}
	/* A hole never changes the size. */
	FAILS(EOPNOTSUPP, fallocate(fd, FALLOC_FL_PUNCH_HOLE, 0, 10));
	OK(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	OK(close(fd));
}

static void synced(void)
{
	int fd, dir;

	make_file("file", 30000);
	fd = must_open("file", O_RDWR, 0);
	OK(fsync(fd));
	OK(fdatasync(fd));
	OK(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE));
	dir = must_open(".", O_RDONLY | O_DIRECTORY, 0);
	OK(fsync(dir));
	OK(fdatasync(dir));
	OK(syncfs(dir));
	/* With nothing to do, too. */
	OK(fsync(fd));
	OK(close(dir));
	OK(close(fd));
	sync();
	expect_pattern("file", 30000);
}

/* What is freed at once is not read from the flash again by mistake. */
static void recreated(void)
{
	int i;

	for (i = 1; i <= 50; i++) {
		make_file("file", i * 333);
		expect_pattern("file", i * 333);
		if (i % 10 == 0)
			remount();
		OK(unlink("file"));
	}
	remount();
	TRUE(!exists("file"), "a deleted file is back");
}

const struct check data_checks[] = {
	{ "data-boundaries", boundaries },
	{ "data-backwards", backwards },
	{ "data-byte-by-byte", byte_by_byte },
	{ "data-beyond-end", beyond_end },
	{ "data-odd-contents", odd_contents },
	{ "data-overwritten", overwritten },
	{ "data-copied", copied },
	{ "data-allocated", allocated },
	{ "data-synced", synced },
	{ "data-recreated", recreated },
	{ NULL, NULL },
};
