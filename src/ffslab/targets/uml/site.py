"""Guests in User-Mode Linux on this computer, from a built lab."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ffslab.lab import ensure_lab
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.model.specs import DEFAULT_VARIANT, MountSetup
from ffslab.targets.target import Opened, Opening, SiteOptions, TargetKind
from ffslab.targets.uml.guests import KIND, UML, LocalTarget, Machine
from ffslab.targets.uml.launch import Guard
from ffslab.targets.uml.scratch import largest_need, scratch_directory

__all__ = ["KIND", "LocalSite", "lab_parts", "site_for"]


@dataclass(frozen=True, slots=True)
class LocalSite:
    """A built lab; guests keep their files in `scratch`, or where there is room for them."""

    lab: LabBuild
    scratch: Path | None = None
    clock_ns: Callable[[], int] = time.monotonic_ns
    machine: Machine = UML
    image_lab: Callable[[], LabBuild] | None = None  # None: the same

    @property
    def kind(self) -> TargetKind:
        """That of the machine."""
        return self.machine.kind

    @property
    def build_id(self) -> str:
        """Names the lab's sources and the programs built from them."""
        return self.lab.build_id

    @property
    def variant_ids(self) -> Mapping[str, str]:
        """The build ids of the other kernels."""
        return self.lab.variant_ids

    @property
    def linux_of(self) -> Mapping[str, str]:
        """What the kernels were built of."""
        return self.lab.linux_of

    def lab_of_images(self) -> LabBuild:
        """The same lab, if guests of the machine can build images."""
        return self.image_lab() if self.image_lab else self.lab

    @contextmanager
    def open(self, opening: Opening) -> Iterator[Opened]:
        """Claims room on the host for as many guests as may run at once."""
        need = largest_need(opening.cases)
        with (
            scratch_directory(need, opening.jobs, opening.run_dir, self.scratch) as scratch,
            Guard() as guard,
        ):
            if scratch.told:
                opening.tell(scratch.told)
            target = LocalTarget(
                self.lab, scratch, self.clock_ns, opening.tell, guard, self.machine
            )
            yield Opened(target, min(scratch.jobs, opening.jobs))


def site_for(cases: Sequence[Case], options: SiteOptions) -> LocalSite:
    """The lab that the cases need, built if it is not in the cache."""
    lab = ensure_lab(kernel_source=options.kernel_source, **lab_parts(cases))
    machine = replace(UML, profiled=True) if options.profile else UML
    return LocalSite(lab, options.scratch, machine=machine)


def lab_parts(cases: Sequence[Case]) -> dict[str, Any]:
    """What `ensure_lab` is to build for the cases: file systems, and kernels beside the default."""
    setups: dict[str, list[MountSetup]] = {DEFAULT_VARIANT: []}
    for case in cases:
        setups.setdefault(case.kernel.variant, []).append(case.filesystem)
    return {"file_systems": setups.pop(DEFAULT_VARIANT), "variants": setups}
