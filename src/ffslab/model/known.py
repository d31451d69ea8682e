"""Known findings: what a file known.toml says of findings that are documented already.

An entry names an entry of docs/findings.md, or one finding by its id, and says why it is known, of
how many states, and up to which kernel. Here is the shape alone: which findings an entry accepts
is judged where findings are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ffslab.model.strict import Positive, Strict
from ffslab.model.validation import validated

DOCUMENT = "docs/power-cuts.md"
_Version = Annotated[str, Field(pattern=r"^(\d{1,5}(\.\d{1,5}){0,3})?$")]


class KnownEntryFile(Strict):
    """An entry [[known]]."""

    finding: str = Field(
        default="",
        pattern=r"^(F-[A-Z0-9]+-\d{2,4})?$",
        description="an entry of docs/findings.md, and so each finding that looks like it",
    )
    id: str = Field(
        default="", pattern=r"^([0-9a-f]{8})?$", description="one finding, by its own id"
    )
    reason: str = Field(min_length=3, description="why it is no news")
    until: _Version = Field(
        default="", description="the kernel version from which on it holds no more; absent: none"
    )
    states: Positive = Field(
        default=1, description="of how many states a finding may be: one of more is new"
    )

    @model_validator(mode="after")
    def _names_one_thing(self) -> KnownEntryFile:
        if bool(self.finding) == bool(self.id):
            raise ValueError("needs finding or id, and not both")
        return self


class KnownFile(Strict):
    """A file known.toml."""

    schema_version: Literal[1] = Field(
        default=1, alias="schema", description="version of this format"
    )
    known: list[KnownEntryFile] = Field(default=[], description="what is known")


@dataclass(frozen=True, slots=True)
class Known:
    """An entry. `finding` or `id` is empty, and so is `until` of what holds for every kernel."""

    finding: str
    id: str
    reason: str
    until: str = ""
    states: int = 1

    @property
    def name(self) -> str:
        """What it names."""
        return self.finding or self.id

    @property
    def document(self) -> dict[str, Any]:
        """As a file has it."""
        return asdict(self)


def known_from_document(document: Mapping[str, Any], where: str) -> tuple[Known, ...]:
    """The entries of a file in its order; SpecError for what cannot be right."""
    parsed = validated(KnownFile, document, where, DOCUMENT)
    return tuple(
        Known(entry.finding, entry.id, entry.reason, entry.until, entry.states)
        for entry in parsed.known
    )
