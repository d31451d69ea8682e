"""The lab: kernel, modules and agent, built on the user's machine and cached.

`ensure_lab` returns a complete lab and builds what is missing. Everything in this
package runs on Debian's bare Python: the launcher needs parts of it before the
virtual environment exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from ffslab.lab.lab_build import LabBuild
    from ffslab.lab.progress import Progress
    from ffslab.model.specs import Filesystem, MountSetup


def ensure_lab(
    variant: str = "default",
    progress: Progress | None = None,
    *,
    kernel_source: Path | None = None,
    force: bool = False,
    file_systems: Iterable[Filesystem | MountSetup] = (),
    variants: Mapping[str, Iterable[Filesystem | MountSetup]] | None = None,
) -> LabBuild:
    """A complete lab, built if it is not in the cache; see `ffslab.lab.lab.ensure_lab`."""
    from ffslab.lab import lab

    return lab.ensure_lab(
        variant,
        progress,
        kernel_source=kernel_source,
        force=force,
        file_systems=file_systems,
        variants=variants,
    )
