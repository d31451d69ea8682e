"""A numeric axis that something is drawn against, with the unit that suits its values; and a mean
over seeds at one of its points.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ffslab.report import data
from ffslab.report.quantity import SPACE, grouped

KIB, MIB = 2**10, 2**20
_SMALL_BYTES = 512  # below it a size is no fraction of a KiB
FILES = "files"  # how many files a case's tree has; no setting, but what settings lead to

_TITLES = {
    "workload.request_bytes": "request size",
    "workload.pause_us": "sleep between requests",
    "state.rate_percent": "fill rate",
    "workload.shift_bytes": "shift of the offsets",
    "workload.target_bytes": "size of the target",
    "workload.partitions": "partitions of the target",
    "workload.increment": "distance between requests (requests)",
    "workload.parallel": "processes",
    "workload.mix_ratio": "mix ratio (requests : 1)",
    "workload.burst": "requests between sleeps",
    "workload.volume_bytes": "volume",
    "workload.file_bytes": "size of the test file",
    "workload.size": "size of a file",
    "workload.files": "files per directory",
    "workload.fsync_every": "writes per sync",
    "workload.interval_us": "sleep between lines",
    "partition_bytes": "partition",
    "ubi_volume_bytes": "UBI volume",
    "cpu_scale": "CPU scale",
    FILES: "size of the tree",
}
# Values that are no number of what the axis counts.
_NAMES: Mapping[str, tuple[tuple[float, str], ...]] = {"workload.fsync_every": ((0.0, "∞"),)}


@dataclass(frozen=True)
class Axis:
    """A numeric axis: a value divided by `scale` is in `unit`.

    `names`: values that are called otherwise than by their number; such an axis is no scale.
    """

    name: str
    title: str
    unit: str
    scale: float
    values: tuple[float, ...]
    names: tuple[tuple[float, str], ...] = ()

    @property
    def heading(self) -> str:
        return f"{self.title} ({self.unit})" if self.unit else self.title

    @property
    def word(self) -> str:
        """The title without what is in brackets, for sentences."""
        return self.title.partition(" (")[0]

    @property
    def logarithmic(self) -> bool:
        """Whether its values span enough, and none is 0 or below."""
        return not self.names and self.values[0] > 0 and self.values[-1] / self.values[0] >= 8

    @property
    def order(self) -> tuple[float, ...]:
        """Its values as they stand beside each other: those that are no number come last."""
        return tuple(sorted(self.values, key=lambda value: bool(self._word_for(value))))

    def number(self, value: float) -> str:
        if word := self._word_for(value):
            return word
        shown = value / self.scale
        return grouped(int(shown)) if shown.is_integer() else f"{shown:.4g}"

    def value_text(self, value: float) -> str:
        """A value with its unit, if it has one."""
        if self._word_for(value):
            return self._word_for(value)
        return f"{self.number(value)}{SPACE}{self.unit}" if self.unit else self.number(value)

    def text(self, value: float) -> str:
        """A value by its word or with its unit, or with the axis's name where it has neither."""
        if self.unit or self._word_for(value):
            return self.value_text(value)
        return f"{self.word} {self.number(value)}"

    def position(self, text: str) -> float:
        """Where a value that has a word of its own stands on the axis."""
        return next(value for value, word in self.names if word == text)

    def _word_for(self, value: float) -> str:
        return dict(self.names).get(value, "")


def axis_of(
    name: str,
    values: Sequence[float],
    title: str = "",
    names: tuple[tuple[float, str], ...] = (),
) -> Axis:
    """An axis with the unit that suits its values; `title` is a workload's own for its key."""
    title = title or _TITLES.get(name, data.axis_name(name))
    top, low = max(values), min((value for value in values if value > 0), default=1)
    unit, scale = ("files" if name == FILES else ""), 1.0
    for end, (small, large, factor) in _UNITS.items():
        if name.endswith(end):
            enough = top >= 1000 and low >= factor / 10 if end == "_us" else low >= factor
            unit, scale = (large, factor) if enough else (small[0], small[1])
            if small[0] == "KiB" and low < _SMALL_BYTES:
                unit, scale = "B", 1.0
            title = title.removesuffix(" ms").removesuffix(" us").removesuffix(" bytes")
    names = names or tuple(pair for pair in _NAMES.get(name, ()) if pair[0] in values)
    return Axis(name, title, unit, scale, tuple(values), names)


def versions_axis(name: str, versions: Iterable[str]) -> Axis:
    """An axis of versions, such as 5.10, at equal distances."""
    ordered = sorted(versions, key=lambda version: [int(part) for part in version.split(".")])
    names = tuple(enumerate(ordered, start=1))
    return axis_of(name, [number for number, _ in names], "version of Linux", names)


# Ending of a name → the small unit with its scale, the large one, and its scale.
_UNITS: dict[str, tuple[tuple[str, float], str, float]] = {
    "_bytes": (("KiB", KIB), "MiB", MIB),
    "_us": (("µs", 1.0), "ms", 1000.0),
    "_ms": (("ms", 1.0), "s", 1000.0),
    "_percent": (("%", 1.0), "%", 1.0),
    "workload.size": (("KiB", KIB), "MiB", MIB),
}
