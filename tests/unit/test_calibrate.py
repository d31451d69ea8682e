"""calibrate beside its solver: readings, the lab's study, the fit with a lab of one formula, and
the files of the board that it writes.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from cli_support import Command, ffslab_command
from host_support import study_of

from ffslab.calibrate.board_file import catalog_files
from ffslab.calibrate.figures import Preferred, Values, is_price_of_code, time_figures
from ffslab.calibrate.fitting import FOUND, STATED, Calibration, calibrate, median_difference
from ffslab.calibrate.readings import Key, Readings, readings_of, wait_of
from ffslab.calibrate.study import measured_cases, point_of, study_text
from ffslab.errors import InfrastructureError, SpecError, UsageError
from ffslab.loader import load_catalog
from ffslab.model.specs import Board
from ffslab.model.study import expand

__all__ = ["ffslab_command"]
APF27 = load_catalog().board("apf27")
MS = 1_000_000.0
PAGES, BLOCKS, SHARE = 1024, 16, 64 / 2112
TRUTH: Values = {
    "chip.t_erase_ns": 1_700_000,
    "chip.t_prog_ns": 371_000,
    "chip.t_read_ns": 41_000,
    "board.cpu_instruction_ps": 5_900,
    "board.cpu_byte_ps": 4_400,
    "board.cpu_set_byte_ps": 1_900,
    "board.cpu_syscall_ns": 2_700,
    "board.driver_read_ns": 97_000,
    "board.driver_program_ns": 133_000,
    "board.driver_erase_ns": 33_000,
}


def stated(preferred: Preferred = Preferred.driver) -> dict[str, int]:
    return {one.setting: one.stated for one in time_figures(APF27, preferred)}


def times_at(values: Values, *, polled: bool = False) -> dict[Key, float]:
    """The times of a formula: what docs/architecture.md says of chip, driver and processor."""

    def of(name: str) -> float:
        return float(values[name])

    def code(blocks: float, copied: float, cleared: float = 0.0) -> float:
        """Of basic blocks with five instructions."""
        instruction, byte = of("board.cpu_instruction_ps"), of("board.cpu_byte_ps")
        set_byte = of("board.cpu_set_byte_ps")
        return (5 * blocks * instruction + copied * byte + cleared * set_byte) / 1000

    def busy(kind: str, driver: str, data: bool) -> float:
        fixed = of("board.driver_erase_ns")
        share = 1.0 if data else SHARE
        bus = (2112 if data else 64) * of(f"chip.bus_{kind}_ps") / 1000
        ecc = of(f"chip.ecc_{kind}_ns") if data else 0.0
        rest = (of(f"board.{driver}") - fixed) * share
        return of("chip.t_command_ns") + bus + ecc + fixed + rest + code(250, 2048 * data)

    found: dict[Key, float] = {}
    operations = {
        "read": (PAGES, busy("read", "driver_read_ns", True), of("chip.t_read_ns")),
        "read-oob": (PAGES, busy("read", "driver_read_ns", False), of("chip.t_read_ns")),
        "program": (PAGES, busy("write", "driver_program_ns", True), of("chip.t_prog_ns")),
        "program-oob": (PAGES, busy("write", "driver_program_ns", False), of("chip.t_prog_ns")),
        "erase": (
            BLOCKS,
            of("chip.t_command_ns") + of("board.driver_erase_ns") + code(300, 0),
            of("chip.t_erase_ns"),
        ),
    }
    for phase, (count, working, array) in operations.items():
        found[Key("mtd", phase)] = count * (working + array)
        found[Key("mtd", phase, busy=True)] = count * (working + (array if polled else 0))
    read, program = operations["read"], operations["program"]
    found |= {
        Key("mtd", "open"): code(3e6, 1e4),
        Key("mtd", "syscall"): code(2e4, 0) + 1e4 * of("board.cpu_syscall_ns"),
        Key("mtd", "copy"): code(2e4, 1.3e7),
        Key("mtd", "set"): code(2e4, 0, 1.3e7),
        Key("ubifs-zlib", "sync"): code(3e7, 1e6, 3e6) + 300 * (program[1] + program[2]),
        Key("ubifs-zlib", "mount"): code(4e5, 1e6) + 300 * (read[1] + read[2]),
        Key("ubifs-zlib", "list"): 1 * MS,
    }
    return found


class Formula:
    """A lab that knows the formula; it remembers what it was asked."""

    def __init__(self, *, polled: bool = False) -> None:
        self.polled = polled
        self.asked: list[list[str]] = []

    def __call__(self, points: Mapping[str, Values]) -> Mapping[str, Readings]:
        self.asked.append([*points])
        around = stated()
        return {
            point: times_at({**around, **values}, polled=self.polled)
            for point, values in points.items()
        }


def found_by(
    measured: Readings, preferred: Preferred = Preferred.driver, *, polled: bool = False
) -> Calibration:
    return calibrate(measured, time_figures(APF27, preferred), Formula(polled=polled))


def test_prices_of_calls_of_memory_routines_are_not_looked_for() -> None:
    """The rest of the processor's are, in this order; all six are prices of code."""
    names = [one.row.name for one in time_figures(APF27, Preferred.driver)]
    prices = ["cpu_instruction_ps", "cpu_byte_ps", "cpu_set_byte_ps", "cpu_syscall_ns"]
    assert [name for name in names if name.startswith("cpu_")] == prices
    assert all(is_price_of_code(f"board.{name}") for name in (*prices, "cpu_copy_ns", "cpu_set_ns"))
    assert not is_price_of_code("board.driver_read_ns")


def test_every_other_price_of_the_catalog_is_looked_for() -> None:
    names = [one.setting for one in time_figures(APF27, Preferred.driver)]
    assert names[:3] == ["chip.t_erase_ns", "chip.t_prog_ns", "chip.t_read_ns"]
    assert set(names) >= set(TRUTH) and len(names) == len(set(names))
    assert "chip.page_bytes" not in names and "board.ram_bytes" not in names
    assert names.index("board.driver_read_ns") < names.index("chip.bus_read_ps")
    turned = [one.setting for one in time_figures(APF27, Preferred.bus)]
    assert turned.index("board.driver_read_ns") > turned.index("chip.bus_read_ps")


def test_another_board_is_found_by_its_times() -> None:
    """Within a thousandth, without the fit having been told; what is mixed stays as stated."""
    lab = Formula()
    measured = times_at({**stated(), **TRUTH})
    calibration = calibrate(measured, time_figures(APF27, Preferred.driver), lab)
    for name, value in TRUTH.items():
        assert calibration.value(name) == pytest.approx(value, rel=0.001), name
    held = {name: one.mixed_with for name, one in calibration.found.items() if one.held}
    assert held == {
        "chip.bus_read_ps": ("board.driver_read_ns",),
        "chip.bus_write_ps": ("board.driver_program_ns",),
        "chip.t_command_ns": (),
        "chip.ecc_read_ns": ("board.driver_read_ns",),
        "chip.ecc_write_ns": ("board.driver_program_ns",),
    }
    assert lab.asked[0][0] == STATED and len(lab.asked[0]) == 1 + len(calibration.figures)
    assert set(map(tuple, lab.asked[1:])) == {(FOUND,)} and calibration.rounds < 4
    assert calibration.median_difference < 0.001
    assert median_difference(calibration.stated) > 0.1


def test_a_clock_with_noise_is_within_the_goals() -> None:
    """Half a percent on every time, as of a board that does other things besides: chip figures are
    within 3 %, prices of code and driver within 10 %, and errors are told.
    """
    draw = random.Random(5)
    measured = {
        key: value * draw.gauss(1, 0.005) for key, value in times_at({**stated(), **TRUTH}).items()
    }
    calibration = found_by(measured)
    for name, value in TRUTH.items():
        within = 0.03 if name.startswith("chip.") else 0.10
        assert calibration.value(name) == pytest.approx(value, rel=within), name
        error = calibration.found[name].error
        assert error is not None and 0 < error / value < 0.10


def test_the_bus_is_found_where_the_driver_is_known() -> None:
    truth = {**stated(), "chip.bus_read_ps": 27_000, "chip.bus_write_ps": 39_000}
    calibration = found_by(times_at(truth), Preferred.bus)
    assert calibration.value("chip.bus_read_ps") == pytest.approx(27_000, rel=0.001)
    assert calibration.value("chip.bus_write_ps") == pytest.approx(39_000, rel=0.001)
    assert calibration.found["board.driver_read_ns"].mixed_with == ("chip.bus_read_ps",)


def test_what_a_driver_that_polls_does_is_not_told_from_the_array() -> None:
    """Every operation has both, so 13 us more of the driver are 13 us more of each array time."""
    truth = {**stated(), "board.driver_erase_ns": 33_000}
    measured = times_at(truth, polled=True)
    assert wait_of(measured) == "polled" and wait_of(times_at(truth)) == "interrupt"
    calibration = found_by(measured, polled=True)
    assert calibration.found["board.driver_erase_ns"].held
    assert calibration.value("chip.t_erase_ns") == pytest.approx(513_000, rel=0.001)
    assert calibration.value("chip.t_prog_ns") == pytest.approx(233_000, rel=0.001)
    assert calibration.value("chip.t_read_ns") == pytest.approx(38_000, rel=0.001)


def test_what_the_processor_s_model_gets_wrong_is_not_the_chip_s() -> None:
    """One kind of work takes ten times what any price gives: the figures of the flash are the
    same, the prices nearly, and the time that does not fit is the worst.
    """
    measured = times_at({**stated(), **TRUTH})
    strange = Key("ubifs-zstd", "sync")
    lab = Formula()

    def with_strange(points: Mapping[str, Values]) -> Mapping[str, Readings]:
        return {
            point: {**times, strange: times[Key("ubifs-zlib", "sync")]}
            for point, times in lab(points).items()
        }

    measured[strange] = 10 * measured[Key("ubifs-zlib", "sync")]
    calibration = calibrate(measured, time_figures(APF27, Preferred.driver), with_strange)
    for name, value in TRUTH.items():
        if name.startswith("chip."):
            assert calibration.value(name) == pytest.approx(value, rel=0.02), name
    assert calibration.worst.key == strange
    assert calibration.worst.difference == pytest.approx(-0.9, abs=0.03)


def test_short_times_are_left_out() -> None:
    """A list of 1 ms is below the 5 ms that a file system's phase needs."""
    calibration = found_by(times_at(stated()))
    assert Key("ubifs-zlib", "list") not in {one.key for one in calibration.times}
    assert Key("mtd", "erase", busy=True) in {one.key for one in calibration.times}


def test_no_common_time_is_told() -> None:
    with pytest.raises(InfrastructureError, match="no time in common"):
        found_by({Key("jffs2-zlib", "sync"): 10 * MS})


# What runs left.


def result(case: str, phases: Sequence[Mapping[str, Any]] | None, outcome: str = "pass") -> Any:
    filesystem, _, compression = case.partition("-")
    spec = {
        "board": {"name": "apf27", "ram_bytes": 2**27},
        "filesystem": {
            "name": filesystem,
            "options": {"compression": compression} if compression else {},
        },
        "partition_bytes": 2**24,
        "seed": 1,
        "workload": {"kind": "probe", "calls": 9},
    }
    probe = None if phases is None else {"phases": [*phases]}
    return {"outcome": outcome, "spec": spec, "probe": probe, "axes": {"part": f"found.{case}"}}


def phase(name: str, ns: int, cpu_ns: int | None = None) -> dict[str, Any]:
    return {"phase": name, "count": 1, "bytes": 0, "duration_ns": ns, "cpu_ns": cpu_ns}


DEVICE = [phase("program", 50, 20), phase("read", 40), phase("erase", 30), phase("open", 7, 7)]


def test_the_times_of_a_run() -> None:
    """Of repeats the median; a time of the CPU only of the flash; what failed has none."""
    repeated = [[phase("mount", ns)] for ns in (5, 900, 6)]
    found = readings_of(
        [
            result("mtd", DEVICE),
            result("ubifs-lzo", [phase("mount", 3)], "fail"),
            *(result("jffs2-zlib", phases) for phases in repeated),
        ],
        "the run",
    )
    assert found == {
        Key("mtd", "program"): 50,
        Key("mtd", "program", busy=True): 20,
        Key("mtd", "read"): 40,
        Key("mtd", "erase"): 30,
        Key("mtd", "open"): 7,
        Key("jffs2-zlib", "mount"): 6,
    }
    assert wait_of(found) is None


@pytest.mark.parametrize(
    "results",
    [
        [],
        [result("mtd", None)],
        [result("mtd", DEVICE, "fail"), result("ubifs-lzo", [phase("mount", 3)])],
        [result("mtd", DEVICE[:2])],
    ],
)
def test_a_run_without_the_device_is_told(results: list[Any]) -> None:
    with pytest.raises(UsageError, match=r"the run has no time of: .*erase \(mtd\)"):
        readings_of(results, "the run")


def test_the_study_of_the_lab_has_each_case_at_each_point() -> None:
    cases = measured_cases([result("mtd", DEVICE), result("ubifs-lzo", DEVICE), result("x", None)])
    assert [case.name for case in cases] == ["mtd", "ubifs-lzo"]
    points = {"stated": {}, "board.cpu_instruction_ps": {"board.cpu_instruction_ps": 7500}}
    expanded = expand(study_of(study_text("lab", cases, points, "polled")), load_catalog())
    assert len(expanded) == 4
    assert {case.board.wait for case in expanded} == {"polled"}
    assert [case.board.cpu_instruction_ps for case in expanded] == [3750, 3750, 7500, 7500]
    assert {dict(case.filesystem.options).get("compression") for case in expanded} == {None, "lzo"}
    assert {case.workload.spec["calls"] for case in expanded} == {9}
    assert {case.partition_bytes for case in expanded} == {2**24}
    assert point_of(result("ubifs-lzo", DEVICE)) == "found"


# The board that comes of it.


def board_of(files: Mapping[str, str], directory: Path) -> Board:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return load_catalog([directory]).board("mine")


def test_the_files_are_a_board_with_the_source_of_each_figure(tmp_path: Path) -> None:
    calibration = found_by(times_at({**stated(), **TRUTH}))
    files = catalog_files("mine", APF27, calibration, "polled", "ffslab calibrate, from RUN")
    board = board_of(files, tmp_path)
    assert board.calibrated and board.wait == "polled" and board.chip.name == "mine-chip"
    name = "board.cpu_instruction_ps"
    assert board.cpu_instruction_ps == calibration.value(name) != APF27.cpu_instruction_ps
    assert (board.cpu_copy_ns, board.cpu_set_ns) == (150, 375)  # as stated
    assert board.chip.t_prog_ns == calibration.value("chip.t_prog_ns")
    assert board.chip.bus_read_ps == 15_000
    told = {one.figure: one for one in (*board.provenance, *board.chip.provenance)}
    assert told["t_prog_ns"].source.startswith("ffslab calibrate, from RUN; residual ±")
    assert not told["t_prog_ns"].estimate
    assert told["bus_read_ps"].estimate and "16-bit part" in told["bus_read_ps"].source
    assert told["ram_bytes"].source == "ComPAS 2015 (FFSMark): 128 MB"
    assert "chip.bus_read_ps is as stated: the measurements cannot tell it from" in (
        board.derivation
    )


def test_the_files_name_a_chip_that_there_has_to_be(tmp_path: Path) -> None:
    calibration = found_by(times_at(stated()))
    files = catalog_files("mine", APF27, calibration, None, "ffslab calibrate, from RUN")
    (chip,) = [name for name in files if name.startswith("chips/")]
    assert "wait" not in files["boards/mine.toml"]
    board_of(files, tmp_path)
    (tmp_path / chip).unlink()
    shutil.rmtree(tmp_path / "chips")
    with pytest.raises(SpecError, match="mine-chip"):
        load_catalog([tmp_path]).board("mine")


# The command.


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--board", "no-such"), "no-such"),
        (("--board", "apf27", "--name", "A B"), "cannot be the name of a board"),
        (("--board", "apf27", "--run", "nowhere"), "nowhere"),
        (("--board", "apf27", "--run", "x", "--set", "seed=1"), "--set and --run exclude"),
        (("--board", "apf27", "--run", "x", "--access", "b.toml"), "--access and --run exclude"),
        (("--board", "apf27", "--target", "ssh", "--access", "b.toml"), "b.toml"),
    ],
)
def test_wrong_usage_is_told(ffslab_command: Command, words: tuple[str, ...], told: str) -> None:
    done = ffslab_command("calibrate", *words, "--to", "mine")
    assert done.code == 2 and told in done.error and not Path("mine").exists()


def test_a_board_that_is_there_is_not_measured_again(ffslab_command: Command) -> None:
    Path("mine/boards").mkdir(parents=True)
    Path("mine/boards/it.toml").write_text("")
    done = ffslab_command("calibrate", "--board", "apf27", "--name", "it", "--to", "mine")
    assert done.code == 2 and "it.toml exists already" in done.error
    assert not ffslab_command.target.ran


def test_a_run_that_measured_nothing_is_told(ffslab_command: Command) -> None:
    """The target plays back records of another workload."""
    done = ffslab_command("calibrate", "--board", "apf27", "--to", "mine")
    assert done.code == 2 and "no time of: program (mtd)" in done.error
    assert not Path("mine").exists()


def test_a_run_with_a_damaged_result_is_told(ffslab_command: Command) -> None:
    assert ffslab_command("run", "small.toml", "--no-report").code == 0
    (results,) = Path("results").glob("*/results.jsonl")
    results.write_text('{"outcome": "pass"}\n')
    done = ffslab_command("calibrate", "--board", "apf27", "--run", "latest", "--to", "mine")
    assert done.code == 3 and str(results.parent) in done.error and "likely cause" in done.error
    assert not Path("mine").exists()
