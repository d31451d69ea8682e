"""What ffslab reproduces of publications it goes on reproducing: no build loses a ✔.

tests/golden/published.json has the mark of each statement. Usually two cheap statements are run,
FFSLAB_NIGHTLY=1 runs all, half an hour, and compares the documents with what comes out.

    FFSLAB_NIGHTLY=1 ./ffslab test tests/lab/test_reproduced.py

A better mark, and figures that moved, are told too: `./ffslab reproduce all --markdown docs`
writes the documents anew, and the golden file has the marks of their headings.
"""

from __future__ import annotations

import json
import re
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


def test_a_statement_is_measured_on_two_targets(tmp_path: Path) -> None:
    """C9 is of three cases; on both JFFS2 deletes first, so the mark is the same."""
    words = ("--target", "qemu", "--json", "-o", str(tmp_path))
    done = ffslab("reproduce", "C9", *words)
    assert done.returncode == 0, done.stderr
    (statement,) = json.loads(done.stdout)["statements"]
    assert statement["here"] == statement["there"] == MARKS["C9"]
    pairs = [(each["here"], each["there"]) for each in statement["figures"]]
    # Two absolute figures, a ratio, and the sides of an order; code has another price there.
    assert len(pairs) == 5 and all(0.3 < here / there < 3 for here, there in pairs)
    assert all(here != there for here, there in pairs)


@pytest.mark.skipif(not NIGHTLY, reason="an hour: FFSLAB_NIGHTLY=1")
def test_the_lab_agrees_with_itself_as_stated(tmp_path: Path) -> None:
    kept = (ROOT / "docs" / "published" / "against-qemu.md").read_text(encoding="utf-8")
    (names,) = re.findall(r"^\./ffslab reproduce (.*) --target qemu --markdown docs$", kept, re.M)
    words = ("--target", "qemu", "-o", str(tmp_path / "runs"), "--timeout", "3600")
    done = ffslab("reproduce", *names.split(), *words, "--markdown", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "published" / "against-qemu.md").read_text(encoding="utf-8") == kept


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
