"""The rating of a study: how file systems become words such as Good and Poor, by rules that the
study's file states.

A criterion (boot time, say) has rules. A rule takes one value for each file system from where it
was measured, and compares it with three limits: the first makes the best grade, none of them the
worst. A criterion's grade is the worst of its rules', or the middle one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ffslab.model.strict import Strict

GRADES = ("Excellent", "Good", "Fair", "Poor")
_MOST = 10**15
_Limit = Annotated[float, Field(ge=-_MOST, le=_MOST)] | Annotated[int, Field(ge=-_MOST, le=_MOST)]
Limits = Annotated[list[_Limit], Field(min_length=3, max_length=3)]


class RuleFile(Strict):
    """Where a rule's value is from, and its limits.

    `figure` or `mainline` says what it rates.
    """

    title: str = Field(default="", description="what it rates, for the reader")
    figure: str = Field(
        default="", description="a figure of the cases, as exports name it: list.listed_ns"
    )
    mainline: bool = Field(
        default=False, description="whether Linux has the file system: best or worst grade"
    )
    part: str | list[str] = Field(default=[], description="the parts whose cases count; all")
    where: dict[str, Any] = Field(
        default={}, description="settings that a case must have, as in a rule of [[exclude]]"
    )
    of: Literal["worst", "best", "mean"] = Field(
        default="worst", description="which value of a file system's cases counts"
    )
    limits: Limits | None = Field(
        default=None, description="of the three best grades, in the unit of the figure"
    )
    times_best: Limits | None = Field(
        default=None, description="likewise, as factors of the best file system's value"
    )

    @model_validator(mode="after")
    def _rates_one_thing(self) -> RuleFile:
        if bool(self.figure) == self.mainline:
            raise ValueError("needs figure or mainline")
        limits = [self.limits is not None, self.times_best is not None]
        if sum(limits) != (0 if self.mainline else 1):
            raise ValueError(
                "mainline has no limits" if self.mainline else "needs limits or times_best"
            )
        if not self.figure and (self.part or self.where):
            raise ValueError("part and where choose cases, so they need figure")
        return self

    @model_validator(mode="after")
    def _limits_are_in_order(self) -> RuleFile:
        for limits in (self.limits, self.times_best):
            if limits is not None and limits not in (sorted(limits), sorted(limits, reverse=True)):
                raise ValueError(f"limits go one way, from the best to the worst, not {limits}")
        return self


class CriterionFile(Strict):
    """A column of the rating."""

    name: str = Field(min_length=1, description="what is rated")
    combine: Literal["worst", "middle"] = Field(
        default="worst", description="the grade of several rules"
    )
    rule: list[RuleFile] = Field(min_length=1, description="what decides it")


class RatingFile(Strict):
    """`[rating]` of a study."""

    title: str = Field(default="Rating", description="the heading of its table")
    grades: Annotated[list[str], Field(min_length=4, max_length=4)] = Field(
        default=list(GRADES), description="the words, from the best to the worst"
    )
    criterion: list[CriterionFile] = Field(min_length=1, description="the columns")

    @model_validator(mode="after")
    def _names_differ(self) -> RatingFile:
        for names in (self.grades, [criterion.name for criterion in self.criterion]):
            if len(set(names)) < len(names):
                raise ValueError(f"a name is there twice: {', '.join(names)}")
        return self


def chosen_parts(rule: RuleFile) -> tuple[str, ...]:
    """The parts that a rule names; none stands for all."""
    return (rule.part,) if isinstance(rule.part, str) else tuple(rule.part)


def fits(rule: RuleFile, axes: Mapping[str, Any]) -> bool:
    """Whether a case with these axes counts for a rule."""
    parts = chosen_parts(rule)
    if parts and axes.get("part") not in parts:
        return False
    for name, wanted in rule.where.items():
        allowed = wanted if isinstance(wanted, list) else [wanted]
        if axes.get(name) not in allowed:
            return False
    return True
