"""What a comparison knows of a run: its cases with their figures, and what the manifest says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from ffslab.compare.findings import Findings
from ffslab.model.canonical import canonical_json
from ffslab.model.kernels import FLASH_TIME_ONLY
from ffslab.model.specs import DEFAULT_VARIANT, FIRST_REPEAT, PERTURBATION, REPEAT
from ffslab.results.result import CaseResult
from ffslab.results.schema import Figure, TaskWork
from ffslab.results.shortfall import is_good
from ffslab.workloads.deciding import compared_figures
from ffslab.workloads.figures import tasks_of
from ffslab.workloads.limits import missed_of
from ffslab.workloads.results import findings_of

if TYPE_CHECKING:
    from ffslab.model.bounds import Limit
    from ffslab.model.known import Known

SKIPPED = "skip"
SEED = "seed"


@dataclass(frozen=True, slots=True)
class ComparedCase:
    """A result with what a comparison asks for. `figures` are by key, those that decide first.

    `heads`: what stands above the columns of the latter; `in_memory`: which of them are times that
    end before all data are on the flash.
    `measured`: how much was measured, of how much (None: not known); None for all of it. A case
    that failed by its findings has measured all, and is good to be compared.
    """

    id: str
    spec_hash: str
    spec: Mapping[str, Any]
    axes: Mapping[str, Any]
    outcome: str
    reason: str
    is_good: bool
    figures: Mapping[str, Figure]
    tasks: tuple[TaskWork, ...] = ()
    flash_sha256: str | None = None
    measured: tuple[int, int | None] | None = None
    findings: Findings = field(default_factory=dict)
    heads: Mapping[str, str] = field(default_factory=dict)
    in_memory: frozenset[str] = frozenset()
    tallies: frozenset[str] = frozenset()
    kernel: str = ""
    missed: Mapping[str, str] = field(default_factory=dict)

    @property
    def seed(self) -> str:
        return str(self.spec[SEED])

    @property
    def perturbation(self) -> int:
        """Which harmless change of the guest's layout it has; 0: none."""
        return int(self.spec.get(PERTURBATION, 0))

    @property
    def repeat(self) -> int:
        """Which of several runs of the same it is, where time is a real clock's."""
        return int(self.spec.get(REPEAT, FIRST_REPEAT))

    @property
    def is_version(self) -> bool:
        """Whether it is another version of a case: a perturbed layout, or a repeat."""
        return bool(self.perturbation) or self.repeat != FIRST_REPEAT

    @property
    def unperturbed(self) -> str:
        """Its spec without what makes versions, as one text: equal for cases of one band."""
        own = (PERTURBATION, REPEAT)
        return canonical_json({k: v for k, v in self.spec.items() if k not in own})

    @property
    def label(self) -> str:
        """Its id without the seed, which ends it."""
        return self.id.removesuffix(f"-s{self.seed}")

    @property
    def variant(self) -> str:
        """The lab kernel that it ran in."""
        return str((self.spec.get("kernel") or {}).get("variant", DEFAULT_VARIANT))


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: a run, or the cases of a run with one value of an axis.

    `planned`: how many cases it is to have; more than `cases` where it is incomplete. `where`: what
    a command calls the run. `known`: the findings that are accepted there.
    """

    name: str
    manifest: Mapping[str, Any]
    cases: tuple[ComparedCase, ...]
    planned: int
    where: str = ""
    known: tuple[Known, ...] = ()

    @property
    def study(self) -> str:
        return str(self.manifest.get("study", ""))

    @property
    def has_real_clock(self) -> bool:
        """Whether equal specs need not give equal results there."""
        return bool(self.manifest.get("real_clock"))

    def times_code(self, case: ComparedCase) -> bool:
        """Whether code takes time in its kernel, not the flash alone."""
        words = (self.manifest.get("linux") or {}).get(case.variant, "")
        return FLASH_TIME_ONLY not in words

    def build_of(self, case: ComparedCase) -> tuple[str, str, str]:
        """What was built for it: the lab, the kernel if it is not the default one, and the modules
        from sources of their own.
        """
        kernels: Mapping[str, Any] = self.manifest.get("kernels") or {}
        kernel = kernels.get(case.variant) or {}
        modules = (case.spec.get("filesystem") or {}).get("module_source")
        return (
            str(self.manifest.get("build_id", "")),
            str(kernel.get("build_id", "")),
            canonical_json(modules) if modules else "",
        )


def compared_case(
    result: CaseResult, words: Sequence[str] = (), limits: Sequence[Limit] = ()
) -> ComparedCase:
    """A line of results.jsonl as a case to compare; `words`: the figures that decide; `limits`:
    those of its study.
    """
    short = result.get("short")
    findings = findings_of(result)
    figures, chosen = compared_figures(result, words)
    return ComparedCase(
        id=result["id"],
        spec_hash=result["spec_hash"],
        spec=result["spec"],
        axes=result["axes"],
        outcome=result["outcome"],
        reason=result["reason"],
        is_good=is_good(result) or bool(findings),
        figures={figure.key: figure for figure in figures},
        tasks=tasks_of(result),
        flash_sha256=result["flash_sha256"],
        measured=(short["measured"], short["asked"]) if short else None,
        findings=findings,
        heads={criterion.figure.key: criterion.column for criterion in chosen},
        in_memory=frozenset(each.figure.key for each in chosen if each.in_memory),
        missed={each.figure.key: each.text for each in missed_of(result, limits)},
        tallies=frozenset(each.figure.key for each in chosen if each.is_tally),
    )


def split_perturbed(side: Side) -> tuple[tuple[ComparedCase, ...], tuple[ComparedCase, ...]]:
    """The cases to compare, and those that only measure the band of others in the run.

    A version whose case is not there is an ordinary case. One that was repeated has the medians of
    all repeats as its figures, and all of them, the first too, measure its band.
    """
    versions = [case for case in side.cases if case.is_version]
    if not versions:
        return side.cases, ()
    known = {case.unperturbed for case in side.cases if not case.is_version}
    aside = [case for case in versions if case.unperturbed in known]
    apart = {case.id for case in aside}
    repeats: dict[str, list[ComparedCase]] = {}
    for case in aside:
        if case.repeat != FIRST_REPEAT:
            repeats.setdefault(case.unperturbed, []).append(case)
    own = []
    for case in side.cases:
        if case.id in apart:
            continue
        others = repeats.get(case.unperturbed)
        own.append(_of_repeats([case, *others]) if others else case)
        aside += [case] if others else []
    return tuple(own), tuple(aside)


def _of_repeats(repeats: Sequence[ComparedCase]) -> ComparedCase:
    """A case with the medians of its repeats; the first one that failed, if one did."""
    failed = next((case for case in repeats if not case.is_good), None)
    if failed is not None:
        return replace(failed, id=repeats[0].id, spec=repeats[0].spec)
    figures = {
        key: replace(figure, value=median(values))
        for key, figure in repeats[0].figures.items()
        if len(values := [case.figures[key].value for case in repeats if key in case.figures])
        == len(repeats)
    }
    return replace(repeats[0], figures=figures)
