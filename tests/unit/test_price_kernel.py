"""The assembler in front of the assembler: what it counts, with the patch of the variant `price`,
which shows the kinds beside their sum.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.price_models import KINDS

from ffslab.lab.patches import read_series

ROOT = Path(__file__).resolve().parents[2]
PATCH = ROOT / "kernel/patches/0004-um-cpu-model.patch"
PRICE_PATCH = ROOT / "kernel/price/0001-um-count-instructions-by-kinds.patch"
HEADER = "arch/um/include/asm/cpu-kinds.h"
SOURCE = "scripts/basic/as.c"
# What an operand adds to an instruction, and what is none.
OPERANDS = {"symbol", "indexed"}
BLOCK = "block"


def part_of(patch: Path, name: str) -> str:
    """What a patch does to one file, without the two lines that name it."""
    after = patch.read_text("utf-8").split(f"+++ b/{name}\n", 1)[1]
    return after.split("\n--- ", 1)[0].rstrip("\n") + "\n"


def new_file(name: str) -> str:
    """The text of a file that the lab kernel's patch adds."""
    lines = part_of(PATCH, name).splitlines()[1:]
    assert all(line.startswith("+") for line in lines)
    return "\n".join(line[1:] for line in lines) + "\n"


def weights(header: str) -> dict[str, int]:
    """Tenths of an instruction by the names of kinds, in the order of their numbers."""
    found = re.findall(r'KIND\(([A-Z0-9_]+), "(\w+)", (\d+)\)', header)
    assert all(constant.lower() == name for constant, name, _ in found)
    return {name: int(tenths) for _, name, tenths in found}


def compiled(top: Path) -> Path:
    """A directory with the program, and an assembler that keeps what it is given."""
    tools = top / "tools"
    tools.mkdir()
    (tools / "as").write_text('#!/bin/sh\nprintf "%s " "$@" >words\ncat >text\n', "utf-8")
    (tools / "as").chmod(0o755)
    flags = ("-Wall", "-Wextra", "-Werror", "-O1")
    subprocess.run(["gcc", *flags, "-o", top / "as", top / SOURCE], check=True)
    return top


def unpack(top: Path) -> None:
    for name in (HEADER, SOURCE):
        (top / name).parent.mkdir(parents=True)
        (top / name).write_text(new_file(name), "utf-8")
    for later in read_series(PATCH.parent):
        if later > PATCH and f"+++ b/{SOURCE}\n" in later.read_text("utf-8"):
            apply(top, later, SOURCE)


def apply(top: Path, patch: Path, *names: str) -> None:
    """What a patch does to these files."""
    parts = (f"--- a/{name}\n+++ b/{name}\n{part_of(patch, name)}" for name in names)
    command = ["patch", "-p1", "-s", "--fuzz=0"]
    subprocess.run(command, cwd=top, input="".join(parts), text=True, check=True)


@pytest.fixture(scope="module")
def lab_kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The assembler of the lab kernel."""
    top = tmp_path_factory.mktemp("lab-as")
    unpack(top)
    return compiled(top)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The assembler of the variant `price`."""
    top = tmp_path_factory.mktemp("price-as")
    unpack(top)
    apply(top, PRICE_PATCH, HEADER, SOURCE)
    return compiled(top)


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
    return blocks(directory, assemble(directory, f"f:\n{body}"))[0]


def blocks(directory: Path, lines: list[str]) -> list[dict[str, int]]:
    """The kinds added in each block; their sum is what was added to the count in tenths."""
    of_kinds = weights((directory / HEADER).read_text("utf-8"))
    names = list(of_kinds)
    found: list[dict[str, int]] = []
    sums: list[int] = []
    for line in lines:
        match = re.match(r"\taddq\t\$(\d+), (\w+)\+(\d+)\(%rip\)$", line)
        if match and match[2] == "um_cpu_counters":
            found.append({})
            sums.append(int(match[1]))
        elif match:
            found[-1][names[int(match[3]) // 8]] = int(match[1])
    assert [one.pop(BLOCK) for one in found] == [1] * len(found)
    assert sums == [sum(n * of_kinds[name] for name, n in one.items()) for one in found]
    return found


PASSED = """	.type	kfree, @function
kfree:
	call	__sanitizer_cov_trace_pc
	nop
	call	__sanitizer_cov_trace_pc
	ret
	.size	kfree, .-kfree
"""


def test_a_function_that_loops_come_by_counts_its_passes(directory: Path) -> None:
    """In its first block alone, and what is executed seldom is behind its last line."""
    lines = assemble(directory, PASSED)
    passes = lines.index("\taddq\t$1, um_cpu_passes(%rip)")
    assert lines[passes + 1 : passes + 3] == ["\tjs\t.Llook_kfree", ".Lpass_kfree:"]
    assert sum("um_cpu_passes" in line for line in lines) == 1
    assert lines[-4:] == [
        *(".Llook_kfree:", "\tcall\tum_cpu_look", "\tjmp\t.Lpass_kfree"),
        "\t.size\tkfree, .-kfree",
    ]
    other = assemble(directory, PASSED.replace("kfree", "kfree_other"))
    assert not any("um_cpu_passes" in line for line in other)
    without = [line for line in lines if not re.search("um_cpu_passes|look|pass_", line)]
    assert without == [line.replace("kfree_other", "kfree") for line in other]


def test_kernel_and_benchmark_have_the_same_kinds(directory: Path) -> None:
    names = set(weights((directory / HEADER).read_text("utf-8")))
    assert names == {*KINDS, *OPERANDS, BLOCK}
    assert set(weights(new_file(HEADER))) == names - {BLOCK}


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
    assert blocks(directory, lines) == [
        {"stack": 1, "move": 1, "compare": 1, "branch": 1},
        {"load": 1, "call": 1},
        {"stack": 1, "call": 1},
        {"call": 1},
    ]
    turns = [line.split(", ")[1] for line in lines if "um_cpu_counters" in line]
    assert turns == [f"um_cpu_counters+{8 * turn}(%rip)" for turn in range(4)]
    assert lines[-1] == "\tret"
    kept = [line for line in lines if "um_cpu" not in line]
    assert kept[:-1] == [line for line in text.splitlines() if "__sanitizer" not in line]


def test_the_lab_kernel_adds_once_per_block(lab_kernels: Path) -> None:
    """A load, a sum in memory, a return: 1 + 3 + 1 instructions of ARM."""
    statements = ("call\t__sanitizer_cov_trace_pc", "movl\t(%rdi), %eax", "incl\t(%rdi)", "ret")
    lines = assemble(lab_kernels, "".join(f"\t{one}\n" for one in statements))
    assert lines[0] == "\taddq\t$50, um_cpu_counters+0(%rip)"
    assert lines[1:] == [f"\t{one}" for one in statements[1:]]


def test_some_functions_are_counted_by_their_length_on_arm(lab_kernels: Path) -> None:
    """Two loads are two instructions; inflate_fast() is three quarters of that on ARM."""
    body = "\tcall\t__sanitizer_cov_trace_pc\n\tmovl\t(%rdi), %eax\n\tmovl\t(%rsi), %eax\n"
    names = ("inflate_fast", "inflate_fast.constprop.0", "inflate_faster", "inflate")
    lines = assemble(lab_kernels, "".join(f"{name}:\n{body}" for name in names))
    added = [line.split(",")[0] for line in lines if "addq" in line]
    assert added == ["\taddq\t$15", "\taddq\t$15", "\taddq\t$20", "\taddq\t$20"]


def test_what_cannot_be_counted_is_an_error(lab_kernels: Path) -> None:
    source = lab_kernels / "odd.s"
    source.write_text("f:\n\tje\t__sanitizer_cov_trace_pc\n", "utf-8")
    done = subprocess.run(
        [lab_kernels / "as", "-o", "x.o", source], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "as: cannot count: je\t__sanitizer_cov_trace_pc\n"


def test_other_files_go_to_the_assembler_as_they_are(directory: Path) -> None:
    source = directory / "plain.s"
    source.write_text("f:\n\tret\n", "utf-8")
    environment = {**os.environ, "PATH": f"{directory / 'tools'}:{os.environ['PATH']}"}
    command: list[str | Path] = [directory / "as", "-o", "x.o", source]
    subprocess.run(command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, check=True)
    assert (directory / "words").read_text("utf-8").split() == ["-o", "x.o", str(source)]
