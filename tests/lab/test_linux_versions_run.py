"""File systems in other versions of Linux: they work, twice the same, and ours as in 6.1.

FFSLAB_NIGHTLY=1 fetches 150 MB and builds a kernel for each.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from guest_programs import NIGHTLY
from lab_support import results, run_study

from ffslab.lab.lab import known_source
from ffslab.model.kernels import VERSIONS
from ffslab.results.rundir import RESULTS

pytestmark = pytest.mark.skipif(not NIGHTLY, reason="FFSLAB_NIGHTLY=1 builds other kernels")

ALL = 'filesystem=["jffs2", "ubifs", "yaffs2", "logfs"]'


@pytest.fixture(scope="module", params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def run(version: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("first")
    return run_study("quick", directory, "--set", ALL, "--set", f"kernel={version}")


def test_two_runs_are_the_same_bytes(run: Path, version: str, tmp_path: Path) -> None:
    again = run_study("quick", tmp_path, "--set", ALL, "--set", f"kernel={version}")
    assert (again / RESULTS).read_bytes() == (run / RESULTS).read_bytes()


def test_a_tree_of_that_version_gives_the_same(run: Path, version: str, tmp_path: Path) -> None:
    """By --kernel-source, with the patches of its version; specs have no kernel then."""
    source = known_source(None, version)
    assert source is not None
    tree = run_study("quick", tmp_path, "--set", ALL, "--kernel-source", str(source.tree))
    for system in ("jffs2", "ubifs", "yaffs2", "logfs"):
        assert programmed(tree, system) == programmed(run, system) != []


@pytest.mark.parametrize("system", ["jffs2", "ubifs"])
@pytest.mark.parametrize("study", ["random", "power-cuts-all"])
def test_the_fixed_kernel_keeps_what_it_was_told(study: str, system: str, tmp_path: Path) -> None:
    """Most of `random` fails in the usual one, and some states of most histories."""
    words = ("--set", f"filesystem={system}", "--set", "kernel=fixed")
    run = run_study(study, tmp_path, *words)
    assert {result["outcome"] for result in results(run)} == {"pass"}


def programmed(run: Path, system: str) -> list[tuple[str, int]]:
    """The pages that each phase of each case of a file system programmed."""
    return [
        (phase["phase"], phase["pages_programmed"])
        for result in results(run)
        if result["axes"]["filesystem"] == system
        for phase in result["phases"]
    ]


@pytest.mark.parametrize(("system", "by_the_clock"), [("yaffs2", 10), ("logfs", 0)])
def test_our_file_systems_program_the_same_pages(
    run: Path, tmp_path: Path, system: str, by_the_clock: int
) -> None:
    """Virtual time passes otherwise: the thread of YAFFS2, which writes changed directories each
    second, of which there are ten, may do so once more in a phase, or once less.
    """
    usual = run_study("quick", tmp_path, "--set", f'filesystem=["{system}"]')
    both = list(zip(programmed(run, system), programmed(usual, system), strict=True))
    assert both and all(ours[0] == theirs[0] for ours, theirs in both)
    more = [abs(ours[1] - theirs[1]) for ours, theirs in both]
    assert set(more) <= {0, by_the_clock}
    # Each of the two states has one phase at most, which is a part of another one, the whole.
    assert len([pages for pages in more if pages]) <= 4


def test_the_kernel_is_of_that_version(run: Path, version: str) -> None:
    kernels = {result["spec"]["kernel"]["variant"] for result in results(run)}
    assert kernels == {version}
    consoles = [path.read_text(errors="replace") for path in run.rglob("console*")]
    assert len(consoles) == 8 and all(f"Linux version {version}." in text for text in consoles)


def test_power_cuts_find_what_they_find_in_the_usual_one(version: str, tmp_path: Path) -> None:
    # It ends with 0 if it finds nothing that docs/findings.md has not.
    assert len(results(run_study("crash-quick", tmp_path, "--set", f"kernel={version}"))) == 15
