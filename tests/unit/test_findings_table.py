"""The table of findings by version in docs/findings.md is what was found, of each finding."""

from __future__ import annotations

from ffslab.model.kernels import USUAL_VERSION
from findings import DOCUMENT, NOT_SEEN, NOT_THERE, THERE, by_version_numbers, cells, rows


def test_the_document_has_the_table() -> None:
    assert "\n".join(["", *rows(), ""]) in DOCUMENT.read_text(encoding="utf-8")


NOT_TRIED = {"F-UBIFS-02"}  # half an hour of cuts
KERNELS = {"5.10", "6.1", "6.12", "7.3", "7.3 fixed"}
PARTLY = {"F-UBI-01", "F-UBIFS-08"}  # what shows them is a variant of the kernel, as the fixes are


def test_each_finding_has_a_cell_for_each_kernel() -> None:
    assert {*cells()} == {*by_version_numbers()} - NOT_TRIED
    for number, row in cells().items():
        assert number in PARTLY or {*row} == KERNELS, number
        assert {*row.values()} <= {THERE, NOT_THERE, NOT_SEEN}


def test_each_input_shows_its_finding_in_the_usual_kernel() -> None:
    """Else it says nothing of the others."""
    assert {row[USUAL_VERSION] for row in cells().values()} == {THERE}
