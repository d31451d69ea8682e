"""Which file systems a lab mounts: those that live on flash, and nothing that reaches further.

The lab kernel has others, for its own needs. `hostfs` shows directories of this computer, and a
guest writes there with the user's rights; so a catalog file that names it would have a case fill,
age and delete them. Others are in memory, made up by the kernel, or on another computer: nothing
that was measured on them would be about flash.

Limit: this guards against files that were not read well, not against malice. A catalog may name
sources of modules, which are compiled and run with the user's rights (docs/catalog-format.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ffslab.documents import document
from ffslab.errors import SpecError
from ffslab.model.names import suggestion
from ffslab.model.specs import NOT_MOUNTED

# Linux 6.1's, on MTD, UBI or a block device; YAFFS2 and LogFS are ffslab's own. The lab kernel has
# few of them, others are an option in kernel/lab.config away.
ON_FLASH = frozenset({
    "btrfs", "cramfs", "erofs", "exfat", "ext2", "ext3", "ext4", "f2fs", "jffs2", "jfs", "logfs",
    "minix", "msdos", "nilfs2", "ntfs3", "reiserfs", "romfs", "squashfs", "ubifs", "udf", "vfat",
    "xfs", "yaffs2", "zonefs",
})  # fmt: skip
# Linux 6.1's others: of the host, in memory, made up by the kernel, over other file systems, on a
# network. A module that the catalog file names brings a type that nobody could list here, but none
# of these.
ELSEWHERE = frozenset({
    "9p", "afs", "anon_inodefs", "autofs", "bdev", "binder", "binfmt_misc", "bpf", "ceph",
    "cgroup", "cgroup2", "cifs", "coda", "configfs", "cpuset", "dax", "debugfs", "devpts",
    "devtmpfs", "dlmfs", "dmabuf", "drm", "ecryptfs", "efivarfs", "fuse", "fuseblk", "fusectl",
    "functionfs", "gadgetfs", "hostfs", "hppfs", "hugetlbfs", "incremental-fs", "mqueue", "nfs",
    "nfs4", "nfsd", "nsfs", "ocfs2_dlmfs", "openpromfs", "orangefs", "overlay", "pipefs", "proc",
    "pstore", "pvfs2", "ramfs", "resctrl", "rootfs", "rpc_pipefs", "secretmem", "securityfs",
    "selinuxfs", "smackfs", "smb3", "sockfs", "spufs", "sysfs", "tmpfs", "tracefs", "usbfs",
    "vboxsf", "virtiofs", "xenfs",
})  # fmt: skip
_OF_THE_HOST = ("9p", "hostfs", "hppfs", "virtiofs", "vboxsf")
# mksquashfs makes a file's contents from what a command prints.
_RUNS_COMMANDS = ("-p", "-pf")


def check_type(name: str, modules: Sequence[str], where: str) -> None:
    """SpecError for a type that a case must not mount.

    `modules` are those that the catalog file names: they may bring a type of their own. A device
    without a file system is mounted by nobody.
    """
    if name in ON_FLASH or name == NOT_MOUNTED:
        return
    if name in ELSEWHERE:
        reason = (
            "it shows directories of this computer, which a case would fill and delete"
            if name in _OF_THE_HOST
            else "it is in memory, virtual, an overlay, or on a network"
        )
        raise SpecError(
            f"{where}: type {name!r} is not a file system for flash: a case may not mount it",
            cause=reason,
            remedy=f"type = one of: {', '.join(sorted(ON_FLASH))}; or a module's type, with "
            "`modules`",
        )
    if modules and re.fullmatch(r"[A-Za-z0-9_-]+", name):
        return
    raise SpecError(
        f"{where}: Linux has no file system {name!r} for flash{suggestion(name, ON_FLASH)}",
        cause="a mistyped type, or one that a module brings which the file does not name",
        remedy='modules = ["NAME"] if a module brings it: "A file system" in '
        + document("docs/catalog-format.md"),
    )


def check_image_words(words: Sequence[str], where: str) -> None:
    """SpecError for an option of an image tool that would run commands."""
    for word in words:
        if word in _RUNS_COMMANDS:
            raise SpecError(
                f"{where}: image_options has {word!r}, which makes mksquashfs run commands",
                cause="an image is built from a tree and nothing else, so that it is the same "
                "everywhere",
                remedy="put what the command would print into a file of the tree",
            )
