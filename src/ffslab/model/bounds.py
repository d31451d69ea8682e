"""`[[limits]]` of a study: what a figure of its cases may be at most, or has to be at least.

A limit is read here, with the unit in which it is stated. Whether there is such a figure, and
whether the unit is one of its own, is known where metrics are (`ffslab.results.missed`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from ffslab.model.strict import Strict

EVERY_CASE = "*"
_MOST = 10**18  # nanoseconds: 31 years
_Number = Annotated[float, Field(ge=-_MOST, le=_MOST)]  # an integer is one, too
_WANTED = 'write a number with its unit, such as "800 ms", "3 MiB" or "5 MB/s", or a number'
_PATTERN = re.compile(r"\s*(-?[0-9]+(?:\.[0-9]+)?)\s*([A-Za-zµ%/]+|1/s)?\s*")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with the unit that people wrote behind it; without one the unit is empty."""

    number: float
    unit: str

    @property
    def text(self) -> str:
        """As people write it: "800 ms"."""
        return f"{self.number:,.15g} {self.unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of `figure`, a word of `ffslab.results.naming`, in the cases that fit `case`."""

    figure: str
    case: str = EVERY_CASE
    at_most: Amount | None = None
    at_least: Amount | None = None

    def is_for(self, case_id: str) -> bool:
        """Whether the case is one that the limit is about."""
        return fnmatchcase(case_id, self.case)

    @property
    def text(self) -> str:
        """For example "mount.time of ubifs-*"."""
        return self.figure if self.case == EVERY_CASE else f"{self.figure} of {self.case}"


class LimitFile(Strict):
    """A table of `[[limits]]`."""

    figure: str = Field(
        min_length=1, max_length=200, description="a figure as docs/metrics.md names it: mount.time"
    )
    case: str = Field(
        default=EVERY_CASE,
        min_length=1,
        max_length=255,
        description="the cases, as for `run --case`: an id or a pattern; all",
    )
    at_most: _Number | str | None = Field(
        default=None, description='no more than this: "800 ms", "3 MiB", or a plain number'
    )
    at_least: _Number | str | None = Field(
        default=None, description='no less than this: "5 MB/s", or a plain number'
    )

    @field_validator("at_most", "at_least", mode="before")
    @classmethod
    def _is_amount(cls, value: Any) -> Any:
        # Before the types: one message in place of one for each type that it might be.
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError(_WANTED)
        parse_amount(value)
        return value

    @model_validator(mode="after")
    def _limits_something(self) -> LimitFile:
        if self.at_most is None and self.at_least is None:
            raise ValueError("needs at_most or at_least")
        return self

    @property
    def limit(self) -> Limit:
        """The limit itself."""
        most, least = (
            None if value is None else parse_amount(value)
            for value in (self.at_most, self.at_least)
        )
        return Limit(self.figure, self.case, most, least)


def parse_amount(value: float | str) -> Amount:
    """A number, or a text of a number and a unit. ValueError for another text, and beyond _MOST."""
    unit, number = "", value
    if isinstance(value, str):
        match = _PATTERN.fullmatch(value)
        if match is None:
            raise ValueError(_WANTED)
        number, unit = float(match[1]), match[2] or ""
    amount = Amount(float(number), unit)
    if not abs(amount.number) <= _MOST:
        raise ValueError(f"a limit is at most {_MOST:,}")
    return amount
