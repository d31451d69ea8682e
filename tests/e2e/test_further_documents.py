"""The commands of the other documents, carried out in order in a fresh clone; where one prints what
stands below it, to the letter.

Those of README, tutorial and the answers have tests of their own (test_documents.py,
tests/figures).
FFSLAB_NIGHTLY=1 runs those that build kernels or measure for minutes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_documents import FENCE, ROOT, TOML_FENCE, document

NIGHTLY = os.environ.get("FFSLAB_NIGHTLY", "") not in ("", "0")
SHOWN = re.compile(r"^```sh\n(.*?)^```\n+```\n(.*?)^```", re.MULTILINE | re.DOTALL)
ELSEWHERE = {"README.md", "docs/tutorial.md"}
# Words of commands that are not carried out here, and what is done instead.
NOT_HERE = {
    "--target": "boards: tests/lab/test_board.py and test_local_flash.py",
    "BASE": "a form",
    "STUDY": "a form",
    "lab/RUN": "a form",
    "test": "the tests: test_documents.py, tests/peers",
    "for": "the C tests: ./ffslab test",
    "price": "half an hour: tests/unit/test_bench_price.py",
}
LIMIT_S = 1800


@dataclass(frozen=True)
class Guide:
    """What a reader has before the first command, and how commands end that do not end with 0."""

    begin: Callable[[Path], None] = lambda _: None
    status: Mapping[str, int] | None = None
    nightly: bool = True


def rootfs(clone: Path) -> None:
    """The tree of the two documents on tools: its names, sizes and times are what they list."""
    top, stamp = clone / "rootfs", 1_750_000_000
    for directory in (top / "bin", top / "etc"):
        directory.mkdir(parents=True)
    (top / "bin/busybox").write_bytes((bytes(range(1, 256)) * 2746)[:700_000])
    (top / "bin/busybox").chmod(0o755)
    (top / "bin/sh").hardlink_to(top / "bin/busybox")
    (top / "etc/init").symlink_to("../bin/busybox")
    (top / "etc/passwd").write_text("root:x:0:0:root:/root\n")
    for path in (*top.rglob("*"), top):
        os.utime(path, (stamp, stamp), follow_symlinks=False)


def damaged_image(clone: Path) -> None:
    """The tree as an image of a whole partition, with wrong bits in the tags of two pages."""
    rootfs(clone)
    words = ["yaffs2", "rootfs", "damaged.img", "--checkpoint", "--squash-owners"]
    carried_out(f"./ffslab mkfs {' '.join(words)} --partition-bytes '16 MiB'", clone)
    with (clone / "damaged.img").open("r+b") as image:
        for page, bits in ((6, 0b11), (10, 0b1)):
            image.seek(page * (2048 + 64) + 2048 + 4)
            (byte,) = image.read(1)
            image.seek(-1, os.SEEK_CUR)
            image.write(bytes([byte ^ bits]))


def named_files(*names: str) -> Callable[[Path], None]:
    """The examples of the document `names[0]`, as its reader saves them; the first without a path
    is `names[1]`.
    """

    def begin(clone: Path) -> None:
        text = document(clone, names[0])
        for example, name in TOML_FENCE.findall(text):
            # Nobody has the sources of such a module but its reader.
            if "[module_source]" not in example:
                (clone / name).write_text(example, encoding="utf-8")
        for name in names[1:]:
            (example,) = re.findall(r"^```toml\n(schema = 1\n.*?)^```", text, re.M | re.S)[:1]
            (clone / name).write_text(example, encoding="utf-8")

    return begin


GUIDES = {
    "CONTRIBUTING.md": Guide(nightly=False),
    "docs/advise.md": Guide(named_files("docs/advise.md", "needs.toml")),
    "docs/boards.md": Guide(nightly=False),
    "docs/calibration.md": Guide(),
    "docs/catalog-format.md": Guide(named_files("docs/catalog-format.md")),
    "docs/code-size.md": Guide(),
    "docs/compare.md": Guide(
        lambda clone: (
            carried_out(
                "./ffslab run ffsmark --case jffs2-aged-none-writethrough-s1"
                " --case jffs2-aged-zlib-writethrough-s1",
                clone,
            )
            and None
        ),
        # By design: some figures of the two compressions are better, some worse.
        {"./ffslab compare latest --axis options.compression --base none": 3},
    ),
    "docs/images.md": Guide(),
    "docs/logfs-tools.md": Guide(rootfs, nightly=False),
    "docs/peers.md": Guide(nightly=False),
    "docs/price-of-code.md": Guide(nightly=False),
    "docs/published.md": Guide(),
    "docs/yaffs2-tools.md": Guide(
        damaged_image, {"./ffslab fsck yaffs2 damaged.img": 1}, nightly=False
    ),
}


def commands(text: str) -> list[str]:
    """The commands in the fences, continued lines joined, without comments."""
    lines = "".join(FENCE.findall(text)).replace("\\\n", " ").splitlines()
    return [stripped for line in lines if (stripped := line.split("  #")[0].strip())]


def carried_out(command: str, clone: Path, status: int = 0) -> str:
    """The command's output, without colours and progress."""
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=clone,
        env={**os.environ, "COLUMNS": "80"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == status, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_every_document_with_commands_is_here() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    with_commands = {
        name
        for name in tracked.stdout.split()
        if name.startswith("docs/") or "/" not in name
        if not name.startswith("docs/answers/") and FENCE.search((ROOT / name).read_text())
    }
    assert with_commands - ELSEWHERE == GUIDES.keys()


@pytest.mark.parametrize("name", GUIDES)
def test_the_commands_do_what_the_document_says(clone: Path, name: str) -> None:
    guide, text = GUIDES[name], document(clone, name)
    if guide.nightly and not NIGHTLY:
        pytest.skip("FFSLAB_NIGHTLY=1 carries them out")
    guide.begin(clone)
    printed = {}
    for command in commands(text):
        if not NOT_HERE.keys() & set(command.split()):
            status = (guide.status or {}).get(command, 0)
            printed[command] = carried_out(command, clone, status)
    for fence, expected in SHOWN.findall(text):
        shown = [printed[command] for command in fence.splitlines() if command in printed]
        assert not shown or "".join(shown) == expected
    for left in ("rootfs", "results"):
        shutil.rmtree(clone / left, ignore_errors=True)
