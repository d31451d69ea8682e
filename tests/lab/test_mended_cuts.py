"""JFFS2 and UBIFS with the changes of kernel/fixes, where power is cut or the chip fails.

Without them `test_series` and others find the same; `mended.py` says what is built.
"""

from __future__ import annotations

from dataclasses import replace
from errno import EIO
from pathlib import Path

import pytest
from cut_guests import cases_of_text, cuts_by_case, run_of
from finding_inputs import CLEAN_BLOCKS, CUT_ERASES, ONE_ACT, TORN_UPDATE, study
from lab_support import boot
from mended import catalog_with
from test_crash_walk import HISTORY, PROGRAM, case_of, history_steps, run
from test_series import study as series

from ffslab.lab import ensure_lab
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.oracle import promises
from ffslab.results.console import scan_console


@pytest.fixture(scope="module")
def catalog(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> Path:
    del lab  # has a source
    return catalog_with(tmp_path_factory.mktemp("mended"), "jffs2")


@pytest.fixture
def promised(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module's type of file system promises what the kernel's does."""
    own = {f"{name}x": promises.promise_of(name) for name in ("jffs2", "ubifs")}
    monkeypatch.setattr(promises, "PROMISES", {**promises.PROMISES, **own})


def errno_of_fsync(lab: LabBuild, directory: Path, case: Case) -> int | None:
    """What the first fsync of a history says on a chip that takes no more writes; None: the kernel
    crashes.
    """
    (directory / "history").write_text(HISTORY)
    files = {PROGRAM: lab.cutter, "/test/history": directory / "history"}
    steps = history_steps(case)
    steps.insert(steps.index(run("chip flash0 log 64")) + 1, run("chip flash0 halt 4"))
    plan = "\n".join(steps) + "\n"
    guest = boot(lab, directory / "guest", case, plan, files=files, clean=False)
    if any(message.is_end for message in scan_console(guest.console)):
        return None
    number = HISTORY.splitlines().index("fsync d/a")
    (told,) = (line for line in guest.output.splitlines() if line.startswith(f"op {number} "))
    return int(told.split()[2])


@pytest.mark.usefixtures("promised")
def test_a_write_ends_where_jiffies_stand_still(catalog: Path, tmp_path: Path) -> None:
    """F-JFFS2-20: the sample of `test_series` whose collector takes clean blocks by jiffies."""
    text = series(CLEAN_BLOCKS, ["jffs2-own"])
    (cuts,) = cuts_by_case(run_of(text, tmp_path / "x", catalogs=(catalog,))).values()
    assert cuts["states"] == 200 and not cuts["findings"]
    assert cuts["series"]["lives"] == [0]


@pytest.mark.usefixtures("promised")
def test_a_chip_that_takes_no_more_writes_is_an_error(catalog: Path, tmp_path: Path) -> None:
    """F-JFFS2-06: no crash, and fsync says so."""
    (own,) = cases_of_text(series("cuts = 1", ["jffs2-own"]), (catalog,))
    case = replace(case_of("jffs2"), filesystem=own.filesystem)
    assert errno_of_fsync(ensure_lab(file_systems=[own.filesystem]), tmp_path, case) == EIO


@pytest.mark.usefixtures("promised")
@pytest.mark.parametrize(
    "workload",
    [
        pytest.param(TORN_UPDATE, id="F-JFFS2-01"),
        pytest.param(ONE_ACT, id="F-JFFS2-22"),
    ],
)
def test_jffs2_keeps_every_state(catalog: Path, tmp_path: Path, workload: str) -> None:
    text = study(workload, "jffs2-own")
    (cuts,) = cuts_by_case(run_of(text, tmp_path / "x", catalogs=(catalog,))).values()
    assert cuts["states"] > 50 and not cuts["findings"]


@pytest.mark.usefixtures("promised")
def test_ubifs_comes_through_erases_that_were_cut(lab: LabBuild, tmp_path: Path) -> None:
    """F-UBIFS-01: what is left of a block of the log is not there when the log comes to it."""
    del lab
    own = catalog_with(tmp_path / "mended", "ubifs")
    text = series(CUT_ERASES, ["ubifs-own"])
    (cuts,) = cuts_by_case(run_of(text, tmp_path / "x", catalogs=(own,))).values()
    assert cuts["states"] == 900 and not cuts["findings"]
    assert cuts["series"]["lives"] == [0]
