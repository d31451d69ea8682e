"""Guests of QEMU on this computer, from a lab that is built for ARM."""

from __future__ import annotations

from collections.abc import Sequence

from ffslab.kernel import ensure_lab
from ffslab.kernel.cache import cache_root
from ffslab.kernel.packages import QEMU_PACKAGES, ensure_packages
from ffslab.kernel.progress import ConsoleProgress
from ffslab.model.case import Case
from ffslab.targets.qemu.machine import KIND, MACHINE
from ffslab.targets.target import SiteOptions
from ffslab.targets.uml.site import LocalSite

__all__ = ["KIND", "site_for"]

VARIANT = "qemu"


def site_for(cases: Sequence[Case], options: SiteOptions) -> LocalSite:
    """The lab for ARM with what the cases need, built if it is not in the cache; and QEMU."""
    ensure_packages(QEMU_PACKAGES, cache_root() / "packages.log", ConsoleProgress())
    setups = [case.filesystem for case in cases if case.kernel.is_default]
    lab = ensure_lab(VARIANT, kernel_source=options.kernel_source, file_systems=setups)
    return LocalSite(lab, options.scratch, machine=MACHINE)
