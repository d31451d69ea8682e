"""Sizes of code: what was measured of the parts, and what file systems come to.

Everything here is plain and pure. A document, as `ffslab size --json` prints it and a run keeps it
in `sizes.json`, holds the measured parts once for each architecture, and for each file system
which of them it needs; sums are computed from these and never stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ffslab.codesize.parts import BLOCK_SHOWN, CODE, MTD_BLOCK, PARTS, UBI, UBI_BLOCK, Code
from ffslab.errors import SpecError
from ffslab.model.specs import Filesystem

VERSION = 1
COMPRESSION = "compression"  # the option of a file system
LOWER_COMPRESSION = "lower_compression"  # the option of what is below an overlay
ALL = "all"  # the sum with every compressor, as the lab kernel has them


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes as `size` counts them in its Berkeley format.

    text: code, constants and all else that is loaded and not written to; data: what is written to
    and has values at the start; bss: what is written to and begins as zeros.
    """

    text: int = 0
    data: int = 0
    bss: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(self.text + other.text, self.data + other.data, self.bss + other.bss)

    @property
    def total(self) -> int:
        return self.text + self.data + self.bss


@dataclass(frozen=True, slots=True)
class Sum:
    """What a file system needs with those values of its option that use the same `compressors`.

    ALL stands among the values for every compressor. `default` is the one of the values that is the
    catalog's default, if it is among them. `known` is False for a value of which it is not known
    which it uses: then it is all.
    """

    options: tuple[str, ...]
    compressors: tuple[str, ...]
    default: str = ""
    known: bool = True

    @property
    def shown(self) -> tuple[str, ...]:
        """The values to name: not those that differ in the image only, if there are others."""
        return (
            tuple(option for option in self.options if not option.startswith("image-"))
            or self.options
        )


@dataclass(frozen=True, slots=True)
class Needs:
    """The parts of a file system, or of several that are the same code with other options."""

    names: tuple[str, ...]
    title: str
    base: tuple[str, ...]
    compressors: Mapping[str, tuple[str, ...]]
    shown: tuple[str, ...]
    sums: tuple[Sum, ...]

    def parts_of(self, total: Sum) -> tuple[str, ...]:
        """The parts of a sum, each once and in the order of rows."""
        wanted = {part for name in total.compressors for part in self.compressors[name]}
        return tuple(part for part in self.parts if part in wanted or part in self.base)

    @property
    def parts(self) -> tuple[str, ...]:
        """All parts that some sum has, each once."""
        added = (part for parts in self.compressors.values() for part in parts)
        return tuple(dict.fromkeys((*self.base, *added)))


@dataclass(frozen=True, slots=True)
class Measured:
    """The parts as they were compiled for an architecture; `objects_id` names all inputs."""

    title: str
    source: str
    compiler: str
    objects_id: str
    parts: Mapping[str, Size] = field(default_factory=dict)

    def sum(self, parts: Iterable[str]) -> Size:
        return sum((self.parts[part] for part in parts), Size())


@dataclass(frozen=True, slots=True)
class CodeSizes:
    """All that a table or a report shows.

    `unmeasured`: file systems, and architectures, with the reason why there are no figures.
    """

    architectures: Mapping[str, Measured]
    filesystems: tuple[Needs, ...]
    unmeasured: Mapping[str, str] = field(default_factory=dict)


def needs_of(filesystem: Filesystem) -> Needs:
    """What a file system of the catalog needs; SpecError if its code is not known."""
    code = CODE.get(filesystem.type)
    if code is None or filesystem.module_source is not None:
        raise SpecError(
            f"file system {filesystem.name}: no objects are known for its type {filesystem.type}",
            cause="it is a module of a user's own sources"
            if filesystem.module_source is not None
            else "a type that ffslab.codesize.parts does not have",
            remedy="size NAME.ko, where its module is in the cache, gives the module's own",
        )
    below, shown = _below(filesystem)
    return Needs(
        names=(filesystem.name,),
        title=filesystem.title,
        base=tuple(dict.fromkeys((code.base[0], *_layers(filesystem), *below, *code.base[1:]))),
        compressors=code.compressors,
        shown=(*code.shown, *shown),
        sums=tuple(_sums(filesystem, code)),
    )


def _below(filesystem: Filesystem) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is below the file system, and what of it is shown and not counted."""
    ubi = filesystem.ubi
    if ubi is not None:
        return ((*UBI, *UBI_BLOCK), BLOCK_SHOWN) if ubi.block else (UBI, ())
    return (MTD_BLOCK, BLOCK_SHOWN) if filesystem.overlay is not None else ((), ())


def _layers(filesystem: Filesystem) -> tuple[str, ...]:
    """What an overlay adds: overlayfs, and the file system below it with what its default needs."""
    if filesystem.overlay is None:
        return ()
    lower = CODE[filesystem.overlay.lower_type]
    option = filesystem.options.get(LOWER_COMPRESSION)
    value = option.default if option is not None else ALL
    every = tuple(lower.compressors)
    used = lower.values.get(value, (value,) if value in lower.compressors else every)
    reading = (part for name in used for part in lower.compressors[name])
    return (*CODE["overlay"].base, *lower.base, *reading)


def _sums(filesystem: Filesystem, code: Code) -> Iterable[Sum]:
    option = filesystem.options.get(COMPRESSION)
    values = dict.fromkeys(option.values if option is not None else ())
    default = option.default if option is not None else ALL
    every = tuple(code.compressors)
    sums: dict[tuple[frozenset[str], bool], Sum] = {}
    for value in (*values, ALL) if len(every) > 1 or option is None else values:
        used = code.values.get(value, (value,) if value in code.compressors else None)
        known = used is not None or value == ALL
        used = every if used is None else used
        before = sums.get((frozenset(used), known), Sum((), used, known=known))
        sums[frozenset(used), known] = Sum(
            (*before.options, value), used, value if value == default else before.default, known
        )
    return sums.values()


def with_same_code(all_needs: Sequence[Needs]) -> tuple[Needs, ...]:
    """The file systems with those joined that need the same, under the first one's title."""
    joined: dict[object, Needs] = {}
    for needs in all_needs:
        key = (needs.base, tuple(needs.compressors), needs.shown, needs.sums)
        before = joined.get(key)
        first = before or needs
        # The name without the variants' endings stands first.
        names = tuple(sorted((*(before.names if before else ()), *needs.names), key=_by_length))
        joined[key] = Needs(
            names,
            needs.title if names[0] in needs.names else first.title,
            first.base,
            first.compressors,
            first.shown,
            first.sums,
        )
    return tuple(joined.values())


def _by_length(name: str) -> tuple[int, str]:
    return len(name), name


def sum_title(total: Sum) -> str:
    """A sum in words."""
    if total.options == (ALL,):
        return "with all compressors" if total.compressors else "sum"
    text = "compression " + " or ".join(
        "all compressors" if value == ALL else value for value in total.shown
    )
    if not total.compressors:
        text += " (no compressor in the kernel)"
    if not total.known:
        text += " (not known which it uses: all)"
    if not total.default:
        return text
    return (
        f"{text}, the default"
        if total.shown == (total.default,)
        else f"{text}, default {total.default}"
    )


def part_title(name: str) -> str:
    return PARTS[name].title if name in PARTS else name


# --- the document ---


def to_document(sizes: CodeSizes) -> dict[str, Any]:
    """As plain JSON values; `sums` are computed for readers of the document."""
    return {
        "v": VERSION,
        "architectures": {
            name: {
                **{key: value for key, value in asdict(measured).items() if key != "parts"},
                "parts": {part: asdict(size) for part, size in measured.parts.items()},
            }
            for name, measured in sizes.architectures.items()
        },
        "filesystems": [_needs_document(needs, sizes) for needs in sizes.filesystems],
        "unmeasured": dict(sizes.unmeasured),
    }


def _needs_document(needs: Needs, sizes: CodeSizes) -> dict[str, Any]:
    return {
        "names": list(needs.names),
        "title": needs.title,
        "base": list(needs.base),
        "compressors": {name: list(parts) for name, parts in needs.compressors.items()},
        "shown": list(needs.shown),
        "sums": [
            {
                "options": list(total.options),
                "default": total.default,
                "known": total.known,
                "compressors": list(total.compressors),
                "bytes": {
                    name: asdict(measured.sum(needs.parts_of(total)))
                    for name, measured in sizes.architectures.items()
                },
            }
            for total in needs.sums
        ],
    }


def from_document(document: Mapping[str, Any]) -> CodeSizes:
    """The sizes of a document; KeyError, TypeError or ValueError for what is none."""
    if document["v"] != VERSION:
        raise ValueError(f"format {document['v']}; this ffslab reads format {VERSION}")
    sizes = CodeSizes(
        architectures={
            str(name): Measured(
                str(entry["title"]),
                str(entry["source"]),
                str(entry["compiler"]),
                str(entry["objects_id"]),
                {str(part): _size(size) for part, size in entry["parts"].items()},
            )
            for name, entry in document["architectures"].items()
        },
        filesystems=tuple(_needs(entry) for entry in document["filesystems"]),
        unmeasured={str(name): str(why) for name, why in document["unmeasured"].items()},
    )
    for needs in sizes.filesystems:
        for measured in sizes.architectures.values():
            measured.sum((*needs.parts, *needs.shown))
    return sizes


def _size(stored: Mapping[str, Any]) -> Size:
    size = Size(*(int(stored[name]) for name in ("text", "data", "bss")))
    if min(size.text, size.data, size.bss) < 0:
        raise ValueError(f"a negative size: {dict(stored)}")
    return size


def _needs(stored: Mapping[str, Any]) -> Needs:
    needs = Needs(
        names=tuple(map(str, stored["names"])),
        title=str(stored["title"]),
        base=tuple(map(str, stored["base"])),
        compressors={
            str(name): tuple(map(str, parts)) for name, parts in stored["compressors"].items()
        },
        shown=tuple(map(str, stored["shown"])),
        sums=tuple(
            Sum(
                tuple(map(str, entry["options"])),
                tuple(map(str, entry["compressors"])),
                str(entry["default"]),
                bool(entry["known"]),
            )
            for entry in stored["sums"]
        ),
    )
    for total in needs.sums:
        needs.parts_of(total)
    return needs
