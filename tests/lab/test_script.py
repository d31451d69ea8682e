"""The workload script: a script of the user as a measured phase, the same wherever it lies."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from lab_support import ffslab, results, run_study

from ffslab.workloads.script.plan import BEGINS, ENDS, STATUS

pytestmark = pytest.mark.usefixtures("lab")
STUDY = """
schema = 1
name = "own"
title = "A script"

[base]
board = "apf27"
partition_bytes = "16 MiB"
filesystem = "jffs2"
seeds = [1]

[base.workload]
kind = "script"
script = "own one.sh"
files = ["data"]
arguments = "'two words' three"
"""
WRITES = """
[ "$1" = 'two words' ] && [ "$2" = three ] && [ "$PWD" = /mnt ] || exit 9
cp "$FFSLAB_FILES/data/a" . && dd if=/dev/urandom of=b bs=4k count=64 && sleep 2
"""
ALL = "filesystem=['jffs2', 'ubifs', 'yaffs2']"
NOTHING_BELOW = {"exit_status": 0, "programmed_below": 0, "erased_below": 0}


def study(directory: Path, script: str) -> Path:
    (directory / "data").mkdir(parents=True)
    (directory / "data" / "a").write_text("a file\n")
    (directory / "own one.sh").write_text(script)
    (directory / "own.toml").write_text(STUDY)
    return directory / "own.toml"


def phases(result: Any) -> dict[str, Any]:
    return {phase["phase"]: phase for phase in result["phases"]}


def test_equal_scripts_give_equal_bytes_wherever_they_are(tmp_path: Path) -> None:
    file = study(tmp_path / "one", WRITES)
    shutil.copytree(tmp_path / "one", tmp_path / "another place")
    wanted = ("--set", ALL, "--set", "state=['free', 'aged']")
    one = run_study(file, tmp_path / "r1", *wanted)
    other = run_study(tmp_path / "another place" / "own.toml", tmp_path / "r2", *wanted)
    assert (one / "results.jsonl").read_bytes() == (other / "results.jsonl").read_bytes()
    assert len(results(one)) == 6
    for result in results(one):
        found = phases(result)
        assert result["outcome"] == "pass" and result["script"] == NOTHING_BELOW
        assert 2e9 < found["script"]["duration_ns"] < 9e9
        assert found["workload"]["pages_programmed"] >= 128  # 256 KiB in pages of 2 KiB
        assert "path" not in str(result["spec"]["workload"])


def test_other_contents_are_another_case(tmp_path: Path) -> None:
    hashes = set()
    for number in range(3):
        file = study(tmp_path / str(number), f"echo {min(number, 1)}\n")
        if number == 2:
            (file.parent / "data" / "a").write_text("another\n")
        run = run_study(file, tmp_path / f"r{number}")
        hashes |= {result["spec_hash"] for result in results(run)}
    assert len(hashes) == 3


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo first; echo last >&2; exit 3", "the script exited with status 3: last"),
        ("kill -9 $$", "the script exited with status 137: Killed"),
        ("#!/no/such\necho", "the script exited with status 127: "),
    ],
)
def test_a_script_that_fails_says_how(tmp_path: Path, script: str, reason: str) -> None:
    run = run_study(study(tmp_path / "s", script), tmp_path / "r", status=1)
    (result,) = results(run)
    assert result["outcome"] == "fail" and result["reason"].startswith(reason)
    assert "flush" in phases(result)  # what it did is measured all the same


def test_what_a_script_leaves_running_does_not_keep_the_file_system(tmp_path: Path) -> None:
    # A shell and, in the middle of its time, its sleep.
    script = "while :; do echo x >>f; sleep 4; done &\nsleep 2"
    run = run_study(study(tmp_path / "s", script), tmp_path / "r")
    (result,) = results(run)
    output = (run / "cases" / result["id"] / "output.log").read_text()
    assert "left 2 processes behind" in output


FOUR = "filesystem=['jffs2', 'ubifs', 'yaffs2', 'logfs']"
ERASED_BELOW = "echo x >a; flash_erase -q /dev/mtd0 0 0; echo y >b; exit 0"


def test_a_file_system_that_was_erased_below_does_not_pass(tmp_path: Path) -> None:
    run = run_study(study(tmp_path / "s", ERASED_BELOW), tmp_path / "r", "--set", FOUR, status=1)
    outcomes, reasons = {}, {}
    for result in results(run):
        name = result["axes"]["filesystem"]
        outcomes[name], reasons[name] = result["outcome"], result["reason"]
        assert "128 erases below the mounted file system" in result["reason"]
        assert result["script"] == {**NOTHING_BELOW, "erased_below": 128}
    # JFFS2 had written nothing yet: what it has in memory is all on the flash in the end.
    assert outcomes == {
        **dict.fromkeys(("ubifs", "yaffs2", "logfs"), "corrupt"),
        "jffs2": "fail",
    }
    assert "2 of 2 names differ: a is gone, b is gone" in reasons["logfs"]


def test_verification_moves_no_figure_and_can_be_left_out(tmp_path: Path) -> None:
    file = study(tmp_path / "s", WRITES)
    ways = "workload.verify=[true, false]"
    verified, other = results(run_study(file, tmp_path / "r", "--set", ways))
    if not verified["axes"]["workload.verify"]:
        verified, other = other, verified
    assert "userland-verify" in {step["verb"] for step in verified["steps"]}
    assert "userland-verify" not in {step["verb"] for step in other["steps"]}
    for name in ("script", "flush"):
        ours, theirs = phases(verified)[name], phases(other)[name]
        for count in ("pages_read", "pages_programmed", "blocks_erased"):
            assert ours[count] == theirs[count], (name, count)


def test_a_tree_of_all_kinds_is_verified(tmp_path: Path) -> None:
    script = """
    mkdir -p d/e && ln -s ../x d/link && mknod d/null c 1 3 && mkfifo d/pipe && : >d/empty
    cp /bin/busybox d/program || cp /bin/sh d/program; ln d/program hard; chmod 4711 hard
    dd if=/dev/zero of=sparse bs=1 count=1 seek=9000000; chown 12:34 d/e
    """
    run = run_study(study(tmp_path / "s", script), tmp_path / "r", "--set", FOUR)
    assert [result["outcome"] for result in results(run)] == 4 * ["pass"]


REPORTS = """
echo "BUG: widget 5 is late"
echo "[    9.000000] kernel BUG at fs/widget.c:1!" >&2
echo "BUG: on the console" >/dev/console
echo "BUG: on the terminal" >/dev/tty0
echo "<0>BUG: in the log" >/dev/kmsg
echo on >/proc/sys/kernel/printk_devkmsg
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo "Oops: log $n"; done >/dev/kmsg
mknod node c 5 1 && echo "BUG: by a node" >node
dmesg | grep -c -e widget -e 'BUG: ' -e Oops
"""


def test_what_a_script_prints_is_no_report_of_the_kernel(tmp_path: Path) -> None:
    """Whichever way it takes: the kernel's log is the kernel's alone."""
    run = run_study(study(tmp_path / "s", f"{REPORTS}true"), tmp_path / "r")
    (result,) = results(run)
    assert (result["outcome"], result["reason"]) == ("pass", "")
    directory = run / "cases" / result["id"]
    console = (directory / "console.log").read_text().splitlines()
    assert "Linux version" in console[0]
    assert not [line for line in console if not line.startswith("[")]
    assert not [line for line in console if "BUG: " in line or "Oops" in line or "widget" in line]
    output = (directory / "output.log").read_text().splitlines()
    begins, ends = output.index(BEGINS), output.index(f"{ENDS} 0")
    assert output[begins + 1 : ends] == [
        *("BUG: widget 5 is late", "[    9.000000] kernel BUG at fs/widget.c:1!"),
        *("BUG: on the console", "BUG: on the terminal", "BUG: in the log"),
        *(f"Oops: log {n}" for n in range(1, 16)),
        *("BUG: by a node", "0"),
    ]


@pytest.mark.parametrize(
    ("flood", "name", "variable", "reason"),
    [
        (
            r"cat /dev/zero | tr '\0' x",
            *("output.log", "FFSLAB_PRINTED_MIB", "its programs printed more than 2 MiB"),
        ),
        (
            "echo on >/proc/sys/kernel/printk_devkmsg; line=$(printf '%0900d' 5)\n"
            "while :; do echo $line; done >/dev/kmsg",
            *("output.log", "FFSLAB_PRINTED_MIB", "its programs printed more than 2 MiB"),
        ),
        (
            """yes '{"v":1,"type":"space"}' >/dev/ttyS0""",
            *("records.jsonl", "FFSLAB_RECORDS_MIB", "its records have more than 2 MiB"),
        ),
    ],
)
def test_a_script_that_floods_a_channel_ends(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    flood: str,
    name: str,
    variable: str,
    reason: str,
) -> None:
    monkeypatch.setenv(variable, "2")
    run = run_study(study(tmp_path / "s", flood), tmp_path / "r", status=1)
    (result,) = results(run)
    assert result["outcome"] == "fail" and result["flash_sha256"] is None
    assert result["reason"] == f"{reason} ({variable} sets how many MiB it may)"
    assert (run / "cases" / result["id"] / name).stat().st_size == 2 * 2**20


PHASE = '{"v":1,"type":"phase","workload":"script","phase":"script","status":"ok",%s}'
PROGRAM = "a program ran in step "
FORGED = {
    "a phase": (PHASE % '"t_start_ns":5,"t_end_ns":1', PROGRAM),
    "a phase with counters": (
        PHASE % '"t_start_ns":1,"t_end_ns":9,"flash_start":{"a":7},"flash_end":{}',
        PROGRAM,
    ),
    "a step": (
        '{"v":1,"type":"step","index":0,"verb":"mount","label":"","t_start_ns":1,"t_end_ns":2,'
        '"status":"ok"}',
        "step 0 behind step ",
    ),
    "the end": (
        '{"v":1,"type":"end","status":"ok","steps_run":1,"steps_total":1,"t_ns":1}',
        PROGRAM,
    ),
    "no record": ("a line of words", "not JSON"),
    "the status": (
        '{"v":1,"type":"file","path":"%s","text":"0","status":"ok"}' % STATUS,  # noqa: UP031
        PROGRAM,
    ),
}


@pytest.mark.parametrize("kind", FORGED)
def test_records_of_a_script_are_damage(tmp_path: Path, kind: str) -> None:
    """Its case is lost, and ffslab goes on."""
    line, why = FORGED[kind]
    script = f"sync\ncat >/dev/ttyS0 <<'END'\n{line}\nEND\n"
    run = run_study(study(tmp_path / "s", script), tmp_path / "r", status=1)
    (result,) = results(run)
    assert result["outcome"] == "crash"
    assert result["reason"].startswith("the records are damaged: line ")
    assert why in result["reason"], result["reason"]


LATENCIES = """
for number in 1 2 3; do echo "line ${number}000" >>"$FFSLAB_LATENCIES"; echo $number >>log; done
"""


def test_a_program_tells_its_own_latencies(tmp_path: Path) -> None:
    run = run_study(study(tmp_path / "s", LATENCIES), tmp_path / "run")
    (result,) = results(run)
    assert result["outcome"] == "pass", result["reason"]
    (own,) = result["latencies"]
    told = {name: own[name] for name in ("phase", "op", "count", "min_ns", "max_ns", "mean_ns")}
    wanted = {"phase": "script", "op": "line", "count": 3}
    assert told == {**wanted, "min_ns": 1000, "max_ns": 3000, "mean_ns": 2000.0}


def test_what_are_no_latencies_is_told(tmp_path: Path) -> None:
    words = 'echo "line 1.5 ms" >"$FFSLAB_LATENCIES"'
    run = run_study(study(tmp_path / "s", words), tmp_path / "run", status=1)
    (result,) = results(run)
    assert "is not latencies: line 1 is 'line 1.5 ms'" in result["reason"]
    assert result["latencies"] == []


def test_a_command_is_a_program_of_the_host(tmp_path: Path) -> None:
    """By its own words, with files that it names beside it, and twice the same."""
    (tmp_path / "rows.txt").write_text("one\ntwo\n")
    words = ("--fs", "ubifs", "--partition-bytes", "16MiB", "-o", "runs")
    for _ in range(2):
        ended = ffslab("exec", *words, "--", "sort", "-r", "rows.txt", "-o", "it's", cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr
    one, other = sorted((tmp_path / "runs").glob("2*"))
    assert (one / "results.jsonl").read_bytes() == (other / "results.jsonl").read_bytes()
    (result,) = results(one)
    assert result["spec"]["workload"]["command"] == "sort -r /script/rows.txt -o 'it'\"'\"'s'"
    assert phases(result)["workload"]["pages_programmed"] > 0
