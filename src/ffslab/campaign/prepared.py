"""A study ready to run: a value, which the rest of the campaign works on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ffslab.loader import StudySource
from ffslab.model.case import Case
from ffslab.model.study import Override, Study
from ffslab.targets import DEFAULT_TARGET


@dataclass(frozen=True, slots=True)
class Prepared:
    """A study, its overrides and the chosen cases, before anything runs.

    `mainline`: since which version Linux has each of their file systems; empty: it has not.
    `is_whole`: nothing was set over the study, and no case is left out. `doubts`: what was probably
    not meant.
    """

    source: StudySource
    study: Study
    overrides: tuple[Override, ...]
    cases: tuple[Case, ...]
    catalogs: tuple[Path, ...] = ()
    target: str = DEFAULT_TARGET
    mainline: Mapping[str, str] = field(default_factory=dict)
    place: Path | None = None
    is_whole: bool = True
    doubts: tuple[str, ...] = ()
