"""Runs a case under perf for `ffslab bench profile`; what perf says is read by `bench.profile`."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.commands import LAUNCHER, cost_of
from bench.guest import Guest, Runner
from bench.profile import Module, format_rows, parse_modules, parse_samples, table
from ffslab.campaign.run import prepare, usable_cpus
from ffslab.errors import InfrastructureError
from ffslab.lab.cache import cache_root
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.model.study import Override
from ffslab.results.reproduce import set_argument
from ffslab.targets.target import SiteOptions
from ffslab.targets.uml.scratch import largest_need, scratch_directory
from ffslab.targets.uml.site import site_for
from ffslab.targets.virtual_flash import plan_text

_FIELDS = ("-F", "comm,ip,sym,dso")
_HERTZ = "1999"  # not a divisor of what the kernel does at regular times


@dataclass(frozen=True, slots=True)
class Wanted:
    """The case, named as `ffslab shell` does; without an id it is the study's first."""

    study: str
    case_id: str | None
    overrides: Sequence[Override]


def run_profile(wanted: Wanted, say: Callable[[str], None], tell: Callable[[str], None]) -> None:
    """Prints where the time of the case goes; InfrastructureError without perf."""
    perf = _perf()
    ids = [wanted.case_id] if wanted.case_id else []
    case = prepare(wanted.study, wanted.overrides, ids).cases[0]
    lab = site_for([case], SiteOptions()).lab.for_kernel(case.kernel)
    assert lab is not None  # `site_for` has built it
    tell(f"{case.id}: modules")
    modules = _modules(lab, case)
    command = [str(LAUNCHER), "run", wanted.study, "--case", case.id, "--jobs", "1", "--no-report"]
    for key, values in wanted.overrides:
        command += ["--set", set_argument(key, values)]
    with tempfile.TemporaryDirectory(prefix="ffslab-profile-") as room:
        data = Path(room) / "perf.data"
        record = [perf, "record", "-q", "-g", "-F", _HERTZ, "-o", str(data), "--", *command]
        tell(f"{case.id}: run under perf")
        cost = cost_of([*record, "--output", str(Path(room) / "results")], Path(room), _NO_RECORD)
        tell(f"{case.id}: reading samples")
        samples = parse_samples(_script(perf, data, "-G", *_FIELDS), _script(perf, data, *_FIELDS))
    tell("")
    say(f"{shlex.join(command[1:])}\n{len(samples):,} samples of all processes")
    say(format_rows(table(samples, modules), cost.cpu_s))


_NO_RECORD = (
    "perf may not sample the kernel, or the case failed",
    "sysctl kernel.perf_event_paranoid=1 as root, and `ffslab run` of the case without perf",
)


def _perf() -> str:
    """perf's path; InfrastructureError with what to install if there is none."""
    perf = shutil.which("perf")
    if perf is None:
        raise InfrastructureError(
            "there is no perf",
            cause="only `bench profile` needs it, so ffslab does not install it",
            remedy="apt-get install linux-perf",
        )
    return perf


def _modules(lab: LabBuild, case: Case) -> tuple[Module, ...]:
    """Where a guest of the case loads its modules: the same in every guest that loads them."""
    loads = [line for line in plan_text(case).splitlines() if line.startswith("insmod ")]
    plan = "\n".join(["ffsplan 1", *loads, "capture path=/proc/modules", ""])
    with scratch_directory(largest_need([case]), 1, cache_root()) as room:
        stream = Runner(room.directory, usable_cpus()[-1]).records(Guest(lab, case, plan))
    record = stream.first("file")
    return parse_modules(str(record["text"])) if record else ()


def _script(perf: str, data: Path, *words: str) -> str:
    done = subprocess.run(
        [perf, "script", "-i", str(data), *words],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "LC_ALL": "C"},
        check=False,
    )
    if done.returncode != 0:
        raise InfrastructureError(
            f"perf script failed: {done.stderr.strip()[-300:]}",
            cause="perf.data is damaged, or perf does not fit this kernel",
            remedy=f"{perf} record true, then {perf} script",
        )
    return done.stdout
