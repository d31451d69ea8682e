"""What differs between two runs besides their results: builds, versions, settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.compare.cases import Side
from ffslab.compare.pairs import ABSENT, CasePair
from ffslab.model.canonical import canonical_json
from ffslab.model.specs import PERTURBATION, REPEAT

_SHORT = 12  # letters of a hash that tell it from others
_PLAIN = (
    ("ffslab", "version of ffslab"),
    ("study", "study"),
    ("trace", "traced"),
    ("target", "target"),
)


@dataclass(frozen=True, slots=True)
class Circumstance:
    """One thing that differs; `cases`: in how many pairs, 0 where it is of the whole run."""

    name: str
    base: str
    new: str
    cases: int = 0


def circumstances(base: Side, new: Side, pairs: Sequence[CasePair]) -> tuple[Circumstance, ...]:
    """Everything that differs, the whole runs' first; empty if nothing does."""
    return (*_of_manifests(base.manifest, new.manifest), *_of_specs(pairs))


def _of_manifests(base: Mapping[str, Any], new: Mapping[str, Any]) -> list[Circumstance]:
    """Hosts, dates and commands are left out: they change no result."""
    rows = [("build of the lab", _hash(base, "build_id"), _hash(new, "build_id"))]
    rows += [(f"kernel {name}", *builds) for name, builds in _kernels(base, new).items()]
    rows += [(f"Linux of {name}", *words) for name, words in _linux(base, new).items()]
    rows += [(title, _word(base.get(key)), _word(new.get(key))) for key, title in _PLAIN]
    rows += [("catalogs", _listed(base.get("catalogs")), _listed(new.get("catalogs")))]
    rows += [("text of the study", _hash(base, "study_sha256"), _hash(new, "study_sha256"))]
    rows += [("set by the command", _overrides(base), _overrides(new))]
    return [Circumstance(*row) for row in rows if row[1] != row[2]]


def _of_specs(pairs: Sequence[CasePair]) -> list[Circumstance]:
    counts: dict[tuple[str, str, str], int] = {}
    for pair in pairs:
        for difference in pair.differences:
            row = (difference.key, difference.base, difference.new)
            counts[row] = counts.get(row, 0) + 1
    return [Circumstance(*row, cases=count) for row, count in counts.items()]


def _hash(manifest: Mapping[str, Any], key: str) -> str:
    return str(manifest.get(key) or ABSENT)[:_SHORT]


def _kernels(base: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    before, after = base.get("kernels") or {}, new.get("kernels") or {}
    return {
        name: (_hash(before.get(name) or {}, "build_id"), _hash(after.get(name) or {}, "build_id"))
        for name in dict.fromkeys([*before, *after])
    }


def _linux(base: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """What each kernel was built of, where both runs tell it."""
    before, after = base.get("linux") or {}, new.get("linux") or {}
    return {name: (before[name], after[name]) for name in before if name in after}


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value or ABSENT)


def _listed(values: Any) -> str:
    return ", ".join(str(value) for value in values or ()) or "none"


def _overrides(manifest: Mapping[str, Any]) -> str:
    """The settings of `--set`, `--seeds` and the like; versions of cases are none of them."""
    return (
        ", ".join(
            f"{key}={canonical_json(values[0] if len(values) == 1 else list(values))}"
            for key, values in manifest.get("overrides") or ()
            if key not in (PERTURBATION, REPEAT)
        )
        or "nothing"
    )
