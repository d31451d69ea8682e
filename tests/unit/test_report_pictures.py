"""A chart of a report as a file of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_report_support import write_run
from typer.testing import CliRunner

from ffslab.cli.app import build_app
from ffslab.report.page import render
from ffslab.report.pictures import charts_in, specification


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("runs") / "run")


def asked(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(build_app(), ["report", *words])
    return done.exit_code, done.output + str(done.exception or "")


def test_every_chart_of_a_page_can_be_drawn_alone(run_dir: Path) -> None:
    import vl_convert

    page = render(run_dir)
    charts = charts_in(page)
    assert len(charts) == page.count('<div class="vega"') > 5
    for title, text in charts.values():
        spec = specification(text)
        drawn = vl_convert.vegalite_to_svg(spec, vl_version="6.4")
        assert title and drawn.startswith("<svg") and "#0707" not in drawn and "#0606" not in drawn


@pytest.mark.parametrize(("ending", "begin"), [("svg", b"<svg"), ("png", b"\x89PNG")])
def test_the_file_is_what_its_ending_says(
    run_dir: Path, tmp_path: Path, ending: str, begin: bytes
) -> None:
    target = tmp_path / f"chart.{ending}"
    code, output = asked(str(run_dir), "--chart", "ffsmark-picture", "--to", str(target))
    assert code == 0, output
    assert target.read_bytes().startswith(begin)


def test_what_cannot_be_drawn_is_refused(run_dir: Path, tmp_path: Path) -> None:
    told = asked(str(run_dir), "--chart", "nothing", "--to", str(tmp_path / "x.svg"))[1]
    assert "has no chart 'nothing'" in told
    told = asked(str(run_dir), "--chart", "ffsmark-picture", "--to", str(tmp_path / "x.gif"))[1]
    assert ".svg or .png" in told
    assert list(tmp_path.iterdir()) == []
