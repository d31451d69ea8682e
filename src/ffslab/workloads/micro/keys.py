"""The settings of a micro-benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from ffslab.model.workload import SIZE, Workload, key
from ffslab.workloads.contents import Contents, compressibility_key, contents_key

Pattern = Literal["sequential-read", "random-read", "sequential-write", "random-write"]


def _reads(values: Mapping[str, Any]) -> bool:
    """Whether a pattern reads: then the file must be there before."""
    return any(values[name].endswith("read") for name in ("pattern", "mix_pattern"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Micro(Workload):
    """Parameters of the micro-benchmark: one stream of requests to one file."""

    kind: str = key("micro", "the workload")
    pattern: Pattern = key("random-write", "one of uFLIP's baselines")
    request_bytes: int = key(4096, "size of each request", form=SIZE)
    volume_bytes: int = key(20 * 2**20, "bytes of all requests together", form=SIZE)
    file_bytes: int = key(0, "size of the test file; 0: the volume", form=SIZE)
    existing: bool = key(
        False,
        "the file exists before; absent: if the pattern reads",
        derived=_reads,
        changes="setting",
    )
    limit: bool = key(True, "cut file and volume to what the file system leaves usable")
    random: Literal["shuffle", "uniform"] = key(
        "shuffle",
        "random order: each place once, or with replacement",
        needs="a random pattern",
        changes="setting",
    )
    shift_bytes: int = key(0, "alignment: added to every offset", form=SIZE, changes="setting")
    target_bytes: int = key(
        0, "locality: requests go to so much of the file; 0: all of it", form=SIZE
    )
    partitions: int = key(
        1,
        "sequential streams, one request of each in turn",
        lowest=1,
        highest=10**6,
        changes="setting",
    )
    increment: int = key(
        1,
        "order: distance of sequential requests, in requests; -1: backwards",
        lowest=-(2**31),
        highest=2**31,
    )
    parallel: int = key(
        1, "processes, each in its own part of the target", lowest=1, highest=64, changes="setting"
    )
    mix_pattern: Pattern | Literal[""] = key("", "second pattern, in the second half of the target")
    mix_ratio: int = key(
        1, "requests of the first for one of these", lowest=1, highest=10**6, needs="a mix_pattern"
    )
    pause_us: int = key(
        0, "sleep after every burst, microseconds", lowest=0, highest=10**9, changes="setting"
    )
    burst: int = key(
        1,
        "requests between two sleeps",
        lowest=1,
        highest=10**9,
        needs="a pause_us above 0",
        changes="setting",
    )
    cache: Literal["drop", "bypass", "keep"] = key(
        "drop",
        "page cache of reads: dropped before, bypassed, or kept",
        needs="a pattern that reads",
        changes="setting",
    )
    fsync_every: int = key(
        0,
        "fsync() after every n-th write; 0: never",
        lowest=0,
        highest=10**9,
        needs="a pattern that writes",
        changes="setting",
    )
    contents: Contents = contents_key(meaning="what is in the test file")
    compressibility_percent: int = compressibility_key()

    @property
    def test_file_bytes(self) -> int:
        """Size of the test file before it is cut to what is available."""
        return self.file_bytes or self.volume_bytes

    def without_idle_keys(self) -> Self:
        """The workload with those keys at their defaults that mean nothing beside the others."""
        default = Micro()
        patterns = [pattern for pattern in (self.pattern, self.mix_pattern) if pattern]
        idle: dict[str, Any] = {}
        if not any(pattern.startswith("random") for pattern in patterns):
            idle["random"] = default.random
        if not any(pattern.endswith("read") for pattern in patterns):
            idle["cache"] = default.cache
        if not any(pattern.endswith("write") for pattern in patterns):
            idle["fsync_every"] = default.fsync_every
        if not self.mix_pattern:
            idle["mix_ratio"] = default.mix_ratio
        if not self.pause_us:
            idle["burst"] = default.burst
        return replace(self, **idle)
