"""The benchmark's arithmetic and printing. Nothing here is timed, and no guest boots."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench import cases, measurements, tree
from bench.guest import Guest, Sample, interleave, measure
from bench.measurements import SPEED_GOALS, Bench
from bench.ratios import (
    COLUMNS,
    Goal,
    Line,
    Spread,
    driver_cost,
    format_line,
    format_table,
    load_warning,
    ratio_spread,
    slope,
    spread,
)

from ffslab.errors import InfrastructureError
from ffslab.lab.config import parse_config
from ffslab.lab.lab import kernel_inputs
from ffslab.lab.lab_build import LabBuild
from ffslab.protocol.records import RecordStream
from ffslab.targets.virtual_flash import plan_text
from ffslab.workloads.tree.checks import mean_shape


def test_ratios_are_paired_by_repeat() -> None:
    # A host that became twice as slow in the second repeat changes nothing.
    assert ratio_spread([3.0, 6.0, 3.3], [2.0, 4.0, 2.0]) == Spread(1.5, 1.5, 1.65)


@pytest.mark.parametrize(
    ("subject", "baseline"), [([1.0], [1.0, 2.0]), ([1.0], [0.0]), ([], []), ([1.0], [-1.0])]
)
def test_ratios_without_a_meaning_are_refused(subject: list[float], baseline: list[float]) -> None:
    with pytest.raises(ValueError):
        ratio_spread(subject, baseline)


def test_spread_of_an_even_number_of_values_is_their_middle() -> None:
    assert spread([4.0, 1.0, 2.0, 3.0]) == Spread(2.5, 1.0, 4.0)


def test_slope_cancels_the_fixed_cost() -> None:
    assert slope((10, 107.0), (30, 121.0)) == pytest.approx(0.7)
    with pytest.raises(ValueError):
        slope((10, 1.0), (10, 2.0))


def test_driver_cost_is_what_the_rounds_were_made_of() -> None:
    boot_s, page_s, erase_s, blocks = 0.05, 2e-6, 3e-5, 800

    def cost(rounds: int, pages: int) -> float:
        return boot_s + rounds * blocks * (pages * page_s + erase_s)

    found = driver_cost(
        {rounds: cost(rounds, 64) for rounds in (1, 9)},
        {rounds: cost(rounds, 0) for rounds in (1, 101)},
        blocks,
        64,
    )
    assert found.page_s == pytest.approx(page_s)
    assert found.erase_s == pytest.approx(erase_s)


def test_a_goal_includes_its_limit_and_has_a_direction() -> None:
    assert Goal(1.5).is_met(1.5)
    assert not Goal(1.5).is_met(1.51)
    assert Goal(1.9, "at least").is_met(1.9)
    assert not Goal(1.9, "at least").is_met(1.89)


def test_only_a_line_with_a_goal_can_miss_it() -> None:
    bad = Spread(3.0, 2.0, 4.0)
    assert Line("x", bad, Goal(1.5)).missed
    assert not Line("x", bad).missed
    assert not Line("heading").missed


def test_lines_say_figure_goal_and_verdict() -> None:
    text = format_line(Line("jffs2 free, wall", Spread(1.62, 1.58, 1.7), Goal(1.5)))
    assert text.split() == ["jffs2", "free,", "wall", "1.62", "1.58–1.70", "≤", "1.50", "missed"]
    text = format_line(Line("time", Spread(0.0264, 0.02, 0.03), Goal(0.15, unit="s"), unit="s"))
    assert text.split() == ["time", "0.026", "s", "0.020–0.030", "≤", "0.15", "s", "met"]


def test_the_table_fits_80_columns_and_lines_up() -> None:
    lines = [
        Line("h" * 100),
        Line("n" * 100, Spread(12345.0, 10000.0, 99999.0), Goal(0.15, unit="s"), unit="µs"),
        Line("small", Spread(0.01, 0.01, 0.02), Goal(1.9, "at least")),
        Line("large", Spread(33.1, 30.0, 35.0)),
    ]
    rows = format_table(lines).splitlines()
    assert all(len(row) <= COLUMNS for row in rows)
    assert rows[2].index("≤") == rows[3].index("≥")


def test_a_loaded_host_is_warned_about() -> None:
    assert load_warning(0.5, 0.5) == ""
    assert "load average" in load_warning(0.6, 0.5)


def test_runs_take_turns_and_the_warm_up_is_not_counted() -> None:
    order: list[str] = []

    def run(name: str) -> Sample:
        order.append(name)
        return Sample(float(len(order)), 0.0)

    samples = interleave({"a": lambda: run("a"), "b": lambda: run("b")}, 3, lambda _: None)
    assert "".join(order) == "a" + "ab" + "ba" + "ab"
    assert [sample.wall_s for sample in samples["a"]] == [2.0, 5.0, 6.0]


def test_cpu_time_of_children_is_counted(tmp_path: Path) -> None:
    # The shell itself does next to nothing: the loop runs in its child.
    status, sample = measure(
        f"{sys.executable} -c 'for _ in range(2000000): pass'; exit 7", tmp_path, None
    )
    assert status == 7
    assert sample.cpu_s > 0
    assert sample.first_record_s is None


def test_first_record_is_seen_and_its_absence_too(tmp_path: Path) -> None:
    records = tmp_path / "records"
    records.touch()
    _, sample = measure("exit 0", tmp_path, records)
    assert sample.first_record_s is None
    _, sample = measure("echo x >records; sleep 0.05", tmp_path, records)
    assert sample.first_record_s is not None
    assert sample.first_record_s <= sample.wall_s


def _lab(tmp_path: Path, agent: bytes) -> LabBuild:
    (tmp_path / "ffsagent").write_bytes(agent)
    return LabBuild(tmp_path / "linux", {}, tmp_path / "ffsagent", "test", Path("ffscrash"))


def test_the_price_of_counting_is_what_a_kernel_without_it_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = _lab(tmp_path, b"")
    uncounted = replace(lab, build_id="uncounted")
    built: list[str] = []

    def ensure(variant: str) -> LabBuild:
        built.append(variant)
        return uncounted

    class Costs:
        def run(self, guest: Guest) -> Sample:
            seconds = 1.4 if any(guest.case.cpu_prices.values()) else 1.2
            if guest.lab is uncounted:
                assert not any(guest.case.cpu_prices.values())
                seconds = 1.0
            return Sample(seconds, seconds)

    runner: Any = Costs()
    monkeypatch.setattr(measurements, "ensure_lab", ensure)
    monkeypatch.setattr(cases, "counted_instructions", lambda *_: 1_000_000_000)
    bench = Bench(lab, runner, tmp_path, (0, 1), 2, True, lambda _: None)
    lines = measurements.cpu_model(bench).lines
    assert built == ["nocpu"]
    each = [line for line in lines if line.unit == "ns"]
    assert [line.spread and line.spread.median for line in each] == [pytest.approx(0.2)] * 2
    assert all(line.missed and str(line.goal) == "≤ 0.13 ns" for line in each)
    whole = [line for line in lines if line.spread and line.spread.median == pytest.approx(1.4)]
    assert [line.label for line in whole if line.missed] == ["jffs2 free, wall", "ubifs free, wall"]


def test_the_kernel_to_compare_with_lacks_the_counting_alone() -> None:
    lab, further = (
        parse_config(path.read_text(encoding="utf-8")) for path in kernel_inputs("nocpu").fragments
    )
    assert further == {"CONFIG_UML_CPU_COUNT": "n"}
    assert lab["CONFIG_UML_CPU_COUNT"] == lab["CONFIG_UML_CPU_MODEL"] == "y"


def test_the_cases_are_the_full_workload(tmp_path: Path) -> None:
    found = cases.ffsmark_cases()
    assert set(found) >= set(SPEED_GOALS)
    for name, case in found.items():
        assert (case.workload.number, case.workload.transactions, case.seed) == (5000, 15000, 1)
        assert name.startswith(f"{case.filesystem.name} {case.state.name}")
        compression = dict(case.filesystem.options)["compression"]
        assert compression == ("zlib" if name == cases.ZLIB else "none")
    lab = _lab(tmp_path, b"")
    on_flash = cases.ffsmark(lab, found["jffs2 free"]).plan.splitlines()
    on_tmpfs = cases.ffsmark_on_tmpfs(lab, found["jffs2 free"]).plan.splitlines()
    workload = [line for line in on_flash if line.startswith("ffsmark ")]
    assert len(workload) == 1
    assert workload[0] in on_tmpfs
    assert "/proc/cpu_model" not in "".join(on_flash)


def test_the_balanced_cases_are_four_different_ones() -> None:
    found = cases.balanced_cases()
    assert len({case.id for case in found}) == len({case.spec_hash for case in found}) == 4


def test_what_the_cpu_model_counted_is_read_from_the_records(tmp_path: Path) -> None:
    case = cases.ffsmark_cases()["jffs2 free"]
    booted: list[Guest] = []

    class Recorded:
        def __init__(self, *records: dict[str, str]) -> None:
            self._stream = RecordStream(records, (), False)

        def records(self, guest: Guest) -> RecordStream:
            booted.append(guest)
            return self._stream

    other = {"type": "file", "path": "/proc/vnand/chip0/counters", "text": "reads 1\n"}
    model = {"type": "file", "path": "/proc/cpu_model", "text": "instructions 530000000\nbytes 7\n"}
    runner: Any = Recorded(other, model)
    assert cases.counted_instructions(runner, _lab(tmp_path, b""), case) == 530_000_000
    assert "capture path=/proc/cpu_model" in booted[0].plan
    with pytest.raises(InfrastructureError):
        cases.counted_instructions(Recorded(other), _lab(tmp_path, b""), case)  # type: ignore[arg-type]


def test_driver_loops_differ_in_the_driver_alone(tmp_path: Path) -> None:
    case = cases.ffsmark_cases()["jffs2 free"]
    lab = _lab(tmp_path, b"")
    mine, its = (
        cases.driver_loop(lab, case, driver, b"", programs=True, rounds=5)
        for driver in ("vnand", "nandsim")
    )
    assert mine.case == its.case
    assert not any(mine.case.cpu_prices.values())
    assert mine.case.board.chip.page_program_ns() == mine.case.board.chip.block_erase_ns() == 0
    assert mine.plan.splitlines()[-1] == its.plan.splitlines()[-1]


# --- part tree ---


def test_the_trees_have_the_stated_numbers_of_files(tmp_path: Path) -> None:
    found = tree.tree_cases()
    assert {name for name, _ in found} == set(tree.FILE_SYSTEMS)
    for (name, files), case in found.items():
        assert case.filesystem.name == name
        assert mean_shape(case.workload) == (tree.DIRECTORIES, files)
        assert case.partition_bytes == 2**30
    steps = [line.split()[0] for line in plan_text(found["jffs2", tree.MANY]).splitlines()]
    walks = [step for step in steps if step.startswith("tree-")]
    assert walks == ["tree-create", "tree-list", "tree-find", "tree-delete"]
    on_tmpfs = tree.tree_on_tmpfs(_lab(tmp_path, b""), found["jffs2", tree.MANY])
    assert [line.split()[0] for line in on_tmpfs.plan.splitlines()] == [
        *("ffsplan", "mount", *walks, "umount")
    ]
    assert on_tmpfs.case.board.ram_bytes == max(case.board.ram_bytes for case in tree.guest_cases())


def _tree_samples(cost_s: Callable[[str, int], float]) -> dict[str, list[Sample]]:
    """Two repeats, of which the second is on a host that is half as fast."""
    return {
        f"{name}, {files} files": [
            Sample(2 * repeat * cost_s(name, files), repeat * cost_s(name, files))
            for repeat in (1, 2)
        ]
        for name in (*tree.FILE_SYSTEMS, tree.TMPFS)
        for files in (tree.FEW, tree.SOME, tree.MANY)
    }


def test_growth_is_told_from_what_every_guest_costs() -> None:
    lines = tree.lines_of(_tree_samples(lambda _, files: 0.5 + files * 1e-4), quiet=True)
    jffs2 = [line.spread for line in lines if line.label.startswith("jffs2") and line.spread]
    whole, cpu, beyond, tmpfs, each = jffs2
    # Half a second is much for 10,017 files and little for 100,044.
    expected = (0.5 / tree.MANY + 1e-4) / (0.5 / tree.SOME + 1e-4)
    assert whole.low == whole.high == pytest.approx(expected) == pytest.approx(cpu.median)
    assert beyond.median == pytest.approx(1)
    assert tmpfs.median == pytest.approx(1)
    assert each.low == pytest.approx(2e6 * (0.5 / tree.MANY + 1e-4))
    assert not any(line.missed for line in lines)


def test_quadratic_time_misses_the_goal() -> None:
    samples = _tree_samples(lambda name, files: files * (files * 1e-8 if name == "ubifs" else 1e-4))
    for quiet in (True, False):
        lines = tree.lines_of(samples, quiet=quiet)
        goals = [line.label for line in lines if line.goal]
        how = "wall" if quiet else "host CPU"
        assert goals == [f"{name}, {how}" for name in (*tree.FILE_SYSTEMS, tree.TMPFS)]
        assert [line.label for line in lines if line.missed] == [f"ubifs, {how}"]
        assert all(len(row) <= COLUMNS for row in format_table(lines).splitlines())
