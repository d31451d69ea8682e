"""Images of a run in tests: tools that are a function, a target without a kernel."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from cli_support import Command, Result
from host_support import FakeSite, FakeTarget, cases_of

import ffslab.targets.uml.site
from ffslab.campaign.images import ImageJob, image_jobs, with_tree_hashes
from ffslab.errors import SpecError
from ffslab.images import build, source
from ffslab.images.build import BuiltImage, ImageSpec
from ffslab.images.source import SourceTree
from ffslab.lab.cache import file_sha256
from ffslab.lab.lab_build import LabBuild
from ffslab.lab.progress import Progress as BuildProgress
from ffslab.lab.progress import SilentProgress
from ffslab.model.canonical import sha256_hex
from ffslab.model.case import Case
from ffslab.protocol.chip_file import create_flash_file, flash_digest
from ffslab.targets.running import GuestSlot
from ffslab.targets.target import FLASH_NAME, GuestJob, GuestRun

STUDY = """
schema = 1
name = "images"
title = "Images of a tree"

[base]
board = "apf27-2012"
partition_bytes = "20 MiB"
state = {{ tree = "{tree}" }}

[base.workload]
kind = "tree"

[axes]
filesystem = ["jffs2", "squashfs"]
"options.compression" = ["none", "lzo"]
"workload.steps" = ["mount list unmount", "mount find unmount"]
"""
CASES = 8
IMAGES = 4
MTIME_S = 1_234_567_890
RUN = ("run", "images.toml", "--no-report", "--jobs", "1")


def write_tree(directory: Path, text: str = "hello\n") -> Path:
    directory.mkdir()
    (directory / "greeting").write_text(text)
    for path in (directory / "greeting", directory):
        os.utime(path, (MTIME_S, MTIME_S))
    return directory


@dataclass
class Tools:
    """Builds images of a line of text; remembers for what, and which trees were made."""

    place: Path
    built: list[ImageSpec] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    hashed: list[str] = field(default_factory=list)
    failing: tuple[str, ...] = ()  # the tools that refuse
    version: str = "1.0"
    before: Callable[[ImageSpec, GuestSlot], None] = lambda *_: None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def image_key(self, tree: SourceTree, spec: ImageSpec, *_: object) -> str:
        return sha256_hex(f"{spec} {tree.sha256} {self.version}")

    def build_image(
        self,
        tree: SourceTree,
        spec: ImageSpec,
        _lab: LabBuild,
        progress: BuildProgress,
        slot: GuestSlot | None = None,
    ) -> BuiltImage:
        with self.lock:
            self.built.append(spec)
            path = self.place / f"image-{len(self.built)}"
        with progress.phase(f"building an image of {tree.name} ({spec.tool})"):
            self.before(spec, slot or GuestSlot())
        if spec.tool in self.failing:
            raise SpecError(f"the image of {tree.name} is larger than the partition")
        path.write_text(f"{spec} {tree.sha256}")
        return BuiltImage(
            key=self.image_key(tree, spec),
            path=path,
            sha256=file_sha256(path),
            image_bytes=4,
            flash_bytes=2048,
            oob=False,
            tool="mkfs.test 1.0",
            command=f"mkfs.test {' '.join(spec.options)}",
            log="",
            tree=tree,
        )


class ImageTarget(FakeTarget):
    """Preparing guests leave a chip with their image on it; `jobs` tells what ran, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: list[GuestJob] = []
        self.told: Callable[[GuestJob], None] = lambda _: None

    def run(self, job: GuestJob) -> GuestRun:
        self.jobs.append(job)
        self.told(job)
        records = "tree-ubifs-prepared.jsonl" if job.keep_flash else "pass.jsonl"
        self.files = {job.case.id: ("pass.log", records)}
        ended = super().run(job)
        if not job.keep_flash:
            return ended
        assert job.image is not None
        flash = job.case_dir / FLASH_NAME
        create_flash_file(flash, 2**20)
        with flash.open("r+b") as file:
            file.write(job.image.read_bytes())
        return replace(ended, flash_sha256=flash_digest(flash))

    @property
    def prepared(self) -> list[GuestJob]:
        return [job for job in self.jobs if job.keep_flash]

    @property
    def measured(self) -> list[GuestJob]:
        return [job for job in self.jobs if not job.keep_flash]


def tools_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tools:
    """In the working directory: a study, and the tree `rootfs` that it names."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("FFSLAB_STATE_CACHE", str(tmp_path / "state"))
    made = Tools(tmp_path)
    whole, summed = source.source_tree, source.source_sha256

    def source_tree(name: str, *arguments: Any) -> SourceTree:
        made.read.append(name)
        return whole(name, *arguments)

    def source_sha256(name: str) -> str:
        made.hashed.append(name)
        return summed(name)

    monkeypatch.setattr(source, "source_tree", source_tree)
    monkeypatch.setattr("ffslab.images.source.source_sha256", source_sha256)
    monkeypatch.setattr(build, "build_image", made.build_image)
    monkeypatch.setattr(build, "image_key", made.image_key)
    write_tree(tmp_path / "rootfs")
    (tmp_path / "images.toml").write_text(STUDY.format(tree="rootfs"))
    return made


@dataclass
class Runs:
    """`ffslab run`, each on a target of its own."""

    command: Command
    target: ImageTarget = field(default_factory=ImageTarget)
    told: Callable[[GuestJob], None] = lambda _: None  # of each guest, before it runs

    def __call__(self, *arguments: str) -> Result:
        self.target = ImageTarget()
        self.target.told = self.told
        return self.command(*(arguments or RUN))


def runs_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Runs:
    """`ffslab run` where `tools_in` has been."""
    runs = Runs(Command(monkeypatch, capsys))
    lab = lab_in(tmp_path)
    monkeypatch.setattr(ffslab.targets.uml.site, "site_for", lambda *_: FakeSite(runs.target, lab))
    return runs


def lab_in(directory: Path) -> LabBuild:
    for name in ("linux", "ffsagent"):
        (directory / name).write_bytes(b"")
    return LabBuild(directory / "linux", {}, directory / "ffsagent", "build-1", Path("ffscrash"))


def hashed_cases(tree: str = "rootfs", more: str = "") -> tuple[Case, ...]:
    return with_tree_hashes(cases_of(STUDY.format(tree=tree) + more))


def jobs_of(cases: tuple[Case, ...], place: Path) -> dict[str, ImageJob]:
    return image_jobs(cases, lambda: lab_in(place), SilentProgress())
