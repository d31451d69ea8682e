"""The agent for every processor of docs/boards.md: built, and started where qemu-user is installed.

    FFSLAB_NIGHTLY=1 ./ffslab test tests/lab/test_cross_agents.py

needs a compiler for each, Debian's or Zig's; what is missing is said by the test that fails. Target
ssh always tests that for armv5te.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from ffslab.lab.cross import AGENT_ARCHITECTURES, ensure_agent
from ffslab.lab.progress import SilentProgress

NIGHTLY = os.environ.get("FFSLAB_NIGHTLY", "") not in ("", "0")
ARM, AARCH64, MIPS, RISCV = 40, 183, 8, 243  # of ELF
PROCESSORS = {
    "armv5te": (ARM, 32, "arm"),
    "armv7": (ARM, 32, "arm"),
    "aarch64": (AARCH64, 64, "aarch64"),
    "mipsel": (MIPS, 32, "mipsel"),
    "riscv64": (RISCV, 64, "riscv64"),
}
_PHDR_OFFSET = {32: ("<I", 0x1C), 64: ("<Q", 0x20)}
_PHDR_SIZES = {32: 0x2A, 64: 0x36}
_INTERPRETER = 3  # the program header of a program that is not static


@pytest.mark.skipif(not NIGHTLY, reason="FFSLAB_NIGHTLY=1 builds the agent for all processors")
@pytest.mark.parametrize("architecture", AGENT_ARCHITECTURES)
def test_the_agent_is_one_static_program(architecture: str) -> None:
    agent = ensure_agent(architecture, "", SilentProgress())
    machine, bits, emulator = PROCESSORS[architecture]
    assert headers(agent) == (machine, bits, False)
    qemu = shutil.which(f"qemu-{emulator}-static") or shutil.which(f"qemu-{emulator}")
    if qemu is None:
        pytest.skip("qemu-user is not installed, so it was built and not started")
    done = subprocess.run([qemu, agent, "--version"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("ffsagent "), done.stderr


def headers(program: Path) -> tuple[int, int, bool]:
    """The processor, its bits, and whether it asks for a dynamic linker."""
    data = program.read_bytes()
    assert data[:4] == b"\x7fELF" and data[5] == 1  # little endian
    bits = {1: 32, 2: 64}[data[4]]
    (machine,) = struct.unpack_from("<H", data, 0x12)
    form, at = _PHDR_OFFSET[bits]
    (table,) = struct.unpack_from(form, data, at)
    size, count = struct.unpack_from("<HH", data, _PHDR_SIZES[bits])
    types = [struct.unpack_from("<I", data, table + size * i)[0] for i in range(count)]
    return machine, bits, _INTERPRETER in types
