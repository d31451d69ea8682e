// SPDX-License-Identifier: GPL-2.0-only
/*
 * device.c - see device.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
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
	snprintf(device->block_volume, sizeof(device->block_volume),
		 "/dev/ubi0_%d", fs->ubi_block);
	return 0;
}

int device_open(struct device *device, const struct filesystem *fs,
		const char *chip, struct ffs_error *error)
{
	size_t i;

	memset(device, 0, sizeof(*device));
	device->fs = *fs;
	device->ubi_ctrl = -1;
	for (i = 0; i < fs->n; i++)
		if (fs->layers[i].type &&
		    make_directories(fs->layers[i].target, error))
			return -1;
	if (calls_reserve(&device->calls, CALLS_ROOM, 0, error))
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

/* Attach UBI, and make a block device of one of its volumes. */
static void put_off_attach(struct device *device)
{
	struct calls *calls = &device->calls;

	if (device->ubi_ctrl < 0)
		return;
	device->attach_request.ubi_num = 0;
	calls_ioctl(calls, DEVICE_ATTACH, device->ubi_ctrl, UBI_IOCATT,
		    &device->attach_request);
	put_off_counters(device, DEVICE_ATTACHED, device->attached);
	if (device->fs.ubi_block < 0)
		return;
	calls_open(calls, DEVICE_BLOCK, AT_FDCWD, device->block_volume,
		   O_RDWR | O_CLOEXEC);
	calls_ioctl(calls, DEVICE_BLOCK, CALLS_OPENED, UBI_IOCVOLCRBLK,
		    &device->block_request);
	calls_close(calls, DEVICE_BLOCK, CALLS_OPENED);
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

static uint64_t ended_at_ns(const struct device *device, enum device_step step)
{
	return device->ended_ns[step - DEVICE_BEFORE];
}

/*
 * Make what was put off.
 *
 * Return: 0, or the errno of the call with *@failed_tag.
 */
static int run(struct device *device, uint32_t *failed_tag)
{
	struct calls *calls = &device->calls;
	size_t done, i;
	int failed = calls_run(calls, &done);

	for (i = 0; i < done + !!failed; i++) {
		uint32_t tag = calls->tags[i];

		if (tag >= DEVICE_BEFORE)
			device->ended_ns[tag - DEVICE_BEFORE] =
				calls->queue[i].t_end_ns;
		if (tag == DEVICE_MOUNT && i < done)
			device->mounted_layers++;
	}
	if (failed)
		*failed_tag = calls->tags[done];
	calls_clear(calls);
	return failed;
}

/* Most stacks are one queue; a directory is looked for between two. */
static int run_layers(struct device *device, uint32_t *failed_tag)
{
	const struct filesystem *fs = &device->fs;
	int failed;
	size_t i;

	for (i = 0; i < fs->n; i++) {
		const struct layer *layer = &fs->layers[i];

		if (layer->type) {
			calls_mount(&device->calls, DEVICE_MOUNT, layer->source,
				    layer->target, layer->type, layer->flags,
				    layer->options);
			continue;
		}
		failed = run(device, failed_tag);
		if (failed)
			return failed;
		if (mkdir(layer->target, 0755) && errno != EEXIST) {
			*failed_tag = DEVICE_MOUNT;
			return errno;
		}
	}
	put_off_counters(device, DEVICE_MOUNTED, device->mounted);
	return run(device, failed_tag);
}

/* Unmount what was mounted below the one that failed. Return: 0 or an errno. */
static int undo(struct device *device)
{
	const struct filesystem *fs = &device->fs;
	size_t mounted = 0, i;

	for (i = 0; i < fs->n && mounted < device->mounted_layers; i++)
		mounted += !!fs->layers[i].type;
	while (i--)
		if (fs->layers[i].type && umount(fs->layers[i].target))
			return errno;
	return 0;
}

static void take_attach(struct device *device, struct cost *attach, int errnum)
{
	if (device->ubi_ctrl < 0)
		return;
	attach->errnum = errnum;
	attach->ns = ended_at_ns(device, DEVICE_ATTACH) -
		     ended_at_ns(device, DEVICE_BEFORE);
	if (errnum)
		read_counters(device, device->attached);
	difference(&attach->counts, device->before, device->attached);
}

static void take_mount(struct device *device, struct cost *mounted, int errnum)
{
	bool ubi = device->ubi_ctrl >= 0;

	mounted->errnum = errnum;
	mounted->ns = ended_at_ns(device, DEVICE_MOUNT) -
		      ended_at_ns(device, ubi ? DEVICE_ATTACHED : DEVICE_BEFORE);
	if (errnum)
		read_counters(device, device->mounted);
	difference(&mounted->counts, ubi ? device->attached : device->before,
		   device->mounted);
}

int device_mount(struct device *device, struct cost *attach,
		 struct cost *mounted, uint32_t *failed_tag)
{
	uint32_t tag = 0;
	int failed;

	memset(attach, 0, sizeof(*attach));
	memset(mounted, 0, sizeof(*mounted));
	memset(device->ended_ns, 0, sizeof(device->ended_ns));
	device->mounted_layers = 0;
	put_off_counters(device, DEVICE_BEFORE, device->before);
	put_off_attach(device);
	failed = run_layers(device, &tag);
	if (!failed || tag == DEVICE_ATTACH || tag == DEVICE_BLOCK ||
	    tag == DEVICE_MOUNT) {
		take_attach(device, attach, tag == DEVICE_ATTACH ? failed : 0);
		if (!attach->errnum)
			take_mount(device, mounted, failed);
		failed = failed ? undo(device) : 0;
		tag = DEVICE_UNDO;
	}
	*failed_tag = tag;
	return failed;
}

void device_put_off_unmount(struct device *device, uint32_t tag)
{
	const struct filesystem *fs = &device->fs;
	size_t i = fs->n;

	while (i--)
		if (fs->layers[i].type)
			calls_unmount(&device->calls, tag,
				      fs->layers[i].target);
}

void device_put_off_detach(struct device *device, uint32_t tag)
{
	if (device->ubi_ctrl < 0)
		return;
	device->ubi = device->attach_request.ubi_num;
	calls_ioctl(&device->calls, tag, device->ubi_ctrl, UBI_IOCDET,
		    &device->ubi);
}
