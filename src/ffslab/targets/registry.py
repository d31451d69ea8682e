"""The targets that there are: every package of `ffslab.targets`, by its name.

A package has a module `site` with the function `site_for(cases, options)`, which builds or finds
what the guests are made of, and `KIND`. One whose guests run on things that a user describes in a
file also has `kind_for(place)`, the kind of that thing. It may have further modules:
- `packages`: `PACKAGES`, what of Debian it needs on this computer beside the lab; no other imports.
- `shell`: `run_shell`, a guest at the terminal.
- `tools`: a guest that runs programs of this computer for ffslab itself (`ToolMachine`).
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

import ffslab.targets
from ffslab.errors import UsageError
from ffslab.lab.lab_build import LabBuild
from ffslab.lab.packages import DebianPackage
from ffslab.model.case import Case
from ffslab.targets import DEFAULT_TARGET
from ffslab.targets.running import GuestSlot
from ffslab.targets.target import Site, SiteOptions, TargetKind, ToolEnd, ToolGuest


class SiteModule(Protocol):
    """The module `site` of a target's package."""

    KIND: TargetKind

    def site_for(self, cases: Sequence[Case], options: SiteOptions) -> Site:
        """A site where the cases can run; builds what is missing."""
        ...


class ShellModule(Protocol):
    """The module `shell` of a target's package."""

    def run_shell(
        self,
        site: Site,
        case: Case,
        parent: Path,
        program: str,
        image: Path | None,
        commands: BinaryIO | None,
    ) -> int:
        """Boots a guest on this terminal; its exit status, or with `commands` the shell's."""
        ...


class ToolMachine(Protocol):
    """The module `tools` of a target's package."""

    def arguments(self, ram_bytes: int) -> tuple[str, ...]:
        """What a guest is started with: it determines what tools write."""
        ...

    def run(self, guest: ToolGuest, lab: LabBuild, directory: Path, slot: GuestSlot) -> ToolEnd:
        """Runs the guest in `directory`, which exists and is empty; its files are there then.

        Raises InfrastructureError for the host's faults, GuestLostError if it ended the guest.
        """
        ...


def target_names() -> list[str]:
    """The names of all targets; what several share is a package too, without a site."""
    packages = [one.name for one in pkgutil.iter_modules(ffslab.targets.__path__) if one.ispkg]
    prefix = ffslab.targets.__name__
    return sorted(name for name in packages if importlib.util.find_spec(f"{prefix}.{name}.site"))


def target_packages() -> dict[str, tuple[DebianPackage, ...]]:
    """What each target needs of Debian on this computer, beside what the lab is built with."""
    modules = {name: _module(name, "packages") for name in target_names()}
    return {name: module.PACKAGES for name, module in modules.items() if module is not None}


def shell_module(name: str = DEFAULT_TARGET) -> ShellModule:
    """The shells of a target that has them."""
    return cast(ShellModule, _module(name, "shell"))


def tool_machine(name: str = DEFAULT_TARGET) -> ToolMachine:
    """Where programs of this computer run for ffslab itself, the same on each computer."""
    return cast(ToolMachine, _module(name, "tools"))


def _module(name: str, part: str) -> Any:
    """A module of a target's package; None if it has none of that name."""
    full = f"{ffslab.targets.__name__}.{name}.{part}"
    return importlib.import_module(full) if importlib.util.find_spec(full) else None


def site_module(name: str = DEFAULT_TARGET) -> SiteModule:
    """The target called `name`; UsageError if there is none."""
    names = target_names()
    if name not in names:
        raise UsageError(
            f"no target {name!r}",
            cause=f"the targets are: {', '.join(names)}",
            remedy=f"leave it out, which means {DEFAULT_TARGET}",
        )
    return cast(SiteModule, _module(name, "site"))


def target_kind(name: str = DEFAULT_TARGET, place: Path | None = None) -> TargetKind:
    """The kind of a target, of the place that a file describes; UsageError if it has no places."""
    module = site_module(name)
    if place is None:
        return module.KIND
    of_place = getattr(module, "kind_for", None)
    if of_place is None:
        raise UsageError(
            f"target {name} takes no access file",
            cause="--access describes a board, and this target runs on this computer",
            remedy="leave --access out, or --target ssh",
        )
    return cast(TargetKind, of_place(place))
