// SPDX-License-Identifier: GPL-2.0-only
/*
 * attack WAY ARGUMENT... - tries one way from a guest to its host, and prints it with the
 * name of the error, or "done". Ways for which mount(8) and insmod(8) have no option:
 *
 *	fsopen HOST_DIRECTORY		a hostfs of its own, by fsopen(2)
 *	reconfigure MOUNT_POINT		a hostfs that is there for writing, by fspick(2)
 *	attribute MOUNT_POINT FILE	the same by mount_setattr(2), and FILE written
 *	finit FILE, init FILE		a module, by finit_module(2) and init_module(2)
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int told(const char *way, long result)
{
	printf("attack %s: %s\n", way,
	       result < 0 ? strerrorname_np(errno) : "done");
	return 0;
}

static long configure(int fd, unsigned int command, const char *key)
{
	return syscall(SYS_fsconfig, fd, command, key, NULL, 0);
}

static long open_anew(const char *directory)
{
	int fd = syscall(SYS_fsopen, "hostfs", FSOPEN_CLOEXEC);

	/* What cannot even be asked for is no refusal. */
	if (fd < 0 || configure(fd, FSCONFIG_SET_FLAG, directory)) {
		perror("fsopen");
		exit(2);
	}
	return configure(fd, FSCONFIG_CMD_CREATE, NULL);
}

static long reconfigure(const char *place)
{
	int fd = syscall(SYS_fspick, AT_FDCWD, place, FSPICK_CLOEXEC);

	if (fd < 0 || configure(fd, FSCONFIG_SET_FLAG, "rw")) {
		perror("fspick");
		exit(2);
	}
	return configure(fd, FSCONFIG_CMD_RECONFIGURE, NULL);
}

static long write_by_attribute(const char *place, const char *file)
{
	struct mount_attr attr = { .attr_clr = MOUNT_ATTR_RDONLY };

	if (syscall(SYS_mount_setattr, AT_FDCWD, place, 0, &attr,
		    sizeof(attr))) {
		perror("mount_setattr");
		exit(2);
	}
	return open(file, O_WRONLY | O_CREAT, 0600);
}

static long load(const char *path, int by_file)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	char *image;

	if (fd < 0 || fstat(fd, &status)) {
		perror(path);
		exit(2);
	}
	if (by_file)
		return syscall(SYS_finit_module, fd, "", 0);
	image = malloc(status.st_size);
	if (!image || read(fd, image, status.st_size) != status.st_size)
		exit(2);
	return syscall(SYS_init_module, image, status.st_size, "");
}

int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[1] : "";

	if (!strcmp(way, "fsopen"))
		return told(way, open_anew(argv[2]));
	if (!strcmp(way, "reconfigure"))
		return told(way, reconfigure(argv[2]));
	if (!strcmp(way, "attribute") && argc > 3)
		return told(way, write_by_attribute(argv[2], argv[3]));
	if (!strcmp(way, "finit") || !strcmp(way, "init"))
		return told(way, load(argv[2], *way == 'f'));
	fputs("usage: attack WAY ARGUMENT...\n", stderr);
	return 2;
}
