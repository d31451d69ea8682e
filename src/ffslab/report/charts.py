"""The colours of all charts.

Colour says the file system, always the same one, and never alone: names stand beside the marks.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    "t5": ("#5362a8", "#8f9ddb"),
    "t6": ("#8f9bd0", "#6472b3"),
    "t7": ("#c3cae8", "#444f86"),
    "t8": ("#a06a86", "#c995b0"),
}
_SLOTS = {"jffs2": 0, "ubifs": 1, "yaffs2": 2, "logfs": 3, "squashfs": 4, "erofs": 6}
_COLOURS = 8  # for file systems, then they repeat
_RARE_FIRST = (4, 5, 6, 7, 0, 1, 2, 3)  # colours that no file system or a rare one has come first


def colours_of(filesystems: Sequence[str]) -> dict[str, str]:
    """The colour of each file system by its name in PALETTE: known ones keep theirs in all reports,
    others take the next free one.
    """
    slots = {name: _SLOTS[name] for name in filesystems if name in _SLOTS}
    free = [slot for slot in _RARE_FIRST if slot not in slots.values()]
    others = [name for name in filesystems if name not in slots]
    slots |= {name: free[number % len(free)] for number, name in enumerate(others)}
    return {name: f"c{slot % _COLOURS}" for name, slot in slots.items()}
