// SPDX-License-Identifier: GPL-2.0-only
/*
 * device.c - see device.h.
 *
 * mount(2) and umount(2) cannot be queued; everything between them can.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/files.h"
#include "flash/mtd.h"
#include "observe/queue.h"
#include "walk/device.h"

#define CALLS_ROOM 32

static int open_ubi(struct device *device, struct ffs_error *error)
{
	const struct filesystem *fs = &device->fs;
	int mtd = mtd_find(fs->ubi_mtd, error);

	if (mtd < 0)
		return -1;
	device->ubi_ctrl = open("/dev/ubi_ctrl", O_RDWR | O_CLOEXEC);
	if (device->ubi_ctrl < 0)
		return ffs_fail(error, errno, "cannot open /dev/ubi_ctrl");
	device->attach_request = (struct ubi_attach_req){
		.mtd_num = mtd,
		.vid_hdr_offset = fs->vid_hdr_offset,
		.max_beb_per1024 = (__s16)fs->max_beb_per1024,
	};
	return 0;
}

int device_open(struct device *device, const struct filesystem *fs,
		const char *chip, struct ffs_error *error)
{
	memset(device, 0, sizeof(*device));
	device->fs = *fs;
	device->ubi_ctrl = -1;
	if (make_directories(fs->target, error) ||
	    calls_reserve(&device->calls, CALLS_ROOM, 0, error))
		return -1;
	if (chip_open(&device->chip, chip, error)) {
		calls_free(&device->calls);
		return -1;
	}
	if (fs->ubi_mtd && open_ubi(device, error)) {
		device_close(device);
		return -1;
	}
	return 0;
}

void device_close(struct device *device)
{
	calls_free(&device->calls);
	chip_close(&device->chip);
	if (device->ubi_ctrl >= 0)
		close(device->ubi_ctrl);
}

/* The text is terminated, since its room is cleared before. */
static void put_off_counters(const struct device *device, struct calls *calls,
			     uint32_t tag, char *text)
{
	memset(text, 0, CHIP_TEXT_BYTES);
	queue_pread(calls, tag, device->chip.counters, text,
		    CHIP_TEXT_BYTES - 1, 0);
}

void device_put_off_attach(struct device *device)
{
	put_off_counters(device, &device->calls, DEVICE_BEFORE, device->before);
	if (device->ubi_ctrl < 0)
		return;
	device->attach_request.ubi_num = 0;
	calls_ioctl(&device->calls, DEVICE_ATTACH, device->ubi_ctrl,
		    UBI_IOCATT, &device->attach_request);
	put_off_counters(device, &device->calls, DEVICE_ATTACHED, device->attached);
}

static void read_counters(struct device *device, char *text)
{
	memset(text, 0, CHIP_TEXT_BYTES);
	if (pread(device->chip.counters, text, CHIP_TEXT_BYTES - 1, 0) < 0)
		text[0] = '\0';
}

static void difference(struct chip_counts *counts, const char *before,
		       const char *after)
{
	struct chip_counts first;

	memset(counts, 0, sizeof(*counts));
	if (!chip_parse_counts(before, &first) ||
	    !chip_parse_counts(after, counts))
		return;
	counts->reads -= first.reads;
	counts->programs -= first.programs;
	counts->erases -= first.erases;
}

/* When the last call with that tag ended; 0 if there is none. */
static uint64_t ended_at_ns(const struct calls *calls, uint32_t tag)
{
	size_t i;

	for (i = calls->n; i--;)
		if (calls->tags[i] == tag)
			return calls->queue[i].t_end_ns;
	return 0;
}

/* Return: whether mount(2) is next. */
static bool run_queue(struct device *device, struct cost *attach, int *failed,
		      uint32_t *failed_tag)
{
	struct calls *calls = &device->calls;
	size_t done;

	memset(attach, 0, sizeof(*attach));
	*failed = calls_run(calls, &done);
	*failed_tag = *failed ? calls->tags[done] : 0;
	if (!*failed || *failed_tag == DEVICE_ATTACH)
		attach->ns = ended_at_ns(calls, DEVICE_ATTACH) -
			     ended_at_ns(calls, DEVICE_BEFORE);
	calls_clear(calls);
	if (*failed_tag == DEVICE_ATTACH) {
		attach->errnum = *failed;
		*failed = 0;
		read_counters(device, device->attached);
	}
	if (device->ubi_ctrl >= 0 && !*failed)
		difference(&attach->counts, device->before, device->attached);
	return !*failed && !attach->errnum;
}

void device_mount(struct device *device, struct cost *attach,
		  struct cost *mounted, int *failed, uint32_t *failed_tag)
{
	const struct filesystem *fs = &device->fs;
	uint64_t start_ns;

	memset(mounted, 0, sizeof(*mounted));
	if (!run_queue(device, attach, failed, failed_tag))
		return;
	start_ns = clock_now_ns();
	if (mount(fs->source, fs->target, fs->type, fs->flags, fs->options))
		mounted->errnum = errno;
	mounted->ns = clock_now_ns() - start_ns;
}

void device_put_off_counts(struct device *device, struct calls *calls,
			   uint32_t tag)
{
	put_off_counters(device, calls, tag, device->mounted);
}

void device_mount_counts(const struct device *device, struct cost *mounted)
{
	const char *before = device->ubi_ctrl < 0 ? device->before :
						    device->attached;

	difference(&mounted->counts, before, device->mounted);
}

int device_unmount(struct device *device)
{
	return umount(device->fs.target) ? errno : 0;
}

void device_put_off_detach(struct device *device, uint32_t tag)
{
	if (device->ubi_ctrl < 0)
		return;
	device->ubi = device->attach_request.ubi_num;
	calls_ioctl(&device->calls, tag, device->ubi_ctrl, UBI_IOCDET,
		    &device->ubi);
}
