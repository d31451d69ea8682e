"""The agent's micro-benchmarks against fio: the same requests, on the same flash, in two guests.

Both guests get a copy of one prepared chip and take the same steps; one runs the agent's step
`micro`, the other Debian's fio. Mean latency and flash operations must agree. fio has random
numbers of its own: the order of random requests and what is written differ. Where the order makes
a difference, a third guest has fio repeat the agent's random writes. Compressors are off, since the
time they take depends on the data.

What remains is a matter of the microsecond. YAFFS2 that still has garbage differs by 1.5 %: its
collector copies five pages in 2 ms once a file is created, for the agent before the first write,
for fio during it.

`pytest -s` prints the table of the comparison.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from fio_support import (
    COUNTED,
    MOUNT_POINT,
    Job,
    Measured,
    exec_step,
    fio_results,
    fio_steps,
    guest_files,
    host_steps,
    micro_results,
    micro_steps,
)
from guest_programs import device_steps, mount_step
from lab_support import Boot, boot, cases, with_free_driver

from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case

TOLERANCE = 0.02
WORKERS = 2
REQUEST_BYTES = (2048, 32768, 524288)
VOLUME_BYTES = 2 * 524288

STUDY = """
schema = 1
name = "fio"
title = "A small partition for requests"

[base]
board = "omap3530-evm"
partition_bytes = "20 MiB"
seeds = [1]

[base.workload]
kind = "ffsmark"

[base.options]
{options}

[axes]
filesystem = ["{filesystem}"]
"""

FILESYSTEMS = {
    "jffs2": ("jffs2", 'compression = "none"'),
    "ubifs": ("ubifs", 'compression = "none"'),
    "ubifs-sync": ("ubifs", 'compression = "none"\nwrite_mode = "sync"'),
    "yaffs2": ("yaffs2", ""),
}
STATES = ("free", "saturated")

# Figures of random writes that depend on the order of the writes, so that two generators of random
# numbers make more difference than the tolerance. JFFS2: a random order leaves holes, for which it
# writes nodes; when it first writes to a page in a hole it reads the header of that node, and the
# chip's driver may or may not still hold the flash page. UBIFS in mode sync, YAFFS2: which data
# lie together in a block, and when an index or header is written, follows the order.
ORDER_MATTERS = {
    "jffs2": ("latency", "pages_read"),
    "ubifs-sync": ("latency", *COUNTED),
    "yaffs2": ("pages_read",),
}
# Right behind the removal of what filled it, JFFS2's thread erases blocks beside the writer. A
# request that meets one waits for the erase and for the block to be read back: one request more or
# less, which depends on the layout of the agent.
ERASED_BESIDE_NS = 7_000_000
COLLECTION_S = 300  # YAFFS2 may erase a block every two seconds
READ = f"{MOUNT_POINT}/read"


@dataclass(frozen=True)
class Group:
    """A file system in a state: one prepared chip, on which each side runs all jobs in turn.

    `prepare`: the steps that bring the state about, after the mount. `order_matters`: figures of
    random writes that depend on their order.
    """

    case: Case
    prepare: tuple[str, ...]
    jobs: tuple[Job, ...]
    order_matters: tuple[str, ...]


@dataclass(frozen=True)
class Compared:
    """What the agent measured, fio with its own random order, and fio with the agent's.

    The last is None where the order does not matter.
    """

    micro: list[Measured]
    fio: list[Measured]
    replay: list[Measured] | None


def case_of(filesystem: str) -> Case:
    name, options = FILESYSTEMS[filesystem]
    (case,) = cases(STUDY.format(filesystem=name, options=options)).values()
    return with_free_driver(case)


def group_of(filesystem: str, state: str) -> Group:
    """A file is read six times, then six new ones are written.

    In the saturated state the file that is read lies where there was garbage, and all the rest is
    filled again. What fills it is removed right before the first write.
    """
    patterns = [(order, size) for order in ("sequential", "random") for size in REQUEST_BYTES]
    reads = [Job(f"{order}-read", size, VOLUME_BYTES, READ) for order, size in patterns]
    writes = [
        Job(f"{order}-write", size, VOLUME_BYTES, f"{MOUNT_POINT}/write-{index}")
        for index, (order, size) in enumerate(patterns)
    ]
    prepare = [
        exec_step("mkdir", READ, *(job.directory for job in writes)),
        f"prepare dir={READ} state={state} file_bytes={VOLUME_BYTES} test_file=1",
    ]
    if state == "saturated":
        first = writes[0].directory
        prepare.append(f"prepare dir={first} state=saturated")
        writes[0] = replace(
            writes[0],
            # JFFS2's collector may erase a block more or less meanwhile: no matter of 2 %.
            volume_bytes=3 * VOLUME_BYTES,
            removed=f"{first}/ffslab.invalid",
            quiet_s=COLLECTION_S,
        )
    matters = ORDER_MATTERS.get(filesystem, ())
    return Group(case_of(filesystem), tuple(prepare), (*reads, *writes), matters)


GROUPS = {f"{name} {state}": group_of(name, state) for name in FILESYSTEMS for state in STATES}


def guest(
    lab: LabBuild,
    directory: Path,
    case: Case,
    steps: list[str],
    flash: Path | None = None,
    files: dict[str, Path] | None = None,
) -> Boot:
    """One boot up to the mount, and then `steps`; all must succeed."""
    plan = [
        *device_steps(case, erase=flash is None),
        *host_steps(),
        "monitor mtd=data",
        mount_step(case),
        "settle",
        *steps,
    ]
    done = boot(lab, directory, case, "\n".join(plan) + "\n", flash=flash, files=files)
    end = done.of_type("end")
    assert end and end[0]["status"] == "ok", end
    return done


def compare(lab: LabBuild, directory: Path, group: Group) -> Compared:
    """What agent and fio measured, each in a guest of its own on a copy of the same chip."""
    directory.mkdir()
    detach = ["ubi-detach"] if group.case.filesystem.ubi else []
    steps = [*group.prepare, "umount", *detach]
    prepared = guest(lab, directory / "prepared", group.case, steps).flash
    files = guest_files(directory / "files", group.jobs)
    done = guest(lab, directory / "micro", group.case, micro_steps(group.jobs), prepared, files)
    micro = micro_results(done, group.jobs)

    def fio(name: str, replayed: Sequence[Measured] = ()) -> list[Measured]:
        files = guest_files(directory / f"{name}-files", group.jobs, replayed)
        steps = fio_steps(group.jobs)
        done = guest(lab, directory / name, group.case, steps, prepared, files)
        return fio_results(done, group.jobs)

    replay = fio("replay", micro) if group.order_matters else None
    found = Compared(micro, fio("own"), replay)
    shutil.rmtree(directory)
    return found


@pytest.fixture(scope="module")
def compared(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Compared]:
    """Every group's measurements."""
    top = tmp_path_factory.mktemp("fio")

    def run(name: str) -> Compared:
        return compare(lab, top / name.replace(" ", "-"), GROUPS[name])

    with ThreadPoolExecutor(WORKERS) as pool:
        return dict(zip(GROUPS, pool.map(run, GROUPS), strict=True))


def table(name: str, jobs: Sequence[Job], micro: list[Measured], fio: list[Measured]) -> str:
    """Both sides' figures: the agent's, then fio's."""
    lines = [f"{name:34} mean latency, us   {''.join(f'{key:>18}' for key in COUNTED)}"]
    for job, ours, theirs in zip(jobs, micro, fio, strict=True):
        ours_us, theirs_us = ours.latency_ns / 1000, theirs.latency_ns / 1000
        cells = [f"  {job.pattern:16} {job.request_bytes:6}"]
        cells.append(f"{ours_us:9.1f} {theirs_us:9.1f} {theirs_us / ours_us - 1:+7.2%}")
        cells += [f"{ours.flash[key]:8} {theirs.flash[key]:8}" for key in COUNTED]
        lines.append(" ".join(cells))
    return "\n".join(lines)


def differences(
    jobs: Sequence[Job],
    micro: list[Measured],
    fio: list[Measured],
    ignored_of_random_writes: Sequence[str] = (),
) -> list[str]:
    """What is beyond the tolerance."""
    found = []
    for job, ours, theirs in zip(jobs, micro, fio, strict=True):
        assert ours.requests == theirs.requests
        figures = {
            "latency": (ours.latency_ns, theirs.latency_ns),
            **{key: (ours.flash[key], theirs.flash[key]) for key in COUNTED},
        }
        found += [
            f"{job.pattern} {job.request_bytes}: {key}: {mine} here, {other} with fio"
            for key, (mine, other) in figures.items()
            if abs(other - mine) > TOLERANCE * mine + _waited_once(job, ours, key)
            and not (job.pattern == "random-write" and key in ignored_of_random_writes)
        ]
    return found


def _waited_once(job: Job, ours: Measured, key: str) -> float:
    """What a wait for one erase is in the mean latency; 0 where none is beside a writer."""
    beside = key == "latency" and job.removed and ours.flash["blocks_erased"] > 0
    return ERASED_BESIDE_NS / ours.requests if beside else 0.0


@pytest.mark.parametrize("name", GROUPS)
def test_fio_measures_the_same(compared: dict[str, Compared], name: str) -> None:
    """Random requests in an order of fio's own."""
    group, found = GROUPS[name], compared[name]
    print("\n" + table(f"{name}, fio's own order", group.jobs, found.micro, found.fio))
    assert not differences(group.jobs, found.micro, found.fio, group.order_matters)


@pytest.mark.parametrize("name", [name for name, group in GROUPS.items() if group.order_matters])
def test_fio_measures_the_same_with_the_same_offsets(
    compared: dict[str, Compared], name: str
) -> None:
    jobs, found = GROUPS[name].jobs, compared[name]
    assert found.replay
    print("\n" + table(f"{name}, the same offsets", jobs, found.micro, found.replay))
    assert not differences(jobs, found.micro, found.replay)
