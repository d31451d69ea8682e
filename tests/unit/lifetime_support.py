"""Worlds in which blocks wear out, so that a forecast has a known outcome; and runs of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from host_support import begun_run
from result_support import stub

from ffslab.campaign.run import prepare
from ffslab.lifetime.growth import Checkpoint
from ffslab.model.canonical import canonical_json
from ffslab.model.case import Case, case_spec
from ffslab.results.result import CaseResult
from ffslab.results.rundir import RESULTS

BYTES = 1000  # of one erase

WEAR_STUDY = """
schema = 1
name = "worn"
title = "Worn"
[base]
board = "celf-mips"
partition_bytes = "8 MiB"
[base.workload]
kind = "wear"
static_bytes = "2 MB"
file_bytes = "1 MB"
volumes = "1 MB, 2 MB"
[axes]
filesystem = ["jffs2", "ubifs"]
"""


def looks(rates: Sequence[float], times: int, step: float = 10.0) -> list[Checkpoint]:
    """Blocks that are each erased at their own rate, looked at every `step` erases of the mean."""
    mean = sum(rates) / len(rates)
    found = []
    for number in range(1, times + 1):
        erases = tuple(round(number * step * rate / mean) for rate in rates)
        found.append(Checkpoint(sum(erases) * BYTES, erases))
    return found


class Swaps:
    """Some blocks hold data that stay, the others are erased in turn. With each erase there is a
    chance that the data which stay in one block move to the one that was just erased.
    """

    def __init__(self, blocks: int, still: int, chance: float, limits: Sequence[int]) -> None:
        self.erases = [0] * blocks
        self.still = list(range(still))
        self.turn = list(range(still, blocks))
        self.chance, self.limits = chance, limits
        self.dead: list[int] = []  # the erases in all at each death
        self.total = 0
        self.rng = random.Random(7)

    def erase(self) -> None:
        """The next block in turn; a worn-out one is left out from then on."""
        block = self.turn.pop(0)
        if self.erases[block] >= self.limits[block]:
            self.dead.append(self.total)
            return
        self.erases[block] += 1
        self.total += 1
        if self.still and self.rng.random() < self.chance:
            place = self.rng.randrange(len(self.still))
            block, self.still[place] = self.still[place], block
        self.turn.append(block)

    def look(self) -> Checkpoint:
        """The blocks as they are."""
        return Checkpoint(self.total * BYTES, tuple(self.erases))


def write_wear_run(
    folder: Path, of_case: Callable[[Case], dict[str, Any]], study: str = WEAR_STUDY
) -> Path:
    """A run of a study, in which each case has these keys."""
    folder.mkdir(parents=True)
    path = folder.parent / f"{folder.name}.toml"
    path.write_text(study)
    prepared = prepare(str(path))
    run = begun_run(folder, prepared)
    (run.path / RESULTS).write_text(
        "".join(canonical_json(wear_result(case, of_case(case))) + "\n" for case in prepared.cases)
    )
    return folder


def wear_result(case: Case, keys: dict[str, Any]) -> dict[str, Any]:
    """A result of a case that passed, with these keys."""
    return stub(
        CaseResult,
        **{
            "schema": 1,
            "id": case.id,
            "spec": case_spec(case),
            "spec_hash": case.spec_hash,
            "axes": dict(case.axes),
            "outcome": "pass",
            "space": [{**_space("write:start"), "available_bytes": 5_308_416}],
            "flash": [],
            **keys,
        },
    )


def _space(label: str) -> dict[str, Any]:
    names = ("total_bytes", "free_bytes", "files", "files_free")
    return {
        "label": label,
        **dict.fromkeys(names, 0),
        "page_cache_bytes": 0,
        "mem_free_bytes": 0,
    }


def wear_key(checkpoints: Sequence[Checkpoint], **keys: Any) -> dict[str, Any]:
    """The key `wear` of a result with these checkpoints."""
    volumes = [
        {
            "written_bytes": one.written_bytes,
            "time_ns": 1,
            "inside": {
                "blocks": len(one.erases),
                "erased": 1,
                "mean": one.wear,
                "std": 0.0,
                "min": min(one.erases),
                "max": max(one.erases),
            },
            "outside": None,
            "write_amplification": 1.0,
            "static_moved": None,
            "static_leveling": None,
            "global_leveling": None,
            "erases": list(one.erases),
        }
        for one in checkpoints
    ]
    whole = {
        "asked": 10**12,
        "written": checkpoints[-1].written_bytes,
        "files": 1,
        "stopped": "",
        "first_block": 0,
        "static_blocks": [],
        "volumes": volumes,
        "grown": None,
    }
    return {**whole, **keys}
