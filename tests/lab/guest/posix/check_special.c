// SPDX-License-Identifier: GPL-2.0-only
/* check_special.c - FIFOs, devices, programs, locks. */
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "posix.h"

#define EXEC_ANSWER 42

static void kinds(void)
{
	static const mode_t types[] = { S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK,
					S_IFREG };
	dev_t large = makedev(259, 70000), device = makedev(200, 255);
	char name[20];
	size_t i;

	for (i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "node%zu", i);
		OK(mknod(name, types[i] | 0640, device));
	}
	if (!opt.small_devices)
		OK(mknod("large", S_IFBLK | 0600, large));
	remount();
	for (i = 0; i < 5; i++) {
		struct stat status;

		snprintf(name, sizeof(name), "node%zu", i);
		status = status_of(name);
		EQUAL(types[i] | 0640, status.st_mode);
		EQUAL(1, status.st_nlink);
		if (S_ISCHR(types[i]) || S_ISBLK(types[i]))
			EQUAL(device, status.st_rdev);
	}
	if (!opt.small_devices)
		EQUAL(large, status_of("large").st_rdev);
	FAILS(ENXIO, open("node1", O_RDONLY));
	FAILS(ENXIO, open("node2", O_RDONLY));
	FAILS(ENXIO, open("node0", O_WRONLY | O_NONBLOCK));
	FAILS(EPERM, mknod("dir", S_IFDIR | 0755, 0));
}

static void large_device(void)
{
	if (!opt.small_devices)
		skip("large device numbers fit");
	/* What does not fit must be refused, not changed. */
	FAILS(EINVAL, mknod("large", S_IFBLK | 0600, makedev(259, 70000)));
	TRUE(!exists("large"), "a refused device is there");
}

static void working_device(void)
{
	char data[10];
	int fd;

	OK(mknod("null", S_IFCHR | 0666, makedev(1, 3)));
	OK(mknod("zero", S_IFCHR | 0666, makedev(1, 5)));
	remount();
	fd = must_open("null", O_RDWR, 0);
	EQUAL(10, write(fd, "0123456789", 10));
	EQUAL(0, read(fd, data, 10));
	OK(close(fd));
	fd = must_open("zero", O_RDWR, 0);
	EQUAL(10, read(fd, data, 10));
	EQUAL(0, data[5]);
	OK(close(fd));
}

static void fifo(void)
{
	char data[100];
	int status, fd;
	pid_t child;

	OK(mkfifo("fifo", 0644));
	remount();
	fflush(stdout);
	child = fork();
	if (!child) {
		fd = must_open("fifo", O_WRONLY, 0);
		_exit(write(fd, "through", 7) != 7);
	}
	fd = must_open("fifo", O_RDONLY, 0);
	EQUAL(7, read(fd, data, sizeof(data)));
	TRUE(!memcmp(data, "through", 7), "other data");
	EQUAL(0, read(fd, data, sizeof(data)));
	OK(close(fd));
	EQUAL(child, waitpid(child, &status, 0));
	EQUAL(0, status);
	EQUAL(0, status_of("fifo").st_size);
}

static void socket_file(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX,
				       .sun_path = "socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0)
		skip("the kernel has no local sockets");
	OK(bind(fd, (struct sockaddr *)&address, sizeof(address)));
	TRUE(S_ISSOCK(status_of("socket").st_mode), "no socket");
	FAILS(EADDRINUSE, bind(socket(AF_UNIX, SOCK_STREAM, 0),
			       (struct sockaddr *)&address, sizeof(address)));
	OK(unlink("socket"));
}

static void copy_program(const char *path)
{
	int from = must_open("/proc/self/exe", O_RDONLY, 0);
	int to = must_open(path, O_CREAT | O_WRONLY, 0755);
	char data[32768];
	ssize_t part;

	while ((part = read(from, data, sizeof(data))) > 0)
		EQUAL(part, write(to, data, part));
	OK(part);
	OK(close(from));
	OK(close(to));
}

static void expect_answer(const char *path)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		execl(path, path, "--exec-answer", NULL);
		_exit(1);
	}
	EQUAL(child, waitpid(child, &status, 0));
	TRUE(WIFEXITED(status) && WEXITSTATUS(status) == EXEC_ANSWER,
	     "the program ended with status %d", status);
}

static void program(void)
{
	int fd;

	if (!exists("/proc/self/exe"))
		skip("no /proc");
	copy_program("program");
	expect_answer("./program");
	remount();
	expect_answer("./program");
	OK(chmod("program", 0644));
	FAILS(EACCES, execl("./program", "program", NULL));
	OK(chmod("program", 0755));
	fd = must_open("script", O_CREAT | O_WRONLY, 0755);
	EQUAL(12, write(fd, "#!./program\n", 12));
	FAILS(ETXTBSY, execl("./script", "script", NULL));
	OK(close(fd));
	OK(rename("program", "moved"));
	expect_answer("./moved");
}

static void locks_of_other(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_start = 5, .l_len = 10 };
	int fd = must_open("file", O_RDWR, 0);

	FAILS(EAGAIN, flock(fd, LOCK_EX | LOCK_NB));
	FAILS(EAGAIN, fcntl(fd, F_SETLK, &lock));
	lock.l_start = 100;
	OK(fcntl(fd, F_SETLK, &lock));
}

static void locks(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_start = 0, .l_len = 10 };
	int fd, other;

	make_file("file", 100);
	fd = must_open("file", O_RDWR, 0);
	other = must_open("file", O_RDWR, 0);
	OK(flock(fd, LOCK_EX));
	OK(fcntl(fd, F_SETLK, &lock));
	FAILS(EAGAIN, flock(other, LOCK_SH | LOCK_NB));
	in_child(locks_of_other);
	OK(flock(fd, LOCK_UN));
	OK(flock(other, LOCK_SH | LOCK_NB));
	OK(close(fd));
	OK(close(other));
}

const struct check special_checks[] = {
	{ "special-kinds", kinds },
	{ "special-large-device", large_device },
	{ "special-working-device", working_device },
	{ "special-fifo", fifo },
	{ "special-socket", socket_file },
	{ "special-program", program },
	{ "special-locks", locks },
	{ NULL, NULL },
};
