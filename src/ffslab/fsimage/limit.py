"""How large a source tree may be: a small archive can be a disk full of zeros.

The bound holds for whatever reads a tree or an archive: `ffslab image`, cases whose state is an
image, and `ffslab mkfs`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ffslab.errors import UsageError
from ffslab.limits import gib_setting
from ffslab.model.units import format_size

LIMIT_VARIABLE = "FFSLAB_SOURCE_TREE_GIB"
_LIMIT_GIB = 2.0


def limit_bytes(environment: Mapping[str, str] | None = None) -> int:
    """How large a source tree may be; UsageError if the variable is no number."""
    return gib_setting(LIMIT_VARIABLE, _LIMIT_GIB, environment)


def too_large(what: str, limit: int, cause: str) -> UsageError:
    """What a tree over the limit is refused with."""
    return UsageError(
        f"the tree is larger than {format_size(limit)}: {what}",
        cause=cause,
        remedy=f"leave it out, or set {LIMIT_VARIABLE} to the GiB that a tree may have "
        f"({_LIMIT_GIB:g} if it is not set)",
    )
