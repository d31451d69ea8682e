"""The assembler in front of the assembler, of the kernel variant `price`: what it counts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.price_models import ARM_INSTRUCTIONS

ROOT = Path(__file__).resolve().parents[2]
PATCH = ROOT / "kernel/price/0001-um-count-instructions-by-kinds.patch"
HEADER = "arch/um/include/asm/cpu-kinds.h"
SOURCE = "scripts/basic/as.c"
EVENTS = {"copy", "set", "syscall", "switch", "fault", "interrupt"}


def new_file(name: str) -> str:
    """The text of a file that the patch adds."""
    after = PATCH.read_text("utf-8").split(f"+++ b/{name}\n", 1)[1]
    lines = after.split("\n--- ", 1)[0].splitlines()[1:]
    assert all(line.startswith("+") for line in lines)
    return "\n".join(line[1:] for line in lines) + "\n"


def kinds() -> dict[int, str]:
    """Names by number, from the header."""
    found = re.findall(r"#define UM_CPU_([A-Z0-9_]+)\s+(\d+)$", new_file(HEADER), re.MULTILINE)
    return {int(number): name.lower() for name, number in found if name != "KINDS"}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the program, and an assembler that keeps what it is given."""
    top = tmp_path_factory.mktemp("as")
    for name in (HEADER, SOURCE):
        (top / name).parent.mkdir(parents=True)
        (top / name).write_text(new_file(name), "utf-8")
    tools = top / "tools"
    tools.mkdir()
    (tools / "as").write_text('#!/bin/sh\nprintf "%s " "$@" >words\ncat >text\n', "utf-8")
    (tools / "as").chmod(0o755)
    program = top / "as"
    compile_it: list[str | Path] = [
        "gcc",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-O1",
        "-o",
        program,
        top / SOURCE,
    ]
    subprocess.run(compile_it, check=True)
    return top


def assemble(directory: Path, text: str) -> list[str]:
    """The lines that the real assembler gets for `text`."""
    source = directory / "x.s"
    source.write_text(text, "utf-8")
    environment = {**os.environ, "PATH": f"{directory / 'tools'}:{os.environ['PATH']}"}
    command: list[str | Path] = [directory / "as", "--64", "-I", "y.s", "-o", "x.o", source]
    subprocess.run(command, cwd=directory, env=environment, check=True)
    words = (directory / "words").read_text("utf-8").split()
    assert words == ["--64", "-I", "y.s", "-o", "x.o", "-"]
    return (directory / "text").read_text("utf-8").splitlines()


def counted(directory: Path, *statements: str) -> dict[str, int]:
    """What one block of these statements is counted as."""
    body = "".join(f"\t{one}\n" for one in ("call\t__sanitizer_cov_trace_pc", *statements))
    return blocks(assemble(directory, f"f:\n{body}"))[0]


def blocks(lines: list[str]) -> list[dict[str, int]]:
    """The additions of each block."""
    names = kinds()
    found: list[dict[str, int]] = []
    for line in lines:
        if "um_cpu_counters" in line:
            found.append({})
        if match := re.match(r"\taddq\t\$(\d+), um_cpu_kinds\+(\d+)\(%rip\)$", line):
            found[-1][names[int(match[2]) // 8]] = int(match[1])
    return found


def test_kernel_and_benchmark_have_the_same_kinds() -> None:
    assert set(kinds().values()) - EVENTS == set(ARM_INSTRUCTIONS)
    named = re.findall(r'\[UM_CPU_([A-Z0-9_]+)\] = "(\w+)"', PATCH.read_text("utf-8"))
    assert {name for _, name in named} == set(kinds().values())
    assert all(constant.lower() == name for constant, name in named)


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("addl\t$1, %eax", "alu"),
        ("addq\t%rax, %rbx", "alu64"),
        ("notq\t%rax", "alu64"),
        ("shrl\t$8, %ebx", "shift"),
        ("leaq\t-4(%rbp), %r14", "address"),
        ("testq\t%rax, %rax", "compare"),
        ("cmpl\t$196, %ebp", "compare"),
        ("movq\t%rsi, %r14", "move"),
        ("movl\t$-5, %r15d", "constant"),
        ("movzbl\t%dl, %esi", "extend"),
        ("cltq", "extend"),
        ("movl\t8(%r13), %esi", "load"),
        ("movzwl\t2(%r12), %r15d", "load"),
        ("movl\t%eax, 16(%rsp)", "store"),
        ("xorl\t8(%rdx), %ebx", "alu_memory"),
        ("cmpq\t40(%rsp), %r14", "alu_memory"),
        ("cmpl\t%ebp, 32(%rsp)", "alu_memory"),
        ("addl\t%eax, 8(%rdi)", "alu_update"),
        ("incq\t(%rdi)", "alu_update"),
        ("pushq\t%rbx", "stack"),
        ("call\tkfree", "call"),
        ("call\t*%rax", "call"),
        ("jne\t.L5", "branch"),
        ("imull\t%eax, %ebx", "multiply"),
        ("divq\t%rcx", "divide"),
        ("xchgl\t%eax, %ebx", "atomic"),
    ],
)
def test_a_statement_is_of_one_kind(directory: Path, statement: str, kind: str) -> None:
    assert counted(directory, statement) == {kind: 1}


def test_operands_add_to_an_instruction(directory: Path) -> None:
    """An index is free without an offset; a symbol needs its address."""
    assert counted(directory, "movl\t(%r13,%rcx,4), %ebx") == {"load": 1}
    assert counted(directory, "movl\t0(%r13,%rcx,4), %ebx") == {"load": 1}
    assert counted(directory, "xorl\t4096(%r13,%rcx,4), %ebx") == {"alu_memory": 1, "indexed": 1}
    assert counted(directory, "movq\tjiffies(%rip), %rax") == {"load": 1, "symbol": 1}
    assert counted(directory, "movq\t$.LC0, %rdi") == {"constant": 1, "symbol": 1}
    assert counted(directory, "leaq\tname(%rip), %rdi") == {"symbol": 1}
    assert counted(directory, "jmp\tsomewhere") == {"branch": 1}


def test_assembly_within_c_is_counted_by_statements(directory: Path) -> None:
    statement = "lock; addl $1, 4(%rdi); nop # a remark; not counted"
    assert counted(directory, "#APP", statement, "#NO_APP") == {"atomic": 1, "alu_update": 1}


def test_a_block_ends_at_the_next_and_nothing_is_behind_a_jump(directory: Path) -> None:
    """The prologue is the first block's, what no hook precedes behind a return is nobody's."""
    text = """\
\t.type\tf, @function
f:
.LFB1:
\tpushq\t%rbx
\tmovq\t%rdi, %rbx
\tcall\t__sanitizer_cov_trace_pc
\ttestq\t%rbx, %rbx
\tje\t.L4
\tcall\t__sanitizer_cov_trace_pc
.L3:
\tmovl\t8(%rbx), %eax
\tret
.L4:
\tmovl\t$1, %eax
\tjmp\t.L3
g:
\tpushq\t%rbp
\tcall\t__sanitizer_cov_trace_pc
\tret
h:
\tjmp\t__sanitizer_cov_trace_pc
"""
    lines = assemble(directory, text)
    assert blocks(lines) == [
        {"stack": 1, "move": 1, "compare": 1, "branch": 1},
        {"load": 1, "call": 1},
        {"stack": 1, "call": 1},
        {"call": 1},
    ]
    turns = [line for line in lines if "um_cpu_counters" in line]
    assert turns == [f"\tincq\tum_cpu_counters+{8 * turn}(%rip)" for turn in range(4)]
    assert lines[-1] == "\tret"
    kept = [line for line in lines if "um_cpu" not in line]
    assert kept[:-1] == [line for line in text.splitlines() if "__sanitizer" not in line]


def test_other_files_go_to_the_assembler_as_they_are(directory: Path) -> None:
    source = directory / "plain.s"
    source.write_text("f:\n\tret\n", "utf-8")
    environment = {**os.environ, "PATH": f"{directory / 'tools'}:{os.environ['PATH']}"}
    command: list[str | Path] = [directory / "as", "-o", "x.o", source]
    subprocess.run(command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, check=True)
    assert (directory / "words").read_text("utf-8").split() == ["-o", "x.o", str(source)]
