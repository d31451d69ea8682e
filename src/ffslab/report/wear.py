"""Wear as a map: one cell per erase block, shaded by its erase count, the same scale in every map
of a report.

Drawn by hand rather than by Vega: a path per shade instead of an element per block keeps a map of
1,000 blocks within a few kilobytes. Shades are ordered by lightness, so the map reads without
colour vision and in grey print.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

# From no wear to most, (light theme, dark theme): lightness falls (rises, in dark) steadily, hue
# from yellow to blue.
RAMP: tuple[tuple[str, str], ...] = (
    ("#f3f3ef", "#1d2226"),
    ("#f7de94", "#2b2f55"),
    ("#c5dd90", "#3a3f7d"),
    ("#8fcbaa", "#3f5a98"),
    ("#5cb7bb", "#3b7ba8"),
    ("#3795bd", "#3f9dae"),
    ("#3070b0", "#63bfa5"),
    ("#30489a", "#a9db98"),
    ("#231a63", "#f4f3a8"),
)
SHADES = len(RAMP)
COLUMNS = 50
CELL = 8


@dataclass(frozen=True)
class Wear:
    """The erase counts of one case's partition, summarised."""

    erases: tuple[int, ...]

    @property
    def low(self) -> int:
        return min(self.erases)

    @property
    def high(self) -> int:
        return max(self.erases)

    @property
    def mean(self) -> float:
        return statistics.fmean(self.erases)

    @property
    def deviation(self) -> float:
        """Population standard deviation: the partition's blocks are all there are."""
        return statistics.pstdev(self.erases)


@dataclass(frozen=True)
class Scale:
    """Shade k holds the erase counts bounds[k] ≤ n < bounds[k + 1]; the first shade is reserved
    for 0.
    """

    bounds: tuple[int, ...]

    def shade(self, erases: int) -> int:
        return sum(1 for bound in self.bounds[1:] if erases >= bound)

    def paint(self, shade: int) -> int:
        """The page's colour step (0 to SHADES - 1) for a shade: few shades are spread over the
        whole ramp.
        """
        return round(shade * (SHADES - 1) / max(len(self.bounds) - 1, 1))

    def labels(self) -> tuple[str, ...]:
        """What each shade stands for, for the legend."""
        texts = []
        for low, following in zip(self.bounds, (*self.bounds[1:], None), strict=True):
            if following is None:
                texts.append(f"≥ {low}")
            elif following - low == 1:
                texts.append(f"{low}")
            else:
                texts.append(f"{low}–{following - 1}")
        return tuple(texts)


def common_scale(maps: Sequence[Sequence[int]]) -> Scale:
    """At most SHADES shades over all maps: one per count when they suffice, else growing by a
    factor, so that one map with heavy wear leaves differences in the others to be seen.
    """
    high = max((max(erases) for erases in maps if erases), default=0)
    if high < SHADES:
        return Scale(tuple(range(high + 1)))
    growth = high ** (1 / (SHADES - 1))
    bounds = [0, 1]
    for step in range(1, SHADES - 1):
        bounds.append(max(bounds[-1] + 1, round(growth**step)))
    return Scale(tuple(bounds))


def draw(erases: Sequence[int], scale: Scale, label: str, identifier: str) -> str:
    """The map as inline SVG, block 0 at the top left, rows of COLUMNS blocks."""
    paths: dict[int, list[str]] = {}
    for row_start in range(0, len(erases), COLUMNS):
        row = [scale.shade(count) for count in erases[row_start : row_start + COLUMNS]]
        y = row_start // COLUMNS
        start = 0
        for column in range(1, len(row) + 1):
            if column == len(row) or row[column] != row[start]:
                paths.setdefault(row[start], []).append(
                    f"M{start} {y}h{column - start}v1h-{column - start}z"
                )
                start = column
    rows = -(-len(erases) // COLUMNS)
    columns = min(COLUMNS, len(erases))
    drawn = "".join(
        f'<path class="w{scale.paint(shade)}" d="{"".join(parts)}"/>'
        for shade, parts in sorted(paths.items())
    )
    grid = "".join(f"M{x} 0v{rows}" for x in range(1, columns)) + "".join(
        f"M0 {y}h{columns}" for y in range(1, rows)
    )
    return (
        f'<svg class="wear" viewBox="0 0 {columns} {rows}" style="max-width:{COLUMNS * CELL}px" '
        'role="img" '
        f'aria-labelledby="{identifier}-title"><title '
        f'id="{identifier}-title">{escape(label)}</title>{drawn}'
        f'<path class="weargrid" d="{grid}"/></svg>'
    )
