"""The whole benchmark: prepares, measures what is asked for, prints, writes the raw figures."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from bench import cases, measurements
from bench.guest import Runner
from bench.measurements import Bench, Measured
from bench.ratios import format_table, load_warning
from ffslab.campaign.run import usable_cpus
from ffslab.errors import InfrastructureError, UsageError
from ffslab.kernel import ensure_lab
from ffslab.kernel.cache import cache_root
from ffslab.target.lab import LabBuild
from ffslab.target.scratch import largest_need, scratch_directory

QUIET_LOAD = 0.5
PARTS = ("floor", "cpu", "driver", "boot", "jobs")


Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for. `tell` hears what is being run, "" at the end; `say` the results."""

    parts: tuple[str, ...]
    repeats: int
    json_file: Path | None
    say: Say
    tell: Say


def run_bench(request: Request) -> bool:
    """Measures the parts (all if none is named) and prints them; whether every goal is met.

    Raises UsageError for an unknown part, InfrastructureError if a guest does not pass.
    """
    unknown = [part for part in request.parts if part not in PARTS]
    if unknown:
        raise UsageError(f"no part {unknown[0]!r}", remedy=f"one of: {', '.join(PARTS)}")
    wanted = [part for part in PARTS if not request.parts or part in request.parts]
    load = os.getloadavg()[0]
    lab = ensure_lab()
    nocpu = ensure_lab("nocpu") if "cpu" in wanted else lab
    cpus = usable_cpus()
    request.say(
        f"lab {lab.build_id}, {len(cpus)} cores, load average {load:.2f}, {request.repeats} repeats"
    )
    if warning := load_warning(load, QUIET_LOAD):
        request.say(warning)
    results: dict[str, Measured] = {}
    need = largest_need(cases.ffsmark_cases().values())
    with scratch_directory(need, 2, cache_root()) as scratch:
        # Not the first CPU: most of the host's interrupts go there.
        runner = Runner(scratch, cpus[-1])
        for part in wanted:

            def tell(text: str, part: str = part) -> None:
                request.tell(f"{part}: {text}")

            quiet = load <= QUIET_LOAD
            bench = Bench(lab, runner, scratch, cpus, request.repeats, quiet, tell)
            results[part] = _measure(part, bench, nocpu)
    request.tell("")
    request.say(format_table([line for part in results.values() for line in part.lines]))
    if request.json_file is not None:
        about = {"build_id": lab.build_id, "load_average": load, "cores": len(cpus)}
        _write_json(request.json_file, about, results)
    return not any(line.missed for part in results.values() for line in part.lines)


def _measure(part: str, bench: Bench, nocpu: LabBuild) -> Measured:
    match part:
        case "floor":
            return measurements.floor(bench)
        case "cpu":
            return measurements.cpu_model(bench, nocpu)
        case "driver":
            return measurements.driver(bench)
        case "boot":
            return measurements.boot(bench)
        case _:
            return measurements.jobs(bench)


def _write_json(path: Path, about: Mapping[str, object], results: Mapping[str, Measured]) -> None:
    """Raw figures and lines; times in seconds."""
    document = {
        **about,
        "parts": {
            name: {"lines": [asdict(line) for line in part.lines], "raw": part.raw}
            for name, part in results.items()
        },
    }
    try:
        path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")
    except OSError as error:
        raise InfrastructureError(f"cannot write {path}: {error.strerror}") from error
