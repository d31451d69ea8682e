"""Planted breaches of what LogFS asserts: each is reported by the assertion, at the cause.

One line of the core is broken at a time, and it goes through the histories of kmod/logfs/test. What
stops them has to be the assertion that is named, not what follows: another assertion, the model of
the tree, the rules of the chip, or a crash.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
TEST = "kmod/logfs/test"


@dataclass(frozen=True)
class Breach:
    """`line` of `source` becomes `broken`; then `assertion` is part of what is said."""

    name: str
    source: str
    line: str
    broken: str
    assertion: str


BREACHES = (
    Breach(
        "a node is put without the lock",
        "file.c",
        "\t\t\tlogfs_node_put(node);\n\t\tlogfs_unlock(dev);\n\t\tif (done || err)\n",
        "\t\t\t;\n\t\tlogfs_unlock(dev);\n\t\tif (done || err)\n\t\t\tlogfs_node_put(node);\n"
        "\t\tif (done || err)\n",
        "lock is not held",
    ),
    Breach(
        "a deleted inode stays in use",
        "file.c",
        "\t\t\tlogfs_node_put(node);\n\t\tlogfs_unlock(dev);\n",
        "\t\t\t;\n\t\tlogfs_unlock(dev);\n",
        "an inode is in use while it is unmounted",
    ),
    Breach(
        "a segment that is opened stays in the list of free ones",
        "area.c",
        "\t\tlogfs_lists_del(dev, c.segno);\n",
        "",
        "is opened, and",
    ),
    Breach(
        "a segment with valid bytes is taken for a free one",
        "segments.c",
        "e->state == LOGFS_SEGMENT_NORMAL && !e->valid_bytes &&",
        "e->state == LOGFS_SEGMENT_NORMAL &&",
        "bytes are valid",
    ),
    Breach(
        "a segment with a superblock is taken for a free one",
        "segments.c",
        "\t       !logfs_has_super(&dev->super, segno) &&\n",
        "",
        "has a superblock",
    ),
    Breach(
        "candidates are sorted the wrong way round",
        "pending.c",
        "logfs_is_better(c, &list->at[i - 1], by_valid)",
        "logfs_is_better(&list->at[i - 1], c, by_valid)",
        "are out of order",
    ),
    Breach(
        "an object that is given up stays booked in its segment",
        "data.c",
        "\tlogfs_book(dev, logfs_pointer_place(old), -bytes);\n\terr = logfs_tree_account",
        "\terr = logfs_tree_account",
        "bytes more are in use, in segments",
    ),
    Breach(
        "a change of a segment does not say that there is something to commit",
        "pending.c",
        "\tdev->dirty = true;\n",
        "\tdev->dirty = false;\n",
        "segments have changed, and nothing is to commit",
    ),
    Breach(
        "a segment that changes again is not looked at again",
        "pending.c",
        "\tlist_move(&changed->touched, &dev->touched);\n",
        "\tif (!changed->valid_bytes)\n\t\tlist_move(&changed->touched, &dev->touched);\n",
        "bytes are valid, soon free",
    ),
    Breach(
        "a commit does not begin the count of changed segments anew",
        "pending.c",
        "\tdev->n_changed = 0;\n",
        "",
        "segments have changed, counted",
    ),
    Breach(
        "aliases of a block that was written stay counted",
        "cache.c",
        "\tdev->n_aliases -= block->n_changes;\n",
        "",
        "aliases, counted",
    ),
    Breach(
        "a word has two aliases",
        "cache.c",
        "if (block->changes[middle].child < child)",
        "if (block->changes[middle].child <= child)",
        "has an alias out of order",
    ),
    Breach(
        "the alias of a word that changes again stays what it was",
        "cache.c",
        "\tblock->changes[i].value = value;\n",
        "\tif (!block->changes[i].value)\n\t\tblock->changes[i].value = value;\n",
        "differs from its alias",
    ),
    Breach(
        "what was programmed is forgotten",
        "area.c",
        "\t\topen->programmed += dev->unit_bytes;\n",
        "\t\topen->programmed += 0;\n",
        "bytes are programmed",
    ),
    Breach(
        "a page that was read is not found again",
        "flash.c",
        "\t\tif (dev->pages[i].place == place)\n",
        "\t\tif (dev->pages[i].place == place + 1)\n",
        "is kept twice",
    ),
)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the histories are made from, and their objects."""
    root = tmp_path_factory.mktemp("clone")
    for directory in ("kmod", "tests"):
        shutil.copytree(
            ROOT / directory,
            root / directory,
            ignore=lambda at, names: {
                name for name in names if (Path(at) / name).is_file() and name.endswith(".py")
            },
        )
    return root


def histories(clone: Path) -> subprocess.CompletedProcess[str]:
    """One history of each kind. Without sanitizers, which would have a word of their own."""
    program = clone / "build/core_histories"
    words = ("-s", "-j2", "-C", str(clone / TEST), f"O={program.parent}", "CFLAGS=-O1 -I..")
    made = subprocess.run(
        ["make", *words, str(program)], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    return subprocess.run(
        [str(program), "11", "1"], capture_output=True, text=True, check=False, timeout=600
    )


@pytest.fixture
def mended(clone: Path) -> Iterator[Path]:
    core = clone / "kmod/logfs/core"
    yield core
    for source in (ROOT / "kmod/logfs/core").glob("*.c"):
        if source.read_text() != (core / source.name).read_text():
            shutil.copyfile(source, core / source.name)


def test_the_histories_break_no_assertion(clone: Path) -> None:
    done = histories(clone)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("breach", BREACHES, ids=lambda breach: breach.name)
def test_a_breach_is_reported_by_its_assertion(clone: Path, mended: Path, breach: Breach) -> None:
    source = mended / breach.source
    text = source.read_text()
    assert text.count(breach.line) == 1
    source.write_text(text.replace(breach.line, breach.broken))
    done = histories(clone)
    said = [line for line in done.stderr.splitlines() if line.strip()]
    assert done.returncode < 0, done.stdout
    assert said[0].startswith("invariant: "), said
    assert breach.assertion in said[0]
