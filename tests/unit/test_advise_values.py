"""What advise reads in the results of its boots, and the values of a candidate from its cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from test_advise_limits import BLOCK, alone, log
from test_advise_needs import CATALOG, MIB

from ffslab.advise.candidates import Candidate
from ffslab.advise.needs import Needs
from ffslab.advise.probes import BOOT, CUT, WRITE, Probe
from ffslab.advise.readings import Reading, Value, reading_of, readings_of, values_of

MS = 10**6
NOT_RUN = Value(None, "its case has not run")


def step(word: str, duration_ms: int, pages_read: int | None, **other: Any) -> dict[str, Any]:
    """A step of the measured guest."""
    return {
        "step": word.partition("-")[0],
        "phase": word,
        "prepared": False,
        "status": "ok",
        "duration_ns": duration_ms * MS,
        "pages_read": pages_read,
        "parts": [],
        **other,
    }


def memory(label: str, total_bytes: int, prepared: bool = False) -> dict[str, Any]:
    slabs = dict.fromkeys(("filesystem", "kmalloc", "inodes", "other"), 7)
    other = {"page_cache_bytes": 2**30, "slab_bytes": slabs}
    return {"label": label, "prepared": prepared, "total_bytes": total_bytes, **other}


def booted(**changed: Any) -> Any:
    """It was mounted before the restart, too: what counts is the second mount."""
    attach = [{"phase": "attach-2", "duration_ns": 70 * MS}, {"phase": "m", "duration_ns": 1}]
    steps = [
        step("mount", 900, 999, prepared=True),
        step("mount-2", 120, 1200, parts=attach),
        step("list", 30, 34),
    ]
    rows = [
        memory("mount", 9 * MIB, prepared=True),
        memory("mount-2", 2 * MIB),
        memory("list", 3 * MIB),
    ]
    whole: dict[str, Any] = {
        "outcome": "pass",
        "reason": "",
        "axes": {},
        "spec": {"workload": {"kind": "tree"}},
        "virtual_ns": 1,
        "phases": [],
        "latencies": [],
        "tree": {"steps": steps, "memory": rows},
        "space": [
            {"label": "create", "available_bytes": 1},
            {"label": "mount-2", "available_bytes": 5 * MIB},
            {"label": "mount-3", "available_bytes": 2},
        ],
        "image": None,
    }
    return {**whole, **changed}


def test_a_boot_is_the_second_mount_to_the_end_of_ls() -> None:
    """120 + 30 ms, 1,200 + 34 pages; the most memory is that after ls."""
    assert reading_of(BOOT, booted()) == Reading(
        {
            "boot": Value(
                150.0 * MS,
                "mount 120 ms (70.0 ms of it UBI’s attach), ls 30.0 ms; 1,234 pages read",
            ),
            "ram": Value(3 * MIB, "after mount 2 MiB; after list 3 MiB"),
            "space": Value(5 * MIB, "statfs() after the mount"),
        }
    )
    assert reading_of(CUT, booted()) == reading_of(BOOT, booted())


def test_without_ubi_nothing_is_attached_and_without_a_monitor_nothing_counted() -> None:
    steps = [step("mount-2", 120, None), step("list", 30, None)]
    rows = [memory("mount-2", 3 * MIB), memory("list", 2 * MIB)]
    found = reading_of(BOOT, booted(tree={"steps": steps, "memory": rows})).values
    assert found["boot"].why == "mount 120 ms, ls 30.0 ms; 0 pages read"
    assert found["ram"].value == 3 * MIB


def test_what_a_result_does_not_have_is_no_value() -> None:
    alone_mounted = {"steps": [step("mount-2", 120, 7)], "memory": []}
    assert reading_of(BOOT, booted(tree=alone_mounted, space=[])).values == {}


@pytest.mark.parametrize(
    ("flash_bytes", "tree_bytes", "why"),
    [
        (4 * MIB, 6 * MIB, "the image takes 4 MiB for 6 MiB of files; statfs() after the mount"),
        (0, 6 * MIB, "statfs() after the mount"),
        (4 * MIB, 0, "statfs() after the mount"),
    ],
)
def test_an_image_says_what_its_tree_takes(flash_bytes: int, tree_bytes: int, why: str) -> None:
    image = {"flash_bytes": flash_bytes, "tree_bytes": tree_bytes}
    found = reading_of(BOOT, booted(image=image)).values
    assert found["space"] == Value(5 * MIB, why)
    assert found.get("tree") == (Value(6 * MIB, "") if tree_bytes else None)


def phase(errno_name: str) -> dict[str, Any]:
    return {"phase": "create", "errno_name": errno_name}


@pytest.mark.parametrize(
    ("changes", "full"),
    [
        ({"phases": [phase(""), phase("ENOSPC")]}, True),
        ({"phases": [phase("EIO")]}, False),
        ({"preparation": {"phases": [phase("ENOSPC"), phase("")]}}, True),
        ({"preparation": {"phases": [phase("")]}, "phases": [phase("ENOSPC")]}, True),
        ({"preparation": None}, False),
    ],
)
def test_content_that_did_not_fit_leaves_nothing(changes: dict[str, Any], full: bool) -> None:
    result = booted(outcome="fail", **changes)
    nothing = {"space": Value(0.0, "the content does not fit", failed=True)}
    said = "fail: no reason was recorded"
    assert reading_of(BOOT, result) == Reading(nothing if full else {}, said)
    assert reading_of(CUT, result) == Reading({}, said)
    assert reading_of(WRITE, {**result, "reason": "panic"}) == Reading({}, "fail: panic")


def test_results_are_known_by_their_part() -> None:
    made = [Probe(BOOT, Candidate("ubifs"), {}), Probe(CUT, Candidate("ubifs"), {})]
    results = [booted(axes={"part": part}) for part in ("boot.ubifs", "boot.jffs2")]
    assert readings_of(made, [*results, booted()]) == {"boot.ubifs": reading_of(BOOT, results[0])}


# The values of a candidate.


def reading(**figures: float) -> Reading:
    return Reading({key: Value(one, f"why {key}") for key, one in figures.items()})


UBIFS = Candidate("ubifs")
MEASURED: Mapping[str, Reading] = {
    "boot.ubifs": reading(space=5.0, boot=7.0, ram=20.0),
    "cut.ubifs": reading(space=6.0, boot=8.0, ram=30.0),
    "write.ubifs": reading(write=9.0, programmed=4.0),
    "wear.ubifs.compression.none": reading(imbalance=2.0),
}


def values(readings: Mapping[str, Reading], needs: Needs | None = None) -> dict[str, Value]:
    return values_of(needs or alone(), UBIFS, readings, CATALOG)


def test_each_value_is_that_of_its_case() -> None:
    assert values(MEASURED) == {
        "space": Value(5.0, "why space"),
        "boot": Value(7.0, "why boot"),
        "boot-cut": Value(8.0, "why boot"),
        "ram": Value(30.0, "why ram"),
        "write": Value(9.0, "why write"),
        "power": NOT_RUN,
    }
    writing = values(MEASURED, alone(writes=log()))
    assert writing == values(MEASURED) | {"kept": NOT_RUN}


@pytest.mark.parametrize(
    ("boot", "cut", "most"),
    [
        (reading(ram=20.0), reading(ram=30.0), Value(30.0, "why ram")),
        (reading(ram=30.0), reading(ram=20.0), Value(30.0, "why ram")),
        (reading(ram=-8.0), reading(ram=-9.0), Value(-8.0, "why ram")),
        (reading(ram=0.0), reading(ram=-9.0), Value(0.0, "why ram")),
        (reading(ram=20.0), Reading({}, "crash: panic"), Value(20.0, "why ram")),
        (Reading({}), reading(ram=20.0), Value(20.0, "why ram")),
        (Reading({}, "crash: panic"), Reading({}), Value(None, "crash: panic", failed=True)),
        (Reading({}), Reading({}, "crash: panic"), NOT_RUN),
    ],
)
def test_ram_is_the_larger_of_both_boots(boot: Reading, cut: Reading, most: Value) -> None:
    assert values({"boot.ubifs": boot, "cut.ubifs": cut})["ram"] == most


def test_of_as_much_ram_that_of_the_clean_boot_is_told() -> None:
    both = {"boot.ubifs": Reading({"ram": Value(20.0, "clean")}), "cut.ubifs": reading(ram=20.0)}
    assert values(both)["ram"].why == "clean"


def test_without_results_nothing_is_known() -> None:
    keys = ["space", "boot", "boot-cut", "ram", "write", "power"]
    assert values({}) == dict.fromkeys(keys, NOT_RUN)
    found = values_of(alone(), Candidate("squashfs"), {}, CATALOG)
    assert found["boot-cut"] == NOT_RUN
    boot = {"boot.squashfs": reading(boot=7.0)}
    found = values_of(alone(), Candidate("squashfs"), boot, CATALOG)
    assert found["boot-cut"] == Value(7.0, "nothing is written to it")


def test_life_is_that_of_whole_blocks() -> None:
    """128 blocks of 131,072 bytes and 100,000 erases; 4 × 2 MB a day, twice in the worst block.

    The half block behind them is no block.
    """
    needs = alone(partition=128 * BLOCK + BLOCK // 2, writes=log(per_day="2 MB", years=1.0))
    found = values(MEASURED, needs)
    years = 100_000 * 128 * 131_072 / (2e6 * 4 * 2) / 365.25
    assert found["life"].value == pytest.approx(years, rel=1e-12)
    assert found["life"].why == (
        "estimate: ×4 programmed per byte written (why programmed); most erased block "
        "×2.00 the mean (why imbalance)"
    )
    large = Candidate("ubifs", (), 256 * BLOCK)
    both = {
        "write.ubifs.part.33554432": MEASURED["write.ubifs"],
        "wear.ubifs.compression.none.part.33554432": reading(imbalance=2.0),
    }
    life = values_of(needs, large, both, CATALOG)["life"].value
    assert life == pytest.approx(2 * years, rel=1e-12)


@pytest.mark.parametrize(
    ("missing", "life"),
    [
        ({"write.ubifs": Reading({}, "fail: x")}, Value(None, "fail: x", failed=True)),
        ({"wear.ubifs.compression.none": Reading({})}, NOT_RUN),
        ({"write.ubifs": Reading({}), "wear.ubifs.compression.none": Reading({}, "y")}, NOT_RUN),
    ],
)
def test_life_is_unknown_without_either(missing: dict[str, Reading], life: Value) -> None:
    assert values({**MEASURED, **missing}, alone(writes=log(years=1.0)))["life"] == life
