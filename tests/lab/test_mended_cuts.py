"""JFFS2 with the changes of kernel/fixes, where power is cut or the chip takes no more writes.

Without them `test_series` and `test_cut_kinds` have the same; `mended.py` says what is built.
"""

from __future__ import annotations

from dataclasses import replace
from errno import EIO
from pathlib import Path

import pytest
from cut_guests import cases_of_text, cuts_by_case, run_of
from lab_support import boot
from mended import catalog_with
from test_crash_walk import HISTORY, PROGRAM, case_of, history_steps, run
from test_series import MOVES, study

from ffslab.lab import ensure_lab
from ffslab.lab.lab_build import LabBuild
from ffslab.oracle import promises
from ffslab.results.console import scan_console


@pytest.fixture(scope="module")
def catalog(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> Path:
    del lab  # has a source
    return catalog_with(tmp_path_factory.mktemp("mended"), "jffs2")


@pytest.fixture
def promised(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module's type of file system promises what JFFS2 does."""
    known = {**promises.PROMISES, "jffs2x": promises.promise_of("jffs2")}
    monkeypatch.setattr(promises, "PROMISES", known)


@pytest.mark.usefixtures("promised")
def test_a_write_ends_where_jiffies_stand_still(catalog: Path, tmp_path: Path) -> None:
    """F-JFFS2-20: the sample of `test_series` whose collector takes clean blocks by jiffies."""
    text = study(MOVES.format(cuts=200, acts="moves drop-caches turn-over"), ["jffs2-own"])
    (cuts,) = cuts_by_case(run_of(text, tmp_path / "x", catalogs=(catalog,))).values()
    assert cuts["states"] == 200 and not cuts["findings"]
    assert cuts["series"]["lives"] == [0]


@pytest.mark.usefixtures("promised")
def test_a_chip_that_takes_no_more_writes_is_an_error(catalog: Path, tmp_path: Path) -> None:
    """F-JFFS2-06: no crash, and fsync says so."""
    (own,) = cases_of_text(study("cuts = 1", ["jffs2-own"]), (catalog,))
    case = replace(case_of("jffs2"), filesystem=own.filesystem)
    lab = ensure_lab(file_systems=[own.filesystem])
    (tmp_path / "history").write_text(HISTORY)
    files = {PROGRAM: lab.cutter, "/test/history": tmp_path / "history"}
    steps = history_steps(case)
    steps.insert(steps.index(run("chip flash0 log 64")) + 1, run("chip flash0 halt 4"))
    guest = boot(lab, tmp_path / "guest", case, "\n".join(steps) + "\n", files=files, clean=False)
    assert not any(message.is_end for message in scan_console(guest.console)), guest.console[-3000:]
    number = HISTORY.splitlines().index("fsync d/a")
    (told,) = (line for line in guest.output.splitlines() if line.startswith(f"op {number} "))
    assert int(told.split()[2]) == EIO
