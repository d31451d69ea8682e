"""The bindings of docs/cut-results.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from figure_page import Page, Stated, Table, text
from figure_runs import Command, Quantity, Runs, said

from ffslab.workloads.cuts.outcomes import CORRECT, OUTCOMES

RANDOM = Command("run power-loss")
ROW = Command("run cuts-in-a-row")
MOVES = Command("run directories-in-a-row")
NOR = Command("run nor-cuts")
NOR_ROW = Command("run nor-in-a-row")
OVERLAY = Command("run overlay-cuts")
ALL = {"JFFS2": "jffs2", "UBIFS": "ubifs", "YAFFS2": "yaffs2", "LogFS": "logfs"}
EARLIER = "a run of an earlier build, looked into by hand"
FIXED = "runs of half an hour in kernel `fixed`, JFFS2's before fix 0020 of UBIFS"
LONG = Stated("a run of an hour, of an earlier build")
SPACE_FITS = 1  # columns of the rows of a series
MB = 1e6


def outcomes(cases: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """States of all cases by outcome."""
    counts: Counter[str] = Counter()
    for case in cases:
        for of_kind in case["cuts"]["counts"].values():
            counts.update(of_kind)
    return counts


def words(counts: Counter[str]) -> str:
    """What is not correct, the most first."""
    order = list(OUTCOMES)
    wrong = [(count, word) for word, count in counts.items() if word != CORRECT]
    wrong.sort(key=lambda pair: (-pair[0], order.index(pair[1])))
    return ", ".join(f"{count:,} {word}" for count, word in wrong)


def operations(command: Command, name: str) -> Quantity:
    return command.of_case(name, "operations", lambda case: case["cuts"]["operations"])


def states(command: Command, name: str) -> Quantity:
    return command.figure(name, "states.gone_through")


def correct(command: Command, name: str) -> Quantity:
    return states(command, name) - command.figure(name, "states.not_correct")


def wrong(command: Command, name: str) -> Quantity:
    told = f"{name}: outcomes but correct"
    return said(told, lambda runs: words(outcomes([runs.case(command, name)])))


def of_cases(
    command: Command, prefix: str, told: str, of: Callable[[Counter[str]], float]
) -> Quantity:
    """What a function makes of the outcomes of all cases whose ids contain `prefix`."""

    def made(cases: Mapping[str, Any]) -> float:
        return of(outcomes(case for name, case in cases.items() if prefix in name))

    return command.of_run(f"{prefix}: {told}", made)


def all_wrong(command: Command, prefix: str) -> Quantity:
    def made(runs: Runs) -> str:
        cases = runs.cases(command)
        return words(outcomes(case for name, case in cases.items() if prefix in name))

    return said(f"{prefix}: outcomes but correct", made)


def states_of(command: Command, prefix: str) -> Quantity:
    return of_cases(command, prefix, "states", lambda counts: counts.total())


def correct_of(command: Command, prefix: str) -> Quantity:
    return of_cases(command, prefix, "correct", lambda counts: counts[CORRECT])


def at_random(name: str) -> Quantity:
    return RANDOM.of_case(name, "random", lambda case: case["cuts"]["random"].get(CORRECT, 0))


def fits(name: str, which: Callable[[list[int]], int]) -> Quantity:
    """Of what fits, in MB: at first, at least, at last."""

    def of(case: Mapping[str, Any]) -> float:
        return which([row[SPACE_FITS] for row in case["cuts"]["series"]["space"]]) / MB

    return ROW.of_case(name, "what fits, MB", of)


def mount_reads(name: str) -> list[Quantity]:
    """Pages that a mount after a cut reads: the mean, the most."""

    def rows(case: Mapping[str, Any]) -> list[list[int]]:
        recovery = case["cuts"]["series"]["recovery"]
        return [row for kind, row in recovery.items() if kind != "none"]

    def mean(case: Mapping[str, Any]) -> float:
        return sum(row[1] for row in rows(case)) / sum(row[0] for row in rows(case))

    def most(case: Mapping[str, Any]) -> int:
        return max(row[4] for row in rows(case))

    return [
        ROW.of_case(name, "pages a mount reads, mean", mean),
        ROW.of_case(name, "pages a mount reads, most", most),
    ]


def row_cells(name: str) -> list[Any]:
    which = [
        fits(name, function) for function in (lambda all_: all_[0], min, lambda all_: all_[-1])
    ]
    wrong_states = ROW.figure(name, "states.not_correct")
    return [operations(ROW, name), correct(ROW, name), wrong_states, which, mount_reads(name)]


def moves_id(name: str) -> str:
    emptied = "" if name == "jffs2" else "overemptied"
    return f"{name}-moves{emptied}dropcachesturnover"


def move_cells(name: str) -> list[Any]:
    case = moves_id(name)
    return [operations(MOVES, case), correct(MOVES, case), wrong(MOVES, case)]


def nor_cells(prefix: str) -> list[Any]:
    return [states_of(NOR, prefix), correct_of(NOR, prefix), all_wrong(NOR, prefix)]


PAGE = Page(
    document="docs/cut-results.md",
    commands=(RANDOM, ROW, MOVES, NOR, NOR_ROW, OVERLAY),
    elsewhere={"run power-loss-long": "an hour: its rows are of an earlier build"},
    bindings=(
        Table(
            "| file system | operations | correct of 100 at random | states | correct | else |",
            {
                label: [
                    *(operations(RANDOM, name), at_random(name), states(RANDOM, name)),
                    *(correct(RANDOM, name), wrong(RANDOM, name)),
                ]
                for label, name in ALL.items()
            },
        ),
        Table(
            "| file system | operations | correct | not | fits at first, least, at last, MB | "
            "pages a mount reads: mean, most |",
            {
                label: row_cells(name)
                for label, name in (*ALL.items(), ("YAFFS2 segregated", "yaffs2improved"))
            },
        ),
        text("JFFS2's are {*}. YAFFS2", wrong(ROW, "jffs2")),
        Table(
            "| file system | operations of 1,000 cuts | correct | else |",
            {
                "JFFS2, not over emptied ones" if name == "jffs2" else label: move_cells(name)
                for label, name in ALL.items()
            },
        ),
        Table(
            "| 100,000 cuts | operations | correct | else | fits at first, least, at last, MB | "
            "a mount reads: mean, most |",
            {label: [LONG] * 5 for label in ALL},
        ),
        Table(
            "| file system | sectors | partition | states | correct | else |",
            {
                ("JFFS2", "64 KiB", "512 KiB"): nor_cells("licheepi-jffs2"),
                ("JFFS2", "4 KiB", "512 KiB"): nor_cells("licheepi4k-jffs2"),
                ("UBIFS", "64 KiB", "1.5 MiB"): nor_cells("licheepi-ubifs"),
            },
        ),
        Table(
            "| SquashFS below | states | correct | else |",
            {
                label: [
                    states_of(OVERLAY, f"overlay{name}"),
                    correct_of(OVERLAY, f"overlay{name}"),
                    all_wrong(OVERLAY, f"overlay{name}"),
                ]
                for label, name in (("JFFS2", "jffs2"), ("UBIFS", "ubifs"))
            },
        ),
        text(
            "UBIFS are correct; on 4 KiB JFFS2 has {*}. Nothing leaks",
            wrong(NOR_ROW, "v3slicheepi4k-jffs2-part1mib"),
        ),
        text(
            "All {} are `torn-bits`",
            of_cases(
                NOR, "licheepi-ubifs", "wrong", lambda counts: counts.total() - counts[CORRECT]
            ),
        ),
    ),
    stated={
        "(six minutes): 250 files and 750 transactions as in FFSMark": "the study",
        "the board of CELF 2009": "a publication",
        "partition of 256 MiB": "the study",
        "100 cuts at random as in": "the study",
        "(four minutes): 20,000 cuts on one flash of 16 MiB": "the study",
        "UBIFS fits half as much since UBI keeps 20 of 1,024 blocks": "UBI's default",
        "26 of 128 segments": "docs/logfs-format.md",
        "(three minutes): 1,000 cuts on one flash of 8 MiB, with 33 times": "the study",
        "JFFS2's two are one file": "its row",
        "older contents after cut 421 and the newer ones again after cut 425": EARLIER,
        "holds half a megabyte here, and three times of that": "the study",
        "hung 7 times in 300 cuts (F-JFFS2-08, 16 MiB": EARLIER,
        "100,000 cuts in a row on a flash of 16 MiB": "the study",
        "42,203 use-fails, 42 corrupt-contents, 13 name-kept, 13 stale-data, 2 wrong-kind, 1 "
        "unreadable. Of the use-fails 42,181 are one: from 57,796 on": EARLIER,
        "from 50,228 on": EARLIER,
        "60 of 100,000 cuts were not correct. At 56,000 the flash": EARLIER,
        "Two causes": EARLIER,
        "UBIFS: 7 mount-fails, three of which": EARLIER,
        "99,990 of JFFS2's states are correct, and 99,998 of UBIFS's": FIXED,
        "has 7 names": FIXED,
        "and 2 unreadable": FIXED,
        "and 1 use that fails": FIXED,
        "UBIFS's two are": FIXED,
        "eight minutes": "wall time of one core",
        "seven minutes": "wall time of one core",
        "(four minutes): eight histories": "the study",
        "reach into two units": "UBIFS's format",
        "sectors of 15 KiB": "UBIFS's least block",
        "16 of 49 such cuts": "the table of docs/power-cuts.md, which a test has",
        "In 4,000 cuts in a row": "the study",
        "sectors of 64 KiB and UBIFS are correct; on 4 KiB": "the study",
        "(two minutes): three histories on eight MiB": "the study",
    },
)
