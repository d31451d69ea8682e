// SPDX-License-Identifier: GPL-2.0-only
/*
 * script.c - operations on files, one per line: a verb and its arguments,
 * separated by single spaces; %XX stands for a byte. A line that begins with
 * "!NAME " must fail with that error. The first line that does not do what it
 * says ends the script.
 *
 * Numbers are decimal, modes octal. What the verbs do is in the table at the
 * end; the arguments are in the order of the system call of that name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "fstree.h"

#define MAX_ARGUMENTS	8
#define LINE_BYTES	65536
#define PIECE_BYTES	65536

/* Returns 0, or -1 with errno. */
typedef int (*operation)(char **argument);

static long long number(const char *text)
{
	return strtoll(text, NULL, 10);
}

static mode_t octal(const char *text)
{
	return strtoul(text, NULL, 8);
}

/* ---- names ---- */

static int op_mkdir(char **a)
{
	return mkdir(a[0], octal(a[1]));
}

static int op_create(char **a)
{
	int fd = open(a[0], O_WRONLY | O_CREAT | O_EXCL, octal(a[1]));

	return fd < 0 ? -1 : close(fd);
}

static int op_link(char **a)
{
	return link(a[0], a[1]);
}

static int op_symlink(char **a)
{
	return symlink(a[0], a[1]);
}

static int op_mknod(char **a)
{
	return mknod(a[0], octal(a[1]), makedev(number(a[2]), number(a[3])));
}

static int op_unlink(char **a)
{
	return unlink(a[0]);
}

static int op_rmdir(char **a)
{
	return rmdir(a[0]);
}

static int op_rename(char **a)
{
	return rename(a[0], a[1]);
}

/* ---- attributes ---- */

static int op_chmod(char **a)
{
	return chmod(a[0], octal(a[1]));
}

static int op_chown(char **a)
{
	return lchown(a[0], number(a[1]), number(a[2]));
}

static int op_utimes(char **a)
{
	struct timespec times[2] = {
		{ .tv_sec = number(a[1]) },
		{ .tv_sec = number(a[2]) },
	};

	return utimensat(AT_FDCWD, a[0], times, AT_SYMLINK_NOFOLLOW);
}

static int op_setxattr(char **a)
{
	return lsetxattr(a[0], a[1], a[2], strlen(a[2]), 0);
}

static int op_removexattr(char **a)
{
	return lremovexattr(a[0], a[1]);
}

/* ---- contents ---- */

static int close_after(int fd, int result)
{
	int error = errno;

	if (close(fd) && !result)
		return -1;
	errno = error;
	return result;
}

static int write_pattern(int fd, off_t offset, size_t bytes, uint32_t seed)
{
	static char piece[PIECE_BYTES];
	size_t now;
	ssize_t done;

	for (; bytes; offset += done, bytes -= done) {
		now = bytes < sizeof(piece) ? bytes : sizeof(piece);
		pattern_fill(piece, now, offset, seed);
		done = pwrite(fd, piece, now, offset);
		if (done <= 0)
			return -1;
	}
	return 0;
}

static int op_write(char **a)
{
	int fd = open(a[0], O_WRONLY | O_CREAT, 0644);

	if (fd < 0)
		return -1;
	return close_after(fd, write_pattern(fd, number(a[1]), number(a[2]),
					     number(a[3])));
}

static int op_truncate(char **a)
{
	return truncate(a[0], number(a[1]));
}

static int op_read(char **a)
{
	int fd = open(a[0], O_RDONLY);
	char page[4096];

	if (fd < 0)
		return -1;
	return close_after(fd, pread(fd, page, sizeof(page), number(a[1])) < 0 ?
				       -1 : 0);
}

static int op_fsync(char **a)
{
	int fd = open(a[0], O_RDONLY);

	return fd < 0 ? -1 : close_after(fd, fsync(fd));
}

static int op_sync(char **a)
{
	(void)a;
	sync();
	return 0;
}

static int op_syncfs(char **a)
{
	int fd = open(a[0], O_RDONLY);

	return fd < 0 ? -1 : close_after(fd, syncfs(fd));
}

/* A text file of the kernel. */
static int op_put(char **a)
{
	int fd = open(a[0], O_WRONLY);

	if (fd < 0)
		return -1;
	return close_after(fd, write(fd, a[1], strlen(a[1])) < 0 ? -1 : 0);
}

/* Reads until there is no more: files of /proc do not know their size. */
static int op_copy(char **a)
{
	char *piece = malloc(PIECE_BYTES);
	int from = open(a[0], O_RDONLY), result = -1;
	int to = open(a[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
	ssize_t n = -1;

	if (piece && from >= 0 && to >= 0) {
		while ((n = read(from, piece, PIECE_BYTES)) > 0)
			if (write(to, piece, n) != n)
				break;
		result = n ? -1 : 0;
	}
	free(piece);
	if (from >= 0)
		close(from);
	return to < 0 ? -1 : close_after(to, result);
}

static int op_list(char **a)
{
	errno = EIO;
	return list_tree(a[0], a[1]) ? -1 : 0;
}

/*
 * Writes files PREFIX0 to PREFIX(n-1) over and over, each with a new seed, and
 * reads each back, until an operation fails; the numbers go to a file: rounds
 * and files of the last round that were complete, and the error. A round that
 * was announced as the last one is no failure. With pause_ms it sleeps after
 * each round.
 */
struct churn {
	const char *prefix;
	size_t n_files;
	size_t bytes;
	uint32_t seed;
	size_t rounds;
	const char *result;
	size_t pause_ms;
};

static int churn_file(const struct churn *c, size_t round, size_t n)
{
	uint32_t seed = c->seed + round * c->n_files + n;
	char path[256];
	int fd, result;

	snprintf(path, sizeof(path), "%s%zu", c->prefix, n);
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	if (fd < 0)
		return -1;
	result = write_pattern(fd, 0, c->bytes, seed);
	if (!result)
		result = fsync(fd);
	return close_after(fd, result);
}

static void nap(size_t ms)
{
	const struct timespec time = {
		.tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * 1000000,
	};

	nanosleep(&time, NULL);
}

static int op_churn(char **a)
{
	const struct churn c = {
		a[0], number(a[1]), number(a[2]), number(a[3]), number(a[4]),
		a[5], number(a[6]),
	};
	size_t round = 0, n = 0;
	int error = 0;
	FILE *out;

	while (round < c.rounds && !error) {
		for (n = 0; n < c.n_files && !error; n++)
			if (churn_file(&c, round, n))
				error = errno;
		if (!error) {
			round++;
			n = 0;
			nap(c.pause_ms);
		}
	}
	out = fopen(c.result, "w");
	if (!out)
		return -1;
	fprintf(out, "rounds %zu\nfiles %zu\nerrno %d\n", round,
		error ? n - 1 : n, error);
	return fclose(out);
}

/* ---- processes and mounts ---- */

/* A process that keeps the file open until the end of the guest. */
static int op_hold(char **a)
{
	int ready[2], fd;
	char byte = 0;

	if (pipe(ready))
		return -1;
	if (!fork()) {
		fd = open(a[0], O_RDWR);
		if (fd >= 0 && write(ready[1], &byte, 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	close(ready[1]);
	errno = EIO;
	return close_after(ready[0], read(ready[0], &byte, 1) == 1 ? 0 : -1);
}

static int op_mount(char **a)
{
	mkdir(a[1], 0755);
	return mount(a[0], a[1], a[2], 0, a[3]);
}

static int op_mount_ro(char **a)
{
	mkdir(a[1], 0755);
	return mount(a[0], a[1], a[2], MS_RDONLY, a[3]);
}

static int op_remount_ro(char **a)
{
	return mount("none", a[0], NULL, MS_REMOUNT | MS_RDONLY, a[1]);
}

static int op_remount_rw(char **a)
{
	return mount("none", a[0], NULL, MS_REMOUNT, a[1]);
}

static int op_umount(char **a)
{
	return umount2(a[0], 0);
}

static int op_sleep(char **a)
{
	nap(number(a[0]));
	return 0;
}

static const struct verb {
	const char *name;
	int arguments;
	operation run;
} verbs[] = {
	{ "mkdir", 2, op_mkdir },		/* path mode */
	{ "create", 2, op_create },		/* path mode */
	{ "link", 2, op_link },			/* old new */
	{ "symlink", 2, op_symlink },		/* target path */
	{ "mknod", 4, op_mknod },		/* path mode major minor */
	{ "unlink", 1, op_unlink },
	{ "rmdir", 1, op_rmdir },
	{ "rename", 2, op_rename },		/* old new */
	{ "chmod", 2, op_chmod },		/* path mode */
	{ "chown", 3, op_chown },		/* path uid gid, of a link too */
	{ "utimes", 3, op_utimes },		/* path atime_s mtime_s */
	{ "setxattr", 3, op_setxattr },		/* path name text */
	{ "removexattr", 2, op_removexattr },	/* path name */
	{ "write", 4, op_write },		/* path offset bytes seed */
	{ "truncate", 2, op_truncate },		/* path bytes */
	{ "read", 2, op_read },			/* path offset */
	{ "fsync", 1, op_fsync },
	{ "sync", 0, op_sync },
	{ "syncfs", 1, op_syncfs },
	{ "put", 2, op_put },			/* path text */
	{ "copy", 2, op_copy },			/* from to */
	{ "list", 2, op_list },			/* directory file */
	/* prefix files bytes seed rounds result pause_ms */
	{ "churn", 7, op_churn },
	{ "hold", 1, op_hold },
	{ "mount", 4, op_mount },		/* source target type options */
	{ "mount-ro", 4, op_mount_ro },
	{ "remount-ro", 2, op_remount_ro },	/* target options */
	{ "remount-rw", 2, op_remount_rw },
	{ "umount", 1, op_umount },
	{ "sleep", 1, op_sleep },		/* ms */
};

/* ---- lines ---- */

static int digit(char c)
{
	const char *digits = "0123456789abcdef", *at;

	at = strchr(digits, c | 0x20);
	return c && at ? at - digits : 0;
}

static void decode(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (*text == '%' && text[1] && text[2]) {
			*to++ = digit(text[1]) << 4 | digit(text[2]);
			text += 2;
		} else {
			*to++ = *text;
		}
	*to = 0;
}

static const char *error_name(int error)
{
	const char *name = error ? strerrorname_np(error) : "success";

	return name ? name : "an unknown error";
}

static int fail(int line, const char *what, const char *expected,
		const char *got)
{
	fprintf(stderr, "fstree: line %d: %s: expected %s, got %s\n", line,
		what, expected, got);
	return 1;
}

static int run_line(char *text, int line)
{
	char *argument[MAX_ARGUMENTS] = {}, *expected = NULL, *verb, *word;
	size_t i;
	int n = 0, error;

	if (*text == '!')
		expected = strsep(&text, " ") + 1;
	verb = strsep(&text, " ");
	while ((word = strsep(&text, " ")) && n < MAX_ARGUMENTS) {
		decode(word);
		argument[n++] = word;
	}
	for (i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(verbs[i].name, verb) && verbs[i].arguments == n)
			break;
	if (i == sizeof(verbs) / sizeof(*verbs))
		return fail(line, verb, "a verb with its arguments", "none");
	error = verbs[i].run(argument) ? errno : 0;
	if (strcmp(error_name(error), expected ? expected : "success"))
		return fail(line, argument[0] ? argument[0] : verb,
			    expected ? expected : "success", error_name(error));
	return 0;
}

int run_script(const char *path)
{
	char *text = malloc(LINE_BYTES);
	FILE *in = fopen(path, "r");
	int line = 0, status = 0;

	if (!text || !in) {
		fprintf(stderr, "fstree: %s: %s\n", path, strerror(errno));
		return 1;
	}
	umask(0);
	while (!status && fgets(text, LINE_BYTES, in)) {
		line++;
		text[strcspn(text, "\n")] = 0;
		if (*text && *text != '#')
			status = run_line(text, line);
	}
	fclose(in);
	free(text);
	return status;
}

int start_script(const char *path)
{
	pid_t child = fork();

	if (child < 0) {
		fprintf(stderr, "fstree: fork: %s\n", strerror(errno));
		return 1;
	}
	return child ? 0 : run_script(path);
}
