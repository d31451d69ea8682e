"""The lab kernel that a case runs in: its variant, and the switches of variant `period`.

`kernel = "sockets"` has Unix sockets and a loopback network, for programs, `"fixed"` the changes of
kernel/fixes. `"5.10"`, `"6.12"` and `"7.3"` are those versions of Linux; `"6.1"` is what cases run
in anyway. `"7.3-sockets"` is that kernel of that version, and `"7.3-fixed"`: the fixes are for the
usual version and for that.

Variants `fastmap` and `ubi-wear` are those of options of the file system, and not named in a study;
they are of the version that it names.
`kernel = "period"` has all switches on, `"period:none"` none, `"period:NAME+NAME"` those named;
`period.NAME = true` or `false` then changes a single one. docs/study-format.md says what each
does; kernel/period has the patches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ffslab.documents import document
from ffslab.errors import SpecError
from ffslab.model.names import suggestion
from ffslab.model.specs import (
    DEFAULT_VARIANT,
    LabKernel,
    OptionValue,
    variant_of_version,
    version_and_kind,
)

KERNEL = "kernel"
PERIOD = "period"
SOCKETS = "sockets"
FIXED = "fixed"
USUAL_VERSION = "6.1"
VERSIONS = ("5.10", "6.12", "7.3")  # further ones, variants of the lab kernel
OF_FIXES = ("7.3",)  # those of VERSIONS that the patches of kernel/fixes are for as well
_OF_VERSIONS = (
    *(variant_of_version(version, SOCKETS) for version in VERSIONS),
    *(variant_of_version(version, FIXED) for version in OF_FIXES),
)
# A parameter of the period kernel each (include/linux/period.h in kernel/period): true does as
# kernels of 2009 to 2011 did.
SWITCHES = (
    "jffs2_no_summary",
    "jffs2_write_super",
    "lzo_no_skip",
    "ubi_reserve",
    "dirty_limits",
    "flush_ticks",
    "flush_by_age",
)
_NONE = "none"
# What is said of a kernel without the CPU model, where what was built is told.
FLASH_TIME_ONLY = "flash time only: no CPU model"


def lab_kernel(settings: Mapping[str, Any], where: str) -> LabKernel:
    """The kernel of a complete set of settings; SpecError says which one is wrong."""
    named = str(settings.get(KERNEL, DEFAULT_VARIANT))
    variant, _, listed = named.partition(":")
    single = {
        key.removeprefix(f"{PERIOD}."): value
        for key, value in settings.items()
        if key.startswith(f"{PERIOD}.")
    }
    if named in (DEFAULT_VARIANT, USUAL_VERSION):
        _check_no_switch(single, where)
        return LabKernel()
    if named in (SOCKETS, FIXED, *VERSIONS, *_OF_VERSIONS):
        _check_no_switch(single, where)
        return LabKernel(named)
    if variant != PERIOD or named == f"{PERIOD}:":
        raise SpecError(
            f"{where}: cases have no kernel {named!r}"
            f"{suggestion(named, (DEFAULT_VARIANT, SOCKETS, FIXED, PERIOD))}",
            cause=f"{_why(settings[KERNEL])}; valid: {DEFAULT_VARIANT}, {USUAL_VERSION}, "
            f"{', '.join(VERSIONS)}, {SOCKETS}, {FIXED}, {', '.join(_OF_VERSIONS)}, {PERIOD}, "
            f"{PERIOD}:{_NONE}, or {PERIOD}: with switches joined by +",
            remedy=f"see “The period kernel” in {document('docs/study-format.md')}",
        )
    on = _named_switches(listed, where)
    for name, value in single.items():
        if not isinstance(value, bool):
            raise SpecError(f"{where}: {PERIOD}.{name} must be true or false, not {value!r}")
    return LabKernel(PERIOD, tuple((name, single.get(name, name in on)) for name in SWITCHES))


def _why(named: object) -> str:
    """Why there is no such kernel."""
    return "a version without quotes" if isinstance(named, float) else "a misspelt name"


def kernel_of_options(kernel: LabKernel, values: Iterable[OptionValue], where: str) -> LabKernel:
    """The kernel that the file system's options need, of the version that the study names, if they
    need one; else `kernel`.

    SpecError if the study names another kind of kernel, or two options need different ones.
    """
    all_needed = list(dict.fromkeys(value.kernel for value in values if value.kernel))
    if not all_needed:
        return kernel
    needed = all_needed[0]
    if len(all_needed) > 1:
        raise SpecError(
            f"{where}: options of the file system need the lab kernels {' and '.join(all_needed)}",
            cause="a kernel is built with the one or the other",
            remedy="leave out one of the options",
        )
    version, kind = version_and_kind(kernel.variant)
    if kind != DEFAULT_VARIANT:
        raise SpecError(
            f"{where}: an option of the file system needs the lab kernel {needed}, and the case is "
            f"to run in {kernel.variant}",
            cause="a kernel is built with the one or the other",
            remedy=f"leave out one of the two: the option, or {KERNEL}, which may be a version",
        )
    return LabKernel(variant_of_version(version, needed) if version else needed)


def _check_no_switch(single: Mapping[str, Any], where: str) -> None:
    for name in single:
        raise SpecError(
            f"{where}: {PERIOD}.{name} is a switch of the period kernel, and the case does not "
            "run in it",
            cause="kernel is not set to it",
            remedy=f'kernel = "{PERIOD}", or --set kernel={PERIOD}',
        )


def _named_switches(listed: str, where: str) -> tuple[str, ...]:
    if listed in ("", _NONE):
        return () if listed else SWITCHES
    names = tuple(listed.split("+"))
    for name in names:
        if name not in SWITCHES:
            raise SpecError(
                f"{where}: the period kernel has no switch {name!r}{suggestion(name, SWITCHES)}",
                cause=f"a misspelt name; valid: {', '.join(SWITCHES)}",
                remedy=f"see “The period kernel” in {document('docs/study-format.md')}",
            )
    return names


def kernel_words(spec: Mapping[str, Any]) -> str:
    """The kernel that a case's spec names, with the switches that are on, for a reader."""
    kernel = spec.get(KERNEL)
    if kernel is None:
        return DEFAULT_VARIANT
    if not kernel["switches"]:
        return str(kernel["variant"])
    on = [name for name, value in kernel["switches"].items() if value]
    if len(on) == len(kernel["switches"]):
        return f"{kernel['variant']} (all switches on)"
    return f"{kernel['variant']} ({', '.join(on) if on else 'all switches off'})"
