// SPDX-License-Identifier: GPL-2.0-only
/*
 * init.c - pid 1 of a lab guest.
 *
 * The plan runs in a child.  If the child crashes, pid 1 is still there to say
 * so and to power the guest off; a crash of pid 1 itself would be a kernel
 * panic that hides the cause.  Nothing is synced on the way out: what reached
 * the flash is decided by the plan alone.
 *
 * The result channel is a serial line of its own in raw mode, so that neither
 * kernel messages nor line-end translation get into the records.
 *
 * Limit: if the channel cannot be opened, the only report is on the console.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/files.h"
#include "core/process.h"
#include "init.h"
#include "run.h"

#define CHANNEL "/dev/ttyS0"
#define PLAN_ARGUMENT "ffsplan="

static void mount_one(const char *type, const char *target)
{
	/* A root that is read-only has the directories already. */
	mkdir(target, 0755);
	if (mount(type, target, type, 0, NULL) && errno != EBUSY)
		fprintf(stderr, "ffsagent: cannot mount %s on %s: %s\n", type,
			target, strerror(errno));
}

/* The kernel gives no console to an init whose root has no /dev/console. */
static void open_console(void)
{
	int fd;

	if (fcntl(0, F_GETFD) >= 0 && fcntl(2, F_GETFD) >= 0)
		return;
	fd = open("/dev/console", O_RDWR);
	if (fd < 0)
		fd = open("/dev/null", O_RDWR);
	if (fd < 0)
		return;
	dup2(fd, 0);
	dup2(fd, 1);
	dup2(fd, 2);
	if (fd > 2)
		close(fd);
}

static int open_channel(void)
{
	struct termios mode;
	int fd = open(CHANNEL, O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0) {
		fprintf(stderr, "ffsagent: cannot open %s: %s; the kernel needs ssl0=\n",
			CHANNEL, strerror(errno));
		return -1;
	}
	if (!tcgetattr(fd, &mode)) {
		cfmakeraw(&mode);
		if (tcsetattr(fd, TCSANOW, &mode))
			fprintf(stderr, "ffsagent: cannot set %s raw: %s\n",
				CHANNEL, strerror(errno));
	}
	return fd;
}

/* Return: the path to the plan, to be freed, or NULL without memory. */
static char *find_plan(void)
{
	char *arguments = file_read("/proc/cmdline", 1 << 16, NULL, NULL);
	char *rest = arguments, *word, *path = NULL;

	while (!path && (word = strsep(&rest, " \n")))
		if (!strncmp(word, PLAN_ARGUMENT, strlen(PLAN_ARGUMENT)))
			path = strdup(word + strlen(PLAN_ARGUMENT));
	free(arguments);
	return path ? path : strdup("/plan");
}

static void run_child(int channel)
{
	static struct record_sink sink;
	char *path;

	/* First: no page of its program comes while time is measured. */
	process_stay_in_memory();
	/* The page of time, too, whoever asks for it first. */
	(void)clock_now_ns();
	path = find_plan();

	record_sink_init(&sink, channel);
	if (!path)
		_exit(EXIT_INFRASTRUCTURE);
	_exit(run_plan_file(path, &sink, true));
}

/* Return: the child's wait status.  Orphans of the plan are reaped, too. */
static int wait_for(pid_t child)
{
	int status;

	for (;;) {
		pid_t pid = wait(&status);

		if (pid == child)
			return status;
		if (pid < 0 && errno != EINTR)
			return 0;
	}
}

static void report_crash(int channel, const char *what, int signal_number)
{
	static struct record_sink sink;
	struct ffs_error error;

	ffs_fail(&error, 0, "%s %d (%s)", what, signal_number,
		 strsignal(signal_number));
	fprintf(stderr, "ffsagent: %s\n", error.message);
	record_sink_init(&sink, channel);
	/* The child may have died in the middle of a line. */
	if (channel >= 0 && write(channel, "\n", 1) == 1)
		run_emit_end(&sink, &error, 0, 0);
}

static void power_off(void)
{
	fflush(NULL);
	reboot(RB_POWER_OFF);
	/* Only a kernel without power-off gets here. */
	reboot(RB_HALT_SYSTEM);
	for (;;)
		pause();
}

void init_main(void)
{
	int channel, status;
	pid_t child;

	mount_one("proc", "/proc");
	mount_one("sysfs", "/sys");
	mount_one("devtmpfs", "/dev");
	mount_one("tmpfs", "/tmp");
	open_console();
	clock_open();
	channel = open_channel();
	child = fork();
	if (child == 0)
		run_child(channel);
	if (child < 0) {
		report_crash(channel, "cannot fork, errno", errno);
	} else {
		status = wait_for(child);
		if (WIFSIGNALED(status))
			report_crash(channel,
				     "the agent crashed with signal",
				     WTERMSIG(status));
	}
	if (channel >= 0)
		tcdrain(channel);
	power_off();
	__builtin_unreachable();
}
