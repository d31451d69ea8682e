"""Every exception for a file system of Linux has the number of a finding."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ffslab.oracle.promises import IN_ORDER, PROMISES, Promise
from ffslab.workloads.cuts.outcomes import CORRECT, OUTCOMES
from findings import DOCUMENT, NUMBER, ROOT, declared, finding

TESTS = sorted(
    path for path in (ROOT / "tests").rglob("*.py") if path.resolve() != Path(__file__).resolve()
)
# Of no file system: what takes hours, what KASAN counts otherwise, a sample, a program of the host.
BY_CHOICE = re.compile(r"FFSLAB_\w+|KASAN|sanitizers' hooks|no sample|qemu-user is not installed")
OURS = ("yaffs2", "logfs")
WRONG = set(OUTCOMES) - {CORRECT}
# What the programs of the tests may say of a file system of Linux without a number: it can do so.
ABLE = {"--exchange", "--tmpfile", "--name-max=255", "--symlink-max=4095"}
# A promise is looser than this one by a finding. What is stricter needs none.
STRICT = Promise(filesystem="", contents=IN_ORDER)
LOOSER = {
    finding("F-JFFS2-15", ("jffs2", "rename_is_atomic")),
    finding("F-JFFS2-16", ("jffs2", "root_links")),
    *(finding("F-UBIFS-15", ("ubifs", rule)) for rule in ("contents", "pieces")),
    finding("F-UBIFS-15", ("ubifs", "overwriting_is_noted")),
}
RULES = ("contents", "pieces", "rename_is_atomic", "overwriting_is_noted", "root_links")
RULES += ("own_names", "names_of_lost", "close_writes_back")


def calls(tree: ast.AST, *names: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            name = node.func.id if isinstance(node.func, ast.Name) else name
            if name in names:
                yield node


def excused(tree: ast.AST) -> set[ast.AST]:
    """What is within a `finding(...)`."""
    return {node for call in calls(tree, "finding") for node in ast.walk(call)}


def bare_skips(text: str) -> list[int]:
    """The lines of skips that name neither a finding nor a variable of the tests."""
    tree = ast.parse(text)
    inside = excused(tree)
    return [
        call.lineno
        for call in calls(tree, "skip", "skipif", "xfail")
        if call not in inside
        and not BY_CHOICE.search(ast.unparse(call))
        and not any(node in inside for node in ast.walk(call))
    ]


def bare_exceptions(text: str) -> list[int]:
    """The lines of tuples with what a cut does to a file system of Linux, without a number."""
    tree = ast.parse(text)
    inside = excused(tree)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple) and node not in inside and len(node.elts) > 1:
            words = {one.value for one in node.elts if isinstance(one, ast.Constant)}
            if words & WRONG and not words & set(OURS):
                found.append(node.lineno)
    return found


def test_numbers_are_declared_once() -> None:
    assert len(declared()) > 35
    assert not [number for number, times in Counter(declared()).items() if times > 1]


def test_every_number_that_is_used_is_declared() -> None:
    files = [*TESTS, DOCUMENT, *(ROOT / "examples" / "findings").iterdir()]
    files += [*(ROOT / "src").rglob("*.py"), *(ROOT / "kernel" / "fixes").iterdir()]
    for path in files:
        assert set(NUMBER.findall(path.read_text(encoding="utf-8"))) <= set(declared()), path


def test_a_number_that_is_not_declared_is_refused() -> None:
    with pytest.raises(AssertionError, match="F-JFFS2-99 is not in"):
        finding("F-JFFS2-" + "99", ())


def test_every_skip_and_every_exception_has_a_number() -> None:
    for path in TESTS:
        text = path.read_text(encoding="utf-8")
        assert not bare_skips(text), path
        assert path.parent.name != "lab" or not bare_exceptions(text), path


def bare_options(text: str) -> list[str]:
    """What the subjects of Linux have for the programs of the tests, without a number."""
    tree = ast.parse(text)
    inside = excused(tree)
    return [
        str(one.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("JFFS2", "UBIFS")
        for one in ast.walk(node.value)
        if isinstance(one, ast.Constant) and one not in inside and one.value not in ABLE
        if one.value is False or str(one.value).startswith("--")
    ]


def test_every_option_of_a_file_system_of_linux_has_a_number() -> None:
    text = (ROOT / "tests" / "lab" / "guest_programs.py").read_text(encoding="utf-8")
    assert text.count("= Subject(") > 2 and not bare_options(text)
    bare = bare_options("JFFS2 = Subject(history=('--fills=0',), remounts=False)")
    assert sorted(bare) == ["--fills=0", "False"]


def test_every_promise_that_is_looser_has_a_number() -> None:
    looser = {
        (name, rule)
        for name in ("jffs2", "ubifs")
        for rule in RULES
        if getattr(PROMISES[name], rule) != getattr(STRICT, rule)
    }
    assert looser == LOOSER


@pytest.mark.parametrize(
    "text",
    [
        "pytest.skip('JFFS2 hangs')",
        "x = pytest.mark.skipif(DEBUG, reason='lockdep reports')",
        "@pytest.mark.xfail\ndef f(): ...\nxfail()",
        "KNOWN = {('jffs2', 'mount-fails')}",
        "KNOWN = {('ubifs', 'directories', 'wrong-kind')}",
    ],
)
def test_one_without_is_noticed(text: str) -> None:
    assert bare_skips(text) or bare_exceptions(text)


@pytest.mark.parametrize(
    "text",
    [
        "pytest.skip('FFSLAB_NIGHTLY=1 has it')",
        "x = pytest.mark.skipif(DEBUG, reason=finding('F-UBI-01', 'its locks'))",
        "KNOWN = {finding('F-JFFS2-01', ('jffs2', 'mount-fails'))}",
    ],
)
def test_one_with_a_number_is_not(text: str) -> None:
    assert not bare_skips(text) and not bare_exceptions(text)


def test_every_change_mends_a_finding() -> None:
    """Each patch of kernel/fixes is named, and verified, where the document says what it mends."""
    fixes = ROOT / "kernel" / "fixes"
    named = set(re.findall(r"\bfix (\d{4})\b", DOCUMENT.read_text(encoding="utf-8")))
    listed = (fixes / "series").read_text(encoding="utf-8").split()
    assert sorted(listed) == sorted(path.name for path in fixes.glob("*.patch"))
    assert {name[:4] for name in listed} == named
