"""What the guests of a case are told: equal for two cases only if their histories are.

The plans, the kernel's arguments, the chip's file, the modules and the image are all that reaches a
guest. Keys that the agent is told but does not look at are left out, so that a setting which
changes nothing can be found (`ffslab.model.effects`).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from ffslab.model.specs import Case, Micro
from ffslab.model.workloads import without_idle_keys
from ffslab.target.flashfile import flash_file_bytes
from ffslab.target.plantext import plan_text, preparation_plan_text
from ffslab.target.uml import BATCH_CONSOLE, kernel_arguments


def guest_inputs(case: Case) -> Hashable:
    """All that determines what happens in the case's guests, but the lab's build."""
    if isinstance(case.workload, Micro):
        case = replace(case, workload=without_idle_keys(case.workload))
    setup = case.filesystem
    source = setup.module_source
    return (
        plan_text(case),
        preparation_plan_text(case) if case.is_prepared_apart else "",
        kernel_arguments(case, BATCH_CONSOLE),
        flash_file_bytes(case.board.chip),
        (source.directory, source.key) if source else None,
        _image(case) if case.state.kind == "image" else None,
    )


def _image(case: Case) -> Hashable:
    """What the image is built from and how; the chip's geometry is in the plan."""
    setup = case.filesystem
    state = case.state
    return (
        (state.tree, state.tree_sha256),
        setup.image,
        setup.image_options,
        (setup.ubi_volume_type, setup.jffs2_summaries),
    )
