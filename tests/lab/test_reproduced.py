"""What ffslab reproduces of publications it goes on reproducing: no build loses a ✔.

tests/golden/published.json has the mark of each statement. Usually two cheap statements are run,
FFSLAB_NIGHTLY=1 runs all, half an hour, and compares the documents with what comes out.

    FFSLAB_NIGHTLY=1 ./ffslab test tests/lab/test_reproduced.py

A better mark, and figures that moved, are told too: `./ffslab reproduce all --markdown docs`
writes the documents anew, and the golden file has the marks of their headings.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from guest_programs import NIGHTLY
from lab_support import ROOT, ffslab

pytestmark = pytest.mark.usefixtures("lab")
MARKS: dict[str, str] = json.loads((ROOT / "tests" / "golden" / "published.json").read_text())
CHEAP = ("C1", "C3", "A15")  # some ten cases of a second or less


def marks(told: str) -> dict[str, str]:
    """The mark of each statement in what the command prints with --json."""
    publications: list[dict[str, Any]] = json.loads(told)["publications"]
    return {one["id"]: one["mark"] for each in publications for one in each["statements"]}


def test_cheap_statements_keep_their_marks(tmp_path: Path) -> None:
    done = ffslab("reproduce", *CHEAP, "--json", "--no-report", "-o", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert marks(done.stdout) == {name: MARKS[name] for name in CHEAP}


@pytest.mark.skipif(not NIGHTLY, reason="half an hour: FFSLAB_NIGHTLY=1")
def test_no_statement_loses_its_mark(tmp_path: Path) -> None:
    documents = tmp_path / "docs"
    documents.mkdir()
    index = (ROOT / "docs" / "published.md").read_text(encoding="utf-8")
    (documents / "published.md").write_text(index, encoding="utf-8")
    words = ("--json", "-o", str(tmp_path / "runs"), "--markdown", str(documents))
    done = ffslab("reproduce", "all", *words, "--timeout", "3600")
    assert done.returncode == 0, done.stderr
    assert marks(done.stdout) == MARKS
    for path in (*documents.glob("*.md"), *documents.glob("published/*.md")):
        kept = ROOT / "docs" / path.relative_to(documents)
        assert path.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8"), path.name
