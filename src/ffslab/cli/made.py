"""Studies that a verb makes of its options: their text, and the choice of their cases."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ffslab.cli.parse import parse_set

if TYPE_CHECKING:
    from ffslab.campaign.study import Choice


def quoted(value: str | list[str]) -> str:
    """As TOML has it."""
    return json.dumps(value, ensure_ascii=False)


def quoted_names(text: str) -> str:
    """A list of names with commas between them, as TOML has it."""
    return quoted([name.strip() for name in text.split(",")])


def made_choice(
    text: str,
    name: str,
    origin: str,
    output: Path,
    settings: Sequence[str] | None,
    catalogs: Sequence[Path] | None,
) -> Choice:
    """The cases of a study with this text, which gets a file beside the runs: another text, another
    file. `origin`: what messages call it.
    """
    from ffslab.campaign.study import Choice
    from ffslab.loader import StudySource, parse_toml
    from ffslab.model.canonical import sha256_hex

    path = output / f"{name}-{sha256_hex(text)[:8]}.toml"
    made = StudySource(path, text, parse_toml(text, origin), is_made=True)
    overrides = tuple(map(parse_set, settings or ()))
    return Choice(str(path), overrides, catalogs=tuple(catalogs or ()), made=made)
