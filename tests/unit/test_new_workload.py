"""`ffslab new workload`: what it writes, what it refuses, and that the rest of ffslab takes it."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ffslab.cli.app import build_app
from ffslab.errors import UsageError
from ffslab.workloads import modules, skeleton
from ffslab.workloads.skeleton import FURTHER, NAME_MAX, VERBS, new_workload

ROOT = Path(__file__).resolve().parents[2]
LONGEST = "abcdefghij-klmnopqrs"
HOST = (
    "__init__.py", "keys.py", "kind.py", "metrics.py", "plan.py", "result.py", "stored.py",
    "terminal.py", "report.py",
)  # fmt: skip


PROTOCOLS = {
    "plan": modules.PlanModule,
    "result": modules.ResultModule,
    "metrics": modules.MetricsModule,
    "terminal": modules.TerminalModule,
    "report": modules.ReportModule,
}


def copied(root: Path, *names: str) -> Path:
    """A checkout with some of its files."""
    ignored = shutil.ignore_patterns("build", "__pycache__", ".*_cache")
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=ignored)
        else:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / name)
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with what a new workload is made of."""
    return copied(tmp_path, "guest", "examples/workload")


def test_all_files_of_a_workload_are_there_under_its_name(root: Path) -> None:
    written = {str(path.relative_to(root)) for path in new_workload(root, "my-files")}
    agent = ("README.md", "my_files.c", "my_files.h", "verbs.c")
    assert written == {
        *(f"src/ffslab/workloads/my_files/{name}" for name in HOST),
        *(f"guest/agent/workloads/my_files/{name}" for name in agent),
        "studies/my-files.toml",
        "tests/unit/test_my_files.py",
    }
    for name in written:
        assert not re.search(r"sample", (root / name).read_text(encoding="utf-8"), re.IGNORECASE)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("My-Files", "is no name"),
        ("my_files", "is no name"),
        ("9lives", "is no name"),
        ("a" * (NAME_MAX + 1), "is no name"),
        ("class", "is no name"),
        ("mount", "the agent has a verb"),
        ("append-log", "the agent has a verb"),
        ("sync", "the agent has a verb"),
        ("latency", "the agent has a verb, a record"),
        ("preparation", "every result has a key"),
    ],
)
def test_a_name_that_cannot_be_is_refused(root: Path, name: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        new_workload(root, name)
    assert not (root / "studies").exists()


def test_nothing_is_overwritten(root: Path) -> None:
    study = root / "studies" / "my-files.toml"
    study.parent.mkdir()
    study.write_text("mine\n")
    with pytest.raises(UsageError, match=r"studies/my-files\.toml is there already"):
        new_workload(root, "my-files")
    assert study.read_text() == "mine\n"
    assert not (root / "src").exists()


def test_a_table_that_another_folder_has_is_refused(root: Path) -> None:
    verbs = (root / VERBS).read_text(encoding="utf-8").replace("settle_verbs", "calm_verbs")
    (root / VERBS).write_text(verbs, encoding="utf-8")
    with pytest.raises(UsageError, match="the agent has a table of verbs"):
        new_workload(root, "calm")


def test_it_needs_a_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    assert skeleton.checkout() == ROOT
    monkeypatch.setattr(skeleton, "_SAMPLE", "data/nowhere")
    with pytest.raises(UsageError, match="git clone"):
        skeleton.checkout()


def test_the_command_says_what_to_edit(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skeleton, "checkout", lambda: root)
    shown = CliRunner().invoke(build_app(), ["new", "workload", "my-files"])
    assert shown.exit_code == 0, shown.output
    assert "wrote src/ffslab/workloads/my_files/keys.py" in shown.output
    assert "run my-files" in shown.output
    for place in FURTHER:
        assert f"  {place.format(name='my-files')}: " in shown.output


def test_a_workload_is_two_packages_and_at_most_four_other_files() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("## Adding a workload\n")[1].split("\n## ")[0]
    assert len(FURTHER) <= 4
    named = set(re.findall(r"^\| `([^`]+)` \| [^|]+ \|$", section.split("other files:")[1], re.M))
    assert named == {place.format(name="NAME") for place in FURTHER}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_its_modules_offer_what_is_asked_of_every_workload(name: str) -> None:
    """By their text: in the checkout they are no package. A renamed function is seen at once."""
    text = (ROOT / "examples/workload/host" / f"{name}.py").read_text(encoding="utf-8")
    parameters: dict[str, list[str]] = {}
    constants: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            parameters[node.name] = [one.arg.lstrip("_") for one in node.args.args]
        elif isinstance(node, ast.Assign):
            constants |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            constants.add(node.target.id)
    asked = PROTOCOLS[name]
    assert set(asked.__annotations__) <= constants
    for member, function in vars(asked).items():
        if not member.startswith("_"):
            code = function.__code__
            assert parameters.get(member) == [*code.co_varnames[1 : code.co_argcount]], member


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ls", LONGEST])
def test_ffslab_takes_what_was_written(tmp_path: Path, name: str) -> None:
    """Style, types, layers, and the tests of all workloads; the lab's test runs the study."""
    assert len(LONGEST) == NAME_MAX
    tests = [f"tests/unit/{one}.py" for one in ("test_layers", "test_workloads")]
    root = copied(
        tmp_path, "src", "guest", "kmod", "examples/workload", "catalog", "studies",
        "pyproject.toml", "tests/unit/host_support.py", *tests,
    )  # fmt: skip
    (root / "bench").mkdir()
    package = name.replace("-", "_")
    new_workload(root, name)
    written = [f"src/ffslab/workloads/{package}", f"tests/unit/test_{package}.py"]
    for words in (
        ("ruff", "check", "."),
        ("ruff", "format", "--check", *written),
        ("mypy", "--strict", "-p", f"ffslab.workloads.{package}"),
        ("pytest", "-q", *tests, written[1]),
    ):
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root / "src")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
