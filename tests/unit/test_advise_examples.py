"""The shipped examples, judged by what a full run of each measured (tests/golden/advice).

The recordings have the figures of each case as the guests gave them; verdicts are worked out here
again from those and from the limits in the examples' own text.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
from test_advise_needs import CATALOG, ROOT

from ffslab.advise.candidates import candidates
from ffslab.advise.changes import changes_of
from ffslab.advise.needs import Needs, load_needs
from ffslab.advise.probes import probes
from ffslab.advise.ranking import Judged, judge_candidates, needs_asked
from ffslab.advise.readings import Reading, Value, values_of

GOLDEN = ROOT / "tests" / "golden" / "advice"
NAMES = ("router", "data-logger", "industrial-panel")


def recorded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text())
    return found


def needs_of_example(name: str) -> Needs:
    return load_needs(ROOT / "examples" / "needs" / f"{name}.toml", CATALOG)


def order_of(name: str, changes: Mapping[str, Any] | None = None) -> tuple[Judged, ...]:
    """All candidates of an example; `changes` are other figures of some cases."""
    needs = needs_of_example(name)
    readings = {}
    for part, figures in {**recorded(name), **(changes or {})}.items():
        values = {key: Value(one) for key, one in figures.items() if key != "failed"}
        readings[part] = Reading(values, figures.get("failed", ""))
    found = [(one, values_of(needs, one, readings, CATALOG)) for one in candidates(needs, CATALOG)]
    return judge_candidates(needs_asked(needs), found)


def test_a_recording_has_every_case_of_its_example() -> None:
    for name in NAMES:
        needs = needs_of_example(name)
        made = probes(needs, candidates(needs, CATALOG), CATALOG)
        assert {probe.name for probe in made} == set(recorded(name)), name


def megabytes(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"MiB": 2**20, "MB": 10**6, "KiB": 2**10}[unit]


def as_promised_percent(figures: Mapping[str, Any], filesystem: str) -> float:
    """Of all histories of a file system together; what only reads cannot lose anything."""
    key = filesystem.replace("-", "")
    cuts = [value for part, value in figures.items() if re.fullmatch(rf"power\.\w+\.{key}", part)]
    assert len(cuts) == 4, filesystem
    return 100 * sum(value["correct"] for value in cuts) / sum(value["states"] for value in cuts)


@pytest.mark.parametrize("name", NAMES)
def test_standings_are_those_of_the_figures(name: str) -> None:
    text = (ROOT / "examples" / "needs" / f"{name}.toml").read_text()
    stated, figures = tomllib.loads(text), recorded(name)
    limits = stated["limits"]
    for one in order_of(name):
        if "failed" in figures[f"boot.{one.candidate.key}"]:
            continue
        boot = figures[f"boot.{one.candidate.key}"]
        cut = figures[f"cut.{one.candidate.key}"]
        expected = {
            "space": boot["space"] >= megabytes(stated["content"]["free"]),
            "boot": boot["boot"] <= limits["boot_s"] * 1e9,
            "boot-cut": cut["boot"] <= limits["boot_s"] * 1e9,
            "ram": max(boot["ram"], cut["ram"]) <= megabytes(limits["ram"]),
        }
        for key, met in expected.items():
            standing = one.cell(key).standing
            assert standing == ("met" if met else "missed"), (one.candidate.title, key)
        promised = as_promised_percent(figures, one.candidate.filesystem)
        met = promised >= stated["as_promised_percent"]
        assert one.cell("power").standing == ("met" if met else "missed"), one.candidate.title


def test_the_router_takes_squashfs_with_overlayfs() -> None:
    order = order_of("router")
    assert order[0].candidate.title == "overlay-ubifs" and not order[0].missed
    # The whole root file system in UBIFS: ls reads the inode of each file, 0.98 s.
    (ubifs,) = [one for one in order if one.candidate.title == "ubifs"]
    assert [cell.need.key for cell in ubifs.missed] == ["boot", "boot-cut"]
    # A synced line of JFFS2 erases the blocks of the file that was deleted before it.
    (jffs2,) = [one for one in order if one.candidate.title == "jffs2"]
    assert {cell.need.key for cell in jffs2.missed} == {
        "boot",
        "boot-cut",
        "kept",
        "power",
        "write",
    }
    # overlayfs spares it the nodes of the root file system, not those of the log.
    (joined,) = [one for one in order if one.candidate.title == "overlay-jffs2"]
    assert {cell.need.key for cell in joined.missed} == {"kept", "power", "write"}
    (failed,) = [one for one in order if one.candidate.title == "ubifs, fastmap"]
    assert "anchor PEB" in failed.failures[0].value.why


def test_the_life_of_the_router_is_the_formula() -> None:
    """2 MB a day × what was programmed per byte × 1.0427, on 512 blocks of 128 KiB."""
    figures = recorded("router")
    programmed = figures["write.overlayubifs"]["programmed"]
    imbalance = figures["wear.overlayubifs.compression.none"]["imbalance"]
    assert imbalance == pytest.approx(100_000 / 95_904)
    days = 100_000 * 64 * 2**20 / (2e6 * programmed * imbalance)
    life = order_of("router")[0].cell("life").value
    assert life.value == pytest.approx(days / 365.25)
    assert 200 < days / 365.25 < 250


def test_a_stricter_router_would_take_another_one() -> None:
    texts = {
        one.need: one.text for one in changes_of(needs_of_example("router"), order_of("router"))
    }
    assert "overlay-ubifs, below lz4 (327 ms) comes first" in texts["boot"]
    assert "yaffs2 (1.4 MiB) comes first" in texts["ram"]


def test_a_larger_partition_is_no_cure_for_the_logger() -> None:
    """Twice the partition is twice the attach of UBI: then the boot after a cut is missed."""
    order = {one.candidate.title: one for one in order_of("data-logger")}
    assert not order["ubifs"].missed
    assert [cell.need.key for cell in order["ubifs, 128 MiB"].missed] == ["boot-cut"]
    assert order["yaffs2, 128 MiB"].order != 0
    assert next(iter(order)) == "yaffs2"


def test_the_panel_has_a_choice_and_jffs2_is_none() -> None:
    order = order_of("industrial-panel")
    good = {one.candidate.filesystem for one in order if not one.missed}
    assert good == {"yaffs2", "ubifs", "overlay-ubifs"}
    assert {one.candidate.filesystem for one in order if one.missed} == {"jffs2", "overlay-jffs2"}


def test_a_case_that_fails_takes_its_candidate_down() -> None:
    broken = {"boot.overlayubifs": {"failed": "corrupt: a file is not what it was"}}
    order = order_of("router", broken)
    titles = [one.candidate.title for one in order]
    assert titles[0] != "overlay-ubifs" and titles.index("overlay-ubifs") > titles.index("yaffs2")
