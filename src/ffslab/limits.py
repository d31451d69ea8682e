"""Sizes that the user may set by a variable of the environment, in GiB."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ffslab.errors import UsageError


def gib_setting(
    variable: str, default_gib: float, environment: Mapping[str, str] | None = None
) -> int:
    """The variable's size in bytes, or the default's; UsageError if it is no number."""
    text = (os.environ if environment is None else environment).get(variable, "")
    try:
        gib = float(text) if text else default_gib
        if not 0 <= gib < 1e6:
            raise ValueError
    except ValueError:
        raise UsageError(
            f"{variable}={text!r} is not a size",
            cause="it is a number of GiB, such as 4 or 0.5",
            remedy=f"unset {variable}, which stands for {default_gib:g}",
        ) from None
    return int(gib * 2**30)
