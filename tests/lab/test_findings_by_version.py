"""The findings of JFFS2, UBI and UBIFS are in the versions of Linux that docs/findings.md says.

FFSLAB_NIGHTLY=1 builds the kernels, and gives each input to each: an hour.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from findings_by_version import cell
from guest_programs import NIGHTLY

from findings import cells

pytestmark = pytest.mark.skipif(not NIGHTLY, reason="FFSLAB_NIGHTLY=1 builds other kernels")


CELLS = [(number, kernel) for number, row in cells().items() for kernel in row]


@pytest.mark.parametrize(("number", "kernel"), CELLS)
def test_the_finding_is_where_the_document_says(number: str, kernel: str, tmp_path: Path) -> None:
    assert cell(number, kernel, tmp_path) == cells()[number][kernel]
