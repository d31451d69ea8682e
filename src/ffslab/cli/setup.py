"""`ffslab setup`: builds the lab and says what was done and how long it took."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import Catalogs, KernelSource

if TYPE_CHECKING:
    from ffslab.lab.progress import Progress
    from ffslab.model.specs import Filesystem


def register(app: typer.Typer) -> None:
    app.command("setup")(setup)


def setup(
    variant: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Which lab kernel: default; debug: KASAN, lockdep, kmemleak and UBSAN; period: "
            "with switches for what kernels of 2009 to 2011 did otherwise; fastmap: UBI with "
            "fastmap; ubi-wear: UBI that levels wear at 80 erases; sockets: Unix sockets and the "
            "loopback network for scripts; fixed: with the changes of kernel/fixes; 5.10, "
            "6.12, 7.3: those versions of Linux; unaligned, unaligned-period, …: the same for "
            "boards whose processor has efficient unaligned access.",
        ),
    ] = "default",
    force: Annotated[
        bool, typer.Option("--force", help="Fetch the source and build everything anew.")
    ] = False,
    kernel_source: KernelSource = None,
    catalogs: Catalogs = None,
) -> None:
    """Fetch and build what the laboratory needs.

    Every verb that needs the lab does the same. Also builds the out-of-tree modules of a catalog.
    """
    from ffslab.lab import ensure_lab
    from ffslab.lab.cache import cache_root
    from ffslab.lab.progress import ConsoleProgress

    progress = ConsoleProgress()
    _set_damaged_aside(progress)
    lab = ensure_lab(
        variant,
        progress,
        kernel_source=kernel_source,
        force=force,
        file_systems=_out_of_tree(catalogs),
    )
    durations_s = [*_bootstrap_durations_s(), *progress.durations_s]
    if durations_s:
        total_s = sum(duration_s for _, duration_s in durations_s)
        typer.echo(f"Done in {total_s:.1f} s:")
        for name, duration_s in durations_s:
            typer.echo(f"  {duration_s:7.1f} s  {name}")
    else:
        typer.echo("Nothing to do.")
    typer.echo(f"Lab {lab.build_id} ({variant}) in {cache_root()}:")
    typer.echo(f"  kernel   {lab.kernel}")
    for name, path in sorted(lab.modules.items()):
        typer.echo(f"  module   {name}: {path}")
    for modules in lab.out_of_tree.values():
        for name, path in modules.items():
            typer.echo(f"  module   {name} (out of tree): {path}")
    typer.echo(f"  agent    {lab.agent}")
    typer.echo(f"  cutter   {lab.cutter}")


def _set_damaged_aside(progress: Progress) -> None:
    """Moves what is damaged out of the way: what the lab needs is built below, all else by need."""
    from ffslab.doctor import damaged_entries
    from ffslab.environment import damage_of_environment
    from ffslab.lab.cache import cache_root, locked, set_aside
    from ffslab.lab.lab import build_locks

    for entry, wrong in list(damaged_entries()):
        of_python = entry.parent == cache_root()
        locks = [cache_root() / "environment.lock"] if of_python else build_locks()
        with ExitStack() as held:
            for lock in locks:
                held.enter_context(locked(lock, progress))
            # Whoever held the lock may have made it again, or be making it.
            if damage_of_environment(str(entry)) if of_python else entry.exists():
                set_aside(entry, wrong)


def _out_of_tree(catalogs: Sequence[Path] | None) -> Sequence[Filesystem]:
    """The catalog shipped with ffslab has none, and need not be read."""
    from ffslab.paths import has_user_catalog

    if not catalogs and not has_user_catalog():
        return ()
    from ffslab.lab.outoftree import out_of_tree_filesystems
    from ffslab.loader import load_catalog

    return out_of_tree_filesystems(load_catalog(catalogs or ()))


def _bootstrap_durations_s() -> list[tuple[str, float]]:
    """What the launcher did before Python's packages were there, if it did anything."""
    from ffslab.lab.bootstrap import DURATIONS_VARIABLE

    phases = json.loads(os.environ.get(DURATIONS_VARIABLE, "[]"))
    return [(str(name), float(duration_s)) for name, duration_s in phases]
