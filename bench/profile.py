"""`ffslab bench profile`: where the host's time for one case goes.

The case is run by `ffslab run` under perf, which samples the processor 2,000 times a second in all
processes: Python's, the guest's kernel, the guest's programs, and the host's kernel for them. Each
sample belongs to one group by where it was taken; in the host's kernel also by how it was entered.
The group tables below are all there is to it: a function that none of them names is in the rest of
its kernel, so a large rest means that a table has to be extended.

What cannot be told apart: the counter of the CPU model is an instruction in each basic block, so it
is part of all groups of the guest's kernel; what it costs is measured by part `cpu`. Of a chip's
driver and a file system in a module only the whole module is known. Sampling itself costs some
percent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ffslab.errors import InfrastructureError

COLUMNS = 80
HOST_KERNEL = "[kernel.kallsyms]"
_TOP = 3  # functions shown of a group
_REST_OF_GUEST = "rest of the guest's kernel (VFS, page cache, slab)"
_REST_OF_HOST = "rest of the host's kernel (files, processes)"
_PROGRAMS = "the guest's programs (the agent)"
_PYTHON = "Python: ffslab itself"
_OTHER = "starting processes, other programs"

# What a function of the guest's kernel is for; the first pattern that matches the name's beginning.
_GUEST: tuple[tuple[str, str], ...] = (
    ("counting and charging for the CPU model", r"__sanitizer_cov|um_cpu_|due_ps|cpu_model"),
    ("file system: code in the kernel", r"jffs2_|ubifs_|squashfs_|z?erofs_"),
    ("MTD and UBI", r"mtd|ubi_|part_|nand|flash|leb_|schedule_erase|sync_erase"),
    (
        "compression",
        r"zlib_|inflate|deflate|longest_match|fill_window|compress_block|send_tree|scan_tree"
        r"|gen_bitlen|_tr_|tr_|build_tree|pqdownheap|lzo|LZ4|zstd|ZSTD|HUF_|FSE_|HIST_|rtime|rubin",
    ),
    ("checksums", r"crc32|crc16|__crc|sha|crypto_"),
    ("copying and clearing memory", r"memcpy|memset|memmove|copy_|clear_page|__mem|raw_copy"),
    (
        "system calls of the guest: UML's side",
        r"userspace|handle_syscall|interrupt_end|restore_registers|save_registers|save_fp|restore_fp"
        r"|wait_stub|get_skas|put_fp|get_fp|skas|run_syscall|set_stub|syscall_|ptrace"
        r"|um_run_calls|run\Z|find\Z|find_call|ends_queue|may_be_queued|um_syscall_result",
    ),
    (
        "page tables and faults of the guest",
        r"segv|fix_range|flush_tlb|handle_page_fault|virt_to_pte"
        r"|update_pte|os_map|os_unmap|do_.*fault|handle_mm_fault|is_stack",
    ),
    (
        "sleeping, switching tasks, virtual time",
        r"time_travel|deliver_time|__time_travel|hrtimer|__hrtimer|timer_|ktime|tick_|do_idle|arch_cpu_idle"
        r"|schedule|__schedule|__sched|pick_next|enqueue_|dequeue_|update_curr|update_min|switch_|__switch"
        r"|try_to_wake|wake_up|check_preempt|set_next|put_prev|um_set_signals|unblock_signals"
        r"|block_signals|set_signals|sigio|sig_handler|itimer|rcu_|clocksource|sched_|clockevents_"
        r"|(generic_|__|do_)?handle_(irq|edge)|do_IRQ|irq_|__irq|note_interrupt|fast_mix|timerqueue_"
        r"|rb_|cpu_startup|finish_task|resched|clear_buddies|um_timer|um_vtime|__update_load"
        r"|sleep_in_course|end_of_sleep|course_of_sleep|learn_sleep|counts_(now|set|reset)"
        r"|book_runtime|add_(interrupt_)?randomness",
    ),
)
# What the host's kernel was entered for: the outermost of its frames that match.
_HOST: tuple[tuple[str, str], ...] = (
    ("page faults on the host", r"(asm_)?exc_page_fault|handle_mm_fault"),
    (
        "system calls of the guest: ptrace, two switches",
        r"__x64_sys_ptrace|__do_sys_ptrace|kernel_wait4|__x64_sys_wait4|syscall_trace_enter"
        r"|syscall_exit_work|syscall_exit_to_user_mode|exit_to_user_mode_loop|ptrace_|exc_int3"
        r"|arch_do_signal",
    ),
    ("mapping memory on the host", r"(__x64_sys_|ksys_)(mmap|munmap|mprotect)"),
)


@dataclass(frozen=True, slots=True)
class Frame:
    """A place of a program: address, function ("" if not known), file."""

    address: int
    function: str
    file: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample: the process's name, where it was, and who called that in the host's kernel."""

    process: str
    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class Module:
    """Where a module of the guest's kernel is, from its /proc/modules."""

    name: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: a group, its share of all samples, its most frequent functions."""

    group: str
    share: float
    functions: tuple[tuple[str, float], ...]


_FRAME = re.compile(r"\s*(?P<address>[0-9a-f]+) (?P<function>.*?) \((?P<file>.*)\)$")
_LEAF = re.compile(r"\s*(?P<process>.*?)\s+(?P<frame>[0-9a-f]+ .* \(.*\))$")


def parse_samples(leaves: str, chains: str) -> tuple[Sample, ...]:
    """The samples of `perf script -F comm,ip,sym,dso`, without (-G) and with the callers.

    Only without them perf tells addresses as the processor has them, by which a guest's modules are
    known. InfrastructureError if the two are not of the same samples, or are no such texts.
    """
    first = [_leaf(line) for line in leaves.splitlines() if line.strip()]
    blocks = [block for block in re.split(r"\n[ \t]*\n", chains.strip("\n")) if block.strip()]
    if not first or len(first) != len(blocks):
        raise _not_understood(f"{len(first)} samples, {len(blocks)} chains of callers")
    samples = []
    for (process, leaf), block in zip(first, blocks, strict=True):
        known, *callers = [_frame(line) for line in block.splitlines()[1:]] or [leaf]
        if known.function != leaf.function:
            raise _not_understood(f"{leaf.function} and {known.function} in one sample")
        samples.append(Sample(process, (leaf, *callers)))
    return tuple(samples)


def parse_modules(text: str) -> tuple[Module, ...]:
    """The lines of /proc/modules: name, bytes, users, by whom, state, address."""
    modules = []
    for line in text.splitlines():
        words = line.split()
        if len(words) < 6:
            raise _not_understood(f"/proc/modules of the guest says {line!r}")
        begin = int(words[5], 16)
        modules.append(Module(words[0], begin, begin + int(words[1])))
    return tuple(modules)


def group_of(sample: Sample, modules: Sequence[Module] = ()) -> str:
    """The one group that a sample belongs to."""
    leaf = sample.frames[0]
    if sample.process != "linux":
        return _PYTHON if sample.process == "python" else _OTHER
    if leaf.file == HOST_KERNEL:
        callers = [frame.function for frame in sample.frames if frame.file == HOST_KERNEL]
        return _named(_HOST, reversed(callers)) or _REST_OF_HOST
    if leaf.file.endswith("/linux"):
        return _named(_GUEST, [leaf.function]) or _REST_OF_GUEST
    if "(deleted)" in leaf.file:  # the guest's RAM
        module = next((m for m in modules if m.begin <= leaf.address < m.end), None)
        return f"module {module.name}" if module else _PROGRAMS
    if "/libc" in leaf.file:
        return _named(_HOST, ["ptrace_" + leaf.function]) or _OTHER
    return _OTHER


def _named(groups: Sequence[tuple[str, str]], functions: Iterable[str]) -> str:
    for function in functions:
        for group, pattern in groups:
            if re.match(pattern, function):
                return group
    return ""


def table(samples: Sequence[Sample], modules: Sequence[Module]) -> tuple[Row, ...]:
    """The groups, those with most samples first."""
    groups: dict[str, dict[str, int]] = {}
    for sample in samples:
        functions = groups.setdefault(group_of(sample, modules), {})
        name = sample.frames[0].function
        functions[name] = functions.get(name, 0) + 1
    rows = [
        Row(
            group,
            sum(functions.values()) / len(samples),
            tuple((name, count / len(samples)) for name, count in _most(functions)),
        )
        for group, functions in groups.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.share, row.group)))


def _most(functions: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    known = ((name, count) for name, count in functions.items() if name)
    yield from sorted(known, key=lambda item: (-item[1], item[0]))[:_TOP]


def format_rows(rows: Sequence[Row], cpu_s: float) -> str:
    """The table for a terminal of 80 columns; `cpu_s` is what the whole took of the host's CPU."""
    lines = [f"{'':<54} {'share':>6} {'CPU':>8}"]
    for row in rows:
        lines.append(f"{row.group:<54.54} {row.share:6.1%} {row.share * cpu_s:6.2f} s")
        if told := _fitting([f"{name} {share:.1%}" for name, share in row.functions]):
            lines.append(f"    {told}")
    return "\n".join(lines)


def _fitting(words: Sequence[str]) -> str:
    """As many of the words as there is room for; of the first what fits."""
    told = ""
    for word in words:
        longer = f"{told}, {word}" if told else word[: COLUMNS - 4]
        if len(longer) > COLUMNS - 4:
            break
        told = longer
    return told


def _leaf(line: str) -> tuple[str, Frame]:
    match = _LEAF.fullmatch(line)
    if match is None:
        raise _not_understood(repr(line))
    return match["process"], _frame(match["frame"])


def _frame(line: str) -> Frame:
    match = _FRAME.fullmatch(line)
    if match is None:
        raise _not_understood(repr(line))
    function = match["function"]
    return Frame(
        int(match["address"], 16), "" if function == "[unknown]" else function, match["file"]
    )


def _not_understood(what: str) -> InfrastructureError:
    return InfrastructureError(
        f"perf's samples cannot be understood: {what}",
        cause="another version of perf writes them otherwise, or its file is damaged",
        remedy="repeat it; then compare `perf script -F comm,ip,sym,dso` with bench/profile.py",
    )
