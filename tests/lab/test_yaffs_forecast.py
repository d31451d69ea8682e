"""Mount option gc=predict: what the collector of YAFFS2 foretells, and what its runs take.

Files that fill most of a partition are overwritten at random, a page each time, so that each block
that is collected has live pages, some more, some fewer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from rich_trees import overwritten_files
from yaffs_guest import (
    MONITOR,
    PROC,
    STATE,
    UMOUNT,
    Chip,
    Guest,
    load,
    mount,
    run,
    start,
)

from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case

COLLECTIONS = f"{PROC}-collections"
REMEMBERED = 1024


@dataclass(frozen=True)
class Priced(Chip):
    """The chip on a board whose code takes so many times as long."""

    cpu_scale: float = 1.0

    @property
    def case(self) -> Case:
        return replace(super().case, cpu_scale=self.cpu_scale)


def busy(lab: LabBuild, directory: Path, fstree: Path, chip: Chip, options: str) -> Guest:
    """Without the background: when it works depends on the clock, and so on what is executed."""
    collections = [f"capture path={COLLECTIONS}"] if options else []
    steps = [*load(chip, "yaffs_bg_enable=0"), *MONITOR, mount(options), run(0), STATE]
    steps += [*collections, UMOUNT]
    return start(
        lab, directory, fstree, steps, chip=chip, scripts=[overwritten_files(150, 8000, 1)]
    )


@pytest.mark.parametrize(("cpu_scale", "mean", "p99"), [(0.0, 50, 100), (1.0, 100, 200)])
def test_forecasts_come_out(
    lab: LabBuild, tmp_path: Path, fstree: Path, cpu_scale: float, mean: int, p99: int
) -> None:
    """Within 5 and 10 % with a free CPU, 10 and 20 % with the board's: the mean, and 99 of 100."""
    chip = Priced(blocks=256, cpu_scale=cpu_scale)
    guest = busy(lab, tmp_path / "guest", fstree, chip, "gc=predict")
    (state,) = guest.states
    print(state)
    assert state["gc_copies"] > 2000 and state["forecast_runs"] > 200
    assert state["forecast_unknown_runs"] <= 2 and state["forecast_broken_runs"] == 0
    assert state["forecast_error_sum_permille"] <= mean * state["forecast_runs"]
    assert state["forecast_error_p99_permille"] <= p99
    nand = chip.case.board.chip
    assert nand.t_read_ns < state["price_read_ns"] < state["price_program_ns"]
    assert nand.t_prog_ns < state["price_program_ns"]
    assert nand.t_erase_ns < state["price_erase_ns"] < 1.1 * nand.t_erase_ns + 100_000

    (text,) = guest.captures(COLLECTIONS)
    runs = [tuple(map(int, line.split())) for line in text.splitlines()]
    assert len(runs) == min(state["forecast_runs"], REMEMBERED)
    errors = [1000 * abs(expected - taken) // taken for expected, taken, _, _ in runs]
    assert sum(errors) <= mean * len(runs)
    if len(runs) == state["forecast_runs"]:
        assert sum(taken for _, taken, _, _ in runs) <= state["forecast_taken_ns"]
    assert {erases for _, _, _, erases in runs} == {0, 1}
    assert len({copies for _, _, copies, _ in runs}) > 3


def test_foretelling_changes_nothing_on_the_flash(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    """The same programs and erases in the same order. (Some times of files differ by a second.)"""
    chip = Priced(blocks=256, cpu_scale=0.0)
    plain = busy(lab, tmp_path / "plain", fstree, chip, "")
    foretold = busy(lab, tmp_path / "foretold", fstree, chip, "gc=predict")
    assert len(plain.operations) > 10_000
    assert plain.operations == foretold.operations
    assert not any(name.startswith(("forecast", "price")) for name in plain.states[0])


def test_the_option_is_shown_and_another_is_refused(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    mounts = "capture path=/proc/mounts"
    steps = [*load(), mount("gc=predict"), mounts, UMOUNT, mount("gc=original"), mounts, UMOUNT]
    guest = start(lab, tmp_path / "guest", fstree, [*steps, mount("gc=clever", may_fail=True)])
    first, second = guest.captures("/proc/mounts")
    assert ",gc=predict" in first and "gc=" not in second
    assert guest.step_errors("mount") == ["", "", "EINVAL"]
