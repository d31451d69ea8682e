"""Where ffslab's own data and the user's results are.

Data (catalog, studies, kernel configuration) is in the package's `data` directory
when ffslab was installed from a wheel, and at the root of the repository in a checkout.
"""

from __future__ import annotations

import os
from pathlib import Path

from ffslab.errors import InfrastructureError

CATALOG_KINDS = ("chips", "boards", "filesystems", "states")


def data_dir(name: str) -> Path:
    """The directory of packaged data called `name`, e.g. "catalog".

    Raises InfrastructureError if neither the package nor a checkout has it.
    """
    package = Path(__file__).resolve().parent
    candidates = (package / "data" / name, package.parent.parent / name)
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    raise InfrastructureError(
        f"ffslab's data directory {name!r} is missing "
        f"(looked at {', '.join(str(path) for path in candidates)})",
        cause="an incomplete installation",
        remedy="pip install --force-reinstall ffslab, or run ./ffslab from a checkout",
    )


def cache_dir() -> Path:
    """Where ffslab keeps what it can make again: $XDG_CACHE_HOME or ~/.cache, `ffslab` in it."""
    configured = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(configured) if configured else Path.home() / ".cache"
    return base / "ffslab"


def user_catalog() -> Path:
    """Where the user's own chips, boards, studies … are found: `ffslab` in $XDG_CONFIG_HOME.

    That is ~/.config unless the variable has an absolute path, as its specification says.
    """
    configured = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return (configured if configured.is_absolute() else Path.home() / ".config") / "ffslab"


def has_user_catalog() -> bool:
    """Whether the user keeps something of the catalog's kinds."""
    return any((user_catalog() / kind).is_dir() for kind in CATALOG_KINDS)
