"""The settings of workload `cuts`: a history of calls, and which power cuts are made in it.

By default the chip takes no time and the CPU is free: a file system that survives a cut does so
whatever the time, and states are gone through ten times as fast. With timing `board` both take the
board's times, and what a recovery costs is measured in time, too.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from ffslab.model.workload import Workload, key
from ffslab.oracle.acts import BEGINNINGS, SETS
from ffslab.oracle.faults import KINDS, USUAL

SERIES = "series"  # instead of a history: one cut after the other on one flash
SEQUENCES = "sequences"  # instead of one history: all short ones
CALLS = "calls"  # a history of one's own
FILLED = 24  # filling costs hundreds of times what all else of a state costs
FULL, MOUNT = "full", "mount"
NO_TIME, BOARD_TIME = "none", "board"
FAIL, TELL = "fail", "tell"
# What a series does beside writing files: guest/cutter/series/acts.h has what each is.
ACTS = ("moves", "over-emptied", "drop-caches", "turn-over")
# The keys of one kind of history each, and those that all have; the others are of the rest.
_OF_SERIES = ("cuts", "space_every", "acts")
_OF_SEQUENCES = ("act_set", "beginning", "length", "part", "parts")
_OF_ALL = ("kind", "history", "kinds", "timing", "findings")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts(Workload):
    """Which power cuts are made, and of what."""

    kind: str = key("cuts", "the workload")
    history: str = key(
        "update-by-rename",
        "the calls in which power is cut; `calls`: your own; `sequences`: all short sequences of "
        "them; `series`: many cuts of one flash",
    )
    parameters: str = key(
        "",
        'parameters of the history that are not its usual ones: `"files=250 transactions=750"`',
        needs="a history of ffslab's",
    )
    calls: str = key(
        "",
        'your own calls, one a line: `"""mkdir d\\nwrite d/f 0 3000 #\\nsync\\nrename d e"""`',
        needs='history = "calls"',
    )
    kinds: str = key("", 'kinds of cut, `"lost torn-bits"`, or empty: all usual ones of the chip')
    variants: int = key(
        1,
        "variants of each kind that a seed decides, for each operation",
        needs="a history, or sequences",
        lowest=1,
        highest=10**9,
    )
    sample: int = key(
        0,
        "so many states are drawn with the seed; 0: all",
        needs="a history",
        lowest=0,
        highest=10**9,
    )
    recovery_sample: int = key(
        0,
        "so many states whose recovery is cut as well, at every operation of it",
        needs="a history",
        lowest=0,
        highest=10**9,
    )
    fill_sample: int = key(
        FILLED,
        "so many states are filled until they are full",
        needs="check = full",
        lowest=0,
        highest=10**9,
    )
    random_sample: int = key(
        0,
        "so many of the states are counted once more, as cuts at random",
        needs="a history",
        lowest=0,
        highest=10**9,
    )
    act_set: str = key(
        "plain",
        f"which set of acts: {', '.join(SETS)}",
        needs='history = "sequences"',
        pattern=f"^({'|'.join(SETS)})$",
    )
    beginning: str = key(
        "new",
        f"the flash that they begin on: {', '.join(BEGINNINGS)}",
        needs='history = "sequences"',
        pattern=f"^({'|'.join(BEGINNINGS)})$",
    )
    length: int = key(
        2,
        "so many acts are in the longest",
        needs='history = "sequences"',
        lowest=1,
        highest=8,
    )
    part: int = key(
        1,
        "of so many parts of them this one is gone through, from 1",
        needs='history = "sequences"',
        lowest=1,
        highest=10**6,
    )
    parts: int = key(
        1,
        "so many parts of like size there are",
        needs='history = "sequences"',
        lowest=1,
        highest=10**6,
    )
    check: str = key(
        FULL,
        "`full`: mounted, looked at, used, mounted again; `mount`: mounted, looked at",
        needs="a history, or sequences",
        pattern=f"^({FULL}|{MOUNT})$",
    )
    cuts: int = key(
        20_000,
        "of a series: how many cuts follow each other",
        needs='history = "series"',
        lowest=1,
        highest=10**9,
    )
    space_every: int = key(
        1000,
        "of a series: after so many cuts the flash is filled once; 0: never",
        needs='history = "series"',
        lowest=0,
        highest=10**9,
    )
    acts: str = key(
        "",
        'of a series: what is done beside writing files, `"moves drop-caches"`; '
        f"there are {', '.join(f'`{act}`' for act in ACTS)}",
        needs='history = "series"',
        pattern="^({0}( {0})*)?$".format(f"({'|'.join(ACTS)})"),
    )
    paired_distance_pages: int = key(
        0, "pages that share cells lie so far apart; 0: they share none", lowest=0, highest=10**9
    )
    timing: str = key(
        NO_TIME,
        "`none`: chip and CPU take no time; `board`: the board's",
        pattern=f"^({NO_TIME}|{BOARD_TIME})$",
        changes="setting",
    )
    findings: str = key(
        FAIL,
        "a state that is not correct makes the case `fail`; `tell`: it is counted",
        pattern=f"^({FAIL}|{TELL})$",
        changes="setting",
    )

    @property
    def is_series(self) -> bool:
        """Whether cuts follow each other on one flash."""
        return self.history == SERIES

    @property
    def is_sequences(self) -> bool:
        """Whether it is all short sequences of acts."""
        return self.history == SEQUENCES

    @property
    def is_calls(self) -> bool:
        """Whether the history is the user's own."""
        return self.history == CALLS

    @property
    def is_timed(self) -> bool:
        """Whether chip and CPU take the board's times."""
        return self.timing == BOARD_TIME

    @property
    def settings(self) -> Mapping[str, int]:
        """The parameters by name; ValueError for what is no such text."""
        settings = {}
        for word in self.parameters.split():
            name, equals, value = word.partition("=")
            if not equals or not value.isdecimal():
                raise ValueError(f"{word!r} is not NAME=NUMBER")
            settings[name] = int(value)
        return settings

    @property
    def cut_kinds(self) -> tuple[str, ...]:
        """The kinds of cut by name, all usual ones of this workload where none is stated."""
        named = tuple(self.kinds.split())
        if named:
            return named
        return tuple(name for name in USUAL if KINDS[name].in_a_row or not self.is_series)

    @property
    def reordered_kinds(self) -> tuple[str, ...]:
        """Those of its kinds after which a later call of a page may be there without an earlier."""
        return tuple(name for name in self.cut_kinds if KINDS[name].first.reordered)

    @property
    def told(self) -> Hashable:
        """All: what guests go through is decided by what those before them found."""
        return tuple(self.spec.items())

    def without_idle_keys(self) -> Self:
        """A series has no history, a history no series; a mount alone fills nothing."""
        usual = type(self)().spec
        if self.is_series:
            own: tuple[str, ...] = _OF_SERIES
        elif self.is_sequences:
            own = (*_OF_SEQUENCES, "variants", "check", "paired_distance_pages")
        else:
            others = (*_OF_SERIES, *_OF_SEQUENCES, "parameters" if self.is_calls else "calls")
            own = tuple(name for name in usual if name not in others)
            if self.check == MOUNT:
                own = tuple(name for name in own if name != "fill_sample")
        idle = [name for name in usual if name not in (*_OF_ALL, *own)]
        return replace(self, **{name: usual[name] for name in idle})
