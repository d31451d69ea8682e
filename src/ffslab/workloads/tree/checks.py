"""Which steps and trees of workload `tree` cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ffslab.errors import SpecError
from ffslab.model.specs import InitialState, MountSetup
from ffslab.model.units import format_size
from ffslab.model.workload import Setting
from ffslab.workloads.contents import fits, share_problem
from ffslab.workloads.tree.distribution import parse_distribution
from ffslab.workloads.tree.keys import Tree
from ffslab.workloads.tree.steps import MOUNT, SPLITS, UNMOUNT, WORDS, WRITING

ENTRIES_MAX = 2_000_000  # what a mean tree may have; the agent counts the tree itself
DEPTH_MAX = 400  # a path of such directories is below the kernel's PATH_MAX


def check_tree(workload: Tree, setting: Setting) -> None:
    """SpecError for words or a tree that cannot be."""
    words = workload.steps.split()
    problems = [
        *_state_problems(setting.state, setting.setup),
        *_word_problems(words, setting.state),
        *_writing_problems(words, setting.setup),
        *_read_problems(words, workload.read_files),
        *_shape_problems(workload, setting.partition_bytes),
    ]
    if problems:
        message, cause, remedy = problems[0]
        raise SpecError(f"{setting.where}: {message}", cause=cause, remedy=remedy)


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
                f"{here} is not a word of workload.steps",
                f"a misspelt word; valid: {' '.join(WORDS)}",
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
    for word, after in pairwise([*words, ""]):
        if word in SPLITS and after in ("", *SPLITS):
            yield (
                f"{word!r} without a step after it",
                "steps for the guest after it are missing",
                f"steps after {word}, or leave it out",
            )


def _writing_problems(words: Sequence[str], setup: MountSetup) -> Problems:
    writing = [word for word in words if word in WRITING]
    if writing and setup.image and setup.image.read_only:
        yield (
            f"{setup.name} is read-only: it has no step {writing[0]!r}",
            "steps that write are for file systems that can be written",
            f"leave {', '.join(dict.fromkeys(writing))} out: a [[part]] for {setup.name}",
        )


def _read_problems(words: Sequence[str], read_files: str) -> Problems:
    if "read" in words and not read_files:
        yield (
            "the step read has no files to read",
            "workload.read_files is not given",
            "read_files = a text with a path per line, from the top of the file system",
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
            f"{cause}; at most {ENTRIES_MAX:,}",
            "a smaller workload.depth or workload.directories",
        )
    size = files * parse_distribution(workload.size).mean
    if not fits(workload, round(size), partition_bytes):
        yield (
            f"a tree of about {files:,.0f} files with {size:,.0f} bytes is larger than the "
            f"partition of {format_size(partition_bytes)}",
            f"no file system makes {workload.contents} contents so small",
            "a larger partition_bytes, fewer or smaller files",
        )
    problem = share_problem(workload)
    if problem is not None:
        yield problem


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
