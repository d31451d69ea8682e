"""The sizes of code that a run keeps beside its cases."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from ffslab.codesize.sizes import CodeSizes, from_document
from ffslab.results.files import read_json_as
from ffslab.results.result import WrongShapeError
from ffslab.results.rundir import SIZES


class SizesDocument(TypedDict):
    """What `ffslab.codesize.sizes.to_document` gives."""

    v: int
    architectures: dict[str, Any]
    filesystems: list[Any]
    unmeasured: dict[str, str]


def read_sizes(run_dir: Path) -> CodeSizes | None:
    """The sizes of a run; None if its study wanted none. DamagedResultError for what is none."""
    path = run_dir / SIZES
    if not path.exists():
        return None
    return from_document(read_json_as(path, SizesDocument, _check))


def _check(document: Mapping[str, Any]) -> None:
    try:
        from_document(document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise WrongShapeError(f"no sizes of code: {error!r}") from error
