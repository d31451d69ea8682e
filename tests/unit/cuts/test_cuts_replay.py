"""What a replay shows of the trees of a state."""

from __future__ import annotations

from ffslab.workloads.cuts.explore.replay import difference


def test_of_a_later_tree_what_changed_is_shown() -> None:
    before = ["dir . 3 1 0", "file a 5 1 2 0 01234567", "file b 0 1 3 0 -"]
    after = ["dir . 3 1 0", "file a 6 1 2 0 89abcdef", "file c 0 1 3 0 -"]
    assert difference(before, after) == [
        "- file a 5 1 2 0 01234567",
        "- file b 0 1 3 0 -",
        "+ file a 6 1 2 0 89abcdef",
        "+ file c 0 1 3 0 -",
    ]
    assert difference(before, before) == ["the same"]
