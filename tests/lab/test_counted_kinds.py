"""Counted kinds: the variant `price` takes for them what the lab kernel takes for their sum.

It is a kernel of its own, which no study runs in, so FFSLAB_NIGHTLY=1 builds it and runs this.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from guest_programs import NIGHTLY

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.pool import pool_time
from bench.price import machine
from bench.price_cases import phases_of, price_cases
from bench.price_models import Counted

from ffslab.lab import ensure_lab

pytestmark = pytest.mark.skipif(not NIGHTLY, reason="FFSLAB_NIGHTLY=1 builds the variant price")
PATCH = Path(__file__).resolve().parents[2] / "kernel/patches/0004-um-cpu-model.patch"
Measure = Callable[[str, Mapping[str, str]], Mapping[str, int]]


@pytest.fixture(scope="module")
def measure(tmp_path_factory: pytest.TempPathFactory) -> Measure:
    """CPU time in ns by phase, of a case with words on the kernel's command line."""
    cases = {case.id: case for case in price_cases()}
    lab = ensure_lab("price", file_systems=[case.filesystem for case in cases.values()])

    def run(case: str, words: Mapping[str, str]) -> Mapping[str, int]:
        top = tmp_path_factory.mktemp("price")
        guests = machine(Counted(words, 1))
        done = pool_time(lab, top, (), [cases[case]], 1, top / "states", guests)
        return {
            phase.workload.split()[-1]: phase.cpu_ns
            for result in done.run.each_result()
            for phase in phases_of(result)
        }

    return run


def test_a_system_call_takes_its_price(measure: Measure) -> None:
    """4 MiB in requests of 1 KiB are 4,096 calls of 10 µs."""
    words = {"cpu_syscall_ns": "10000", "cpu_instruction_ps": "0", "cpu_price": "block:0"}
    found = measure("micro-jffs2-sequentialwrite-request1kib-s1", words)
    assert found["measure"] == 4096 * 10_000


def test_a_write_with_fsync_is_two_calls(measure: Measure) -> None:
    """2 MiB in requests of 4 KiB, each of which is synced."""
    words = {"cpu_syscall_ns": "10000", "cpu_instruction_ps": "0", "cpu_price": "block:0"}
    assert measure("fsync-yaffs2-s1", words)["measure"] == 2 * 512 * 10_000


def test_kinds_at_the_lab_s_weights_take_the_time_of_instructions(measure: Measure) -> None:
    """4 ns for an instruction, or as many tenths of it for each kind as the kernel counts."""
    case = "micro-yaffs2-sequentialread-request1kib-s1"
    weights = re.findall(r'KIND\(\w+, "(\w+)", (\d+)\)', PATCH.read_text("utf-8"))
    of_kinds = ",".join(f"{name}:{400 * int(tenths)}" for name, tenths in weights)
    kinds = measure(case, {"cpu_price": of_kinds, "cpu_instruction_ps": "0"})
    whole = measure(case, {"cpu_instruction_ps": "4000"})
    assert whole["measure"] > 1_000_000
    assert kinds["measure"] == pytest.approx(whole["measure"], rel=1e-4)


def test_twice_the_price_of_instructions_is_twice_the_time(measure: Measure) -> None:
    case = "micro-yaffs2-sequentialread-request1kib-s1"
    once, twice = (measure(case, {"cpu_instruction_ps": str(ps)}) for ps in (2000, 4000))
    assert once["measure"] > 1_000_000
    assert twice["measure"] / once["measure"] == pytest.approx(2, rel=0.01)
