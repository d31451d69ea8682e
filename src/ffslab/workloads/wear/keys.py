"""The settings of wear; the defaults are those of the CELF battery (docs/study-format.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ffslab.model.units import parse_size
from ffslab.model.workload import SIZE, Workload, key
from ffslab.workloads.contents import Contents, compressibility_key, contents_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Wear(Workload):
    """Parameters of the wear: what stays, what is written over and over, when it is noted."""

    kind: str = key("wear", "the workload")
    static_bytes: int = key(53_687_091, "data that stay, 40 % of 128 MiB; 0: none", form=SIZE)
    file_bytes: int = key(50_000_000, "the file that is written over and over", form=SIZE)
    pattern: Literal["rewrite", "append", "overwrite"] = key(
        "rewrite",
        "rewrite: whole, one fsync, deleted; append: an fsync after each write, deleted; "
        "overwrite: pieces at random, an fsync after each",
    )
    unit_bytes: int = key(
        131_072, "bytes of one write(), up to 64 MiB", form=SIZE, changes="setting"
    )
    volumes: str = key(
        "1 GB, 3 GB, 5 GB",
        "written volumes at which the blocks are looked at, rising; the last ends it",
    )
    contents: Contents = contents_key(meaning="what is written, the data that stay included")
    compressibility_percent: int = compressibility_key()
    to_death: bool = key(
        False, "the writing may end by itself, worn out or full: how it ends is what is measured"
    )

    @property
    def volume_bytes(self) -> tuple[int, ...]:
        """The volumes; ValueError for what is no size."""
        return tuple(parse_size(word) for word in self.volumes.split(","))

    @property
    def asked(self) -> int:
        """Bytes to be written in all, without the static data."""
        return self.volume_bytes[-1]
