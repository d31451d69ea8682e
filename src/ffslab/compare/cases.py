"""What a comparison knows of a run: its cases with their figures, and what the manifest says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ffslab.model.canonical import canonical_json
from ffslab.model.specs import DEFAULT_VARIANT, PERTURBATION
from ffslab.results.result import CaseResult
from ffslab.results.schema import Figure, TaskWork
from ffslab.results.shortfall import is_good
from ffslab.workloads.figures import figures_of, tasks_of

SKIPPED = "skip"
SEED = "seed"


@dataclass(frozen=True, slots=True)
class ComparedCase:
    """A result with what a comparison asks for. `figures` are by key.

    `measured`: how much was measured, of how much (None: not known); None for all of it.
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

    @property
    def seed(self) -> str:
        return str(self.spec[SEED])

    @property
    def perturbation(self) -> int:
        """Which harmless change of the guest's layout it has; 0: none."""
        return int(self.spec.get(PERTURBATION, 0))

    @property
    def unperturbed(self) -> str:
        """Its spec without the perturbation, as one text: equal for cases of one band."""
        return canonical_json({k: v for k, v in self.spec.items() if k != PERTURBATION})

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
    a command calls the run.
    """

    name: str
    manifest: Mapping[str, Any]
    cases: tuple[ComparedCase, ...]
    planned: int
    where: str = ""

    @property
    def study(self) -> str:
        return str(self.manifest.get("study", ""))

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


def compared_case(result: CaseResult) -> ComparedCase:
    """A line of results.jsonl as a case to compare."""
    short = result.get("short")
    return ComparedCase(
        id=result["id"],
        spec_hash=result["spec_hash"],
        spec=result["spec"],
        axes=result["axes"],
        outcome=result["outcome"],
        reason=result["reason"],
        is_good=is_good(result),
        figures={figure.key: figure for figure in figures_of(result)},
        tasks=tasks_of(result),
        flash_sha256=result["flash_sha256"],
        measured=(short["measured"], short["asked"]) if short else None,
    )


def split_perturbed(side: Side) -> tuple[tuple[ComparedCase, ...], tuple[ComparedCase, ...]]:
    """The cases to compare, and those that only measure the band of others in the run.

    A perturbed case whose unperturbed one is not there is an ordinary case.
    """
    perturbed = [case for case in side.cases if case.perturbation]
    if not perturbed:
        return side.cases, ()
    known = {case.unperturbed for case in side.cases if not case.perturbation}
    aside = tuple(case for case in perturbed if case.unperturbed in known)
    apart = {case.id for case in aside}
    return tuple(case for case in side.cases if case.id not in apart), aside
