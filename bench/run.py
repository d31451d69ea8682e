"""The whole benchmark: prepares, measures what is asked for, prints, writes the raw figures."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from bench import (
    cases,
    commands,
    flash_cost,
    flash_table,
    measurements,
    micro,
    price,
    report,
    tree,
)
from bench.flash_cost import FlashCosts
from bench.guest import Runner
from bench.measurements import Bench, Measured
from bench.ratios import format_table, load_warning
from ffslab.campaign.run import usable_cpus
from ffslab.errors import InfrastructureError, UsageError
from ffslab.lab import ensure_lab
from ffslab.lab.cache import cache_root
from ffslab.targets.uml.scratch import largest_need, scratch_directory

QUIET_LOAD = 0.5
_MEASUREMENTS: Mapping[str, Callable[[Bench], Measured]] = {
    "speed": measurements.speed,
    "cpu": measurements.cpu_model,
    "driver": measurements.driver,
    "boot": measurements.boot,
    "jobs": measurements.jobs,
    "micro": micro.measure,
    "tree": tree.measure,
    "short": commands.short,
    "report": report.measure,
    "start": commands.start,
    "crash": commands.crash,
    "setup": commands.setup,
}
TIMED_PARTS = tuple(_MEASUREMENTS)
PARTS = (*TIMED_PARTS, "flash", "price")
# The first builds everything once more; the other needs a lab for ARM, and QEMU.
_ONLY_IF_NAMED = ("setup", "price")


Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for. `tell` hears what is being run, "" at the end; `say` the results.

    `markdown`: tables for a document and nothing else, of the parts `flash` and `price`.
    """

    parts: tuple[str, ...]
    repeats: int
    json_file: Path | None
    markdown: bool
    say: Say
    tell: Say


def run_bench(request: Request) -> bool:
    """Measures the parts (most if none is named) and prints them; whether every goal is met.

    Raises UsageError for an unknown part, InfrastructureError if a guest does not pass.
    """
    unknown = [part for part in request.parts if part not in PARTS]
    if unknown:
        raise UsageError(
            f"no part {unknown[0]!r}", remedy=f"one of: {', '.join(PARTS)}; or profile"
        )
    wanted = [part for part in PARTS if part in (request.parts or parts_by_default())]
    timed = [part for part in wanted if part in TIMED_PARTS]
    if request.markdown and timed:
        raise UsageError(
            "--format is for the parts flash and price", remedy="ffslab bench flash --format md"
        )
    load = os.getloadavg()[0]
    lab = ensure_lab()
    cpus = usable_cpus()
    if not request.markdown:
        request.say(f"lab {lab.build_id}, {len(cpus)} cores, load average {load:.2f}")
    if timed:
        request.say(f"{request.repeats} repeats")
    if timed and (warning := load_warning(load, QUIET_LOAD)):
        request.say(warning)
    results: dict[str, Measured] = {}
    costs = None
    booted = [*cases.ffsmark_cases().values(), *(tree.guest_cases() if "tree" in timed else ())]
    need = largest_need(booted)
    with scratch_directory(need, 2, cache_root()) as room:
        scratch = room.directory
        # Not the first CPU: most of the host's interrupts go there.
        runner = Runner(scratch, cpus[-1])

        def tell(part: str, text: str) -> None:
            request.tell(f"{part}: {text}")

        quiet = load <= QUIET_LOAD
        for part in timed:
            bench = Bench(lab, runner, scratch, cpus, request.repeats, quiet, partial(tell, part))
            results[part] = _MEASUREMENTS[part](bench)
        if "flash" in wanted:
            costs = flash_cost.measure(lab, runner, scratch, partial(tell, "flash"))
        judged = None
        if "price" in wanted:
            judged = price.measure(scratch, cpus, partial(tell, "price"))
    request.tell("")
    if timed:
        request.say(format_table([line for part in results.values() for line in part.lines]))
    met = not any(line.missed for part in results.values() for line in part.lines)
    if costs is not None:
        met = _say_costs(request, costs) and met
    if judged is not None:
        _say(request, price.tables(judged))
        met = judged.met and met
    if request.json_file is not None:
        about = {"build_id": lab.build_id, "load_average": load, "cores": len(cpus)}
        _write_json(request.json_file, about, results, costs, judged)
    return met


def _say_costs(request: Request, costs: FlashCosts) -> bool:
    _say(request, flash_table.tables(costs))
    return all(check.met for check in flash_table.checks(costs))


def _say(request: Request, shown: Sequence[flash_table.Table]) -> None:
    request.say(flash_table.markdown(shown) if request.markdown else flash_table.text(shown))


def parts_by_default() -> tuple[str, ...]:
    """What is measured if no part is named."""
    return tuple(part for part in PARTS if part not in _ONLY_IF_NAMED)


def _write_json(
    path: Path,
    about: Mapping[str, object],
    results: Mapping[str, Measured],
    costs: FlashCosts | None,
    judged: price.PriceReport | None,
) -> None:
    """Raw figures and lines; times in seconds, of the part flash in nanoseconds."""
    parts: dict[str, object] = {
        name: {"lines": [asdict(line) for line in part.lines], "raw": part.raw}
        for name, part in results.items()
    }
    if costs is not None:
        goals = [{**asdict(check), "met": check.met} for check in flash_table.checks(costs)]
        parts["flash"] = {"goals": goals, "raw": costs.raw()}
    if judged is not None:
        parts["price"] = judged.raw()
    document = {**about, "parts": parts}
    try:
        path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")
    except OSError as error:
        raise InfrastructureError(f"cannot write {path}: {error.strerror}") from error
