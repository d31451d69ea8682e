"""The shape of `published/NAME.toml` (pydantic is used at the border only)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from ffslab.model.strict import Strict

_Number = Annotated[float, Field(ge=0, le=10**18)]
_Formula = Annotated[str, Field(min_length=1, max_length=2000)]
_Text = Annotated[str, Field(min_length=1, max_length=2000)]
_Key = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]
_Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]
_Year = Annotated[int, Field(ge=1970, le=2100)]
_Minutes = Annotated[int, Field(ge=0, le=10_000)]


def _same_length(each: dict[str, list[str]]) -> dict[str, list[str]]:
    if len({len(words) for words in each.values()}) > 1:
        raise ValueError("all keys of each need as many words")
    return each


Each = Annotated[
    dict[_Key, Annotated[list[str], Field(min_length=1)]], AfterValidator(_same_length)
]


class SourceFile(Strict):
    """Where the publication is to be read."""

    authors: _Text
    title: _Text
    venue: _Text
    year: _Year


class RunFile(Strict):
    """A study as `ffslab run` takes it; which of its cases are run, the formulas say."""

    study: _Text
    settings: dict[str, Any] = Field(
        default={},
        alias="set",
        description="as `--set` of `ffslab run`: a value, or a list of them",
    )
    seeds: list[_Seed] = Field(default=[1], description="the seeds whose mean counts")
    figure: str = Field(default="", description="the figure of a formula that names none")


class FigureFile(Strict):
    """A number of the publication, and the formula of ours; without a unit it is a ratio.

    `at_least`, `at_most`: the publication gives a range. With `each`, `{key}` in title and formula
    stands for the first word of each key, then for the second of each, and so on; `published` may
    be as many numbers.
    """

    title: _Text
    published: _Number | list[_Number] | None = None
    at_least: _Number | None = None
    at_most: _Number | None = None
    ours: _Formula
    unit: str = ""
    of: str = Field(default="", description="with whose errors its error is counted: attach, read")
    each: Each = Field(default={})

    @model_validator(mode="after")
    def _has_a_number(self) -> FigureFile:
        has_range = self.at_least is not None or self.at_most is not None
        if (self.published is None) != has_range:
            raise ValueError("needs published, or at_least or at_most or both")
        if isinstance(self.published, list) and len(self.published) != _count(self.each):
            raise ValueError(
                f"published has {len(self.published)} numbers, each {_count(self.each)} words"
            )
        return self


class OrderFile(Strict):
    """A comparison that the publication states, as one of ours."""

    title: _Text
    holds: _Formula
    unit: str = Field(default="", description="of both sides, to be shown")
    each: Each = Field(default={})


class ChangedFile(Strict):
    """A figure as it is, and with one thing changed."""

    title: _Text
    published: _Number | None = None
    ours: _Formula
    changed: _Formula
    unit: str = ""
    each: Each = Field(default={})


class SideFile(Strict):
    """A side of a map: `{key}` of the formula stands for each word; readers see its name."""

    key: _Key
    title: _Text
    words: Annotated[list[str], Field(min_length=2)]
    names: list[str] = Field(default=[], description="what readers see; the words, if none")

    @model_validator(mode="after")
    def _has_a_name_for_each(self) -> SideFile:
        if self.names and len(self.names) != len(self.words):
            raise ValueError(f"{len(self.words)} words have {len(self.names)} names")
        return self


class MapFile(Strict):
    """A figure over two settings: where it is large."""

    title: _Text
    ours: _Formula
    unit: str = ""
    across: SideFile
    down: SideFile
    empty: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = Field(
        default=[], description="cells that there cannot be: a word of across, and one of down"
    )


class CauseFile(Strict):
    """Why ours is another figure, and the experiment that shows it."""

    text: _Text
    figure: list[ChangedFile] = Field(default=[])
    map: list[MapFile] = Field(default=[])


class StatementFile(Strict):
    """One statement of the publication."""

    id: Annotated[str, Field(pattern=r"^[A-Z][0-9]{1,2}$")]
    place: _Text
    says: _Text
    figure: list[FigureFile] = Field(default=[])
    order: list[OrderFile] = Field(default=[])
    cause: list[CauseFile] = Field(default=[])

    @model_validator(mode="after")
    def _states_something(self) -> StatementFile:
        if not self.figure and not self.order:
            raise ValueError("needs a figure or an order")
        return self


class PublicationFile(Strict):
    """`published/NAME.toml`."""

    schema_version: Literal[1] = Field(alias="schema", description="version of this format")
    name: Annotated[str, Field(pattern=r"^[a-z0-9]+$", max_length=60)]
    title: _Text
    minutes: _Minutes = Field(description="how long all its runs take on two cores")
    source: SourceFile
    board: _Text
    chip: _Text
    measurements: bool = Field(
        default=False,
        description="figures of many boards: their errors count, and no statement of a publication",
    )
    runs: dict[_Key, RunFile]
    values: dict[_Key, _Formula] = Field(default={}, description="formulas with a name")
    statement: Annotated[list[StatementFile], Field(min_length=1)]


def _count(each: Each) -> int:
    return len(next(iter(each.values()), [""]))
