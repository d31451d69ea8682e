"""The shipped micro studies, a sample of each: they run, and their requests are what they say."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab_support import results, run_study

from ffslab.loader import find_study, load_catalog, study_names
from ffslab.model.case import Case
from ffslab.model.study import expand, study_from_document
from ffslab.workloads.micro.requests import RequestSeries, read_requests

KIB = 1024
PAGE_BYTES = 4096  # of the page cache
FILESYSTEMS = ("jffs2", "ubifs", "yaffs2")
BACKGROUND = {"jffs2": "jffs2_gcd", "ubifs": "ubi_bgt", "yaffs2": "yaffs-bg"}


@pytest.fixture(scope="module", autouse=True)
def kept_states(lab: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:  # noqa: ARG001
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FFSLAB_STATE_CACHE", str(tmp_path_factory.mktemp("state")))
        yield


def chosen(study: str, wanted: Any) -> list[str]:
    """The ids of the first seed's cases that `wanted` picks."""
    catalog = load_catalog()
    cases = expand(study_from_document(find_study(study).document, catalog, study), catalog)
    return [
        case.id
        for case in cases
        if case.seed == 1
        and dict(case.axes).get("part") != "full"
        and wanted(case, dict(case.axes))
    ]


def run_some(study: str, ids: list[str], output: Path) -> Path:
    assert ids
    options = [word for case_id in ids for word in ("--case", case_id)]
    return run_study(study_names()[study], output, "--no-report", *options)


def series_of(run: Path, case_id: str) -> tuple[RequestSeries, ...]:
    return read_requests(run / "cases" / case_id)


@pytest.fixture(scope="module")
def uflip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two values of every micro-benchmark, with its first pattern, on one file system each."""
    seen: dict[str, set[object]] = {}

    def wanted(case: Case, axes: dict[str, Any]) -> bool:
        if axes["workload.pattern"] not in ("sequential-write", "sequential-read"):
            return False
        part = axes["part"]
        values = (axes["workload.pattern"], *(axes[key] for key in axes if key not in CONSTANT))
        if case.filesystem.name != FILESYSTEMS[len(part) % 3]:
            return False
        seen.setdefault(part, set()).add(values)
        return len(seen[part]) in (1, 6)

    ids = chosen("micro-uflip", wanted)
    return run_some("micro-uflip", ids, tmp_path_factory.mktemp("uflip"))


CONSTANT = ("part", "filesystem", "workload.pattern", "seed")


def test_every_micro_benchmark_of_uflip_runs(uflip: Path) -> None:
    found = results(uflip)
    assert {result["axes"]["part"] for result in found} == {
        *("granularity", "alignment", "locality", "partitioning", "order"),
        *("parallelism", "mix", "pause", "bursts"),
    }
    for result in found:
        assert result["outcome"] == "pass", (result["id"], result["reason"])
        assert result["micro"]["requests_done"] == result["micro"]["requests"]


def test_requests_are_where_the_settings_say(uflip: Path) -> None:
    checked = set()
    for result in results(uflip):
        workload, part = result["spec"]["workload"], result["axes"]["part"]
        size, streams = workload["request_bytes"], series_of(uflip, result["id"])
        file_bytes = result["micro"]["file_bytes"]
        offsets = list(streams[0].offset)
        assert all(0 <= offset <= file_bytes - size for offset in offsets)
        assert all((offset - workload["shift_bytes"]) % size == 0 for offset in offsets)
        if part == "locality":
            assert max(offsets) < (workload["target_bytes"] or file_bytes)
        elif part == "order" and workload["increment"] == 0:
            assert len(set(offsets)) == 1
        elif part == "order" and workload["increment"] == -1:
            assert offsets[:3] == [file_bytes - size, file_bytes - 2 * size, file_bytes - 3 * size]
        elif part == "partitioning" and workload["partitions"] > 1:
            jump = file_bytes // workload["partitions"] // size * size
            assert abs(offsets[1] - offsets[0] - jump) <= size
        elif part == "parallelism":
            assert len(streams) == workload["parallel"]
        elif part == "mix":
            assert {len(streams), *(stream.op for stream in streams)} >= {2}
        elif part == "bursts":
            starts = list(streams[0].t_start_ns)
            gaps = [b - a for a, b in itertools.pairwise(starts)]
            paused = [i + 1 for i, gap in enumerate(gaps) if gap >= 100_000_000]
            assert paused == list(range(workload["burst"], len(starts), workload["burst"]))
        checked.add(part)
    assert len(checked) == 9


@pytest.fixture(scope="module")
def sleeping(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ids = chosen(
        "micro-interarrival",
        lambda case, axes: (
            case.filesystem.name in FILESYSTEMS
            and axes["options.write_mode"] != "write-back"
            and axes["workload.request_bytes"] == 32 * KIB
            and axes["workload.pause_us"] in (0, 1_000_000)
        ),
    )
    return run_some("micro-interarrival", ids, tmp_path_factory.mktemp("sleeping"))


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
def test_a_background_collector_works_in_the_sleeps(sleeping: Path, filesystem: str) -> None:
    work = {}
    for result in results(sleeping):
        if result["axes"]["filesystem"] != filesystem:
            continue
        (series,) = result["requests"]
        rows = [task for task in series["tasks"] if task["name"].startswith(BACKGROUND[filesystem])]
        after = [task for task in rows if task["when"] == "after"]
        work[result["axes"]["workload.pause_us"]] = sum(
            task["pages_read"] + task["pages_programmed"] + task["blocks_erased"] for task in after
        )
        if result["axes"]["workload.pause_us"]:
            pause = result["axes"]["workload.pause_us"] * 1000
            starts = series_of(sleeping, result["id"])[0].t_start_ns
            assert all(b - a >= pause for a, b in itertools.pairwise(starts))
    assert work[1_000_000] > work[0]


def test_reads_are_cold_and_writes_of_every_size_have_one_volume(tmp_path: Path) -> None:
    ids = chosen(
        "micro-saturated",
        lambda case, axes: (
            case.filesystem.name == "yaffs2"
            and axes["workload.pattern"].startswith("random")
            and axes["workload.request_bytes"] in (2 * KIB, 512 * KIB)
        ),
    )
    run = run_some("micro-saturated", ids, tmp_path)
    volumes = set()
    for result in results(run):
        (measure,) = [phase for phase in result["phases"] if phase["phase"] == "measure"]
        if result["axes"]["workload.pattern"] == "random-read":
            (series,) = series_of(run, result["id"])
            size = result["axes"]["workload.request_bytes"]
            # Drawn with replacement: what was read once is in the cache, in pages of 4 KiB.
            touched = {
                page
                for offset in series.offset
                for page in range(offset // PAGE_BYTES, -(-(offset + size) // PAGE_BYTES))
            }
            pages = len(touched) * PAGE_BYTES // 2048
            assert measure["pages_read"] == pytest.approx(pages, rel=0.02), result["id"]
        else:
            volumes.add(result["micro"]["volume_bytes"])
            assert measure["bytes_written"] == result["micro"]["volume_bytes"]
    assert len(volumes) == 1


def test_logfs_makes_no_request_wait_for_all_that_is_dirty(tmp_path: Path) -> None:
    """The volume does not fit uncommitted: room is made in portions of 32 pages, some 30 ms."""
    ids = chosen(
        "micro-saturated",
        lambda case, axes: (
            case.filesystem.name == "logfs"
            and axes["options.write_mode"] == "write-back"
            and axes["workload.pattern"] == "sequential-write"
            and axes["workload.request_bytes"] == 4 * KIB
        ),
    )
    run = run_some("micro-saturated", ids, tmp_path)
    (series,) = series_of(run, *ids)
    waited = [ns for ns in series.latency_ns if ns > 10_000_000]
    assert len(waited) > 20
    assert max(waited) < 100_000_000
