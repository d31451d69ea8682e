"""Every exception for a file system of Linux has the number of a finding."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
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
LINUX = ("jffs2", "ubifs", "overlay-jffs2", "overlay-ubifs")
WRONG = set(OUTCOMES) - {CORRECT}
# What the programs of the tests may say of a file system of Linux without a number: it can do so.
ABLE = {"--exchange", "--tmpfile", "--name-max=255", "--symlink-max=4095"}
# A promise is looser than this one by a finding. What is stricter needs none.
STRICT = Promise(filesystem="", contents=IN_ORDER)
LOOSER = {
    finding("F-JFFS2-15", ("jffs2", "rename_is_atomic")),
    finding("F-JFFS2-16", ("jffs2", "root_links")),
    finding("F-JFFS2-22", ("jffs2", "loose_attributes")),
    *(finding("F-UBIFS-15", ("ubifs", rule)) for rule in ("contents", "pieces")),
    finding("F-UBIFS-15", ("ubifs", "overwriting_is_noted")),
    finding("F-UBIFS-17", ("ubifs", "loose_attributes")),
}
NO_RULES = {"filesystem", "statements", "joins"}
STRICTER = {"returned_is_durable", "names_note_the_file", "fsync_notes_rename"}
RULES = {field.name for field in fields(Promise)} - NO_RULES - STRICTER - {"refuses"}
REFUSED = {
    finding("F-JFFS2-17", ("jffs2", "mapping")),
    *(finding("F-JFFS2-18", ("jffs2", what)) for what in ("exchange", "whiteout", "tmpfile")),
}
ON_OVERLAY = {"whiteout", "tmpfile"}  # F-OVERLAY-05


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


def test_every_number_is_of_a_test() -> None:
    used = {n for path in TESTS for n in NUMBER.findall(path.read_text(encoding="utf-8"))}
    used |= set(re.findall(r'finding\("(F-[A-Z0-9]+-\d\d)"', Path(__file__).read_text("utf-8")))
    assert set(declared()) <= used


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


# Where tests of the lab tell one of Linux from others, and leave no check out.
NO_EXCEPTION = {
    "test_counts.py": {"test_erases_agree_with_ubi"},  # it alone has counters
    "test_crash_walk.py": {
        "case_of",  # a smaller chip, for JFFS2 is slow
        "test_cuts_in_a_recovery",  # that of JFFS2 writes nothing
        "test_messages_are_told_with_their_state",
    },
    "test_cuts.py": {"test_every_cut_in_a_recovery"},  # that of UBIFS writes
    "test_image_flash.py": {
        "made_image",
        "test_nandwrite_writes_the_same_data",  # JFFS2's image has no blank pages
    },
    "test_images.py": {"test_sizes_are_what_the_compression_lets_expect"},
    "test_lifetime_flash.py": {"test_chips_are_written_to_their_death"},  # UBI's reserve
    "test_live_page.py": {"test_tasks_add_up"},  # who writes UBIFS's data back
    "test_memory_accounting.py": {"some_case"},
    "test_missed_limits.py": {"test_a_study_states_limits"},
    "test_overlay.py": {"test_a_lower_tree_is_seen_whited_out_and_stays_so"},  # UBI's attach
    "test_retention.py": {"test_flips_grow_with_the_hours"},  # UBI moves data
    "test_tree_tools.py": {"differences_of_copies"},  # calculated
    "test_wear_moves.py": {"worn"},  # of UBI
}
NAMES = (*LINUX, "JFFS2", "UBIFS")


def branches(function: ast.AST) -> set[ast.AST]:
    """What something is compared with that is the name of a file system of Linux."""
    nodes = [node for node in ast.walk(function) if isinstance(node, ast.Compare)]
    equal = [node for node in nodes if isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.Is)]
    words = [word for node in equal for word in (node.left, *node.comparators)]
    words += [word for call in calls(function, "startswith") for word in call.args]
    return {word for word in words if getattr(word, "value", getattr(word, "id", 0)) in NAMES}


def numbered(function: ast.AST) -> set[ast.AST]:
    """What is in statements with a `finding(...)`."""
    statements = [n for n in ast.walk(function) if isinstance(n, ast.Assign | ast.Assert)]
    parts = [set(ast.walk(statement)) for statement in statements if excused(statement)]
    return set[ast.AST]().union(*parts)


def bare_branches(text: str) -> set[str]:
    """The functions that compare something with a file system of Linux, without a number."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    asked = {function: branches(function) for function in functions}
    return {f.name for f, words in asked.items() if words and words - numbered(f)}


def test_every_branch_for_a_file_system_of_linux_has_a_number() -> None:
    for path in (ROOT / "tests" / "lab").glob("*.py"):
        found = bare_branches(path.read_text(encoding="utf-8"))
        assert found == NO_EXCEPTION.get(path.name, set()), path
    lax = "def f(name):\n    assert ok or name {}\n"
    assert bare_branches(lax.format("== 'jffs2'")) == {"f"}
    assert bare_branches(lax.format("== finding('F-JFFS2-23', 'jffs2')")) == set()


def test_every_promise_that_is_looser_has_a_number() -> None:
    looser = {
        (name, rule)
        for name in ("jffs2", "ubifs")
        for rule in RULES
        if getattr(PROMISES[name], rule) != getattr(STRICT, rule)
    }
    assert looser == LOOSER


def test_every_call_that_a_promise_lacks_has_a_number() -> None:
    lacking = {(name, what) for name in ("jffs2", "ubifs") for what in PROMISES[name].refuses}
    assert lacking == REFUSED
    for name in ("jffs2", "ubifs"):
        more = PROMISES[f"overlay-{name}"].refuses - PROMISES[name].refuses
        assert finding("F-OVERLAY-05", more) <= ON_OVERLAY


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
