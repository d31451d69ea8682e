"""Known findings: which an entry accepts, which case is red, what `run` says and ends with."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli_support import Command, ffslab_command
from cut_target import CutTarget
from cuts_support import finding
from test_cuts_command import study

from ffslab.errors import DamagedResultError, SpecError
from ffslab.loader import load_known, study_names
from ffslab.model.known import Known, known_from_document
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.accepted import accepted, changes, told_of
from ffslab.workloads.cuts.known import KNOWN
from ffslab.workloads.results import kernel_of, known_of

__all__ = ["ffslab_command", "study"]  # fixtures
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


def test_changes_between_two_runs_are_known_or_not() -> None:
    before, after = {"a": TORN, "b": OTHER}, {"a": TORN, "c": {**OTHER, "id": "eeee0005"}}
    told = changes(before, after, [BY_NUMBER, BY_ID], "")
    assert [(word, one.finding["id"], one.is_known) for word, one in told] == [
        ("new", "eeee0005", False),
        ("gone", "bbbb0002", True),
        ("same", "aaaa0001", True),
    ]


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


# --- the verb run ---

SECOND = "1 "  # states of the second operation


def failing(*begins: str) -> CutTarget:
    return CutTarget(wrong=lambda name: name.startswith(begins))


def ids_of(output: str) -> list[str]:
    return re.findall(r": ([0-9a-f]{8})  mount-fails at 1 lost 0", output)


def write_known(path: Path, *entries: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f'[[known]]\nreason = "it is so"\n{entry}\n' for entry in entries))
    return path


def test_known_findings_end_well_and_a_new_one_does_not(
    ffslab_command: Command, study: Path, tmp_path: Path
) -> None:
    ffslab_command.target = failing(SECOND)
    plain = ffslab_command("run", str(study), "--no-report")
    jffs2, ubifs = ids_of(plain.output)
    assert plain.code == 1 and "new: " not in plain.output
    one = write_known(tmp_path / "one.toml", f'id = "{jffs2}"')
    both = write_known(tmp_path / "both.toml", f'id = "{jffs2}"', f'id = "{ubifs}"')

    result = ffslab_command("run", str(study), "--known", str(both))
    assert result.code == 0, result.output
    assert "2 of 2 cases: 2 known; " in result.output and "replay" not in result.output
    assert re.search(rf"^known: jffs2-s1: {jffs2}  .*; it is so$", result.output, re.M)
    assert re.search(r"^jffs2-s1 and 1 more: known: 1 of ", result.output, re.M)
    assert re.search(r"^ubifs-s1 +known ", result.output, re.M)

    result = ffslab_command("run", str(study), "--no-report", "--known", str(one))
    assert result.code == 1
    assert "2 cases: 1 known, 1 fail; " in result.output
    told = [line for line in result.output.splitlines() if re.match("new|known|next", line)]
    assert [line.split()[0] for line in told] == ["new:", "known:", "next:"]
    assert ubifs in told[0] and f"replay {ubifs}" in told[2]

    # Alike, but at another operation: the id is the same, and the second place is new.
    ffslab_command.target = failing(SECOND, "2 ")
    result = ffslab_command("run", str(study), "--no-report", "--known", str(both))
    assert result.code == 1 and f"{jffs2} is known of 1 state" in result.output
    ffslab_command.target = failing("2 ")
    result = ffslab_command("run", str(study), "--no-report", "--known", str(both))
    assert result.code == 1 and "2 of 2 cases: 2 fail" in result.output


def test_results_are_the_same_bytes_whatever_is_known(
    ffslab_command: Command, study: Path, tmp_path: Path
) -> None:
    ffslab_command.target = failing(SECOND)
    ids = ids_of(ffslab_command("run", str(study), "--no-report", "-o", "plain").output)
    known = write_known(tmp_path / "known" / study.name, *(f'id = "{one}"' for one in ids))
    assert ffslab_command("run", str(study), "--no-report", "-o", "other").code == 0
    plain, other = (next(Path(name).glob("*-small")) for name in ("plain", "other"))
    assert (plain / "results.jsonl").read_bytes() == (other / "results.jsonl").read_bytes()
    assert "known" not in json.loads((plain / "manifest.json").read_text())
    # The file beside the study was found; what it says later changes no run that was judged.
    known.unlink()
    assert "2 of 2 cases: 2 known" in ffslab_command("show", str(other)).output
    assert "2 of 2 cases: 2 fail" in ffslab_command("show", str(plain)).output


def test_an_entry_that_names_nothing_is_told_once_all_has_run(
    ffslab_command: Command, study: Path, tmp_path: Path
) -> None:
    known = write_known(tmp_path / "known.toml", 'finding = "F-JFFS2-01"')
    words = ("run", str(study), "--no-report", "--known", str(known))
    whole = ffslab_command(*words)
    assert whole.code == 0
    assert "known, but not found: F-JFFS2-01 (it is so); remove the entry" in whole.output
    for part in (("--case", "ubifs-s1"), ("--set", "filesystem=ubifs")):
        assert "not found" not in ffslab_command(*words, *part).output


def test_an_entry_with_a_kernel_needs_to_know_which_one_ran(
    ffslab_command: Command, study: Path, tmp_path: Path
) -> None:
    ffslab_command.target = failing(SECOND)
    ids = ids_of(ffslab_command("run", str(study), "--no-report", "-o", "plain").output)
    entries = (f'id = "{one}"\nuntil = "6.12"' for one in ids)
    known = write_known(tmp_path / "known.toml", *entries)
    result = ffslab_command("run", str(study), "--no-report", "--known", str(known))
    assert result.code == 1 and "which one ran is not recorded" in result.output
    run = RunDirectory(next(Path("results").glob("*-small")))
    for kernel, word in (("6.1.192", "known"), ("6.12.1", "fail")):
        for case in ("jffs2-s1", "ubifs-s1"):
            records = run.case_dir(case) / "records.jsonl"
            start = {"v": 1, "type": "start", "agent": "1", "kernel": kernel, "seed": 0}
            records.write_text(json.dumps({**start, "clock": "page"}) + "\n")
            assert kernel_of(run, case) == kernel
        assert f"2 of 2 cases: 2 {word}" in ffslab_command("show", str(run.path)).output
    assert kernel_of(run, "no-such-case") == ""


def test_a_resumed_run_knows_what_it_began_with_or_is_told_anew(
    ffslab_command: Command, study: Path, tmp_path: Path
) -> None:
    ffslab_command.target = failing(SECOND)
    ids = ids_of(ffslab_command("run", str(study), "--no-report", "-o", "plain").output)
    (run,) = Path("plain").glob("*-small")
    again = ("run", str(run), "--resume", "--no-report")
    assert ffslab_command(*again).code == 1
    known = write_known(tmp_path / "known.toml", *(f'id = "{one}"' for one in ids))
    assert ffslab_command(*again, "--known", str(known)).code == 0
    assert ffslab_command(*again).code == 0
    assert [entry.id for entry in known_of(RunDirectory(run), RunDirectory(run).manifest())] == ids


def test_a_manifest_with_other_entries_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(DamagedResultError, match=r"manifest.json.*until"):
        known_of(RunDirectory(tmp_path), {"known": [{"id": "aaaa0001", "until": 6}]})
