"""The lab's own runs of a probe: a study with a part for each case at each set of figures. Pure.

What the lab is to do is read from the measured results, so that both did the same: the board, the
partition, the file systems with their options, the seed, how much of each operation.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ffslab.calibrate.figures import WAIT, Values
from ffslab.calibrate.readings import PASS, case_of
from ffslab.model.specs import Scalar
from ffslab.results.result import CaseResult
from ffslab.workloads.probe.stored import probe_of

_CHOSEN = "compression"  # the option that the study probe has as an axis


@dataclass(frozen=True, slots=True)
class Measured:
    """A case that was measured: what it is called, and the settings that make it."""

    name: str
    settings: Mapping[str, Scalar]


def measured_cases(results: Iterable[CaseResult]) -> tuple[Measured, ...]:
    """The cases of a run that have times; one of those that were repeated."""
    found = {
        case_of(result["spec"]): _settings(result["spec"])
        for result in results
        if result["outcome"] == PASS and probe_of(result)
    }
    return tuple(Measured(name, settings) for name, settings in found.items())


def _settings(spec: Mapping[str, Any]) -> dict[str, Scalar]:
    filesystem = spec["filesystem"]
    compression = filesystem.get("options", {}).get(_CHOSEN)
    return {
        "board": spec["board"]["name"],
        "filesystem": filesystem["name"],
        **({f"options.{_CHOSEN}": compression} if compression else {}),
        "partition_bytes": spec["partition_bytes"],
        "board.ram_bytes": spec["board"]["ram_bytes"],
        "seed": spec["seed"],
        **{f"workload.{name}": value for name, value in spec["workload"].items()},
    }


def study_text(
    name: str, cases: Iterable[Measured], points: Mapping[str, Values], wait: str
) -> str:
    """The study of all cases at all points, each a part called `POINT.CASE`."""
    cases = tuple(cases)
    lines = [
        "# Made by ffslab calibrate; changes here are overwritten.",
        "schema = 1",
        f"name = {json.dumps(name)}",
        f"title = {json.dumps(f'The lab, probed for {name}')}",
        "",
        "[base]",
        f"board = {json.dumps(cases[0].settings['board'])}",
    ]
    for point, values in points.items():
        for case in cases:
            settings: dict[str, Scalar] = {**case.settings, WAIT: wait, **values}
            listed = ", ".join(f'"{key}" = {json.dumps(one)}' for key, one in settings.items())
            lines += ["", "[[part]]", f'name = "{part_name(point, case.name)}"']
            lines.append(f"set = {{ {listed} }}")
    return "\n".join(lines) + "\n"


def part_name(point: str, case: str) -> str:
    """The part of a case at a point."""
    return f"{point}.{case}"


def point_of(result: CaseResult) -> str:
    """The point that a case of such a study is at."""
    part = str(dict(result["axes"])["part"])
    return part.removesuffix(f".{case_of(result['spec'])}")
