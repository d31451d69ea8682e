// SPDX-License-Identifier: GPL-2.0-only
/*
 * ubi.c - see ubi.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <mtd/ubi-user.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/files.h"
#include "flash/mtd.h"
#include "flash/ubi.h"
#include "plan/plan.h"

/* Of a file that a volume is filled with; it is read at once. */
#define FILL_LIMIT ((size_t)16 << 20)

static int64_t attribute(int ubi, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/class/ubi/ubi%d/%s", ubi, name);
	return file_read_number(path);
}

/* One ioctl on one device file. Return: 0 or an errno. */
static int control(const char *path, unsigned long request, void *argument)
{
	int failed = 0;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return errno;
	if (ioctl(fd, request, argument) < 0)
		failed = errno;
	if (close(fd) && !failed)
		failed = errno;
	return failed;
}

int ubi_attach(const char *mtd, int ubi, int vid_hdr_offset,
	       int max_beb_per1024, struct ffs_error *error)
{
	struct ubi_attach_req request = {
		.ubi_num = ubi,
		.vid_hdr_offset = vid_hdr_offset,
		.max_beb_per1024 = (__s16)max_beb_per1024,
	};
	int failed;

	request.mtd_num = mtd_find(mtd, error);
	if (request.mtd_num < 0)
		return -1;
	failed = control("/dev/ubi_ctrl", UBI_IOCATT, &request);
	if (failed)
		return ffs_fail(error, failed,
				"UBI cannot attach '%s' as ubi%d%s", mtd, ubi,
				failed == ENOENT ? " (/dev/ubi_ctrl is missing: no UBI in this kernel?)" :
				failed == EEXIST ? " (already attached)" :
				failed == EINVAL ? " (not erased before, or holding something else; the kernel log says more)" : "");
	return 0;
}

int ubi_make_volume(int ubi, const char *name, int volume, int64_t bytes,
		    struct ffs_error *error)
{
	struct ubi_mkvol_req request = {
		.vol_id = volume,
		.alignment = 1,
		.vol_type = UBI_DYNAMIC_VOLUME,
	};
	size_t length = strlen(name);
	char path[32];
	int failed;

	if (length > UBI_MAX_VOLUME_NAME)
		return ffs_fail(error, ENAMETOOLONG, "volume name '%.32s...'",
				name);
	memcpy(request.name, name, length + 1);
	request.name_len = (__s16)length;
	request.bytes = bytes;
	if (bytes == PLAN_SIZE_MAX) {
		int64_t blocks = attribute(ubi, "avail_eraseblocks");
		int64_t block_bytes = attribute(ubi, "eraseblock_size");

		if (blocks < 0 || block_bytes <= 0)
			return ffs_fail(error, ENODEV,
					"/sys/class/ubi/ubi%d does not exist; is ubi%d attached?",
					ubi, ubi);
		if (!blocks)
			return ffs_fail(error, ENOSPC,
					"ubi%d has no block left for a volume",
					ubi);
		request.bytes = blocks * block_bytes;
	}
	snprintf(path, sizeof(path), "/dev/ubi%d", ubi);
	failed = control(path, UBI_IOCMKVOL, &request);
	if (failed)
		return ffs_fail(error, failed,
				"cannot make volume %d '%s' of %lld bytes on ubi%d",
				volume, name, (long long)request.bytes, ubi);
	return 0;
}

int ubi_make_block(int ubi, int volume, struct ffs_error *error)
{
	struct ubi_blkcreate_req request = { 0 };
	char path[32];
	int failed;

	snprintf(path, sizeof(path), "/dev/ubi%d_%d", ubi, volume);
	failed = control(path, UBI_IOCVOLCRBLK, &request);
	if (failed)
		return ffs_fail(error, failed,
				"cannot make a block device of %s%s", path,
				failed == ENOENT ? " (there is no such volume)" :
				failed == ENOTTY ? " (a kernel without CONFIG_MTD_UBI_BLOCK)" :
				failed == EEXIST ? " (there is one already)" : "");
	return 0;
}

/* All of @data to the volume at @path. Return: 0 or an errno. */
static int update(const char *path, const char *data, int64_t bytes)
{
	int failed = 0;
	int64_t written = 0;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return errno;
	if (ioctl(fd, UBI_IOCVOLUP, &bytes) < 0)
		failed = errno;
	while (!failed && written < bytes) {
		ssize_t n = write(fd, data + written, (size_t)(bytes - written));

		if (n < 0 && errno != EINTR)
			failed = errno;
		else if (n > 0)
			written += n;
	}
	if (close(fd) && !failed)
		failed = errno;
	return failed;
}

int ubi_fill_volume(int ubi, int volume, const char *path,
		    struct ffs_error *error)
{
	char device[32];
	size_t bytes;
	char *data = file_read(path, FILL_LIMIT, &bytes, error);
	int failed;

	if (!data)
		return -1;
	snprintf(device, sizeof(device), "/dev/ubi%d_%d", ubi, volume);
	failed = update(device, data, (int64_t)bytes);
	free(data);
	if (failed)
		return ffs_fail(error, failed, "cannot write %s of %zu bytes to %s%s",
				path, bytes, device,
				failed == ENOSPC ? " (the volume is smaller)" : "");
	return 0;
}

int ubi_detach(int ubi, struct ffs_error *error)
{
	__s32 number = ubi;
	int failed = control("/dev/ubi_ctrl", UBI_IOCDET, &number);

	if (failed)
		return ffs_fail(error, failed, "cannot detach ubi%d%s", ubi,
				failed == EBUSY ? " (a volume is still mounted or open)" : "");
	return 0;
}
