"""The Python environment, each kind of file damaged in each way: never a traceback, always remade.

In the tests of the launcher the environment is a real one of a checkout that needs one package,
which comes from a directory; what pip is takes it from the tests' own.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from damage_support import HARMS, flip

from ffslab import environment
from ffslab.cli.setup import _set_damaged_aside
from ffslab.doctor import damaged_entries, examine
from ffslab.environment import (
    MANIFEST,
    TOOLS_MANIFEST,
    damage_of_environment,
    is_as_made,
    is_complete,
)
from ffslab.errors import InfrastructureError
from ffslab.lab import bootstrap
from ffslab.lab.cache import is_set_aside
from ffslab.lab.progress import SilentProgress

ROOT = Path(__file__).resolve().parents[2]
PYTHON = os.path.realpath(sys.executable)
PACKAGES = "lib/python3/site-packages"
MODULE, LIBRARY = f"{PACKAGES}/nothing/__init__.py", f"{PACKAGES}/nothing/native.so"
FILES = (MODULE, LIBRARY, "pyvenv.cfg", "bin/python", f"{PACKAGES}/first.pth", MANIFEST)


def point_elsewhere(link: Path, target: str) -> None:
    link.unlink()
    link.symlink_to(target)


# What may happen to a symbolic link; the others are those of a file.
LINK_HARMS: Mapping[str, Callable[[Path], None]] = {
    "one bit": lambda link: point_elsewhere(link, PYTHON[:-1] + chr(ord(PYTHON[-1]) ^ 1)),
    "truncated": lambda link: point_elsewhere(link, str(Path(PYTHON).parent)),
    "empty": lambda link: (link.unlink(), link.touch())[0],
    "missing": Path.unlink,
}


def harm(directory: Path, name: str, how: str) -> None:
    path = directory / name
    (LINK_HARMS if path.is_symlink() else HARMS)[how](path)


def contents(directory: Path) -> dict[str, str]:
    """What is in an environment, but for the manifests, which hold times."""
    return {
        path.relative_to(directory).as_posix(): str(path.readlink())
        if path.is_symlink()
        else hashlib.sha256(path.read_bytes()).hexdigest()
        for path in directory.rglob("*")
        if (path.is_file() or path.is_symlink()) and not path.name.startswith(MANIFEST)
    }


@pytest.fixture
def venv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a set-up makes an environment of a few files, without pip."""

    def create(venv: Path, *_: object) -> None:
        shutil.rmtree(venv, ignore_errors=True)
        for name in (MODULE, LIBRARY, f"{PACKAGES}/first.pth", f"{PACKAGES}/pip/__init__.py"):
            (venv / name).parent.mkdir(parents=True, exist_ok=True)
            (venv / name).write_text(f"# {name}\n" * 20)
        (venv / f"{PACKAGES}/nothing/native.h").write_text("int nothing(void);\n")
        (venv / "pyvenv.cfg").write_text(f"home = {Path(PYTHON).parent}\n")
        (venv / "bin").mkdir()
        (venv / "bin" / "python").symlink_to(PYTHON)
        (venv / "lib64").symlink_to("lib")

    def install(venv: Path, requirements: Path, *_: object) -> None:
        if "dev" in requirements.name:
            (venv / PACKAGES / "tools.py").write_text("# tools\n")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(bootstrap, "ensure_packages", lambda *_: [])
    # It would build a whole lab, behind the tests.
    monkeypatch.setattr(bootstrap, "_start_prefetch", lambda: None)
    monkeypatch.setattr(bootstrap, "_create", create)
    monkeypatch.setattr(bootstrap, "_pip_install", install)
    return tmp_path / "cache" / "ffslab" / "venv-test"


def prepare(venv: Path, *words: str) -> None:
    bootstrap.prepare(venv, ROOT, words or ("list",), SilentProgress())


def asides(venv: Path) -> list[Path]:
    return [path for path in venv.parent.iterdir() if is_set_aside(path)]


@pytest.mark.parametrize("how", HARMS)
@pytest.mark.parametrize("name", FILES)
def test_each_damaged_file_is_seen_at_the_start_named_and_made_again(
    venv: Path, name: str, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    prepare(venv)
    whole = contents(venv)
    assert is_as_made(str(venv), MANIFEST) and not damage_of_environment(str(venv))
    harm(venv, name, how)
    assert not is_as_made(str(venv), MANIFEST)
    prepare(venv)
    assert is_as_made(str(venv), MANIFEST) and contents(venv) == whole
    if (name, how) == (MANIFEST, "missing"):
        # As one whose making was interrupted.
        assert not caplog.text
        return
    assert f"{venv} is damaged ({name}: " in caplog.text
    assert len(asides(venv)) == 1


def test_a_package_that_is_missing_is_seen_at_the_start_and_made_again(venv: Path) -> None:
    prepare(venv)
    whole = contents(venv)
    shutil.rmtree(venv / PACKAGES / "nothing")
    assert not is_as_made(str(venv), MANIFEST)
    prepare(venv)
    assert is_as_made(str(venv), MANIFEST) and contents(venv) == whole


def test_no_bit_of_a_manifest_can_hide_a_damaged_file(venv: Path) -> None:
    prepare(venv)
    (venv / MODULE).write_bytes(b"")
    whole = (venv / MANIFEST).read_bytes()
    for offset in range(0, len(whole), 3):
        (venv / MANIFEST).write_bytes(whole)
        flip(venv / MANIFEST, offset, offset % 8)
        assert not is_as_made(str(venv), MANIFEST), offset
        assert damage_of_environment(str(venv)), offset


def test_a_changed_file_is_seen_though_its_time_was_put_back(venv: Path) -> None:
    prepare(venv)
    before = (venv / LIBRARY).stat()
    flip(venv / LIBRARY)
    os.utime(venv / LIBRARY, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not is_as_made(str(venv), MANIFEST)


def test_touched_files_are_read_once_and_noted(venv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(venv)
    reads: list[str] = []
    digest = environment._digest
    monkeypatch.setattr(
        environment, "_digest", lambda top, path: (reads.append(path), digest(top, path))[1]
    )
    (venv / MODULE).touch()
    assert is_as_made(str(venv), MANIFEST)
    assert reads == [MODULE]
    assert is_as_made(str(venv), MANIFEST)
    assert reads == [MODULE]
    assert not damage_of_environment(str(venv))


@pytest.mark.parametrize("name", [f"{PACKAGES}/pip/__init__.py", f"{PACKAGES}/nothing/native.h"])
def test_what_python_does_not_load_is_no_matter_at_the_start(venv: Path, name: str) -> None:
    prepare(venv)
    (venv / name).write_bytes(b"")
    assert is_as_made(str(venv), MANIFEST)
    assert damage_of_environment(str(venv)) == f"{name}: it is empty"


def test_the_tools_of_the_tests_are_checked_for_the_tests(venv: Path) -> None:
    prepare(venv, "test")
    assert is_as_made(str(venv), TOOLS_MANIFEST)
    (venv / PACKAGES / "tools.py").write_text("# TOOLS\n")
    assert is_as_made(str(venv), MANIFEST) and not is_as_made(str(venv), TOOLS_MANIFEST)
    prepare(venv, "test")
    assert is_as_made(str(venv), MANIFEST) and is_as_made(str(venv), TOOLS_MANIFEST)
    assert len(asides(venv)) == 1


def test_the_tools_are_not_added_to_a_damaged_environment(venv: Path) -> None:
    prepare(venv)
    (venv / PACKAGES / "pip/__init__.py").write_bytes(b"")
    prepare(venv, "test")
    assert (venv / PACKAGES / "pip/__init__.py").stat().st_size
    assert len(asides(venv)) == 1


@pytest.mark.parametrize("where", ["_create", "_pip_install", "write_manifest"])
def test_what_an_interruption_left_is_not_used(
    venv: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = getattr(bootstrap, where)

    def interrupted(*arguments: object) -> None:
        if where == "_create":
            whole(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(bootstrap, where, interrupted)
        with pytest.raises(KeyboardInterrupt):
            prepare(venv)
    assert (venv / MODULE).exists()
    assert not is_complete(str(venv)) and not is_as_made(str(venv), MANIFEST)
    (venv / PACKAGES / "half.py").touch()
    prepare(venv)
    assert is_as_made(str(venv), MANIFEST) and not (venv / PACKAGES / "half.py").exists()


def test_what_cannot_be_made_again_is_refused_with_the_reason(
    venv: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise InfrastructureError("pip failed", cause="no network")

    prepare(venv)
    (venv / MODULE).unlink()
    monkeypatch.setattr(bootstrap, "_pip_install", refuse)
    for _ in range(2):
        assert bootstrap.main([str(venv), str(ROOT), "list"]) == 3
        assert "no network" in capsys.readouterr().err
    assert not is_complete(str(venv))


def test_a_disk_that_refuses_is_told_with_a_remedy(
    venv: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(venv))

    prepare(venv)
    (venv / MODULE).unlink()
    monkeypatch.setattr(bootstrap, "set_aside", refuse)
    assert bootstrap.main([str(venv), str(ROOT), "list"]) == 3
    assert "Permission denied" in (told := capsys.readouterr().err) and "next: rm -r" in told


def test_environments_of_other_checkouts_are_known_to_the_doctor_and_to_setup(venv: Path) -> None:
    prepare(venv)
    assert not list(damaged_entries())
    (venv / LIBRARY).write_bytes(b"")
    assert list(damaged_entries()) == [(venv, f"{LIBRARY}: it is empty")]
    _set_damaged_aside(SilentProgress())
    assert not venv.exists() and len(asides(venv)) == 1
    assert not list(damaged_entries())
    assert f"rm -r {venv}.damaged-1" in [finding.remedy for finding in examine()]


# --- the launcher, with a real environment ---


@dataclass(frozen=True)
class Checkout:
    """A checkout whose command line needs the package `nothing`, and says what that says."""

    root: Path
    cache: Path
    variables: Mapping[str, str]

    def begin(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.root / "ffslab", *words],
            env=dict(self.variables),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def launch(self, *words: str) -> tuple[int, str, str]:
        process = self.begin(*words)
        out, err = process.communicate(timeout=600)
        return process.returncode, out, err

    @property
    def venv(self) -> Path:
        return Path(environment.environment_of(str(self.cache), str(self.root), PYTHON))

    def installed(self, name: str) -> Path:
        (path,) = self.venv.glob(f"lib/python*/site-packages/nothing/{name}")
        return path


APP = """
def main():
    import sys, nothing
    print(nothing.WORD, sys.argv[1:])
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    root, index = tmp_path / "checkout", tmp_path / "index"
    shutil.copytree(
        ROOT / "src", root / "src", ignore=shutil.ignore_patterns("__pycache__", "cli", "*.html*")
    )
    shutil.copy(ROOT / "ffslab", root)
    (root / "src" / "ffslab" / "cli").mkdir()
    (root / "src" / "ffslab" / "cli" / "app.py").write_text("import nothing\n" + APP)
    with_pip_of_the_tests(root / "src" / "ffslab" / "lab" / "bootstrap.py")
    index.mkdir()
    wheel = index / "nothing-1.0-py3-none-any.whl"
    info = "nothing-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("nothing/__init__.py", "WORD = 'nothing says'\n")
        file.writestr("nothing/native.so", "\x7fELF" * 100)
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: nothing\nVersion: 1.0\n")
        file.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        file.writestr(f"{info}/RECORD", "nothing/__init__.py,,\nnothing/native.so,,\n")
    sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (root / "requirements.lock").write_text(f"nothing==1.0 --hash=sha256:{sha256}\n")
    (root / "requirements-dev.lock").write_text("")
    variables = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "FFSLAB_PYTHON": PYTHON,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "FFSLAB_NO_INSTALL": "1",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(index),
    }
    return Checkout(root, tmp_path / "cache" / "ffslab", variables)


def with_pip_of_the_tests(maker: Path) -> None:
    """As `make_environment` does it: to install pip into each takes ten times as long."""
    whole, slow = maker.read_text(), '[sys.executable, "-m", "venv", venv]'
    assert slow in whole
    script = maker.with_name("make_environment.py")
    script.write_text(
        f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r})\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from host_support import make_environment\nfrom pathlib import Path\n"
        "make_environment(Path(sys.argv[1]))\n"
    )
    maker.write_text(whole.replace(slow, f"[{sys.executable!r}, {str(script)!r}, venv]"))


@pytest.mark.slow
def test_a_damaged_environment_never_gives_a_traceback_and_the_command_goes_on(
    checkout: Checkout,
) -> None:
    code, out, err = checkout.launch("list", "a b")
    assert (code, out) == (0, "nothing says ['list', 'a b']\n"), err
    assert checkout.launch("list", "a b") == (0, "nothing says ['list', 'a b']\n", "")

    harm(checkout.venv, "bin/python", "truncated")
    (checkout.venv / "pyvenv.cfg").write_bytes(b"")
    checkout.installed("__init__.py").unlink()
    code, out, err = checkout.launch("doctor")
    assert "damaged" in out and "Traceback" not in err, err
    code, out, err = checkout.launch("list")
    assert (code, out) == (0, "nothing says ['list']\n"), err
    assert "is damaged (" in err and "Traceback" not in err

    # As the disk might do it: sizes and times are what they were, Python cannot read the file.
    write_with_times_of_before(checkout, "__init__.py", "WORD = (\n")
    code, out, err = checkout.launch("list")
    assert (code, out) == (0, "nothing says ['list']\n"), err
    assert "nothing/__init__.py: " in err and "Traceback" not in err

    # And such a one that hurts nobody, until setup reads all.
    write_with_times_of_before(checkout, "native.so", "wrong")
    assert checkout.launch("list") == (0, "nothing says ['list']\n", "")
    code, out, err = checkout.launch("setup")
    assert (code, out) == (0, "nothing says ['setup']\n")
    assert "nothing/native.so: " in err
    assert len([path for path in checkout.cache.iterdir() if is_set_aside(path)]) == 3


def write_with_times_of_before(checkout: Checkout, name: str, text: str) -> None:
    """Changes a file, and notes its new size and time, so that only its contents tell."""
    place, top = checkout.installed(name), str(checkout.venv)
    for compiled in place.parent.glob("__pycache__/*"):
        compiled.unlink()
    place.write_text(text)
    loaded, others = environment._read(top, MANIFEST)
    status, path = place.stat(), place.relative_to(top).as_posix()
    loaded = {one: facts for one, facts in loaded.items() if "nothing/__pycache__" not in one}
    loaded[path] = (loaded[path][0], status.st_size, status.st_ctime_ns)
    environment._write(top, MANIFEST, loaded, others)


@pytest.mark.slow
def test_a_kill_while_it_is_made_leaves_nothing_that_is_used(checkout: Checkout) -> None:
    process = checkout.begin("list")
    while not (checkout.venv / "pyvenv.cfg").exists():
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not is_complete(str(checkout.venv))
    code, out, err = checkout.launch("list")
    assert (code, out) == (0, "nothing says ['list']\n"), err
    assert is_as_made(str(checkout.venv), MANIFEST)


@pytest.mark.slow
def test_two_that_find_it_damaged_make_it_again_once(checkout: Checkout) -> None:
    assert checkout.launch("list")[0] == 0
    checkout.installed("__init__.py").write_bytes(b"")
    processes = [checkout.begin("list", str(number)) for number in range(3)]
    for number, process in enumerate(processes):
        out, err = process.communicate(timeout=600)
        assert (process.returncode, out) == (0, f"nothing says ['list', '{number}']\n"), err
    assert len([path for path in checkout.cache.iterdir() if is_set_aside(path)]) == 1
