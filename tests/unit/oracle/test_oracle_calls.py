"""Calls that a user wrote down."""

from __future__ import annotations

import pytest

from ffslab.oracle.calls import history_of_calls
from ffslab.oracle.operations import FormatError


def test_lines_semicolons_comments_and_blanks() -> None:
    text = "// all of it\n\n  mkdir   d ; create d/f\t// two\nsymlink http://x d/s\n"
    lines = [operation.line for operation in history_of_calls(text, 1).operations]
    assert lines == ["mkdir d", "create d/f", "symlink http://x d/s"]


def test_a_hash_is_a_new_seed_each_time_and_hangs_on_the_seed_of_the_case() -> None:
    text = "write a 0 10 #\nappend a 5 #\nwrite a 2 3 7\n"
    one, other = (history_of_calls(text, seed).operations for seed in (1, 2))
    assert len({operation.seed for operation in one}) == 3
    assert one[2] == other[2] and one[0].seed != other[0].seed
    assert one == history_of_calls(text, 1).operations


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mkdir d\n\nrename d\n", ("line 3:", "rename d")),
        ("mkdir d; fly d", ("line 1:", "fly d")),
        ("write ../a 0 1 #", ("line 1:", "'../a'")),
        ("write a 0 1 7\nwrite b 0 1 7", ("7",)),
        ("// nothing\n", ("no calls",)),
        ("", ("no calls",)),
    ],
)
def test_what_is_no_call_is_refused_with_its_line(text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(FormatError) as caught:
        history_of_calls(text, 1)
    assert all(word in caught.value.message for word in words)
    assert caught.value.cause
