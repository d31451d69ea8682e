"""Versions of Linux as kernels of cases: names, patches, sources; nothing is fetched or built."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pytest
from test_kernel_source import make_package, make_tree

from ffslab.errors import InfrastructureError, SpecError, UsageError
from ffslab.lab import archives, source
from ffslab.lab.archives import FURTHER, VERSION
from ffslab.lab.lab import (
    VARIANTS,
    kernel_inputs,
    known_source,
    linux_of,
    nearest_series,
    plan_lab,
)
from ffslab.lab.patches import read_series
from ffslab.lab.progress import SilentProgress
from ffslab.model.kernels import USUAL_VERSION, VERSIONS, kernel_of_options, lab_kernel
from ffslab.model.specs import LabKernel, OptionValue
from ffslab.paths import data_dir


def test_a_case_names_the_versions_that_the_lab_can_build() -> None:
    assert set(VERSIONS) == set(FURTHER) and USUAL_VERSION == VERSION
    for version in VERSIONS:
        assert lab_kernel({"kernel": version}, "test") == LabKernel(version)
        assert version in VARIANTS and f"unaligned-{version}" in VARIANTS
    assert lab_kernel({"kernel": USUAL_VERSION}, "test") == LabKernel()


def test_a_variant_says_of_which_version_it_is() -> None:
    for variant in VARIANTS:
        named = [version for version in FURTHER if version in variant.split("-")]
        assert [linux_of(variant)] == (named or [VERSION])


@pytest.mark.parametrize("version", FURTHER)
def test_a_kind_of_kernel_is_of_the_version_that_is_named(version: str) -> None:
    """The patches of that version; and the fragments of the kind, as in the usual version."""
    for kind, more in {
        "sockets": ["sockets.config"],
        "fastmap": ["fastmap.config"],
        "ubi-wear": ["ubi-wear.config"],
        "debug": ["debug.config"],
    }.items():
        inputs, plain = kernel_inputs(f"{version}-{kind}"), kernel_inputs(version)
        assert inputs.series == plain.series and inputs.series.made_for == version
        named = [path.name for path in inputs.fragments]
        assert [name for name in named if name in more] == more
        assert [name for name in named if name not in more] == [
            path.name for path in plain.fragments
        ]
    with pytest.raises(UsageError, match="no lab kernel variant"):
        kernel_inputs(f"{version}-period")


def test_a_study_names_sockets_and_fixes_of_a_version() -> None:
    assert lab_kernel({"kernel": "6.12-sockets"}, "test") == LabKernel("6.12-sockets")
    assert lab_kernel({"kernel": "7.3-fixed"}, "test").kind == "fixed"
    fixes = read_series(data_dir("kernel") / "fixes")
    assert kernel_inputs("7.3-fixed").series.patches == (
        *kernel_inputs("7.3").series.patches,
        *fixes,
    )
    for wrong in ("6.12-fixed", "7.3-period", "7.3-fastmap", "7.3-", "7.4-sockets"):
        with pytest.raises(SpecError, match=rf"(?s)cases have no kernel '{wrong}'.*7\.3-sockets"):
            lab_kernel({"kernel": wrong}, "test")


def test_an_option_asks_for_its_kernel_in_the_version_that_the_study_names() -> None:
    needs = (OptionValue(kernel="fastmap"),)
    assert kernel_of_options(LabKernel(), needs, "test") == LabKernel("fastmap")
    kernel = kernel_of_options(LabKernel("6.12"), needs, "test")
    assert kernel.on_board(unaligned=True).variant == "unaligned-6.12-fastmap"
    assert (kernel.kind, kernel.arguments) == ("fastmap", ("ubi.fm_autoconvert=1",))
    for taken in ("sockets", "7.3-sockets", "7.3-fixed"):
        with pytest.raises(SpecError, match="may be a version"):
            kernel_of_options(LabKernel(taken), needs, "test")


@pytest.mark.parametrize("version", FURTHER)
def test_a_series_has_every_patch_and_each_once(version: str) -> None:
    """What versions share stands in the directory of the usual one."""
    own = data_dir("kernel") / f"patches-{version}"
    patches = [path.resolve() for path in read_series(own)]
    assert kernel_inputs(version).series.patches == tuple(read_series(own))
    assert set(own.glob("*.patch")) <= set(patches)
    names = [path.name for path in patches]
    assert names == sorted(set(names))


@pytest.mark.parametrize("version", FURTHER)
def test_a_patch_of_its_own_is_another_one(version: str) -> None:
    for path in (data_dir("kernel") / f"patches-{version}").glob("*.patch"):
        usual = data_dir("kernel") / "patches" / path.name
        is_new = not usual.is_file()
        assert is_new or hunks(path) != hunks(usual), f"{path.name} could be shared"


@pytest.mark.parametrize("variant", ["fixed", "unaligned-fixed"])
def test_the_fixed_kernel_is_the_usual_one_and_the_fixes(variant: str) -> None:
    fixes = read_series(data_dir("kernel") / "fixes")
    assert lab_kernel({"kernel": "fixed"}, "test") == LabKernel("fixed")
    assert kernel_inputs(variant).series.patches == (
        *kernel_inputs("default").series.patches,
        *fixes,
    )
    assert not set(kernel_inputs("default").series.patches) & set(fixes)


@pytest.mark.parametrize(
    ("version", "series"),
    [
        ("6.1", "6.1"),
        ("6.6", "6.1"),
        ("6.12", "6.12"),
        ("6.10", "6.12"),
        ("6.19", "7.3"),
        ("7.0", "7.3"),
        ("7.2", "7.3"),
        ("7.3", "7.3"),
        ("7.4", "7.3"),
        ("5.4", "5.10"),
        ("5.15", "5.10"),
        ("5.19", "6.1"),
    ],
)
def test_a_source_of_another_version_is_tried_with_the_nearest_patches(
    version: str, series: str
) -> None:
    assert nearest_series(version) == series


def test_a_named_tree_takes_the_place_of_its_own_version_and_of_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tree = make_tree(tmp_path / "linux")
    (tree / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 99\n")
    (tree / "Kbuild").touch()
    (tree / "arch" / "um").mkdir(parents=True, exist_ok=True)
    usual, further = known_source(tree), known_source(tree, "6.12")
    assert usual is not None and usual.version == "6.12" and usual == further
    plan = plan_lab("default", usual)
    assert kernel_inputs("default", "6.12").series.patches == kernel_inputs("6.12").series.patches
    assert plan.kernel_key == plan_lab("6.12", usual).kernel_key
    (tree / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 9\n")
    older = known_source(tree)
    assert older is not None and older.version == "6.1"
    assert known_source(tree, "6.12") is None  # which is to be fetched


def test_a_source_decides_what_is_left_out_of_the_configuration() -> None:
    def fragments(variant: str, linux: str = "") -> list[str]:
        return [path.name for path in kernel_inputs(variant, linux).fragments]

    assert fragments("5.10") == fragments("default", "5.10") == ["lab.config", "linux-5.10.config"]
    assert fragments("unaligned-5.10")[-1] == "linux-5.10.config"
    assert fragments("7.3") == fragments("default", "7.4") == ["lab.config", "linux-7.3.config"]
    assert fragments("default") == fragments("6.12") == ["lab.config"]
    assert fragments("default", "5.15") == fragments("5.10")
    assert fragments("default", "5.16") == fragments("default", "7.2") == ["lab.config"]


def hunks(path: Path) -> str:
    """A patch without the places of its hunks."""
    return re.sub(r"^@@.*$", "@@", path.read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.mark.parametrize("version", FURTHER)
@pytest.mark.parametrize("packed", ["xz", "gz"])
def test_each_version_has_a_source_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, packed: Literal["xz", "gz"]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(archives, "is_debian", lambda: False)
    name = f"linux-source-{version}"
    tree = make_tree(tmp_path / "linux")
    path = tmp_path / f"{name}_{version}.9-1_all.deb"
    package = make_package(path, tree, name=name, packed=packed)
    digest = archives.file_sha256(package)
    stated = archives.Archive(f"{version}.9-1", (package.as_uri(),), digest)
    monkeypatch.setitem(archives.FURTHER, version, stated)
    had = source.ensure_source(SilentProgress(), version=version)
    assert had.id == f"debian-{version}.9-1"
    assert known_source(None, f"unaligned-{version}") == had == known_source(tmp_path, version)
    assert known_source(None) is None


@pytest.mark.parametrize("version", FURTHER)
def test_a_version_that_cannot_be_fetched_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(archives, "is_debian", lambda: False)
    gone = archives.Archive(f"{version}.9-1", ("file:///nonexistent/linux.deb",), "0" * 64)
    monkeypatch.setitem(archives.FURTHER, version, gone)
    with pytest.raises(InfrastructureError, match=r"nonexistent/linux\.deb"):
        source.ensure_source(SilentProgress(), version=version)
