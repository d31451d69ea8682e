"""File systems in other versions of Linux: they work, twice the same, and ours as in 6.1.

The newest always; FFSLAB_NIGHTLY=1 fetches 150 MB and builds a kernel for each of the others, and
the kinds of kernels of each.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from guest_programs import NIGHTLY
from lab_support import results, run_study
from test_fastmap import STUDY as FASTMAP

from ffslab.lab.lab import known_source
from ffslab.model.kernels import OF_FIXES, VERSIONS
from ffslab.model.specs import version_and_kind
from ffslab.results.rundir import RESULTS

nightly = pytest.mark.skipif(not NIGHTLY, reason="FFSLAB_NIGHTLY=1 builds other kernels")
NEWEST = VERSIONS[-1]
ALL = 'filesystem=["jffs2", "ubifs", "yaffs2", "logfs"]'


@pytest.fixture(
    scope="module",
    params=[NEWEST, *(pytest.param(each, marks=nightly) for each in VERSIONS if each != NEWEST)],
)
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


SCRIPT = """
schema = 1
name = "own"
title = "A program that needs sockets"

[base]
board = "celf-mips"
filesystem = "ubifs"
partition_bytes = "64 MiB"

[base.workload]
kind = "script"
script = "own.sh"

[axes]
seed = [1]
"""


@nightly
@pytest.mark.parametrize("kernel", ["fixed", *(f"{version}-fixed" for version in OF_FIXES)])
@pytest.mark.parametrize("system", ["jffs2", "ubifs"])
@pytest.mark.parametrize("study", ["random", "power-cuts-all"])
def test_the_fixed_kernel_keeps_what_it_was_told(
    study: str, system: str, kernel: str, tmp_path: Path
) -> None:
    """Most of `random` fails in the usual one, and some states of most histories."""
    words = ("--set", f"filesystem={system}", "--set", f"kernel={kernel}")
    run = run_study(study, tmp_path, *words)
    assert {result["outcome"] for result in results(run)} == {"pass"}


@nightly
@pytest.mark.parametrize("each", VERSIONS)
def test_options_have_their_kernel_in_each_version(each: str, tmp_path: Path) -> None:
    """An attach by a fastmap reads less than half of what one by all headers does."""
    study = tmp_path / "fastmap.toml"
    study.write_text(FASTMAP)
    found = results(run_study(study, tmp_path / "run", "--set", f"kernel={each}"))
    read: dict[str, int] = {}
    for result in found:
        assert result["outcome"] == "pass", (result["id"], result["reason"])
        version, kind = version_and_kind(result["spec"]["kernel"]["variant"])
        assert version == each
        (pages,) = (
            step["pages_read"]
            for step in result["tree"]["steps"]
            if step["step"] == "mount" and not step["prepared"]
        )
        read[kind] = read.get(kind, 0) + pages
    assert 0 < 2 * read["fastmap"] < read["default"]


@nightly
@pytest.mark.parametrize("each", VERSIONS)
def test_a_version_with_sockets(each: str, tmp_path: Path) -> None:
    script = tmp_path / "own.sh"
    script.write_text("python3 -c 'import socket; print(socket.socket(socket.AF_UNIX))'\n")
    (tmp_path / "own.toml").write_text(SCRIPT)
    words = ("--set", f'kernel=["{each}-sockets"]')
    (result,) = results(run_study(tmp_path / "own.toml", tmp_path / "run", *words))
    assert result["outcome"] == "pass", result["reason"]


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
