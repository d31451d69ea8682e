"""Fuzz runs of our file systems in the debug kernel: the host's side.

A run is cut into jobs, one boot each: a base image (how the file system was made and used
before it is damaged), a seed and a range of mutations. The guest's program `fsfuzz`
(tests/lab/guest/fsfuzz) makes the base image, then damages, mounts and uses it over and over,
and announces each mutation in the kernel's log before it is tried. So the log says which one
was guilty. What ends a guest does not end the job: a new guest goes on behind the guilty one.

The judge is the console: any report of KASAN, UBSAN, lockdep, kmemleak or the kernel itself, a
rule of the chip that was broken, a guest that says nothing more.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from guest_programs import NIGHTLY
from lab_support import ROOT, cases

from ffslab.lab import ensure_lab
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.protocol.plan import encode
from ffslab.results.console import KernelMessage, scan_console
from ffslab.targets.target import CONSOLE_NAME, OUTPUT_NAME
from ffslab.targets.uml.directory import write_guest_directory
from ffslab.targets.uml.guests import BATCH_CONSOLE, kernel_arguments
from ffslab.targets.uml.launch import GuestCommand, kill_group, start_guest

SOURCE = ROOT / "tests" / "lab" / "guest" / "fsfuzz"
RAM_BYTES = 256 * 2**20
# Wall time without a word, after which a guest hangs. A mutation takes some hundredths of a second.
SILENCE_S = 90.0
# A module that is broken everywhere is not worth all the boots.
MAX_FAILURES = 6
EXCERPT_LINES = 100

_CHIP = (
    "chip=name=fuzz;page_bytes={page_bytes};oob_bytes=64;subpages=1;pages_per_block={pages};"
    "blocks={blocks};nop=1;ordered=1;t_read_ns=0;t_prog_ns=0;t_erase_ns=0;store=ram;"
    "parts=data@0+{blocks}"
)
# At least 60 blocks: YAFFS2 writes no checkpoint on fewer.
_SMALL = _CHIP.format(page_bytes=1024, pages=16, blocks=72)
_LARGE = _CHIP.format(page_bytes=2048, pages=32, blocks=64)
# LogFS needs 27 segments of at least 128 KiB.
_SEGMENTS = _CHIP.format(page_bytes=2048, pages=64, blocks=40)
_LARGE_PAGES = _CHIP.format(page_bytes=4096, pages=32, blocks=40)

# Of the chip of the base image "faulty", which is otherwise that of "plain": programs and erases
# that fail, and bits that the chip's ECC corrects or not.
FAULTS = "program_fail_ppm=3000;erase_fail_ppm=3000;rber_e12=10000000"


@dataclass(frozen=True)
class FileSystem:
    """What is fuzzed: `bases` are how base images are made, and on which chip.

    Of the mount options each is drawn with a chance of its own, the first most often.
    """

    type: str
    module: str | None
    test: str
    bases: Mapping[str, str]
    options: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ("original",)
    source: str = "mtd:data"


YAFFS2 = FileSystem(
    type="yaffs2",
    module="yaffs",
    test="tests/lab/test_yaffs_fuzz.py",
    bases={
        "plain": _SMALL,
        "scan": _SMALL,
        "inband": _SMALL,
        "churned": _LARGE,
        "many": _SMALL,
        "full": _SMALL,
        "live": _SMALL,
        "faulty": _SMALL,
    },
    options=(
        "no-checkpoint-read",
        "no-checkpoint-write",
        "no-checkpoint",
        "disable-summary",
        "lazy-loading-off",
        "tags-ecc-off",
        "empty-lost-and-found-off",
        "no-cache",
        "gc=predict",
        "gc_bound_us=10000",
    ),
    layouts=("original", "segregated"),
)
LOGFS = FileSystem(
    type="logfs",
    module="logfs",
    test="tests/lab/test_logfs_fuzz.py",
    bases={
        "plain": _SEGMENTS,
        "deep": _SEGMENTS,
        "compressed": _LARGE_PAGES,
        "churned": _SEGMENTS,
        "many": _SEGMENTS,
        "full": _LARGE_PAGES,
        "live": _SEGMENTS,
        "faulty": _SEGMENTS,
    },
    options=("compress",),
)

# What `scan_console` does not look for, because no case of a study runs into it.
_REPORTS = re.compile(
    r"UBSAN: |KASAN: |BUG |INFO: (possible|trying|rcu)|kmemleak: \d+ new|kmemleak:.*disabled|"
    r"\bWARNING: |page allocation failure|vmalloc error|Out of memory|oom-killer|"
    r"Busy inodes|list_(add|del) corruption|refcount_t:|fsfuzz: FINDING|fsfuzz: cannot go on|"
    r"option \S+ is refused"
)
# Without frame pointers all addresses of a trace are marked so.
_UNRELIABLE = re.compile(
    r"\[<[0-9a-f]+>\] \? (__asan_|__sanitizer_|kasan_|dump_|show_stack|print_)"
)
_MUTATION = re.compile(r"fsfuzz: #(\d+) (.*)")
_DONE = re.compile(r"fsfuzz: done: (.*)")
_BASE = re.compile(r"fsfuzz: base image: (.*)")


@dataclass(frozen=True)
class Job:
    """Mutations `first` to `first + count - 1` of `seed` on the image `base`: one boot."""

    filesystem: FileSystem
    base: str
    seed: int
    first: int
    count: int
    leaks: bool = False
    layout: str = "original"

    def __str__(self) -> str:
        words = f"base={self.base} seed={self.seed} first={self.first} count={self.count}"
        return words if self.layout == "original" else f"{words} layout={self.layout}"


@dataclass(frozen=True)
class Failure:
    """A report on a console, or a guest that did not come to its end."""

    job: Job
    kind: str
    text: str
    excerpt: tuple[str, ...]
    number: int | None  # of the guilty mutation; None before the first and after the last
    description: str

    def __str__(self) -> str:
        if self.number is None:
            replay, guilty = replace(self.job, leaks=True), "no single mutation"
        else:
            replay = replace(self.job, first=self.number, count=1)
            guilty = f"mutation {self.number}: {self.description}"
        return "\n".join(
            [
                f"{self.kind}: {self.text}",
                f"  {guilty}",
                f"  replay: {REPLAY_VARIABLE}='{replay}{' leaks=1' if replay.leaks else ''}'"
                f" ./ffslab test {self.job.filesystem.test}",
                *(f"    {line}" for line in self.excerpt),
            ]
        )


REPLAY_VARIABLE = "FFSLAB_FUZZ"


@dataclass
class Outcome:
    """What a job's boots found; `counts` adds up what `fsfuzz` counted.

    `base_THINGS` are those of the base images.
    """

    failures: list[Failure] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, other: Outcome) -> None:
        self.failures += other.failures
        for key, value in other.counts.items():
            self.counts[key] = self.counts.get(key, 0) + value


def parse_job(filesystem: FileSystem, text: str) -> Job:
    """The job of a replay: `base=plain seed=1 first=17 count=1 leaks=1`."""
    words = dict(word.split("=", 1) for word in text.split())
    numbers = {key: int(value) for key, value in words.items() if key not in ("base", "layout")}
    return Job(
        filesystem,
        words["base"],
        numbers.get("seed", 1),
        numbers.get("first", 0),
        numbers.get("count", 1),
        bool(numbers.get("leaks", 0)),
        words.get("layout", "original"),
    )


def build(directory: Path, *, sanitize: bool = False) -> Path:
    """Builds `fsfuzz`; with `sanitize` one that checks itself, for the host."""
    command = ["make", "-s", "-C", str(SOURCE), f"O={directory}"]
    subprocess.run([*command, "SANITIZE=1"] if sanitize else command, check=True)
    return directory / "fsfuzz"


def chosen_jobs(filesystem: FileSystem, daily: int, nightly: int, rounds: int) -> list[Job]:
    """Every base image in turn, in all layouts; or what the environment asks for.

    `daily` and `nightly` are the mutations of each job, `rounds` the seeds of the nightly form.
    """
    replay = os.environ.get(REPLAY_VARIABLE)
    if replay:
        return [parse_job(filesystem, replay)]
    first = int(os.environ.get("FFSLAB_FUZZ_SEED", "1000")) if NIGHTLY else 1
    return [
        Job(filesystem, base, seed, 0, nightly if NIGHTLY else daily, layout=layout)
        for seed in range(first, first + (rounds if NIGHTLY else 1))
        for base in filesystem.bases
        for layout in filesystem.layouts
    ]


def plan_of(job: Job) -> str:
    filesystem = job.filesystem
    words = [
        "run",
        f"--base={'plain' if job.base == 'faulty' else job.base}",
        f"--seed={job.seed}",
        f"--first={job.first}",
        f"--count={job.count}",
        f"--chip={filesystem.bases[job.base]}",
        f"--type={filesystem.type}",
        f"--source={filesystem.source}",
        f"--options={','.join(filesystem.options)}",
        "--vnand=/lab/vnand.ko",
    ]
    if filesystem.module:
        words += [f"--module=/lab/{filesystem.module}.ko", f"--name={filesystem.module}"]
    if job.layout != "original":
        words.append(f"--always=layout={job.layout}")
    if job.base == "faulty":
        words.append(f"--faults={FAULTS}")
    if job.leaks:
        words.append("--leaks")
    return f"ffsplan 1\nexec path=/fsfuzz args={encode(' '.join(words))}\n"


def _case() -> Case:
    """Any case: of it only the guest's memory matters."""
    case = cases()["jffs2-free-s1"]
    chip = replace(case.board.chip, blocks=case.partition_blocks)
    return replace(case, board=replace(case.board, chip=chip, ram_bytes=RAM_BYTES), cpu_scale=0)


def _boot(lab: LabBuild, program: Path, directory: Path, plan: str) -> tuple[str, bool]:
    """Boots a guest; its console, and whether it hung and was killed."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    case = _case()
    write_guest_directory(directory, lab, case, plan, {"/fsfuzz": program})
    console = directory / CONSOLE_NAME
    console.touch()
    # The program loads the modules by itself, with other arguments for each mutation.
    command = GuestCommand((*kernel_arguments(case, BATCH_CONSOLE), "host=open"))
    # In one file, since the order matters: a report belongs to the mutation before it.
    apart = f">>{OUTPUT_NAME} 2>>{CONSOLE_NAME}"
    assert apart in command.script
    process = start_guest(command.script.replace(apart, f">>{CONSOLE_NAME} 2>&1"), directory)
    size, since, hangs = 0, time.monotonic(), False
    try:
        while process.poll() is None and not hangs:
            time.sleep(0.2)
            if console.stat().st_size != size:
                size, since = console.stat().st_size, time.monotonic()
            hangs = time.monotonic() - since > SILENCE_S
    finally:
        kill_group(process)
        process.wait()
    return console.read_text(errors="replace"), hangs


def excerpt_of(lines: Sequence[str], line: int) -> tuple[str, ...]:
    """What belongs to the report in `line`: without addresses that only lie on the stack."""
    window = [text for text in lines[max(0, line - 3) :] if not _UNRELIABLE.search(text)]
    return tuple(window[:EXCERPT_LINES])


def first_report(console: str) -> KernelMessage | None:
    """The first line of a console that reports something.

    Broken rules of the chip are left to `fsfuzz`, which knows when there is an excuse.
    """
    lines = console.splitlines()
    known = [message for message in scan_console(console) if message.kind != "rule violation"]
    numbers = [message.line for message in known]
    numbers += [n for n, line in enumerate(lines, 1) if _REPORTS.search(line)]
    if not numbers:
        return None
    line = min(numbers)
    kind = next((message.kind for message in known if message.line == line), "report")
    text = lines[line - 1].strip()
    if "rule violations" in text:
        # The chip has told it with the stack, at the time.
        start = max(n for n, t in enumerate(lines[:line], 1) if _MUTATION.search(t))
        broken = [n for n, t in enumerate(lines, 1) if n > start and "vnand: rule violation" in t]
        return KernelMessage(
            "crash", kind, line, text, excerpt_of(lines, min(broken, default=line))
        )
    return KernelMessage("crash", kind, line, text, excerpt_of(lines, line))


def announced(lines: Iterable[str]) -> tuple[int | None, str]:
    """Number and description of the last mutation that `lines` announce."""
    number, description = None, ""
    for line in lines:
        if match := _MUTATION.search(line):
            number, description = int(match[1]), match[2]
        elif "fsfuzz: #end" in line:
            number, description = None, ""
    return number, description


def judge(job: Job, console: str, hangs: bool) -> Outcome:
    """What the console of one boot says."""
    outcome = Outcome()
    lines = console.splitlines()
    done = _DONE.search(console)
    report = first_report(console)
    if done:
        words = done[1].split()
        outcome.counts = {
            key: int(value) for key, value in zip(words[::2], words[1::2], strict=True)
        }
        for line in _BASE.findall(console):
            for value, things in re.findall(r"(\d+) ([a-z]+)", line):
                outcome.add(Outcome(counts={f"base_{things}": int(value)}))
    if report is not None:
        number, description = announced(lines[: report.line])
        kind, text, excerpt = report.kind, report.text, report.excerpt
    elif hangs or not done:
        number, description = announced(lines)
        kind = "hang" if hangs else "early end"
        text = (
            f"silent for {SILENCE_S:.0f} s" if hangs else "the guest ended before the last mutation"
        )
        excerpt = tuple(lines[-20:])
    else:
        return outcome
    outcome.failures.append(Failure(job, kind, text, excerpt, number, description))
    return outcome


def run_job(lab: LabBuild, program: Path, directory: Path, job: Job) -> Outcome:
    """Runs a job to its end, with a new boot behind each mutation that was guilty."""
    outcome = Outcome()
    rest = job
    while True:
        console, hangs = _boot(lab, program, directory, plan_of(rest))
        found = judge(rest, console, hangs)
        outcome.add(found)
        done = "mutations" in found.counts
        number = announced(console.splitlines())[0] if not done else None
        if number is None or len(outcome.failures) >= MAX_FAILURES:
            return outcome
        rest = replace(rest, first=number + 1, count=rest.first + rest.count - number - 1)
        if not rest.count:
            return outcome


def run_jobs(
    lab: LabBuild,
    program: Path,
    directory: Path,
    jobs: Iterable[Job],
    workers: int | None = None,
) -> Outcome:
    """Runs jobs side by side, one guest on each core."""
    outcome = Outcome()
    numbered = list(enumerate(jobs))

    def one(item: tuple[int, Job]) -> Outcome:
        place = directory / str(item[0])
        found = run_job(lab, program, place, item[1])
        print(f"{item[1]}: {len(found.failures)} failures, {found.counts}", flush=True)
        if not found.failures:
            shutil.rmtree(place)
        return found

    with ThreadPoolExecutor(workers or len(os.sched_getaffinity(0))) as pool:
        for found in pool.map(one, numbered):
            outcome.add(found)
    return outcome


def run_in_checking_kernel(directory: Path, jobs: Sequence[Job]) -> Outcome:
    """In the kernel with KASAN, lockdep and kmemleak, nightly: to build it takes five minutes."""
    lab = ensure_lab("debug" if NIGHTLY else "default")
    return run_jobs(lab, build(directory / "build"), directory, jobs)


def assert_got_through(counts: Mapping[str, int], jobs: Sequence[Job]) -> None:
    """Most images are mounted and used, whatever the file system, by the rules of the chip."""
    assert counts["mutations"] == sum(job.count for job in jobs)
    assert counts["mounted"] > 0.6 * counts["mounts"], counts
    assert counts["calls_good"] > counts["calls_failed"], counts
    assert counts["calls_good"] > 100 * counts["mutations"], counts
    assert counts["violations"] == 0, counts
