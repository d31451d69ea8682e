"""Sizes of code against the objects themselves: what is counted, and whether nothing is forgotten.

The objects are compiled if the cache does not have them; for ARM by Debian's cross-compiler.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest
from guest_programs import NIGHTLY

from ffslab.codesize.measure import ARCHITECTURES, measure_parts, object_files, sizes_of
from ffslab.codesize.parts import CODE, PARTS
from ffslab.codesize.sizes import Needs, Size, needs_of
from ffslab.lab.objects import Objects, ensure_objects
from ffslab.lab.progress import ConsoleProgress
from ffslab.loader import load_catalog

# ARM is the same source: FFSLAB_NIGHTLY=1 compiles it, too.
SAMPLE = ARCHITECTURES if NIGHTLY else ["um"]
# In no sum: hardly a kernel is without them.
SHOWN = {"mtd-core", "block-layer"}
# Calls from the first into the second are not compiled without the second's option.
OPTIONS_OF = {"ubi": {"ubiblock"}, "erofs-zip": {"erofs-lzma"}}
# Asked for by name, or selected by Kconfig alone: no object wants a symbol of theirs.
WITHOUT_CALLERS = {"crypto-zlib", "crypto-lzo", "crypto-zstd", "crypto-hash-info"}
WITHOUT_CALLERS |= {"ubiblock", "mtdblock"}


@dataclass(frozen=True)
class Symbols:
    """What the objects of each part define, and what they want of others."""

    defined: Mapping[str, frozenset[str]]
    wanted: Mapping[str, frozenset[str]]

    @cached_property
    def owners(self) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for part, names in self.defined.items():
            for name in names:
                found[name].add(part)
        return found

    def others(self, parts: Iterable[str]) -> set[str]:
        """The parts beside these that something in them cannot be linked without."""
        inside = set(parts)
        missing = {
            name
            for part in inside
            for name in self.wanted[part]
            if not self.owners.get(name, set()) & inside
        }
        return {owner for name in missing for owner in self.owners.get(name, ())} - SHOWN


@pytest.fixture(scope="module", params=SAMPLE)
def objects(request: pytest.FixtureRequest) -> Objects:
    return ensure_objects(request.param, ConsoleProgress())


@pytest.fixture(scope="module")
def symbols(objects: Objects) -> Symbols:
    defined, wanted = {}, {}
    for name, part in PARTS.items():
        command = [f"{objects.recipe.architecture.tools}nm", "--extern-only", "--format=posix"]
        told = text_of([*command, *map(str, object_files(objects, part))])
        pairs = re.findall(r"^(\S+) ([A-Za-z])(?: |$)", told, re.M)
        wanted[name] = frozenset(symbol for symbol, kind in pairs if kind == "U")
        defined[name] = frozenset(symbol for symbol, kind in pairs if kind in "TDBRACVW")
    return Symbols(defined, wanted)


def text_of(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def all_needs() -> list[Needs]:
    filesystems = load_catalog(()).filesystems.values()
    return [needs_of(filesystem) for filesystem in filesystems if filesystem.is_mounted]


def is_overlay(needs: Needs) -> bool:
    return "overlayfs" in needs.parts


def sections_of(objects: Objects, paths: list[Path]) -> Size:
    """What the ELF headers say: a section that is loaded is text if nothing may write to it."""
    told = text_of(
        [f"{objects.recipe.architecture.tools}readelf", "--sections", "--wide", *map(str, paths)]
    )
    size = Size()
    row = re.compile(r"\] \S+ +([A-Z_]+) +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +([A-Za-z]*) ")
    for kind, digits, flags in row.findall(told):
        length = int(digits, 16)
        if "A" not in flags:
            continue
        if kind == "NOBITS":
            size += Size(bss=length)
        elif "W" in flags and "X" not in flags:
            size += Size(data=length)
        else:
            size += Size(text=length)
    return size


def test_every_part_is_the_sum_of_its_sections(objects: Objects) -> None:
    measured = measure_parts(objects, PARTS)
    for name, part in PARTS.items():
        assert measured[name] == sections_of(objects, object_files(objects, part)), name
        assert measured[name].text > 0, name


def test_a_module_is_as_large_as_its_files(objects: Objects) -> None:
    """What kbuild linked of all of JFFS2's files, with compressors: but for gaps by alignment."""
    module = objects.tree / "fs/jffs2/jffs2.o"
    whole = sizes_of(objects, [module])[module]
    names = ("jffs2", "jffs2-zlib", "jffs2-lzo", "jffs2-rtime")
    apart = sum(measure_parts(objects, names).values(), Size())
    assert apart.total <= whole.total < 1.03 * apart.total


def test_no_file_is_in_two_parts(objects: Objects) -> None:
    owners: dict[Path, str] = {}
    for name, part in PARTS.items():
        for path in object_files(objects, part):
            assert owners.setdefault(path, name) == name, path


def test_no_file_system_wants_code_that_is_not_counted(symbols: Symbols) -> None:
    for needs in all_needs():
        options = {one for part in needs.parts for one in OPTIONS_OF.get(part, set())}
        if is_overlay(needs):  # reads one compression of many
            options |= {one for parts in CODE["squashfs"].compressors.values() for one in parts}
        added = {part for parts in needs.compressors.values() for part in parts}
        assert symbols.others(needs.parts) <= options, needs.names
        # The file system's own files call what is there for a compressor, where it is compiled in.
        assert symbols.others(needs.base) <= options | added, needs.names
        for name, parts in needs.compressors.items():
            missing = symbols.others(parts) - {*needs.base, *parts}
            assert missing <= options, (needs.names, name)


def test_nothing_is_counted_that_nobody_calls(symbols: Symbols) -> None:
    for needs in all_needs():
        # The layers of an overlay are mounted, each by itself.
        mounted = {"overlayfs", "squashfs"} if is_overlay(needs) else set()
        for part in set(needs.parts[1:]) - WITHOUT_CALLERS - mounted:
            others = set(needs.parts) - {part}
            assert any(symbols.wanted[one] & symbols.defined[part] for one in others), (
                f"{needs.names[0]} does not call {part}"
            )


def test_no_object_of_the_lab_counts_basic_blocks() -> None:
    objects = ensure_objects("um", ConsoleProgress())
    options = (objects.tree / ".config").read_text().splitlines()
    assert "# CONFIG_UML_CPU_COUNT is not set" in options
    told = text_of(["nm", *map(str, object_files(objects, PARTS["jffs2"]))])
    assert "um_cpu_counters" not in told and "sanitizer_cov" not in told


@pytest.mark.parametrize("architecture", SAMPLE)
def test_the_command_prints_what_the_objects_have(tmp_path: Path, architecture: str) -> None:
    root = Path(__file__).resolve().parents[2]
    command = [str(root / "ffslab"), "size", "ubifs", "--arch", architecture, "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (needs,) = json.loads(done.stdout)["filesystems"]
    (lzo,) = [one for one in needs["sums"] if "lzo" in one["options"]]
    objects = ensure_objects(architecture, ConsoleProgress())
    (ubifs,) = [one for one in all_needs() if one.names == ("ubifs",)]
    (wanted,) = [one for one in ubifs.sums if "lzo" in one.options]
    paths = [path for part in ubifs.parts_of(wanted) for path in object_files(objects, PARTS[part])]
    size = sections_of(objects, paths)
    assert lzo["bytes"][architecture] == {"text": size.text, "data": size.data, "bss": size.bss}
