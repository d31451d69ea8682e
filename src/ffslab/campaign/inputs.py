"""What the guests of a case are told: equal for two cases only if their histories are.

The plans, what else the target says determines a guest's history, the modules and the image are all
that reaches a guest. Keys that the agent is told but does not look at are left out, so that a
setting which changes nothing can be found (`ffslab.model.effects`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace

from ffslab.model.canonical import canonical_json
from ffslab.model.case import Case
from ffslab.targets.target import TargetKind
from ffslab.workloads.plans import guest_case, guest_plans


def guest_inputs(kind: TargetKind) -> Callable[[Case], Hashable]:
    """All that determines what happens in a case's guests there, but what they are made of."""

    def inputs(case: Case) -> Hashable:
        case = replace(case, workload=case.workload.without_idle_keys())
        own = guest_case(case)
        source = case.filesystem.module_source
        return (
            guest_plans(case, kind.rig),
            canonical_json(kind.history(own)),
            (source.directory, source.key) if source else None,
            _image(case) if case.state.kind == "image" else None,
            case.workload.told,
        )

    return inputs


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
