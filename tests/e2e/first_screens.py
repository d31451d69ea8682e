"""Recorded runs of shipped studies, whose first screens are golden pictures.

    PYTHON tests/e2e/first_screens.py record RUN_DIRECTORY ...  keeps runs, and takes their pictures
    PYTHON tests/e2e/first_screens.py pictures [STUDY ...]      takes pictures anew, by default all
    PYTHON tests/e2e/first_screens.py readme RUN_DIRECTORY      takes README's picture

PYTHON is the one of ffslab's environment (`ls ~/.cache/ffslab`), with `src` and `tests` in
PYTHONPATH. A recording is a real run: its manifest, its results, and the sizes of code. Results
lose what is long and not on the first screen (`_slim`); that the screen is the same is checked when
a run is kept.
"""

from __future__ import annotations

import json
import re
import sys
import tarfile
from hashlib import sha256
from html import unescape
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from browser_support import Browser, screenshot, started

from ffslab.report import build
from ffslab.results.rundir import RESULTS, RESULTS_SHA256, SIZES
from loaded_support import RECORDED as FOLDER
from loaded_support import recorded, unpacked

ROOT = Path(__file__).resolve().parents[2]
HEADLINES = FOLDER / "headlines.json"  # by study, of those that have a picture
_MANIFEST = "manifest.json"
_LARGEST_BYTES = 200_000  # of a recording
_NOT_SHOWN = {"flash": ("reads", "programs"), "latencies": ("buckets",)}


def headlines() -> dict[str, str]:
    """The headline of each study that has a picture."""
    told = json.loads(HEADLINES.read_text(encoding="utf-8"))
    return {str(study): str(headline) for study, headline in told.items()}


def first_screen(page: Path) -> tuple[str, str]:
    """The first headline of a report, and all of its first screen as text."""
    text = page.read_text(encoding="utf-8")
    (verdict,) = re.findall(r'<section id="verdict">.*?</section>', text, re.DOTALL)
    headline = re.search(r'<p class="headline">(.*?)</p>', verdict)
    return unescape(headline[1]) if headline else "", verdict


def record(run: Path) -> str:
    """Keeps a run, and says of which study it is."""
    manifest = json.loads((run / _MANIFEST).read_text(encoding="utf-8"))
    study = str(manifest["study"])
    target = FOLDER / f"{study}.tar.xz"
    target.parent.mkdir(exist_ok=True)
    _pack(target, run)
    with TemporaryDirectory() as folder:
        slim = build(unpacked(study, Path(folder)))
        assert first_screen(slim) == first_screen(build(run, Path(folder) / "whole.html"))
    assert target.stat().st_size <= _LARGEST_BYTES, f"{target} is too large: select fewer cases"
    return study


def _pack(target: Path, run: Path) -> None:
    lines = (run / RESULTS).read_text(encoding="utf-8").splitlines()
    results = "".join(f"{_slim(line)}\n" for line in lines).encode()
    manifest = json.loads((run / _MANIFEST).read_text(encoding="utf-8"))
    # Where the recorder's checkout and runs are is nobody's business.
    manifest["study_file"] = f"studies/{Path(manifest['study_file']).name}"
    manifest["command"] = f"ffslab run {manifest['study']}"
    manifest[RESULTS_SHA256] = sha256(results).hexdigest()
    files = {_MANIFEST: json.dumps(manifest).encode(), RESULTS: results}
    if (run / SIZES).is_file():
        files[SIZES] = (run / SIZES).read_bytes()
    with tarfile.open(target, "w:xz", preset=9) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{run.resolve().name}/{name}")
            member.size = len(content)
            archive.addfile(member, BytesIO(content))


def _slim(line: str) -> str:
    """A result without the long lists that the first screen does not show."""
    result: dict[str, Any] = json.loads(line)
    for table, names in _NOT_SHOWN.items():
        for entry in result[table]:
            entry.update({name: type(entry[name])() for name in names if name in entry})
    return json.dumps(result, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def take(browser: Browser, study: str) -> None:
    """A recording's picture and headline anew."""
    with TemporaryDirectory() as folder:
        page = build(unpacked(study, Path(folder)))
        screenshot(browser, page, FOLDER / f"{study}.png")
        told = {**(headlines() if HEADLINES.exists() else {}), study: first_screen(page)[0]}
    text = json.dumps(told, ensure_ascii=False, indent=1, sort_keys=True)
    HEADLINES.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    command, *names = sys.argv[1:]
    with started() as opened:
        if command == "readme":
            with TemporaryDirectory() as made:
                whole = build(Path(names[0]), Path(made) / "report.html")
                screenshot(opened, whole, ROOT / "docs" / "images" / "report.png")
        else:
            chosen = names or recorded()
            for each in map(record, map(Path, names)) if command == "record" else chosen:
                take(opened, each)
                print(each, headlines()[each])
