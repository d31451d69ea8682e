"""What the part `price` runs, and what of a result is CPU time. Pure but for the catalog.

The chip takes no time and its driver costs nothing, so a phase lasts as long as code runs. Two
things of a guest of QEMU are not in a lab guest, and are left out of both: time in the chip's
driver, which the monitor tells; and the agent's own work between its calls. Where a phase has
latencies, its time is that of the calls, otherwise (mount, sync) the agent only waits and it is
that of the phase.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.loader import load_catalog, parse_toml
from ffslab.model.case import Case
from ffslab.model.study import Override, expand, study_from_document, with_overrides
from ffslab.results.metrics import mtd_calls
from ffslab.results.result import CaseResult

LEAST_NS = 2_000_000  # of QEMU's time: what is shorter is a few calls and a timer's tick
_AGENT = ("init", "ffsagent")
# What a request consists of; the operation around it has a latency, too.
_INNER = "request-"

_STUDY = """
schema = 1
name = "price-of-code"
title = "The CPU time of the same work in the lab and on QEMU's ARM machine"

[base]
board = "apf27"
partition_bytes = "16 MiB"
seeds = [1]

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2"]
"board.wait" = ["polled"]
"board.driver_read_ns" = [0]
"board.driver_program_ns" = [0]
"board.driver_erase_ns" = [0]
"chip.t_command_ns" = [0]
"chip.t_read_ns" = [0]
"chip.t_prog_ns" = [0]
"chip.t_erase_ns" = [0]
"chip.bus_read_ps" = [0]
"chip.bus_write_ps" = [0]
"chip.ecc_read_ns" = [0]
"chip.ecc_write_ns" = [0]

[[part]]
name = "tree"
[part.set]
"options.compression" = "none"
"workload.kind" = "tree"
"workload.steps" = "mount create sync unmount mount list find delete unmount"
"workload.depth" = "4"
"workload.directories" = "4"
"workload.files" = "5"

[[part]]
name = "scan"
[part.set]
"options.compression" = "none"
"workload.kind" = "tree"
"workload.steps" = "mount create sync crash mount unmount"
"workload.depth" = "4"
"workload.directories" = "4"
"workload.files" = "5"

[[part]]
name = "micro"
[part.set]
"options.compression" = "none"
"workload.kind" = "micro"
"workload.volume_bytes" = "4 MiB"
"workload.file_bytes" = "4 MiB"
[part.axes]
"workload.pattern" = ["sequential-write", "random-write", "sequential-read", "random-read"]
"workload.request_bytes" = [1024, 32768]

[[part]]
name = "fsync"
[part.set]
"options.compression" = "none"
"workload.kind" = "micro"
"workload.pattern" = "sequential-write"
"workload.volume_bytes" = "2 MiB"
"workload.file_bytes" = "2 MiB"
"workload.request_bytes" = 4096
"workload.fsync_every" = 1

[[part]]
name = "collect"
[part.set]
"options.compression" = "none"
"state.valid_percent" = 65
"workload.kind" = "micro"
"workload.pattern" = "random-write"
"workload.existing" = true
"workload.volume_bytes" = "6 MiB"
"workload.file_bytes" = "2 MiB"
"workload.request_bytes" = 4096
"workload.fsync_every" = 8

[[part]]
name = "text"
[part.set]
"workload.kind" = "tree"
"workload.steps" = "mount create sync drop copy sync unmount"
"workload.depth" = "2"
"workload.directories" = "3"
"workload.files" = "4"
"workload.size" = "uniform(8 KiB, 48 KiB)"
"workload.contents" = "text"
[part.axes]
"options.compression" = ["none", "lzo", "zlib", "zstd"]

[[part]]
name = "ffsmark"
[part.set]
"options.compression" = "none"
"workload.number" = 300
"workload.subdirectories" = 10
"workload.transactions" = 600

[[exclude]]
part = "text"
filesystem = "yaffs2"
"options.compression" = ["lzo", "zlib", "zstd"]

[[exclude]]
part = "text"
filesystem = "jffs2"
"options.compression" = "zstd"
"""
# What is measured of each part. Phases that another part has as well are left out.
_PHASES: Mapping[str, Sequence[str]] = {
    "tree": ("mount", "create", "sync", "unmount", "mount-2", "list", "find", "delete"),
    "scan": ("mount-2",),
    "micro": ("measure", "flush"),
    "fsync": ("measure",),
    "collect": ("measure",),
    "text": ("create", "sync", "copy"),
    "ffsmark": ("creation", "transactions", "deletion"),
}


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of one case: its CPU time, and what costs time that no counted code takes.

    `operations` are calls of the agent, or a few of them; `mtd_calls` those of file systems to
    the flash's device.
    """

    workload: str
    filesystem: str
    cpu_ns: int
    operations: int
    mtd_calls: int

    @property
    def key(self) -> tuple[str, str]:
        """What the same phase of another run has as well."""
        return self.workload, self.filesystem


def price_cases(overrides: Sequence[Override] = ()) -> tuple[Case, ...]:
    """The cases, with settings in place of theirs."""
    catalog = load_catalog()
    study = study_from_document(parse_toml(_STUDY, "bench price"), catalog, "bench price")
    if overrides:
        study = with_overrides(study, overrides, catalog)
    return tuple(expand(study, catalog))


def phases_of(result: CaseResult) -> Iterator[Phase]:
    """The phases of a case that are measured, in order."""
    spec = result["spec"]
    axes: Mapping[str, Any] = dict(result["axes"])
    part = str(axes["part"])
    tree: Any = result.get("tree")
    rows: Sequence[Any] = tree["steps"] if tree else result["phases"]
    for row in rows:
        if row["phase"] in _PHASES[part] and not row.get("prepared"):
            cpu_ns, operations = _cpu(result, row)
            calls = row["mtd_calls"] if tree else mtd_calls(row["flash"])
            workload = " ".join((part, *_words(axes), row["phase"]))
            yield Phase(workload, spec["filesystem"]["name"], cpu_ns, operations, calls)


def _words(axes: Mapping[str, Any]) -> Iterator[str]:
    """What tells the cases of a part from each other, but for the file system."""
    for name in ("workload.pattern", "workload.request_bytes"):
        if name in axes:
            yield str(axes[name])
    if axes["part"] == "text":
        yield str(axes["options.compression"])


def _cpu(result: CaseResult, row: Any) -> tuple[int, int]:
    """CPU time of a phase without the chip's driver, and the number of operations."""
    own = [latency for latency in result["latencies"] if latency["phase"] == row["phase"]]
    own = [latency for latency in own if not latency["op"].startswith(_INNER)] or own
    if not own:
        return row["duration_ns"] - row["in_driver_ns"], 0
    micro: Any = result.get("micro")
    tasks = row.get("tasks") or (micro["tasks"] if micro else None)
    busy_ns = row["in_driver_ns"]
    if tasks is not None:
        here = [task for task in tasks if task.get("phase", row["phase"]) == row["phase"]]
        busy_ns = sum(task["busy_ns"] for task in here if task["name"] in _AGENT)
    return sum(latency["sum_ns"] for latency in own) - busy_ns, sum(
        latency["count"] for latency in own
    )
