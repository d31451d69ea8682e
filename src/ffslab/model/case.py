"""A case: one point of a study, and what determines its result.

A case is a pure function of `case_spec()`: everything that can change its result is in there, and
its hash names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ffslab.model.canonical import canonical_json, sha256_hex
from ffslab.model.specs import (
    CHIP_AGE,
    CHIP_SPI_FIGURES,
    CPU_FIGURES,
    DEFAULT_BEB_PER1024,
    DEFAULT_KERNEL,
    DRIVER_FIGURES,
    FIRST_REPEAT,
    PERTURBATION,
    REPEAT,
    SPI_FIGURES,
    UBI_VOLUME,
    Board,
    Chip,
    InitialState,
    LabKernel,
    MountSetup,
    Partition,
    Scalar,
)
from ffslab.model.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One point of a study. `axes` are the settings that tell it from its siblings.

    `trace` does not determine the result: a traced guest has the same history. `perturbation` is a
    harmless change of the guest's layout, as another build of the lab would make one; 0 is none.
    `repeat` counts how often the case is run where time is a real clock's.
    """

    id: str
    study: str
    axes: tuple[tuple[str, Scalar], ...]
    board: Board
    cpu_scale: float
    filesystem: MountSetup
    partition_blocks: int
    state: InitialState
    workload: Workload
    seed: int
    kernel: LabKernel = DEFAULT_KERNEL
    trace: bool = False
    perturbation: int = 0
    repeat: int = FIRST_REPEAT

    @property
    def partition_bytes(self) -> int:
        """Size of the partition under test."""
        return self.partition_blocks * self.board.chip.block_bytes

    @property
    def ubi_beb_per1024(self) -> int:
        """What the attach of UBI asks for; 0 leaves its reserve to the kernel.

        The period kernel has another one of its own, so the default is not stated to it.
        """
        assert self.filesystem.ubi is not None
        stated = self.filesystem.ubi.max_beb_per1024
        of_period = self.kernel.has("ubi_reserve") and stated == DEFAULT_BEB_PER1024
        return 0 if of_period else stated

    @property
    def cpu_prices(self) -> dict[str, int]:
        """What the CPU model charges after scaling, by the names of the board."""
        return {key: round(getattr(self.board, key) * self.cpu_scale) for key in CPU_FIGURES}

    @property
    def driver_ns(self) -> dict[str, int]:
        """The driver's CPU work per operation after scaling, by the names of the board."""
        return {key: round(getattr(self.board, key) * self.cpu_scale) for key in DRIVER_FIGURES}

    @property
    def is_final(self) -> bool:
        """Whether what only the disk can tell is known: what is in a tree, in sources of modules.

        Without that it is no case yet, but what is found on the way to one.
        """
        source = self.filesystem.module_source
        tree_known = self.state.kind != "image" or bool(self.state.tree_sha256)
        sources_known = source is None or bool(source.sha256)
        return tree_known and sources_known and self.workload.is_final

    @property
    def spec_hash(self) -> str:
        """SHA-256 of what determines the result; the id and the study's name do not.

        ValueError for a case that is not final: no hash is told that would be another one later.
        """
        if not self.is_final:
            raise ValueError(f"case {self.id} has no hash yet: it is not known what it is made of")
        return sha256_hex(canonical_json(case_spec(self)))


def case_spec(case: Case) -> dict[str, Any]:
    """Everything that determines the result of a case, as plain JSON values.

    Sources of figures, titles and names of axes are left out: they say where a
    value is from, not what it is.
    """
    of_spi = () if case.board.chip.is_on_spi else SPI_FIGURES
    words = ("provenance", "title", "derivation", "calibrated", "chip")
    board = _plain(case.board, without=(*words, *of_spi))
    later = (*CHIP_AGE, *CHIP_SPI_FIGURES)
    young = tuple(key for key in later if not getattr(case.board.chip, key))
    young += () if case.board.chip.is_on_spi else ("kind",)
    board["chip"] = _plain(case.board.chip, without=("provenance", "title", *young))
    board["partitions"] = [_plain(partition) for partition in case.board.partitions]
    of_images = ("image", "image_options", "ubi_volume_type", "jffs2_summaries")
    apart = ("ubi", "module_source", "overlay", "kept_files", *of_images)
    filesystem = _plain(case.filesystem, without=apart)
    filesystem["options"] = dict(case.filesystem.options)
    filesystem["mount_options"] = list(case.filesystem.mount_options)
    filesystem["mount_flags"] = list(case.filesystem.mount_flags)
    filesystem["modules"] = list(case.filesystem.modules)
    ubi = case.filesystem.ubi
    # A volume as large as it can be is not named, as before there were others.
    filesystem["ubi"] = _plain(ubi, () if ubi.volume_bytes else (UBI_VOLUME,)) if ubi else None
    if case.filesystem.overlay:
        filesystem["overlay"] = _plain(case.filesystem.overlay)
    if case.filesystem.kept_files:
        filesystem["kept_files"] = list(case.filesystem.kept_files)
    if case.filesystem.module_source:
        filesystem["module_source"] = case.filesystem.module_source.spec
    state = _plain(case.state, without=("tree", "tree_sha256"))
    if case.state.kind == "image":
        state["tree_sha256"] = case.state.tree_sha256
        filesystem["image"] = _plain(case.filesystem.image) if case.filesystem.image else None
        filesystem["image_options"] = list(case.filesystem.image_options)
        filesystem["ubi_volume_type"] = case.filesystem.ubi_volume_type
        if case.filesystem.jffs2_summaries:
            filesystem["jffs2_summaries"] = True
    # A default kernel is not named, so that specs are what they were before there was another.
    kernel = {} if case.kernel.is_default else {"kernel": case.kernel.spec}
    # Likewise a layout that is not perturbed, and the first of several repeats.
    versions = {PERTURBATION: case.perturbation} if case.perturbation else {}
    if case.repeat != FIRST_REPEAT:
        versions[REPEAT] = case.repeat
    return {
        "schema": 1,
        **kernel,
        **versions,
        "board": board,
        "cpu_scale": case.cpu_scale,
        **case.cpu_prices,
        **case.driver_ns,
        "filesystem": filesystem,
        "partition_bytes": case.partition_bytes,
        "state": state,
        "workload": case.workload.spec,
        "seed": case.seed,
    }


def board_of(spec: Mapping[str, Any]) -> Board:
    """The board of a case's spec, its driver as it is charged; titles and sources are not in it."""
    stated = spec["board"]
    chip = Chip(**{"title": "", **stated["chip"]})
    partitions = tuple(Partition(**partition) for partition in stated["partitions"])
    without = {"title": "", "derivation": "", "calibrated": False}
    charged = {name: spec[name] for name in DRIVER_FIGURES}
    return Board(**{**without, **stated, **charged, "chip": chip, "partitions": partitions})


def _plain(value: Any, without: tuple[str, ...] = ()) -> dict[str, Any]:
    return {f.name: getattr(value, f.name) for f in fields(value) if f.name not in without}
