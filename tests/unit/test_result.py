"""The types of a result are those of what is written; what is read is held against them."""

from __future__ import annotations

import copy
import gc
import hashlib
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import UnionType
from typing import Any, NotRequired, Union, get_args, get_origin, get_type_hints

import pytest
from append_log_support import Made, line_latencies, log_result
from host_support import stream_of
from made_records import lines_of
from micro_support import micro_cases, micro_records, micro_result
from result_support import listed_metrics, needed_keys, stub
from test_capacity import capacity_result
from test_probe import probe_result
from test_raw import raw_result
from test_report_support import write_run
from test_tiobench import records_of as tio_records
from test_tiobench import result_of as tio_result
from tree_support import IMAGE_FACTS, Memory, Phase, tree_case, tree_records, with_written
from typing_extensions import TypedDict, is_typeddict

from ffslab.campaign.run import prepare
from ffslab.errors import DamagedResultError
from ffslab.model.canonical import canonical_json
from ffslab.oracle.history import History
from ffslab.protocol.records import parse_records
from ffslab.report.load import all_rows, open_run
from ffslab.results.casefile import case_result, skipped_result
from ffslab.results.outcome import OUTCOMES, Outcome
from ffslab.results.preparation import Preparation
from ffslab.results.result import (
    CaseResult,
    OutcomeKind,
    PhaseResult,
    PreparationResult,
    ShortResult,
    WallResult,
    WrongShapeError,
    checked,
    parsed,
    parsed_as_shown,
)
from ffslab.results.rundir import RunDirectory
from ffslab.results.store import open_store
from ffslab.workloads.append_log.stored import log_of
from ffslab.workloads.cuts.explored import Explored, Judged
from ffslab.workloads.cuts.outcomes import Judgement
from ffslab.workloads.cuts.series import Life, parse_series, stored_series
from ffslab.workloads.cuts.stored import stored_of
from ffslab.workloads.cuts.walk import Cut, StateName
from ffslab.workloads.micro.stored import StreamResult, micro_of, streams_of
from ffslab.workloads.modules import result_module
from ffslab.workloads.registry import workloads
from ffslab.workloads.results import (
    check_own_keys,
    keys_elsewhere,
    results_of,
    shown_results_of,
)
from ffslab.workloads.script.plan import STATUS
from ffslab.workloads.tree.stored import ImageResult, MemoryResult, TreeStep, tree_of

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "result-format.md").read_text(encoding="utf-8")


def tree_result() -> dict[str, Any]:
    """Of a case that had an image, and two guests that prepared its flash."""
    case = tree_case("mount list unmount crash mount list")
    parts = [Memory("start"), Phase("mount", 5), Memory("mount", slabs={"jffs2_i": 4096})]
    stream = parse_records(with_written(tree_records(parts)))
    before = [
        Preparation("7" * 64, Outcome("pass"), stream, facts) for facts in (IMAGE_FACTS, None)
    ]
    return case_result(case, Outcome("pass"), stream, "f" * 64, before)


def script_result() -> dict[str, Any]:
    case = prepare("script", []).cases[0]
    ended = {"v": 1, "type": "file", "label": "", "path": STATUS, "text": "3\n"}
    return case_result(
        case, Outcome("fail", "status 3"), parse_records(lines_of([ended])), "f" * 64
    )


def wear_result() -> dict[str, Any]:
    case = prepare("wear", []).cases[0]
    blocks = case.partition_blocks
    rows: list[dict[str, Any]] = [
        {"v": 1, "type": "flash", "label": label, "t_ns": 1, "counters": {"pages_programmed": n}}
        | {"erases": [n] * blocks, "programs": [64 * n] * blocks, "reads": [0] * blocks}
        for n, label in enumerate(("static:start", "static:end", "written:1000000000"))
    ]
    chip = {"v": 1, "type": "chip-blocks", "erases": [0] * case.board.chip.blocks}
    rows += [chip | {"label": label} for label in ("static", "written:1000000000")]
    told = {"asked": 5 * 10**9, "written": 10**9, "files": 20, "stopped": ""}
    rows.append({"v": 1, "type": "wear", **told})
    return case_result(case, Outcome("pass"), parse_records(lines_of(rows)), "f" * 64)


def cuts_of_history() -> dict[str, Any]:
    """A history of which a state could not be mounted."""
    judged = (
        Judged(StateName(Cut(0, "lost", 0)), Judgement("correct"), None),
        Judged(StateName(Cut(1, "lost", 0)), Judgement("mount-fails", "no"), None, confirmed=True),
    )
    explored = Explored("", "0 erase 1\n1 erase 2\n", judged, 2, 2)
    case = prepare("crash-quick", []).cases[0]
    own = {"cuts": stored_of(case, History(()), explored)}
    return case_result(case, Outcome("fail", "1 of 2"), stream_of(), None, own=own)


def cuts_of_series() -> dict[str, Any]:
    text = "recovery 0 none 5 1 0\nspace 0 9000 100 90 0 12 3\ncut 1 4 lost 9 20\nended 1\n"
    case = prepare("cuts-in-a-row", []).cases[0]
    own = {"cuts": stored_series(case, [Life(0, text, parse_series(text), {})])}
    return case_result(case, Outcome("pass"), stream_of(), None, own=own)


def cuts_without_any() -> dict[str, Any]:
    """The history failed by itself."""
    case = prepare("crash-quick", []).cases[0]
    return case_result(case, Outcome("crash", "oops"), stream_of(), None, own={"cuts": None})


def own_preparation() -> dict[str, Any]:
    """Of a micro-benchmark that was interrupted, and prepared its flash itself."""
    prepared = {"v": 1, "type": "prepared", "state": "filled", "valid_bytes": 1}
    prepared |= {"invalid_bytes": 2, "invalid_present": 3, "file_bytes": 4, "capacity_bytes": 5}
    case = micro_cases()[0]
    data = micro_records(case) + json.dumps(prepared).encode() + b"\n"
    return case_result(case, Outcome("crash", "oops", ("line",)), parse_records(data), None)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two cases of FFSMark."""
    few = [("seed", (1,)), ("state", ("free", "aged")), ("filesystem", ("jffs2",))]
    few.append(("options.compression", ("none",)))
    return write_run(tmp_path_factory.mktemp("run") / "r", few, study="quick")


@pytest.fixture(scope="module")
def results(run: Path) -> dict[str, dict[str, Any]]:
    """A result as it is read again, by what is in it."""
    log = Made({"append-sync": line_latencies(1000, 9000, 3)})
    made = {
        "ffsmark": json.loads((run / "results.jsonl").read_text().splitlines()[0]),
        "micro": micro_result(),
        "micro alone": own_preparation(),
        "tree": tree_result(),
        "append-log": log_result(log),
        "tiobench": tio_result(tio_records()),
        "script": script_result(),
        "wear": wear_result(),
        "capacity": capacity_result(),
        "raw": raw_result(),
        "probe": probe_result(),
        "cuts": cuts_of_history(),
        "cuts series": cuts_of_series(),
        "cuts none": cuts_without_any(),
        "skipped": skipped_result(micro_cases()[0], "no"),
    }
    # A workload that began as `ffslab new workload` has its own in its test.
    for kind in workloads().keys() - made.keys():
        made[kind] = importlib.import_module(f"test_{kind.replace('-', '_')}").example_result()
    return {name: json.loads(canonical_json(result)) for name, result in made.items()}


# --- the types are those of what is written


def parts(hint: Any, value: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every object below `value` that has a type of its own, with that type."""
    while get_origin(hint) is NotRequired:
        (hint,) = get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        hint = next((one for one in get_args(hint) if one is not type(None)), None)
    if is_typeddict(hint) and isinstance(value, dict):
        yield path, hint, value
        for key, inner in get_type_hints(hint).items():
            if key in value:
                yield from parts(inner, value[key], f"{path}.{key}")
    elif get_origin(hint) is list and isinstance(value, list):
        for inner in value:
            yield from parts(*get_args(hint), inner, path)


def test_results_of_every_kind_are_of_their_types(results: dict[str, dict[str, Any]]) -> None:
    assert {check.split()[0] for check in results} >= set(workloads())
    for result in results.values():
        assert checked(result, CaseResult) is result
        check_own_keys(result)  # type: ignore[arg-type]


def test_no_key_that_is_written_is_without_a_type(results: dict[str, dict[str, Any]]) -> None:
    shapes = (CaseResult, *dict.fromkeys(result_module(kind).KEYS for kind in workloads()))
    tops = {key for shape in shapes for key in get_type_hints(shape)}
    seen: dict[str, set[str]] = {}
    for result in results.values():
        assert set(result) <= tops
        for shape in shapes:
            for path, hint, value in parts(shape, result):
                if path:
                    assert set(value) <= set(get_type_hints(hint)), path
                    seen.setdefault(hint.__name__, set()).update(value)
    # Of what has been written here nothing that may be absent always was: the lists are whole.
    for hint in (PhaseResult, PreparationResult, StreamResult, TreeStep, MemoryResult, ImageResult):
        assert seen[hint.__name__] == set(get_type_hints(hint)), hint


def test_outcomes_have_one_list() -> None:
    assert set(OUTCOMES) == set(get_args(OutcomeKind)) and len(OUTCOMES) == 8


def test_what_every_result_has_of_single_workloads(results: dict[str, dict[str, Any]]) -> None:
    assert keys_elsewhere() == {"micro": None, "requests": [], "tree": None, "image": None}
    # FFSMark has all it says in what every result has.
    alone = {kind for kind in workloads() if not result_module(kind).ELSEWHERE} - {"ffsmark"}
    for name, result in results.items():
        assert set(result) - set(get_type_hints(CaseResult)) == {
            *keys_elsewhere(),
            *((name.split()[0].replace("-", "_"),) if name.split()[0] in alone else ()),
        }
    assert streams_of(results["ffsmark"]) == [] and micro_of(results["ffsmark"]) is None  # type: ignore[arg-type]
    assert tree_of({}) is None and log_of({}) is None  # type: ignore[typeddict-item]
    assert streams_of({}) == []  # type: ignore[typeddict-item]


# --- what is read is held against them


def test_a_value_is_returned_as_it_is() -> None:
    """Keys that no type has, those of newer versions, are kept, and numbers are what they were."""
    made = stub(CaseResult, id="a", newer={"x": [1]}, virtual_ns=2**64 - 1)
    made["phases"] = [stub(PhaseResult, read_bytes_per_s=1, more=2, write_amplification=3)]
    before = copy.deepcopy(made)
    assert checked(made, CaseResult) is made and made == before
    assert type(made["phases"][0]["read_bytes_per_s"]) is int


@pytest.mark.parametrize("shape", [CaseResult, PhaseResult, PreparationResult, WallResult])
def test_a_key_that_is_missing_is_named(shape: type) -> None:
    keys = needed_keys(shape)
    assert len(keys) > 3
    for key in keys:
        value = stub(shape)
        del value[key]
        with pytest.raises(WrongShapeError, match=f"^{key}: missing$"):
            checked(value, shape)


def put(*path: str | int, value: Any) -> Callable[[Any], Any]:
    """Sets what is at a place of a result."""

    def change(row: Any) -> Any:
        at = row
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
        return row

    return change


def without(*path: str | int) -> Callable[[Any], Any]:
    def change(row: Any) -> Any:
        at = row
        for key in path[:-1]:
            at = at[key]
        del at[path[-1]]
        return row

    return change


DAMAGES = [
    (lambda _: ["id"], "not an object"),
    (lambda _: None, "not an object"),
    (without("phases"), "phases: missing"),
    (put("virtual_ns", value="5"), "virtual_ns: not an integer"),
    (put("virtual_ns", value=True), "virtual_ns: not an integer"),
    (put("virtual_ns", value=5.5), "virtual_ns: not an integer"),
    (put("reason", value=None), "reason: not a text"),
    (put("outcome", value="good"), "outcome: not 'pass', 'short', 'fail', 'skip', 'crash'"),
    (put("spec", value=[]), "spec: not an object"),
    (put("phases", value={}), "phases: not a list"),
    (put("phases", 2, value=[]), "phases.2: not an object"),
    (put("phases", 2, "duration_ns", value="x"), "phases.2.duration_ns: not an integer"),
    (without("phases", 2, "duration_ns"), "phases.2.duration_ns: missing"),
    (put("phases", 0, "erases_mean", value="1"), "phases.0.erases_mean: not a number"),
    (put("latencies", 1, "buckets", 0, 1, value=None), "latencies.1.buckets.0.1: not an integer"),
    (put("latencies", 1, "buckets", 0, 1, value=True), "latencies.1.buckets.0.1: not an integer"),
    (put("latencies", 0, "buckets", 1, value=7), "latencies.0.buckets.1: not a list"),
    (put("latencies", 0, "buckets", value=None), "latencies.0.buckets: not a list"),
    (put("flash", 0, "erases", 7, value=1.0), "flash.0.erases.7: not an integer"),
    (put("flash", 0, "counters", "read_ns", value=None), "flash.0.counters.read_ns: not an int"),
    (put("flash", 0, "reads", 0, value=2**64 + 1), "flash.0.reads.0: not valid"),
    (put("flash", 0, "t_ns", value=True), "flash.0.t_ns: not an integer"),
    (put("flash", 0, "label", value=1), "flash.0.label: not a text"),
    (put("short", value=stub(ShortResult, accepted=1)), "short.accepted: not true or false"),
    (put("preparation", value=stub(PreparationResult, before=[[]])), "preparation.before.0: not"),
    (put("preparation", value={}), "preparation.key: missing"),
]


def test_python_s_own_collector_works_on_after_a_line(run: Path, tmp_path: Path) -> None:
    """It rests while a line is read, not while that is used, and not after a damaged one."""
    lines = (run / "results.jsonl").read_text().splitlines()
    copied = RunDirectory(tmp_path)
    copied.write_manifest({"v": 1, "cases": []})
    (tmp_path / "results.jsonl").write_text(f"{lines[0]}\n{{}}\n")
    reading = results_of(copied)
    next(reading)
    assert gc.isenabled()
    with pytest.raises(DamagedResultError):
        next(reading)
    assert gc.isenabled()


def test_pages_read_all_but_programs_and_reads_of_blocks(run: Path) -> None:
    """And keys of other workloads, and those that nobody has: of a newer version."""
    opened = open_run(run)
    whole = list(map(json.loads, (run / "results.jsonl").read_text().splitlines()))
    for result in whole:
        for key in keys_elsewhere():
            assert not result.pop(key)
        for snapshot in result["flash"]:
            assert snapshot.pop("programs") and snapshot.pop("reads")
    sums = {"results_sha256": opened.directory.results_sha256()}
    assert canonical_json(list(shown_results_of(opened.directory, opened.manifest | sums))) == (
        canonical_json(whole)
    )
    first = json.loads((run / "results.jsonl").read_text().splitlines()[0])
    line = json.dumps(first | {"newer": 1}).encode()
    assert "newer" in parsed(line, CaseResult) and "newer" not in parsed_as_shown(line, frozenset())


@pytest.mark.parametrize(("damage", "told"), DAMAGES, ids=[told for _, told in DAMAGES])
def test_a_line_of_another_shape_is_damage(
    run: Path, tmp_path: Path, damage: Callable[[Any], Any], told: str
) -> None:
    good, other = (run / "results.jsonl").read_text().splitlines()
    copied = RunDirectory(tmp_path)
    copied.write_manifest({"v": 1, "cases": [{"id": "a"}, {"id": "b"}]})
    path = tmp_path / "results.jsonl"
    path.write_text(f"{good}\n{json.dumps(damage(json.loads(other)))}\n")
    readers = (lambda: list(results_of(copied)), lambda: list(all_rows(open_run(copied.path))))
    for read in (*readers, lambda: open_store([copied])):
        with pytest.raises(DamagedResultError) as caught:
            read()
        assert caught.value.message.startswith(f"{path}, line 2: damaged: {told}")
        assert "another version" in caught.value.cause and "--resume" in caught.value.remedy
    # And if the sum in the manifest is right, but for what no page shows.
    lines = path.read_bytes()
    sums = {"results_sha256": hashlib.sha256(lines).hexdigest()}
    copied.write_manifest({"v": 1, "cases": [{"id": "a"}, {"id": "b"}], **sums})
    if not told.startswith("flash.0.reads"):
        with pytest.raises(DamagedResultError, match=re.escape(f"line 2: damaged: {told}")):
            list(all_rows(open_run(copied.path)))
    # And the same of cases that have not been collected.
    path.unlink()
    for name, line in (("a", good), ("b", json.dumps(damage(json.loads(other))))):
        copied.case_dir(name).mkdir(parents=True)
        (copied.case_dir(name) / "case.json").write_text(line)
    for read in (*readers, lambda: copied.collect(["a", "b"])):
        with pytest.raises(DamagedResultError, match=r"cases/b/case\.json: damaged: "):
            read()


OWN_DAMAGES = [
    ("micro", put("spec", "workload", value=7), "spec.workload: not an object"),
    ("micro", put("micro", "requests", value=None), "micro.requests: not an integer"),
    ("micro", put("micro", "tasks", 0, value={}), "micro.tasks.0.name: missing"),
    ("micro", put("requests", value=None), "requests: not a list"),
    ("micro", without("requests", 0, "all", "p99_ns"), "requests.0.all.p99_ns: missing"),
    ("micro", put("requests", 0, "slowest", 0, "cause", value=1), "requests.0.slowest.0.cause: no"),
    ("tree", put("tree", value=[]), "tree: not an object"),
    ("tree", without("tree", "steps", 0, "files"), "tree.steps.0.files: missing"),
    ("tree", put("tree", "steps", 0, "prepared", value=1), "tree.steps.0.prepared: not true or"),
    ("tree", put("tree", "memory", 0, "caches", 0, 1, value=None),
     "tree.memory.0.caches.0.1: not a text or an integer"),
    ("tree", put("image", "ratio", value="2"), "image.ratio: not a number"),
    ("append-log", put("append_log", "lines", value=[]), "append_log.lines: not an integer"),
    ("append-log", without("append_log", "slow_share"), "append_log.slow_share: missing"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "damage", "told"), OWN_DAMAGES, ids=[d[2] for d in OWN_DAMAGES])
def test_a_workloads_own_keys_are_held_against_its_own_types(
    results: dict[str, dict[str, Any]],
    tmp_path: Path,
    kind: str,
    damage: Callable[[Any], Any],
    told: str,
) -> None:
    row = damage(copy.deepcopy(results[kind]))
    run = RunDirectory(tmp_path)
    run.write_manifest({"v": 1, "cases": [{"id": row["id"]}]})
    (tmp_path / "results.jsonl").write_text(canonical_json(row) + "\n")
    # Of the keys of single workloads the centre knows nothing.
    assert run.results() == [row]
    for read in (lambda: list(results_of(run)), lambda: list(all_rows(open_run(run.path)))):
        with pytest.raises(DamagedResultError, match="line 1: damaged: ") as caught:
            read()
        assert caught.value.message.partition("damaged: ")[2].startswith(told)


def test_what_is_unknown_is_collected_and_read_again(
    results: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    row = {**results["micro"], "newer": {"b": 1, "a": [2.5]}}
    row["phases"][0]["newer"] = "x"
    run = RunDirectory(tmp_path)
    run.write_manifest({"v": 1, "cases": [{"id": row["id"]}]})
    run.case_dir(row["id"]).mkdir(parents=True)
    run.finish_case(row, stub(WallResult, id=row["id"], wall_ns=3, newer=4))  # type: ignore[arg-type]
    (head,) = run.collect([row["id"]])
    assert head == {key: row[key] for key in head} and "phases" not in head
    assert run.results() == [row]
    assert (tmp_path / "results.jsonl").read_text() == canonical_json(row) + "\n"
    assert run.walls()[row["id"]] == stub(WallResult, id=row["id"], wall_ns=3, newer=4)


def two_results(run: Path, tmp_path: Path, **changes: object) -> RunDirectory:
    """A copy of the run's results with a manifest that has `changes`."""
    lines = (run / "results.jsonl").read_text()
    ids = [json.loads(line)["id"] for line in lines.splitlines()]
    copied = RunDirectory(tmp_path)
    copied.write_manifest({"v": 1, "cases": [{"id": one} for one in ids], **changes})
    (tmp_path / "results.jsonl").write_text(lines)
    return copied


def test_results_that_lack_or_are_too_many_are_damage(run: Path, tmp_path: Path) -> None:
    copied = two_results(run, tmp_path, complete=True)
    path = tmp_path / "results.jsonl"
    good, other = path.read_text().splitlines(keepends=True)
    assert len(copied.results()) == 2
    for text in ("", good, other, other + good, good + other + good):
        path.write_text(text)
        with pytest.raises(DamagedResultError, match=r"results\.jsonl: damaged: ") as caught:
            list(results_of(copied))
        assert caught.value.remedy == f"make it again: ffslab run {tmp_path} --resume"
    path.write_text(other.replace('"id":"', '"id":"another-'))
    with pytest.raises(DamagedResultError, match="which is not a case of the run"):
        copied.results()
    # Of a run that is not complete some may lack.
    copied = two_results(run, tmp_path, complete=False)
    path.write_text(other)
    assert len(copied.results()) == 1


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"v": 2, "ffslab": "9.9"}, "the run has format 2; this ffslab reads format 1"),
        ({"v": "1"}, "damaged: v: not an integer"),
        ({"cases": 7}, "damaged: cases: not a list"),
        ({"cases": [{}]}, "damaged: cases.0.id: missing"),
        ({"complete": "yes"}, "damaged: complete: not true or false"),
        ({"study_text": 5}, "damaged: study_text: not a text"),
    ],
)
def test_a_manifest_of_another_format_or_shape_is_refused_by_all_readers(
    changes: dict[str, object], told: str, run: Path, tmp_path: Path
) -> None:
    copied = two_results(run, tmp_path, **changes)
    for read in (copied.manifest, copied.results, lambda: open_store([copied])):
        with pytest.raises(DamagedResultError) as caught:
            read()
        assert caught.value.message == f"{tmp_path / 'manifest.json'}: {told}"
        assert "new run" in caught.value.remedy


def test_a_line_of_wall_clock_figures_is_checked_too(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    (tmp_path / "wall.jsonl").write_text('{"id":"a","wall_ns":null}\n')
    with pytest.raises(DamagedResultError, match=r"wall\.jsonl, line 1: damaged: wall_ns: not an"):
        run.walls()


def test_a_place_that_may_be_of_several_types_is_told_as_one() -> None:
    class Mixed(TypedDict):
        rows: list[int | str | None]

    with pytest.raises(WrongShapeError, match=r"^rows\.1: not an integer or a text$"):
        checked({"rows": [1, 2.5]}, Mixed)


def test_pydantic_is_loaded_only_where_something_is_read() -> None:
    code = (
        "import sys, ffslab.results.result, ffslab.results.files; print('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# --- the document


def documented(text: str) -> set[str]:
    """The keys that its list begins with."""
    heads = re.findall(r"^- ((?:`\w+`(?:, )?)+):", text, re.MULTILINE)
    return {key for head in heads for key in re.findall(r"`(\w+)`", head)}


def section(heading: str) -> str:
    return DOCUMENT.split(f"\n## {heading}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize(
    ("heading", "shape"),
    [
        ("Less than was asked for", ShortResult),
        ("Preparation", PreparationResult),
        ("Requests of a micro-benchmark", StreamResult),
    ],
)
def test_the_document_has_the_keys_of_the_types(heading: str, shape: type) -> None:
    assert documented(section(heading)) == set(get_type_hints(shape))


def test_the_documents_have_the_keys_of_a_phase() -> None:
    """Those that are metrics stand in docs/metrics.md, and here if they need more words."""
    phases = section("Figures of a phase")
    assert "](metrics.md#of-a-phase)" in phases
    metrics = set(listed_metrics("of-a-phase"))
    assert documented(phases) | metrics == set(get_type_hints(PhaseResult))


def test_the_document_has_the_keys_of_a_line() -> None:
    found = documented(section("A line of results.jsonl"))
    assert found == {*get_type_hints(CaseResult), *keys_elsewhere()}
    walls = set(re.findall(r"`(\w+)`", section("wall.jsonl")))
    assert walls == set(get_type_hints(WallResult))
