"""How a run ended: what its cases came to, what was known beforehand, what missed a limit.

`ffslab run` ends by it, pages and the terminal tell it, and the manifest keeps it in short for
lists of runs, which read no results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ffslab.model.known import Known
from ffslab.results.missed import Missed
from ffslab.results.result import CaseHead, CaseResult, head_of
from ffslab.results.rundir import Judged, RunDirectory
from ffslab.results.shortfall import is_good
from ffslab.results.stated import as_stated
from ffslab.workloads.accepted import Accepted, Finding, accepted
from ffslab.workloads.limits import Judge, limits_of
from ffslab.workloads.results import findings_of, kernel_of, known_of, results_of


@dataclass(frozen=True)
class Ended:
    """All cases of a run, what it found wrong, and what was known of that beforehand.

    `missed`: what is beyond a limit of the study; `unused` tells the limits of no figure.
    """

    heads: tuple[CaseHead, ...]
    accepted: Accepted = field(default_factory=Accepted)
    missed: tuple[Missed, ...] = ()
    unused: tuple[str, ...] = ()
    known: tuple[Known, ...] = ()

    def is_good(self, *, is_whole: bool) -> bool:
        """Whether `ffslab run` ends with 0. A part of a study may lack what a limit is about; all
        of it (`is_whole`) must have it.
        """
        if self.missed or (self.unused and is_whole):
            return False
        return all(is_good(head) or head["id"] in self.accepted.cases for head in self.heads)

    def judged(self, *, is_whole: bool) -> Judged:
        """What a manifest keeps of it."""
        known = (head["outcome"] for head in self.heads if head["id"] in self.accepted.cases)
        return {
            "known": dict(Counter(known)),
            "missed": len({miss.case for miss in self.missed}),
            "unused": len(self.unused),
            "good": self.is_good(is_whole=is_whole),
        }


class RunJudge:
    """Judges a run while its results are read, one after the other."""

    def __init__(self, run: RunDirectory, manifest: Mapping[str, Any]) -> None:
        self._run, self._manifest = run, manifest
        self._heads: list[CaseHead] = []
        self._findings: list[tuple[str, Finding]] = []
        self._limits = Judge(limits_of(manifest))

    def stated(self) -> Iterator[CaseResult]:
        """The run's results that are as the study states them; all have been judged at its end."""
        return map(self._limits.take, as_stated(self._noted(), self._manifest))

    def _noted(self) -> Iterator[CaseResult]:
        for result in results_of(self._run, self._manifest):
            self._heads.append(head_of(result))
            self._findings += ((result["id"], each) for each in findings_of(result).values())
            yield result

    @property
    def ended(self) -> Ended:
        """How the run ended, as far as its results have been read."""
        entries = known_of(self._run, self._manifest)
        dated = {case for case, _ in self._findings} if any(each.until for each in entries) else ()
        kernels = {case: kernel_of(self._run, case) for case in dated}
        failed = [head["id"] for head in self._heads if not is_good(head)]
        told = accepted(self._findings, failed, entries, kernels)
        missed, unused = tuple(self._limits.missed), tuple(self._limits.unused)
        return Ended(tuple(self._heads), told, missed, unused, entries)


def ended_of(run: RunDirectory, manifest: Mapping[str, Any], heads: tuple[CaseHead, ...]) -> Ended:
    """How a run ended; without limits and known findings no result is read again."""
    if not limits_of(manifest) and not manifest.get("known"):
        return Ended(heads)
    judge = RunJudge(run, manifest)
    for _ in judge.stated():
        pass
    return judge.ended
