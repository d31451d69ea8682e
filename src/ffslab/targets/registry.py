"""The targets that there are: every package of `ffslab.targets`, by its name.

A package has a module `site` with the function `site_for(cases, options)`, which builds or finds
what the guests are made of, and `KIND`. One whose guests run on things that a user describes in a
file also has `kind_for(place)`, the kind of that thing.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, cast

import ffslab.targets
from ffslab.errors import UsageError
from ffslab.model.case import Case
from ffslab.targets.target import Site, SiteOptions, TargetKind

DEFAULT_TARGET = "uml"


class SiteModule(Protocol):
    """The module `site` of a target's package."""

    KIND: TargetKind

    def site_for(self, cases: Sequence[Case], options: SiteOptions) -> Site:
        """A site where the cases can run; builds what is missing."""
        ...


def target_names() -> list[str]:
    """The names of all targets."""
    modules = pkgutil.iter_modules(ffslab.targets.__path__)
    return sorted(module.name for module in modules if module.ispkg)


def site_module(name: str = DEFAULT_TARGET) -> SiteModule:
    """The target called `name`; UsageError if there is none."""
    names = target_names()
    if name not in names:
        raise UsageError(
            f"no target {name!r}",
            cause=f"the targets are: {', '.join(names)}",
            remedy=f"leave it out, which means {DEFAULT_TARGET}",
        )
    return cast(SiteModule, importlib.import_module(f"{ffslab.targets.__name__}.{name}.site"))


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
