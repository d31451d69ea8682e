"""Recorded consoles and record streams, damaged ones among them, are judged rightly."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from host_support import golden, stream_of

from ffslab.protocol.records import RecordStream, parse_records
from ffslab.results.console import Printed, last_lines, lines_of, read_log, scan_console, tail_of
from ffslab.results.outcome import OUTCOMES, Outcome, judge, judged
from ffslab.results.refusals import REFUSALS, Refusal


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
        (
            "stuck",
            "cut",
            "stuck",
            "init (pid 18) has been in system call 0 for 2 s of virtual time, ",
        ),
        (
            "stuck-jffs2",
            "cut",
            "stuck",
            "sync (pid 35) has executed 2003 million instructions in system call 74 without an",
        ),
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


def test_stuck_shows_the_stack_and_is_no_word_of_a_program() -> None:
    outcome = _judge("stuck", "cut", -6, 300)
    assert outcome.kind == "stuck"
    assert any("planted_compute" in line for line in outcome.excerpt)
    said = "stuck: sh (pid 3) has been in system call 0 for 120 s of virtual time\n"
    stream = parse_records(golden("records/pass.jsonl"))
    assert judge(stream, said, 0, None).kind == "pass"


def test_excerpt_holds_the_evidence_and_is_printable() -> None:
    (message, *_) = scan_console("a\nb\x1b[31m\n[ 1.0] Kernel panic - not syncing: x\nc\n")
    assert message.line == 3
    assert message.excerpt == ("a", "b?[31m", "[ 1.0] Kernel panic - not syncing: x", "c")


@pytest.mark.parametrize("name", ["pass", "real-ubifs", "real-jffs2"])
def test_clean_console_has_no_message(name: str) -> None:
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


# What a plan's steps and phases say, one stream for each rule.

GOOD_END = {"type": "end", "status": "ok"}
BAD_END = {"type": "end", "status": "error"}


def _phase(name: str, status: str = "error", workload: str = "ffsmark", **more: str) -> Any:
    return {"type": "phase", "phase": name, "workload": workload, "status": status, **more}


def _step(index: int, status: str = "ok", **more: str | bool) -> Any:
    return {"type": "step", "index": index, "verb": "mount", "status": status, **more}


def _of(*records: Any, status: int = 0, console: str = "") -> Outcome:
    # Phases and trees of the workload `tree` have more keys.
    return judge(stream_of(*records), console, status, None)


@pytest.mark.parametrize(
    ("records", "kind", "reason"),
    [
        ([_step(0), GOOD_END], "pass", ""),
        ([_step(0), BAD_END], "fail", "the agent: it ended with status error"),
        ([{**BAD_END, "message": "line 3: no verb"}], "fail", "the agent: line 3: no verb"),
        # Wrong data first, then what the agent said of it.
        (
            [_phase("verify", message="file 3 differs"), BAD_END],
            "corrupt",
            "verify: file 3 differs",
        ),
        ([_phase("verify", errno_name="EIO"), BAD_END], "corrupt", "phase verify: EIO"),
        ([_phase("verify"), BAD_END], "corrupt", "phase verify: data differ"),
        ([_phase("mount", errno_name="EUCLEAN"), BAD_END], "corrupt", "phase mount: EUCLEAN"),
        ([_phase("mount", errno_name="EBADMSG"), BAD_END], "corrupt", "phase mount: EBADMSG"),
        ([_phase("mount", errno_name="EIO", message="why"), BAD_END], "fail", "mount: EIO why"),
        ([_phase("mount", errno_name="EIO"), BAD_END], "fail", "phase mount: EIO failed"),
        ([_phase("mount", message="why"), BAD_END], "fail", "phase mount: why"),
        # A full partition, by workload.
        (
            [_phase("creation", errno_name="ENOSPC", message="why"), BAD_END],
            *("fail", "phase creation: no space left on the partition (ENOSPC)"),
        ),
        (
            [_phase("prepare", workload="prepare", errno_name="ENOSPC", message="why"), BAD_END],
            *("fail", "phase prepare: why"),
        ),
        (
            [_phase("prepare", workload="prepare", errno_name="ENOSPC"), BAD_END],
            *("fail", "phase prepare: no space left on the partition (ENOSPC)"),
        ),
        (
            [_phase("prepare", workload="prepare", errno_name="EIO", message="why"), BAD_END],
            *("fail", "phase prepare: EIO why"),
        ),
        # Steps, where no phase failed.
        ([_step(3, "error", message="why", errno_name="EIO"), BAD_END], "fail", "3 (mount): why"),
        ([_step(3, "error", errno_name="EIO"), BAD_END], "fail", "step 3 (mount): EIO"),
        ([_step(3, "error"), BAD_END], "fail", "step 3 (mount): failed"),
        ([_step(3, "error", errno_name="EBADMSG"), BAD_END], "corrupt", "step 3 (mount): EBADMSG"),
        # What verifies fails for lost data, whatever the errno.
        (
            [_step(3, "error", errno_name="EINVAL", label="verify", message="why"), BAD_END],
            *("corrupt", "verify: why"),
        ),
        # What may fail says so, whatever comes after it; its phases are forgiven with it.
        ([_phase("a"), _step(0, "error", may_fail=True), _step(1), GOOD_END], "pass", ""),
        ([_phase("a"), _step(0, "error", may_fail=True), GOOD_END], "pass", ""),
        (
            [_step(0, "error", errno_name="ENOSPC", may_fail=True), GOOD_END],
            *("pass", ""),
        ),
        (
            [_step(0, "error", may_fail=True), _step(1, "error", message="why"), BAD_END],
            *("fail", "step 1 (mount): why"),
        ),
        (
            [_step(0, "error", may_fail=True), _phase("b", message="x"), _step(1), BAD_END],
            *("fail", "phase b: x"),
        ),
        # Another failure counts, even where the plan went on after it and ended well.
        (
            [_step(0, "error", errno_name="EIO"), _step(1), GOOD_END],
            *("fail", "step 0 (mount): EIO"),
        ),
        # A full partition lets the plan go on, and is a failure all the same.
        (
            [_step(0, "error", errno_name="ENOSPC", may_fill=True), _step(1), GOOD_END],
            *("fail", "step 0 (mount): ENOSPC"),
        ),
        # A phase that failed counts though its step did not, and without a step.
        ([_phase("verify", message="x"), _step(0), GOOD_END], "corrupt", "phase verify: x"),
        ([_step(0), _phase("verify", message="x"), GOOD_END], "corrupt", "phase verify: x"),
    ],
)
def test_what_steps_and_phases_say(records: list[Any], kind: str, reason: str) -> None:
    outcome = _of(*records)
    assert (outcome.kind, outcome.short) == (kind, None)
    assert outcome.reason.endswith(reason) and bool(outcome.reason) == bool(reason)


@pytest.mark.parametrize(
    ("status", "how"),
    [(0, "exit status 0"), (1, "exit status 1"), (-1, "signal 1"), (-9, "signal 9")],
)
def test_a_guest_that_stopped_says_how(status: int, how: str) -> None:
    outcome = _of({"type": "start"}, status=status, console="a\nb")
    assert outcome == Outcome(
        "crash", f"the guest stopped before the agent's end ({how})", ("a", "b")
    )


@pytest.mark.parametrize(
    ("console", "timed_out_s", "kind"),
    [
        ("[    0.1] Kernel panic - not syncing: No working init found.", None, "crash"),
        ("[    0.1] Run /init as init process", None, "crash"),
        ("[    0.1] Run /init as init process", 300.0, "timeout"),
    ],
)
def test_where_the_agent_never_spoke_the_cache_is_named(
    console: str, timed_out_s: float | None, kind: str
) -> None:
    for records, named in (((), True), (({"type": "start"},), False)):
        outcome = judge(stream_of(*records), console, -6, timed_out_s)
        assert outcome.kind == kind
        assert outcome.reason.endswith("ffslab doctor reads all of the cache") == named


def test_the_gravest_message_is_told_with_what_is_around_it() -> None:
    far = [f"line {n}" for n in range(40)]
    lines = ["UBIFS error (ubi0:0): x", *far, "[    1.5] WARNING: CPU: 0 at y", *far]
    outcome = _of(GOOD_END, console="\n".join(lines))
    assert (outcome.kind, outcome.reason) == ("fail", "kernel warning: WARNING: CPU: 0 at y")
    assert outcome.excerpt == ("line 38", "line 39", lines[41], *far[:17])
    outcome = _of(GOOD_END, console="x] BUG: y")
    assert outcome.reason == "kernel bug: x] BUG: y"  # what is before the bracket is no time
    stream = RecordStream((), ("line 5: no type", "line 7: not JSON"), False)
    assert judge(stream, "", 0, None).reason == "the records are damaged: line 5: no type"


def _judged_files(
    directory: Path, records: bytes, console: bytes, output: bytes | None = None
) -> tuple[Outcome, RecordStream]:
    for name, data in (("records", records), ("console", console), ("output", output)):
        (directory / name).unlink(missing_ok=True)
        if data is not None:
            (directory / name).write_bytes(data)
    printed = Printed.of(directory / "console", directory / "output")
    return judged(directory / "records", printed, 0, None)


def test_files_are_judged_with_the_records_that_are_in_them(tmp_path: Path) -> None:
    data = b'{"v":1,"type":"end","status":"ok","steps_run":0,"steps_total":0,"t_ns":5}\n'
    outcome, stream = _judged_files(tmp_path, data, b"\xff\xfe")
    assert (outcome, len(stream.records)) == (Outcome("pass", ""), 1)
    outcome, _ = _judged_files(tmp_path, data, b"BUG: \xff")
    assert outcome.reason == "kernel bug: BUG: \ufffd"


HOSTILE = (
    b"BUG: widget 5 is late\n[    1.0] kernel BUG at x.c:1!\n[    1.1] Oops: 0002\n"
    b"[    1.2] Kernel panic - not syncing: no\n[    1.3] WARNING: CPU: 0\nUBIFS error (x)\n"
)


def test_what_programs_print_is_no_report_of_the_kernel(tmp_path: Path) -> None:
    """With a channel of their own; where there is one for all, a line is the kernel's."""
    end = b'{"v":1,"type":"end","status":"ok","steps_run":0,"steps_total":0,"t_ns":5}\n'
    booted = b"[    0.0] Linux version 6.1\n"
    outcome, _ = _judged_files(tmp_path, end, booted, HOSTILE)
    assert outcome == Outcome("pass")
    outcome, _ = _judged_files(tmp_path, end, booted + HOSTILE, b"")
    assert outcome.reason == "kernel bug: BUG: widget 5 is late"
    assert _judged_files(tmp_path, end, booted + HOSTILE)[0].kind == "crash"


def test_the_last_lines_are_those_of_kernel_and_programs(tmp_path: Path) -> None:
    kernel = "".join(f"[ 1.0] {n}\n" for n in range(20)).encode()
    programs = "".join(f"line {n}\n" for n in range(20)).encode()
    cases: tuple[tuple[bytes | None, list[str]], ...] = (
        (
            programs,
            [*(f"[ 1.0] {n}" for n in range(14, 20)), *(f"line {n}" for n in range(14, 20))],
        ),
        (b"one\n", [*(f"[ 1.0] {n}" for n in range(9, 20)), "one"]),
        (b"", [f"[ 1.0] {n}" for n in range(8, 20)]),
        (None, [f"[ 1.0] {n}" for n in range(8, 20)]),
    )
    for output, expected in cases:
        outcome, _ = _judged_files(tmp_path, b"", kernel, output)
        assert outcome.kind == "crash" and list(outcome.excerpt) == expected


def test_a_log_is_read_in_bounded_memory(tmp_path: Path) -> None:
    """Whatever its lines: none at all in 4 MiB, or a message in each of very many."""
    file = tmp_path / "console"
    file.write_bytes(4 * 2**20 * b"x" + b"\n[ 1.0] BUG: x\n")
    lines = list(lines_of(file))
    assert max(map(len, lines)) == 2**16 and "".join(lines[:-1]) == 4 * 2**20 * "x"
    (message,) = read_log(lines_of(file)).messages
    assert message.text == "[ 1.0] BUG: x"
    many = (f"WARNING: CPU: {n}" if n % 2 else "x" * 1000 for n in range(20_000))
    log = read_log(chain(many, ["[ 1.0] BUG: y"]))
    assert (log.messages[0].kind, log.messages[0].line) == ("kernel bug", 20_001)
    assert len(log.messages) == 1001
    assert max(len(message.excerpt) for message in log.messages) == 20
    assert max(len(line) for message in log.messages for line in message.excerpt) == 160
    assert len(log.last) == 12
    assert len(tail_of(file)) == 2**16 and tail_of(file).endswith("BUG: x\n")
    assert tail_of(tmp_path / "none") == "" and list(lines_of(tmp_path / "none")) == []


def test_of_one_channel_the_end_is_also_what_programs_printed() -> None:
    """At most 64 KiB of it: of a mark, as many letters, and one more."""
    short = Printed.on_one_channel("[ 1.0] BUG: x\nsaid by a program\n")
    assert not short.apart and short.output == "[ 1.0] BUG: x\nsaid by a program\n"
    assert [message.text for message in short.kernel.messages] == ["[ 1.0] BUG: x"]
    assert Printed.on_one_channel("<" + 65_535 * "y").output == "<" + 65_535 * "y"
    assert Printed.on_one_channel("<" + 65_536 * "y").output == 65_536 * "y"


def test_outcomes_are_in_order_of_gravity() -> None:
    order = ("crash", "stuck", "corrupt", "timeout", "fail", "short", "skip", "pass")
    assert order == OUTCOMES


@pytest.mark.parametrize(
    ("line", "severity", "kind"),
    [
        ("[  1.0] stuck: x (pid 3) has been in y for 1 s of virtual time", "stuck", "stuck"),
        ("[  1.0] stuck: x (pid 3) has executed 9 million instructions in y", "stuck", "stuck"),
        ("INFO: task x:1 blocked for more than 120 seconds.", "crash", "hung task"),
        ("kernel BUG at fs/x.c:1!", "crash", "kernel bug"),
        ("BUG: sleeping function", "crash", "kernel bug"),
        ("BUG kmalloc-8 (Not tainted): Right Redzone", "crash", "kernel bug"),
        ("Oops: 0002", "crash", "oops"),
        ("Kernel mode fault at addr 0x0", "crash", "oops"),
        ("general protection fault", "crash", "oops"),
        ("General protection fault", "crash", "oops"),
        ("Kernel panic - not syncing: x", "crash", "kernel panic"),
        ("possible circular locking", "fail", "lock dependency"),
        ("possible recursive locking", "fail", "lock dependency"),
        ("possible irq lock inversion", "fail", "lock dependency"),
        ("inconsistent lock state", "fail", "lock dependency"),
        ("suspicious RCU usage", "fail", "lock dependency"),
        ("WARNING: CPU: 0", "fail", "kernel warning"),
        ("x: UBIFS assert failed: y", "fail", "failed assertion"),
        ("UBI assert failed in x at 1 (pid 1)", "fail", "failed assertion"),
        ("vnand: rule violation: x", "fail", "rule violation"),
        ("vnand data: rule violation: x", "fail", "rule violation"),
        ("UBIFS error (x)", "fail", "file system error"),
        ("ubi0 error: x", "fail", "file system error"),
        ("UBI error: x", "fail", "file system error"),
        ("jffs2: error: x", "fail", "file system error"),
    ],
)
def test_what_a_console_line_means(line: str, severity: str, kind: str) -> None:
    (message,) = scan_console(f"first\n{line}\n")
    assert (message.severity, message.kind, message.line) == (severity, kind, 2)
    assert message.text == line


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.text)
def test_a_refusal_is_no_fault(refusal: Refusal) -> None:
    """A file system logs its answer as an error; beside it a fault is still one."""
    line = f"UBIFS error (ubi0:0 pid 27): x: {refusal.text} 65"
    assert scan_console(line) == ()
    (message,) = scan_console(f"{line}\nUBIFS error (ubi0:0 pid 27): x: bad node")
    assert (message.kind, message.line) == ("file system error", 2)
    (message,) = scan_console(f"WARNING: CPU: 0 {refusal.text}")
    assert message.kind == "kernel warning"


def test_excerpts_are_bounded() -> None:
    """Two lines before and eighteen from the message on, of 160 characters each."""
    lines = [f"line {n}" for n in range(30)]
    lines[10] = "Oops " + 200 * "x"
    (message,) = scan_console("\n".join(lines))
    assert message.excerpt == (*lines[8:10], lines[10][:160], *lines[11:28])
    assert len(message.text) == 160
    for first in (0, 1):
        (message,) = scan_console("\n".join(["a"] * first + ["Oops", "b"]))
        assert message.excerpt == (*["a"] * first, "Oops", "b")
    assert last_lines("\n".join(lines)) == tuple(lines[18:])
    assert last_lines("a\tb\x07  ", 1) == ("a\tb?",)
