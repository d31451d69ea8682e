"""What a guest is made of: the built kernel, its modules and the agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LabBuild:
    """The result of building the laboratory.

    `modules` maps a module's name (vnand, flashmon, nandsim, …) to its file;
    `build_id` names the sources and the configuration it was built from.
    """

    kernel: Path
    modules: Mapping[str, Path]
    agent: Path
    build_id: str
