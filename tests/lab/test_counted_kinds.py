"""The kernel variant `price`: what has a price takes that time, and nothing else takes any.

It is a kernel of its own, which no study runs in, so FFSLAB_NIGHTLY=1 builds it and runs this.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from guest_programs import NIGHTLY

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.pool import pool_time
from bench.price import machine
from bench.price_cases import phases_of, price_cases
from bench.price_models import ARM_INSTRUCTIONS, Counted, priced_kinds

from ffslab.kernel import ensure_lab

pytestmark = pytest.mark.skipif(not NIGHTLY, reason="FFSLAB_NIGHTLY=1 builds the variant price")
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
    words = {"cpu_price": "syscall:10000000", "cpu_block_ps": "0"}
    found = measure("micro-jffs2-sequentialwrite-request1kib-s1", words)
    assert found["measure"] == 4096 * 10_000


def test_a_write_with_fsync_is_two_calls(measure: Measure) -> None:
    """2 MiB in requests of 4 KiB, each of which is synced."""
    words = {"cpu_price": "syscall:10000000", "cpu_block_ps": "0"}
    assert measure("fsync-yaffs2-s1", words)["measure"] == 2 * 512 * 10_000


def test_twice_the_price_of_instructions_is_twice_the_time(measure: Measure) -> None:
    case = "micro-yaffs2-sequentialread-request1kib-s1"
    once, twice = (
        measure(case, {"cpu_price": priced_kinds(ARM_INSTRUCTIONS, ps), "cpu_block_ps": "0"})
        for ps in (2000, 4000)
    )
    assert once["measure"] > 1_000_000
    assert twice["measure"] / once["measure"] == pytest.approx(2, rel=0.01)
