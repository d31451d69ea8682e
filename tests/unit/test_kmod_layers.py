"""The order of the layers of our C code: a source includes and calls what is in its row or below,
nothing above; no circle of headers, and none of sources.

A header may declare functions of several sources, as kmod/logfs/core/logfs.h does for all that the
VFS calls. So it is not enough to know who includes which: who calls a function, or names a table,
is held against the source that defines it. kmod/yaffs/README.md and kmod/logfs/README.md say what
the rows are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

KMOD = Path(__file__).resolve().parents[2] / "kmod"
YAFFS = KMOD / "yaffs"
Rows = Sequence[Sequence[str]]
# From the bottom to the top: folders, or sources without their ending. The headers of a row may
# include each other.
YAFFS_ROWS: Rows = (
    ("../portable", "../compat", "../invariant"),
    ("format",),
    ("policy",),
    ("core/device",),
    ("core/trace",),
    ("core/forecast",),
    ("core/request",),
    ("core/nand",),
    ("core/blocks", "core/space"),
    ("core/alloc", "core/summary_io", "core/ids", "core/wear"),
    (
        *("core/objects", "core/index", "core/children", "core/slots", "core/header_page"),
        *("core/map", "core/ids_table"),
    ),
    ("core/check",),
    ("core/map_io", "core/marks"),
    ("core/gc",),
    ("core/pages", "core/header_io", "core/chunks", "core/horizon"),
    ("core/contents", "core/cache", "core/data"),
    ("core/names", "core/directory", "core/operations", "core/lifetime"),
    (
        *("core/mount", "core/scan", "core/scan_map", "core/recover"),
        *("core/checkpoint", "core/ckpt_stream", "core/ckpt_read"),
    ),
    ("../flashfs",),
    ("vfs",),
)
LOGFS_ROWS: Rows = (
    ("../portable", "../compat", "../invariant"),
    ("format",),
    ("policy",),
    ("core/logfs", "core/device"),
    ("core/flash",),
    ("core/area", "core/pending"),
    ("core/cache",),
    ("core/tree", "core/walk"),
    ("core/segments",),
    ("core/data", "core/pack", "core/node"),
    ("core/journal",),
    ("core/super", "core/replay"),
    ("core/gc", "core/clean", "core/wear", "core/journal_move"),
    ("core/check",),
    ("core/operation",),
    ("core/dir", "core/file", "core/stats"),
    ("core/mount", "core/mkfs", "core/recover"),
    ("../flashfs",),
    ("vfs",),
)
VNAND_ROWS: Rows = (
    ("../compat", "portable", "../vnor/keys", "image_format"),
    ("params",),
    ("timing", "faults", "rules"),
    ("decide",),
    ("../region", "crash_hooks", "vnand"),
    ("store",),
    ("chip",),
    ("mtd", "proc"),
    ("main",),
)
# What another module's Kbuild compiles once more stands below, by the path from the module.
VNOR_ROWS: Rows = (
    ("../vnand/timing", "../vnand/rules", "../vnand/decide", "../vnand/vnand", "keys"),
    ("timing", "rules"),
    ("decide",),
    ("mtd",),
)
VNAND_CRASH_ROWS: Rows = (
    ("../compat", "../vnand/portable", "../vnand/faults", "../vnand/decide", "../vnand/vnand"),
    ("tear", "place"),
    ("crash",),
    ("log",),
    ("levels",),
    ("cut", "keep", "digest"),
    ("hooks",),
    ("files",),
)
FLASHMON_ROWS: Rows = (
    ("../region", "compat", "trace_format", "live_format"),
    ("account",),
    ("live_slots",),
    ("flashmon",),
    ("trace", "live", "below"),
    ("hook", "proc"),
    ("main",),
)
MODULES: Mapping[str, Rows] = {
    "yaffs": YAFFS_ROWS,
    "logfs": LOGFS_ROWS,
    "vnand": VNAND_ROWS,
    "vnor": VNOR_ROWS,
    "vnand_crash": VNAND_CRASH_ROWS,
    "flashmon": FLASHMON_ROWS,
    "mtdsplit": (("main",),),
    "overlay": (("begin",),),
}
# Kbuild alone: they compile what is elsewhere.
NO_SOURCES = {
    *("flashmon_nor", "flashmon_below", "flashmon_nor_below"),
    *("mtdblock", "vnor_crash"),
}
COMMON_ROWS: Rows = (("core",), ("flash",))
CUTTER_ROWS: Rows = (
    *COMMON_ROWS,
    ("text",),
    ("chip", "observe"),
    ("history", "wear"),
    ("walk",),
    ("tree", "series"),
    ("main",),
)
# A workload knows what prepares a flash, and no other; the Postmark look-alike has FFSMark's pool.
GUEST = KMOD.parent / "guest"
AGENT_WORKLOADS = {path.parent.name for path in GUEST.glob("agent/workloads/*/verbs.c")} - {
    "prepare"
}
AGENT_ROWS: Rows = (
    ("version", "core"),
    ("plan",),
    ("flash",),
    ("measure",),
    ("steps",),
    ("workloads/prepare",),
    tuple(f"workloads/{name}" for name in sorted(AGENT_WORKLOADS)),
    ("run", "init"),
    ("postmark",),
    ("main",),
)
COMMON = GUEST / "common"
GUESTS: Mapping[str, Rows] = {"agent": AGENT_ROWS, "cutter": CUTTER_ROWS, "common": COMMON_ROWS}
# Whose sources call each other in no circle; the agent's verbs are tables of functions.
PROGRAMS = (*(KMOD / name for name in MODULES), *(GUEST / name for name in GUESTS))
# Two sources of one mechanism each. Those of the VFS name tables of each other.
PAIRS = (
    ("vfs/inode.c", "vfs/namei.c"),
    ("core/scan.c", "core/scan_map.c"),
    ("core/summary_io.c", "core/wear.c"),
)
IN_MEMORY = next(row for row in YAFFS_ROWS if "core/objects" in row)
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
# At the beginning of a line: a function with its body, or a variable with its value.
_DEFINITION = re.compile(
    r"^(?!static\b|typedef\b)[A-Za-z_][\w \t*\n]*?\b(\w+)"
    r"(?:\([^;{}()]*\)\s*\{|(?:\[[^\]]*\])?\s*=)",
    re.MULTILINE,
)
_STATIC = re.compile(r"^static\b[^;{}()=]*?\b(\w+)(?:\[[^\]]*\])?\s*[(=]", re.MULTILINE)
# No member of a structure, nor the name of one.
_USE = re.compile(r"(?<!\.)(?<!->)(?<!\bstruct )\b[A-Za-z_]\w*")


def sources(root: Path) -> list[str]:
    """All sources by their paths below `root`, but for those of the tests."""
    found = (path.relative_to(root).as_posix() for path in root.rglob("*.[ch]"))
    return sorted(
        name for name in found if not name.startswith("test/") and not name.endswith(".mod.c")
    )


def row_of(name: str, rows: Rows = YAFFS_ROWS) -> int | None:
    """The row that has a source, or one of the folders that it is in."""
    above = {name.rpartition(".")[0], *(str(folder) for folder in Path(name).parents)}
    return next((number for number, row in enumerate(rows) if above & set(row)), None)


def included(root: Path, name: str) -> list[str]:
    """What a source includes of its program's own, by paths below `root` or `guest/common`."""
    words = _INCLUDE.findall((root / name).read_text(encoding="utf-8"))
    if root.parent == GUEST:  # compiled with -I of both
        return words
    return [os.path.normpath(f"{Path(name).parent}/{word}") for word in words]


def is_there(root: Path, name: str) -> bool:
    return (root / name).is_file() or (root.parent == GUEST and (COMMON / name).is_file())


def violations(root: Path, rows: Rows = YAFFS_ROWS) -> list[str]:
    """What is wrong, one sentence each."""
    wrong = []
    for name in sources(root):
        own = row_of(name, rows)
        if own is None:
            wrong.append(f"{name} is in no row")
            continue
        for other in included(root, name):
            its = row_of(other, rows)
            if its is None or not is_there(root, other):
                wrong.append(f"{name} includes {other}, which is not the module's")
            elif its > own:
                wrong.append(f"{name} includes {other}, which is above it")
            elif other.endswith(".c"):
                wrong.append(f"{name} includes {other}, which is no header")
    return wrong


def calls(root: Path) -> dict[str, dict[str, str]]:
    """Of each source the others that it calls or whose tables it names, with one such name."""
    text = {
        name: _NO_CODE.sub(" ", (root / name).read_text(encoding="utf-8"))
        for name in sources(root)
        if name.endswith(".c")
    }
    home = {word: name for name in text for word in _DEFINITION.findall(text[name])}
    return {
        name: {
            home[word]: word
            for word in sorted({*_USE.findall(text[name])} - {*_STATIC.findall(text[name])})
            if home.get(word, name) != name
        }
        for name in text
    }


def climbing(root: Path, rows: Rows) -> list[str]:
    """Calls of what is above, one sentence each."""
    return [
        f"{name} uses {word} of {other}, which is above it"
        for name, uses in calls(root).items()
        for other, word in uses.items()
        if (row_of(other, rows) or 0) > (row_of(name, rows) or 0)
    ]


def circle(edges: Mapping[str, Iterable[str]]) -> list[str]:
    """What leads to itself, in order; nothing does: an empty list."""
    done: set[str] = set()

    def visit(name: str, way: list[str]) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name in done:
            return []
        for other in edges.get(name, []):
            if found := visit(other, [*way, name]):
                return found
        done.add(name)
        return []

    return next((found for name in edges if (found := visit(name, []))), [])


def test_every_folder_of_kmod_and_guest_has_rows() -> None:
    """Folders without rows have no sources but those of tests."""
    with_sources = {folder.name for folder in KMOD.iterdir() if folder.is_dir() and sources(folder)}
    assert with_sources == {*MODULES, "test"}
    assert {path.parent.name for path in KMOD.glob("*/Kbuild")} - set(MODULES) == NO_SOURCES
    assert {folder.name for folder in GUEST.iterdir() if folder.is_dir()} == set(GUESTS)
    workloads = {folder.name for folder in (GUEST / "agent" / "workloads").iterdir()}
    assert workloads == {*AGENT_WORKLOADS, "prepare"}


ROWS = {path: (MODULES | GUESTS)[path.name] for path in PROGRAMS}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_nothing_includes_what_is_above(program: Path) -> None:
    assert violations(program, ROWS[program]) == []


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_nothing_calls_what_is_above(program: Path) -> None:
    assert sum(map(len, calls(program).values())) > 4 or len(sources(program)) < 10
    assert climbing(program, ROWS[program]) == []


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_no_circle_of_headers(program: Path) -> None:
    edges = {name: included(program, name) for name in sources(program)}
    assert (
        circle({name: [other for other in edges[name] if other in edges] for name in edges}) == []
    )


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_no_circle_of_sources(program: Path) -> None:
    edges = {name: set(uses) for name, uses in calls(program).items()}
    assert edges
    for one, other in PAIRS:
        edges.get(one, set()).discard(other)
    assert circle(edges) == []


def parts(module: str) -> set[str]:
    """What a module is compiled from, by its Kbuild: folders and sources without their ending."""
    text = (KMOD / module / "Kbuild").read_text(encoding="utf-8")
    lists = dict(re.findall(r"^(\w+) := (.+)$", text, re.MULTILINE))
    (objects,) = re.findall(rf"^{module}-y := (.+)$", text, re.MULTILINE)
    found = set()
    for variable, prefix in re.findall(r"\$\((\w+):%=(\w+)_%\.o\)", objects):
        folder = "vnand_crash" if prefix == "crash" else prefix
        found |= {f"{folder}/{part}" for part in lists[variable].split()}
    own = re.sub(r"\$\(.*?\)", "", objects).split()
    return found | {f"{module}/{name.removesuffix('.o')}" for name in own}


def test_vnor_crash_is_vnor_and_vnand_crash_and_has_no_source_of_its_own() -> None:
    assert sources(KMOD / "vnor_crash") == []
    logging = {part for part in parts("vnand_crash") if part.startswith("vnand_crash/")}
    assert "vnand_crash/cut" in logging and "vnor/mtd" in parts("vnor")
    assert parts("vnor_crash") == parts("vnor") | logging


@pytest.mark.parametrize(
    "name", [f"{m}/{n}" for m in MODULES for n in sources(KMOD / m) if n.endswith(".c")]
)
def test_nothing_is_declared_past_the_headers(name: str) -> None:
    text = (KMOD / name).read_text(encoding="utf-8")
    assert not re.findall(r"^extern\b.*", text, re.MULTILINE)


def test_a_policy_sees_by_the_view_alone() -> None:
    """It does not reach into the tables of the mechanism, whose layout is not its business."""
    fields = re.compile(r"struct yaffs_block\b|\b(?:blocks|erases|space)\b\s*(?:\[|->|\.)")
    for name in sources(YAFFS):
        if name.startswith("policy/") and name != "policy/view.h":
            assert not fields.findall((YAFFS / name).read_text(encoding="utf-8")), name


def test_objects_in_memory_know_no_flash() -> None:
    known = {row_of(name) for name in ("../compat.h", "format/media.h", "core/device.h")}
    for name in sources(YAFFS):
        if name.rpartition(".")[0] in IN_MEMORY:
            below = {row_of(other) for other in included(YAFFS, name)}
            assert below <= known | {row_of(name)}, name


@pytest.mark.parametrize(
    ("changed", "line", "wrong"),
    [
        ("core/nand.c", '#include "gc.h"', "core/gc.h, which is above"),
        ("core/gc.c", '#include "mount.h"', "core/mount.h, which is above"),
        ("core/device.h", '#include "../vfs/vfs.h"', "vfs/vfs.h, which is above"),
        ("policy/policy.c", '# include  "../core/device.h"', "core/device.h, which is above"),
        ("format/media.h", '#include "../policy/policy.h"', "policy/policy.h, which is above"),
        ("vfs/vfs.h", '#include "../../vnand/chip.h"', "which is not the module's"),
        ("core/pages.h", '#include "gc.c"', "which is no header"),
        ("core/more.c", "", "core/more.c is in no row"),
    ],
)
def test_a_violation_is_seen(tmp_path: Path, changed: str, line: str, wrong: str) -> None:
    names = ("format/media.h", "policy/policy.h", "core/device.h", "core/nand.c", "core/gc.h")
    for name in (*names, "core/gc.c", "core/pages.h", "core/mount.h", "vfs/vfs.h"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("#include <linux/mtd/mtd.h>\n")
    assert violations(tmp_path) == []
    path = tmp_path / changed
    path.write_text(f"{path.read_text() if path.exists() else ''}{line}\n")
    (found,) = violations(tmp_path)
    assert wrong in found


def test_a_circle_is_seen(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    for name, other in (("gc", "names"), ("names", "mount"), ("mount", "names")):
        (tmp_path / "core" / f"{name}.h").write_text(f'#include "{other}.h"\n')
    edges = {name: included(tmp_path, name) for name in sources(tmp_path)}
    assert circle(edges) == ["core/names.h", "core/mount.h", "core/names.h"]


def test_a_call_of_what_is_above_is_seen(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    nand = tmp_path / "core/nand.c"
    (tmp_path / "core/gc.c").write_text(
        "const struct row gc_rows[] = { { 1 } };\n\nint gc_clean(struct device *dev,\n"
        "\t     int block)\n{\n\treturn nand_erase(dev, block);\n}\n"
    )
    erase = "int nand_erase(struct device *dev, int block)\n{\n\treturn 0; /* gc_clean(dev) */\n}\n"
    nand.write_text(f"static void gc_clean_all(void) {{ dev->gc_rows = 1; }}\n{erase}")
    assert calls(tmp_path) == {"core/gc.c": {"core/nand.c": "nand_erase"}, "core/nand.c": {}}
    assert climbing(tmp_path, YAFFS_ROWS) == []
    for use, word in (("gc_clean(dev, 1)", "gc_clean"), ("gc_rows[0].n", "gc_rows")):
        nand.write_text(erase.replace("return 0", f"return {use}"))
        (found,) = climbing(tmp_path, YAFFS_ROWS)
        assert found == f"core/nand.c uses {word} of core/gc.c, which is above it"
        assert circle(calls(tmp_path)) == ["core/gc.c", "core/nand.c", "core/gc.c"]
