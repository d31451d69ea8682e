"""Every figure that a document states is what its commands give today.

`./ffslab test --figures` runs this, and a nightly run of all tests; it takes half an hour.
`python tests/figures PAGE` tells the same, and with --refresh writes the figures of now.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from figure_page import differences
from figure_pages import PAGES
from figure_runs import Runs


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Pages share runs of the same commands."""
    return Runs(tmp_path_factory.mktemp("figures"))


@pytest.mark.parametrize("name", PAGES)
def test_figures_are_as_stated(name: str, runs: Runs) -> None:
    page = PAGES[name]
    told = [str(change) for change in differences(page, page.path.read_text("utf-8"), runs)]
    assert not told, "\n".join(told)


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_names_elsewhere_has_cases(name: str, tmp_path: Path) -> None:
    for command in PAGES[name].elsewhere:
        assert Runs(tmp_path).plan(command), command
