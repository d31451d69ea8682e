// SPDX-License-Identifier: GPL-2.0-only
/*
 * check_holes.c - holes and large files: what was never written, or was cut
 * off, reads as zeros, for ever.
 */
#include "posix.h"

static void zeros(void)
{
	static const uint64_t places[] = { 100, 5000, 100000, 1 << 20, 3 << 20 };
	int fd = must_open("file", O_CREAT | O_RDWR, 0644);
	uint64_t at = 0;
	size_t i;

	for (i = 0; i < 5; i++)
		EQUAL(3, pwrite(fd, "abc", 3, places[i]));
	OK(close(fd));
	remount();
	fd = must_open("file", O_RDWR, 0);
	for (i = 0; i < 5; i++) {
		expect_zeros(fd, at, places[i] - at);
		at = places[i] + 3;
	}
	/* Filled later, from the middle. */
	EQUAL(3, pwrite(fd, "xyz", 3, 50000));
	OK(fsync(fd));
	expect_zeros(fd, 5003, 50000 - 5003);
	expect_zeros(fd, 50003, 100000 - 50003);
	OK(close(fd));
	remount();
	fd = must_open("file", O_RDWR, 0);
	expect_zeros(fd, 5003, 50000 - 5003);
	expect_zeros(fd, 50003, 100000 - 50003);
	OK(close(fd));
}

enum between { NOTHING, SYNC, REMOUNT, BETWEENS };

/* Cut at @cut and extended by one of several ways: nothing old may show. */
static void stale_at(uint64_t cut, enum between between, int way)
{
	int fd;

	make_file("file", 12000);
	if (between == REMOUNT)
		remount();
	fd = must_open("file", O_RDWR, 0);
	OK(ftruncate(fd, cut));
	if (between == SYNC)
		OK(fsync(fd));
	if (between == REMOUNT) {
		OK(close(fd));
		remount();
		fd = must_open("file", O_RDWR, 0);
	}
	if (way == 0)
		OK(ftruncate(fd, 13000));
	else if (way == 1)
		EQUAL(1, pwrite(fd, "\0", 1, 12999));
	else
		EQUAL(1, pwrite(fd, "\0", 1, cut + 1));
	if (way == 2)
		OK(ftruncate(fd, 13000));
	expect_zeros(fd, cut, 13000 - cut);
	OK(close(fd));
	remount();
	fd = must_open("file", O_RDWR, 0);
	expect_zeros(fd, cut, 13000 - cut);
	OK(ftruncate(fd, cut));
	OK(close(fd));
	expect_pattern("file", cut);
	OK(unlink("file"));
}

static void stale(void)
{
	static const uint64_t cuts[] = { 0, 1, 2031, 2032, 2048, 2049, 4000,
					 4095, 4096, 4097, 6144, 8192, 11999 };
	enum between between;
	size_t i;

	for (i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++)
		for (between = NOTHING; between < BETWEENS; between++)
			stale_at(cuts[i], between, (i + between) % 3);
}

/* Down and up again and again, with growing and shrinking holes. */
static void resized(void)
{
	unsigned char *wanted = calloc(1, 200000);
	int fd = must_open("file", O_CREAT | O_RDWR, 0644), i;
	size_t size = 0;

	for (i = 0; i < 120; i++) {
		size_t to = rng_mix(i) % 150000, at, part;

		if (to < size)
			memset(wanted + to, 0, size - to);
		OK(ftruncate(fd, to));
		size = to;
		at = rng_mix(~i) % 150000;
		part = rng_mix(i + 999) % 5000 + 1;
		pattern(i * 7, wanted + at, part);
		EQUAL(part, pwrite(fd, wanted + at, part, at));
		if (at + part > size)
			size = at + part;
		if (i % 30 == 29) {
			OK(close(fd));
			remount();
			fd = must_open("file", O_RDWR, 0);
		}
	}
	OK(close(fd));
	expect_file("file", wanted, size);
	free(wanted);
}

static void seeking(void)
{
	int fd = must_open("file", O_CREAT | O_RDWR, 0644);
	off_t at, end;

	FAILS(ENXIO, lseek(fd, 0, SEEK_DATA));
	EQUAL(3, pwrite(fd, "abc", 3, 0));
	EQUAL(3, pwrite(fd, "abc", 3, 1 << 20));
	OK(ftruncate(fd, 2 << 20));
	OK(fsync(fd));
	EQUAL(0, lseek(fd, 0, SEEK_DATA));
	FAILS(ENXIO, lseek(fd, 2 << 20, SEEK_DATA));
	FAILS(ENXIO, lseek(fd, 2 << 20, SEEK_HOLE));
	FAILS(ENXIO, lseek(fd, -1, SEEK_DATA));
	at = lseek(fd, 1 << 20, SEEK_DATA);
	EQUAL(1 << 20, at);
	end = lseek(fd, at, SEEK_HOLE);
	TRUE(end >= at + 3 && end <= 2 << 20, "SEEK_HOLE: found %lld",
	     (long long)end);
	/* What is told to be a hole must read as one. */
	at = lseek(fd, 0, SEEK_HOLE);
	OK(at);
	end = at < 2 << 20 ? lseek(fd, at, SEEK_DATA) : at;
	if (end > at)
		expect_zeros(fd, at, end - at);
	OK(close(fd));
}

static void huge_at(uint64_t at)
{
	unsigned char wanted[100], found[100];
	int fd = must_open("file", O_CREAT | O_RDWR, 0644);

	pattern(at, wanted, 100);
	EQUAL(100, pwrite(fd, wanted, 100, at));
	EQUAL(at + 100, status_of("file").st_size);
	OK(close(fd));
	remount();
	EQUAL(at + 100, status_of("file").st_size);
	fd = must_open("file", O_RDWR, 0);
	EQUAL(100, pread(fd, found, 100, at));
	TRUE(!memcmp(wanted, found, 100), "other contents at %llu",
	     (unsigned long long)at);
	expect_zeros(fd, at / 2, 10000);
	expect_zeros(fd, at - 3000, 3000);
	/* And back: nothing is left of it. */
	OK(ftruncate(fd, 1 << 20));
	OK(ftruncate(fd, at + 100));
	expect_zeros(fd, at, 100);
	OK(close(fd));
	OK(unlink("file"));
}

static void huge(void)
{
	static const uint64_t places[] = {
		(1ull << 31) - 50, (1ull << 32) - 50, 5ull << 30, 40ull << 30,
	};
	uint64_t before;
	size_t i;
	int fd;

	sync_here();
	before = free_bytes();
	for (i = 0; i < 4; i++)
		if (places[i] + 100 <= opt.size_max)
			huge_at(places[i]);
	if (opt.size_max < 5ull << 30)
		return;
	fd = must_open("file", O_CREAT | O_RDWR, 0644);
	OK(ftruncate(fd, 5ull << 30));
	OK(close(fd));
	remount();
	EQUAL(5ull << 30, status_of("file").st_size);
	fd = must_open("file", O_RDONLY, 0);
	expect_zeros(fd, (5ull << 30) - 100000, 100000);
	OK(close(fd));
	TRUE(opt.blocks_by_size || status_of("file").st_blocks < 2048,
	     "a hole occupies %lld blocks",
	     (long long)status_of("file").st_blocks);
	TRUE(free_bytes() + (1 << 20) > before, "a hole takes space");
}

static void too_large(void)
{
	int fd = must_open("file", O_CREAT | O_RDWR, 0644);

	FAILS(EINVAL, ftruncate(fd, -1));
	FAILS(EINVAL, truncate("file", -1));
	FAILS(EFBIG, ftruncate(fd, INT64_MAX));
	FAILS(EFBIG, pwrite(fd, "x", 1, INT64_MAX - 1));
	EQUAL(0, status_of("file").st_size);
	OK(close(fd));
}

static void blocks(void)
{
	struct stat status;

	make_file("file", 100000);
	sync_here();
	status = status_of("file");
	TRUE(status.st_blocks >= 50000 / 512 && status.st_blocks < 1024,
	     "a file of 100000 bytes has %lld blocks",
	     (long long)status.st_blocks);
	TRUE(status.st_blksize >= 512, "st_blksize is %ld",
	     (long)status.st_blksize);
	OK(truncate("file", 0));
	TRUE(status_of("file").st_blocks < 64, "an empty file has %lld blocks",
	     (long long)status_of("file").st_blocks);
}

const struct check hole_checks[] = {
	{ "hole-zeros", zeros },
	{ "hole-stale-data", stale },
	{ "hole-resized", resized },
	{ "hole-seeking", seeking },
	{ "hole-huge", huge },
	{ "hole-too-large", too_large },
	{ "hole-blocks", blocks },
	{ NULL, NULL },
};
