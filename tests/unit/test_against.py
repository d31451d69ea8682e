"""The lab against itself: statements on two targets, their marks and how far figures are off."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Command
from test_published import FREE, SMALL, Known

from ffslab.cli.reproduce import _has_failed
from ffslab.cli.reproduce_tables import print_against
from ffslab.cli.screen import terminal
from ffslab.errors import EXIT_USAGE
from ffslab.published.against import (
    Both,
    against_document,
    agreements,
    beside_each_other,
    flips_text,
    rows,
)
from ffslab.published.beside import judged
from ffslab.published.formula import SkippedError
from ffslab.published.judge import Mark
from ffslab.published.load import Publication, load_publication
from ffslab.published.plan import Plan
from ffslab.published.run import Reproduced
from ffslab.report.published.markdown import write_against
from ffslab.targets import DEFAULT_TARGET


@pytest.fixture
def small(tmp_path: Path) -> Publication:
    path = tmp_path / "small.toml"
    path.write_text(SMALL.replace("STUDY", "quick"))
    return load_publication(path)


def both(small: Publication, there: dict[str, float]) -> tuple[Both, ...]:
    return beside_each_other([judged(small, Known(FREE))], [judged(small, Known(FREE | there))])


def test_a_mark_that_differs_flips_and_the_furthest_figure_is_told(small: Publication) -> None:
    """9 ÷ 18 is on the wrong side of a published 3: here it is 3, there 0.5."""
    statements = both(small, {"ubifs-aged": 18e9})
    (one,) = statements
    assert (one.here, one.there, one.flips) == (Mark.AGREES, Mark.REVERSED, True)
    assert flips_text(statements) == "1 of 1 statements have another mark there: Z1 (✔ → ✘)."
    furthest = ("JFFS2 ÷ UBIFS, aged", "3", "0.5", "500 %")
    assert list(rows(statements)) == [("Z1", "✔", "✘", *furthest)]


def test_errors_are_counted_by_kind(small: Publication) -> None:
    """Two ratios of 2 and 3, the latter 20 % above; the sides of the order are the same."""
    statements = both(small, {"jffs2-aged": 7.5e9})
    told = {each.of: (each.count, round(each.worst, 3)) for each in agreements(statements)}
    assert told == {"ratios": (2, 0.2), "times": (2, 0.0)}
    assert flips_text(statements) == "0 of 1 statements have another mark there."
    assert [each.cells[:4] for each in agreements(statements)] == [
        ("ratios", "2", "10 %", "20 %"),
        ("times", "2", "0 %", "0 %"),
    ]


def test_what_is_not_measured_there_has_the_reason(small: Publication, tmp_path: Path) -> None:
    here = judged(small, Known(FREE))
    without = {case: value for case, value in FREE.items() if case != "jffs2-aged"}
    statements = beside_each_other([here], [judged(small, Known(without))])
    assert statements[0].why == "jffs2-aged of main: fail" and not statements[0].flips
    assert flips_text(statements) == "0 of 0 statements have another mark there."
    document = against_document(statements, "qemu")["statements"][0]
    assert (document["there"], document["why"]) == ("–", "jffs2-aged of main: fail")
    nothing = beside_each_other([here], [judged(small, Known())])
    assert next(rows(nothing))[3] == "jffs2-free of main: fail"
    text = write_against(nothing, "qemu", ["small"], tmp_path).read_text(encoding="utf-8")
    assert "./ffslab reproduce small --target qemu --markdown docs" in text
    assert "| Z1 | ✔ | – | jffs2-free of main: fail |" in text


class Skipping(Known):
    """A reader of a target that can run no case."""

    def figure(self, run: str, case: str, word: str = "") -> float:
        raise SkippedError(f"{case} of {run}: skip: no such chip{word}")


@pytest.mark.parametrize(
    ("reader", "target", "has_failed"),
    [
        (Skipping(), "elsewhere", False),
        (Skipping(), DEFAULT_TARGET, True),
        (Known(), "elsewhere", True),
        (Known(FREE), DEFAULT_TARGET, False),
    ],
)
def test_only_another_target_may_skip(
    small: Publication, reader: Known, target: str, has_failed: bool
) -> None:
    done = Reproduced(Plan(small, (), (), target), judged(small, reader), {}, interrupted=False)
    assert _has_failed(done) is has_failed


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["--to", "page.html"], "--to"),
        (["--no-report"], "--no-report"),
        (["--all", "--to", "page.html"], "--to and --all"),
        (["--all", "--dry-run"], "--all"),
    ],
)
def test_options_of_the_page_are_refused_on_two_targets(
    ffslab_command: Command, given: list[str], named: str
) -> None:
    done = ffslab_command("reproduce", "ffsmark", "--target", "qemu", *given)
    assert done.code == EXIT_USAGE
    assert f"{named} cannot be with --target qemu" in done.error
    assert f"leave out {named};" in done.error


def test_the_terminal_has_80_columns(
    small: Publication, capsys: pytest.CaptureFixture[str]
) -> None:
    print_against(terminal(), both(small, {"ubifs-aged": 18e9}), "qemu")
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["Z1", "✔✘", "JFFS2", "÷", "UBIFS,", "aged", "3", "0.5", "500", "%"]
    assert all(len(line) <= 80 for line in lines[:3])
