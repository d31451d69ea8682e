"""Each file of each kind of cache entry, damaged in each way: it is never used.

An entry whose stamp is missing is one that was interrupted: it is made again without a word.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from damage_support import HARMS, flip

from ffslab import doctor
from ffslab.campaign.state_store import StateStore, damage_of_state
from ffslab.errors import InfrastructureError
from ffslab.images.cache import ImageStore
from ffslab.images.source import source_tree
from ffslab.lab import archives, lab, source
from ffslab.lab.build import KernelEntry
from ffslab.lab.cache import (
    STAMP,
    cache_root,
    damage_of,
    damage_of_all,
    file_sha256,
    is_complete,
    is_set_aside,
    is_sound,
    set_aside_if_damaged,
    sha256_of_files,
    write_stamp,
)
from ffslab.lab.progress import SilentProgress
from ffslab.lab.source import KernelSource
from ffslab.protocol.chip_file import create_flash_file, flash_digest
from ffslab.targets.compiled import compiled

# The files that each kind of entry has beside its stamp.
FILES = {
    "kernel": ("linux", "nandsim.ko"),
    "module": ("vnand.ko",),
    "agent": ("ffsagent",),
    "cutter": ("ffscrash",),
    "launcher": ("launcher",),
    "board-agent": ("ffsagent",),
    "turns": ("turns.so",),
    "out-of-tree": ("one.ko", "two.ko"),
    "objects": ("obj/fs/jffs2/dir.o", "obj/fs/jffs2/gc.o"),
    "source": ("tree/Kbuild", "tree/arch/um/Makefile"),
    "image": ("image",),
    "tree": ("tree.tar",),
    "state": ("flash.img", "records.jsonl", "console.log"),
}
# Those that builds of others read.
FOR_BUILDS = {"kernel": ("src/include/linux/fs.h", "obj/.config"), "objects": ("obj/Makefile",)}
CASES = [(kind, name, harm) for kind, names in FILES.items() for name in names for harm in HARMS]
BUILD_CASES = [
    (kind, name, harm)
    for kind, names in FOR_BUILDS.items()
    for name in (*names, "for-builds.json")
    for harm in HARMS
]
STAMPS = [(kind, harm) for kind in FILES for harm in HARMS if harm != "missing"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("FFSLAB_STATE_CACHE", raising=False)


def fake_entry(kind: str) -> Path:
    """A complete entry of that kind, as the code that makes such a kind stamps it."""
    if kind == "state":
        return fake_state()
    entry = cache_root() / kind / "0123456789abcdef"
    for_builds = [entry / name for name in FOR_BUILDS.get(kind, ())]
    made = [entry / name for name in FILES[kind]]
    for path in (*made, *for_builds):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{path.name} of {kind}, " * 20)
    write_stamp(entry, {"from": "a test"}, made, for_builds)
    return entry


def fake_state() -> Path:
    store = StateStore(cache_root() / "state")
    with store.new_entry() as directory:
        flash = directory / "flash.img"
        create_flash_file(flash, 1 << 20)
        with flash.open("r+b") as file:
            file.write(b"written " * 4096)
        (directory / "records.jsonl").write_text('{"type": "end"}\n')
        (directory / "console.log").write_text("Linux version 6.1\n")
        return store.keep(directory, "a" * 64, flash_digest(flash))


def damage(kind: str, entry: Path) -> str:
    return damage_of_state(entry) if kind == "state" else damage_of(entry)


@pytest.mark.parametrize(("kind", "name", "harm"), CASES)
def test_each_damaged_file_is_named(kind: str, name: str, harm: str) -> None:
    entry = fake_entry(kind)
    assert damage(kind, entry) == ""
    if name == "flash.img" and harm == "one bit":
        flip(entry / name, 5)  # The middle is a hole.
    else:
        HARMS[harm](entry / name)
    assert damage(kind, entry).startswith(f"{name}: ")


@pytest.mark.parametrize(("kind", "name", "harm"), BUILD_CASES)
def test_what_builds_read_is_checked_for_builds_and_by_the_doctor(
    kind: str, name: str, harm: str
) -> None:
    entry = fake_entry(kind)
    assert damage_of_all(entry) == ""
    HARMS[harm](entry / name)
    assert damage_of(entry) == ""
    assert damage_of_all(entry).startswith(f"{name}: ")
    (condition,) = cache_conditions()
    assert condition.state is doctor.State.DAMAGED and f"{entry}: {name}: " in condition.detail
    assert not set_aside_if_damaged(entry, damage_of_all)
    assert entry.with_name(entry.name + ".damaged-1").is_dir()


def test_what_builds_of_a_kernel_read() -> None:
    entry = KernelEntry(cache_root() / "kernel" / "default-1")
    read = ("src/include/linux/fs.h", "src/Makefile", "obj/.config", "obj/Module.symvers")
    read += ("obj/include/generated/autoconf.h", "obj/scripts/basic/as", "src/scripts/mod/x.c")
    for name in (*read, "src/fs/inode.c", "src/arch/um/a.S", "obj/fs/.inode.o.cmd"):
        (entry.directory / name).parent.mkdir(parents=True, exist_ok=True)
        (entry.directory / name).touch()
    (entry.objects / "source").symlink_to("../src")
    found = {path.relative_to(entry.directory).as_posix() for path in entry.for_builds()}
    assert found == set(read)


@pytest.mark.parametrize(("kind", "harm"), STAMPS)
def test_a_damaged_stamp_is_damage(kind: str, harm: str) -> None:
    entry = fake_entry(kind)
    HARMS[harm](entry / STAMP)
    assert damage(kind, entry).startswith(f"{STAMP}: ")


def test_no_bit_of_a_stamp_can_hide_a_damaged_file() -> None:
    entry = fake_entry("agent")
    (entry / "ffsagent").write_bytes(b"")
    whole = (entry / STAMP).read_bytes()
    for offset in range(len(whole)):
        for bit in range(8):
            (entry / STAMP).write_bytes(whole)
            flip(entry / STAMP, offset, bit)
            assert not is_sound(entry), (offset, bit)


def test_a_damaged_entry_is_named_and_moved_aside(caplog: pytest.LogCaptureFixture) -> None:
    entry = fake_entry("agent")
    (entry / "ffsagent").write_bytes(b"")
    assert not set_aside_if_damaged(entry)
    aside = entry.with_name(entry.name + ".damaged-1")
    assert (aside / "ffsagent").is_file() and not entry.exists() and is_set_aside(aside)
    assert f"{entry} is damaged (ffsagent: it is empty)" in caplog.text
    assert str(aside) in caplog.text

    again = fake_entry("agent")
    assert set_aside_if_damaged(again)
    (again / "ffsagent").unlink()
    assert not set_aside_if_damaged(again)
    assert entry.with_name(entry.name + ".damaged-2").is_dir()


def test_an_entry_with_one_hash_of_an_earlier_version_is_checked_by_it() -> None:
    entry = fake_entry("kernel")
    (entry / "for-builds.json").unlink()
    files = [entry / name for name in FILES["kernel"]]
    (entry / "build.log").write_text("make")
    (entry / STAMP).write_text(json.dumps({"sha256": sha256_of_files(entry, files)}))
    assert damage_of(entry) == ""
    flip(files[1])
    assert damage_of(entry)


def test_an_entry_without_hashes_is_made_again_and_not_called_damaged() -> None:
    entry = fake_entry("launcher")
    (entry / STAMP).write_text('{"file": "launcher"}')
    assert not is_sound(entry)
    assert not set_aside_if_damaged(entry)
    assert entry.is_dir()


# --- each user of entries ---


SOURCE = KernelSource("debian-1", Path("/absent/tree"))
PARTS = ("kernel", "vnand", "agent", "cutter")


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replaces the builds of a lab by fakes; the names of what was built."""
    built: list[str] = []

    def fake(name: str, entry: Path) -> None:
        built.append(name)
        entry.mkdir(parents=True, exist_ok=True)
        (entry / "file").write_text(f"the bytes of {name}")
        write_stamp(entry, {}, [entry / "file"])

    def modules(entries: dict[str, Path], *_: object) -> None:
        for name, entry in entries.items():
            fake(name, entry)

    monkeypatch.setattr(lab, "known_source", lambda *_: SOURCE)
    monkeypatch.setattr(lab, "ensure_source", lambda *_, **__: SOURCE)
    monkeypatch.setattr(lab, "ensure_packages", lambda *_: None)
    monkeypatch.setattr(lab, "build_agent", lambda entry, *_: fake("agent", entry))
    monkeypatch.setattr(lab, "build_cutter", lambda entry, *_: fake("cutter", entry))
    monkeypatch.setattr(lab, "build_kernel", lambda entry, *_: fake("kernel", entry.directory))
    monkeypatch.setattr(lab, "build_modules", modules)
    return built


def test_a_kernel_of_another_version_does_not_wait(
    builds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one is compiled, another thread has the other one."""
    other = KernelSource("debian-2", Path("/absent/other"), "7.3")
    sources = {"7.3": other, "6.1": SOURCE}
    monkeypatch.setattr(lab, "known_source", lambda _, variant: sources[lab.linux_of(variant)])
    monkeypatch.setattr(lab, "ensure_source", lambda *_, version, **__: sources[version])
    made = lab.build_kernel

    def slowly(entry: KernelEntry, kernel_source: KernelSource, *further: object) -> object:
        if kernel_source == other:
            beside = Thread(target=lab.ensure_lab, args=("default", SilentProgress()), daemon=True)
            beside.start()
            beside.join(20)
            assert not beside.is_alive()
            assert builds.count("kernel") == 1
        return made(entry, kernel_source, *further)

    monkeypatch.setattr(lab, "build_kernel", slowly)
    lab.ensure_lab("7.3", SilentProgress())
    assert builds.count("kernel") == 2
    assert len(lab.build_locks()) == 3


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("part", PARTS)
def test_a_lab_is_checked_and_only_what_is_damaged_is_built_again(
    part: str, harm: str, builds: list[str]
) -> None:
    first = lab.ensure_lab(progress=SilentProgress())
    assert set(PARTS) <= set(builds)
    builds.clear()
    assert lab.ensure_lab(progress=SilentProgress()) == first
    assert not builds
    entry = lab.plan_lab("default", SOURCE).parts[part]
    HARMS[harm](entry / "file")
    assert lab.ensure_lab(progress=SilentProgress()) == first
    assert builds == [part]
    assert (entry / "file").read_text() == f"the bytes of {part}"
    assert entry.with_name(entry.name + ".damaged-1").is_dir()


@pytest.mark.parametrize("harm", HARMS)
def test_no_module_is_built_against_a_damaged_kernel(harm: str, builds: list[str]) -> None:
    first = lab.ensure_lab(progress=SilentProgress())
    plan = lab.plan_lab("default", SOURCE)
    kernel = plan.kernel.directory
    (kernel / "header.h").write_text("#define ONE 1\n")
    write_stamp(kernel, {}, [kernel / "file"], [kernel / "header.h"])
    HARMS[harm](kernel / "header.h")
    builds.clear()
    assert lab.ensure_lab(progress=SilentProgress()) == first
    assert not builds  # A run reads nothing of it.
    (plan.modules["vnand"] / "file").unlink()
    assert lab.ensure_lab(progress=SilentProgress()) == first
    assert builds == ["kernel", "vnand"]


def test_what_cannot_be_built_again_is_refused_with_the_reason(
    builds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise InfrastructureError("no compiler")

    lab.ensure_lab(progress=SilentProgress())
    assert builds
    entry = lab.plan_lab("default", SOURCE).agent
    (entry / "file").write_bytes(b"")
    monkeypatch.setattr(lab, "build_agent", refuse)
    for _ in range(2):
        with pytest.raises(InfrastructureError, match="no compiler"):
            lab.ensure_lab(progress=SilentProgress())
    assert not entry.exists()


COMPILER = "import shutil, sys; shutil.copyfile(sys.argv[3], sys.argv[2])"


@pytest.mark.parametrize("harm", HARMS)
def test_a_compiled_program_is_checked_and_compiled_again(harm: str, tmp_path: Path) -> None:
    (tmp_path / "launcher.c").write_text("int main(void) { return 0; }\n")
    command = [sys.executable, "-c", COMPILER]
    program = compiled(tmp_path / "launcher.c", command, "launcher")
    whole = program.read_bytes()
    HARMS[harm](program)
    assert compiled(tmp_path / "launcher.c", command, "launcher") == program
    assert program.read_bytes() == whole


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("name", FILES["state"])
def test_a_damaged_state_is_not_found_and_can_be_kept_again(name: str, harm: str) -> None:
    entry = fake_state()
    store = StateStore(cache_root() / "state")
    assert store.find("a" * 64) == entry
    HARMS[harm](entry / name) if name != "flash.img" or harm != "one bit" else flip(entry / name, 5)
    assert store.find("a" * 64) is None
    assert fake_state() == entry
    assert store.find("a" * 64) == entry


@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_image_has_no_facts(harm: str) -> None:
    store = ImageStore(cache_root() / "image")
    with store.entry("ab" * 32, SilentProgress()) as entry, store.scratch(entry) as scratch:
        (scratch / "made").write_bytes(b"an image " * 100)
        facts: dict[str, object] = {"sha256": file_sha256(scratch / "made")}
        store.keep(scratch, entry, scratch / "made", facts)
        assert store.facts(entry) is not None
        HARMS[harm](entry / "image")
        assert store.facts(entry) is None


@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_tree_is_read_again(harm: str, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "file").write_text("hello")
    tree = source_tree(str(tmp_path / "own"), SilentProgress())
    whole = tree.tar.read_bytes()
    HARMS[harm](tree.tar)
    assert source_tree(str(tmp_path / "own"), SilentProgress()).tar.read_bytes() == whole


def kernel_tree(top: Path) -> Path:
    (top / "arch" / "um").mkdir(parents=True)
    (top / "Kbuild").write_text("obj-y += init/\n")
    (top / "arch" / "um" / "Makefile").write_text("ARCH_DIR := arch/um\n")
    return top


@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_kernel_source_is_unpacked_again(harm: str, tmp_path: Path) -> None:
    named = kernel_tree(tmp_path / "linux")
    unpacked = source.ensure_source(SilentProgress(), named)
    HARMS[harm](unpacked.tree / "Kbuild")
    assert source.ensure_source(SilentProgress(), named) == unpacked
    assert (unpacked.tree / "Kbuild").read_text() == "obj-y += init/\n"


def test_a_kernel_source_of_an_earlier_version_gets_hashes(tmp_path: Path) -> None:
    named = kernel_tree(tmp_path / "linux")
    entry = source.ensure_source(SilentProgress(), named).tree.parent
    (entry / STAMP).write_text('{"id": "1", "origin": "a test"}')
    source.ensure_source(SilentProgress(), named)
    assert damage_of(entry) == "" and is_complete(entry)
    assert len(list(entry.parent.glob("*.damaged-*"))) == 0


@pytest.mark.parametrize(
    "text", [b"", b"\n", b"debia", b"\xe4ebian-6.1.192-2\n", b"debian-6\x00\n"]
)
def test_a_damaged_note_of_the_default_source_is_as_good_as_none(text: bytes) -> None:
    source.source_root().mkdir(parents=True)
    (source.source_root() / "default").write_bytes(b"debian-6.1.192-2\n")
    found = source.default_source()
    assert found is not None and found.id == "debian-6.1.192-2"
    (source.source_root() / "default").write_bytes(text)
    assert source.default_source() is None


@pytest.mark.parametrize("harm", HARMS)
def test_a_package_that_apt_left_damaged_is_not_unpacked(
    harm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / archives.DEBIAN.name
    package.write_bytes(b"a package " * 100)
    stated = replace(archives.DEBIAN, sha256=file_sha256(package))
    monkeypatch.setattr(archives, "DEBIAN", stated)
    monkeypatch.setattr(archives, "is_debian", lambda: True)
    monkeypatch.setattr(archives, "have_package_lists", lambda: True)
    monkeypatch.setattr(archives, "apt_download", lambda *_: True)
    monkeypatch.setattr(archives, "fetch", lambda *_: tmp_path / "fetched")
    assert archives.debian_package(tmp_path, 0, SilentProgress()) == package
    HARMS[harm](package)
    assert archives.debian_package(tmp_path, 0, SilentProgress()) == tmp_path / "fetched"


# --- the doctor ---


def cache_conditions() -> list[doctor.Condition]:
    return [one for one in doctor.examine() if one.subject == "cache contents"]


@pytest.mark.parametrize("kind", FILES)
def test_the_doctor_names_damage_of_every_kind(kind: str, seen: Callable[[], str]) -> None:
    entry = fake_entry(kind)
    assert seen() == doctor.State.GOOD
    (entry / FILES[kind][0]).write_bytes(b"")
    (condition,) = cache_conditions()
    assert condition.state is doctor.State.DAMAGED
    assert f"{entry}: {FILES[kind][0]}: " in condition.detail
    assert condition.remedy.startswith("ffslab setup")


@pytest.fixture
def seen() -> Callable[[], str]:
    return lambda: cache_conditions()[-1].state


def test_the_doctor_knows_what_was_moved_aside() -> None:
    entry = fake_entry("agent")
    (entry / "ffsagent").write_bytes(b"")
    set_aside_if_damaged(entry)
    (condition,) = cache_conditions()
    assert condition.state is doctor.State.OPTIONAL
    assert condition.remedy == f"rm -r {entry}.damaged-1"
