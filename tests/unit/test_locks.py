"""The lock files: every package with its hashes, and nothing installed that has another."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import subprocess
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from host_support import make_environment

from ffslab.errors import InfrastructureError
from ffslab.lab import bootstrap

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.lock", "requirements-dev.lock")
INFO = "nothing-1.0.dist-info"
WHEEL = {
    "nothing.py": "",
    f"{INFO}/METADATA": "Metadata-Version: 2.1\nName: nothing\nVersion: 1.0\n",
    f"{INFO}/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{INFO}/RECORD": f"nothing.py,,\n{INFO}/METADATA,,\n{INFO}/WHEEL,,\n{INFO}/RECORD,,\n",
}


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_has_a_version_and_hashes(name: str) -> None:
    text = (ROOT / name).read_text()
    blocks = re.split(r"(?<![\\])\n", text.strip())
    packages = [block for block in blocks if not block.startswith("#")]
    assert len(packages) > 10
    for block in packages:
        assert re.fullmatch(r"[\w.-]+==[\w.]+( \\\n    --hash=sha256:[0-9a-f]{64})+", block), block
    assert "://" not in text


# --- what is installed ---


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment to install into."""
    directory = tmp_path_factory.mktemp("environment") / "venv"
    make_environment(directory)
    return directory


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package index of one's own: `nothing` 1.0 as a wheel, 2.0 as sources."""
    directory = tmp_path / "index"
    directory.mkdir()
    with zipfile.ZipFile(directory / "nothing-1.0-py3-none-any.whl", "w") as wheel:
        for name, text in WHEEL.items():
            wheel.writestr(name, text)
    (tmp_path / "setup.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w')\n")
    with tarfile.open(directory / "nothing-2.0.tar.gz", "w:gz") as sources:
        sources.add(tmp_path / "setup.py", "nothing-2.0/setup.py")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(directory))
    return directory


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def install(venv: Path, directory: Path, line: str) -> None:
    (directory / "requirements.lock").write_text(line + "\n")
    bootstrap._pip_install(venv, directory / "requirements.lock", directory / "log", 0)


def test_a_package_with_its_hash_is_installed(venv: Path, index: Path, tmp_path: Path) -> None:
    (wheel,) = index.glob("*.whl")
    install(venv, tmp_path, f"nothing==1.0 --hash=sha256:{'0' * 64} --hash=sha256:{sha256(wheel)}")
    python = venv / "bin" / "python"
    subprocess.run([python, "-c", "import nothing"], check=True)
    subprocess.run([python, "-m", "pip", "uninstall", "-qy", "nothing"], check=True)


@pytest.mark.parametrize(
    ("line", "cause", "remedy"),
    [
        (f"nothing==1.0 --hash=sha256:{'0' * 64}", "is not the one whose hash", "cache purge"),
        ("nothing==1.0", "has no hash", "tools/lock_requirements.py"),
        (f"nothing==3.0 --hash=sha256:{'0' * 64}", "lacks a version", "PIP_INDEX_URL"),
    ],
)
def test_what_has_not_its_hash_is_refused(
    venv: Path, index: Path, tmp_path: Path, line: str, cause: str, remedy: str
) -> None:
    with pytest.raises(InfrastructureError) as caught:
        install(venv, tmp_path, line)
    assert index.is_dir()
    assert cause in caught.value.cause
    assert remedy in caught.value.remedy
    assert subprocess.run([venv / "bin" / "python", "-c", "import nothing"]).returncode != 0


def test_sources_are_not_built(venv: Path, index: Path, tmp_path: Path) -> None:
    (sources,) = index.glob("*.tar.gz")
    with pytest.raises(InfrastructureError) as caught:
        install(venv, tmp_path, f"nothing==2.0 --hash=sha256:{sha256(sources)}")
    assert "no wheel of it" in caught.value.cause
    assert not (tmp_path / "executed").exists()


# --- the tool ---


@pytest.fixture
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lock", ROOT / "tools" / "lock_requirements.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tool_keeps_comments_names_and_versions(tool: ModuleType) -> None:
    output = "a-b==1.0 \\\n    --hash=sha256:11 \\\n    --hash=sha256:22\n"
    hashes = {(name, version): block for name, version, block in tool.BLOCK.findall(output)}
    old = "# why\nA_b==1.0 \\\n    --hash=sha256:00\n"
    new = "# why\nA_b==1.0 \\\n    --hash=sha256:11 \\\n    --hash=sha256:22\n"
    assert tool.locked(old, hashes) == tool.locked(new, hashes) == new
    assert tool.locked("# why\nA_b==1.0\n", hashes) == new
