"""The settings of workload `tree`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ffslab.model.specs import Scalar
from ffslab.model.workload import Form, Workload, key
from ffslab.workloads.contents import Contents, compressibility_key, contents_key
from ffslab.workloads.tree.distribution import DISTRIBUTION, parse_distribution

_WORDS = Form(str, lambda text: " ".join(text.split()))
_LINE = re.compile(r"/*[^/\x00\t][^\x00\t]*(\t\d{1,18})?")


def read_list(text: str) -> str:
    """The lines of a list of files without blanks around them; ValueError for what is no line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if not _LINE.fullmatch(line):
            raise ValueError(f"{line!r} is not a path, or a path, a tab and a number of bytes")
    return "\n".join(lines)


_CREATE = "the step create in workload.steps"
_LIST = "the step list or find in workload.steps"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree(Workload):
    """Parameters of a list of steps on a file system with directory trees.

    `files` and `directories` of each directory, `size` of a file in bytes and `depth` are
    distributions.
    """

    kind: str = key("tree", "the workload")
    steps: str = key(
        "mount create unmount mount list find delete unmount",
        "words separated by spaces, each a measured phase",
        form=_WORDS,
    )
    files: str = key("normal(4,1)", "files of each directory", form=DISTRIBUTION, needs=_CREATE)
    directories: str = key(
        "normal(3,1)", "sub-directories of each directory", form=DISTRIBUTION, needs=_CREATE
    )
    size: str = key("normal(1024,64)", "size of a file, bytes", form=DISTRIBUTION, needs=_CREATE)
    depth: str = key(
        "constant(5)",
        "levels of directories below the tree's top",
        form=DISTRIBUTION,
        needs=_CREATE,
    )
    contents: Contents = contents_key(meaning="what is in the files", needs=_CREATE, later=False)
    compressibility_percent: int = compressibility_key(needs=_CREATE, later=False)
    write_bytes: int = key(
        4096,
        "unit of write(), bytes; at most 64 MiB",
        lowest=1,
        highest=2**26,
        needs="the step create or log in workload.steps",
        changes="setting",
    )
    sync: bool = key(False, "fsync() of each created file", needs=_CREATE, changes="setting")
    list_stat: bool = key(
        True, "list and find lstat() every entry, as busybox does", needs=_LIST, changes="setting"
    )
    find_name: str = key(
        "no-such-name",
        "what find looks for",
        pattern=r"^[^/\x00]{1,255}$",
        needs="the step find in workload.steps",
    )

    read_files: str = key(
        "",
        "what read reads: a path per line, and after a tab how many bytes of it",
        form=Form(str, read_list),
        needs="the step read in workload.steps",
    )

    def axis_value(self, name: str) -> Scalar:
        """A key's value as a point of an axis: a constant distribution is its number."""
        value: Scalar = getattr(self, name)
        if name in ("files", "directories", "size", "depth"):
            distribution = parse_distribution(value)
            if distribution.kind == "constant":
                mean = distribution.mean
                return int(mean) if mean.is_integer() else mean
        return value
