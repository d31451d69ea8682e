// SPDX-License-Identifier: GPL-2.0-only
/*
 * verbs.c - the steps of guests that run programs of others: userland, which makes
 * of a guest the Linux that programs expect, and userland-verify (verify.h).
 *
 * The kernel makes the devices, and the host gives the files of /etc.  What is
 * between the two, a distribution's first scripts make: links in /dev, terminals,
 * shared memory, the directories of daemons, a name, the loopback device.  Only
 * guests that run programs of others do this step.  Everything in it is fixed,
 * and the file system under test is not touched.
 *
 * Limit: a kernel without a network has no loopback device, which is no error.
 */
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"
#include "plan/verbs.h"
#include "steps/step.h"
#include "workloads/userland/verify.h"

#define HOST_NAME "lab"

static const char *const directories[] = {
	"/dev/pts", "/dev/shm", "/root", "/run/lock", "/var/lib", "/var/log",
	"/var/tmp",
};

static const struct link {
	const char *path, *target;
} links[] = {
	{ "/dev/fd", "/proc/self/fd" },
	{ "/dev/stdin", "/proc/self/fd/0" },
	{ "/dev/stdout", "/proc/self/fd/1" },
	{ "/dev/stderr", "/proc/self/fd/2" },
	{ "/etc/mtab", "/proc/self/mounts" },
	{ "/var/run", "/run" },
	{ "/var/lock", "/run/lock" },
};

static const struct mounted {
	const char *type, *target, *options;
} mounts[] = {
	/* Group 5 is tty in /etc/group, which the host gives. */
	{ "devpts", "/dev/pts", "gid=5,mode=620,ptmxmode=666" },
	{ "tmpfs", "/dev/shm", "mode=1777" },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int make_links(struct ffs_error *error)
{
	size_t i;

	for (i = 0; i < COUNT(links); i++)
		if (symlink(links[i].target, links[i].path) && errno != EEXIST)
			return ffs_fail(error, errno, "cannot make the link %s",
					links[i].path);
	return 0;
}

static int mount_all(struct ffs_error *error)
{
	size_t i;

	for (i = 0; i < COUNT(mounts); i++)
		if (mount("none", mounts[i].target, mounts[i].type,
			  MS_NOSUID, mounts[i].options))
			return ffs_fail(error, errno, "cannot mount %s on %s",
					mounts[i].type, mounts[i].target);
	return 0;
}

/* With the device its address 127.0.0.1 is there, too. */
static int raise_loopback(struct ffs_error *error)
{
	struct ifreq request = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int failed = 0;

	if (fd < 0)
		return errno == ENOSYS || errno == EAFNOSUPPORT ? 0 :
			ffs_fail(error, errno, "cannot open a socket");
	if (ioctl(fd, SIOCGIFFLAGS, &request))
		failed = errno;
	request.ifr_flags |= IFF_UP;
	if (!failed && ioctl(fd, SIOCSIFFLAGS, &request))
		failed = errno;
	close(fd);
	return failed ? ffs_fail(error, failed,
				 "cannot switch the loopback device on") : 0;
}

static int run_userland(const struct plan_step *step, struct run_state *state,
			struct ffs_error *error)
{
	size_t i;

	(void)step;
	if (!state->is_init)
		return ffs_fail(error, EPERM,
				"userland is for guests whose root is the lab's");
	for (i = 0; i < COUNT(directories); i++)
		if (make_directories(directories[i], error))
			return -1;
	if (chmod("/var/tmp", 01777) || chmod("/run/lock", 01777))
		return ffs_fail(error, errno, "cannot open /var/tmp to all");
	if (make_links(error) || mount_all(error))
		return -1;
	if (sethostname(HOST_NAME, strlen(HOST_NAME)))
		return ffs_fail(error, errno, "cannot set the guest's name");
	return raise_loopback(error);
}

static const char *const parts[] = { "before", "after", NULL };

static int run_verify(const struct plan_step *step, struct run_state *state,
		      struct ffs_error *error)
{
	(void)state;
	return verify_tree(step_text(step, "dir"), step_text(step, "list"),
			   step_number(step, "part") == 1, error);
}

const struct verb_spec userland_verbs[] = {
	{ .name = "userland", .run = run_userland },
	{
		.name = "userland-verify",
		.run = run_verify,
		.keys = {
			{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
			{ "list", KEY_PATH, "/ffslab.tree", 0, 0, NULL },
			{ "part", KEY_CHOICE, NULL, 0, 0, parts },
		},
	},
	{ .name = NULL },
};
