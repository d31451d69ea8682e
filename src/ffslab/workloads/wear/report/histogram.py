"""How many blocks were erased how often, drawn by hand as the map beside it is."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

BINS = 40
_WIDTH, _HEIGHT, _FOOT = 400, 90, 16


def bins_of(erases: Sequence[int]) -> tuple[int, tuple[int, ...]]:
    """The width of a bin, a whole number, and how many blocks are in each, from 0 erases on."""
    width = max(erases, default=0) // BINS + 1
    counts = [0] * (max(erases, default=0) // width + 1)
    for count in erases:
        counts[count // width] += 1
    return width, tuple(counts)


def histogram(erases: Sequence[int], label: str, identifier: str) -> str:
    """Inline SVG: a bar per bin, its height the number of blocks."""
    width, counts = bins_of(erases)
    highest, step = max(counts), _WIDTH / len(counts)
    bars = "".join(
        f"M{number * step:.1f} {_HEIGHT}v-{count / highest * (_HEIGHT - 12):.1f}"
        f"h{step * 0.9:.1f}V{_HEIGHT}z"
        for number, count in enumerate(counts)
        if count
    )
    top = width * len(counts) - 1
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT + _FOOT}" style="max-width:{_WIDTH}px" role="img" '
        f'aria-labelledby="{identifier}-title"><title id="{identifier}-title">{escape(label)}'
        f'</title><path d="{bars}" style="fill:var(--muted)"/>'
        f'<g style="fill:currentColor;font-size:11px"><text x="0" y="{_HEIGHT + 13}">0</text>'
        f'<text x="{_WIDTH}" y="{_HEIGHT + 13}" text-anchor="end">{top} erases</text>'
        f'<text x="{_WIDTH}" y="10" text-anchor="end">up to {highest} blocks</text></g></svg>'
    )
