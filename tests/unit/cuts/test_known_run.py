"""What `run` says of known findings, what it ends with, and what stays as it is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_support import Command, ffslab_command
from cut_target import CutTarget
from test_cuts_command import study

from ffslab.errors import DamagedResultError
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.results import kernel_of, known_of

__all__ = ["ffslab_command", "study"]  # fixtures
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


def test_calls_of_ones_own_take_a_file_of_known_findings(
    ffslab_command: Command, study: Path, tmp_path: Path
) -> None:
    calls = study.with_name("calls")
    calls.write_text("create a\nfsync a\nunlink a\n")
    words = ("cuts", "--calls", str(calls), "--fs", "jffs2")
    ffslab_command.target = failing(SECOND)
    plain = ffslab_command(*words)
    # Each kind of cut of that operation is a finding.
    ids = re.findall(r"^\S+: ([0-9a-f]{8})  mount-fails", plain.output, re.M)
    assert plain.code == 1 and ids
    known = write_known(tmp_path / "known.toml", *(f'id = "{one}"' for one in ids))
    assert ffslab_command(*words, "--known", str(known)).code == 0


def test_a_file_that_is_wrong_is_refused_before_anything_runs(
    ffslab_command: Command, study: Path, tmp_path: Path
) -> None:
    wrong = write_known(tmp_path / "known.toml", 'id = "aaaa0001"\nuntill = "6.12"')
    for more in ((), ("--dry-run",)):
        refused = ffslab_command("run", str(study), "--known", str(wrong), *more)
        assert refused.code == 2 and "until" in refused.error
    missing = ffslab_command("run", str(study), "--known", "nowhere.toml")
    assert missing.code == 2 and "nowhere.toml" in missing.error
    assert not list(Path().glob("results/*"))
