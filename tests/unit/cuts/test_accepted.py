"""Known findings: which an entry accepts, and which case is red."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cuts_support import finding

from ffslab.errors import SpecError
from ffslab.loader import load_known, study_names
from ffslab.model.known import Known, known_from_document
from ffslab.results.outcome import KNOWN as KNOWN_CASE
from ffslab.workloads.accepted import accepted, changes, told_of
from ffslab.workloads.cuts.known import KNOWN

ROOT = Path(__file__).resolve().parents[3]
TORN: Any = {**finding("aaaa0001", "0 torn-bits 0", "mount-fails"), "known": "F-JFFS2-01"}
OTHER: Any = finding("bbbb0002", "7 lost 0", "stale-data")
BY_NUMBER = Known("F-JFFS2-01", "", "why")
BY_ID = Known("", "bbbb0002", "why")


def test_an_entry_accepts_what_it_names_and_nothing_else() -> None:
    assert told_of("c", TORN, [BY_ID, BY_NUMBER], "").entry is BY_NUMBER
    assert told_of("c", OTHER, [BY_NUMBER, BY_ID], "").entry is BY_ID
    assert told_of("c", OTHER, [BY_NUMBER], "").entry is None
    # A finding without an entry in docs/findings.md is not one of an entry without a number.
    assert told_of("c", {**OTHER, "id": "cccc0003"}, [BY_ID, BY_NUMBER], "").entry is None


@pytest.mark.parametrize(
    ("kernel", "until", "holds"),
    [
        ("6.1.192", "", True),
        ("", "", True),
        ("6.1.192", "6.12", True),  # 1 is less than 12, as numbers
        ("6.12.0", "6.12", False),
        ("6.12", "6.12.0", False),
        ("6.12.3-rc1", "6.12", False),
        ("6.12-rc7", "6.12.5", True),  # 7 is no part of the version
        ("6.11.99", "6.12", True),
        ("7.0", "6.12", False),
        ("", "6.12", False),
    ],
)
def test_an_entry_holds_until_a_kernel(kernel: str, until: str, holds: bool) -> None:
    told = told_of("c", TORN, [Known("F-JFFS2-01", "", "why", until)], kernel)
    assert told.is_known == holds
    assert bool(told.why) != holds and (holds or f"until Linux {until}" in told.why)


def test_more_states_than_an_entry_says_are_new() -> None:
    """A finding stands for all that are alike: a second place would hide behind the first."""
    twice = {**TORN, "states": 2}
    told = told_of("c", twice, [BY_NUMBER], "")
    assert told.entry is None and told.why == "F-JFFS2-01 is known of 1 state"
    assert told_of("c", twice, [Known("F-JFFS2-01", "", "why", states=2)], "").is_known
    many = told_of("c", {**TORN, "states": 3}, [Known("F-JFFS2-01", "", "why", states=2)], "")
    assert many.why == "F-JFFS2-01 is known of 2 states"
    # Of two entries it is enough that one accepts it.
    assert told_of("c", twice, [BY_NUMBER, Known("", "aaaa0001", "why", states=2)], "").why == ""


def test_a_case_is_known_if_all_that_it_fails_by_is() -> None:
    found = [("both", TORN), ("both", OTHER), ("torn", TORN), ("told", TORN)]
    judged = accepted(found, ["both", "torn", "crashed"], [BY_NUMBER], {})
    # `told` passes with its finding, and `crashed` has none: neither fails by known ones.
    assert judged.cases == {"torn"}
    assert [one.case for one in judged.new] == ["both"] and len(judged.known) == 3
    assert judged.stale == ()
    assert accepted(found, [], [BY_ID, Known("", "dddd0004", "why")], {}).stale == (
        Known("", "dddd0004", "why"),
    )
    # One that holds no more still names what is there: it is not stale.
    over = Known("F-JFFS2-01", "", "why", "5.0")
    assert accepted(found, ["torn"], [over], {"torn": "6.1"}).stale == ()
    assert accepted(found, ["torn"], [over], {"torn": "6.1"}).cases == frozenset()
    # Nor does it hold for a case whose kernel is not among those that are known.
    later = Known("F-JFFS2-01", "", "why", "9.0")
    assert accepted(found, ["torn"], [later], {"both": "6.1"}).cases == frozenset()
    assert accepted(found, ["torn"], [later], {"torn": "6.1"}).cases == {"torn"}
    assert KNOWN_CASE == "known"  # what tables say, and docs/power-cuts.md


def test_changes_between_two_runs_are_known_or_not() -> None:
    before, after = {"a": TORN, "b": OTHER}, {"a": TORN, "c": {**OTHER, "id": "eeee0005"}}
    told = changes(before, after, [BY_NUMBER, BY_ID], "")
    assert [(word, one.finding["id"], one.is_known) for word, one in told] == [
        ("new", "eeee0005", False),
        ("gone", "bbbb0002", True),
        ("same", "aaaa0001", True),
    ]
    assert {one.case for _, one in told} == {""}
    assert {one.case for _, one in changes(before, after, [], "", "c")} == {"c"}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"id": "aaaa0001"}, "reason"),
        ({"reason": "why"}, "finding or id"),
        ({"reason": "why", "id": "aaaa0001", "finding": "F-JFFS2-01"}, "finding or id"),
        ({"reason": "why", "id": "AAAA"}, "id"),
        ({"reason": "why", "finding": "JFFS2"}, "finding"),
        ({"reason": "why", "id": "aaaa0001", "until": "next"}, "until"),
        ({"reason": "why", "id": "aaaa0001", "states": 0}, "states"),
        ({"reason": "why", "id": "aaaa0001", "untill": "6.12"}, "did you mean 'until'"),
    ],
)
def test_a_file_that_cannot_be_right_is_refused(entry: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=r"known\.toml") as refused:
        known_from_document({"known": [entry]}, "known.toml")
    assert said in str(refused.value) and "power-cuts.md" in refused.value.remedy


def test_shipped_files_know_what_is_documented() -> None:
    files = sorted((ROOT / "studies" / "known").glob("*.toml"))
    assert files
    text = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    for path in files:
        assert path.stem in study_names(), path
        entries = load_known(path)
        assert entries
        for entry in entries:
            assert entry.name in text, f"{path}: {entry.name}"
            # No finding looks like an entry that has no row.
            assert not entry.finding or entry.finding in {row.number for row in KNOWN}, path
