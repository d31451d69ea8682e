"""A case as a chain of jobs: what its guests do one after the other, as values with a key.

If the flash is to begin with an image, the first job builds that, and the first guest writes it.
Each guest but the first begins with the flash that the one before it left; the last is the case's
own. The key of a job names the flash it leaves: it is a hash of all that the guests' history up to
there depends on. So jobs with equal keys are one job, whichever cases need it, and a flash that was
kept under a key cannot belong to anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ffslab.campaign.images import ImageJob
from ffslab.model.canonical import canonical_json, sha256_hex
from ffslab.model.case import Case
from ffslab.model.specs import FIRST_REPEAT
from ffslab.targets.target import Capabilities, TargetKind
from ffslab.workloads.plans import guest_case, guest_plans
from ffslab.workloads.registry import workloads


@dataclass(frozen=True)
class Job:
    """One guest of a chain.

    `case` is one of the cases that need it: which one makes no difference to a guest before the
    case's own. `history`: what beside plan and image determines what happens in it. `image` is
    built for the first guest, which writes it to the flash.
    """

    case: Case
    plan: str
    history: Mapping[str, Any]
    build_id: str
    before: Job | None = None
    image: ImageJob | None = None

    @cached_property
    def key(self) -> str:
        """Names the flash that the guest leaves."""
        determines: dict[str, Any] = {
            "plan": self.plan,
            **self.history,
            "build_id": self.build_id,
            "image_sha256": "",  # of older keys; left, so that states without an image stay good
        }
        if self.image is not None:
            determines["image"] = self.image.key
        if self.before is not None:
            determines["before"] = self.before.key
        return sha256_hex(canonical_json(determines))

    @property
    def after(self) -> Job | ImageJob | None:
        """What must have been done, and made what the guest begins with."""
        return self.before or self.image


@dataclass(frozen=True)
class Chain:
    """The jobs of a case in order: those that prepare its flash, and its own.

    `in_place`: those before its own where a flash is not kept, but stays where it is: they are done
    for this case alone, right before its own.
    """

    preparing: tuple[Job, ...]
    own: Job
    in_place: tuple[Job, ...] = ()


def chain_of(case: Case, kind: TargetKind, build_id: str, image: ImageJob | None = None) -> Chain:
    """The case's guests on a target of that kind, made of the build called `build_id`."""
    *preparing, own = guest_plans(case, kind.rig)
    untraced = replace(case, trace=False)
    jobs: list[Job] = []
    for plan in preparing:
        before = jobs[-1] if jobs else None
        history = kind.history(untraced)
        jobs.append(
            Job(untraced, plan, history, build_id, before, None if before is not None else image)
        )
    before = jobs[-1] if jobs else None
    last = Job(case, own, kind.history(guest_case(case)), build_id, before)
    if kind.capabilities.flash_in_place:
        return Chain((), last, tuple(jobs))
    return Chain(tuple(jobs), last)


def unsupported(chain: Chain, can: Capabilities) -> str:
    """What a case needs and the target cannot do (a skip's reason), or an empty string."""
    case = chain.own.case
    chip = case.board.chip
    wanted = (
        (chain.preparing and not can.flash_snapshot, "begin with a flash that was prepared"),
        (case.state.kind == "image" and not can.images, "write an image to the flash"),
        (chip.has_faults and not can.fault_injection, "have a chip with faults"),
        (case.trace and not can.trace, "record flash operations"),
        (
            workloads()[case.workload.kind].cuts_power and not can.power_cut,
            "cut the power in the middle of a flash operation",
        ),
        (
            case.repeat != FIRST_REPEAT and can.virtual_time,
            "differ from one repeat to the next, for its time is virtual",
        ),
    )
    missing = [what for lacks, what in wanted if lacks]
    return f"the target cannot {' or '.join(missing)}" if missing else ""


def in_order(chains: Sequence[Chain]) -> Iterator[tuple[Job | ImageJob, Chain | None]]:
    """All jobs, each once, the own ones in the order of their chains, and with these.

    What is prepared for a case begins one prepared flash ahead of the first case that needs it, so
    that no worker waits long. A job comes behind the one whose flash or image it gets.
    """
    distinct = list({c.preparing[-1].key: c for c in chains if c.preparing}.values())
    place = {chain.preparing[-1].key: number for number, chain in enumerate(distinct)}
    begun: set[str] = set()
    ahead = 0
    for chain in chains:
        while chain.preparing and ahead < min(place[chain.preparing[-1].key] + 2, len(distinct)):
            for job in distinct[ahead].preparing:
                for step in (job.image, job):
                    if step is not None and step.key not in begun:
                        begun.add(step.key)
                        yield step, None
            ahead += 1
        yield chain.own, chain
