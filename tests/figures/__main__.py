"""Runs the commands of documents and compares each figure that these state with its run.

With the Python that `./ffslab test` set up, and PYTHONPATH=src:

python tests/figures                    all documents: half an hour
python tests/figures boot spi           these
python tests/figures boot --runs DIR    with the runs below DIR; what is not there is run and kept
python tests/figures boot --refresh     writes the figures of now into the document

It prints a line for each figure that is not as stated; the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from figure_page import differences, refreshed
from figure_pages import PAGES
from figure_runs import Runs


def main(words: list[str]) -> int:
    """Carries out the command line; its exit code."""
    parser = argparse.ArgumentParser(
        prog="tests/figures", description="Compares the figures of documents with their runs."
    )
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=", ".join(PAGES))
    parser.add_argument("--runs", type=Path, metavar="DIR", help="where the runs are, and are kept")
    parser.add_argument("--refresh", action="store_true", help="write the figures of now")
    arguments = parser.parse_args(words)
    unknown = set(arguments.pages) - set(PAGES)
    if unknown:
        parser.error(f"no such page: {', '.join(unknown)}; {', '.join(PAGES)}")
    with tempfile.TemporaryDirectory() as scratch:
        runs = Runs((arguments.runs or Path(scratch)).resolve())
        runs.directory.mkdir(parents=True, exist_ok=True)
        changed = [_check(name, runs, arguments.refresh) for name in arguments.pages or PAGES]
    return int(any(changed))


def _check(name: str, runs: Runs, refresh: bool) -> bool:
    """Whether figures of the page are not as stated; tells them."""
    page = PAGES[name]
    content = page.path.read_text(encoding="utf-8")
    changes = differences(page, content, runs)
    for change in changes:
        print(change)
    if changes and refresh:
        page.path.write_text(refreshed(content, changes), encoding="utf-8")
    elif changes:
        print(f"{page.document}: python tests/figures {name} --refresh writes these")
    return bool(changes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
