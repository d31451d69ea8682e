"""A kind of fault is a row of the host's, a row and a function of the chip's, and a paragraph."""

from __future__ import annotations

import re
from pathlib import Path

from ffslab.model.specs import NAND, NOR
from ffslab.oracle.faults import (
    ERASE,
    KINDS,
    MARK,
    OPERATIONS,
    PROGRAM,
    USUAL,
    Variants,
    kinds_on,
)

ROOT = Path(__file__).resolve().parents[3]
OF_C = {"ALL": OPERATIONS, "PROGRAMS": {PROGRAM}, "ERASES": {ERASE}, "MARKS": {MARK}}
OF_WORDS = {"all": OPERATIONS, "programs": {PROGRAM}, "erases": {ERASE}, "marks": {MARK}}
FLASH = {"NAND": {NAND}, "NOR": {NOR}, "NAND | NOR": {NAND, NOR}, "both": {NAND, NOR}}
VARIANTS = {"once": Variants.ONE, "prefixes": Variants.COUNTED}


def test_the_chip_has_the_same_kinds() -> None:
    text = (ROOT / "kmod/vnand_crash/cut.c").read_text()
    row = r'^\t\{ "([a-z-]+)",\s*([A-Z |]+),\s*([A-Z |]+),\s*(\w+),\s*\w+ \},$'
    rows = re.findall(row, text, re.MULTILINE)
    found = {
        name: (
            FLASH[flash],
            frozenset().union(*(OF_C[word] for word in cuts.split(" | "))),
            VARIANTS.get(variants, Variants.SEEDS),
        )
        for name, flash, cuts, variants in rows
    }
    assert found == {name: (kind.flash, kind.hits, kind.variants) for name, kind in KINDS.items()}
    assert list(found) == list(KINDS)


def test_the_fault_model_has_each_in_its_table() -> None:
    text = (ROOT / "docs/fault-model.md").read_text()
    rows = re.findall(
        r"^\| `([a-z-]+)`( \*)? \| (\w+) \| ([a-z, ]+) \| .* \| (1|counted|seeds) \|$",
        text,
        re.MULTILINE,
    )
    found = {
        name: (
            FLASH[flash],
            frozenset().union(*(OF_WORDS[word] for word in cuts.split(", "))),
            variants,
            bool(star),
        )
        for name, star, flash, cuts, variants in rows
    }
    words = {Variants.ONE: "1", Variants.COUNTED: "counted", Variants.SEEDS: "seeds"}
    assert found == {
        name: (kind.flash, kind.hits, words[kind.variants], kind.on_request)
        for name, kind in KINDS.items()
    }


def test_each_technology_has_its_own_and_what_is_common() -> None:
    common = set(kinds_on([NAND])) & set(kinds_on([NOR]))
    assert common == {"lost", "done", "torn-prefix", "torn-bits"}
    assert kinds_on([NAND, NOR]) == USUAL and kinds_on([NAND, NOR], KINDS) == tuple(KINDS)
    assert kinds_on([NOR], ["weak-bits", "paired", "lost"]) == ("weak-bits", "lost")
