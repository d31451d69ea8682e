"""The chapters of a run: which of its cases are shown together, on the page and on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.report.load import Read, part_texts
from ffslab.workloads.modules import report_module
from ffslab.workloads.registry import kind_of


@dataclass(frozen=True)
class Chapter:
    """The cases of one workload that are shown together; `key` tells its anchors from others'.

    `name` is what the study calls it, empty if it does not; `shared` by another workload's.
    """

    key: str
    name: str
    shared: bool
    kind: str
    cases: tuple[Read[Any], ...]

    @property
    def title(self) -> str:
        """Its name, or its workload's, which stands in what makes the page."""
        if self.name and not self.shared:
            return self.name
        told = report_module(self.kind).TITLE
        return f"{self.name}: {told}" if self.name else told


def chapters_of(
    manifest: Mapping[str, Any], read_cases: Sequence[Read[Any]]
) -> tuple[Chapter, ...]:
    """The chapters of a run in the order of the cases: those that the study's parts name, and one
    for each workload of the others. A chapter of two workloads is one for each of them.
    """
    stated = part_texts(manifest, "chapter")
    cases: dict[tuple[str, str], list[Read[Any]]] = {}
    for read_case in read_cases:
        name = stated.get(str(read_case.head["axes"].get("part", "")), "")
        cases.setdefault((name, kind_of(read_case.head["spec"])), []).append(read_case)
    names = [name for name, _ in cases]
    return tuple(
        Chapter(
            key=f"chapter-{number}" if name else kind,
            name=name,
            shared=names.count(name) > 1,
            kind=kind,
            cases=tuple(members),
        )
        for number, ((name, kind), members) in enumerate(cases.items())
    )
