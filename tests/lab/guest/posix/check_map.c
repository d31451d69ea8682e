// SPDX-License-Identifier: GPL-2.0-only
/* check_map.c - files as memory. */
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "posix.h"

#define PAGE 4096

static unsigned char *map(int fd, size_t bytes, int protection, int flags)
{
	void *memory = mmap(NULL, bytes, protection, flags, fd, 0);

	TRUE(memory != MAP_FAILED, "mmap(): %s", strerror(errno));
	return memory;
}

static sigjmp_buf bus_error;

static void on_bus_error(int number)
{
	(void)number;
	siglongjmp(bus_error, 1);
}

/* Return: whether reading there is a bus error. */
static bool faults(volatile const unsigned char *memory)
{
	signal(SIGBUS, on_bus_error);
	if (sigsetjmp(bus_error, 1))
		return true;
	(void)*memory;
	return false;
}

static void reading(void)
{
	unsigned char wanted[10000], *memory;
	int fd, i;

	make_file("file", 10000);
	remount();
	pattern(0, wanted, 10000);
	fd = must_open("file", O_RDONLY, 0);
	memory = map(fd, 5 * PAGE, PROT_READ, MAP_PRIVATE);
	TRUE(!memcmp(memory, wanted, 10000), "other contents");
	/* Zeros to the end of the page, nothing behind it. */
	for (i = 10000; i < 3 * PAGE; i++)
		TRUE(!memory[i], "byte %d behind the end is %02x", i,
		     memory[i]);
	TRUE(faults(memory + 3 * PAGE), "no bus error behind the end");
	/* The mapping sees what is written, and keeps the file. */
	OK(close(fd));
	fd = must_open("file", O_RDWR, 0);
	EQUAL(3, pwrite(fd, "abc", 3, 5000));
	TRUE(!memcmp(memory + 5000, "abc", 3), "a write is not seen");
	OK(unlink("file"));
	OK(close(fd));
	TRUE(!memcmp(memory, wanted, 5000), "gone with its name");
	OK(munmap(memory, 5 * PAGE));
}

static void private_writing(void)
{
	unsigned char *memory;
	int fd;

	make_file("file", 10000);
	fd = must_open("file", O_RDWR, 0);
	memory = map(fd, 10000, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	memset(memory, 'p', 10000);
	OK(munmap(memory, 10000));
	OK(close(fd));
	expect_pattern("file", 10000);
}

static void need_writing(void)
{
	int fd;

	if (!opt.no_mmap_write)
		return;
	make_file("refused", PAGE);
	fd = must_open("refused", O_RDWR, 0);
	FAILS(EINVAL, mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			   0) == MAP_FAILED ? -1 : 0);
	skip("shared mappings for writing are refused");
}

static void shared_writing(void)
{
	unsigned char wanted[20000], found[20000], *memory;
	int fd;

	need_writing();
	make_file("file", 20000);
	pattern(0, wanted, 20000);
	fd = must_open("file", O_RDWR, 0);
	memory = map(fd, 20000, PROT_READ | PROT_WRITE, MAP_SHARED);
	memset(memory + 3000, 'm', 7000);
	memset(wanted + 3000, 'm', 7000);
	EQUAL(20000, pread(fd, found, 20000, 0));
	TRUE(!memcmp(found, wanted, 20000), "a store is not read");
	OK(msync(memory, 20000, MS_SYNC));
	memory[12345] = wanted[12345] = 'n';
	OK(munmap(memory, 20000));
	OK(close(fd));
	remount();
	expect_file("file", wanted, 20000);
}

static void into_hole(void)
{
	unsigned char *memory;
	int fd;

	need_writing();
	fd = must_open("file", O_CREAT | O_RDWR, 0644);
	OK(ftruncate(fd, 100 * PAGE));
	memory = map(fd, 100 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED);
	memory[50 * PAGE + 7] = 'x';
	memory[99 * PAGE + 4095] = 'y';
	OK(msync(memory, 100 * PAGE, MS_SYNC));
	OK(munmap(memory, 100 * PAGE));
	OK(close(fd));
	remount();
	fd = must_open("file", O_RDONLY, 0);
	expect_zeros(fd, 0, 50 * PAGE + 7);
	expect_zeros(fd, 50 * PAGE + 8, 49 * PAGE + 4087);
	memory = map(fd, 100 * PAGE, PROT_READ, MAP_SHARED);
	EQUAL('x', memory[50 * PAGE + 7]);
	EQUAL('y', memory[99 * PAGE + 4095]);
	OK(close(fd));
	OK(munmap(memory, 100 * PAGE));
}

/* Stores behind the end of the file are never part of it. */
static void behind_end(void)
{
	unsigned char *memory;
	int fd;

	need_writing();
	make_file("file", 5000);
	fd = must_open("file", O_RDWR, 0);
	memory = map(fd, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED);
	memset(memory + 5000, 'e', 2 * PAGE - 5000);
	memory[4999] ^= 0;
	OK(msync(memory, 2 * PAGE, MS_SYNC));
	OK(munmap(memory, 2 * PAGE));
	EQUAL(5000, status_of("file").st_size);
	OK(close(fd));
	remount();
	fd = must_open("file", O_RDWR, 0);
	OK(ftruncate(fd, 9000));
	expect_zeros(fd, 5000, 4000);
	OK(ftruncate(fd, 5000));
	OK(close(fd));
	expect_pattern("file", 5000);
}

/* The same before they were written back. */
static void behind_end_unsynced(void)
{
	unsigned char *memory;
	int fd, way;

	need_writing();
	if (!opt.clean_tail)
		skip("stores behind the end may show");
	for (way = 0; way < 3; way++) {
		make_file("file", 5000);
		fd = must_open("file", O_RDWR, 0);
		memory = map(fd, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED);
		memset(memory + 5000, 'e', 2 * PAGE - 5000);
		if (way == 0)
			OK(ftruncate(fd, 9000));
		else
			EQUAL(1, pwrite(fd, "", 1, way == 1 ? 8999 : 5050));
		OK(ftruncate(fd, 9000));
		expect_zeros(fd, 5000, 4000);
		OK(munmap(memory, 2 * PAGE));
		OK(close(fd));
		remount();
		fd = must_open("file", O_RDWR, 0);
		expect_zeros(fd, 5000, 4000);
		OK(close(fd));
	}
}

static void cut_while_mapped(void)
{
	unsigned char *memory;
	int fd, i;

	make_file("file", 4 * PAGE);
	fd = must_open("file", O_RDWR, 0);
	memory = map(fd, 4 * PAGE, PROT_READ, MAP_PRIVATE);
	TRUE(memory[3 * PAGE], "no contents");
	OK(ftruncate(fd, PAGE + 100));
	TRUE(faults(memory + 3 * PAGE), "no bus error behind the new end");
	for (i = PAGE + 100; i < 2 * PAGE; i++)
		TRUE(!memory[i], "byte %d was cut off and is %02x", i,
		     memory[i]);
	OK(ftruncate(fd, 4 * PAGE));
	for (i = PAGE + 100; i < 4 * PAGE; i++)
		TRUE(!memory[i], "byte %d was cut off and is back: %02x", i,
		     memory[i]);
	OK(munmap(memory, 4 * PAGE));
	OK(close(fd));
}

const struct check map_checks[] = {
	{ "map-reading", reading },
	{ "map-private-writing", private_writing },
	{ "map-shared-writing", shared_writing },
	{ "map-into-hole", into_hole },
	{ "map-behind-end", behind_end },
	{ "map-behind-end-unsynced", behind_end_unsynced },
	{ "map-cut-while-mapped", cut_while_mapped },
	{ NULL, NULL },
};
