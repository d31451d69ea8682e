"""The agent's plans for a case: pure text, as docs/plan-format.md defines it.

The order is the experiment's: load the chip and the monitor, erase the
partition, attach and mount, wait until the file system has formatted it, run
the workload, unmount. Everything between `monitor` and the last snapshot is
counted.

A case whose state is prepared apart has two plans: that of the guest which
prepares the flash and unmounts it, and that of its own guest, which mounts a
copy. `preparation_plan_text` takes nothing from the case but what determines
the state, so that cases which differ in their requests share it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from ffslab.model.specs import Case, Micro, Tree
from ffslab.target.planlines import (
    MOUNT_POINT,
    PARTITION,
    SETTLE_QUIET_MS,
    attach_lines,
    beginning,
    device_lines,
    end_lines,
    format_lines,
    monitor_line,
    plan_of,
    statistics_lines,
    step,
    write_image_line,
)
from ffslab.target.treeplan import tree_plan_text, tree_preparation_plan_text

# After the mount of a prepared flash. Shorter than the pace of YAFFS2's background collector (a
# block in 2 s), which would otherwise undo the state before the workload begins.
MOUNTED_QUIET_MS = 1000
MOUNTED_MAX_MS = 60_000


def plan_text(case: Case) -> str:
    """The plan of the guest that runs `case`'s workload."""
    if isinstance(case.workload, Tree):
        return tree_plan_text(case)
    apart = case.is_prepared_apart
    prepare = [] if apart or case.workload.kind != "micro" else [_prepare_step(case)]
    return plan_of(
        beginning(case, trace=case.trace)
        + (attach_lines(case) if apart else format_lines(case))
        + [
            step("snapshot", label="mounted"),
            # The background formatting of an empty file system is not the workload's cost; nor is
            # the check of all nodes that some make after a mount. A collector that never rests is
            # no failure: the step's end is in the result.
            step("settle", quiet_ms=MOUNTED_QUIET_MS, max_ms=MOUNTED_MAX_MS, may_fail=1)
            if apart
            else step("settle", quiet_ms=SETTLE_QUIET_MS),
            step("snapshot", label="settled"),
            *prepare,
            _workload_step(case),
        ]
        + end_lines(case)
        + statistics_lines()
    )


def preparation_plan_text(case: Case) -> str:
    """The plan of the guest that brings the flash to `case`'s initial state."""
    if isinstance(case.workload, Tree):
        return tree_preparation_plan_text(case)
    return plan_of(
        beginning(case, trace=False)
        + format_lines(case)
        + [
            step("snapshot", label="mounted"),
            step("settle", quiet_ms=SETTLE_QUIET_MS),
            step("snapshot", label="settled"),
            _prepare_step(case),
        ]
        + end_lines(case)
    )


def shell_plan_text(
    case: Case, program: str, path_of: Callable[[str], str], image: str = ""
) -> str:
    """The plan of an interactive shell with the case's file system mounted.

    `path_of` gives the path of a module as the guest sees it; `image` is that of the image which
    the flash gets, empty for a new file system.
    """
    mounted = format_lines(case)
    if image:
        erase = step("erase", mtd=PARTITION)
        mounted = [erase, write_image_line(case, image), *attach_lines(case)]
    return plan_of(
        [
            *device_lines(case, path_of),
            monitor_line(),
            *mounted,
            step("shell", path=program),
        ]
    )


def _prepare_step(case: Case) -> str:
    """What a preparation depends on: the state, and whether there must be a test file."""
    workload, state = case.workload, case.state
    assert isinstance(workload, Micro)
    shares: dict[str, int] = {}
    if state.kind == "aged":
        shares = {
            "valid_percent": state.valid_percent,
            "invalid_percent": state.invalid_percent,
        }
    elif state.kind == "filled":
        whole = state.rate_of_bytes or case.partition_bytes
        shares = {"rate_percent": state.rate_percent, "partition_bytes": whole}
    if workload.existing or state.kind == "filled":
        shares |= {"file_bytes": workload.test_file_bytes, "limit": int(workload.limit)}
    return step(
        "prepare",
        dir=MOUNT_POINT,
        state=state.kind,
        **shares,
        test_file=int(workload.existing),
        seed=case.seed,
    )


def _workload_step(case: Case) -> str:
    keys: dict[str, object] = {
        key: int(value) if isinstance(value, bool) else value
        for key, value in asdict(case.workload).items()
        if key != "kind" and value != ""
    }
    state = case.state
    if isinstance(case.workload, Micro):
        # What a preparation with a test file has made invalid is gone already, but for aged's.
        left = state.kind == "aged" and state.invalid_percent > 0
        fresh = state.kind in ("saturated", "filled") and not case.workload.existing
        keys |= {"remove": int(left or fresh), "settle_ms": state.settle_ms}
    else:
        keys |= {
            "valid_percent": state.valid_percent,
            "invalid_percent": state.invalid_percent,
        }
    return step(case.workload.kind, dir=MOUNT_POINT, **keys, seed=case.seed)
