"""The first screens of shipped studies: what one reads in ten seconds beside the question asked.

Recorded runs (`first_screens.py`) are rendered; the headline is compared exactly, the picture with
a tolerance, since fonts differ between machines. To add a study:
PYTHONPATH=src:tests PYTHON tests/e2e/first_screens.py record RUN_DIRECTORY
"""

from __future__ import annotations

from pathlib import Path

import first_screens
import pytest
from browser_support import Browser, likeness, screenshot

from ffslab.report import build
from loaded_support import RECORDED, recorded, unpacked

# Another font, even of fixed width, moves 0.42 of the ink out of a part of the picture; without the
# chart, the scoreboard or the headline some part has less than 0.3.
_TOLERANCE = 0.5
STUDIES = first_screens.headlines()


@pytest.fixture
def page(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return build(unpacked(request.param, tmp_path))


@pytest.mark.parametrize(
    ("page", "study"), [(study, study) for study in STUDIES], indirect=["page"]
)
def test_the_first_screen_is_as_recorded(
    browser: Browser, page: Path, study: str, tmp_path: Path
) -> None:
    assert first_screens.first_screen(page)[0] == STUDIES[study]
    taken = tmp_path / "taken.png"
    screenshot(browser, page, taken)
    assert likeness(browser, RECORDED / f"{study}.png", taken) > _TOLERANCE


def test_every_picture_has_its_headline_and_run() -> None:
    pictures = {path.stem for path in RECORDED.glob("*.png")}
    assert pictures == set(STUDIES) <= set(recorded())


@pytest.mark.parametrize("page", ["database"], indirect=True)
@pytest.mark.parametrize(
    ("part", "without"),
    [
        ('<div class="picture"', '<div class="picture" hidden'),
        ('<table class="score"', '<table class="score" hidden'),
        ('<p class="headline"', '<p class="headline" hidden'),
        ("<style>", "<style media=print>"),
    ],
)
def test_a_screen_without_one_of_its_parts_is_noticed(
    browser: Browser, page: Path, part: str, without: str
) -> None:
    text = page.read_text(encoding="utf-8")
    assert part in text
    page.write_text(text.replace(part, without), encoding="utf-8")
    taken = page.with_suffix(".png")
    screenshot(browser, page, taken)
    assert likeness(browser, RECORDED / "database.png", taken) < _TOLERANCE


@pytest.mark.parametrize("page", ["database"], indirect=True)
def test_another_font_is_no_difference(browser: Browser, page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("system-ui, ", "DejaVu Serif, "), encoding="utf-8")
    taken = page.with_suffix(".png")
    screenshot(browser, page, taken)
    assert _TOLERANCE < likeness(browser, RECORDED / "database.png", taken) < 1
