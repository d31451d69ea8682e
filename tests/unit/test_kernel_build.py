"""Commands of the build, the names of cache entries, and what changes them; nothing is compiled."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from ffslab.errors import BuildError, InfrastructureError, UsageError
from ffslab.lab import build, ensure_lab, lab
from ffslab.lab.cache import write_stamp
from ffslab.lab.commands import clean_environment, run_logged
from ffslab.lab.patches import Series
from ffslab.lab.progress import ConsoleProgress
from ffslab.lab.source import KernelSource
from ffslab.paths import data_dir
from ffslab.targets.target import SiteOptions
from ffslab.targets.uml.site import site_for

SOURCE = KernelSource("debian-6.1.0-0", Path("/nonexistent/tree"))


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one module and an agent, and an empty cache."""
    files = {
        "kernel/lab.config": "CONFIG_MTD=y\n",
        "kernel/debug.config": "CONFIG_KASAN=y\n",
        "kernel/patches/one.patch": "--- a/x\n+++ b/x\n",
        "kernel/patches/series": "one.patch\n",
        "kmod/chip/Kbuild": "obj-m := chip.o\n",
        "kmod/chip/chip.c": "int x;\n",
        "kmod/chip/test/test_chip.c": "int main(void) { return 0; }\n",
        "kmod/other/Kbuild": "obj-m := other.o\n",
        "guest/agent/Makefile": "all:\n",
        "guest/agent/main.c": "int main(void) { return 0; }\n",
        "guest/common/core/error.c": "int error;\n",
        "guest/cutter/Makefile": "all:\n",
        "guest/cutter/main.c": "int main(void) { return 0; }\n",
    }
    for name, text in files.items():
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(lab, "data_dir", lambda name: tmp_path / "checkout" / name)
    return tmp_path / "checkout"


def changed_parts(before: lab.LabPlan, after: lab.LabPlan) -> set[str]:
    parts = {"kernel"} if before.kernel != after.kernel else set()
    parts |= {"agent"} if before.agent != after.agent else set()
    parts |= {"cutter"} if before.cutter != after.cutter else set()
    return parts | {name for name in before.modules if before.modules[name] != after.modules[name]}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("kernel/lab.config", {"kernel", "chip", "other"}),
        ("kernel/patches/one.patch", {"kernel", "chip", "other"}),
        ("kernel/debug.config", set()),
        ("kmod/chip/chip.c", {"chip"}),
        ("kmod/chip/Kbuild", {"chip"}),
        ("kmod/chip/test/test_chip.c", set()),
        ("guest/agent/main.c", {"agent"}),
        ("guest/common/core/error.c", {"agent", "cutter"}),
        ("guest/cutter/main.c", {"cutter"}),
    ],
)
def test_a_change_rebuilds_what_depends_on_it(
    checkout: Path, name: str, expected: set[str]
) -> None:
    before = lab.plan_lab("default", SOURCE)
    with (checkout / name).open("a") as file:
        file.write("# changed\n")
    after = lab.plan_lab("default", SOURCE)
    assert changed_parts(before, after) == expected
    # No measured guest has ffscrash.
    assert (before.inputs_id != after.inputs_id) == bool(expected - {"cutter"})


def test_a_plan_does_not_depend_on_the_checkouts_place(checkout: Path) -> None:
    before = lab.plan_lab("default", SOURCE)
    (checkout / "kmod" / "chip" / "chip.o").write_text("a build result")
    assert lab.plan_lab("default", SOURCE) == before


def test_nothing_is_complete_in_an_empty_cache(checkout: Path) -> None:
    assert lab.plan_lab("default", SOURCE).missing() == [
        "kernel",
        "chip",
        "other",
        "agent",
        "cutter",
    ]
    assert checkout.is_dir()


@pytest.mark.parametrize("part", range(4))
def test_the_build_id_covers_the_built_bytes_of_each_part(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    assert checkout.is_dir()
    monkeypatch.setattr(lab, "known_source", lambda *_: SOURCE)
    plan = lab.plan_lab("default", SOURCE)
    for entry in (*plan.entries, plan.cutter):
        entry.mkdir(parents=True)
        (entry / "built").write_text("by one assembler")
        write_stamp(entry, {}, [entry / "built"])
    before = ensure_lab().build_id
    (plan.entries[part] / "built").write_text("by another")
    write_stamp(plan.entries[part], {}, [plan.entries[part] / "built"])
    changed = ensure_lab().build_id
    assert changed != before
    (plan.cutter / "built").write_text("by another")
    write_stamp(plan.cutter, {}, [plan.cutter / "built"])
    assert ensure_lab().build_id == changed


def test_an_unknown_variant_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="fast"):
        ensure_lab("fast")


def test_a_directory_that_is_no_kernel_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a Linux kernel source"):
        ensure_lab(kernel_source=tmp_path)


def test_a_kernel_source_that_the_environment_names_is_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FFSLAB_KERNEL_SOURCE", str(tmp_path / "absent"))
    with pytest.raises(UsageError, match="absent is not a Linux kernel source"):
        ensure_lab()
    # What the command line says comes first.
    with pytest.raises(UsageError, match=f"{tmp_path} is not a Linux kernel source"):
        ensure_lab(kernel_source=tmp_path)


def test_a_run_builds_from_the_kernel_source_that_it_is_given(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"{tmp_path} is not a Linux kernel source"):
        site_for((), SiteOptions(kernel_source=tmp_path))


def test_the_real_checkout_has_the_modules_of_the_design() -> None:
    assert {"flashmon", "vnand"} <= set(lab.module_names(data_dir("kmod")))


def test_an_option_that_does_not_stick_ends_the_build(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = build.KernelEntry(tmp_path / "entry")
    entry.source.mkdir(parents=True)

    def configure_without_mtd(
        entry: build.KernelEntry, targets: object, lock: int, on_line: object = None
    ) -> None:
        del targets, lock, on_line
        (entry.objects / ".config").write_text("# CONFIG_MTD is not set\n")

    monkeypatch.setattr(build, "make_kernel", configure_without_mtd)
    inputs = build.KernelInputs("default", (checkout / "kernel" / "lab.config",), Series(()))
    progress = ConsoleProgress(io.StringIO())
    with pytest.raises(InfrastructureError, match="CONFIG_MTD: wanted y, got n"):
        build.build_kernel(entry, SOURCE, inputs, 0, progress)


def test_a_missing_compiler_shows_in_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "clean_environment", lambda: {"PATH": "/nonexistent"})
    assert build.compiler_version() == "none"


def test_a_failed_command_shows_the_tail_of_its_log_and_where_it_is(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    with pytest.raises(InfrastructureError) as caught:
        run_logged(["sh", "-c", "seq 100; exit 4"], log=log, cause="a test")
    assert "exit status 4" in caught.value.message
    assert "    100\n" in caught.value.message
    assert "\n    1\n" not in caught.value.message
    assert str(log) in caught.value.message
    assert log.read_text().splitlines()[1] == "1"


def test_a_failed_compilation_shows_its_first_error_of_this_time(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_text("a.c:1: error: of the build before\n")
    told = "echo b.c:2:3: error: no such thing; seq 100; exit 2"
    with pytest.raises(
        BuildError, match=r"\n    b\.c:2:3: error: no such thing\n    1\n"
    ) as caught:
        run_logged(["sh", "-c", told], log=log, cause="a test")
    assert "of the build before" not in caught.value.message


def test_a_program_that_was_killed_failed_in_another_way(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError) as caught:
        run_logged(["sh", "-c", "kill -9 $$"], log=tmp_path / "log", cause="a test")
    assert not isinstance(caught.value, BuildError)


def test_a_missing_program_leads_to_the_doctor(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError) as caught:
        run_logged(["no-such-program"], log=tmp_path / "log", cause="a test")
    assert "doctor" in caught.value.remedy


def test_builds_do_not_see_the_users_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CFLAGS", "-march=native")
    monkeypatch.setenv("PATH", "/home/user/shims")
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    environment = clean_environment({"KBUILD_BUILD_USER": "ffslab"})
    assert "CFLAGS" not in environment
    assert "shims" not in environment["PATH"]
    assert environment["https_proxy"] == "http://proxy:3128"
    assert environment["KBUILD_BUILD_USER"] == "ffslab"


def test_progress_without_a_terminal_is_plain_lines() -> None:
    stream = io.StringIO()
    progress = ConsoleProgress(stream, clock=iter([0.0, 2.0, 5.0]).__next__)
    with progress.phase("compiling"):
        progress.count(1, 10)
        progress.count(4, 10)
    assert stream.getvalue().splitlines() == [
        "ffslab: compiling ...",
        "ffslab: compiling: 4/~10 (2 s)",
        "ffslab: compiling: done (5.0 s)",
    ]
    assert progress.durations_s == [("compiling", 5.0)]
