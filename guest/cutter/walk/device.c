// SPDX-License-Identifier: GPL-2.0-only
/*
 * device.c - see device.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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
static void put_off_counters(struct device *device, uint32_t tag, char *text)
{
	memset(text, 0, CHIP_COUNTS_BYTES);
	queue_pread(&device->calls, tag, device->chip.counts, text,
		    CHIP_COUNTS_BYTES - 1, 0);
}

static void put_off_mount(struct device *device)
{
	const struct filesystem *fs = &device->fs;
	struct calls *calls = &device->calls;

	put_off_counters(device, DEVICE_BEFORE, device->before);
	if (device->ubi_ctrl >= 0) {
		device->attach_request.ubi_num = 0;
		calls_ioctl(calls, DEVICE_ATTACH, device->ubi_ctrl, UBI_IOCATT,
			    &device->attach_request);
		put_off_counters(device, DEVICE_ATTACHED, device->attached);
	}
	calls_mount(calls, DEVICE_MOUNT, fs->source, fs->target, fs->type,
		    fs->flags, fs->options);
	put_off_counters(device, DEVICE_MOUNTED, device->mounted);
}

/* What the chip has done up to now; "" if it does not say. */
static void read_counters(const struct device *device, char *text)
{
	memset(text, 0, CHIP_COUNTS_BYTES);
	if (pread(device->chip.counts, text, CHIP_COUNTS_BYTES - 1, 0) < 0)
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

static void take_attach(struct device *device, struct cost *attach, int errnum)
{
	const struct calls *calls = &device->calls;

	if (device->ubi_ctrl < 0)
		return;
	attach->errnum = errnum;
	attach->ns = ended_at_ns(calls, DEVICE_ATTACH) -
		     ended_at_ns(calls, DEVICE_BEFORE);
	if (errnum)
		read_counters(device, device->attached);
	difference(&attach->counts, device->before, device->attached);
}

static void take_mount(struct device *device, struct cost *mounted, int errnum)
{
	bool ubi = device->ubi_ctrl >= 0;
	const struct calls *calls = &device->calls;

	mounted->errnum = errnum;
	mounted->ns = ended_at_ns(calls, DEVICE_MOUNT) -
		      ended_at_ns(calls, ubi ? DEVICE_ATTACHED : DEVICE_BEFORE);
	if (errnum)
		read_counters(device, device->mounted);
	difference(&mounted->counts, ubi ? device->attached : device->before,
		   device->mounted);
}

int device_mount(struct device *device, struct cost *attach,
		 struct cost *mounted, uint32_t *failed_tag)
{
	struct calls *calls = &device->calls;
	uint32_t tag = 0;
	size_t done;
	int failed;

	memset(attach, 0, sizeof(*attach));
	memset(mounted, 0, sizeof(*mounted));
	put_off_mount(device);
	failed = calls_run(calls, &done);
	if (failed)
		tag = calls->tags[done];
	if (!failed || tag == DEVICE_ATTACH || tag == DEVICE_MOUNT) {
		take_attach(device, attach, tag == DEVICE_ATTACH ? failed : 0);
		if (!attach->errnum)
			take_mount(device, mounted, failed);
		failed = 0;
	}
	calls_clear(calls);
	*failed_tag = tag;
	return failed;
}

void device_put_off_unmount(struct device *device, uint32_t tag)
{
	calls_unmount(&device->calls, tag, device->fs.target);
}

void device_put_off_detach(struct device *device, uint32_t tag)
{
	if (device->ubi_ctrl < 0)
		return;
	device->ubi = device->attach_request.ubi_num;
	calls_ioctl(&device->calls, tag, device->ubi_ctrl, UBI_IOCDET,
		    &device->ubi);
}
