"""What a workload writes: its kinds, the keys that say so, and what of it a flash must hold.

The agent makes the contents (guest/agent/core/content.h). A workload has the two keys by
`contents_key` and `compressibility_key`, and its check asks for `share_problem`. What came after
specs were hashed is in them only where it is not as it was before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from ffslab.model.workload import Workload, WorkloadType, key
from ffslab.workloads.checks import Problem

Contents = Literal["random", "zeros", "printable", "text", "compressible"]

_KEYS = ("contents", "compressibility_percent")
_COMPRESSIBLE = "compressible"
# What every compressor of the kernel stores of a byte, at least. An entropy coder needs 6.57 bits
# for one of 95 characters; zlib stores two fifths of our text.
_LEAST_STORED = {"random": 1.0, "zeros": 0.0, "printable": 0.8, "text": 0.25}


class HasContents(Protocol):
    """A workload with the two keys."""

    @property
    def contents(self) -> Contents: ...

    @property
    def compressibility_percent(self) -> int: ...


def contents_key(
    usual: Contents = "random",
    meaning: str = "what is written",
    *,
    needs: str = "",
    later: bool = True,
    was_text: bool = False,
) -> Any:
    """The key `contents`. `later`: the workload had specs before; `was_text`: it was `text`."""
    said = _said_by_text(usual) if was_text else _unless("contents", usual) if later else None
    return key(usual, meaning, needs=needs, said=said)


def compressibility_key(*, needs: str = 'contents = "compressible"', later: bool = True) -> Any:
    """The key `compressibility_percent`, which means nothing with other contents."""
    return key(
        0,
        "contents = compressible: what a compressor can save",
        lowest=0,
        highest=100,
        needs=needs,
        said=_unless("compressibility_percent", 0) if later else None,
    )


def _said_by_text(usual: Contents) -> Callable[[Any], Mapping[str, Any]]:
    """`text` was true for the usual contents, and false for random bytes."""

    def said(value: Contents) -> dict[str, Any]:
        text = {"text": value == usual}
        return text if value in (usual, "random") else {**text, "contents": value}

    return said


def _unless(name: str, usual: Any) -> Callable[[Any], Mapping[str, Any]]:
    return lambda value: {} if value == usual else {name: value}


def spelled_out(spec: Mapping[str, Any], kind: WorkloadType[Any]) -> dict[str, Any]:
    """The workload of a spec with the keys of contents as a study has them."""
    told = dict(spec)
    defaults = kind.settings()
    for name in _KEYS:
        said = kind.keys[name].said if name in kind.keys else None
        if said is None:
            continue
        usual = getattr(defaults, name)
        in_other_words = said(usual)
        if in_other_words.items() <= spec.items():
            told.setdefault(name, usual)
        elif in_other_words.keys() <= spec.keys():
            told.setdefault(name, "random")
        for word in in_other_words:
            told.pop(word, None)
    return told


def plan_keys(workload: Workload) -> dict[str, Any]:
    """The keys for another step that writes the same contents; none for the usual ones."""
    spec = workload.spec
    return {name: spec[name] for name in _KEYS if name in spec}


def least_stored(workload: HasContents) -> float:
    """The least share of the written bytes that any file system stores, 0 to 1."""
    if workload.contents == _COMPRESSIBLE:
        return 1 - workload.compressibility_percent / 100
    return _LEAST_STORED[workload.contents]


def fits(
    workload: HasContents, written_bytes: int, partition_bytes: int, *, may_fill: bool = False
) -> bool:
    """Whether so much can be on a partition at a time, if a file system compresses it at its best.

    Where it cannot, the study has a slip of the pen; else only the file system can tell.
    `may_fill`: a partition that fills up is a result, so random bytes may be as many as text.
    """
    least = least_stored(workload)
    share = min(least, _LEAST_STORED["text"]) if may_fill else least
    return written_bytes * share <= partition_bytes


def share_problem(workload: HasContents) -> Problem | None:
    """A share for contents that have none."""
    chosen, percent = workload.contents, workload.compressibility_percent
    if not percent or chosen == _COMPRESSIBLE:
        return None
    return (
        f"compressibility_percent = {percent} with contents = {chosen!r}",
        "only compressible contents have it",
        'contents = "compressible"',
    )
