"""The index of all runs: what it says of each, when it is made anew, and what it leaves alone."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from cli_support import Command

from ffslab.errors import MissingExtraError, UsageError
from ffslab.report.index import INDEX, keep_headline, render_index, write_index
from ffslab.results.rundir import MANIFEST_VERSION, RunDirectory, find_run

RUN = ("run", "small.toml", "--no-report")
RESULTS = Path("results")


@dataclass(frozen=True)
class Shown:
    """The text and the links of each row of the table, and what its ticks stand for."""

    rows: list[list[str]]
    links: list[list[str]]
    words: list[str]


def read_page(page: str) -> Shown:
    lines = re.findall(r"<tr.*?</tr>", page, re.DOTALL)[1:]
    cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", line, re.DOTALL) for line in lines]
    return Shown(
        [[unescape(re.sub(r"<[^>]*>", "", cell)) for cell in row] for row in cells],
        [[*map(unescape, re.findall(r' href="(.*?)"', line))] for line in lines],
        [*map(unescape, re.findall(r' data-word="(.*?)"', page))],
    )


def shown(root: Path) -> Shown:
    return read_page(render_index(root))


def kept(root: Path, name: str, **said: Any) -> Path:
    """A run of which nothing but the manifest is there."""
    run = RunDirectory(root / name)
    run.path.mkdir(parents=True)
    stamp = re.sub(r"(....)(..)(..)T(..)(..)(..)Z.*", r"\1-\2-\3T\4:\5:\6Z", name)
    told = {
        "study": "small",
        "title": "A small study",
        "started": stamp,
        "boards": {"apf27": {}},
        "cases_total": 4,
        "complete": True,
        "outcomes": {"pass": 4},
    }
    run.write_manifest({"v": MANIFEST_VERSION, "cases": [], **told, **said})
    return run.path


def judged(*, outcomes: dict[str, int] | None = None, **said: Any) -> dict[str, Any]:
    """A manifest of a run that was judged so."""
    told = {"known": {}, "missed": 0, "unused": 0, "good": True, **said}
    return {"judged": told, "outcomes": outcomes or {"pass": 4}}


OLD, NEW = "20260101T000000Z-small", "20260203T040506Z-small"


def test_runs_stand_the_newest_first_with_what_was_found(tmp_path: Path) -> None:
    kept(tmp_path, OLD, boards={"apf27": {}, "celf-mips": {}}, overrides=[["seed", [1, 2]]])
    new = kept(tmp_path, NEW)
    (new / "report.html").write_text("page")
    keep_headline(new / "report.html", new, "UBIFS is fastest.", "A small study")
    cells, done = shown(tmp_path), "✓ 4\xa0pass"
    assert cells.rows == [
        ["", "2026-02-03 04:05", "UBIFS is fastest.A small study", "small", "apf27", done],
        [*("", "2026-01-01 00:00", "A small study"), "smallseed=1,2", "apf27, celf-mips", done],
    ]
    assert cells.links == [[f"{NEW}/report.html"], []]
    assert cells.words == [str(tmp_path / NEW), str(tmp_path / OLD)]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"outcomes": {"pass": 1_200, "crash": 1}}, "✕ 1\xa0crash, 1,200\xa0pass"),
        ({"outcomes": {"skip": 1, "pass": 3}}, "✓ 1\xa0skip, 3\xa0pass"),
        ({"outcomes": {"short": 4}}, "▲ 4\xa0short"),
        ({"outcomes": {"of-later": 4}}, "✕ 4\xa0of-later"),
        ({"outcomes": None}, "✓ 4 cases"),
        (judged(known={"fail": 1}, outcomes={"fail": 1, "pass": 3}), "▲ 1\xa0known, 3\xa0pass"),
        (
            judged(good=False, known={"fail": 1}, outcomes={"fail": 2, "pass": 2}),
            "✕ 1\xa0fail, 1\xa0known, 2\xa0pass, exit\xa01",
        ),
        (judged(good=False, missed=2), "✕ 4\xa0pass, 2\xa0missed, exit\xa01"),
        (
            judged(good=False, unused=1),
            "✕ 4\xa0pass, limits\xa0not\xa0checked:\xa01, exit\xa01",
        ),
        (judged(unused=1), "✓ 4\xa0pass, limits\xa0not\xa0checked:\xa01"),
        ({"complete": False, "outcomes": None}, "▲ interrupted, 0 of 4 cases"),
        ({"complete": False, "outcomes": {"fail": 1}}, "✕ interrupted, 1 of 4 cases: 1\xa0fail"),
    ],
)
def test_how_a_run_ended(tmp_path: Path, said: dict[str, Any], words: str) -> None:
    kept(tmp_path, NEW, **said)
    ((*_, outcome),) = shown(tmp_path).rows
    assert outcome == words


def test_a_run_that_goes_on(tmp_path: Path) -> None:
    run = RunDirectory(kept(tmp_path, NEW, complete=False, outcomes=None))
    with run.worked_on():
        assert "▲ running, 0 of 4 cases" in shown(tmp_path).rows[0]


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        {"v": 99},
        {"boards": ["apf27"]},
        {"title": None},
        {"overrides": [[1]]},
        {"outcomes": {"pass": "all"}},
        {"judged": {"known": 1}},
    ],
)
def test_a_damaged_run_has_a_row_that_says_so(tmp_path: Path, wrong: dict[str, Any] | None) -> None:
    kept(tmp_path, OLD)
    manifest = kept(tmp_path, NEW) / "manifest.json"
    text = json.dumps({**json.loads(manifest.read_text()), **wrong}) if wrong else "{"
    manifest.write_text(text)
    (tick, started, told, *_, outcome), other = shown(tmp_path).rows
    assert (tick, started, outcome) == ("", "2026-02-03 04:05", "✕ damaged")
    assert told.startswith(f"{NEW}{manifest}: ")
    assert other[-1] == "✓ 4\xa0pass"
    assert shown(tmp_path).words == [str(tmp_path / OLD)]


def test_what_is_wrong_in_a_headline_hides_it_only(tmp_path: Path) -> None:
    run = kept(tmp_path, NEW)
    for wrong in ("{", '{"headline":1,"title":""}', "[]"):
        (run / "report.json").write_text(wrong)
        assert shown(tmp_path).rows[0][2] == "A small study"


def test_pages_beside_the_results_and_comparisons_are_linked(tmp_path: Path) -> None:
    new = kept(tmp_path, NEW)
    kept(tmp_path, OLD)
    for name in ("lifetime.html", "report.html", "advice.html"):
        (new / name).write_text("page")
    page = f"compare-{OLD}..{NEW}.html"
    for name in (page, f"compare-{OLD}..gone.html", "compare-notes.html"):
        (tmp_path / name).write_text("page")
    assert shown(tmp_path).links[0] == [
        f"{NEW}/{name}.html" for name in ("report", "advice", "lifetime")
    ]
    data = re.search(r"<script type=.application/json.>(.*?)</script>", render_index(tmp_path))
    assert data and json.loads(data[1])["pages"] == {"0 1": page}


def test_a_hostile_text_is_only_shown(tmp_path: Path) -> None:
    hostile = "</script><script>alert(1)</script>\"'&\x1b]0;x\x07\u202e\u200b"
    name = "20260203T040506Z-\"><b>\x1b\u202e'\udcff %2e.html"
    run = kept(tmp_path, name, title=hostile, study=hostile, boards={hostile: {}})
    RunDirectory(run).write_manifest(
        {
            **RunDirectory(run).manifest(),
            "outcomes": {hostile: 1},
            "overrides": [[hostile, [hostile]]],
        }
    )
    (run / "report.html").write_text("page")
    keep_headline(run / "report.html", run, hostile, hostile)
    page = render_index(tmp_path)
    assert page.encode()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e]", page)
    assert page.count("<script") == page.count("</script") == 2 and "<b>" not in page
    cells = shown(tmp_path)
    assert cells.rows[0][2].startswith("</script><script>alert(1)</script>\"'&\\x1b]0;x")
    (link,) = cells.links[0]
    assert re.fullmatch(r"[\w%./-]+", link) and link.endswith("/report.html")


def test_the_same_runs_give_the_same_bytes(tmp_path: Path) -> None:
    kept(tmp_path, NEW)
    kept(tmp_path, OLD)
    first = write_index(tmp_path).read_bytes()
    assert write_index(tmp_path).read_bytes() == first
    assert not list(tmp_path.glob(".*"))


def test_it_reads_no_results(tmp_path: Path) -> None:
    run = kept(tmp_path, NEW)
    for name in ("results.jsonl", "wall.jsonl"):
        (run / name).mkdir()  # cannot be read
    (run / "cases").write_text("no directory")
    assert shown(tmp_path).rows[0][-1] == "✓ 4\xa0pass"


def test_another_s_page_stays(tmp_path: Path) -> None:
    (tmp_path / INDEX).write_text("mine")
    with pytest.raises(UsageError, match="not an index of ffslab's"):
        write_index(tmp_path)
    assert (tmp_path / INDEX).read_text() == "mine"


def rows(root: Path = RESULTS) -> list[list[str]]:
    """Of the index as it stands."""
    return read_page((root / INDEX).read_text(encoding="utf-8")).rows


def test_it_is_made_anew_after_each_run_report_and_removal(ffslab_command: Command) -> None:
    ffslab_command(*RUN)
    assert [row[2] for row in rows()] == ["A small study"]
    ffslab_command(*RUN, "--set", "state=free")
    assert [row[3] for row in rows()] == ["smallstate=free", "small"]
    told = ffslab_command("report", "latest").output
    run = find_run("latest", RESULTS)
    assert told == f"{run.path}/report.html\n"
    headline = json.loads((run.path / "report.json").read_text())["headline"]
    assert headline and rows()[0][2] == f"{headline}A small study"
    assert f'href="{run.path.name}/report.html"' in (RESULTS / INDEX).read_text()
    ffslab_command("rm", "--yes", "latest")
    assert [row[3] for row in rows()] == ["small"]


def test_only_the_run_s_own_report_speaks_for_it(ffslab_command: Command, tmp_path: Path) -> None:
    ffslab_command(*RUN)
    ffslab_command("report", "latest", "--to", str(tmp_path / "elsewhere.html"))
    assert (tmp_path / "elsewhere.html").exists()
    assert not (find_run("latest", RESULTS).path / "report.json").exists()


def test_a_directory_that_is_not_for_runs_gets_no_index(ffslab_command: Command) -> None:
    """A run that was moved among other files; an index that is there is kept up to date."""
    ffslab_command(*RUN)
    run = find_run("latest", RESULTS)
    Path("archive").mkdir()
    run.path.rename(Path("archive") / run.path.name)
    assert ffslab_command("report", f"archive/{run.path.name}").code == 0
    assert not Path("archive", INDEX).exists()
    write_index(Path("archive"))
    (Path("archive") / run.path.name / "extra.html").write_text("page")
    assert ffslab_command("report", f"archive/{run.path.name}").code == 0
    assert "extra.html" in Path("archive", INDEX).read_text()


def test_a_run_goes_on_where_another_s_page_is(ffslab_command: Command) -> None:
    RESULTS.mkdir()
    (RESULTS / INDEX).write_text("mine")
    result = ffslab_command(*RUN)
    assert (result.code, result.error) == (0, "")
    assert (RESULTS / INDEX).read_text() == "mine"


def test_without_the_packages_of_a_report_there_is_none(
    ffslab_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = ffslab_command(*RUN)
    assert (result.code, result.error) == (0, "")
    assert not (RESULTS / INDEX).exists()
    with pytest.raises(MissingExtraError):
        write_index(RESULTS)
    missing = ffslab_command("open", "index", "--print")
    assert missing.code == MissingExtraError.exit_code and "ffslab[report]" in missing.error


def test_a_comparison_in_the_directory_of_runs_is_known_to_the_index(
    ffslab_command: Command,
) -> None:
    for _ in range(2):
        ffslab_command(*RUN)
    old, new = (path.parent.name for path in sorted(RESULTS.glob("*/manifest.json")))
    page = f"compare-{old}..{new}.html"
    assert page not in (RESULTS / INDEX).read_text()
    compared = ffslab_command("compare", old, new, "--html", "results")
    assert (compared.code, compared.error) == (0, f"page: results/{page}\n")
    assert (RESULTS / page).is_file() and page in (RESULTS / INDEX).read_text()
    axis = ("--axis", "state", "--html", "results")
    assert ffslab_command("compare", old, *axis).code == 0
    assert (RESULTS / f"compare-{old}..state.html").is_file()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that the browser was asked for."""
    asked: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: bool(asked.append(url)) or True)
    return asked


def test_open_shows_a_report_and_writes_it_first(
    ffslab_command: Command, opened: list[str]
) -> None:
    ffslab_command(*RUN)
    run = find_run("latest", RESULTS).path
    page = run / "report.html"
    assert not page.exists()
    result = ffslab_command("open")
    assert (result.code, result.output, result.error) == (0, "", "")
    assert opened == [page.resolve().as_uri()] and page.exists()
    assert f'href="{run.name}/report.html"' in (RESULTS / INDEX).read_text()
    page.write_text("as it is")
    printed = ffslab_command("open", run.name, "--print")
    assert printed.output == f"{page}\n" and len(opened) == 1
    assert page.read_text() == "as it is"


def test_open_shows_the_index_and_writes_it_anew(
    ffslab_command: Command, opened: list[str]
) -> None:
    ffslab_command(*RUN)
    (RESULTS / INDEX).unlink()
    assert ffslab_command("open", "index", "--print").output == f"results/{INDEX}\n"
    assert opened == []
    assert ffslab_command("open", "index").code == 0
    assert opened == [(RESULTS / INDEX).resolve().as_uri()]


def test_what_cannot_be_opened(ffslab_command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for words in (("open",), ("open", "index"), ("open", "no-such-run")):
        result = ffslab_command(*words)
        assert result.code == 2 and "in results" in result.error and "next: " in result.error
    assert not RESULTS.exists()
    ffslab_command(*RUN)
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    alone = ffslab_command("open", "index")
    assert alone.code == 3 and "there is no browser" in alone.error
