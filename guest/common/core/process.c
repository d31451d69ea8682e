// SPDX-License-Identifier: GPL-2.0-only
/*
 * process.c - see process.h.
 *
 * A child that cannot start its program says so through a pipe that exec would
 * have closed, so that "no such program" and "the program failed" differ.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/files.h"
#include "core/process.h"

void process_stay_in_memory(void)
{
	/* In a container root may not, and has a limit like others. */
	if (!geteuid() && prctl(PR_CAPBSET_READ, CAP_IPC_LOCK, 0, 0, 0) == 1)
		(void)mlockall(MCL_CURRENT | MCL_FUTURE);
}

struct child {
	char **argv;
	bool own_console;	/* new session, controlling terminal */
	bool keep_stdout;
};

/*
 * /dev/console itself cannot be a controlling terminal; the device behind it,
 * which sysfs names last in its list, can.
 */
static void take_console(void)
{
	char *active = file_read("/sys/class/tty/console/active", 4096, NULL,
				 NULL);
	char path[64] = "/dev/console";
	int fd;

	if (active) {
		char *name;

		active[strcspn(active, "\n")] = '\0';
		name = strrchr(active, ' ');
		name = name ? name + 1 : active;
		if (*name)
			snprintf(path, sizeof(path), "/dev/%.50s", name);
		free(active);
	}
	setsid();
	fd = open(path, O_RDWR);
	if (fd >= 0) {
		dup2(fd, 0);
		dup2(fd, 1);
		dup2(fd, 2);
		if (fd > 2)
			close(fd);
	}
	/* Without job control the shell still works; it says so itself. */
	ioctl(0, TIOCSCTTY, 0);
}

static void run_child(const struct child *child, int report)
{
	int failed;

	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 0);
	setenv("HOME", "/", 0);
	setenv("TERM", "linux", 0);
	if (child->own_console)
		take_console();
	else if (!child->keep_stdout)
		dup2(2, 1);
	execvp(child->argv[0], child->argv);
	failed = errno;
	if (write(report, &failed, sizeof(failed)) != sizeof(failed))
		_exit(126);
	_exit(127);
}

/* Return: 0 with the wait status, or an errno. */
static int spawn_and_wait(const struct child *child, int *status)
{
	int report[2], failed = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC))
		return errno;
	pid = fork();
	if (pid == 0)
		run_child(child, report[1]);
	if (pid < 0)
		failed = errno;
	close(report[1]);
	if (pid > 0) {
		int exec_errno;

		do
			n = read(report[0], &exec_errno, sizeof(exec_errno));
		while (n < 0 && errno == EINTR);
		if (n == sizeof(exec_errno))
			failed = exec_errno;
		while (waitpid(pid, status, 0) < 0 && errno == EINTR)
			;
	}
	close(report[0]);
	return failed;
}

static char **split_arguments(const char *path, char *args)
{
	size_t room = strlen(args) / 2 + 3, n = 0;
	char **argv = calloc(room, sizeof(*argv));
	char *next = NULL, *word;

	if (!argv)
		return NULL;
	argv[n++] = (char *)path;
	for (word = strtok_r(args, " ", &next); word;
	     word = strtok_r(NULL, " ", &next))
		argv[n++] = word;
	return argv;
}

int process_run(const char *path, const char *args, struct ffs_error *error)
{
	struct child child = { 0 };
	char *words = strdup(args);
	int failed, status = 0;

	if (words)
		child.argv = split_arguments(path, words);
	if (!child.argv) {
		free(words);
		return ffs_fail(error, ENOMEM, "cannot run %s", path);
	}
	failed = spawn_and_wait(&child, &status);
	free(child.argv);
	free(words);
	if (failed)
		return ffs_fail(error, failed, "cannot run %s", path);
	if (WIFSIGNALED(status))
		return ffs_fail(error, 0, "%s was ended by signal %d (%s)",
				path, WTERMSIG(status),
				strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status))
		return ffs_fail(error, 0, "%s exited with status %d", path,
				WEXITSTATUS(status));
	return 0;
}

int process_shell(const char *path, bool own_console, struct ffs_error *error)
{
	char *argv[] = { (char *)path, NULL };
	struct child child = {
		.argv = argv,
		.own_console = own_console,
		/* An ordinary user's shell belongs on the user's terminal. */
		.keep_stdout = isatty(1),
	};
	int status = 0;
	int failed = spawn_and_wait(&child, &status);

	if (failed)
		return ffs_fail(error, failed, "cannot run the shell %s", path);
	return 0;
}
