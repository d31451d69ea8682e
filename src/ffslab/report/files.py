"""The files that a page links to: those of each case, and the table beside the page."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ffslab.report.data import Case
from ffslab.report.load import Read
from ffslab.results.criteria import Criterion

_OF_A_CASE = ("console.log", "output.log", "case.json")
_HEAD = ("case", "outcome", "what", "place", "metric", "value", "ends_in_memory")
Links = Mapping[str, Sequence[tuple[str, str]]]


def case_folders(run_dir: Path, target: Path) -> str:
    """The link to the folder of all cases, as seen from the page; empty if there is none."""
    cases = run_dir / "cases"
    if not cases.is_dir():
        return ""
    return quote(Path(os.path.relpath(cases.resolve(), target.resolve().parent)).as_posix())


def case_files(run_dir: Path, target: Path, cases: Sequence[Case]) -> Links:
    """Names and links of the files of each of the cases that are there, as seen from the page."""
    links = {}
    folders = case_folders(run_dir, target)
    for case in cases if folders else ():
        folder = run_dir / "cases" / case.id
        names = [name for name in _OF_A_CASE if (folder / name).is_file()]
        if names:
            links[case.id] = [(name, f"{folders}/{quote(case.id)}/{name}") for name in names]
    return links


def commands_of(cases: Sequence[Case]) -> tuple[str, ...]:
    """The commands that run cases again, each with CASE for the name of one: mostly there is one
    for all.
    """
    words = (case.command.rpartition(f" {case.id}") for case in cases)
    return tuple(dict.fromkeys(f"{before} CASE{behind}" for before, _, behind in words))


def criteria_csv(cases: Sequence[Read[Any]], criteria: Mapping[str, Sequence[Criterion]]) -> str:
    """What people decide by, a row for each figure of each case, in the units stored."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEAD)
    for case in cases:
        head = case.head
        for row in criteria[head["id"]]:
            figure = row.figure
            own = (row.title, figure.place, figure.metric.name, figure.value, int(row.in_memory))
            writer.writerow((head["id"], head["outcome"], *own))
    return text.getvalue()
