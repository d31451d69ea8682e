"""The guests of an exploration: their plans, and what comes back.

A guest loads the chip that logs (vnand_crash), makes a new file system, carries out a history while
the chip logs, and unmounts. Then it walks through the states it is given. What it writes goes to
files of its directory on the host, and is there when it dies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.exploration.study import LOG_MIB, SERIES_LOG_MIB
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.model.workload import GuestFile
from ffslab.program import program
from ffslab.protocol.plan import plan_of, step
from ffslab.protocol.records import read_records
from ffslab.results.console import Printed, read_log, tail_of
from ffslab.targets.target import (
    CONSOLE_NAME,
    OUTPUT_NAME,
    RECORDS_NAME,
    GuestJob,
    GuestRun,
    Target,
)
from ffslab.targets.virtual_flash import (
    FLASH_REGION,
    MOUNT_POINT,
    PARTITION,
    RIG,
    SPLITTER,
    VirtualFlash,
    module_path,
    vnand_chip,
)

CHIP_MODULE = "vnand_crash"
_PROGRAM, _HISTORY, _STATES, _LOWER = "/ffscrash", "/history", "/states", "/lower"
_HOST = "/host"
_HOST_FILES = {
    "type": "hostfs",
    "source": "none",
    "target": _HOST,
    "options": "/proc/self/cwd",  # of the guest as the host runs it
}
_RECORD, WALK = "record", "walk"
_LOG = f"/proc/vnand/{FLASH_REGION}/log"
_FORMATTED_MS = 2000  # until an empty file system has been formatted; nothing but virtual time


@dataclass(frozen=True, slots=True)
class Explored:
    """One file system on its chip with one history, and how the guests with it are started.

    A series has no history: "". `worn_erases`: so much more often every fourth block of UBI has
    been erased, as it says. `lower`: an image of what is below an overlay; b"": of nothing.
    """

    case: Case
    history: str
    check: str
    paired_distance_pages: int = 0
    worn_erases: int = 0
    lower: bytes = b""

    @property
    def rig(self) -> VirtualFlash:
        """What mounts and unmounts it."""
        rig = replace(RIG, stays_divided=True)
        if not self.lower:
            return rig
        return replace(rig, lower_image=_LOWER, lower_bytes=len(self.lower))


@dataclass(frozen=True, slots=True)
class GuestTexts:
    """What a guest has left behind: `record` of the history, `log` of the chip, `walk`.

    `log` is None if the guest did not come so far, or walked. `output` is the end of what its
    programs printed.
    """

    record: str
    log: str | None
    walk: str
    console: str
    passed: bool
    timed_out: bool
    output: str = ""

    @property
    def last(self) -> tuple[str, ...]:
        """The last lines that kernel and programs printed."""
        return Printed(read_log(self.console.splitlines()), self.output).last


def plan(explored: Explored, last: str) -> str:
    """The plan of a guest; `last` is its step after the chip has logged the history."""
    case = explored.case
    log_mib = LOG_MIB if explored.history else SERIES_LOG_MIB
    history = _exec("history", _HISTORY, MOUNT_POINT, FLASH_REGION, f"output={_HOST}/{_RECORD}")
    # Once a program has run, the guest's kernel mounts no more of the host.
    host_files, wear = step("mount", **_HOST_FILES), _wear(explored)
    return plan_of(
        [
            *_devices(explored),
            step("erase", mtd=PARTITION),
            *([host_files, *wear] if wear else []),
            *explored.rig.mount(case, new=True),
            step("sleep", ms=_FORMATTED_MS),
            *([] if wear else [host_files]),
            _exec("chip", FLASH_REGION, "log", str(log_mib)),
            *([history] if explored.history else []),
            *explored.rig.unmount(case),
            _exec("chip", FLASH_REGION, "stop"),
            last,
        ]
    )


def run_guest(
    target: Target,
    lab: LabBuild,
    explored: Explored,
    states: str,
    directory: Path,
    timeout_s: float,
    host_cpu: int | None = None,
) -> GuestTexts | None:
    """Runs a guest through `states`, none for its log; None if it was killed with ffslab."""
    files = [GuestFile(_HISTORY, explored.history.encode())]
    if states:
        files.append(GuestFile(_STATES, states.encode()))
    last = walk_step(explored) if states else step("capture", path=_LOG)
    job = _job(lab, explored, last, files, directory, timeout_s, host_cpu)
    return _run(target, job)


def run_series(
    target: Target,
    lab: LabBuild,
    explored: Explored,
    words: Sequence[str],
    directory: Path,
    timeout_s: float,
    host_cpu: int | None = None,
    begun: Callable[[Path], None] = lambda _: None,
) -> GuestTexts | None:
    """Runs a guest through a series of cuts; `words` are keys of ffscrash series, the cuts first.

    None if it was killed with ffslab. `begun` is called with the directory in which it writes.
    """
    last = _exec(
        *("series", FLASH_REGION, words[0], *_mounting(explored)),
        *words[1:],
        f"output={_HOST}/{WALK}",
    )
    job = _job(lab, explored, last, [], directory, timeout_s, host_cpu)
    return _run(target, replace(job, begun=begun))


def _job(
    lab: LabBuild,
    explored: Explored,
    last: str,
    files: Sequence[GuestFile],
    directory: Path,
    timeout_s: float,
    host_cpu: int | None,
) -> GuestJob:
    directory.mkdir(parents=True, exist_ok=True)
    lower = [GuestFile(_LOWER, explored.lower)] if explored.lower else []
    return GuestJob(
        replace(explored.case, id=directory.name),
        plan(explored, last),
        directory,
        timeout_s,
        host_cpu=host_cpu,
        files=(GuestFile(_PROGRAM, lab.cutter.read_bytes()), *lower, *files),
        written=(_RECORD, WALK),
    )


def _run(target: Target, job: GuestJob) -> GuestTexts | None:
    run = target.run(job)
    return None if run.killed else _texts(run, job.case_dir)


def _texts(run: GuestRun, directory: Path) -> GuestTexts:
    stream = read_records(directory / RECORDS_NAME)
    logs = [str(found["text"]) for found in stream.of_type("file") if found["path"] == _LOG]
    return GuestTexts(
        record=_text(directory / _RECORD),
        log=logs[0] if logs else None,
        walk=_text(directory / WALK),
        console=_text(directory / CONSOLE_NAME),
        output=tail_of(directory / OUTPUT_NAME),
        passed=run.exit_status == 0 and stream.end is not None and stream.end.is_good,
        timed_out=run.timed_out,
    )


def log_of(texts: GuestTexts, explored: Explored) -> str:
    """The chip's log; InfrastructureError if the history did not come to its end."""
    if texts.passed and texts.log is not None:
        return texts.log
    last = "\n".join(f"    {line}" for line in texts.last)
    raise InfrastructureError(
        f"the history on {explored.case.id} did not come to its end:\n{last}",
        cause="the file system failed without any power cut, or its log needs more memory",
        remedy=f"a smaller history, or: {program()} setup --force",
    )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _exec(*words: str) -> str:
    return step("exec", path=_PROGRAM, args=" ".join(words))


def _devices(explored: Explored) -> list[str]:
    parameters = f"chip={vnand_chip(explored.case)}"
    if explored.paired_distance_pages:
        parameters += f" paired_distance_pages={explored.paired_distance_pages}"
    return [
        step("insmod", path=module_path(CHIP_MODULE), args=parameters),
        *(
            step("insmod", path=module_path(name))
            for name in explored.case.filesystem.modules
            if name != SPLITTER
        ),
    ]


def _wear(explored: Explored) -> list[str]:
    """UBI gives each block a counter when it is attached for the first time."""
    case = explored.case
    if not (explored.worn_erases and case.filesystem.ubi):
        return []
    return [
        *RIG.attach(case),
        step("sleep", ms=_FORMATTED_MS),
        *RIG.detach(case),
        _exec("wear", PARTITION, str(explored.worn_erases)),
    ]


def walk_step(explored: Explored) -> str:
    """The step that goes through states."""
    return _exec(
        *("walk", FLASH_REGION, _STATES, *_mounting(explored)),
        *(f"check={explored.check}", f"output={_HOST}/{WALK}"),
    )


def _mounting(explored: Explored) -> list[str]:
    """The words of ffscrash that say how the file system is attached and mounted."""
    case = explored.case
    setup = case.filesystem
    words: list[str] = []
    for layer in RIG.layers(case):
        words += ["+"] if words else []
        words += [layer.type or "-", layer.source or "-", layer.target]
        words.append(",".join(layer.options) or "-")
    if setup.ubi:
        words += [PARTITION, f"vid_hdr_offset={setup.ubi.vid_hdr_offset}"]
        words.append(f"max_beb_per1024={case.ubi_beb_per1024}")
        words += ["ubi_block=0"] if setup.ubi.block else []
    return words
