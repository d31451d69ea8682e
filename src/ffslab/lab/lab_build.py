"""What a guest is made of: the built kernel, its modules and the agent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ffslab.model.specs import DEFAULT_VARIANT, LabKernel, MountSetup


@dataclass(frozen=True, slots=True)
class LabBuild:
    """The result of building the laboratory.

    `modules` maps a module's name (vnand, flashmon, nandsim, …) to its file;
    `agent` is what most guests begin with; beside it are the agents with a further workload;
    `cutter` is ffscrash, which cuts the power; only the guests that do so have it, and it is no
    part of `build_id`;
    `out_of_tree` has those that users brought, by the key of their sources;
    `build_id` names the sources and the configuration the lab itself was built from, and the
    programs that the host's tools made of them;
    `linux` says what the kernel was built of: version, source, patches;
    `variants` are labs of other variants of the kernel.
    """

    kernel: Path
    modules: Mapping[str, Path]
    agent: Path
    build_id: str
    cutter: Path
    out_of_tree: Mapping[str, Mapping[str, Path]] = field(default_factory=dict)
    linux: str = ""
    variants: Mapping[str, LabBuild] = field(default_factory=dict)

    def for_kernel(self, kernel: LabKernel) -> LabBuild | None:
        """The lab whose guests run in that kernel; None if it was not built."""
        return self if kernel.is_default else self.variants.get(kernel.variant)

    @property
    def variant_ids(self) -> dict[str, str]:
        """The build ids of the other variants."""
        return {name: lab.build_id for name, lab in self.variants.items()}

    @property
    def linux_of(self) -> dict[str, str]:
        """What each variant's kernel was built of, where that is known."""
        told = {DEFAULT_VARIANT: self.linux, **{name: v.linux for name, v in self.variants.items()}}
        return {name: words for name, words in told.items() if words}

    def agent_for(self, plan: str) -> Path:
        """The agent that has the verbs of a plan: `ffsagent-NAME` for NAME and NAME-SOMETHING."""
        for agent in sorted(self.agent.parent.glob(f"{self.agent.name}-*")):
            name = agent.name.split("-", 1)[1].replace("_", "-")
            if re.search(rf"^{name}(-\S*)?( |$)", plan, re.MULTILINE):
                return agent
        return self.agent

    def modules_for(self, setup: MountSetup) -> Mapping[str, Path]:
        """The modules that a guest with this file system can load.

        Those of its own sources take the place of the lab's of the same name.
        """
        if setup.module_source is None:
            return self.modules
        return {**self.modules, **self.out_of_tree.get(setup.module_source.key, {})}
