"""Statements of publications: their files, formulas, the rule, and what is shown of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from math import inf
from pathlib import Path

import pytest
from cli_support import Command
from host_support import STUDY

import ffslab.published.load
from ffslab.errors import SpecError, UsageError
from ffslab.published.beside import (
    document,
    judged,
    score_text,
    total,
)
from ffslab.published.formula import Compared, Formulas, NotMeasuredError
from ffslab.published.judge import (
    Mark,
    Published,
    judged_figure,
    judged_order,
    number_text,
)
from ffslab.published.load import (
    Publication,
    chosen,
    load_publication,
    publication_files,
    publications,
)
from ffslab.published.plan import planned
from ffslab.report.published.chart import maps
from ffslab.report.published.page import first_sentences, headline

ROOT = Path(__file__).resolve().parents[2]
NAMES = tuple(each.name for each in publications())
MARKS: dict[str, str] = json.loads((ROOT / "tests" / "golden" / "published.json").read_text())
EVERY = {
    **{f"A{number}": "cse12" for number in range(1, 17)},
    **{f"B{number}": "ffsmark" for number in range(1, 7)},
    **{f"C{number}": "ewili12" for number in range(1, 10)},
    **{f"D{number}": "celf09" for number in range(1, 11)},
    **{f"E{number}": "yaffs11" for number in range(1, 7)},
    **{f"F{number}": "boards" for number in range(1, 22)},
}

SMALL = """
schema = 1
name = "small"
title = "A small publication"
minutes = 1
board = "a board"
chip = "a chip"

[source]
authors = "A. Author"
title = "A title"
venue = "A venue"
year = 2015

[runs.main]
study = "STUDY"
seeds = [1, 2]
figure = "creation.time"

[values]
jffs2 = 'figure("main", "jffs2-free")'

[[statement]]
id = "Z1"
place = "an experiment"
says = "UBIFS takes half of JFFS2's time."

[[statement.figure]]
title = "JFFS2 ÷ UBIFS, {state}"
published = [2, 3]
ours = 'figure("main", "jffs2-{state}") / figure("main", "ubifs-{state}")'
each = { state = ["free", "aged"] }

[[statement.order]]
title = "UBIFS first"
holds = 'jffs2 / s > min(figures("main", "ubifs-*")) / s'
unit = "s"

[[statement.cause]]
text = "Something else."

[[statement.cause.figure]]
title = "JFFS2, with another state"
published = 2
unit = "s"
ours = "jffs2 / s"
changed = 'figure("main", "jffs2-aged") / s'
"""


@dataclass
class Known:
    """A reader of figures that are stated here, by their cases."""

    values: dict[str, float] = field(default_factory=dict)

    def figure(self, run: str, case: str, word: str = "") -> float:
        if case not in self.values:
            raise NotMeasuredError(f"{case} of {run}: fail{word}")
        return self.values[case]

    def figures(self, run: str, case: str, word: str = "") -> tuple[float, ...]:
        assert (run, case, word) == ("main", "*", "") or case == "ubifs-*"
        return tuple(value for name, value in self.values.items() if fnmatch(name, case))

    def spent(self, run: str, case: str, phase: str) -> str:
        return phase if case in self.values else run

    def stored(self, run: str, case: str, key: str) -> float:
        return self.values[f"{case}{key}"] if run == "main" else 0.0

    def grade(self, run: str, filesystem: str, criterion: str) -> float:
        return float(len(run + filesystem + criterion))

    def code_bytes(self, filesystem: str) -> float:
        return 400.0 * len(filesystem)


FREE = {"jffs2-free": 6e9, "ubifs-free": 3e9, "jffs2-aged": 9e9, "ubifs-aged": 3e9}
Made = Callable[[str], Path]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Writes a file of statements, which is the only one then, with a small study beside it."""
    folder = tmp_path / "published"
    folder.mkdir()
    study = tmp_path / "study.toml"
    study.write_text(STUDY, encoding="utf-8")
    monkeypatch.setattr(ffslab.published.load, "data_dir", lambda _: folder)

    def write(text: str) -> Path:
        path = folder / "small.toml"
        path.write_text(text.replace("STUDY", str(study)), encoding="utf-8")
        return path

    return write


@pytest.fixture
def small(made: Made) -> Publication:
    return load_publication(made(SMALL))


def formulas(**values: str) -> Formulas:
    return Formulas(Known(FREE), values, "file.toml")


# Files


def test_each_statement_is_in_one_publication() -> None:
    stated = {
        statement.id: name
        for name, path in publication_files().items()
        for statement in load_publication(path).statements
    }
    assert stated == EVERY and set(MARKS) == set(EVERY)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_formulas_name_cases_and_metrics_that_there_are(name: str) -> None:
    plan = planned(load_publication(publication_files()[name]))
    assert plan.case_count > 10
    assert {run.key for run in plan.runs} == set(plan.publication.runs)


@pytest.mark.parametrize("name", NAMES)
def test_what_does_not_agree_has_a_cause(name: str) -> None:
    publication = load_publication(publication_files()[name])
    for statement in publication.statements:
        if MARKS[statement.id] != Mark.AGREES:
            assert statement.causes, statement.id


def test_words_choose_publications_and_statements() -> None:
    (ffsmark,) = chosen(["ffsmark"])
    assert ffsmark.is_whole and len(ffsmark.statements) == 6
    some = chosen(["C3", "B6", "B1"])
    assert [[one.id for one in each.statements] for each in some] == [["B1", "B6"], ["C3"]]
    assert not some[0].is_whole
    assert [each.name for each in chosen(["all", "B1"])] == list(NAMES)
    with pytest.raises(UsageError, match=r"no publication 'ffsmrk' \(did you mean 'ffsmark'"):
        chosen(["ffsmrk"])


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('name = "small"', 'name = "other"', "its name is 'other'"),
        ("published = [2, 3]", "published = [2, 3, 4]", "published has 3 numbers"),
        ("published = [2, 3]\n", "", "needs published, or at_least"),
        ("published = [2, 3]", "published = [2, 3]\nat_most = 4", "needs published, or at_least"),
        ('{ state = ["free", "aged"] }', '{ state = ["free"], a = ["b", "c"] }', "as many words"),
        ("says =", "say =", "unknown key 'statement.0.say'"),
        ("schema = 1", "schema = 2", "schema = 2: this ffslab reads schema 1"),
    ],
)
def test_a_wrong_file_is_told(made: Made, old: str, new: str, told: str) -> None:
    assert old in SMALL
    with pytest.raises(SpecError, match=re.escape(told)):
        load_publication(made(SMALL.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"jffs2-{state}"', '"jfs2-{state}"', "run 'main' has no case 'jfs2-free' (did you mean"),
        ('figure("main", "jffs2-free")', 'figure("mian", "x")', "'mian' (did you mean 'main'?)"),
        ("creation.time", "creation.tiem", "no case has a figure 'creation.tiem' (did you mean"),
        ('"jffs2-{state}"', '"jffs2-*"', "means 2 configurations"),
        ("[values]", '[runs.more]\nstudy = "STUDY"\n\n[values]', "no formula names the run 'more'"),
    ],
)
def test_a_wrong_formula_is_told_before_anything_runs(
    made: Made, old: str, new: str, told: str
) -> None:
    assert old in SMALL
    with pytest.raises(SpecError, match=re.escape(told)) as error:
        planned(load_publication(made(SMALL.replace(old, new))))
    assert error.value.cause and error.value.remedy


def test_a_plan_has_the_cases_of_its_formulas(small: Publication) -> None:
    (run,) = planned(small).runs
    assert len(run.prepared.cases) == 8 and run.prepared.is_whole is False
    (run,) = planned(small.only(["Z1"])).runs
    assert [case.id for case in run.prepared.cases][:2] == ["jffs2-free-s1", "jffs2-free-s2"]


# Formulas


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3 - 4 / 8", 6.5),
        ("-(2 - 5)", 3),
        ('figure("main", "jffs2-free") / s', 6),
        ("half * 2", 6),
        ('min(figures("main", "*")) / s + max(1, 2)', 5),
        ('mean(figures("main", "*")) / s', 5.25),
        ("sum(1, 2, 3)", 6),
        ("abs(1 - 3)", 2),
        ('stored("main", "jffs2", "-free") / ms', 6000),
        ('grade("main", "x", "y")', 6),
        ('code_bytes("jffs2") / KB', 2),
        ("1 +\n   1", 2),
    ],
)
def test_a_formula_is_arithmetic_over_figures(text: str, value: float) -> None:
    assert formulas(half='figure("main", "ubifs-free") / s').number(text) == value


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1 +", "is no formula"),
        ("__import__('os').system('true')", "has"),
        ("(1).real", "has '1 .real' in it"),
        ("[1, 2][0]", "in it"),
        ("2 ** 1000", "in it"),
        ("lambda: 1", "in it"),
        ("True", "has 'True' in it"),
        ("'text'", "in it"),
        ("open('x')", "calls open()"),
        ("figure('main')", "calls figure() with 1 words"),
        ("figure(1, 2)", "with other than texts"),
        ("figure('main', case='x')", "in it"),
        ("min()", "min() of nothing"),
        ("figures('main', '*')", "is several numbers"),
        ("figures('main', '*') + 1", "calculates with several numbers"),
        ("other", "names 'other'"),
        ("loop", "names 'loop'"),
        ("1 < 2", "in it"),
    ],
)
def test_anything_else_is_refused(text: str, told: str) -> None:
    with pytest.raises(SpecError, match=re.escape(told)):
        formulas(loop="loop + 1").number(text)


def test_an_order_compares_neighbours() -> None:
    assert formulas().compared("1 < 2 <= 3") == (Compared(1, "<", 2), Compared(2, "<=", 3))
    for text in ("1", "1 == 1", "1 < 2 != 3"):
        with pytest.raises(SpecError):
            formulas().compared(text)


def test_what_is_divided_by_nothing_is_not_measured() -> None:
    with pytest.raises(NotMeasuredError, match="divides by 0"):
        formulas().number("1 / (2 - 2)")


# The rule


@pytest.mark.parametrize(
    ("published", "ours", "mark"),
    [
        ((2, 2), 3.0, Mark.AGREES),
        ((2, 2), 3.01, Mark.DIRECTION),
        ((3, 3), 2.0, Mark.AGREES),
        ((3, 3), 1.99, Mark.DIRECTION),
        ((2, 2), 1.01, Mark.DIRECTION),  # no difference
        ((1.3, 1.3), 1.01, Mark.DIRECTION),  # within 1.5, but no difference
        ((1.3, 1.3), 0.97, Mark.REVERSED),
        ((0.5, 0.5), 0.6, Mark.AGREES),
        ((0.5, 0.5), 1.1, Mark.REVERSED),
        ((1, 1), 1.4, Mark.AGREES),
        ((1, 1), 1.6, Mark.REVERSED),
        ((2, inf), 100.0, Mark.AGREES),
        ((2, inf), 1.4, Mark.AGREES),
        ((2, inf), 1.2, Mark.DIRECTION),
        ((8, 12), 10.0, Mark.AGREES),
        ((8, 12), 30.0, Mark.DIRECTION),
        ((8, 12), 0.5, Mark.REVERSED),
        ((0, 0.5), 0.1, Mark.AGREES),
    ],
)
def test_a_ratio_has_a_size_and_a_direction(
    published: tuple[float, float], ours: float, mark: Mark
) -> None:
    assert judged_figure("", Published(*published), ours, "").mark is mark


@pytest.mark.parametrize(
    ("published", "ours", "mark"),
    [(10, 15, Mark.AGREES), (10, 200, Mark.DIRECTION), (0, 0, Mark.AGREES), (0, 1, Mark.DIRECTION),
     (20, 0, Mark.DIRECTION)],
)  # fmt: skip
def test_an_amount_has_no_direction(published: float, ours: float, mark: Mark) -> None:
    assert judged_figure("", Published(published, published), ours, "s").mark is mark


@pytest.mark.parametrize(
    ("pair", "mark"),
    [
        ((3, ">", 2), Mark.AGREES),
        ((2, ">", 3), Mark.REVERSED),
        ((2, "<", 3), Mark.AGREES),
        ((100, ">", 99), Mark.DIRECTION),
        ((99, ">", 100), Mark.DIRECTION),
        ((100, ">=", 100), Mark.AGREES),
        ((90, ">=", 100), Mark.REVERSED),
        ((1, ">", 0), Mark.AGREES),
        ((0, ">", 0), Mark.DIRECTION),
        ((0, ">", 1), Mark.REVERSED),
    ],
)
def test_an_order_holds_or_is_reversed(pair: tuple[float, str, float], mark: Mark) -> None:
    assert judged_order("", [Compared(*pair)], "").mark is mark


def test_an_order_of_several_is_as_good_as_its_worst_pair() -> None:
    pairs = [Compared(1, "<", 2), Compared(2, "<", 1.5), Compared(1.5, "<", 0.5)]
    made = judged_order("", pairs, "")
    assert made.mark is Mark.REVERSED and made.sides == (1.5, 0.5)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (1, "1"), (1.234, "1.23"), (12.34, "12.3"), (123.4, "123"), (12345, "12,300"),
     (0.0123, "0.0123"), (0.5, "0.5"), (0.00001, "1.0e-05"), (99.96, "100"), (-2.5, "-2.5")],
)  # fmt: skip
def test_numbers_are_short(number: float, text: str) -> None:
    assert number_text(number) == text


def test_a_statement_is_as_good_as_its_worst_figure(small: Publication) -> None:
    result = judged(small, Known(FREE))
    (statement,) = result.statements
    assert [check.mark for check in statement.checks] == [Mark.AGREES] * 3
    assert statement.mark is Mark.AGREES and result.score[Mark.AGREES] == 1
    changed = judged(small, Known(FREE | {"ubifs-aged": 18e9})).statements[0]
    assert changed.mark is Mark.REVERSED and changed.deciding.title == "JFFS2 ÷ UBIFS, aged"
    assert changed.causes[0].changes[0].text == "9 s instead of 6 s; published 2 s"


def test_what_failed_is_never_marked(small: Publication) -> None:
    without = {case: value for case, value in FREE.items() if case != "jffs2-aged"}
    result = judged(small, Known(without))
    assert result.statements[0].mark is Mark.NOT_MEASURED
    assert result.statements[0].deciding.why == "jffs2-aged of main: fail"
    assert score_text(result.score) == "0 ✔ 0 ≈ 0 ✘ of 1, 1 not measured"
    assert document(result)["statements"][0]["figures"][1]["ours"] is None
    assert headline(total([result.score])) == "Of 1 published statement 1 were not measured."


def test_the_document_has_exact_numbers(small: Publication) -> None:
    # 6 ÷ 3 s is a published 2; 9 ÷ 18 is half of what is on the wrong side of a published 3.
    plain = document(judged(small, Known(FREE | {"ubifs-aged": 18e9})))
    source = {"authors": "A. Author", "title": "A title", "venue": "A venue", "year": 2015}
    ratio = {"unit": "", "why": ""}
    free = {"title": "JFFS2 ÷ UBIFS, free", "mark": "✔", "at_least": 2.0, "at_most": 2.0}
    aged = {"title": "JFFS2 ÷ UBIFS, aged", "mark": "✘", "at_least": 3.0, "at_most": 3.0}
    first = {"title": "UBIFS first", "mark": "✔", "sides": [6.0, 3.0], "sign": ">"}
    changed = {"title": "JFFS2, with another state", "unit": "s", "published": 2.0}
    figures = [{**changed, "ours": 6.0, "changed": 9.0, "why": ""}]
    assert plain == {
        "name": "small",
        "title": "A small publication",
        "source": source,
        "board": "a board",
        "chip": "a chip",
        "errors": [],
        "score": {"✔": 0, "≈": 0, "✘": 1, "–": 0},
        "statements": [
            {
                "id": "Z1",
                "mark": "✘",
                "place": "an experiment",
                "says": "UBIFS takes half of JFFS2's time.",
                "figures": [
                    {**free, **ratio, "ours": 2.0, "ratio": 1.0},
                    {**aged, **ratio, "ours": 0.5, "ratio": 0.5 / 3},
                ],
                "orders": [{**first, "ratio": 2.0, "why": ""}],
                "causes": [{"text": "Something else.", "figures": figures, "maps": []}],
            }
        ],
    }


# The command


def test_the_command_lists_publications(ffslab_command: Command) -> None:
    done = ffslab_command("reproduce")
    assert done.code == 0 and "ffsmark  B1 to B6" in done.output
    assert max(map(len, done.output.splitlines())) <= 80
    assert ffslab_command("reproduce", "nothing").code == 2


def test_cases_are_run_once_and_failures_are_told(ffslab_command: Command, made: Made) -> None:
    made(SMALL)
    done = ffslab_command("reproduce", "small", "--dry-run")
    assert done.code == 0 and "8 cases for 1 statements of small" in done.output
    words = ("--json", "--no-report", "-o", "runs")
    done = ffslab_command("reproduce", "all", *words)
    (told,) = json.loads(done.output)["publications"]
    # One recording is every guest, so all figures are alike.
    assert done.code == 0 and told["score"] == {"✔": 0, "≈": 1, "✘": 0, "–": 0}
    ran = len(ffslab_command.target.ran)
    assert ffslab_command("reproduce", "Z1", *words).code == 0
    assert len(ffslab_command.target.ran) == ran == 8
    ffslab_command.target.files = {"ubifs-aged-s2": ("panic.log", "cut.jsonl")}
    done = ffslab_command("reproduce", "Z1", "--fresh", *words)
    (statement,) = json.loads(done.output)["publications"][0]["statements"]
    assert done.code == 1 and len(ffslab_command.target.ran) == 2 * ran
    assert statement["mark"] == "–" and "ubifs-aged-s2" in statement["figures"][1]["why"]


def test_figures_of_boards_have_errors_and_what_ours_is_made_of(
    small: Publication, tmp_path: Path
) -> None:
    """Of 2 and 3 ours are 2 and 6: off by nothing, and by as much as is published."""
    text = SMALL.replace('title = "JFFS2 ÷ UBIFS, {state}"', 'title = "{state}"\nof = "ratios"')
    text = text.replace('board = "a board"', 'measurements = true\nboard = "several"')
    (tmp_path / "small.toml").write_text(text.replace("STUDY", small.runs["main"].study))
    boards = judged(load_publication(tmp_path / "small.toml"), Known(FREE | {"ubifs-aged": 1.5e9}))
    assert not boards.states and judged(small, Known(FREE)).states
    rows = [(each.of, each.count, each.median, each.worst) for each in boards.errors]
    assert rows == [("ratios", 2, 0.5, 1.0), ("all", 2, 0.5, 1.0)]
    assert boards.errors[0].worst_title == "Z1, aged"
    # A formula of two figures is made of neither's time.
    assert [check.spent for check in boards.statements[0].figures] == ["", ""]
    formulas = Formulas(Known(FREE), {}, "here")
    assert formulas.spent('figure("main", "jffs2-free", "mount-2/attach-2.time") / s') == "attach-2"
    assert formulas.spent("1 + 2") == formulas.spent('figure("main", "jffs2-free")') == ""
    assert document(boards)["errors"][1]["of"] == "all"
    off = "Of 2 figures of boards half are off by at most 50 %, all by at most 100 %."
    assert first_sentences([boards]) == off
    told = first_sentences([judged(small, Known(FREE)), boards])
    assert told == f"Of 1 published statement 1 agree ✔. {off}"


MAP = """
[[statement.cause.map]]
title = "time"
unit = "s"
ours = 'figure("main", "{fs}-{state}") / s'
across = { key = "state", title = "state", words = ["free", "aged"], names = ["new", "used"] }
down = { key = "fs", title = "file system", words = ["jffs2", "ubifs"] }
"""
EMPTY = MAP.replace("across", 'empty = [["aged", "ubifs"]]\nacross')


def with_map(tmp_path: Path, study: str, text: str) -> Publication:
    (tmp_path / "small.toml").write_text(SMALL.replace("STUDY", study) + text)
    return load_publication(tmp_path / "small.toml")


def test_a_cause_has_a_map_over_two_settings(small: Publication, tmp_path: Path) -> None:
    made = with_map(tmp_path, small.runs["main"].study, MAP)
    known = {case: value for case, value in FREE.items() if case != "ubifs-aged"}
    (statement,) = judged(made, Known(known)).statements
    (drawn,) = statement.causes[0].maps
    assert drawn.lines == ("jffs2: 6 at new, 9 at used", "ubifs: 3 at new, – at used")
    assert [cell.value for cell in drawn.cells] == [6, 9, 3, None]
    (chart,) = maps(statement, "published-Z1")
    assert "published-Z1-map" in chart and "file system" in chart
    assert 'figure("main", "ubifs-aged") / s' in made.statements[0].formulas
    without = with_map(tmp_path, small.runs["main"].study, EMPTY)
    assert 'figure("main", "ubifs-aged") / s' not in without.statements[0].formulas
    (drawn,) = judged(without, Known(FREE)).statements[0].causes[0].maps
    assert drawn.cells[-1].value is None


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('names = ["new", "used"]', 'names = ["new"]', "2 words have 1 names"),
        ('["jffs2", "ubifs"]', '["jffs2"]', "words"),
    ],
)
def test_a_map_that_is_none_is_refused(
    small: Publication, tmp_path: Path, old: str, new: str, told: str
) -> None:
    with pytest.raises(SpecError, match=told):
        with_map(tmp_path, small.runs["main"].study, MAP.replace(old, new))
