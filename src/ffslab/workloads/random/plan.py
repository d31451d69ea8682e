"""The plan of random: one guest, with a new file system.

The step mounts the file system again by itself, so it is told how. Of a stack of several (an
overlay) it is not: there caches are dropped instead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ffslab.model.case import Case
from ffslab.protocol.plan import parse_step, step
from ffslab.workloads.plans import measuring_plan
from ffslab.workloads.random.keys import Random
from ffslab.workloads.rig import Rig

CALLS = "/calls"  # a file of the guest: the calls to be executed
_MOUNT_KEYS = ("type", "source", "options", "flags")


def guest_plans(case: Case, rig: Rig) -> tuple[str, ...]:
    """The plan of the one guest."""
    return (measuring_plan(case, rig, [random_line(case, rig)], prepared=False),)


def telling_plan(case: Case, rig: Rig) -> str:
    """Of a guest that tells the calls of the case, and makes none."""
    return measuring_plan(case, rig, [random_line(case, rig, tell=1)], prepared=False)


def calling_plan(case: Case, rig: Rig) -> str:
    """Of a guest that makes the calls of its file `CALLS`."""
    return measuring_plan(case, rig, [random_line(case, rig, calls=CALLS)], prepared=False)


def shorter_plan(case: Case, rig: Rig, kept: Collection[int], count: int) -> str:
    """Of a guest that makes the calls of the case with these numbers, of so many, from 0. With all
    of them it is the case's own plan.
    """
    without = ",".join(f"{first}-{last}" for first, last in _gaps(sorted(kept), count))
    further = {"without": without} if without else {}
    return measuring_plan(case, rig, [random_line(case, rig, **further)], prepared=False)


def _gaps(kept: Sequence[int], count: int) -> Iterator[tuple[int, int]]:
    for before, after in zip((-1, *kept), (*kept, count), strict=True):
        if after - before > 1:
            yield before + 1, after - 1


def random_of(case: Case) -> Random:
    """The workload of a case of this kind."""
    workload = case.workload
    assert isinstance(workload, Random)
    return workload


def random_line(case: Case, rig: Rig, **further: object) -> str:
    """The agent's step."""
    workload = random_of(case)
    chip = case.board.chip
    return step(
        "random",
        dir=rig.directory,
        **_mount_keys(case, rig),
        rounds=workload.rounds,
        operations=workload.operations,
        after=workload.after,
        shape=workload.shape,
        bytes=workload.most_bytes(case.partition_bytes),
        fills=workload.fills,
        turn_over_bytes=case.partition_bytes if workload.turn_over else 0,
        chunk=4096 if chip.is_nor else chip.page_bytes,
        xattrs=workload.xattrs,
        over_emptied=int(workload.over_emptied),
        times=int(workload.times),
        **further,
        seed=case.seed,
    )


def _mount_keys(case: Case, rig: Rig) -> dict[str, str]:
    """How the rig mounts the file system, if one mount is all there is to it."""
    mounts = [keys for verb, keys in map(parse_step, rig.mount(case)) if verb.startswith("mount")]
    if len(mounts) != 1 or mounts[0].get("target", rig.directory) != rig.directory:
        return {}
    return {name: mounts[0][name] for name in _MOUNT_KEYS if name in mounts[0]}
