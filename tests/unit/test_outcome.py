"""Recorded consoles and record streams, damaged ones among them, are judged rightly."""

from __future__ import annotations

import pytest
from host_support import golden

from ffslab.results.console import scan_console
from ffslab.results.outcome import Outcome, judge
from ffslab.results.records import parse_records


def _judge(console: str, records: str, status: int = 0, limit: float | None = None) -> Outcome:
    text = golden(f"console/{console}.log").decode()
    return judge(parse_records(golden(f"records/{records}.jsonl")), text, status, limit)


@pytest.mark.parametrize(
    ("console", "records", "kind", "reason"),
    [
        ("pass", "pass", "pass", ""),
        (
            "panic",
            "cut",
            "crash",
            "oops: Kernel panic - not syncing: Kernel mode fault at addr 0x10",
        ),
        ("real-panic", "cut", "crash", "kernel panic: Kernel panic - not syncing: Attempted to"),
        ("bug", "cut", "crash", "kernel bug: kernel BUG at fs/jffs2/gc.c:1182!"),
        ("hung", "cut", "crash", "hung task: INFO: task ubifs_bgt0_0:29 blocked"),
        ("warning", "pass", "fail", "kernel warning: WARNING: CPU: 0 PID: 1 at fs/ubifs/file.c"),
        ("lockdep", "pass", "fail", "lock dependency: WARNING: possible circular locking"),
        ("rule-violation", "pass", "fail", "rule violation: vnand: rule violation: page progr"),
        ("cut", "cut", "crash", "the guest stopped before the agent's end (signal 6)"),
        ("pass", "damaged", "crash", "the records are damaged: line 5"),
        ("pass", "newer", "crash", "the records are damaged: line 1: version 2, not 1"),
        ("pass", "enospc", "fail", "phase creation: no space left on the partition (ENOSPC)"),
        ("pass", "verify", "corrupt", "phase verify: file 17 differs at byte 4096"),
        ("pass", "mount-damaged", "corrupt", "step 3 (mount): mount ubi0:data: structure"),
        ("pass", "mount-enodev", "fail", "step 3 (mount): mount: no such device"),
    ],
)
def test_outcomes(console: str, records: str, kind: str, reason: str) -> None:
    outcome = _judge(console, records, -6 if records == "cut" else 0)
    assert outcome.kind == kind
    assert outcome.reason.startswith(reason)


def test_timeout_shows_the_end_of_the_console() -> None:
    outcome = _judge("cut", "cut", -9, 300)
    assert outcome.kind == "timeout"
    assert "300 s" in outcome.reason
    assert outcome.excerpt[-1].endswith("ubi0: attach")


def test_excerpt_holds_the_evidence_and_is_printable() -> None:
    (finding, *_) = scan_console("a\nb\x1b[31m\n[ 1.0] Kernel panic - not syncing: x\nc\n")
    assert finding.line == 3
    assert finding.excerpt == ("a", "b?[31m", "[ 1.0] Kernel panic - not syncing: x", "c")


@pytest.mark.parametrize("name", ["pass", "real-ubifs", "real-jffs2"])
def test_clean_console_has_no_finding(name: str) -> None:
    assert scan_console(golden(f"console/{name}.log").decode()) == ()


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"\0\0\0", b"{", b"[]\n", b'{"v":1}\n', b"\xff\xfe\n", b'{"v":1,"type":"end"}\n'],
)
def test_no_stream_is_too_broken_to_parse(data: bytes) -> None:
    stream = parse_records(data)
    assert stream.end is None
    assert judge(stream, "", 0, None).kind == "crash"


def test_cut_at_every_byte_is_never_a_pass() -> None:
    whole = golden("records/pass.jsonl")
    for length in range(0, len(whole) - 1, 97):
        assert judge(parse_records(whole[:length]), "", 0, None).kind == "crash"
