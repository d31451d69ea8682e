"""Writes the recordings anew: python tests/golden/advice/record.py NAME RUN_DIRECTORY ...

After `./ffslab advise examples/needs/NAME.toml`, whose run directory it reads. Figures as the tests
take them: of each case the values, or why it failed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ffslab.advise.candidates import candidates
from ffslab.advise.needs import load_needs
from ffslab.advise.probes import probes
from ffslab.advise.readings import Reading, readings_of
from ffslab.loader import load_catalog
from ffslab.results.rundir import RunDirectory

ROOT = Path(__file__).resolve().parents[3]


def figures(reading: Reading) -> dict[str, Any]:
    if reading.failed:
        return {"failed": reading.failed}
    return {
        name: None if value.value is None else round(value.value, 6)
        for name, value in reading.values.items()
    }


def record(name: str, run: Path) -> None:
    catalog = load_catalog()
    needs = load_needs(ROOT / "examples" / "needs" / f"{name}.toml", catalog)
    made = probes(needs, candidates(needs, catalog), catalog)
    readings = readings_of(made, RunDirectory(run).each_result())
    lines = (
        f"  {json.dumps(key)}: {json.dumps(figures(reading))}" for key, reading in readings.items()
    )
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (Path(__file__).parent / f"{name}.json").write_text(text)


if __name__ == "__main__":
    for name, run in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        record(name, Path(run))
