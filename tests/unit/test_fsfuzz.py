"""The mutator of tests/lab/guest/fsfuzz on images that `ffslab mkfs yaffs2` makes.

It reads the format by itself, so what it thinks of these images is compared with what ffslab
thinks, before and after it has damaged them. It runs with sanitizers here.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest
from fsfuzz_support import SOURCE, build_fsfuzz, call_fsfuzz

from ffslab.yaffs2 import ImageOptions, Report, check_image
from ffslab.yaffs2.format import Geometry
from ffslab.yaffs2.mkfs import MkfsOptions, make_image

BLOCKS = 72
# Mutations that change only what checks protect, and repair these.
REPAIRING = {
    "parent", "cycle", "type", "id", "size", "link", "made-link", "mode", "shadow", "shrink",
    "clone", "name-odd", "name-long", "name-other", "name-byte", "symlink", "xattr-forged",
    "tag-field", "tag-bits", "tag-ext", "data-moved", "data-forged", "head-forged",
    "ckpt-dev", "ckpt-block", "ckpt-bitmap", "ckpt-obj", "ckpt-value", "ckpt-leaf", "ckpt-index",
    "ckpt-words", "swap-leaf", "swap-header", "swap-object", "swap-parent", "swap-type",
    "swap-block", "swap-index",
}  # fmt: skip
BROKEN_CHECKS = {"tags-uncorrectable", "tags-corrected", "summary-header"}


@dataclass(frozen=True)
class Sample:
    """An image and how to call the program for it."""

    fsfuzz: Path
    image: Path
    geometry: Geometry

    def call(
        self, verb: str, *options: str, leaks: bool = True
    ) -> subprocess.CompletedProcess[str]:
        words = [verb, f"--image={self.image}", *options]
        if self.geometry.inband:
            words.append("--inband")
        return call_fsfuzz(self.fsfuzz, *words, leaks=leaks)

    def mutations(self, first: int, count: int, *options: str, leaks: bool = True) -> list[str]:
        done = self.call("mutate", f"--first={first}", f"--count={count}", *options, leaks=leaks)
        assert done.returncode == 0, done.stderr
        return [line.split(" ", 1)[1] for line in done.stdout.splitlines()]

    def mutated(self, number: int, output: Path) -> bytes:
        self.mutations(number, 1, f"--output={output}", leaks=False)
        return output.read_bytes()

    def report(self, path: Path) -> Report:
        return check_image(
            path,
            ImageOptions(
                page_bytes=self.geometry.page_bytes,
                oob_bytes=self.geometry.oob_bytes,
                pages_per_block=self.geometry.pages_per_block,
                oob_offset=self.geometry.oob_offset,
                inband=self.geometry.inband,
                tags_ecc=True,
            ),
        )


@pytest.fixture(scope="module")
def fsfuzz() -> Path:
    return build_fsfuzz()


def make_tree(root: Path) -> None:
    root.mkdir()
    for number in range(30):
        (root / f"file-{number}").write_bytes(b"contents" * (number * 90))
    for name in ("inner", "inner/most", "inner/other", "last"):
        (root / "directory" / name).mkdir(parents=True)
    (root / "directory" / "symlink").symlink_to("target" * 20)
    os.link(root / "file-3", root / "directory" / "hard")
    os.mkfifo(root / "fifo")


@pytest.fixture(scope="module", params=["checkpoint", "scan", "inband"])
def sample(
    request: pytest.FixtureRequest, fsfuzz: Path, tmp_path_factory: pytest.TempPathFactory
) -> Sample:
    directory = tmp_path_factory.mktemp(request.param)
    make_tree(directory / "tree")
    geometry = Geometry(
        page_bytes=1024, oob_bytes=64, pages_per_block=16, inband=request.param == "inband"
    )
    image = directory / "image"
    options = MkfsOptions(
        geometry=geometry,
        checkpoint=request.param != "scan",
        partition_bytes=BLOCKS * geometry.block_bytes,
    )
    make_image(directory / "tree", image, options)
    whole = image.read_bytes().ljust(BLOCKS * geometry.raw_block_bytes, b"\xff")
    image.write_bytes(whole)
    return Sample(fsfuzz, image, geometry)


@lru_cache(maxsize=1)
def many_mutations(sample: Sample) -> list[str]:
    return sample.mutations(0, 3000)


def test_it_understands_the_format_alike(sample: Sample) -> None:
    done = sample.call("check")
    assert done.returncode == 0, done.stdout + done.stderr
    counted = {kind: int(n) for n, kind in re.findall(r"(\d+) (\w+)", done.stdout)}
    report = sample.report(sample.image)
    assert not report.errors
    assert counted["objects"] == counted["header"] == 30 + 5 + 1 + 1 + 1 + 1  # and the root
    assert counted["other"] == 0 and counted["summary"] > 0
    assert (counted["checkpoint"] > 0) == (report.checkpoint.state == "valid")
    assert counted["checkpoint"] == report.checkpoint.pages


def test_a_mutation_depends_on_seed_and_number_only(sample: Sample, tmp_path: Path) -> None:
    texts = sample.mutations(0, 40)
    assert sample.mutations(17, 5) == texts[17:22]
    assert sample.mutations(0, 40, "--seed=2") != texts
    once = sample.mutated(17, tmp_path / "once")
    assert once == sample.mutated(17, tmp_path / "again") != sample.image.read_bytes()


@pytest.mark.slow
def test_every_mutation_happens_and_none_breaks_the_mutator(sample: Sample) -> None:
    tables = "".join(path.read_text() for path in SOURCE.glob("*.c"))
    kinds = set(re.findall(r'^\t\{ "([a-z-]+)", \d+, \w+ \},$', tables, re.MULTILINE))
    assert len(kinds) > 50
    if sample.report(sample.image).checkpoint.state != "valid":
        kinds = {kind for kind in kinds if not kind.startswith(("ckpt-", "swap-"))}
    if sample.geometry.inband:
        kinds.remove("tag-ecc")
    texts = many_mutations(sample)
    happened = {part.split()[0] for text in texts for part in text.split("; ") if part}
    assert kinds <= happened


def alone(texts: list[str], kind: str, count: int) -> list[int]:
    """Numbers of the first mutations of that kind that are the only one and repair all checks."""
    pattern = re.compile(rf"{kind}(?! .*(;|unsealed|nosum))( |$)")
    return [number for number, text in enumerate(texts) if pattern.match(text)][:count]


@pytest.mark.slow
def test_repaired_checks_pass(sample: Sample, tmp_path: Path) -> None:
    """A structure-aware mutation breaks rules, but not the checks that would stop it early."""
    texts = many_mutations(sample)
    rules: dict[str, set[str]] = {}
    for kind in sorted(REPAIRING):
        for number in alone(texts, kind, 5 if kind in ("cycle", "mode", "name-other") else 1):
            sample.mutated(number, tmp_path / "mutated")
            report = sample.report(tmp_path / "mutated")
            found = {problem.rule for problem in report.problems}
            assert not found & BROKEN_CHECKS, (number, texts[number], report.problems)
            sums = [f.message for f in report.problems if f.rule == "checkpoint-invalid"]
            assert not any("sum" in message for message in sums), (number, texts[number], sums)
            rules.setdefault(kind, set()).update(found)
    assert "object-cycle" in rules["cycle"]
    assert "header-mode" in rules["mode"]
    assert "name-duplicate" in rules["name-other"]
    if sample.report(sample.image).checkpoint.state == "valid":
        assert "checkpoint-leaf" in rules["swap-leaf"]
