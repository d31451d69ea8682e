"""Guests of QEMU on this computer, from a lab that is built for ARM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ffslab.lab import ensure_lab
from ffslab.lab.cache import cache_root
from ffslab.lab.packages import ensure_packages
from ffslab.lab.progress import ConsoleProgress
from ffslab.model.case import Case
from ffslab.model.specs import DEFAULT_VARIANT, MountSetup, variant_without_board
from ffslab.targets.qemu.machine import KIND, MACHINE
from ffslab.targets.qemu.packages import PACKAGES
from ffslab.targets.target import SiteOptions
from ffslab.targets.uml.site import LocalSite, lab_parts

__all__ = ["KIND", "site_for"]

VARIANT = "qemu"


def site_for(cases: Sequence[Case], options: SiteOptions) -> LocalSite:
    """The lab for ARM with what the cases need, built if it is not in the cache; and QEMU.

    Its kernels are those of ARMv7, with unaligned access whatever the board has: a case gets the
    kernel that its study or an option names. Images are built by programs of the host, in a lab of
    this computer.
    """
    ensure_packages(PACKAGES, cache_root() / "packages.log", ConsoleProgress())
    parts = lab_parts(cases)
    wanted: dict[str, list[MountSetup]] = {VARIANT: list(parts["file_systems"])}
    for name, setups in parts["variants"].items():
        wanted.setdefault(on_machine(name), []).extend(setups)
    lab = ensure_lab(
        VARIANT,
        kernel_source=options.kernel_source,
        file_systems=wanted.pop(VARIANT),
        variants=wanted,
    )
    built = {VARIANT: replace(lab, variants={}), **lab.variants}
    variants = {name: built[on_machine(name)] for name in parts["variants"]}
    return LocalSite(
        replace(lab, variants=variants),
        options.scratch,
        machine=MACHINE,
        image_lab=partial(ensure_lab, kernel_source=options.kernel_source),
    )


def on_machine(variant: str) -> str:
    """The variant that is built for this machine in the place of a case's."""
    named = variant_without_board(variant)
    return VARIANT if named == DEFAULT_VARIANT else f"{VARIANT}-{named}"
