"""The command that repeats a case: what `--set` and `--case` were, as words for a shell."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ffslab.model.estimates import AS_STATED, ESTIMATE
from ffslab.model.specs import FIRST_REPEAT, PERTURBATION, REPEAT
from ffslab.program import NAME


def reproduce_command(
    study: str,
    overrides: Iterable[tuple[str, Sequence[Any]]],
    case_id: str,
    *,
    catalogs: Iterable[str] = (),
    trace: bool = False,
    target: str = "",
    access: str = "",
    program: str = NAME,
) -> str:
    """The command that runs one case of a study again; `program` is a word for a shell.

    `target` is where, if it is not the default one, `access` the file of a board.
    """
    words = ["run", study, *(["--target", target] if target else [])]
    words += ["--access", access] if access else []
    for directory in catalogs:
        words += ["--catalog", directory]
    for key, values in overrides:
        if key == ESTIMATE and len(values) > 1:
            values = _estimates_in(case_id, values)
        if key == PERTURBATION and len(values) > 1:
            values = _perturbations_in(case_id, values)
        if key == REPEAT:
            own = [number for number in values if f"{REPEAT}{number}" in case_id.split("-")]
            values = [FIRST_REPEAT, *own] if own else []  # of the first --repeats takes care
        if values:
            words += ["--set", set_argument(key, values)]
    words += ["--case", case_id]
    return f"{program} {shlex.join([*words, '--trace'] if trace else words)}"


def other_target(manifest: Mapping[str, Any]) -> str:
    """Where a run's guests ran, if CPU time there is not the model's; else empty."""
    return str(manifest["target"]) if manifest.get("cpu_time") else ""


def _estimates_in(case_id: str, values: Sequence[Any]) -> Sequence[Any]:
    """Of a sensitivity analysis only what this case is of: it has the same id without the rest."""
    words = case_id.split("-")
    changed = [value for value in values if str(value).replace("-", "") in words]
    return [AS_STATED, *changed] if changed else []


def _perturbations_in(case_id: str, values: Sequence[Any]) -> Sequence[Any]:
    """Likewise of a band of builds."""
    words = case_id.split("-")
    own = [number for number in values if f"{PERTURBATION}{number}" in words]
    return [0, *own] if own else []


def set_argument(key: str, values: Sequence[Any]) -> str:
    """The argument of `--set` that `ffslab.cli.parse.parse_set` reads as `key` and `values`."""
    shown = [_toml(value) for value in values]
    return f"{key}={shown[0]}" if len(shown) == 1 else f"{key}=[{', '.join(shown)}]"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    return str(value)
