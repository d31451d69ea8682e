"""A synthetic run directory of FFSMark: real studies, specs and results of made-up measurements;
and what tests look for in a page.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from altair.vegalite.v6.schema.core import load_schema
from host_support import prepared_study
from jsonschema import Draft7Validator
from made_records import (
    Record,
    counters,
    end_record,
    flash_record,
    latency_record,
    made_run,
    phase_record,
    read_records,
    start_record,
    step_record,
)

from ffslab.model.case import Case
from ffslab.report import build, elements, svg
from ffslab.report.sections.section import Section
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome
from ffslab.results.result import CaseResult

MOST_WORDS = 30
BLOCKS = 200  # enough for an uneven wear; each flash record lists them three times
_CHART = re.compile(
    r'<div class="vega" id="([^"]+)".*?<script type="application/json">(.*?)</script>', re.DOTALL
)
Overrides = Sequence[tuple[str, tuple[Any, ...]]]
# What the made-up file systems do: seconds of the whole work, and times that ageing costs.
BASE_S = {"jffs2": 38.0, "ubifs": 29.0, "yaffs2": 33.0}
AGED = {"jffs2": 1.9, "ubifs": 1.35, "yaffs2": 1.6}
PAGES = 60_000
# The phases: their share of the time, bytes read and written, and each operation's median in ms.
_PHASES: Mapping[str, tuple[float, tuple[int, int], Mapping[str, float]]] = {
    "creation": (0.27, (0, 26_000_000), {"create": 2, "request-write": 0.3}),
    "transactions": (
        0.66,
        (48_000_000, 66_000_000),
        {"create": 2, "read": 0.6, "append": 1.2, "delete": 0.2, "request-write": 0.3},
    ),
    "deletion": (0.07, (0, 0), {"delete": 0.2}),
}


@lru_cache(maxsize=1)
def vega_lite() -> Draft7Validator:
    """The schema of the language that charts are written in."""
    return Draft7Validator(load_schema())


def page_of_words(folder: Path, *, validate: bool = False) -> str:
    """The report of a run without the library that draws its charts, which is most of its bytes. On
    `validate` the schema is asked about each chart.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elements, "browser_bundle", str)
        page = build(folder).read_text(encoding="utf-8")
    if validate:
        validated(page)
    return page


def charts_of(page: str) -> dict[str, dict[str, Any]]:
    """The charts of a page, each its `spec` and the columns of its `data`, by their anchors."""
    return {name: json.loads(told) for name, told in _CHART.findall(page)}


def validated(page: str) -> dict[str, dict[str, Any]]:
    """The charts of a page, which Vega-Lite accepts."""
    charts = charts_of(page)
    for chart in charts.values():
        data = {"data": {"name": next(iter(chart["data"]))}}  # as the page's script has it
        vega_lite().validate({**data, **chart["spec"], "config": svg.theme()})
    return charts


def rows_of(drawing: str) -> list[dict[str, Any]]:
    """The rows of a drawing's only chart, which Vega-Lite accepts."""
    (chart,) = validated(drawing).values()
    columns: Mapping[str, Sequence[Any]] = next(iter(chart["data"].values()))
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def plain(text: str) -> str:
    """With blanks that a keyboard has."""
    return text.replace("\u00a0", " ")


def told(section: Section) -> list[str]:
    """A section's sentence, charts with a line for each mark, tables with a line for each row."""
    lines = [section.sentence]
    for chart in section.charts:
        lines.append(f"{chart.title} ({chart.meaning})")
        for row in rows_of(chart.drawing):
            named = ("row", "label", "facet", "place", "part")
            where = " / ".join(str(row[name]) for name in named if row.get(name))
            lines.append(f"  {where}: {row['value']:g}")
    for table in section.tables:
        lines += [f"[{table.title}]", *(" | ".join(row) for row in (table.head, *table.rows))]
    return plain("\n".join(lines)).split("\n")


def by_key(found: Iterable[Section]) -> dict[str, Section]:
    """Sections by their keys; each has its own, and a short sentence."""
    sections = list(found)
    for section in sections:
        assert len(section.sentence.split()) <= MOST_WORDS, section.sentence
    told_apart = {section.key: section for section in sections}
    assert len(told_apart) == len(sections)
    return told_apart


def section_of(page: str, key: str) -> str:
    """A section of a page by its anchor."""
    return page.split(f'<section id="{key}"')[1].split("</section>")[0]


def write_run(
    folder: Path,
    overrides: Overrides = (),
    driver_time: Mapping[str, float] | None = None,
    outcomes: Mapping[str, Outcome] | None = None,
    study: str = "ffsmark",
    case_ids: Sequence[str] = (),
) -> Path:
    """Write a run of a study; `outcomes` has the cases that did not pass, `driver_time` what
    doubling the driver's work does to the time of a file system; halving it does the inverse.
    """

    def result_of(case: Case) -> CaseResult:
        outcome = (outcomes or {}).get(case.id, Outcome("pass"))
        return _result(case, (driver_time or {}).get(case.filesystem.name, 1.0), outcome)

    return made_run(folder, prepared_study(study, overrides, case_ids), result_of)


@lru_cache(maxsize=512)
def _result(case: Case, driver_time: float, outcome: Outcome) -> CaseResult:
    records = _records(case, driver_time)
    stream = read_records(records if outcome.kind == "pass" else records[:2])
    return case_result(case, outcome, stream, None)


def case_ids(overrides: Overrides = (), study: str = "ffsmark") -> list[str]:
    """The ids that `write_run` gives."""
    return [case.id for case in prepared_study(study, overrides, ()).cases]


def _records(case: Case, driver_time: float) -> list[Record]:
    rng = random.Random(case.id)
    name, options = case.filesystem.name, dict(case.filesystem.options)
    seed = 1 + 0.02 * (case.seed - 2)
    factor = seed * (0.6 + 0.4 * case.cpu_scale)
    factor *= driver_time ** math.log2(case.board.driver_read_ns / 165_000)
    pages = PAGES * seed
    if case.state.name == "aged":
        aged = AGED.get(name, 1.5)
        factor *= aged * (1 + 0.02 * rng.random())
        pages *= 1 + (aged - 1) * 0.9
    if options.get("write_mode") == "sync":
        factor, pages = factor * 2.6, pages * 2.1
    if options.get("compression") != "none":
        factor, pages = factor * 1.7, pages * 0.62
    whole_s = BASE_S.get(name, 30.0) * factor
    erases = _erases(case, int(pages / 64), rng)
    records, now, done = [start_record(case.seed), step_record("mount", 1, 9)], 2_000_000_000, 0.0
    for phase, (share, (read, written), medians) in _PHASES.items():
        end = now + round(whole_s * share * 1e9)
        kind = "files_deleted" if phase == "deletion" else "files_created"
        work = {kind: 5000, "bytes_read": read, "bytes_written": written}
        before, after = (_flash(pages, part, erases) for part in (done, done + share))
        records += [
            flash_record(f"{phase}:start", *before, t_ns=now),
            phase_record("ffsmark", phase, (now, end), (before[0], after[0]), **work),
            *(
                latency_record("ffsmark", phase, op, _latencies(median * 1e6 * whole_s / 30, rng))
                for op, median in medians.items()
            ),
            flash_record(f"{phase}:end", *after, t_ns=end),
        ]
        now, done = end, done + share
    return [*records, end_record(now + 400_000_000)]


def _flash(pages: float, share: float, erases: Sequence[int]) -> tuple[dict[str, int], list[int]]:
    """The counters of a partition and the erases of its blocks when so much is done."""
    counts = [1 + round(count * share) for count in erases]
    programmed, read, erased = round(pages * share), round(pages * 0.8 * share), sum(counts)
    times = {"read_ns": read * 88_560, "program_ns": programmed * 283_560}
    times |= {"chip_read_ns": read * 25_000, "chip_program_ns": programmed * 220_000}
    times |= {"chip_transfer_ns": (read + programmed) * 63_360}
    times |= {"erase_ns": erased * 500_200, "chip_erase_ns": erased * 500_000}
    moved = {"bytes_read": read * 2112, "bytes_programmed": programmed * 2112}
    return counters(read, programmed, erased, **moved, **times), counts


def _erases(case: Case, total: int, rng: random.Random) -> list[int]:
    """JFFS2 wears unevenly, UBI evenly."""
    power = 4 if case.filesystem.name == "jffs2" else 0.7
    weights = [rng.random() ** power for _ in range(BLOCKS)]
    if case.state.name == "aged":
        weights = [w if i % 2 else w * 0.1 for i, w in enumerate(weights)]
    scale = total / sum(weights)
    return [round(weight * scale) for weight in weights]


def _latencies(median_ns: float, rng: random.Random) -> list[int]:
    """A hundred, of which some take very long."""

    def tail() -> float:
        return rng.paretovariate(1.4) ** 2 if rng.random() < 0.03 else 1

    return [round(median_ns * math.exp(rng.gauss(0, 0.4)) * tail()) for _ in range(100)]
