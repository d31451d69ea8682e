"""The bindings of docs/answers/sequences.md."""

from __future__ import annotations

from figure_page import Page, Stated, Table, text
from figure_runs import Command, Quantity

from ffslab.oracle.acts import SETS

RUN = Command("run sequences")
PAIRS = Command("run sequences --set workload.act_set=all --set workload.length=2")
CASES = {
    "JFFS2": "jffs2",
    "UBIFS": "ubifs",
    "YAFFS2": "yaffs2",
    "YAFFS2 segregated": "yaffs2improved",
    "LogFS": "logfs",
}
WALL = Stated("wall time of one machine")


def states(name: str) -> Quantity:
    return RUN.figure(name, "states.gone_through")


def correct(command: Command, name: str) -> Quantity:
    return command.figure(name, "states.gone_through") - command.figure(name, "states.not_correct")


def same(name: str) -> Quantity:
    return RUN.of_case(name, "states seen before", lambda case: case["cuts"]["sequences"]["same"])


def refused(name: str) -> Quantity:
    """How many acts the file system has no such thing for."""
    return PAIRS.of_case(
        name, "acts refused", lambda case: len(case["cuts"]["sequences"]["refused"])
    )


def acts(which: str) -> Quantity:
    """How many acts a set has."""
    return Quantity(f"acts of the set {which}", lambda _runs: len(SETS[which]))


PAGE = Page(
    document="docs/answers/sequences.md",
    commands=(RUN, PAIRS),
    bindings=(
        text("of one to three of {} acts", acts("plain")),
        text("All {} acts in pairs", acts("all")),
        text(
            "then all {} sequences",
            RUN.of_case("jffs2", "sequences", lambda case: case["cuts"]["sequences"]["all"]),
        ),
        Table(
            "| file system | states | with a flash seen before | correct | s | states a second |",
            {
                label: [states(name), same(name), correct(RUN, name), WALL, WALL]
                for label, name in CASES.items()
            },
        ),
        text("two minutes): {} states.", PAIRS.in_all("states.gone_through")),
        text(
            "states. {} are correct",
            PAIRS.in_all("states.gone_through") - PAIRS.in_all("states.not_correct"),
        ),
        text(
            "are left out: {} on JFFS2, {} on LogFS, {} on YAFFS2.",
            *(refused(name) for name in ("jffs2", "logfs", "yaffs2")),
        ),
    ),
    stated={
        "of one to three of": "the study",
        "three renames, two unlinks": "acts of the study",
        "that leaves it half done": "a kind of cut",
        "No sequence of three acts": "the study",
        "on any of the five": "the rows of the table",
        "one core of two": "one machine",
        "two minutes): ": "wall time of two cores",
        "may have both names after a cut on JFFS2 (F-JFFS2-21): four calls": "docs/findings.md",
        "of 24 mistakes that were planted": "tests/lab/test_planted_sequences.py counts them",
        "and three that are not": "the list that it links",
        "**Four acts** are 112,310 sequences": "the number of sequences with workload.length=4",
        "On YAFFS2 all 1,075,556 states": "from a longer run, which the sentence names",
        "`, 940 s of CPU)": "the CPU time of one machine",
    },
    elsewhere={
        "run sequences --set filesystem=yaffs2 --set workload.length=4 --set workload.parts=16 "
        "--set 'workload.part=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]'": (
            "a quarter of an hour on one core; what it gave is stated"
        ),
    },
)
