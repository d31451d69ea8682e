"""The figures of the answer that costs least are those of its run; a wrong digit of any is told.

All documents: `./ffslab test --figures`. Another build of the lab's kernel may move a last digit:
`python tests/figures compression --refresh` writes it anew.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "figures"))
from figure_page import Hole, differences, holes, refreshed  # noqa: E402
from figure_pages import PAGES  # noqa: E402
from figure_runs import Runs  # noqa: E402

pytestmark = pytest.mark.usefixtures("lab")
CHEAP = ("compression",)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("figures"))


def digits_changed(content: str, places: list[Hole]) -> Iterator[tuple[str, Hole]]:
    """The document with the last digit of one number after the other changed."""
    for hole in places:
        if hole.stated[-1].isdigit() and not hole.within:
            digit = str((int(hole.stated[-1]) + 5) % 10)
            yield content[: hole.end - 1] + digit + content[hole.end :], hole


@pytest.mark.parametrize("name", CHEAP)
def test_figures_are_as_stated_and_each_digit_counts(name: str, runs: Runs) -> None:
    page = PAGES[name]
    content = page.path.read_text(encoding="utf-8")
    assert not differences(page, content, runs)
    changed = list(digits_changed(content, holes(page, content)))
    assert len(changed) > 10
    for planted, hole in changed:
        (told,) = differences(page, planted, runs)
        assert told.hole.start == hole.start
        assert refreshed(planted, [told]) == content
