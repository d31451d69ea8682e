"""Skeletons of the files that users write: chips, boards, studies, every key with what it means.

Pure: `ffslab new` writes them. That of a study runs as it is, and that of a chip or board that
extends another is valid as it is. One that extends none states no figure: a skeleton with made-up
figures would be taken for a chip.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ffslab.errors import UsageError
from ffslab.model.figures import (
    BOARD_ROWS,
    BOARD_SPI_ROWS,
    CHIP_ROWS,
    ROWS_OF_KIND,
    FigureRow,
    toml_value,
)
from ffslab.model.inheritance import USERS_ESTIMATE
from ffslab.model.specs import Board, Chip
from ffslab.program import program

_SOURCES = f"""\
# A figure has the unit that its name ends with, and its source:
#   NAME = {{ value = 600_000, source = "data sheet, page 12", estimate = false }}
# estimate = true: neither published nor measured. A value alone, NAME = 600_000, is shown as an
# {USERS_ESTIMATE}."""


def chip_skeleton(name: str, base: Chip | None) -> str:
    """The file of a chip of the user's own; `base`: which it extends."""
    if base is None:
        head = f"""\
title = "{name}"  # one line: maker, part, size
# kind = "nand"  # or "spi-nand", "spi-nor", which have other figures: {program()} schema chip"""
    else:
        head = f'extends = "{base.name}"\ntitle = "{name}, which extends {base.name}"  # one line'
    return _file("chip", name, head, ROWS_OF_KIND[base.kind] if base else CHIP_ROWS, base)


def board_skeleton(name: str, base: Board | None, chip: Chip | None) -> str:
    """The file of a board of the user's own; `chip`: the one on it, else the base's."""
    on_board = chip or (base and base.chip)
    rows = (*BOARD_ROWS, *(BOARD_SPI_ROWS if on_board and on_board.is_on_spi else ()))
    if base is None:
        head = f"""\
title = "{name}"  # one line
chip = "{chip.name if chip else "micron-256m-apf27"}"  # see: {program()} list chips
cpu = "not stated"  # the processor
calibrated = false  # true: measured on the board itself
derivation = "Not stated yet: how the figures of the CPU were found."
"""
    else:
        on_it = f'chip = "{chip.name}"' if chip else f'# chip = "{base.chip.name}"'
        head = f"""\
extends = "{base.name}"
title = "{name}, which extends {base.name}"  # one line
{on_it}  # see: {program()} list chips
# cpu = "{base.cpu}"  # the processor
# derivation = "How the figures of the CPU were found; without it, those of {base.name}."
# With another cpu_mhz, all prices that this file does not state follow from {base.name}'s, as
# derived figures.
"""
    partitions = """
# Partitions in front of the one under test:
# [[partitions]]
# name = "boot"
# size = "8 MiB"
"""
    return _file("board", name, head.rstrip(), rows, base) + partitions


def _file(
    kind: str, name: str, head: str, rows: Sequence[FigureRow], base: Chip | Board | None
) -> str:
    if base is None:
        about = f"# {name}: a {kind} of your own. All figures are required."
        rule = "# Fill in the value behind each =, and take the # in front away."
    else:
        about = f"# {name}: a {kind} of your own. What is not stated here is as in {base.name}."
        rule = (
            f"# These are {base.name}'s values. Change those that differ, without the # in front."
        )
    lines = [_line(row, base) for row in rows]
    return "\n".join(
        [about, _SOURCES, "schema = 1", f'name = "{name}"', head, "", "[figures]", rule, *lines, ""]
    )


def _line(row: FigureRow, base: Chip | Board | None) -> str:
    value = None if base is None else getattr(base, row.name)
    stated = toml_value(value) if row.accepts(value) else ""  # a base of another kind has none
    return f"# {row.name} = {stated}  # {row.described}"


def study_skeleton(name: str, board: str) -> str:
    """The file of a study of the user's own, which runs as it is in a few seconds."""
    return f"""\
# {name}: a study of your own. docs/study-format.md describes every key; to see the cases:
# {program()} run {name} --dry-run
schema = 1
name = "{name}"
title = "{name}"  # one line
description = ""  # what the study asks

[base]  # what all cases share
board = "{board}"  # see: {program()} list boards
partition_bytes = "32 MiB"  # the partition under test; without it: the whole chip
seeds = [1]  # one case for each: other files, other transactions
# cpu_scale = 1.0  # multiplies all CPU costs; 0: the CPU is free

[base.workload]  # FFSMark; the published size is in the comments
number = 500  # files in the pool (5000)
subdirectories = 10  # directories they are spread over (50)
transactions = 500  # after the creation (15000)

[axes]  # lists of values; the cases are their product
filesystem = ["jffs2", "ubifs"]  # see: {program()} list filesystems
state = ["free", "aged"]  # what the flash holds at first; see: {program()} list states
# "options.compression" = ["none", "lzo", "zlib"]
# "board.cpu_mhz" = [200, 400]  # prices of the CPU follow from the board's
# "board.ram_bytes" = ["64 MiB", "128 MiB"]
# "chip.t_prog_ns" = [220_000, 600_000]  # any figure of the chip, instead of its own

# [[exclude]]  # leaves out the cases that match
# filesystem = "jffs2"
# state = "aged"
"""


def study_copy(name: str, text: str, source: str, board: str | None) -> str:
    """A study's text under another name, on another board if one is named.

    UsageError if the board is not stated once in it, as `board = "NAME"`.
    """
    changed = _restated(text, "name", name, source)
    if board is not None:
        changed = _restated(changed, "board", board, source)
    return (
        f"# {name}: a copy of the study {source}, whose title and description it still has.\n"
        + changed
    )


def _restated(text: str, key: str, value: str, source: str) -> str:
    pattern = re.compile(rf'^({key}\s*=\s*)("[^"\n]*"|\'[^\'\n]*\')', re.MULTILINE)
    if key == "name":  # that of the study comes first; parts have names too
        return pattern.sub(rf'\g<1>"{value}"', text, count=1)
    changed, count = pattern.subn(rf'\g<1>"{value}"', text)
    if count != 1:
        raise UsageError(
            f'the study {source} does not state one {key} = "NAME"',
            cause=f"{key} is an axis of it, or stated for each part",
            remedy=f"leave --{key} out, and edit the copy",
        )
    return changed
