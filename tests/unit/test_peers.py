"""Reading and comparing of what others' programs found, and the page that is made of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "peers"))
from peer_document import DOCUMENT, REASONS, document, unexplained  # noqa: E402
from peer_matrix import FILE_SYSTEMS, FLASH, STATES, key, read_golden, worse  # noqa: E402
from peer_suites import SUITES  # noqa: E402

from findings import declared  # noqa: E402

READ = {suite.name: suite.read for suite in SUITES}


def case(**further: Any) -> dict[str, Any]:
    return {"outcome": "pass", "reason": "", "checks": 3, "refused": {"b": "no"}} | further


def test_a_check_of_pjdfstest_has_the_status_of_its_last_run() -> None:
    output = "\x1b[34mopen::a::fifo\x1b[0m   \x1b[32mok\x1b[0m\nchown::b  FAILED\n\tleft != right\n"
    output += "rmdir::erofs  skipped\n\tno remounts\nrmdir::erofs   ok\nSummary: 1 failed\n"
    assert READ["pjdfstest"](output) == {
        "open::a::fifo": "",
        "chown::b": "failed: left != right",
        "rmdir::erofs": "",
    }


@pytest.mark.parametrize(
    ("printed", "status", "reason"),
    [
        ("stress-ng: info: [7] passed", 0, ""),
        ("stress-ng: error: [54] No stress workers invoked (unsupported)", 0, "not supported"),
        ("stress-ng: fail:  [152] handle: errno=38", 0, "status 0: stress-ng: fail:  handle"),
        ("thread 'main' panicked at main.rs:9:\ncalled on EINVAL", 101, "status 101: called on"),
        ("words\nverify: bad header\nmore", 1, "status 1: verify: bad header"),
        ("", 137, "not finished within"),
    ],
)
def test_a_check_of_a_script_says_why(printed: str, status: int, reason: str) -> None:
    found = READ["fio"](f"begin one\n{printed}\nend one {status}\nbegin two\n")
    assert found["two"] == "it did not end"
    assert found["one"].startswith(reason) and bool(found["one"]) == bool(reason)


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ({}, ""),
        ({"refused": {}, "checks": 4}, ""),
        ({"refused": {"b": "another reason"}}, ""),
        ({"refused": {"a": "EIO"}}, "a passed, now: EIO"),
        ({"checks": 2}, "had 3 checks, has 2"),
        ({"outcome": "crash", "reason": "oops"}, "was pass, is crash: oops"),
    ],
)
def test_what_passed_and_passes_no_longer_is_told(now: dict[str, Any], told: str) -> None:
    found = list(worse({"x": case()}, {"x": case(**now)}))
    assert [line for line in found if told not in line] == [] and bool(found) == bool(told)
    assert list(worse({}, {"x": case()}))


def test_every_program_ran_on_every_file_system_and_flash() -> None:
    expected = {
        key(suite.name, flash.name, name, state)
        for suite in SUITES
        for flash in FLASH
        for name in FILE_SYSTEMS
        for state in STATES
    }
    assert set(read_golden()["cases"]) == expected


def test_the_page_is_what_is_kept_and_each_refusal_has_a_reason() -> None:
    golden = read_golden()
    page = DOCUMENT.read_text("utf-8")
    assert page == document(page, golden)
    assert unexplained(golden["cases"]) == []


def test_each_refusal_of_a_file_system_of_linux_is_a_finding() -> None:
    """But of what no file system passes."""
    for reason in REASONS:
        linux = {name.upper() for name in reason.file_systems if name in ("jffs2", "ubifs")}
        numbers = {number.split("-")[1] for number in reason.findings}
        assert reason.file_systems == FILE_SYSTEMS or numbers == linux, reason
        assert set(reason.findings) <= set(declared())
