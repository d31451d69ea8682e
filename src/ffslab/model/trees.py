"""Workload `tree`: its words, its distributions, and what of them cannot be.

A case's steps are words; each is a measured phase. The n-th time a word is used, its phase is
called `WORD-n`, the first time `WORD`. What stands before `crash` or `restart` runs in a guest of
its own, whose flash the case's guest gets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.errors import SpecError
from ffslab.model.specs import InitialState, MountSetup, Tree
from ffslab.model.units import format_size, parse_size

MOUNT, UNMOUNT = "mount", "unmount"
SPLITS = ("crash", "restart")
WRITING = ("warm", "create", "copy", "delete", "log")
WORDS = (
    *(MOUNT, UNMOUNT, "settle", "sync", "drop", *WRITING, "list", "find", "check"),
    *SPLITS,
)
ENTRIES_MAX = 2_000_000  # what a mean tree may have; the agent counts the tree itself
DEPTH_MAX = 400  # a path of such directories is below the kernel's PATH_MAX
_LARGEST = 2**31 - 1
_SYNTAX = re.compile(r"(constant|uniform|normal)\(([^,()]+)(?:,([^,()]+))?\)")
_NAMES = {"constant": ("N",), "uniform": ("LOW", "HIGH"), "normal": ("MEAN", "DEVIATION")}


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution of whole numbers: its kind and its one or two numbers, in thousandths."""

    kind: str
    thousandths: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.kind}({','.join(_decimal(number) for number in self.thousandths)})"

    @property
    def mean(self) -> float:
        """What a draw is on average, before it is rounded and cut at 0."""
        first, last = self.thousandths[0], self.thousandths[-1]
        return (first + last) / 2000 if self.kind == "uniform" else first / 1000

    @property
    def largest(self) -> float:
        """What practically no draw exceeds."""
        spread = 5 * self.thousandths[1] if self.kind == "normal" else 0
        first = self.thousandths[-1] if self.kind == "uniform" else self.thousandths[0]
        return (first + spread) / 1000


def _decimal(thousandths: int) -> str:
    whole, rest = divmod(thousandths, 1000)
    return f"{whole}.{rest:03d}".rstrip("0").rstrip(".") if rest else str(whole)


def parse_distribution(value: Any) -> Distribution:
    """A number, or `constant(N)`, `uniform(LOW,HIGH)`, `normal(MEAN,DEVIATION)`; ValueError.

    Numbers are decimal with up to three places, or sizes with a unit such as `10 KiB`.
    """
    text = f"constant({value})" if isinstance(value, (int, float)) else str(value).strip()
    if not isinstance(value, bool) and "(" not in text:
        text = f"constant({text})"
    match = _SYNTAX.fullmatch(text.replace(", ", ","))
    if isinstance(value, bool) or match is None:
        raise ValueError(
            f"{value!r} is no distribution: a number, uniform(LOW, HIGH), or "
            "normal(MEAN, DEVIATION)"
        )
    kind = match[1]
    words = [word for word in (match[2], match[3]) if word is not None]
    if len(words) != len(_NAMES[kind]):
        raise ValueError(f"{value!r}: {kind} takes {' and '.join(_NAMES[kind])}")
    numbers = tuple(_thousandths(word.strip()) for word in words)
    if kind == "uniform" and numbers[0] > numbers[1]:
        raise ValueError(f"{value!r}: LOW is above HIGH")
    return Distribution(kind, numbers)


def _thousandths(word: str) -> int:
    if re.fullmatch(r"[0-9]+(\.[0-9]{1,3})?", word):
        whole, _, rest = word.partition(".")
        number = int(whole) * 1000 + int(rest.ljust(3, "0"))
    elif re.fullmatch(r"[0-9.]+ *[A-Za-z]+", word):
        number = parse_size(word) * 1000
    else:
        raise ValueError(
            f"{word} is below 0"
            if re.fullmatch(r"-[0-9.]+.*", word)
            else f"{word} is no number: write digits, with up to three behind a point, or a size "
            'such as "10 KiB"'
        )
    if number > _LARGEST * 1000:
        raise ValueError(f"{word} is above {_LARGEST}")
    return number


@dataclass(frozen=True, slots=True)
class Step:
    """One word of a case: its place, the how manieth of its kind, and the tree it is about."""

    index: int
    word: str
    number: int
    subject: str = ""  # create, delete, copy, check, log: a directory below the mount point
    source: str = ""  # copy: what is copied; empty: all that the image holds

    @property
    def phase(self) -> str:
        """The name of its phase."""
        return self.word if self.number == 1 else f"{self.word}-{self.number}"

    def phase_of(self, part: str) -> str:
        """The name of a part's phase: of UBI's attach before a mount, of its detach."""
        return part if self.number == 1 else f"{part}-{self.number}"


def steps_of(workload: Tree) -> tuple[Step, ...]:
    """The words with their phases and directories; what they mean together is not checked."""
    counts: dict[str, int] = {}
    trees: list[str] = []
    steps = []
    for index, word in enumerate(workload.steps.split()):
        number = counts[word] = counts.get(word, 0) + 1
        subject, source = "", ""
        if word == "create":
            subject = f"tree-{number}"
            trees.append(subject)
        elif word == "log":
            subject = f"log-{number}"
        elif word == "copy":
            subject, source = f"copy-{number}", trees[-1] if trees else ""
        elif word == "check" and trees:
            subject = trees[-1]
        elif word == "delete" and trees:
            subject = trees.pop()
        steps.append(Step(index, word, number, subject, source))
    return tuple(steps)


def split_steps(workload: Tree) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """The steps of the preparing guest, with the word that ends it, and those of the case's own."""
    steps = steps_of(workload)
    for step in steps:
        if step.word in SPLITS:
            return steps[: step.index + 1], steps[step.index + 1 :]
    return (), steps


def check_tree(
    workload: Tree, state: InitialState, setup: MountSetup, partition_bytes: int, where: str
) -> None:
    """SpecError for words or a tree that cannot be."""
    problems = [
        *_state_problems(state, setup),
        *_word_problems(workload.steps.split(), state),
        *_writing_problems(workload.steps.split(), setup),
        *_shape_problems(workload, partition_bytes),
    ]
    if problems:
        message, cause, remedy = problems[0]
        raise SpecError(f"{where}: {message}", cause=cause, remedy=remedy)


Problems = Iterator[tuple[str, str, str]]


def _state_problems(state: InitialState, setup: MountSetup) -> Problems:
    if state.kind not in ("free", "image"):
        yield (
            f"workload tree begins with an erased flash or an image, not with state {state.name!r}",
            "aged, saturated and filled states belong to workloads ffsmark and micro",
            'state = "free" or "image"; the step warm fills the partition and makes all invalid',
        )
    if state.kind == "image" and setup.image is None:
        yield (
            f"no image of {setup.name} can be built",
            "its catalog file has no [image] table",
            'state = "free"',
        )
    if state.kind == "free" and setup.image and setup.image.read_only:
        yield (
            f"{setup.name} is read-only: it needs an image",
            "an erased flash holds no file system that could be mounted",
            'state = "image"',
        )


def _word_problems(words: Sequence[str], state: InitialState) -> Problems:
    cause = "the order of the words of workload.steps"
    mounted = False
    trees = 0
    for number, word in enumerate(words, 1):
        here = f"step {number}, {word!r}"
        if word not in WORDS:
            yield (
                f"{here} is no word of workload.steps",
                f"the words: {' '.join(WORDS)}",
                "change it",
            )
        elif word == MOUNT and mounted:
            yield f"{here}: the file system is mounted already", cause, "unmount before it"
        elif word not in (MOUNT, "restart") and not mounted:
            yield f"{here}: the file system is not mounted", cause, "mount before it"
        elif word == "restart" and mounted:
            yield f"{here}: the file system is mounted", cause, "unmount before it, or crash"
        elif word == "restart" and MOUNT not in words[:number]:
            yield f"{here}: nothing has been mounted", cause, "mount and unmount before it"
        elif word == "check" and not trees:
            yield f"{here}: no tree has been created", cause, "create before it"
        elif word in ("delete", "copy") and not trees and state.kind != "image":
            yield f"{here}: there is no tree", cause, "create before it"
        mounted = word == MOUNT or (mounted and word not in (UNMOUNT, "crash"))
        trees += (word == "create") - (word == "delete" and trees > 0)
    if not words or mounted:
        yield "the steps do not end with the file system unmounted", cause, "unmount at the end"
    splits = [word for word in words if word in SPLITS]
    if len(splits) > 1 or words[-1:] in (["crash"], ["restart"]):
        yield (
            f"{' and '.join(splits)} in one case",
            "at most one of crash and restart, with steps after it",
            "make two studies, or two parts of one",
        )


def _writing_problems(words: Sequence[str], setup: MountSetup) -> Problems:
    writing = [word for word in words if word in WRITING]
    if writing and setup.image and setup.image.read_only:
        yield (
            f"{setup.name} is read-only: it has no step {writing[0]!r}",
            "steps that write are for file systems that can be written",
            f"leave {', '.join(dict.fromkeys(writing))} out: a [[part]] for {setup.name}",
        )


def _shape_problems(workload: Tree, partition_bytes: int) -> Problems:
    if "create" not in workload.steps.split():
        return
    depth = parse_distribution(workload.depth)
    cause = "workload.depth, directories and files multiply"
    if depth.largest > DEPTH_MAX:
        yield (
            f"a tree {depth.largest:g} levels deep has paths longer than the kernel takes",
            f"at most {DEPTH_MAX} levels fit into a path of 4,095 bytes",
            f"workload.depth of at most {DEPTH_MAX}",
        )
        return
    directories, files = mean_shape(workload)
    if directories + files > ENTRIES_MAX:
        yield (
            f"a tree of about {directories + files:,.0f} files and directories is too wide or deep",
            f"{cause}; at most {ENTRIES_MAX:,} are possible",
            "a smaller workload.depth or workload.directories",
        )
    size = files * parse_distribution(workload.size).mean
    if workload.contents == "random" and size > partition_bytes:
        yield (
            f"a tree of about {files:,.0f} files with {size:,.0f} bytes is larger than the "
            f"partition of {format_size(partition_bytes)}",
            "random contents cannot be compressed",
            "a larger partition_bytes, fewer or smaller files",
        )
    if workload.compressibility_percent and workload.contents != "compressible":
        yield (
            f"compressibility_percent = {workload.compressibility_percent} with contents "
            f"= {workload.contents!r}",
            "only compressible contents have it",
            'contents = "compressible"',
        )


def mean_shape(workload: Tree) -> tuple[float, float]:
    """How many directories and files a created tree has on average: an estimate."""
    branches = parse_distribution(workload.directories).mean
    level, directories = 1.0, 1.0
    for _ in range(round(parse_distribution(workload.depth).mean)):
        level *= branches
        directories += level
        if directories > 1e15:
            break
    return directories, directories * parse_distribution(workload.files).mean
