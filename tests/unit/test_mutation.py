"""The mutation tester: which mistakes it plants, and that its lists are about code that exists."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "mutation"))

from c_mutants import Build, c_mutants  # noqa: E402
from operators import Module  # noqa: E402
from outcomes import KILLED, SURVIVED, CTarget, MutantOutcome, Score, load_targets, stale  # noqa: E402

SOURCE = '''
"""Words."""
import math

QUANTILES = (("p50_ns", 0.5), ("p99_ns", 0.99))


def rank(q: float, count: int = 1) -> int:
    """More words."""
    if count < 1 or not q:
        raise ValueError(f"no rank of {count}")
    return max(1, math.ceil(q * count))


class Flash:
    def time(self, counters):
        return sum(counters[name] for name in ("read_ns", "erase_ns") if name in counters)
'''


@pytest.fixture
def module(tmp_path: Path) -> Module:
    path = tmp_path / "m.py"
    path.write_text(SOURCE, encoding="utf-8")
    return Module(path, "m.py", lambda _: True)


def test_the_mistakes_that_it_plants(module: Module) -> None:
    titles = [mutant.title for mutant in module.mutants]
    assert titles == list(dict.fromkeys(titles))
    for title in (
        "m.py:<module>:key:2 | 'p99_ns' → 'p999_ns'",
        "m.py:<module>:constant:1 | 0.5 → 1.0",
        "m.py:<module>:element:2 | without ('p99_ns', 0.99)",
        "m.py:rank:compare:1 | Lt → LtE: count < 1",
        "m.py:rank:and-or:1 | and ↔ or: count < 1 or not q",
        "m.py:rank:sign:1 | not q → q",
        "m.py:rank:max-min:1 | max(1, math.ceil(q * count))",
        "m.py:rank:ceil-floor:1 | math.ceil(q * count)",
        "m.py:rank:arithmetic:1 | Mult → Div: q * count",
        "m.py:Flash.time:element:2 | without 'erase_ns'",
        "m.py:Flash.time:filter:1 | without: if name in counters",
    ):
        assert title in titles
    # Words are no figures.
    assert not any("no rank" in title or "ords" in title for title in titles)
    scopes = {mutant.scope: mutant.function for mutant in module.mutants}
    assert scopes == {"<module>": None, "rank": ("rank", 8), "Flash.time": ("Flash.time", 16)}


def test_a_mutant_is_another_program_and_leaves_the_source_as_it_was(module: Module) -> None:
    found = {}
    for mutant in module.mutants:
        space: dict[str, Any] = {}
        exec(module.compiled(mutant), space)
        with suppress(ValueError):
            found[mutant.title] = space["rank"](0.5, 3)
    # ⌈0.5 × 3⌉ = 2.
    assert found["m.py:rank:ceil-floor:1 | math.ceil(q * count)"] == 1
    assert found["m.py:rank:arithmetic:1 | Mult → Div: q * count"] == 1
    assert found["m.py:rank:constant:3 | 1 → 2"] == 2
    assert found["m.py:Flash.time:element:2 | without 'erase_ns'"] == 2


def test_mistakes_in_c() -> None:
    text = (
        "/* a < b */\nint f(int a)\n{\n\tif (a < 2 && !b)\n\t\ta += 3;\n\treturn max_t(a, 1);\n}\n"
    )
    found = {mutant.title: mutant for mutant in c_mutants(text, "f.c")}
    for title in (
        "f.c:f:compare:1 | if (a < 2 && !b) → if (a <= 2 && !b)",
        "f.c:f:and-or:1 | if (a < 2 && !b) → if (a < 2 || !b)",
        "f.c:f:not:1 | if (a < 2 && !b) → if (a < 2 && b)",
        "f.c:f:statement:1 | a += 3; → ;",
        "f.c:f:min-max:1 | return max_t(a, 1); → return min_t(a, 1);",
    ):
        assert title in found
    assert all(mutant.text.startswith("/* a < b */\n") for mutant in found.values())
    assert found["f.c:f:statement:1 | a += 3; → ;"].line == 5


def test_what_only_the_kernel_compiles_is_left_alone() -> None:
    half = "int f(int a)\n{\n\treturn a + 1;\n}\n"
    both = f"#ifdef __KERNEL__\n#include <x.h>\n\n{half}#else\n{half}#endif\n{half}"
    assert {mutant.line for mutant in c_mutants(both, "f.c")} == {11, 16}


def test_words_of_messages_are_left_alone_and_the_code_beside_them_is_not() -> None:
    line = '\treturn fail(3, "a" == "1", "set \\"a\\"=4 < 5", b < 6 ? "7 b" : "8");'
    changes = {
        mutant.text.splitlines()[2]
        for mutant in c_mutants(f"int f(int b)\n{{\n{line}\n}}\n", "f.c")
    }
    for number in ("3", "6"):
        assert line.replace(number, str(int(number) + 1)) in changes
    assert line.replace("b < 6", "b >= 6") in changes and line.replace("==", "!=") in changes
    assert all('set \\"a\\"=4 < 5' in change and "7 b" in change for change in changes)


@pytest.mark.parametrize(("kind", "beside_it"), [("h", True), ("h", False), ("c", True)])
def test_a_change_of_a_source_or_header_reaches_its_test(
    tmp_path: Path, kind: str, beside_it: bool
) -> None:
    """By what the test is linked with, too; what that needs and the test does not, is left out.

    A header may be in the directory of what includes it, or in one that the compiler is told of.
    """
    target, other = tmp_path / f"two.{kind}", tmp_path / "other.c"
    if not beside_it:
        target = tmp_path / "headers" / "of" / target.name
        target.parent.mkdir(parents=True)
    guard = "#ifndef TWO_H\n#define TWO_H\n" if kind == "h" else ""
    text = f"{guard}{'static inline ' * (kind == 'h')}int two(void)\n{{\n\treturn 2;\n}}\n"
    target.write_text(text + "#endif\n" * (kind == "h"))
    name = "two.h" if beside_it else "of/two.h"
    two = f'#include "{name}"\n' if kind == "h" else "int two(void);\n"
    other.write_text(f"{two}int three(void) {{ return two() + 1; }}\n")
    (tmp_path / "more.c").write_text("int missing(void);\nint more(void) { return missing(); }\n")
    (tmp_path / "test.c").write_text("int three(void);\nint main(void) { return three() != 3; }\n")
    beside = (str(other), str(tmp_path / "more.c"))
    built = tmp_path / "built"
    built.mkdir()
    flags = (f"-I{os.path.relpath(tmp_path / 'headers', ROOT)}",)
    build = Build(CTarget(str(target), (str(tmp_path / "test.c"),), beside, flags), built)
    good = target.read_text()
    assert build.run(good) == SURVIVED
    assert build.run(good.replace("2;", "4;")) == KILLED
    assert build.run(good.replace("2;", "2 + a;")) is None  # does not compile
    assert build.run(good) == SURVIVED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("header", "old", "new"),
    [
        ("collect.h", "LOGFS_MARGIN_SEGMENTS\t1", "LOGFS_MARGIN_SEGMENTS\t6"),
        ("collect.h", "LOGFS_MAX_OBJECT_BYTES >", "LOGFS_MAX_OBJECT_BYTES <"),
        ("candidate.h", "return a->valid_bytes < b->", "return a->valid_bytes > b->"),
    ],
    ids=["margin", "levels-reversed", "garbage-reversed"],
)
def test_a_worse_collector_of_logfs_is_noticed_by_what_it_does(
    tmp_path: Path, header: str, old: str, new: str
) -> None:
    """Not only by the unit test of its policies: by what it writes to the chip."""
    name = f"kmod/logfs/policy/{header}"
    row = next(source for source in load_targets()[1] if source.source == name)
    tests = tuple(test for test in row.tests if test.endswith("core_collect.c"))
    assert tests
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text.count(old) == 1
    build = Build(replace(row, tests=tests), tmp_path)
    assert [build.run(text), build.run(text.replace(old, new))] == [SURVIVED, KILLED]


def test_a_score_is_of_those_that_can_be_killed() -> None:
    states = ("killed", "killed", "timeout", "survived", "equivalent")
    score = Score("s", tuple(MutantOutcome("t", 1, state) for state in states), 1.0)
    assert score.percent == 75  # three of four
    assert Score("s", (), 1.0).percent == 100


@pytest.mark.slow
def test_its_lists_are_about_code_that_exists() -> None:
    """An entry of equivalent.toml whose code has changed is to be reviewed again."""
    modules, sources = load_targets()
    titles = []
    for target in modules:
        module = Module(target.path, target.module, target.has)
        titles += [mutant.title for mutant in module.mutants]
        scopes = {mutant.scope for mutant in Module(target.path, "", lambda _: True).mutants}
        assert module.mutants and set(target.without) <= scopes, target.module
        assert all((ROOT / "tests" / "unit" / test).is_file() for test in target.tests)
    for source in sources:
        text = (ROOT / source.source).read_text(encoding="utf-8")
        titles += [mutant.title for mutant in c_mutants(text, source.source)]
        assert all((ROOT / test).is_file() for test in (*source.tests, *source.beside))
    assert len(titles) == len(set(titles))
    assert stale(titles) == []
