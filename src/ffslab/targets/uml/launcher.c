// SPDX-License-Identifier: GPL-2.0-only
/*
 * launcher.c - turns a fresh process of ffslab's into a guest.
 *
 *	launcher CPU CONSOLE OUTPUT RECORDS PROGRAM [ARGUMENT]...
 *
 * It does what env, setpriv, taskset, setarch and two shells would do, at a
 * sixth of their cost: a guest of one file is over in a tenth of a second.
 * Environment, working directory and process group are the caller's affair.
 *
 * The program starts when standard input has a byte, and not at all if it ends
 * without one.  By then the death signal is armed, so that nothing is started
 * for a caller who is gone, and whoever watches over the guest knows it.
 *
 * CPU is the number of the only processor the program may use, CONSOLE the
 * file for its errors, OUTPUT the one for its output, RECORDS the one for its
 * descriptor 3; all are appended to.  "-" stands for: no choice, where errors
 * go, and no such descriptor.
 *
 * Exit status: 1 if the host refuses something, 127 if there is no PROGRAM;
 * what was refused is told in CONSOLE.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define RECORDS_FD 3

enum { CPU = 1, CONSOLE, OUTPUT, RECORDS, PROGRAM };

static int refused(const char *what)
{
	fprintf(stderr, "launcher: %s: %s\n", what, strerror(errno));
	return -1;
}

/* Return: 0 if the caller lets the program start. */
static int wait_at_gate(void)
{
	char byte;
	ssize_t n;

	do
		n = read(STDIN_FILENO, &byte, 1);
	while (n < 0 && errno == EINTR);
	return n == 1 ? 0 : -1;
}

static int become(const char *path, int flags, int fd)
{
	int opened = open(path, flags, 0666);

	if (opened < 0 || (opened != fd && dup2(opened, fd) < 0))
		return refused(path);
	if (opened != fd)
		close(opened);
	return 0;
}

/* Errors first, so that those of what follows are read. */
static int open_channels(const char *console, const char *output,
			 const char *records)
{
	const int append = O_WRONLY | O_CREAT | O_APPEND;

	if (become(console, append, STDERR_FILENO) ||
	    become("/dev/null", O_RDONLY, STDIN_FILENO))
		return -1;
	if (strcmp(output, "-")) {
		if (become(output, append, STDOUT_FILENO))
			return -1;
	} else if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		return refused(console);
	}
	return strcmp(records, "-") ? become(records, append, RECORDS_FD) : 0;
}

static int pin(const char *number)
{
	cpu_set_t cpus;
	long cpu;

	if (!strcmp(number, "-"))
		return 0;
	cpu = strtol(number, NULL, 10);
	CPU_ZERO(&cpus);
	if (cpu >= 0 && cpu < CPU_SETSIZE)
		CPU_SET((size_t)cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		return refused("cannot use the processor");
	return 0;
}

/* No core file; the same addresses whenever it runs. */
static int fix_process(void)
{
	const struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_CORE, &none))
		return refused("cannot limit core files");
	if (personality(PER_LINUX | ADDR_NO_RANDOMIZE) < 0)
		return refused("cannot fix addresses");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc <= PROGRAM) {
		fputs("usage: launcher CPU CONSOLE OUTPUT RECORDS PROGRAM [ARGUMENT]...\n",
		      stderr);
		return 2;
	}
	/* Before the gate: if the caller ended before this, it never opens. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		return 1;
	if (wait_at_gate() ||
	    open_channels(argv[CONSOLE], argv[OUTPUT], argv[RECORDS]) ||
	    pin(argv[CPU]) || fix_process())
		return 1;
	execv(argv[PROGRAM], argv + PROGRAM);
	refused(argv[PROGRAM]);
	return 127;
}
