"""Workload micro in a study: its cases, their plans, states, parts, and every wrong combination."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from host_support import cases_of, study_of
from plan_support import is_prepared_apart, preparation_plan_text

from ffslab.errors import SpecError
from ffslab.loader import find_study, load_catalog
from ffslab.model.case import Case, case_spec
from ffslab.model.study import expand, study_from_document, with_overrides
from ffslab.protocol.plan import parse_step
from ffslab.targets.virtual_flash import plan_text
from ffslab.workloads.ffsmark.keys import Ffsmark
from ffslab.workloads.micro.keys import Micro

KIB, MIB = 2**10, 2**20

STUDY = """
schema = 1
name = "small"
title = "A small study"

[base]
board = "omap3530-evm"
partition_bytes = "20 MiB"
state = "saturated"
options = { compression = "none" }

[base.workload]
kind = "micro"

[axes]
filesystem = ["jffs2", "ubifs"]
"workload.pattern" = ["random-read", "random-write"]
"workload.request_bytes" = ["2 KiB", 524288]
"""


def shipped(name: str) -> tuple[Case, ...]:
    catalog = load_catalog()
    return expand(study_from_document(find_study(name).document, catalog, name), catalog)


def step_of(plan: str, verb: str) -> dict[str, str]:
    (line,) = [line for line in plan.splitlines() if line.split(" ")[0] == verb]
    return dict(parse_step(line)[1])


def verbs_of(plan: str) -> list[str]:
    return [line.split(" ")[0] for line in plan.splitlines()[1:]]


def test_sizes_are_bytes_in_axes_and_words_in_ids() -> None:
    cases = cases_of(STUDY)
    assert [case.id for case in cases[:2]] == [
        "jffs2-randomread-request2kib-s1",
        "jffs2-randomread-request512kib-s1",
    ]
    assert dict(cases[0].axes)["workload.request_bytes"] == 2048
    workload = case_spec(cases[0])["workload"]
    assert workload["kind"] == "micro"
    assert workload["request_bytes"] == 2048
    assert workload["existing"] is True


def test_reads_and_overwrites_need_a_file_and_new_writes_do_not() -> None:
    existing = {c.id: c.workload.existing for c in cases_of(STUDY) if isinstance(c.workload, Micro)}
    assert existing["jffs2-randomread-request2kib-s1"]
    assert not existing["jffs2-randomwrite-request2kib-s1"]
    mixed = STUDY.replace('kind = "micro"', 'kind = "micro"\nmix_pattern = "sequential-read"')
    assert all(c.workload.existing for c in cases_of(mixed) if isinstance(c.workload, Micro))


def test_published_studies_have_the_published_sizes() -> None:
    sizes = {2 * KIB << power for power in range(9)}
    saturated = shipped("micro-saturated")
    by_pattern: Counter[str] = Counter()
    for case in saturated:
        assert isinstance(case.workload, Micro)
        assert case.state.kind == "saturated"
        assert case.partition_bytes == 20 * MIB
        # One volume for all, that must fit; and what each can store.
        common = dict(case.axes)["part"] == "common"
        assert case.workload.volume_bytes == (14.5 * MIB if common else 20 * MIB)
        assert case.workload.limit != common
        assert case.workload.random == "uniform"
        assert case.board.name == "omap3530-evm"
        assert dict(case.filesystem.options)["compression"] == "none"
        by_pattern[case.workload.pattern] += common
    writable = [
        filesystem
        for filesystem in load_catalog().filesystems.values()
        if not (filesystem.image and filesystem.image.read_only)
        and filesystem.overlay is None
        and filesystem.is_mounted
        # Of 2011, and of none of these studies.
        and filesystem.name != "yaffs2-improved"
    ]
    filesystems, seeds = len(writable), 3
    assert by_pattern["random-read"] == filesystems * len(sizes) * seeds
    # Two of them write back, and have synchronous cases too.
    assert by_pattern["random-write"] == (filesystems + 2) * len(sizes) * seeds
    assert {c.workload.request_bytes for c in saturated if isinstance(c.workload, Micro)} == sizes

    fill = shipped("micro-fill")
    assert {case.state.rate_percent for case in fill} == {30, 60, 75}
    assert {case.partition_bytes for case in fill} == {100 * MIB}
    for case in fill:
        assert isinstance(case.workload, Micro)
        assert case.workload.existing
        assert case.workload.test_file_bytes == 20_000_000
        assert step_of(preparation_plan_text(case), "prepare")["partition_bytes"] == "100000000"
    pauses = {
        case.workload.pause_us
        for case in shipped("micro-interarrival")
        if isinstance(case.workload, Micro)
    }
    assert pauses == {0, 10_000, 100_000, 1_000_000}


def test_a_fill_rate_may_be_a_share_of_another_size_than_the_partition() -> None:
    filled = STUDY.replace('"saturated"', '{ kind = "filled", rate_percent = 75 }')
    whole = step_of(preparation_plan_text(cases_of(filled)[0]), "prepare")
    assert whole["partition_bytes"] == str(20 * MIB)
    stated = filled.replace("75 }", '75, rate_of_bytes = "10 MB" }')
    assert step_of(preparation_plan_text(cases_of(stated)[0]), "prepare")["partition_bytes"] == (
        "10000000"
    )
    with pytest.raises(SpecError, match="has no rate_of_bytes"):
        cases_of(STUDY.replace('"saturated"', '{ kind = "saturated", rate_of_bytes = 1 }'))


def test_uflip_has_nine_micro_benchmarks_over_four_baselines() -> None:
    patterns: dict[str, set[str]] = {}
    pairs = set()
    for case in shipped("micro-uflip"):
        assert isinstance(case.workload, Micro)
        part = str(dict(case.axes)["part"])
        patterns.setdefault(part, set()).add(case.workload.pattern)
        if part == "mix":
            pairs.add(frozenset((case.workload.pattern, case.workload.mix_pattern)))
        else:
            assert not case.workload.mix_pattern
        assert case.id.startswith(f"{part}-")
    assert list(patterns) == [
        "granularity",
        "alignment",
        "locality",
        "partitioning",
        "order",
        "parallelism",
        "mix",
        "pause",
        "bursts",
    ]
    sequential = {"sequential-read", "sequential-write"}
    for part, found in patterns.items():
        if part in ("partitioning", "order"):
            assert found == sequential
        elif part != "mix":
            assert len(found) == 4
    assert len(pairs) == 6


def test_a_case_has_two_plans_and_cases_that_differ_in_requests_share_the_first() -> None:
    cases = [case for case in cases_of(STUDY) if case.filesystem.name == "ubifs"]
    read, write = cases[0], cases[2]
    assert preparation_plan_text(cases[0]) == preparation_plan_text(cases[1])
    assert preparation_plan_text(read) != preparation_plan_text(write)
    prepared = preparation_plan_text(write)
    assert verbs_of(prepared) == [
        *("insmod", "insmod", "monitor", "trace", "erase", "ubi-attach", "ubi-mkvol", "mount"),
        *("snapshot", "settle", "snapshot", "prepare", "umount", "ubi-detach", "snapshot"),
    ]
    assert step_of(prepared, "prepare")["state"] == "saturated"
    assert step_of(prepared, "prepare")["test_file"] == "0"
    measured = plan_text(write)
    assert "erase" not in verbs_of(measured)
    assert "ubi-mkvol" not in verbs_of(measured)
    assert step_of(measured, "micro")["remove"] == "1"
    # The file to read takes the place of the invalid data, which is gone before.
    assert step_of(plan_text(read), "micro")["remove"] == "0"
    assert step_of(preparation_plan_text(read), "prepare")["file_bytes"] == str(20 * MIB)
    # A trace is of the case's own guest, and does not make another state.
    assert preparation_plan_text(replace(write, trace=True)) == prepared


def test_without_a_remount_one_guest_does_all() -> None:
    live = STUDY.replace('state = "saturated"', 'state = { kind = "saturated", remount = false }')
    case = cases_of(live)[-1]
    assert not is_prepared_apart(case)
    assert case.state.name == "saturated-live"
    verbs = verbs_of(plan_text(case))
    assert verbs[verbs.index("erase") :][:2] == ["erase", "ubi-attach"]
    assert verbs.index("prepare") + 1 == verbs.index("micro")


@pytest.mark.parametrize(
    ("state", "kind", "name"),
    [
        ('"free"', "free", "free"),
        ("{ valid_percent = 40, invalid_percent = 10 }", "aged", "v40i10"),
        ("{ rate_percent = 75 }", "filled", "filled75"),
        ('{ kind = "saturated", settle_ms = 500 }', "saturated", "saturated-settled500"),
        ('{ name = "mine", kind = "saturated" }', "saturated", "mine"),
    ],
)
def test_states(state: str, kind: str, name: str) -> None:
    case = cases_of(STUDY.replace('"saturated"', state, 1))[0]
    assert (case.state.kind, case.state.name) == (kind, name)


def test_a_state_is_changed_by_its_settings() -> None:
    text = STUDY.replace('"saturated"', '{ kind = "filled", rate_percent = 30 }', 1)
    text += '"state.rate_percent" = [30, 75]\n'
    cases = cases_of(text)
    assert {case.state.name for case in cases} == {"filled30", "filled75"}
    step = step_of(preparation_plan_text(cases[-1]), "prepare")
    assert (step["rate_percent"], step["partition_bytes"]) == ("75", str(20 * MIB))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "micro"', 'kind = "mirco"', "kind must be one of: .*ffsmark, micro"),
        ('"random-write"]', '"random-rite"]', "pattern.*random-write"),
        ('kind = "micro"', 'kind = "micro"\nfile_bytes = "256 KiB"', "larger than the file"),
        ('kind = "micro"', 'kind = "micro"\nvolume_bytes = "256 KiB"', "larger than the"),
        ("524288]", '"3 furlongs"]', "not a size"),
        ("524288]", "0]", "above 0"),
        ('kind = "micro"', 'kind = "micro"\npartitions = 4', "sequential patterns"),
        ('kind = "micro"', 'kind = "micro"\nincrement = -1', "sequential patterns"),
        (
            'kind = "micro"',
            'kind = "micro"\nmix_pattern = "random-write"\nexisting = false',
            "reads need",
        ),
        ('kind = "micro"', 'kind = "micro"\nmix_pattern = "random-read"', "the pattern itself"),
        (
            'kind = "micro"',
            'kind = "micro"\nmix_pattern = "sequential-read"\nparallel = 2',
            "cannot be combined",
        ),
        (
            'kind = "micro"',
            'kind = "micro"\nlimit = false\nvolume_bytes = "1 GiB"',
            "larger than the partition of 20 MiB",
        ),
        ('kind = "micro"', 'kind = "micro"\nparallel = 64', "no room for 64 part"),
        ('kind = "micro"', 'kind = "micro"\nnumber = 3', "unknown key .*number"),
        ('kind = "micro"', 'kind = "micro"\ncache = "no"', "cache"),
        ('"saturated"', '{ kind = "saturated", rate_percent = 3 }', "has no rate_percent"),
        ('"saturated"', '{ kind = "free", valid_percent = 3 }', "has no valid_percent"),
        ('"saturated"', '{ kind = "filled" }', "needs rate_percent"),
        ('"saturated"', "{ rate_percent = 101 }", "rate_percent"),
        ("[axes]", "[axes]\npart = [1]", "is not a setting"),
    ],
)
def test_bad_input_is_a_clear_error(old: str, new: str, message: str) -> None:
    assert old in STUDY
    with pytest.raises(SpecError, match=message) as caught:
        cases_of(STUDY.replace(old, new, 1))
    assert caught.value.remedy or caught.value.cause or message in str(caught.value)


def test_ffsmark_has_no_saturated_state() -> None:
    text = STUDY.split("[base.workload]", maxsplit=1)[0] + '[axes]\nfilesystem = ["jffs2"]\n'
    with pytest.raises(SpecError, match="FFSMark prepares its own state"):
        cases_of(text)
    free = cases_of(text.replace('"saturated"', '"free"'))
    assert isinstance(free[0].workload, Ffsmark)


PARTS = (
    STUDY
    + """
[[part]]
name = "one"
[part.axes]
"workload.pause_us" = [0, 5]

[[part]]
name = "two"
set = { "workload.burst" = 7, "workload.request_bytes" = "8 KiB" }
"""
)


def test_parts_have_settings_and_axes_of_their_own() -> None:
    cases = cases_of(PARTS)
    ones = [case for case in cases if case.id.startswith("one-")]
    twos = [case for case in cases if case.id.startswith("two-")]
    assert len(ones) == 2 * 2 * 2 * 2
    assert len(twos) == 2 * 2
    assert {dict(case.axes)["part"] for case in twos} == {"two"}
    for case in twos:
        assert isinstance(case.workload, Micro)
        assert (case.workload.burst, case.workload.request_bytes) == (7, 8 * KIB)
    assert len({case.id for case in cases}) == len(cases)


def test_a_part_may_have_one_seed_of_its_own() -> None:
    seeded = PARTS.replace('set = { "workload.burst"', 'set = { seed = 9, "workload.burst"')
    cases = [case for case in cases_of(seeded) if case.id.startswith("two-")]
    assert {case.seed for case in cases} == {9}
    assert len(cases) == 2 * 2  # file systems and patterns


def test_parts_are_chosen_overridden_and_named_in_rules() -> None:
    catalog = load_catalog()
    study = study_of(PARTS)
    two = expand(with_overrides(study, [("part", ("two",))], catalog), catalog)
    assert {case.id.split("-")[0] for case in two} == {"two"}
    changed = expand(with_overrides(study, [("workload.burst", (3,))], catalog), catalog)
    assert {c.workload.burst for c in changed if isinstance(c.workload, Micro)} == {3}
    rule = cases_of(PARTS + '[[exclude]]\npart = "one"\n')
    assert {case.id.split("-")[0] for case in rule} == {"two"}
    with pytest.raises(SpecError, match="no part 'three'"):
        with_overrides(study, [("part", ("three",))], catalog)
    with pytest.raises(SpecError, match="two parts are called"):
        study_of(PARTS.replace('"two"', '"one"'))
