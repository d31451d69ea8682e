"""The whole advice from results: what is decided, what is told beside it, and its JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_advise_limits import alone, log
from test_advise_needs import CATALOG, MIB
from test_advise_ranking import (
    FASTMAP,
    JFFS2,
    PLAIN,
    TIME,
    UBIFS,
    YAFFS2,
    YEARS,
    order_of,
    values,
)
from test_advise_values import booted, step

from ffslab.advise.advice import (
    Advice,
    _other_size,
    advice_of,
    document,
    notes_of,
    of_run,
)
from ffslab.advise.candidates import Candidate, candidates
from ffslab.advise.needs import Needs
from ffslab.advise.probes import POWER, POWER_HISTORIES, probes
from ffslab.advise.ranking import RULE, Cell, Judged
from ffslab.advise.readings import Reading, Value

FAILED = Value(None, "panic", failed=True)


def of_order(order: tuple[Judged, ...], missing: int = 0) -> Advice:
    """An advice with nothing but an order."""
    return Advice(
        needs=alone(),
        asked=(TIME,),
        order=order,
        changes=(),
        compression=(),
        missing=missing,
        cases=7,
        notes=(),
    )


def test_nothing_is_decided_before_all_cases_have_run() -> None:
    order = order_of((UBIFS, values(0.5, 20)), (JFFS2, values(0.6, 5)))
    met = "ubifs meets all 2 needs; first of 2 candidates."
    assert of_order(order).conclusion == met
    said = f"Not decided: 3 of 7 cases have not been run. So far: {met}"
    assert of_order(order, 3).conclusion == said
    assert of_run(of_order(order), Path("runs/a")).run == str(Path("runs/a"))
    assert of_order(order).run == ""


def test_the_best_is_told_with_the_best_of_another_file_system() -> None:
    same = values(0.5, 20)
    ubifs, fastmap, plain = (UBIFS, values(0.2, 90)), (FASTMAP, values(0.3, 80)), (PLAIN, same)
    order = order_of(ubifs, fastmap, plain, (JFFS2, values(0.7, 15)), (YAFFS2, values(0.8, 12)))
    titles = [one.candidate.title for one in order]
    assert titles == ["ubifs", "ubifs, uncompressed", "jffs2", "yaffs2", "ubifs, fastmap"]
    assert of_order(order).told == ((1, order[0]), (3, order[2]))
    order = order_of(ubifs, plain, fastmap)
    assert of_order(order).told == ((1, order[0]), (2, order[1]))
    order = order_of(ubifs)
    assert of_order(order).told == ((1, order[0]),)


def test_a_reason_is_told_once_with_all_who_failed_for_it() -> None:
    full = {"boot": Value(None, "full", failed=True), "space": Value(1e9)}
    order = order_of(
        (UBIFS, {"boot": FAILED, "space": FAILED}),
        (JFFS2, full),
        (FASTMAP, {**full, "boot": FAILED}),
    )
    assert of_order(order).failures == ("jffs2: full", "ubifs, fastmap; ubifs: panic")


# From results.


def small(**changes: Any) -> Needs:
    """A boot of 1 s, of UBIFS and YAFFS2 and their compressors."""
    asked: dict[str, Any] = {
        "power_cuts": False,
        "limits": {"boot_s": 1.0},
        "consider": {"filesystems": ["ubifs", "yaffs2"], "options": ["compression"]},
    }
    return alone(**{**asked, **changes})


def result(part: str, boot_ms: int, tree_bytes: int = 0) -> Any:
    steps = [step("mount-2", boot_ms - 1, 7), step("list", 1, 7)]
    image = {"flash_bytes": 1, "tree_bytes": tree_bytes}
    return booted(axes={"part": part}, tree={"steps": steps, "memory": []}, image=image)


def advice_from(needs: Needs, results: Iterable[Any]) -> Advice:
    chosen = candidates(needs, CATALOG)
    return advice_of(needs, CATALOG, chosen, probes(needs, chosen, CATALOG), results)


def test_an_advice_is_made_of_all_results() -> None:
    """Without compression UBIFS takes twice as long; nothing is known of zstd."""
    found = advice_from(
        small(),
        [
            result("boot.yaffs2", 200),
            result("boot.ubifs", 400),
            result("boot.ubifs.compression.none", 800),
            result("boot.ubifs.compression.zlib", 500),
        ],
    )
    assert (found.missing, found.cases) == (1, 5)
    assert [one.candidate.title for one in found.order] == [
        *("yaffs2", "ubifs", "ubifs, zlib", "ubifs, uncompressed", "ubifs, zstd")
    ]
    assert [need.key for need in found.asked] == ["boot"]
    assert found.changes[-1].text == (
        "only what Linux contains (consider.mainline): ubifs comes first"
    )
    assert found.compression == (
        "ubifs: worth it, figures ×2.00 in the geometric mean (lzo / none: boot 400 ms / 800 ms)",
    )
    assert found.conclusion.startswith("Not decided: 1 of 5 cases")


def test_notes_are_of_the_needs_the_candidates_and_the_tree() -> None:
    content = {"tree": "embedded-rootfs", "size": "9 MB"}
    found = advice_from(small(content=content), [result("boot.ubifs", 400, 12_000_000)]).notes
    assert found[0] == (
        "Times are virtual, of the board apf27, which was not measured: its CPU is an estimate."
    )
    assert found[1].startswith("One seed: ")
    assert found[2:] == (
        "Not a part of Linux, and so a module to maintain: yaffs2.",
        "content.size says 8.6 MiB, and the files of the tree have 11.4 MiB: correct it, because "
        "the cases that write depend on it.",
    )


def noted(filesystems: list[str], options: list[str], **changes: Any) -> list[str]:
    """The first words of the notes on candidates."""
    consider = {"filesystems": filesystems, "options": options}
    needs = small(consider=consider, **changes)
    found = advice_from(needs, ()).notes[len(notes_of(needs)) :]
    return [" ".join(note.split()[:3]) for note in found]


def test_what_candidates_cost_is_noted_if_one_of_them_does() -> None:
    every = ["fastmap", "beb_per1024", "compression"]
    size = {"partition": "64 MiB"}
    assert noted(["ubifs"], every, **size) == ["Linux calls fastmap", "A smaller UBI"]
    assert noted(["ubifs"], ["compression"], **size) == []
    assert noted(["ubifs"], ["fastmap"], **size) == ["Linux calls fastmap"]
    assert noted(["ubifs"], ["beb_per1024"], **size) == ["A smaller UBI"]
    assert noted(["jffs2", "ubifs"], []) == []
    assert noted(["jffs2", "ubifs"], [], writes=log()) == ["Before, one file", "JFFS2 has no"]
    assert noted(["overlay-jffs2"], [], writes=log()) == ["Before, one file", "JFFS2 has no"]
    assert noted(["ubifs"], [], writes=log()) == []
    assert noted(["ubifs", "logfs", "yaffs2"], []) == ["Not a part"]


def test_writes_and_life_are_noted_with_their_figures() -> None:
    """999 bytes each 9.99 ms are 8.64 GB a day; 12 % of 64 MiB are 3,932 pages."""
    writes = log(record=999, per_day=8_640_000_000)
    content = {"size": "2 MiB", "compressible_percent": 50}
    needs = small(partition="64 MiB", writes=writes, content=content)
    found = notes_of(needs)
    assert len(found) == 3 and found[2].startswith(
        "Writes were measured on a flash with nine tenths written before: "
        "3,932 records of 999 B, one each 9.99 ms, beside 1 MiB of data that stay."
    )
    assert len(notes_of(small())) == 2
    needs = small(partition="64 MiB", writes={**writes, "years": 0.1})
    assert len(notes_of(needs)) == 4
    assert notes_of(needs)[3].startswith(
        "Life is an estimate: 100,000 erases (data sheets of 2 KiB-page SLC NAND, an estimate) × "
    )
    # Whose figure it is, is what the chip's file says of this figure.
    chip = needs.chip
    known = [replace(one, estimate=False) for one in chip.provenance]
    for provenance, words in ((known, " (data sheets of 2 KiB-page SLC NAND)"), ([], "")):
        other = replace(chip, provenance=tuple(provenance))
        board = replace(needs.board, chip=other, calibrated=True)
        notes = notes_of(replace(needs, board=board))
        assert notes[3].startswith(f"Life is an estimate: 100,000 erases{words} × ")
        assert notes[0].endswith("of the board apf27, which was measured.")


@pytest.mark.parametrize(
    ("stated", "said"), [(899, True), (900, False), (1100, False), (1101, True)]
)
def test_a_tenth_of_the_tree_may_be_missing(stated: int, said: bool) -> None:
    found = {"boot": Reading({"boot": Value(1.0)}), "cut": Reading({"tree": Value(1000)})}
    assert bool(list(_other_size(alone(content={"size": stated}), found))) == said
    assert not list(_other_size(alone(), {"boot": Reading({})}))


def cut_result(part: str, correct: int, states: int = 100) -> Any:
    """A case of power cuts, of whose states so many are correct."""
    counts = {"lost": {"correct": correct, "stale-data": states - correct}}
    cuts = {"counts": {kind: {w: n for w, n in one.items() if n} for kind, one in counts.items()}}
    return booted(axes={"part": part}, cuts=cuts)


def of_cuts(
    filesystems: list[str], needs: Needs, correct: dict[str, int]
) -> tuple[dict[str, Value], Advice]:
    """The value of power cuts by file system; `correct` of 100 states of each history."""
    chosen = [Candidate(name) for name in filesystems]
    made = probes(needs, chosen, CATALOG)
    results = [
        cut_result(probe.name, correct[probe.candidate.filesystem])
        for probe in made
        if probe.kind == POWER and probe.candidate.filesystem in correct
    ]
    advice = advice_of(needs, CATALOG, chosen, made, results)
    return {one.candidate.filesystem: one.cell("power").value for one in advice.order}, advice


def test_power_cuts_are_those_of_ordinary_cases() -> None:
    """Of each of four histories 99 of 100 states; an overlay has cases of its own."""
    every = ["ubifs", "jffs2", "yaffs2", "squashfs", "overlay-ubifs"]
    found, advice = of_cuts(every, alone(), {"ubifs": 99, "jffs2": 100, "overlay-ubifs": 98})
    told = {name: value.value for name, value in found.items()}
    assert told == {
        "ubifs": 99.0,
        "jffs2": 100.0,
        "yaffs2": None,
        "squashfs": 100.0,
        "overlay-ubifs": 98.0,
    }
    assert found["squashfs"].why == "nothing is ever written to it"
    assert found["yaffs2"].why == "its case has not run"
    assert found["ubifs"].why.startswith("update-by-rename: 100 states, 1 stale-data; ")
    assert found["jffs2"].why.count("100 states, all correct") == 4
    assert advice.missing > 0


def test_a_share_of_power_cuts_is_over_all_states_and_meets_the_limit_that_it_reaches() -> None:
    """Three of 400 are 99.25 %."""
    needs = alone(as_promised_percent=99.25)
    made = probes(needs, [Candidate("ubifs")], CATALOG)
    cut = [probe for probe in made if probe.kind == POWER]
    assert [probe.name.split(".")[1] for probe in cut] == [
        history.replace("-", "") for history in POWER_HISTORIES
    ]
    results = [
        cut_result(probe.name, 97 if number == 0 else 100) for number, probe in enumerate(cut)
    ]
    for limit, standing in ((99.25, "met"), (99.26, "missed")):
        asked = alone(as_promised_percent=limit)
        advice = advice_of(asked, CATALOG, [Candidate("ubifs")], made, results)
        cell = advice.order[0].cell("power")
        assert (cell.value.value, cell.standing) == (99.25, standing)
    # As long as one of them has not run the share is not known.
    advice = advice_of(needs, CATALOG, [Candidate("ubifs")], made, results[1:])
    assert advice.order[0].cell("power").value.why == "its case has not run"
    failed = [*results[1:], {**results[0], "outcome": "crash", "reason": "panic"}]
    advice = advice_of(needs, CATALOG, [Candidate("ubifs")], made, failed)
    assert advice.order[0].cell("power").value == Value(None, "crash: panic", failed=True)


def test_that_power_cuts_are_a_sample_is_said() -> None:
    (some,) = [note for note in notes_of(alone()) if "sample" in note]
    assert some.startswith("Power cuts are a sample: 1,000 states of each of four histories")
    (every,) = [note for note in notes_of(alone(cut_states=0)) if note.startswith("Power")]
    assert every.startswith("Power was cut everywhere in four histories")
    none = alone(power_cuts=False, limits={"boot_s": 1.0})
    assert not [note for note in notes_of(none) if "cut" in note]


def test_the_document_has_all_of_it() -> None:
    """One misses 1 s by a second, one failed, and what lives for ever has no number."""
    needs = small(title="Small", consider={"filesystems": ["ubifs"], "options": []})
    found = advice_from(needs, [result("boot.ubifs", 2000)])
    (boot,) = found.asked
    failed = Judged(replace(FASTMAP, partition_bytes=2**25), (Cell(boot, FAILED),), 1)
    endless = Judged(YAFFS2, (Cell(YEARS, Value(math.inf, "idle")),), 2)
    whole = replace(found, order=(*found.order, failed, endless))
    written = document(replace(of_run(whole, Path("r")), compression=("worth it",), missing=3))
    best = {
        "standing": "missed",
        "value": 2e9,
        "words": "missed by 1.00 s (×2)",
        "why": "mount 2.00 s, ls 1.00 ms; 14 pages read",
    }
    of_failed = {
        "standing": "not measured",
        "value": None,
        "words": "not measured",
        "why": "panic",
    }
    of_endless = {"standing": "met", "value": None, "words": "met", "why": "idle"}
    nearest = "no candidate meets it; nearest is ubifs with 2.00 s, asked is ≤ 1.00 s"
    rows = [
        ("ubifs", "ubifs", {}, None, {"boot": best}),
        ("ubifs, fastmap, 32 MiB", "ubifs", {"fastmap": "on"}, 2**25, {"boot": of_failed}),
        ("yaffs2", "yaffs2", {}, None, {"life": of_endless}),
    ]
    keys = ("title", "filesystem", "options", "partition_bytes", "needs")
    assert written == {
        "v": 1,
        "needs": "least",
        "title": "Small",
        "board": "apf27",
        "partition_bytes": 16 * MIB,
        "conclusion": "Not decided: 3 of 1 cases have not been run. So far: ubifs comes first of "
        "3 candidates and meets 0 of 1 needs; misses mount to the end of ls, clean.",
        "rule": RULE,
        "asked": [
            {"key": "boot", "title": "mount to the end of ls, clean", "limit": 1e9, "unit": "ns"}
        ],
        "candidates": [dict(zip(keys, row, strict=True)) for row in rows],
        "failures": ["ubifs, fastmap, 32 MiB: panic"],
        "would_change": [
            {"need": "boot", "text": f"mount to the end of ls, clean: {nearest}"},
        ],
        "compression": ["worth it"],
        "notes": list(notes_of(needs)),
        "cases": 1,
        "cases_missing": 3,
        "run": "r",
    }
