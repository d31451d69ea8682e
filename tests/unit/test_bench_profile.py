"""Where the samples of a profiled case belong. The recorded ones are of a guest with YAFFS2."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from host_support import golden
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench import profiling
from bench.profile import (
    COLUMNS,
    HOST_KERNEL,
    Frame,
    Module,
    Row,
    Sample,
    format_rows,
    group_of,
    parse_modules,
    parse_samples,
    table,
)

from ffslab.cli.app import build_app
from ffslab.errors import InfrastructureError, UsageError

LEAVES = golden("perf/leaves.txt").decode()
CHAINS = golden("perf/chains.txt").decode()
MODULES = parse_modules(
    "yaffs 70000 0 - Live 0x000000008926c000 (O)\n"
    "flashmon 14165 0 - Live 0x0000000089234000 (O)\n"
    "vnand 26873 2 - Live 0x0000000089221000 (O)\n"
)
KERNEL = "/home/user/.cache/ffslab/lab/default-0/linux"


def guest(function: str) -> Sample:
    return Sample("linux", (Frame(0x60000000, function, KERNEL),))


def host(*functions: str, process: str = "linux") -> Sample:
    """Innermost function first."""
    return Sample(process, tuple(Frame(2**63, name, HOST_KERNEL) for name in functions))


def test_recorded_samples_are_told_apart() -> None:
    samples = parse_samples(LEAVES, CHAINS)
    found = Counter(group_of(sample, MODULES) for sample in samples)
    assert found == {
        "starting processes, other programs": 3,
        "Python: ffslab itself": 1,
        "rest of the host's kernel (files, processes)": 1,
        "mapping memory on the host": 1,
        "page faults on the host": 1,
        "rest of the guest's kernel (VFS, page cache, slab)": 1,
        "system calls of the guest: ptrace, two switches": 2,
        "copying and clearing memory": 1,
        "the guest's programs (the agent)": 1,
        "sleeping, switching tasks, virtual time": 1,
        "system calls of the guest: UML's side": 1,
        "module vnand": 1,
        "module yaffs": 1,
        "module flashmon": 1,
        "counting and charging for the CPU model": 1,
        "MTD and UBI": 1,
        "page tables and faults of the guest": 1,
    }
    assert samples[0].process == "ffslab"
    assert samples[0].frames[0].function == "do_lookup_x"
    # Addresses are those of the processor, which only the first text has.
    assert samples[0].frames[0].address == 0x7FD728AFC0C0


def test_the_host_s_kernel_is_told_by_why_it_was_entered() -> None:
    fault = host("clear_page_erms", "shmem_fault", "handle_mm_fault", "asm_exc_page_fault")
    assert group_of(fault) == "page faults on the host"
    # A fault while a system call of ptrace copies is that call's.
    copied = host("clear_page_erms", "exc_page_fault", "ptrace_request", "__x64_sys_ptrace")
    assert group_of(copied) == "system calls of the guest: ptrace, two switches"
    assert group_of(replace(copied, process="python")) == "Python: ffslab itself"
    assert group_of(host("vfs_read", "ksys_read")).startswith("rest of the host's kernel")


@pytest.mark.parametrize(
    ("function", "group"),
    [
        ("jffs2_lookup", "file system: code in the kernel"),
        ("ubifs_tnc_locate", "file system: code in the kernel"),
        ("ubi_io_read", "MTD and UBI"),
        ("longest_match", "compression"),
        ("crc32_body", "checksums"),
        ("memcpy_orig", "copying and clearing memory"),
        ("deliver_time_travel_irqs", "sleeping, switching tasks, virtual time"),
        ("due_ps", "counting and charging for the CPU model"),
        ("__d_lookup_rcu", "rest of the guest's kernel (VFS, page cache, slab)"),
    ],
)
def test_functions_of_the_guest_s_kernel_have_a_group(function: str, group: str) -> None:
    assert group_of(guest(function)) == group


def test_a_module_ends_where_it_ends() -> None:
    def at(address: int) -> str:
        frame = Frame(address, "", "/dev/shm/#7 (deleted)")
        return group_of(Sample("linux", (frame,)), [Module("m", 100, 200)])

    program = "the guest's programs (the agent)"
    assert [at(99), at(100), at(199), at(200)] == [program, "module m", "module m", program]


def test_shares_are_of_all_samples_and_the_largest_comes_first() -> None:
    samples = [guest("jffs2_a")] * 3 + [guest("jffs2_b")] + [guest("memcpy_orig")] * 6
    rows = table(samples, ())
    assert rows[0] == Row("copying and clearing memory", 0.6, (("memcpy_orig", 0.6),))
    assert rows[1].functions == (("jffs2_a", 0.3), ("jffs2_b", 0.1))
    assert "40.0%   2.00 s" in format_rows(rows, 5.0)


def test_the_table_fits_a_terminal_and_cuts_no_name() -> None:
    names = [f"{letter}" * 30 for letter in "abc"]
    text = format_rows([Row("g" * 90, 1.0, tuple((name, 0.3) for name in names))], 12345.0)
    assert all(len(line) <= COLUMNS for line in text.splitlines())
    assert text.endswith(f"    {names[0]} 30.0%, {names[1]} 30.0%")


@pytest.mark.parametrize(
    ("leaves", "chains"),
    [
        ("", ""),
        (LEAVES, CHAINS[: len(CHAINS) // 2]),
        (LEAVES.rpartition("linux")[0], CHAINS),
        (LEAVES.replace("ffslab ", "", 1).replace("7fd728afc0c0", "0x"), CHAINS),
        (LEAVES, CHAINS.replace("([kernel.kallsyms])", "", 1)),
        (LEAVES, "\n\n".join(reversed(CHAINS.strip("\n").split("\n\n")))),
        ("perf: no samples\n", "perf: no samples\n"),
    ],
)
def test_damaged_samples_are_refused(leaves: str, chains: str) -> None:
    with pytest.raises(InfrastructureError, match="cannot be understood"):
        parse_samples(leaves, chains)


def test_damaged_modules_are_refused() -> None:
    with pytest.raises(InfrastructureError):
        parse_modules("vnand 26873 2 -\n")


def test_without_perf_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(InfrastructureError) as caught:
        profiling.run_profile(profiling.Wanted("ffsmark", None, ()), print, print)
    assert caught.value.remedy == "apt-get install linux-perf"


def test_the_case_is_named_as_for_other_verbs(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: list[profiling.Wanted] = []
    monkeypatch.setattr(profiling, "run_profile", lambda one, *_: wanted.append(one))
    app = build_app(("bench",))
    line = "bench profile quick --case ubifs-free-s1 --set seed=[1,2] --set state=free"
    assert CliRunner().invoke(app, line.split()).exit_code == 0
    assert CliRunner().invoke(app, ["bench", "profile"]).exit_code == 0
    assert wanted == [
        profiling.Wanted("quick", "ubifs-free-s1", [("seed", (1, 2)), ("state", ("free",))]),
        profiling.Wanted("ffsmark", None, []),
    ]
    for wrong in ("bench profile quick ubifs", "bench boot --case x"):
        assert isinstance(CliRunner().invoke(app, wrong.split()).exception, UsageError)
