"""What ffscrash printed of its walk, whole, cut anywhere, and wrong."""

from __future__ import annotations

import pytest

from ffslab.errors import DamagedResultError
from ffslab.workloads.cuts.walk import Cut, StateName, parse_walk

TREE = "dir . 2 1 0\nobserved 1\n"
FIRST = f"""\
begin 3 lost 0
state 3 lost 0
mount 0 1200 17 2 1 ro=0
text 0a1b2c3d4e5f6071
{TREE}end
seen 0a1b2c3d4e5f6071 100 90 7
use ok
after 0a1b2c3d4e5f6071 100 89 7
remount 0 900 9 0 0 ro=1
again 0a1b2c3d4e5f6071 100 89 7
touched 1, recorded 12
ended 3 lost 0
"""
SECOND = """\
recovery 4 torn-bits 1 9
begin 4 torn-bits 1 / 2 done 0
state 4 torn-bits 1 / 2 done 0
attach 0 5 4 3 2
mount 22 7 6 5 4 ro=0
text ffffffffffffffff
UBIFS error: cannot mount
end
message ffffffffffffffff
touched 0, recorded 0
ended 4 torn-bits 1 / 2 done 0
"""
THIRD = "begin 5 done 0\nstate 5 done 0\n"


def test_states_have_all_that_was_printed() -> None:
    walk = parse_walk(FIRST + SECOND + "walked 2\n")
    assert walk.complete and walk.begun is None and not walk.stuck
    first, second = walk.states
    assert first.name == StateName(Cut(3, "lost", 0))
    assert first.mount is not None and first.remount is not None and first.seen is not None
    assert (first.mount.errno, first.mount.duration_ns, first.mount.pages_read) == (0, 1200, 17)
    assert (first.mount.read_only, first.remount.read_only) == (False, True)
    assert (first.seen.blocks, first.seen.free, first.seen.free_inodes) == (100, 90, 7)
    assert walk.texts[first.seen.digest] == TREE
    assert (first.used, first.recorded, first.touched) == ("ok", 12, True)
    assert second.name == StateName(Cut(4, "torn-bits", 1), Cut(2, "done", 0))
    assert second.attach is not None and second.attach.blocks_erased == 2
    assert second.mount is not None and second.mount.errno == 22
    assert second.seen is None and not second.touched
    assert walk.texts[second.messages] == "UBIFS error: cannot mount\n"
    assert walk.recoveries == {Cut(4, "torn-bits", 1): 9}


def test_a_state_that_killed_its_guest_is_known() -> None:
    walk = parse_walk(FIRST + THIRD)
    assert [str(state.name) for state in walk.states] == ["3 lost 0"]
    assert walk.begun == StateName(Cut(5, "done", 0))
    assert not walk.complete


def test_a_text_cut_anywhere_tells_no_state_that_did_not_end() -> None:
    whole = FIRST + SECOND + THIRD
    ends = [
        whole.index(f"ended {name}\n") + len(f"ended {name}\n")
        for name in ("3 lost 0", "4 torn-bits 1 / 2 done 0")
    ]
    for length in range(len(whole)):
        walk = parse_walk(whole[:length])
        assert len(walk.states) == sum(length >= end for end in ends)
        assert not walk.complete


def test_what_cannot_be_left_is_told() -> None:
    walk = parse_walk(FIRST + THIRD + "stuck unmount 16\n")
    assert walk.stuck == "unmount 16"


@pytest.mark.parametrize(
    "text",
    [
        "begin 3 lost\n",
        "begin 3 lost 0\nended 4 lost 0\n",
        "begin 3 lost 0\nmount zero 1 2 3 4 ro=0\n",
        "begin 3 lost 0\nfrobnicate 1\n",
        "begin 3 lost 0\nseen 0a 1 2\n",
        "begin 3 lost 0 x 4 lost 0\n",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(DamagedResultError, match="not understood"):
        parse_walk(text)
