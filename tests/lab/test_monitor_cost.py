"""What flashmon takes of throughput on an ARM processor, as kmod/flashmon/README.md reports it.

    FFSLAB_NIGHTLY=1 ./ffslab test tests/lab/test_monitor_cost.py -s

Without FFSLAB_NIGHTLY the requests of the dearest board alone: the monitor's part is the larger the
less else there is to do.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from guest_programs import NIGHTLY, SOURCES
from lab_support import cases, with_free_driver
from monitor_cost import Cost, file_cost, raw_costs

from ffslab.targets.qemu.site import site_for
from ffslab.targets.target import SiteOptions
from ffslab.targets.uml.site import LocalSite

CASES = {name: cases()[f"{name}-free-s1"] for name in ("jffs2", "ubifs")}
BOARDS = {"apf27": lambda case: case, "free driver": with_free_driver}
GOAL = 0.05
# Few bytes for a request: the one path on which the goal is missed, by this at most.
OOB_LIMIT = 0.10


@pytest.fixture(scope="module")
def site() -> LocalSite:
    return site_for(list(CASES.values()), SiteOptions())


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mtdspeed") / "mtdspeed"
    source = SOURCES / "mtdspeed" / "main.c"
    words = ("-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O2", "-static")
    subprocess.run(["arm-linux-gnueabi-gcc", *words, "-o", path, source], check=True)
    return path


def shown(costs: dict[str, Cost], board: str) -> None:
    for name, cost in costs.items():
        cells = (board, name, f"{cost.none_ns / 1e6:.1f}", cost.us_each)
        lost = (f"{cost.counting:.1%}", f"{cost.tracing:.1%}")
        print(f"\n| {' | '.join((*cells, *lost))} |", end="")


@pytest.mark.parametrize("board", BOARDS)
def test_what_requests_of_a_page_or_block_lose(
    site: LocalSite, program: Path, tmp_path: Path, board: str
) -> None:
    """The driver of the one board takes 165 µs for a page, that of the other nothing."""
    if board == "apf27" and not NIGHTLY:
        pytest.skip("FFSLAB_NIGHTLY=1 has the whole table")
    costs = raw_costs(site, BOARDS[board](CASES["jffs2"]), program, tmp_path)
    shown(costs, board)
    assert all(costs[name].counting <= GOAL for name in ("erase", "program", "read"))
    assert all(cost.tracing <= OOB_LIMIT for cost in costs.values())
    # It is in the way of each request, and a trace more so.
    for name in ("program", "read", "oob"):
        assert costs[name].none_ns < costs[name].counting_ns < costs[name].tracing_ns, name


@pytest.mark.parametrize("filesystem", CASES)
def test_what_a_file_loses(site: LocalSite, tmp_path: Path, filesystem: str) -> None:
    if not NIGHTLY:
        pytest.skip("FFSLAB_NIGHTLY=1 has the whole table")
    for name, board in BOARDS.items():
        cost = file_cost(site, board(CASES[filesystem]), tmp_path)
        shown({filesystem: cost}, name)
        assert cost.counting <= cost.tracing <= GOAL
