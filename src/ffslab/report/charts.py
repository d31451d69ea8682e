"""What all charts share: their colours, who has which, and where bars are cut.

Colour says the file system, always the same one, and never alone: bars and lines are labelled or
dashed too. Beyond the number of colours, lines of one colour differ in their dashes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ffslab.report import data, svg
from ffslab.report.data import Group

# CSS variable → (light, dark): Okabe and Ito's palette, which colour-blind readers can tell
# apart; the dark values are lighter.
PALETTE: dict[str, tuple[str, str]] = {
    "c0": ("#0b6ab0", "#5aa9e6"),
    "c1": ("#d1590a", "#f0883e"),
    "c2": ("#00906a", "#2fc99d"),
    "c3": ("#b4528f", "#e08cc0"),
    "c4": ("#8a6d00", "#d9b93b"),
    "c5": ("#3d8fb8", "#8fd0f2"),
    "c6": ("#6a51a3", "#b3a0e0"),
    "c7": ("#5b6570", "#a8b0b8"),
    "t0": ("#8fc1b5", "#2f6f66"),
    "t1": ("#2c8577", "#49a798"),
    "t2": ("#0c3f3a", "#a9ded4"),
    "t3": ("#c9ced4", "#4a525b"),
    "t4": ("#c9a24a", "#b8923c"),
}
_SLOTS = {"jffs2": 0, "ubifs": 1, "yaffs2": 2, "logfs": 3, "squashfs": 4, "erofs": 6}
_DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3))


@dataclass(frozen=True)
class Look:
    """Colour slot per file system and dash per set of options, the same in every chart of a
    report.
    """

    slots: Mapping[str, int]
    dashes: Mapping[str, int]

    def colour(self, filesystem: str) -> str:
        return f"c{self.slots.get(filesystem, 0) % svg.SERIES}"

    def dash(self, options: str) -> tuple[int, ...]:
        return _DASHES[self.dashes.get(options, 0) % len(_DASHES)]


def look_for(groups: Sequence[Group]) -> Look:
    """Known file systems keep their colour across reports; others take the next free one."""
    names = list(dict.fromkeys(group.axes.get(data.FILESYSTEM, "") for group in groups))
    slots = {name: _SLOTS[name] for name in names if name in _SLOTS}
    # First the colours that no file system or a rare one has, then those of the others.
    order = (4, 5, 6, 7, 0, 1, 2, 3)
    free = [slot for slot in order if slot not in slots.values()]
    others = [name for name in names if name not in slots]
    slots |= {name: free[number % len(free)] for number, name in enumerate(others)}
    options: dict[str, int] = {}
    per_colour: dict[int, int] = {}
    for group in groups:
        slot = slots[group.axes.get(data.FILESYSTEM, "")]
        key = options_key(group.axes)
        if key not in options:
            options[key] = per_colour.get(slot, 0)
            per_colour[slot] = options[key] + 1
    return Look(slots, options)


def options_key(axes: Mapping[str, str]) -> str:
    """Everything that tells two lines of one file system in one state apart."""
    skipped = (data.STATE, data.SEED)
    return "|".join(f"{k}={v}" for k, v in sorted(axes.items()) if k not in skipped)


_GAP = 3  # times the next smaller bar: what would hide it
CUT_MEANING = "A slanted gap: the bar is longer than drawn, its value stands beside it."


def cut_at(lengths: Sequence[float]) -> float | None:
    """Where bars are cut, so that a few giants do not hide all others; None where there are none.

    Giants are at most a third of the bars, and the smallest of them is several times the next.
    """
    order = sorted((length for length in lengths if length > 0), reverse=True)
    gaps = [
        number
        for number in range(1, len(order) // 3 + 1)
        if order[number - 1] >= _GAP * order[number]
    ]
    return 1.4 * order[gaps[-1]] if gaps else None
