"""Sizes that the user may set by a variable of the environment, in GiB or MiB."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ffslab.errors import UsageError


def gib_setting(
    variable: str, default_gib: float, environment: Mapping[str, str] | None = None
) -> int:
    """The variable's size in bytes, or the default's; UsageError if it is no number."""
    return _setting(variable, default_gib, "GiB", 2**30, environment)


def mib_setting(
    variable: str, default_mib: float, environment: Mapping[str, str] | None = None
) -> int:
    """The same for a variable in MiB."""
    return _setting(variable, default_mib, "MiB", 2**20, environment)


def _setting(
    variable: str,
    default: float,
    unit: str,
    unit_bytes: int,
    environment: Mapping[str, str] | None,
) -> int:
    text = (os.environ if environment is None else environment).get(variable, "")
    try:
        size = float(text) if text else default
        if not 0 <= size < 1e6:
            raise ValueError
    except ValueError:
        raise UsageError(
            f"{variable}={text!r} is not a size",
            cause=f"it is a number of {unit}, such as 4 or 0.5",
            remedy=f"unset {variable}, which stands for {default:g}",
        ) from None
    return int(size * unit_bytes)
