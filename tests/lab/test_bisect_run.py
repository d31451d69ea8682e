"""bisect, with real kernels: a loss of a few percent among 40 commits, one of which does not build.

FFSLAB_NIGHTLY=1 builds a kernel for each of about eight commits.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from guest_programs import NIGHTLY
from lab_support import ROOT

from ffslab.lab.progress import SilentProgress
from ffslab.lab.source import ensure_source
from git_support import git

pytestmark = pytest.mark.skipif(not NIGHTLY, reason="FFSLAB_NIGHTLY=1 builds kernels")

COMMITS, PLANTED, BROKEN = 40, 23, 20
FILES = ("fs/ubifs/journal.c", "fs/ubifs/file.c", "fs/ubifs/tnc.c", "fs/jffs2/gc.c")
WRITES = "int ubifs_jnl_write_data("
ERROR = "\nint broken(void) { return no_such_thing; }\n"


def change(tree: Path, number: int) -> str:
    """Makes one change, as somebody's commits do; its subject."""
    path = tree / FILES[number % len(FILES)]
    if number == PLANTED:
        path = tree / "fs/ubifs/journal.c"
        before, function = path.read_text().split(WRITES)
        function = function.replace("\tubifs_assert(c, ", "\tudelay(50);\n\tubifs_assert(c, ", 1)
        path.write_text(f"#include <linux/delay.h>\n{before}{WRITES}{function}")
        return "ubifs: wait before data are written"
    if number == BROKEN + 1:
        broken = tree / FILES[BROKEN % len(FILES)]
        broken.write_text(broken.read_text().replace(ERROR, ""))
    added = ERROR if number == BROKEN else f"/* note {number} */\n"
    path.write_text(path.read_text() + added)
    return f"{path.parent.name}: note {number}"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("history") / "linux"
    shutil.copytree(ensure_source(SilentProgress()).tree, tree, symlinks=True)
    git(tree, "init", "-q")
    git(tree, "add", "-A", "-f")
    git(tree, "commit", "-qm", "Linux")
    git(tree, "tag", "good")
    for number in range(1, COMMITS + 1):
        git(tree, "commit", "-qam", change(tree, number))
    return tree


def test_the_planted_loss_is_found(repository: Path, tmp_path: Path) -> None:
    words = ["bisect", repository, "--good", "good", "--bad", "HEAD", "--study", "quick"]
    words += ["--case", "ubifs-free-s1", "--metric", "creation.on_flash", "--json"]
    done = subprocess.run(
        [ROOT / "ffslab", *words, "--output", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["first_bad"] == git(repository, "rev-parse", f"HEAD~{COMMITS - PLANTED}")
    assert told["before"] == git(repository, "rev-parse", f"HEAD~{COMMITS - PLANTED + 1}")
    values = {trial["commit"]: trial["value"] for trial in told["trials"]}
    assert 1.02 < values[told["first_bad"]] / values[told["before"]] < 1.1
    # All commits on one side have one value: time is virtual.
    assert len({value for value in values.values() if value is not None}) == 2
    assert git(repository, "status", "--porcelain") == ""
