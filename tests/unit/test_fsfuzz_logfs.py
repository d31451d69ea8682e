"""The mutator of tests/lab/guest/fsfuzz on images of LogFS, and fsck over what it makes of them.

As test_fsfuzz.py: the mutator reads the format by itself, so what it thinks of an image is
compared with what ffslab thinks. fsck never fails over a damaged image, whatever it says.
"""

from __future__ import annotations

import re
import time
from functools import lru_cache
from pathlib import Path

import pytest
from fsfuzz_support import SOURCE, build_fsfuzz, call_fsfuzz
from logfs_support import SEGMENT, UNIT, Image, make, use_image, usual_tree

from ffslab.logfs import ImageOptions
from ffslab.logfs.format import Alias, Area

OOB = 64
PAGE = 2048
OPTIONS = ImageOptions(page_bytes=PAGE, oob_bytes=OOB, pages_per_block=64)
GEOMETRY = ("--type=logfs", "--page-bytes=2048", f"--oob-bytes={OOB}", "--pages-per-block=64")
MUTATIONS = 300
CPU_LIMIT_S = 20.0  # of one check, which takes some hundredths of a second
# Each of these changes something else than a check; what fsck finds then is among these rules.
FOUND = {
    "segment-entry": {"segment-valid", "segment-level", "segment-reserved", "segment-bad"},
    "dentry-odd": {"dentry-name", "dentry-place"},
    "dentry-byte": {"dentry-name", "dentry-place"},
    "dentry-type": {"dentry-type"},
    "pointer-twice": {"object-identity", "object-shared"},
    "area": {"area-fields", "area-twice", "area-buffer", "segment-level"},
}
BROKEN_CHECKS = {"object-header", "object-data", "journal-entry"}


@pytest.fixture(scope="module")
def fsfuzz() -> Path:
    return build_fsfuzz()


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages with OOB; its commit has aliases, and an open area with an object in its buffer."""
    made = Image(make(tmp_path_factory.mktemp("logfs"), usual_tree, compress=True))
    ino = made.ino("leaf")
    made.segment_header_at(20, 0)
    begin = bytes(made.raw[20 * SEGMENT : 20 * SEGMENT + 24])
    made.patch(20 * SEGMENT, b"\xff" * 24)
    made.commit(
        aliases=[Alias(1, ino, 0o100640 << 48 | 4, 0, 0), Alias(3, 0, 1 << 36, 0, 20)],
        areas=[Area(20, 24, 0, 0, begin.ljust(UNIT, b"\xff"))],
        erase_counts=[1] * 4 + [0] * 12,
    )
    pages = (made.raw[at : at + PAGE] + b"\xff" * OOB for at in range(0, len(made.raw), PAGE))
    made.path.write_bytes(b"".join(pages))
    assert not use_image(made.path, OPTIONS).errors
    return made.path


def run(fsfuzz: Path, verb: str, image: Path, *options: str, leaks: bool = True) -> str:
    done = call_fsfuzz(fsfuzz, verb, f"--image={image}", *GEOMETRY, *options, leaks=leaks)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@lru_cache(maxsize=4)
def mutations(fsfuzz: Path, image: Path, first: int, count: int, *options: str) -> list[str]:
    words = (f"--first={first}", f"--count={count}", *options)
    return [line.split(" ", 1)[1] for line in run(fsfuzz, "mutate", image, *words).splitlines()]


def mutated(fsfuzz: Path, image: Path, number: int, output: Path) -> Path:
    words = (f"--first={number}", f"--output={output}")
    run(fsfuzz, "mutate", image, *words, leaks=False)
    return output


def test_it_understands_the_format_alike(fsfuzz: Path, image: Path) -> None:
    text = run(fsfuzz, "check", image)
    counted = {kind: int(n) for n, kind in re.findall(r"(\d+) (\w+)", text)}
    # Files, a pipe, a link, three directories, and the segment file; names but the root's.
    assert counted["inodes"] == 4 + 1 + 1 + 3 + 1
    assert counted["dentries"] == 4 + 1 + 1 + 1 + 2
    assert counted["levels"] == 2  # of the block 520 of one file
    assert (counted["areas"], counted["aliases"]) == (1, 2)
    assert counted["objects"] == counted["newest"] and counted["packed"] > 0


def test_a_mutation_depends_on_seed_and_number_only(
    fsfuzz: Path, image: Path, tmp_path: Path
) -> None:
    texts = mutations(fsfuzz, image, 0, 40)
    assert mutations(fsfuzz, image, 17, 5) == texts[17:22]
    assert mutations(fsfuzz, image, 0, 40, "--seed=2") != texts
    once = mutated(fsfuzz, image, 17, tmp_path / "once").read_bytes()
    again = mutated(fsfuzz, image, 17, tmp_path / "again").read_bytes()
    assert once == again != image.read_bytes()


@pytest.mark.slow
def test_every_mutation_happens_and_none_breaks_the_mutator(fsfuzz: Path, image: Path) -> None:
    tables = "".join(path.read_text() for path in (SOURCE / "logfs").glob("*.c"))
    kinds = set(re.findall(r'^\t\{ "([a-z-]+)", \d+, [a-z_]+ \},$', tables, re.MULTILINE))
    assert len(kinds) > 30
    texts = mutations(fsfuzz, image, 0, 700)
    assert kinds <= {part.split()[0] for text in texts for part in text.split("; ") if part}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FOUND)
def test_repaired_checks_pass(fsfuzz: Path, image: Path, tmp_path: Path, kind: str) -> None:
    """A structure-aware mutation breaks rules, but not the CRCs that would stop it early."""
    texts = mutations(fsfuzz, image, 0, 700)
    alone = [n for n, text in enumerate(texts) if text.split()[0] == kind and ";" not in text]
    found: set[str] = set()
    for number in alone[:12]:
        report = use_image(mutated(fsfuzz, image, number, tmp_path / "mutated"), OPTIONS)
        rules = {problem.rule for problem in report.problems}
        assert not rules & BROKEN_CHECKS, (texts[number], report.text())
        found |= rules
    assert found & FOUND[kind], found


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, MUTATIONS, 50))
def test_fsck_survives_every_mutation(
    fsfuzz: Path, image: Path, tmp_path: Path, first: int
) -> None:
    """Without a traceback, and in a time that does not depend on what numbers say."""
    for number in range(first, first + 50):
        path = mutated(fsfuzz, image, number, tmp_path / "mutated")
        before = time.process_time()
        use_image(path, OPTIONS)
        assert time.process_time() - before < CPU_LIMIT_S, number
