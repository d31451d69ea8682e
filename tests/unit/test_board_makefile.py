"""What `make -C kmod/MODULE KERNEL=...` says of an unusable tree; nothing is compiled."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
USABLE = (
    "CONFIG_ARM=y\nCONFIG_MODULES=y\nCONFIG_MTD=m\nCONFIG_PROC_FS=y\n"
    "CONFIG_CRC32=y\nCONFIG_ZLIB_DEFLATE=m\nCONFIG_ZLIB_INFLATE=m\n"
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree that has all that is asked for, whose makefile tells what it was called with."""
    place = tmp_path / "linux"
    for directory in ("include/config", "scripts/mod"):
        (place / directory).mkdir(parents=True)
    rule = "\t@echo ARCH=$(ARCH) M=$(M) WARN=$(KBUILD_MODPOST_WARN) goal=$@\n"
    (place / "Makefile").write_text(f"modules clean:\n{rule}", "utf-8")
    (place / "include/config/auto.conf").write_text(USABLE, "utf-8")
    (place / "scripts/mod/modpost").touch()
    (place / "Module.symvers").touch()
    return place


def make(tmp_path: Path, *words: str, name: str = "flashmon") -> tuple[int, str]:
    """Exit code and all that make says, for a copy of the module's makefiles."""
    module = tmp_path / "kmod" / name
    module.mkdir(parents=True)
    shutil.copy(ROOT / "kmod" / "board.mk", module.parent)
    shutil.copy(ROOT / "kmod" / name / "Makefile", module)
    command = ["make", "--no-print-directory", "-C", module, *words]
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    return done.returncode, done.stdout + done.stderr


def test_kbuild_is_called_with_the_architecture_of_the_configuration(
    tmp_path: Path, tree: Path
) -> None:
    code, told = make(tmp_path, f"KERNEL={tree}")
    assert code == 0, told
    assert f"ARCH=arm M={tmp_path}/kmod/flashmon WARN= goal=modules" in told


def test_what_the_user_says_of_the_architecture_is_obeyed(tmp_path: Path, tree: Path) -> None:
    code, told = make(tmp_path, f"KERNEL={tree}", "ARCH=mips", "clean")
    assert code == 0, told
    assert "ARCH=mips" in told
    assert "goal=clean" in told


def test_user_mode_linux_is_not_taken_for_its_host(tmp_path: Path, tree: Path) -> None:
    with (tree / "include/config/auto.conf").open("a", encoding="utf-8") as file:
        file.write("CONFIG_X86=y\nCONFIG_UML=y\n")
    assert "ARCH=um " in make(tmp_path, f"KERNEL={tree}")[1]


def test_without_the_kernels_symbols_unknown_ones_are_no_error(tmp_path: Path, tree: Path) -> None:
    (tree / "Module.symvers").unlink()
    code, told = make(tmp_path, f"KERNEL={tree}")
    assert code == 0, told
    assert "WARN=1" in told


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Makefile", "is no kernel tree"),
        ("include/config/auto.conf", "is not configured"),
        ("scripts/mod/modpost", "not ready for modules"),
    ],
)
def test_what_a_tree_lacks_is_said(tmp_path: Path, tree: Path, name: str, said: str) -> None:
    (tree / name).unlink()
    code, told = make(tmp_path, f"KERNEL={tree}")
    assert code == 2
    assert said in told
    assert str(tree) in told


@pytest.mark.parametrize("module", ["flashmon", "yaffs", "logfs"])
@pytest.mark.parametrize("option", ["CONFIG_MODULES", "CONFIG_MTD", "CONFIG_PROC_FS"])
def test_what_the_configuration_lacks_is_said(
    tmp_path: Path, tree: Path, option: str, module: str
) -> None:
    kept = [line for line in USABLE.splitlines() if not line.startswith(option)]
    (tree / "include/config/auto.conf").write_text("\n".join(kept) + "\n", "utf-8")
    code, told = make(tmp_path, f"KERNEL={tree}", name=module)
    assert code == 2
    assert f"is without {option}:" in told


def test_versions_of_symbols_need_their_list(tmp_path: Path, tree: Path) -> None:
    (tree / "Module.symvers").unlink()
    with (tree / "include/config/auto.conf").open("a", encoding="utf-8") as file:
        file.write("CONFIG_MODVERSIONS=y\n")
    code, told = make(tmp_path, f"KERNEL={tree}")
    assert code == 2
    assert "Module.symvers" in told


@pytest.mark.parametrize("words", [(), ("KERNEL=linux",)])
def test_the_tree_must_be_named_absolutely(tmp_path: Path, words: tuple[str, ...]) -> None:
    code, told = make(tmp_path, *words)
    assert code == 2
    assert "make KERNEL=/path/to/tree" in told
