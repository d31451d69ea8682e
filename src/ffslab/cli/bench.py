"""`ffslab bench`: what the laboratory costs the host, for those who develop it.

The benchmark is no part of the installed package: it is the directory bench/ of
a checkout, and is found from there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the verb `bench`."""

    @app.command("bench")
    def bench(
        parts: Annotated[
            list[str] | None,
            typer.Argument(
                metavar="[PART]...",
                help="floor, cpu, driver, boot, jobs, micro, tree, flash [all].",
            ),
        ] = None,
        repeats: Annotated[
            int, typer.Option("--repeats", "-n", min=1, help="Runs of each side.")
        ] = 5,
        json_file: Annotated[
            Path | None, typer.Option("--json", metavar="FILE", help="Write the raw figures.")
        ] = None,
        markdown: Annotated[
            bool, typer.Option("--markdown", help="Part flash: tables for a document.")
        ] = False,
    ) -> None:
        """Measure the lab's own speed, and what its file systems do to flash.

        For developers. Speed is measured against baselines, takes minutes and needs a quiet
        host; part flash counts, and is the same on any host.
        """
        import importlib
        import sys

        from ffslab.errors import EXIT_FAILED, EXIT_OK

        sys.path.insert(0, str(_checkout_root()))
        run = importlib.import_module("bench.run")
        request = run.Request(tuple(parts or ()), repeats, json_file, markdown, typer.echo, _tell)
        raise typer.Exit(EXIT_OK if run.run_bench(request) else EXIT_FAILED)


def _tell(text: str) -> None:
    """One line of progress that the next overwrites; nothing where there is no terminal."""
    import sys

    if sys.stderr.isatty():
        typer.echo(f"\r\033[K{text[:78]}", nl=False, err=True)


def _checkout_root() -> Path:
    from ffslab.errors import InfrastructureError

    root = Path(__file__).resolve().parents[3]
    if not (root / "bench" / "run.py").is_file():
        raise InfrastructureError(
            "ffslab bench needs a checkout",
            cause="ffslab was installed as a package, which has no benchmark",
            remedy="clone the repository and run ./ffslab bench there",
        )
    return root
