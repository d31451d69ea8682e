"""The lists of what a case may mount and may not know every file system of the lab kernel."""

from __future__ import annotations

from pathlib import Path

from lab_support import boot, cases

from ffslab.lab.lab_build import LabBuild
from ffslab.model.mountable import ELSEWHERE, ON_FLASH


def test_every_file_system_of_the_kernel_is_listed(lab: LabBuild, tmp_path: Path) -> None:
    case = cases()["jffs2-free-s1"]
    guest = boot(lab, tmp_path / "guest", case, "ffsplan 1\ncapture path=/proc/filesystems\n")
    (text,) = [record["text"] for record in guest.of_type("file")]
    known = {line.split()[-1] for line in text.splitlines()}
    assert {"hostfs", "tmpfs", "jffs2", "ubifs"} <= known
    assert known <= ON_FLASH | ELSEWHERE
    # What has no device is not on flash, but for what is on MTD and UBI by itself.
    without_device = {line.split()[1] for line in text.splitlines() if line.startswith("nodev")}
    assert without_device & ON_FLASH <= {"jffs2", "ubifs"}
