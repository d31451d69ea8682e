"""Runs the programs of others and keeps what passes, then makes docs/peers.md of it.

python tests/peers                     every program on every file system: half an hour
python tests/peers fsx fio             these programs
python tests/peers --document          docs/peers.md alone, from what is kept
"""

from __future__ import annotations

import sys

from peer_document import write_document
from peer_matrix import FLASH, run, say, write_golden
from peer_suites import SUITES


def main(words: list[str]) -> None:
    """Carries out the command line."""
    names = [word for word in words if not word.startswith("--")]
    unknown = set(names) - {suite.name for suite in SUITES}
    if unknown:
        sys.exit(f"no such program: {', '.join(unknown)}; {', '.join(s.name for s in SUITES)}")
    for suite in () if "--document" in words else SUITES:
        for flash in FLASH if not names or suite.name in names else ():
            cases = run(suite, flash)
            write_golden(cases)
            passed = sum(case["checks"] - len(case["refused"]) for case in cases.values())
            say(f"{suite.name} on {flash.name}: {passed} checks passed in {len(cases)} cases")
    write_document()


if __name__ == "__main__":
    main(sys.argv[1:])
