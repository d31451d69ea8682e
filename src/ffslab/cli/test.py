"""`ffslab test`: everything that the continuous integration runs, in one command.

Style and types first, then the tests that need no kernel, then (without --quick) those that boot
the lab. All stages run, so that one failure does not hide another; pytest comes last, so
that its summary ends the output.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ffslab.errors import EXIT_FAILED, EXIT_OK, InfrastructureError
from ffslab.program import program

_C_TEST_DIRECTORIES = (
    ("agent",),
    ("kmod", "vnand", "test"),
    ("kmod", "flashmon", "test"),
    ("kmod", "yaffs", "test"),
)
_QUICK_TESTS = ("tests/unit", "tests/golden")
_LAB_TESTS = ("tests/lab", "tests/e2e")


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
        bool, typer.Option("--quick", help="Only what needs no kernel: some seconds.")
    ] = False,
) -> None:
    """Run all tests.

    Further arguments go to pytest; then only pytest runs.
    """
    root = checkout_root()
    arguments = list(context.args)
    if not quick:
        _prepare_full_run()
    checks = [] if arguments else check_stages(root)
    failed = [stage.name for stage in checks if not _passes(stage, root)]
    status = _run(pytest_stage(arguments, quick=quick), root)
    if failed:
        # On standard error: the last lines of standard output are pytest's summary.
        typer.echo(f"ffslab test: failed before pytest: {', '.join(failed)}", err=True)
    raise typer.Exit(EXIT_FAILED if failed or status != 0 else EXIT_OK)


def _prepare_full_run() -> None:
    """The lab, and the Debian packages that only tests need."""
    from ffslab.kernel import ensure_lab
    from ffslab.kernel.packages import IMAGE_PACKAGES, TEST_PACKAGES, ensure_packages
    from ffslab.kernel.progress import ConsoleProgress
    from ffslab.paths import cache_dir

    wanted = (*TEST_PACKAGES, *IMAGE_PACKAGES)
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
    python = (sys.executable, "-m")
    stages = [
        Stage("ruff", (*python, "ruff", "check", "src", "tests", "bench")),
        Stage("ruff format", (*python, "ruff", "format", "--check", "src", "tests", "bench")),
        Stage("mypy", (*python, "mypy", "--strict")),
    ]
    for parts in _C_TEST_DIRECTORIES:
        directory = root.joinpath(*parts)
        if not (directory / "Makefile").is_file():
            raise InfrastructureError(
                f"{directory} has no Makefile, so its C tests cannot run",
                cause="an incomplete checkout",
                remedy="git status",
            )
        stages.append(Stage("/".join(parts), ("make", "-s", "-C", str(directory), "test")))
    return stages


def pytest_stage(arguments: Sequence[str], *, quick: bool) -> Stage:
    """Pytest over the user's choice of tests, else over everything that `quick` leaves."""
    names_tests = any(not word.startswith("-") for word in arguments)
    default = () if names_tests else _QUICK_TESTS if quick else (*_QUICK_TESTS, *_LAB_TESTS)
    return Stage("pytest", (sys.executable, "-m", "pytest", *default, *arguments))


def _passes(stage: Stage, root: Path) -> bool:
    return _run(stage, root) == 0


def _run(stage: Stage, root: Path) -> int:
    typer.echo(f"== {stage.name}: {' '.join(stage.command)}", err=True)
    try:
        return subprocess.run(stage.command, cwd=root, check=False).returncode
    except FileNotFoundError as error:
        raise InfrastructureError(
            f"cannot run {stage.command[0]}: {error.strerror}",
            cause="a Debian package is missing",
            remedy=f"{program()} doctor",
        ) from error
