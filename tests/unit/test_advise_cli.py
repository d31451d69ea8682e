"""`ffslab advise`: the questions, the runs that go on where they were, what is printed and kept."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from cli_support import Command
from host_support import FakeSite
from test_advise_needs import CATALOG
from test_campaign_states import StateTarget

import ffslab.advise.pairs
import ffslab.targets.uml.site
from ffslab.advise.advice import Advice, advice_of
from ffslab.advise.candidates import Candidate, candidates
from ffslab.advise.needs import load_needs
from ffslab.advise.probes import probes
from ffslab.report.advice import render, write_advice
from ffslab.results.rundir import RunDirectory, all_runs

NEEDS = """
schema = 1
name = "tiny"
title = "A tiny one"
board = "apf27"
partition = "16 MiB"
power_cuts = false
[limits]
ram = "{ram}"
boot_s = 1.0
[consider]
filesystems = [{filesystems}]
options = ["compression"]
"""


@pytest.fixture
def advise(ffslab_command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """The command line, with guests that leave a prepared flash."""
    monkeypatch.setenv("FFSLAB_STATE_CACHE", str(tmp_path / "state"))
    ffslab_command.target = StateTarget()
    site = FakeSite(ffslab_command.target)
    monkeypatch.setattr(ffslab.targets.uml.site, "site_for", lambda *_: site)
    return ffslab_command


def write_needs(ram: str = "1 MiB", filesystems: str = '"jffs2"') -> Path:
    path = Path("tiny.toml")
    path.write_text(NEEDS.format(ram=ram, filesystems=filesystems))
    return path


def runs() -> list[RunDirectory]:
    return all_runs(Path("results"))


def test_cases_of_other_runs_are_not_run_again(advise: Command) -> None:
    """Three candidates of jffs2, each mounted once; then another limit; then ubifs besides."""
    path = str(write_needs())
    first = advise("advise", path, "--no-report")
    assert "3 candidates, 3 cases, 3 of them to run" in first.output
    ran = set(advise.target.ran)
    assert len(runs()) == 1
    write_needs(ram="2 MiB")
    again = advise("advise", path, "--no-report")
    assert "3 candidates, 3 cases, 0 of them to run" in again.output
    assert len(runs()) == 1 and set(advise.target.ran) == ran
    write_needs(filesystems='"jffs2", "ubifs"')
    more = advise("advise", path, "--no-report")
    assert "7 candidates, 7 cases, 4 of them to run" in more.output
    assert len(runs()) == 2
    assert {one.partition("-")[0] for one in set(advise.target.ran) - ran} == {
        "boot.ubifs",
        "boot.ubifs.compression.none",
        "boot.ubifs.compression.zlib",
        "boot.ubifs.compression.zstd",
    }
    assert len(runs()[1].results()) == 7  # the three of the first run are among them


def test_what_another_build_measured_does_not_count(advise: Command) -> None:
    path = str(write_needs())
    advise("advise", path, "--no-report")
    (run,) = runs()
    run.write_manifest({**run.manifest(), "build_id": "another"})
    again = advise("advise", path, "--no-report")
    assert "3 of them to run" in again.output


def test_an_interrupted_run_goes_on(advise: Command) -> None:
    path = str(write_needs())
    ran = advise.target.ran

    def stop(_job: object) -> None:
        if len(ran) >= 2:  # a guest that prepares, and one that measures
            advise.target.kill_all()

    advise.target.before = stop
    first = advise("advise", path, "--no-report", "-j", "1")
    assert first.code == 3
    assert "Not decided: " in first.output
    assert "interrupted; next: ffslab advise tiny.toml -o results" in first.output
    (run,) = runs()
    kept = len(list(run.path.glob("cases/*/case.json")))
    advise.target.before = lambda _: None
    advise.target.killed.clear()
    again = advise("advise", path, "--no-report")
    assert f"3 cases, {3 - kept} of them to run" in again.output
    assert len(runs()) == 1


def test_pairs_of_options_are_a_second_round(
    advise: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes over what the first measured; repeated, neither has anything to run."""
    pair = Candidate("jffs2", (("compression", "none"), ("write_mode", "sync")))
    monkeypatch.setattr(ffslab.advise.pairs, "promising_pairs", lambda _order: (pair,))
    path = str(write_needs())
    first = advise("advise", path, "--no-report")
    assert "3 candidates, 3 cases, 3 of them to run" in first.output
    told = "none meets all needs, 1 pair of options may: 4 candidates, 4 cases, 1 of them to run"
    assert told in first.output
    assert len(runs()) == 2 and len(runs()[1].results()) == 4
    again = advise("advise", path, "--no-report")
    assert "3 cases, 0 of them to run" in again.output
    assert "4 cases, 0 of them to run" in again.output
    assert len(runs()) == 2 and "jffs2, uncompressed, mount -o sync" in again.output


def test_there_is_no_second_round_after_an_interruption(
    advise: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ffslab.advise.pairs, "promising_pairs", lambda _order: pytest.fail("asked"))
    advise.target.before = lambda _job: advise.target.kill_all()
    assert advise("advise", str(write_needs()), "--no-report", "-j", "1").code == 3
    assert len(runs()) == 1


def test_json_is_alone_on_standard_output(advise: Command) -> None:
    done = advise("advise", str(write_needs()), "--json", "--no-report")
    written = json.loads(done.output)
    assert written["needs"] == "tiny" and len(written["candidates"]) == 3
    assert written["cases_missing"] == 0
    (run,) = runs()
    assert json.loads((run.path / "advice.json").read_text()) == written
    assert "of them to run" in done.error


def test_lines_of_the_terminal_have_80_columns(advise: Command) -> None:
    done = advise("advise", str(write_needs()), "--no-report")
    table = done.output[done.output.index("A tiny one") :].splitlines()
    assert max(map(len, table)) <= 80 or all(len(line) <= 80 or "/" in line for line in table)


def test_a_dry_run_starts_nothing(advise: Command) -> None:
    done = advise("advise", str(write_needs()), "--dry-run")
    assert done.code == 0
    assert "jffs2, uncompressed" in done.output and "3 candidates, 3 cases" in done.output
    assert not advise.target.ran and not Path("results").exists()


def test_without_a_file_the_questions_are_named(advise: Command) -> None:
    done = advise("advise")
    assert done.code == 2 and "advise --init" in done.error
    done = advise("advise", "nowhere.toml")
    assert done.code == 2 and "nowhere.toml: cannot be read" in done.error


def test_an_input_that_ends_is_an_error(
    ffslab_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("product\n"))
    done = ffslab_command("advise", "--init")
    assert done.code == 2
    assert "no answer to: The board" in done.error and "on standard input" in done.error
    assert not Path("needs.toml").exists()


# The page.


def made_advice(tmp_path: Path) -> Advice:
    path = tmp_path / "tiny.toml"
    path.write_text(NEEDS.format(ram="1 MiB", filesystems='"ubifs"'))
    needs = load_needs(path, CATALOG)
    chosen = candidates(needs, CATALOG)
    return advice_of(needs, CATALOG, chosen, probes(needs, chosen, CATALOG), ())


def test_the_page_is_one_offline_file(tmp_path: Path) -> None:
    advice = made_advice(tmp_path)
    page = write_advice(advice, "ffslab advise tiny.toml", tmp_path)
    assert page == tmp_path / "advice.html"
    text = page.read_text()
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", text)
    assert "A tiny one" in text and "have not been run" in text
    for one in advice.order:
        assert one.candidate.title in text
    assert text.count('class="plain"') == 2 * len(advice.order)


def test_what_users_write_is_no_markup_in_the_page(tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    text = NEEDS.format(ram="1 MiB", filesystems='"ubifs"').replace("A tiny one", "<b>&amp;")
    path.write_text(text)
    needs = load_needs(path, CATALOG)
    chosen = candidates(needs, CATALOG)
    advice = advice_of(needs, CATALOG, chosen, probes(needs, chosen, CATALOG), ())
    page = render(advice, "ffslab advise tiny.toml", tmp_path / "advice.html")
    assert "<b>" not in page and "&lt;b&gt;&amp;amp;" in page
