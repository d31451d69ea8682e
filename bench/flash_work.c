// SPDX-License-Identifier: GPL-2.0-only
/*
 * flash_work.c - the workloads whose flash operations are counted.
 *
 *	flash_work RESULT write FILE BYTES RECORD
 *	flash_work RESULT overwrite FILE RECORD COUNT SEED
 *	flash_work RESULT read FILE BYTES
 *	flash_work RESULT create DIR DIRECTORIES FILES BYTES
 *	flash_work RESULT populate DIR ENTRIES
 *	flash_work RESULT lookup DIR ENTRIES COUNT SEED
 *	flash_work RESULT list DIR ENTRIES
 *	flash_work RESULT remove DIR ENTRIES
 *
 * `write` makes a file in write()s of RECORD bytes, `overwrite` replaces COUNT aligned
 * records of it, both with fsync(). `read` reads the first BYTES. `create` makes FILES
 * files of BYTES bytes in DIRECTORIES directories in turn, then syncs. The others
 * work on the directory DIR/many: `populate` makes it with ENTRIES empty files, `lookup`
 * asks for the status of COUNT different ones at random, `list` reads the directory,
 * `remove` deletes them all and it.
 *
 * RESULT is written at the end, lines of "name value": operations, bytes, ns. The time
 * is that of the operations with their fsync() or sync, without what is prepared for
 * them. Flash is not looked at: the plan takes the monitor's counters before and after.
 *
 * Limit: no operation may fail; the program then ends with status 1 and no RESULT.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct result {
	uint64_t operations;
	uint64_t bytes;
	uint64_t start_ns;
	uint64_t ns;
};

struct command {
	const char *name;
	int numbers;		/* how many follow the path */
	void (*run)(const char *path, const uint64_t *numbers,
		    struct result *result);
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void start(struct result *result)
{
	result->start_ns = now_ns();
}

static void stop(struct result *result, uint64_t operations, uint64_t bytes)
{
	result->ns = now_ns() - result->start_ns;
	result->operations = operations;
	result->bytes = bytes;
}

/* splitmix64 by Sebastiano Vigna: any seed will do. */
static uint64_t draw(uint64_t *state, uint64_t below)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (z ^ (z >> 31)) % below;
}

static void *allocate(uint64_t bytes)
{
	void *memory = malloc(bytes);

	if (!memory)
		die("malloc");
	return memory;
}

/* Bytes that do not repeat; stamp() makes each record differ from the others. */
static unsigned char *new_record(uint64_t bytes)
{
	unsigned char *record = allocate(bytes);
	uint64_t state = 1, i;

	for (i = 0; i < bytes; i++)
		record[i] = (unsigned char)draw(&state, 256);
	return record;
}

static void stamp(unsigned char *record, uint64_t bytes, uint64_t number)
{
	memcpy(record, &number, bytes < sizeof(number) ? bytes : sizeof(number));
}

static int open_file(const char *path, int flags)
{
	int fd = open(path, flags, 0644);

	if (fd < 0)
		die(path);
	return fd;
}

static void write_at(int fd, const unsigned char *record, uint64_t bytes,
		     uint64_t position)
{
	if (pwrite(fd, record, bytes, (off_t)position) != (ssize_t)bytes)
		die("pwrite");
}

static void sync_and_close(int fd)
{
	if (fsync(fd) || close(fd))
		die("fsync");
}

/* ---- one file ---- */

static void run_write(const char *path, const uint64_t *numbers,
		      struct result *result)
{
	uint64_t bytes = numbers[0], record_bytes = numbers[1];
	unsigned char *record = new_record(record_bytes);
	uint64_t i, records = bytes / record_bytes;
	int fd;

	start(result);
	fd = open_file(path, O_WRONLY | O_CREAT | O_EXCL);
	for (i = 0; i < records; i++) {
		stamp(record, record_bytes, i);
		write_at(fd, record, record_bytes, i * record_bytes);
	}
	sync_and_close(fd);
	stop(result, records, records * record_bytes);
	free(record);
}

static void run_overwrite(const char *path, const uint64_t *numbers,
			  struct result *result)
{
	uint64_t record_bytes = numbers[0], count = numbers[1];
	unsigned char *record = new_record(record_bytes);
	uint64_t state = numbers[2], i, at;
	int fd = open_file(path, O_WRONLY);
	struct stat status;

	if (fstat(fd, &status))
		die(path);
	start(result);
	for (i = 0; i < count; i++) {
		at = draw(&state, (uint64_t)status.st_size / record_bytes);
		stamp(record, record_bytes, ~i);
		write_at(fd, record, record_bytes, at * record_bytes);
	}
	sync_and_close(fd);
	stop(result, count, count * record_bytes);
	free(record);
}

static void run_read(const char *path, const uint64_t *numbers,
		     struct result *result)
{
	unsigned char *record = allocate(numbers[0]);
	int fd;

	start(result);
	fd = open_file(path, O_RDONLY);
	if (read(fd, record, numbers[0]) != (ssize_t)numbers[0])
		die("read");
	stop(result, 1, numbers[0]);
	close(fd);
	free(record);
}

/* ---- many small files ---- */

static void sync_file_system(const char *path)
{
	int fd = open_file(path, O_RDONLY | O_DIRECTORY);

	if (syncfs(fd))
		die("syncfs");
	close(fd);
}

static void run_create(const char *path, const uint64_t *numbers,
		       struct result *result)
{
	uint64_t directories = numbers[0], files = numbers[1], bytes = numbers[2];
	unsigned char *record = new_record(bytes);
	char name[4096];
	uint64_t i;
	int fd;

	start(result);
	for (i = 0; i < directories; i++) {
		snprintf(name, sizeof(name), "%s/d%02u", path, (unsigned int)i);
		if (mkdir(name, 0755))
			die(name);
	}
	for (i = 0; i < files; i++) {
		snprintf(name, sizeof(name), "%s/d%02u/file%06u", path,
			 (unsigned int)(i % directories), (unsigned int)i);
		fd = open_file(name, O_WRONLY | O_CREAT | O_EXCL);
		stamp(record, bytes, i);
		write_at(fd, record, bytes, 0);
		if (close(fd))
			die(name);
	}
	sync_file_system(path);
	stop(result, files, files * bytes);
	free(record);
}

/* ---- one large directory ---- */

static const char *entry_name(const char *path, uint64_t number)
{
	static char name[4096];

	snprintf(name, sizeof(name), "%s/many/entry%06u", path,
		 (unsigned int)number);
	return name;
}

static void many_name(const char *path, char *name, size_t bytes)
{
	snprintf(name, bytes, "%s/many", path);
}

static void run_populate(const char *path, const uint64_t *numbers,
			 struct result *result)
{
	char directory[4096];
	uint64_t i;

	many_name(path, directory, sizeof(directory));
	if (mkdir(directory, 0755))
		die(directory);
	start(result);
	for (i = 0; i < numbers[0]; i++)
		if (mknod(entry_name(path, i), S_IFREG | 0644, 0))
			die("mknod");
	stop(result, numbers[0], 0);
}

/* The first COUNT of a random order (Fisher and Yates). */
static void run_lookup(const char *path, const uint64_t *numbers,
		       struct result *result)
{
	uint64_t entries = numbers[0], count = numbers[1], state = numbers[2];
	uint64_t *order = allocate(entries * sizeof(*order));
	struct stat status;
	uint64_t i, at, kept;

	for (i = 0; i < entries; i++)
		order[i] = i;
	for (i = 0; i < count && i < entries; i++) {
		at = i + draw(&state, entries - i);
		kept = order[i];
		order[i] = order[at];
		order[at] = kept;
	}
	start(result);
	for (i = 0; i < count && i < entries; i++)
		if (stat(entry_name(path, order[i]), &status))
			die("stat");
	stop(result, i, 0);
	free(order);
}

static void run_list(const char *path, const uint64_t *numbers,
		     struct result *result)
{
	char directory[4096];
	uint64_t found = 0;
	DIR *dir;

	many_name(path, directory, sizeof(directory));
	start(result);
	dir = opendir(directory);
	if (!dir)
		die(directory);
	while (readdir(dir))
		found++;
	closedir(dir);
	stop(result, found, 0);
	if (found != numbers[0] + 2) {
		fputs("flash_work: entries are missing\n", stderr);
		exit(1);
	}
}

static void run_remove(const char *path, const uint64_t *numbers,
		       struct result *result)
{
	char directory[4096];
	uint64_t i;

	start(result);
	for (i = 0; i < numbers[0]; i++)
		if (unlink(entry_name(path, i)))
			die("unlink");
	stop(result, numbers[0], 0);
	many_name(path, directory, sizeof(directory));
	if (rmdir(directory))
		die(directory);
}

/* ---- all ---- */

static const struct command commands[] = {
	{ "write", 2, run_write },	 { "overwrite", 3, run_overwrite },
	{ "read", 1, run_read },	 { "create", 3, run_create },
	{ "populate", 1, run_populate }, { "lookup", 3, run_lookup },
	{ "list", 1, run_list },	 { "remove", 1, run_remove },
};

static void report(const char *path, const struct result *result)
{
	FILE *file = fopen(path, "w");

	if (!file)
		die(path);
	fprintf(file, "operations %llu\nbytes %llu\nns %llu\n",
		(unsigned long long)result->operations,
		(unsigned long long)result->bytes,
		(unsigned long long)result->ns);
	if (fclose(file))
		die(path);
}

int main(int argc, char **argv)
{
	uint64_t numbers[3] = { 0 };
	struct result result = { 0 };
	size_t i;
	int n;

	for (i = 0; argc > 4 && i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(commands[i].name, argv[2]) ||
		    commands[i].numbers != argc - 4)
			continue;
		for (n = 0; n < argc - 4; n++)
			numbers[n] = strtoull(argv[4 + n], NULL, 10);
		commands[i].run(argv[3], numbers, &result);
		report(argv[1], &result);
		return 0;
	}
	fputs("usage: flash_work RESULT COMMAND PATH NUMBER...\n", stderr);
	return 2;
}
