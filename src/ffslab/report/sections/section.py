"""A section of a report: a question, the answer in a sentence, charts, folded tables."""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.report.elements import Table


@dataclass(frozen=True)
class Chart:
    """A chart with its title; `meaning` says how to read it, in a few words."""

    title: str
    drawing: str
    meaning: str = ""

    @property
    def is_wide(self) -> bool:
        """Whether it has panels beside each other, which need the room of two charts."""
        return '"facet":{' in self.drawing


@dataclass(frozen=True)
class Section:
    """A question of the report. `key` is its anchor; `sentence` has at most 30 words.

    `markup` is a part of the page that is neither chart nor table, as markupsafe.Markup. `note`
    says what a reader must know to trust the section. `first` is a sentence for the first screen,
    of what its scoreboard has no column for.
    """

    key: str
    title: str
    sentence: str = ""
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()
    markup: str = ""
    note: str = ""
    first: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show below the title."""
        return not (self.charts or self.tables or self.markup or self.sentence)
