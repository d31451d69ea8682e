"""The launcher and what it prepares: the warm path, and clear errors on the cold one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from host_support import make_environment

from ffslab.environment import (
    MANIFEST,
    TOOLS_MANIFEST,
    environment_of,
    is_complete,
    manifests_for,
    write_manifest,
)
from ffslab.errors import InfrastructureError
from ffslab.lab import bootstrap, packages
from ffslab.lab.progress import SilentProgress

ROOT = Path(__file__).resolve().parents[2]


def launch(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {"PATH": "/usr/bin:/bin", **environment}
    return subprocess.run(
        [str(ROOT / "ffslab"), *arguments],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )


PYTHON = Path(os.path.realpath(sys.executable))
COMPLETION = {"_FFSLAB_COMPLETE": "1"}  # Then nothing is set up, and nothing said.


def make_python(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)
    return path


@pytest.fixture
def warm_cache(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A cache whose environment is complete, and whose Python tells what it was called with."""
    variables = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "FFSLAB_PYTHON": str(PYTHON)}
    venv = Path(environment_of(str(tmp_path / "cache" / "ffslab"), str(ROOT), str(PYTHON)))
    make_python(venv / "bin" / "python", 'echo "warm: $PYTHONPATH $*"\n')
    write_manifest(str(venv), MANIFEST)
    return venv, variables


def tells_its_name(venv: Path) -> None:
    (venv / MANIFEST).unlink()
    make_python(venv / "bin" / "python", 'echo "$FFSLAB_COMMAND"\n')
    write_manifest(str(venv), MANIFEST)


def test_a_complete_environment_is_started_directly(
    warm_cache: tuple[Path, dict[str, str]],
) -> None:
    _, variables = warm_cache
    finished = launch("run", "a study", **variables)
    assert finished.stdout == f"warm: {ROOT}/src -P -m ffslab run a study\n"
    assert finished.returncode == 0


def test_the_program_is_called_what_the_user_typed(
    warm_cache: tuple[Path, dict[str, str]],
) -> None:
    venv, variables = warm_cache
    tells_its_name(venv)
    finished = subprocess.run(
        ["./ffslab", "list"],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.stdout == "./ffslab\n"


@pytest.mark.parametrize("words", [("test", "--help"), ("test", "--no-install", "-h")])
def test_help_of_the_tests_starts_without_the_tools_of_the_tests(
    warm_cache: tuple[Path, dict[str, str]], words: tuple[str, ...]
) -> None:
    _, variables = warm_cache
    assert launch(*words, **variables).stdout.startswith("warm: ")
    assert launch("--no-install", "test", **variables, **COMPLETION).stdout == ""


def test_the_program_has_a_directory_in_its_name_after_sh(
    warm_cache: tuple[Path, dict[str, str]],
) -> None:
    venv, variables = warm_cache
    tells_its_name(venv)
    finished = subprocess.run(
        ["sh", "ffslab", "list"],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.stdout == "./ffslab\n"


def test_an_incomplete_environment_is_not_used(warm_cache: tuple[Path, dict[str, str]]) -> None:
    venv, variables = warm_cache
    assert launch("list", **variables, **COMPLETION).stdout.startswith("warm: ")
    (venv / MANIFEST).unlink()
    assert launch("list", **variables, **COMPLETION).stdout == ""


def test_the_test_verb_needs_the_development_tools(
    warm_cache: tuple[Path, dict[str, str]],
) -> None:
    venv, variables = warm_cache
    assert launch("test", **variables, **COMPLETION).stdout == ""
    write_manifest(str(venv), TOOLS_MANIFEST)
    assert launch("test", **variables).stdout.startswith("warm: ")


def test_the_launcher_works_through_a_symbolic_link(
    warm_cache: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    _, variables = warm_cache
    link = tmp_path / "bin-ffslab"
    link.symlink_to(ROOT / "ffslab")
    finished = subprocess.run(
        [str(link), "list"],
        env={"PATH": "/usr/bin:/bin", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.stdout == f"warm: {ROOT}/src -P -m ffslab list\n"


def test_no_python_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    finished = launch("list", XDG_CACHE_HOME=str(tmp_path), FFSLAB_PYTHON="/nonexistent/python")
    assert finished.returncode == 3
    assert "apt-get install python3" in finished.stderr


def test_no_home_is_an_error_with_a_remedy() -> None:
    finished = launch("list")
    assert finished.returncode == 3
    assert "XDG_CACHE_HOME" in finished.stderr


def test_a_cache_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    finished = launch("list", XDG_CACHE_HOME=str(tmp_path / "file"))
    assert finished.returncode == 3
    assert "cannot create" in finished.stderr
    assert "Traceback" not in finished.stderr


@pytest.mark.parametrize(
    ("words", "compiler", "source"),
    [
        (["run", "ffsmark"], True, True),
        (["setup"], True, True),
        (["setup", "--kernel-source=/usr/src/linux"], True, False),
        (["test"], True, True),
        (["test", "--quick"], True, False),
        (["run", "ffsmark", "--dry-run"], False, False),
        (["run", "--help"], False, False),
        (["doctor"], False, False),
        ([], False, False),
    ],
)
def test_a_verb_brings_only_what_it_needs(
    words: list[str], compiler: bool, source: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FFSLAB_KERNEL_SOURCE", raising=False)
    assert bootstrap.needs_compiler(words) is compiler
    assert bootstrap.needs_kernel_source(words) is source


def test_an_environment_without_network_is_an_error_and_stays_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(bootstrap, "ensure_packages", lambda *_: [])
    monkeypatch.setattr(bootstrap, "_create", lambda venv, *_: make_environment(venv))
    absent = f"nothing @ file://{tmp_path}/absent.whl --hash=sha256:{'0' * 64}\n"
    (tmp_path / "requirements.lock").write_text(absent)
    venv = tmp_path / "cache" / "ffslab" / "venv-test"
    with pytest.raises(InfrastructureError) as caught:
        bootstrap.prepare(venv, tmp_path, ["list"], SilentProgress())
    assert "network" in caught.value.cause
    assert "environment.log" in caught.value.message
    assert not is_complete(str(venv))


def test_missing_packages_without_rights_are_named_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = [packages.DebianPackage("no-such-package-here", "a test", "/nonexistent")]
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(packages, "is_debian", lambda: True)
    monkeypatch.setattr(packages, "missing_packages", lambda _: wanted)
    monkeypatch.setattr(packages, "clean_environment", lambda: {"PATH": "/nonexistent"})
    with pytest.raises(InfrastructureError) as caught:
        packages.ensure_packages(wanted, tmp_path / "log", SilentProgress())
    assert "no-such-package-here" in caught.value.message
    assert caught.value.remedy == (
        "as root: apt-get update && apt-get install --no-install-recommends no-such-package-here"
    )


def test_elsewhere_than_on_debian_the_programs_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "is_debian", lambda: False)
    wanted = [
        packages.DebianPackage("shell", "is there everywhere", "sh"),
        packages.DebianPackage("gcc-none", "a test", "no-such-compiler"),
    ]
    with pytest.raises(InfrastructureError) as caught:
        packages.ensure_packages(wanted, tmp_path / "log", SilentProgress())
    assert "no-such-compiler (a test)" in caught.value.message
    assert "sh (" not in caught.value.message


def test_an_update_that_fetched_nothing_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "_apt", lambda *_: ["echo", "could not connect"])
    monkeypatch.setattr(packages, "have_package_lists", lambda: False)
    with pytest.raises(InfrastructureError, match="could not connect") as caught:
        packages.update_package_lists([], tmp_path / "log")
    assert "http_proxy" in caught.value.cause


def test_the_doctor_makes_no_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the doctor changes something")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(bootstrap, "prepare", refuse)
    code = bootstrap.main([str(tmp_path / "venv"), str(ROOT), "doctor"])
    told = capsys.readouterr().out
    assert code == (3 if "missing  " in told else 0)
    assert "later     python packages" in told
    assert "later     kernel source" in told
    assert list(tmp_path.iterdir()) == []


def test_the_doctor_runs_on_the_systems_python_and_an_empty_cache(tmp_path: Path) -> None:
    finished = launch("doctor", XDG_CACHE_HOME=str(tmp_path))
    assert "kernel source" in finished.stdout, finished.stderr
    assert "Traceback" not in finished.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_doctor_looks_at_a_kernel_source_without_the_environment_too(tmp_path: Path) -> None:
    finished = launch("doctor", "--kernel-source", str(tmp_path), XDG_CACHE_HOME=str(tmp_path))
    assert finished.returncode == 3
    assert "not a Linux kernel source" in finished.stdout


def test_help_of_the_tests_asks_for_no_tools_of_the_tests() -> None:
    assert manifests_for(["test", "--quick"]) == (MANIFEST, TOOLS_MANIFEST)
    assert manifests_for(["--no-install", "test"]) == (MANIFEST, TOOLS_MANIFEST)
    assert manifests_for(["test", "--help"]) == manifests_for(["run", "test"]) == (MANIFEST,)


def test_packages_are_named_with_what_they_are_for_before_they_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = [packages.DebianPackage("no-such-package-here", "a test", "/nonexistent")]
    told: list[str] = []

    class Told(SilentProgress):
        def note(self, text: str) -> None:
            told.append(text)

    def install(*_: object) -> None:
        assert any("no-such-package-here (a test)" in text for text in told)
        told.append("installed")

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(packages, "is_debian", lambda: True)
    monkeypatch.setattr(packages, "missing_packages", lambda _: wanted)
    monkeypatch.setattr(packages, "_apt_install", install)
    monkeypatch.delenv(packages.NO_INSTALL_VARIABLE, raising=False)
    assert packages.ensure_packages(wanted, tmp_path / "log", Told()) == ["no-such-package-here"]
    assert told[-1] == "installed"
    monkeypatch.setenv(packages.NO_INSTALL_VARIABLE, "")  # put back as it was afterwards
    assert packages.without_no_install(["run", "--no-install", "quick"]) == ["run", "quick"]
    with pytest.raises(InfrastructureError, match=r"no-such-package-here \(a test\)") as caught:
        packages.ensure_packages(wanted, tmp_path / "log", Told())
    assert "--no-install" in caught.value.cause
    assert caught.value.remedy.endswith("--no-install-recommends no-such-package-here")
    assert told.count("installed") == 1


def test_an_interrupted_dpkg_is_told_with_its_own_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise InfrastructureError(
            "E: dpkg was interrupted, you must manually run 'dpkg --configure -a'"
        )

    monkeypatch.setattr(packages, "run_logged", refuse)
    monkeypatch.setattr(packages, "have_package_lists", lambda: True)
    with pytest.raises(InfrastructureError) as caught:
        packages._apt_install([], ["gcc"], tmp_path / "log")
    assert "dpkg --configure -a" in caught.value.remedy
