"""Which of a run's results are of the study as it is stated, and which only say how far those hold.

The others change an estimate of the board, measure the band of builds, or repeat a case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ffslab.model.estimates import ESTIMATE
from ffslab.model.specs import PERTURBATION, REPEAT
from ffslab.results.repeats import middles
from ffslab.results.result import CaseResult

_Manifest = Mapping[str, Any]


def as_stated(rows: Iterable[CaseResult], manifest: _Manifest) -> Iterator[CaseResult]:
    """The results whose estimates are as stated and whose layout is not perturbed; of a case that
    was repeated the repeat in the middle.
    """
    changed = {*changed_ids(manifest), *perturbed_ids(manifest)}
    return filter(lambda row: row["id"] not in changed, middles(rows, repeated_ids(manifest)))


def changed_ids(manifest: _Manifest) -> dict[str, str]:
    """The cases with a changed estimate, and the change; none if a run has no others."""
    planned, perturbed = manifest.get("cases") or (), perturbed_ids(manifest)
    changes = {
        str(case["id"]): str(case[ESTIMATE])
        for case in planned
        if case.get(ESTIMATE) and str(case["id"]) not in perturbed
    }
    return changes if len(changes) < len(planned) else {}


def perturbed_ids(manifest: _Manifest) -> frozenset[str]:
    """The cases that only measure the band of builds of others; none if a run has no others."""
    planned = manifest.get("cases") or ()
    perturbed = frozenset(str(case["id"]) for case in planned if case.get(PERTURBATION))
    return perturbed if len(perturbed) < len(planned) else frozenset()


def repeated_ids(manifest: _Manifest) -> frozenset[str]:
    """The cases that repeat others."""
    planned = manifest.get("cases") or ()
    return frozenset(str(case["id"]) for case in planned if case.get(REPEAT))
