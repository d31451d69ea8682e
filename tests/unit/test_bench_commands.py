"""The benchmark's parts that measure commands: what they run, how they judge, what they write."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench import commands, report, run
from bench.commands import Cost, CutCost, _parts_of_a_state, cost_of
from bench.measurements import Bench
from host_support import FakeSite, FakeTarget

from ffslab.campaign.run import prepare
from ffslab.errors import InfrastructureError, UsageError
from ffslab.protocol.records import RecordStream
from ffslab.report.load import open_run, read_rows
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome
from ffslab.workloads.cuts.keys import Cuts


def _bench(tmp_path: Path, *, quiet: bool) -> Bench:
    nothing: Any = None
    return Bench(nothing, nothing, tmp_path, (0, 1), 2, quiet, lambda _: None)


def test_a_command_and_its_children_are_measured(tmp_path: Path) -> None:
    """In a process of its own: what a child has is at first what its parent has."""
    burn = "x = b'x' * 400_000_000; sum(range(3_000_000))"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])"
    measuring = f"""
import sys
from pathlib import Path
from bench.commands import cost_of
for code in ("pass", {code!r}):
    cost = cost_of([sys.executable, "-c", code], Path({str(tmp_path)!r}))
    print(cost.cpu_s, cost.peak_bytes)
"""
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", measuring],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    idle, busy = ([float(word) for word in line.split()] for line in done.stdout.splitlines())
    assert busy[0] > idle[0] > 0
    assert busy[1] > 400_000_000 > idle[1]


def test_a_command_that_fails_is_an_error_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError) as caught:
        cost_of(["sh", "-c", "echo no such study >&2; exit 2"], tmp_path, ("a slip", "look"))
    assert "no such study" in str(caught.value)
    assert "exit code 2" in str(caught.value)
    assert (caught.value.cause, caught.value.remedy) == ("a slip", "look")


@pytest.mark.parametrize(("wall_s", "cpu_s"), [(13.0, 20.0), (10.0, 25.5)])
def test_short_cases_are_judged_by_the_clock_of_a_quiet_host(
    wall_s: float, cpu_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """500 cases on two cores: the goal is 12.5 s of wall time, 25 s of CPU time."""
    monkeypatch.setattr(commands, "cost_of", lambda *_: Cost(wall_s, cpu_s, 0))
    for quiet in (True, False):
        folder = tmp_path / str(quiet)
        folder.mkdir()
        lines = commands.short(_bench(folder, quiet=quiet)).lines
        (judged,) = [line for line in lines if line.goal]
        assert ("wall" in judged.label) is quiet
        assert judged.missed is (quiet == (wall_s > 12.5))


def test_a_slow_start_is_missed_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "cost_of", lambda *_: Cost(0, 0.2, 0))
    lines = commands.start(_bench(tmp_path, quiet=False)).lines
    assert [line.label for line in lines if line.missed] == ["ffslab --help"]
    assert sum(line.goal is not None for line in lines) == 4


def test_the_copies_are_a_run_of_every_case_with_the_figures_of_one_seed(tmp_path: Path) -> None:
    measured = {}
    for number, case in enumerate(report.prepared_with([1]).cases):
        result = case_result(case, Outcome("pass"), RecordStream((), (), False), None)
        measured[report.configuration(case)] = {**result, "virtual_ns": number}
    planned = report.prepared_with(range(1, 4))
    assert (
        report.write_copies(tmp_path / "r", planned, FakeSite(FakeTarget()), measured)
        == len(planned.cases)
        == 42
    )  # type: ignore[arg-type]
    rows = list(read_rows(open_run(tmp_path / "r")))
    assert [(row["id"], row["spec_hash"]) for row in rows] == [
        (case.id, case.spec_hash) for case in planned.cases
    ]
    assert {row["spec"]["seed"] for row in rows} == {1, 2, 3}
    by_value: dict[int | None, set[str]] = {}
    for row in rows:
        by_value.setdefault(row["virtual_ns"], set()).add(row["id"].rpartition("-")[0])
    assert len(by_value) == 14
    assert all(len(names) == 1 for names in by_value.values())


def test_everything_anew_is_built_only_if_that_is_asked_for() -> None:
    assert "setup" in run.PARTS
    assert set(run.PARTS) - set(run.parts_by_default()) == {"setup", "price"}


def test_unknown_parts_are_refused() -> None:
    request = run.Request(("speed", "flor"), 1, None, False, print, print)
    with pytest.raises(UsageError, match="flor"):
        run.run_bench(request)


@pytest.mark.parametrize(("wall_s", "missed"), [(180.0, False), (180.1, True)])
def test_a_set_up_has_a_cache_of_its_own_and_is_judged_on_a_quiet_host(
    wall_s: float, missed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches: list[str] = []

    def cost(_words: list[str], folder: Path, **variables: str) -> Cost:
        caches.append(variables["XDG_CACHE_HOME"])
        assert Path(caches[-1]).is_relative_to(folder)
        assert not Path(caches[-1]).exists()
        return Cost(wall_s, 1.0, 0)

    monkeypatch.setattr(commands, "cost_of", cost)
    for quiet in (True, False):
        folder = tmp_path / str(quiet)
        folder.mkdir()
        (line,) = [one for one in commands.setup(_bench(folder, quiet=quiet)).lines if one.spread]
        assert line.missed is (quiet and missed)
        assert (line.goal is None) is not quiet


@pytest.mark.parametrize("check", ["mount", "full"])
@pytest.mark.parametrize("filesystem", commands.CRASH_GOALS)
def test_the_study_of_power_cuts_is_one_that_can_run(
    check: str, filesystem: str, tmp_path: Path
) -> None:
    """A setting without effect would be refused."""
    path = tmp_path / "crash.toml"
    text = commands._CRASH.format(filesystem=filesystem, check=commands._CHECKS[check], sample=10)
    path.write_text(text)
    (case,) = prepare(str(path)).cases
    assert isinstance(case.workload, Cuts)
    assert (case.workload.check, case.workload.findings) == (check, "tell")
    assert check == "mount" or case.workload.fill_sample == 0


def test_a_state_costs_what_more_states_cost() -> None:
    """A run's start, here of two seconds, is in neither part."""

    def cut(states: int, cpu_s: float) -> CutCost:
        return CutCost(Cost(wall_s=99, cpu_s=cpu_s, peak_bytes=0), states)

    parts = _parts_of_a_state(few=[cut(1000, 3.0)], mount=[cut(5000, 7.0)], full=[cut(5000, 17.0)])
    assert parts == {
        "mount, look, unmount": [pytest.approx(1.0)],
        "use, lose power, mount again": [pytest.approx(2.0)],
    }
