"""The step `read` of workload `tree`, and `boot`: what a boot takes until its files are read."""

from __future__ import annotations

from typing import Any, cast

import pytest
from host_support import cases_of

from ffslab.errors import SpecError
from ffslab.model.case import Case, case_spec
from ffslab.protocol.plan import parse_step
from ffslab.results.result import CaseResult
from ffslab.targets.virtual_flash import plan_text
from ffslab.workloads.tree.keys import Tree
from ffslab.workloads.tree.metrics import boots, listed

STUDY = """
schema = 1
name = "boot"
title = "A boot"

[base]
board = "apf27"
partition_bytes = "64 MiB"
filesystem = "ubifs"
state = "image"

[base.workload]
kind = "tree"
steps = "mount read unmount"
"""


def case_of(read_files: str) -> Case:
    (case,) = cases_of(STUDY + f"read_files = {read_files}\n")
    return case


def test_a_list_is_lines_without_what_stands_around_them() -> None:
    case = case_of('"""\n  bin/busybox\t\n\n/etc/my file\t100\n"""')
    assert isinstance(case.workload, Tree)
    assert case.workload.read_files == "bin/busybox\n/etc/my file\t100"
    (line,) = (line for line in plan_text(case).splitlines() if line.startswith("tree-read "))
    assert parse_step(line)[1] == {
        "dir": "/mnt",
        "phase": "read",
        "files": "bin/busybox\n/etc/my file\t100",
    }


def test_another_list_is_another_case() -> None:
    assert case_spec(case_of('"bin/sh"')) != case_spec(case_of('"bin/ls"'))
    assert case_spec(case_of('"bin/sh"')) == case_spec(case_of(r'"  bin/sh\n"'))


@pytest.mark.parametrize("line", ["/", "a\\tb", "a\\t1\\t2", "a\\t-1", "a\\t" + 20 * "9"])
def test_a_line_that_is_none(line: str) -> None:
    with pytest.raises(SpecError, match="is not a path, or a path, a tab and a number"):
        case_of(f'"good\\n{line}"')


def test_nothing_to_read() -> None:
    with pytest.raises(SpecError, match="the step read has no files to read") as caught:
        case_of('" "')
    assert "read_files" in caught.value.remedy


def result_of(*steps: tuple[str, str, int]) -> CaseResult:
    rows = [
        {"step": step, "phase": phase, "duration_ns": ns, "status": "ok", "prepared": False}
        for step, phase, ns in steps
    ]
    return cast(CaseResult, cast(Any, {"tree": {"steps": rows, "memory": []}}))


def test_a_boot_is_a_mount_and_what_is_read_then() -> None:
    """Steps between the two are no part of it, and what is read again was in memory."""
    result = result_of(
        ("read", "read", 1),
        ("mount", "mount", 500),
        ("settle", "settle", 9_000),
        ("read", "read-2", 70),
        ("read", "read-3", 8),
        ("unmount", "unmount", 4),
        ("mount", "mount-2", 300),
        ("read", "read-4", 20),
    )
    found = [(boot.place, boot.value) for boot in boots(result)]
    assert found == [("read-2", 570), ("read-4", 320)]
    assert all(boot.main and boot.metric.name == "boot_ns" for boot in boots(result))


def test_mount_to_the_end_of_ls_is_the_first_list_after_each_mount() -> None:
    result = result_of(
        ("mount", "mount", 500),
        ("list", "list", 70),
        ("list", "list-2", 8),
        ("unmount", "unmount", 4),
        ("mount", "mount-2", 300),
        ("find", "find", 9),
        ("list", "list-3", 20),
    )
    found = [(one.metric.name, one.place, one.value) for one in listed(result)]
    assert found == [("listed_ns", "list", 570), ("listed_ns", "list-3", 320)]
    assert list(boots(result)) == []
