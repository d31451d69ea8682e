// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpu.c - probes of the processor: see probe.h.
 *
 * In the lab only kernel code takes time, so each has the kernel do something
 * that is mostly of one kind: a call that does nothing, the way of a path to its
 * file, two switches of tasks, bytes copied, bytes set.  user-copy and user-crc32
 * are loops of the agent's own, for what a board's user space can do.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/probe/probe.h"

const char *const probe_cpu_names[PROBE_CPU_OPS + 1] = {
	[PROBE_SYSCALL] = "syscall",
	[PROBE_OPEN] = "open",
	[PROBE_SWITCH] = "switch",
	[PROBE_COPY] = "copy",
	[PROBE_SET] = "set",
	[PROBE_USER_COPY] = "user-copy",
	[PROBE_USER_CRC32] = "user-crc32",
};

#define ZEROS "/dev/zero"
/* Sixteen names to look up, however little the guest's root holds. */
#define LONG_PATH "/dev/../dev/../dev/../dev/../dev/../dev/../dev/../dev/zero"

struct work {
	enum probe_cpu_op op;
	int fd;			/* PROBE_COPY: a file in memory; PROBE_SET: zeros */
	int there[2], back[2];	/* PROBE_SWITCH: pipes */
	pid_t partner;
	unsigned char *from, *to;
	size_t bytes;
	uint32_t table[256], sum;
};

static void crc_table(struct work *work)
{
	uint32_t i, bit;

	for (i = 0; i < 256; i++) {
		uint32_t value = i;

		for (bit = 0; bit < 8; bit++)
			value = value & 1 ? value >> 1 ^ 0xedb88320u :
					    value >> 1;
		work->table[i] = value;
	}
}

static int user_crc(struct work *work)
{
	uint32_t sum = ~work->sum;
	size_t i;

	for (i = 0; i < work->bytes; i++)
		sum = work->table[(sum ^ work->from[i]) & 0xff] ^ sum >> 8;
	work->sum = ~sum;
	return 0;
}

static int user_copy(struct work *work)
{
	memcpy(work->to, work->from, work->bytes);
	/* The compiler is not to find out that nobody looks at it. */
	__asm__ volatile("" : : "r"(work->to) : "memory");
	return 0;
}

static int one_open(void)
{
	int fd = open(LONG_PATH, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : close(fd);
}

/* There and back: two switches where nothing else can run. */
static int one_switch(struct work *work)
{
	char byte = 0;

	if (write(work->there[1], &byte, 1) != 1)
		return -1;
	return read(work->back[0], &byte, 1) == 1 ? 0 : -1;
}

static int once(struct work *work)
{
	ssize_t bytes = (ssize_t)work->bytes;

	switch (work->op) {
	case PROBE_SYSCALL:
		return syscall(SYS_getppid) < 0 ? -1 : 0;
	case PROBE_OPEN:
		return one_open();
	case PROBE_SWITCH:
		return one_switch(work);
	case PROBE_COPY:
		return pread(work->fd, work->to, work->bytes, 0) == bytes ?
		       0 : -1;
	case PROBE_SET:
		return read(work->fd, work->to, work->bytes) == bytes ? 0 : -1;
	case PROBE_USER_COPY:
		return user_copy(work);
	case PROBE_USER_CRC32:
		return user_crc(work);
	case PROBE_CPU_OPS:
		break;
	}
	return -1;
}

static void answer_until_closed(struct work *work)
{
	char byte;

	close(work->there[1]);
	close(work->back[0]);
	while (read(work->there[0], &byte, 1) == 1)
		if (write(work->back[1], &byte, 1) != 1)
			break;
	_exit(0);
}

static int start_partner(struct work *work, struct ffs_error *error)
{
	if (pipe(work->there))
		return ffs_fail(error, errno, "cannot make a pipe");
	if (pipe(work->back)) {
		ffs_fail(error, errno, "cannot make a pipe");
		close(work->there[0]);
		close(work->there[1]);
		return -1;
	}
	work->partner = fork();
	if (!work->partner)
		answer_until_closed(work);
	close(work->there[0]);
	close(work->back[1]);
	if (work->partner > 0)
		return 0;
	ffs_fail(error, errno, "cannot start a second process");
	close(work->there[1]);
	close(work->back[0]);
	return -1;
}

static void end_partner(struct work *work)
{
	close(work->there[1]);
	close(work->back[0]);
	while (waitpid(work->partner, NULL, 0) < 0 && errno == EINTR)
		;
}

static int open_file(struct work *work, struct ffs_error *error)
{
	if (work->op == PROBE_SET) {
		work->fd = open(ZEROS, O_RDONLY | O_CLOEXEC);
		return work->fd >= 0 ? 0 :
		       ffs_fail(error, errno, "cannot open " ZEROS);
	}
	work->fd = memfd_create("probe", MFD_CLOEXEC);
	if (work->fd < 0)
		return ffs_fail(error, errno,
				"cannot make a file in memory (has the kernel tmpfs?)");
	if (pwrite(work->fd, work->from, work->bytes, 0) ==
	    (ssize_t)work->bytes)
		return 0;
	return ffs_fail(error, errno, "cannot write %zu bytes of memory",
			work->bytes);
}

/* Return: 0, or -1 with @error; what there is then is ended by finish(). */
static int prepare(struct work *work, struct ffs_error *error)
{
	work->from = malloc(work->bytes);
	work->to = malloc(work->bytes);
	if (!work->from || !work->to)
		return ffs_fail(error, ENOMEM, "no memory for %zu bytes",
				work->bytes);
	memset(work->from, 0x5a, work->bytes);
	memset(work->to, 0xa5, work->bytes);
	crc_table(work);
	if (work->op == PROBE_SWITCH)
		return start_partner(work, error);
	if (work->op == PROBE_COPY || work->op == PROBE_SET)
		return open_file(work, error);
	return 0;
}

static void finish(struct work *work)
{
	if (work->partner > 0)
		end_partner(work);
	if (work->fd >= 0)
		close(work->fd);
	free(work->from);
	free(work->to);
}

/* No clock is read in between: here that would take as long as a probe. */
static int all(struct probe *probe, struct work *work, struct ffs_error *error)
{
	uint64_t i;

	for (i = 0; i < probe->count; i++)
		if (once(work))
			return ffs_fail(error, errno, "probe %s failed",
					probe->what);
	return 0;
}

int probe_cpu(struct probe *probe, enum probe_cpu_op op,
	      const struct flash_monitor *monitor, struct record_sink *sink,
	      struct ffs_error *error)
{
	struct work work = {
		.op = op, .fd = -1, .bytes = (size_t)probe->bytes,
	};
	int result;

	probe->what = probe_cpu_names[op];
	result = prepare(&work, error);
	if (!result)
		result = probe_begin(probe, monitor, error);
	if (!result)
		result = probe_end(probe, monitor, all(probe, &work, error),
				   sink, error);
	finish(&work);
	return result;
}
