"""What workloads write: usual contents are told as before, others reach each step that writes."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from host_support import study_of

from ffslab.compare.pairs import spec_differences
from ffslab.errors import SpecError
from ffslab.loader import load_catalog
from ffslab.model.case import Case, case_spec
from ffslab.model.study import expand, with_overrides
from ffslab.protocol.plan import parse_step
from ffslab.targets.virtual_flash import RIG
from ffslab.workloads.contents import Contents
from ffslab.workloads.plans import guest_plans
from ffslab.workloads.registry import workloads

CATALOG = load_catalog()
KEYS = ("contents", "compressibility_percent")
# What each workload writes, if nothing is said, and the steps of its plans that write it.
USUAL = {
    "ffsmark": ("printable", {"ffsmark"}),
    "micro": ("random", {"micro"}),
    "append-log": ("text", {"append-log"}),
    "database": ("text", {"database"}),
    "wear": ("random", {"wear"}),
    "capacity": ("random", {"micro", "tree-warm"}),
    "tiobench": ("random", {"tiobench"}),
    "tree": ("random", {"tree-create", "tree-check"}),
}
WITH_TEXT = ("ffsmark", "database")  # where it was the key `text`
ALWAYS = {"tiobench": KEYS[:1], "tree": KEYS}  # that specs had from the beginning
STUDY = """
schema = 1
name = "contents"
title = "Contents"
[base]
board = "apf27"
filesystem = "jffs2"
partition_bytes = "64 MiB"
[base.workload]
kind = "KIND"
"""
MORE = {
    "tree": 'steps = "mount create check unmount"\n',
    "wear": 'static_bytes = "1 MiB"\nfile_bytes = "1 MiB"\nvolumes = "9 MiB"\n',
    "tiobench": 'file_bytes = "1 MiB"\nrandom_bytes = "1 MiB"\n',
}


def case_of(kind: str, **keys: Any) -> Case:
    study = study_of(STUDY.replace("KIND", kind) + MORE.get(kind, ""))
    given = [(f"workload.{name}", (value,)) for name, value in keys.items()]
    (case,) = expand(with_overrides(study, given, CATALOG), CATALOG)
    return case


def told(case: Case) -> dict[str, list[dict[str, str]]]:
    """By the verb of a step: what each of them is told of contents."""
    steps: dict[str, list[dict[str, str]]] = {}
    for plan in guest_plans(case, RIG):
        for line in plan.splitlines()[1:]:
            verb, keys = parse_step(line)
            said = {name: keys[name] for name in (*KEYS, "text") if name in keys}
            steps.setdefault(verb, []).append(said)
    return steps


def test_every_workload_that_writes_files_has_contents() -> None:
    having = {name for name, kind in workloads().items() if set(KEYS) <= set(kind.keys)}
    assert having == set(USUAL)


@pytest.mark.parametrize("kind", USUAL)
def test_usual_contents_are_told_as_before_there_were_others(kind: str) -> None:
    usual, _ = USUAL[kind]
    case = case_of(kind)
    assert getattr(case.workload, "contents", None) == usual
    assert [name for name in KEYS if name in case.workload.spec] == list(ALWAYS.get(kind, ()))
    assert case.workload.spec.get("text") is (True if kind in WITH_TEXT else None)
    assert case_of(kind, contents=usual).spec_hash == case.spec_hash
    allowed: list[dict[str, str]] = [{}, {"text": "1"}, {"contents": "random"}]
    assert all(said in allowed for each in told(case).values() for said in each)


@pytest.mark.parametrize("kind", WITH_TEXT)
def test_random_bytes_are_what_was_not_text(kind: str) -> None:
    case = case_of(kind, contents="random")
    assert case.workload.spec["text"] is False
    assert "contents" not in case.workload.spec
    assert told(case)[kind] == [{"text": "0"}]


@pytest.mark.parametrize("kind", USUAL)
def test_other_contents_reach_each_step_that_writes_them(kind: str) -> None:
    usual, verbs = USUAL[kind]
    hashes = {case_of(kind).spec_hash}
    for contents in get_args(Contents):
        if contents == usual or (kind, contents) == ("capacity", "zeros"):
            continue
        share = {"compressibility_percent": 30} if contents == "compressible" else {}
        case = case_of(kind, contents=contents, **share)
        hashes.add(case.spec_hash)
        if kind in WITH_TEXT and contents == "random":
            continue
        steps = told(case)
        for verb in verbs:
            for said in steps[verb]:
                said.pop("text", None)
                assert said == {name: str(value) for name, value in share.items()} | {
                    "contents": contents
                }
        assert all(said == {} for verb in set(steps) - verbs for said in steps[verb])
    assert len(hashes) == len(get_args(Contents)) - (kind == "capacity")


@pytest.mark.parametrize("kind", USUAL)
def test_two_specs_are_compared_by_the_keys_of_a_study(kind: str) -> None:
    usual, _ = USUAL[kind]
    for contents in ("random", "text", "printable"):
        told = spec_differences(
            case_spec(case_of(kind)), case_spec(case_of(kind, contents=contents))
        )
        wanted = [("workload.contents", usual, contents)] if contents != usual else []
        assert [(each.key, each.base, each.new) for each in told] == wanted
    share = case_of(kind, contents="compressible", compressibility_percent=30)
    (first, second) = spec_differences(case_spec(share), case_spec(case_of(kind)))
    assert (first.key, first.base, first.new) == ("workload.contents", "compressible", usual)
    assert (second.key, second.base, second.new) == (
        "workload.compressibility_percent",
        "30",
        "0",
    )


def test_a_prepared_test_file_has_the_contents_that_are_read() -> None:
    share: dict[str, Any] = {"contents": "compressible", "compressibility_percent": 30}
    both = {name: str(value) for name, value in share.items()}
    steps = told(case_of("micro", pattern="random-read", **share))
    assert steps["prepare"] == steps["micro"] == [both]
    # Without a test file all contents share a state.
    assert told(case_of("micro", **share))["prepare"] == [{}]


@pytest.mark.parametrize("kind", USUAL)
def test_a_share_is_of_compressible_contents_alone(kind: str) -> None:
    for contents in ("random", "text"):
        with pytest.raises(SpecError, match="compressibility_percent = 30 with contents") as caught:
            case_of(kind, contents=contents, compressibility_percent=30)
        assert caught.value.remedy == 'contents = "compressible"'


@pytest.mark.parametrize(
    ("keys", "good"),
    [
        ({"contents": "text"}, True),
        ({"contents": "printable"}, True),
        ({"contents": "compressible", "compressibility_percent": 99}, True),
        ({"contents": "compressible", "compressibility_percent": 100}, False),
        ({"contents": "zeros"}, False),
    ],
)
def test_what_need_not_fill_a_partition_has_no_capacity(keys: dict[str, Any], good: bool) -> None:
    if not good:
        with pytest.raises(SpecError, match="contents need not fill a partition"):
            case_of("capacity", **keys)
        return
    (line,) = [
        parse_step(line)[1]
        for plan in guest_plans(case_of("capacity", **keys), RIG)
        for line in plan.splitlines()
        if line.startswith("micro ")
    ]
    least = {"text": 0.25, "printable": 0.8}.get(keys["contents"], 0.01)
    assert int(line["volume_bytes"]) * least >= 64 * 2**20


@pytest.mark.parametrize(
    ("keys", "most_mib"),
    [
        ({"contents": "random"}, 64),
        ({"contents": "printable"}, 80),
        ({"contents": "text"}, 256),
        ({"contents": "compressible", "compressibility_percent": 75}, 256),
    ],
)
def test_what_no_file_system_makes_so_small_is_refused(keys: dict[str, Any], most_mib: int) -> None:
    assert case_of("tiobench", file_bytes=f"{most_mib} MiB", **keys)
    with pytest.raises(SpecError, match=r"files of .* on a partition of 64 MiB"):
        case_of("tiobench", file_bytes=f"{most_mib + 1} MiB", **keys)
    assert case_of("tiobench", file_bytes="100 GiB", contents="zeros")


def test_a_partition_may_fill_up_where_that_is_a_result() -> None:
    for contents in ("random", "text"):
        assert case_of("append-log", contents=contents, lines=1_000_000, line_bytes=256)
        with pytest.raises(SpecError, match="the log grows to"):
            case_of("append-log", contents=contents, lines=1_100_000, line_bytes=256)
    assert case_of("append-log", contents="zeros", lines=2_000_000, line_bytes=256)


@pytest.mark.parametrize("kind", ["ffsmark", "database"])
def test_the_earlier_key_is_told_with_its_successor(kind: str) -> None:
    text = (
        'schema = 1\nname = "own"\ntitle = "own"\n[base]\nboard = "apf27"\n[base.workload]\n'
        f'kind = "{kind}"\ntext = false\n[axes]\nfilesystem = ["jffs2"]\n'
    )
    with pytest.raises(SpecError, match=r"unknown key '.*text' \(now: contents = \"random\""):
        study_of(text)
