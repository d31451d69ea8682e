"""The order of ffslab's packages: who may import whom; and no circle, hidden or not.

An import inside a function counts like one at the top of a file: it may be there for its cost, and
never to hide a circle. Imports for type checkers only make no circle at run time, but a package may
not know another one above it even so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from ffslab.targets import DEFAULT_TARGET
from ffslab.targets.registry import target_names
from ffslab.workloads.registry import workloads
from ffslab.workloads.results import keys_elsewhere

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
# From the bottom to the top; a module belongs to the longest name that fits. What stands in one
# row may import each other, as long as no two modules do so in a circle.
LAYERS = (
    (
        "ffslab",
        "ffslab.environment",
        "ffslab.errors",
        "ffslab.program",
        "ffslab.paths",
        "ffslab.limits",
        "ffslab.documents",
    ),
    (
        "ffslab.process",
        "ffslab.visible_text",
        "ffslab.lock_holder",
        "ffslab.model",
        "ffslab.protocol",
    ),
    ("ffslab.fsimage",),
    ("ffslab.lab", "ffslab.yaffs2", "ffslab.logfs"),
    ("ffslab.results", "ffslab.oracle", "ffslab.codesize"),
    ("ffslab.workloads", "ffslab.results.casefile", "ffslab.results.store"),
    ("ffslab.loader", "ffslab.compare"),
    ("ffslab.targets",),
    ("ffslab.images",),
    # What runs the guests of a workload that decides on them as it goes.
    ("ffslab.workloads.*.explore",),
    ("ffslab.campaign", "ffslab.doctor"),
    ("ffslab.rating", "ffslab.lifetime", "ffslab.calibrate"),
    ("ffslab.advise", "ffslab.published"),
    ("ffslab.report", "ffslab.workloads.*.report"),
    ("ffslab.cli", "ffslab.__main__", "ffslab.lab.bootstrap", "ffslab.start"),
)


def modules() -> dict[str, Path]:
    found = {}
    for path in SOURCE.glob("ffslab/**/*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@cache
def statements(name: str) -> tuple[tuple[ast.stmt, bool], ...]:
    """The imports in a module, wherever in it; and whether only a type checker sees them."""
    nodes = list(ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))))
    unseen = {
        inner
        for node in nodes
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    return tuple((node, node in unseen) for node in found)


def imports(name: str, *, typing: bool) -> Iterator[str]:
    """The modules of ffslab that a module imports, wherever in it; `typing`: those too that only a
    type checker sees.
    """
    for node, unseen in statements(name):
        if unseen and not typing:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else str(node.module)


def layer_of(name: str) -> int:
    def fits(pattern: str) -> bool:
        wanted, parts = pattern.split("."), name.split(".")
        return len(parts) >= len(wanted) and all(
            one in ("*", other) for one, other in zip(wanted, parts, strict=False)
        )

    found = [
        (len(pattern.split(".")), number)
        for number, layer in enumerate(LAYERS)
        for pattern in layer
        if fits(pattern)
    ]
    return max(found)[1]


@pytest.mark.parametrize("name", sorted(MODULES))
def test_nobody_imports_what_is_above(name: str) -> None:
    above = {other for other in imports(name, typing=True) if layer_of(other) > layer_of(name)}
    assert not above


def test_every_package_has_a_row() -> None:
    """And no row has a package that is gone; `ffslab` alone would be the row of a new one."""
    there = {f"ffslab.{path.parent.name}" for path in SOURCE.glob("ffslab/*/__init__.py")}
    named = {pattern for layer in LAYERS for pattern in layer}
    assert there <= named
    gone = {name for name in named if "*" not in name} - set(MODULES)
    assert not gone, gone


def test_no_circle_of_imports() -> None:
    edges = {name: set(imports(name, typing=False)) - {name} for name in MODULES}
    order: dict[str, int] = {}
    on_the_way: list[str] = []

    def visit(name: str) -> None:
        if name in on_the_way:
            raise AssertionError(" → ".join([*on_the_way[on_the_way.index(name) :], name]))
        if name in order:
            return
        on_the_way.append(name)
        for other in sorted(edges[name]):
            visit(other)
        on_the_way.pop()
        order[name] = len(order)

    for name in sorted(MODULES):
        visit(name)
    assert len(order) == len(MODULES) > 200


def test_results_name_no_workload() -> None:
    """Neither a kind nor a key of a result that is a single workload's."""
    # These are also what groups of criteria are called, for any workload.
    words = {*workloads(), *keys_elsewhere(), "append_log"} - {"wear", "cuts"}
    assert len(words) > 6
    for name in MODULES:
        if name.startswith("ffslab.results"):
            text = MODULES[name].read_text(encoding="utf-8")
            assert not {word for word in words if f'"{word}"' in text}, name


def test_the_model_names_no_workload() -> None:
    for name in MODULES:
        if name.startswith("ffslab.model"):
            text = MODULES[name].read_text(encoding="utf-8")
            for word in ("ffsmark", "Ffsmark", '"micro"', "append-log", "ffslab.workloads."):
                assert word not in text, name


# A kernel is called after the machine that it is built for, and `qemu` is one as well.
KERNELS = "ffslab.lab.lab"


def test_only_targets_name_a_target() -> None:
    """No import of a target's package, and no text that is the name of one."""
    names = target_names()
    assert DEFAULT_TARGET in names and len(names) > 2
    for name in MODULES:
        if name.startswith("ffslab.targets"):
            continue
        own = tuple(f"ffslab.targets.{target}" for target in names)
        assert not [other for other in imports(name, typing=True) if other.startswith(own)], name
        texts = {
            node.value
            for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant)
        }
        assert not texts & set(names) or name == KERNELS, name


def test_a_target_names_no_other_but_those_that_it_is_made_of() -> None:
    """QEMU's guests are processes of this computer, and kept as those of the default are."""
    made_of = {"qemu": {"uml"}}
    for target in target_names():
        own = f"ffslab.targets.{target}"
        used = {
            other.split(".")[2]
            for name in MODULES
            if name.startswith(own)
            for other in imports(name, typing=True)
            if other.startswith("ffslab.targets.") and other.split(".")[2] != target
        }
        assert used & set(target_names()) == made_of.get(target, set()), target


CODE = re.compile(r"\.(?:c|h|lds|S)$|Kbuild$|Makefile$|\.mk$")


@pytest.mark.parametrize("folder", ["guest", "kmod"])
def test_guests_know_nothing_of_python(folder: str) -> None:
    """What runs in a guest names no file of the host side; how it was tested it may say."""
    files = [path for path in sorted((ROOT / folder).rglob("*")) if CODE.search(path.name)]
    assert len(files) > 50
    for path in files:
        text = path.read_text(encoding="utf-8")
        named = re.findall(r"src/ffslab|\b[a-z_]+\.py\b|\bffslab\.[a-z]+\b", text)
        # `ffslab.test` is also the name of a file on the flash.
        assert not [one for one in named if one[:7] != "ffslab." or one in MODULES], path
