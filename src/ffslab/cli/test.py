"""`ffslab test`: everything that the continuous integration runs, in one command.

Style, types and the C parts first, as many at once as there are processors; then pytest, with a
process for each. All stages run, so that one failure does not hide another; pytest comes last, so
that its summary ends the output.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ffslab.errors import EXIT_FAILED, EXIT_OK, InfrastructureError
from ffslab.paths import cache_dir
from ffslab.program import program

_C_TEST_DIRECTORIES = (
    ("guest", "agent"),
    ("guest", "cutter"),
    ("kmod", "vnand", "test"),
    ("kmod", "vnand_crash", "test"),
    ("kmod", "vnor", "test"),
    ("kmod", "flashmon", "test"),
    ("kmod", "yaffs", "test"),
    ("kmod", "logfs", "test"),
)
_QUICK_TESTS = ("tests/unit", "tests/golden")
_LAB_TESTS = ("tests/lab", "tests/e2e")
_PEER_TESTS = ("tests/peers",)
_FIGURE_TESTS = ("tests/figures",)
_NIGHTLY = "FFSLAB_NIGHTLY"
_PYTHON_CODE = ("src", "tests", "bench", "tools")


@dataclass(frozen=True, slots=True)
class Stage:
    """One external command of the test run."""

    name: str
    command: tuple[str, ...]


def register(app: typer.Typer) -> None:
    app.command(
        "test", context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
    )(test)


def test(
    context: typer.Context,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only what needs no kernel and is not slow: a minute.")
    ] = False,
    peers: Annotated[
        bool,
        typer.Option("--peers", help="Only what others test file systems with: docs/peers.md."),
    ] = False,
    figures: Annotated[
        bool,
        typer.Option("--figures", help="Only the figures of docs/answers, against their runs."),
    ] = False,
) -> None:
    """Run all tests.

    Further arguments go to pytest; then only pytest runs.
    """
    root = checkout_root()
    chosen = (*(_PEER_TESTS if peers else ()), *(_FIGURE_TESTS if figures else ()))
    arguments = [*context.args, *chosen]
    if not quick:
        _prepare_full_run(peers=peers)
    processors = len(os.sched_getaffinity(0))
    failed = [] if arguments else _failed(check_stages(root), root, processors)
    status = _run(pytest_stage(arguments, processors, quick=quick), root)
    if failed:
        # On standard error: the last lines of standard output are pytest's summary.
        typer.echo(f"ffslab test: failed before pytest: {', '.join(failed)}", err=True)
    raise typer.Exit(EXIT_FAILED if failed or status != 0 else EXIT_OK)


def _prepare_full_run(*, peers: bool) -> None:
    """The lab, and the Debian packages that only tests need; `peers` install their own."""
    from ffslab.lab import ensure_lab
    from ffslab.lab.packages import (
        ARM_PACKAGES,
        IMAGE_PACKAGES,
        TEST_PACKAGES,
        ensure_packages,
    )
    from ffslab.lab.progress import ConsoleProgress

    wanted = (*TEST_PACKAGES, *IMAGE_PACKAGES, *ARM_PACKAGES)
    if not peers:
        ensure_packages(wanted, cache_dir() / "test-packages.log", ConsoleProgress())
    ensure_lab()


def checkout_root() -> Path:
    """The repository around this file; raises InfrastructureError in an installed package."""
    root = Path(__file__).resolve().parents[3]
    if not (root / "tests").is_dir():
        raise InfrastructureError(
            "ffslab test needs a checkout",
            cause="ffslab was installed as a package, which has no tests",
            remedy="clone the repository and run ./ffslab test there",
        )
    return root


def check_stages(root: Path) -> list[Stage]:
    """Style, types, and the tests of the C parts.

    Raises InfrastructureError if a directory with C tests is not there: a test that is
    silently left out looks like one that passes.
    """
    stages = []
    for parts in _C_TEST_DIRECTORIES:
        directory = root.joinpath(*parts)
        if not (directory / "Makefile").is_file():
            raise InfrastructureError(
                f"{directory} has no Makefile, so its C tests cannot run",
                cause="an incomplete checkout",
                remedy="git status",
            )
        stages.append(Stage("/".join(parts), ("make", "-s", "-C", str(directory), "test")))
    python = (sys.executable, "-m")
    return [
        *stages,  # the longest first
        Stage("ruff", (*python, "ruff", "check", *_PYTHON_CODE)),
        Stage("ruff format", (*python, "ruff", "format", "--check", *_PYTHON_CODE)),
        Stage("mypy", (*python, "mypy", "--strict")),
    ]


def pytest_stage(arguments: Sequence[str], processors: int, *, quick: bool) -> Stage:
    """Pytest over the user's choice of tests, else over everything that `quick` leaves.

    Everything is run by `processors` processes, the files of the lab's tests first: they are the
    long ones. A file's tests stay in one process, since they share guests.
    """
    command = (sys.executable, "-m", "pytest")
    if any(not word.startswith("-") for word in arguments):
        return Stage("pytest", (*command, *arguments))
    nightly = (
        (*_PEER_TESTS, *_FIGURE_TESTS) if os.environ.get(_NIGHTLY, "") not in ("", "0") else ()
    )
    tests = _QUICK_TESTS if quick else (*nightly, *_LAB_TESTS, *_QUICK_TESTS)
    chosen = ("-m", "not slow") if quick else ()
    workers = ("-n", str(processors), "--dist", "loadfile", "--no-loadscope-reorder")
    return Stage("pytest", (*command, *workers, *chosen, *tests, *arguments))


def _failed(stages: Sequence[Stage], root: Path, processors: int) -> list[str]:
    """Runs stages side by side, shows the output of each in order; names of those that failed."""
    failed = []
    with ThreadPoolExecutor(max_workers=processors) as pool:
        for stage, done in zip(stages, pool.map(partial(_captured, root), stages), strict=True):
            _announce(stage)
            typer.echo(done.stdout, nl=False)
            if done.returncode != 0:
                failed.append(stage.name)
    return failed


def _captured(root: Path, stage: Stage) -> subprocess.CompletedProcess[str]:
    with _explained(stage):
        return subprocess.run(
            stage.command,
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )


def _run(stage: Stage, root: Path) -> int:
    _announce(stage)
    with _explained(stage):
        return subprocess.run(
            stage.command, cwd=root, env=_environment(os.environ), check=False
        ).returncode


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    """That of pytest: all processes of the tests keep the modules that they compile.

    Images of containers often forbid it; then each of them compiles what it loads of ffslab, and
    all tests that it collects, again. It is kept in the cache: nothing is left in the sources.
    """
    forbidden = "PYTHONDONTWRITEBYTECODE"
    if not given.get(forbidden):
        return dict(given)
    kept = {name: value for name, value in given.items() if name != forbidden}
    return kept | {"PYTHONPYCACHEPREFIX": str(cache_dir() / "bytecode")}


def _announce(stage: Stage) -> None:
    typer.echo(f"== {stage.name}: {' '.join(stage.command)}", err=True)


@contextmanager
def _explained(stage: Stage) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise InfrastructureError(
            f"cannot run {stage.command[0]}: {error.strerror}",
            cause="a Debian package is missing",
            remedy=f"{program()} doctor",
        ) from error
