"""`python -m ffslab` is the same command as `ffslab`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ffslab.environment import damage_of_environment


def _make_again() -> None:
    """Starts over with the environment made again, if it is damaged: a start looks at sizes and
    times only, and the disk may have changed a file by itself.
    """
    wrong = damage_of_environment(sys.prefix)
    if wrong:
        python, checkout = os.path.realpath(sys.executable), Path(__file__).resolve().parents[2]
        bootstrap = ("-P", "-m", "ffslab.lab.bootstrap", sys.prefix, str(checkout))
        os.execv(python, [python, *bootstrap, *sys.argv[1:]])


if __name__ == "__main__":
    try:
        from ffslab.cli.app import main
    except Exception:
        _make_again()
        raise
    main()
