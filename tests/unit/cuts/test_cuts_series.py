"""Cuts in a row: what the guest prints, guests that die, flashes that are lost, what is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue

import pytest
from cuts_support import SERIES_STUDY, cut_case, keep, new_run, run_cases

from ffslab.cli.crash import find_finding
from ffslab.errors import InfrastructureError
from ffslab.oracle.promises import promise_of
from ffslab.targets.several import StoppedError
from ffslab.workloads.cuts.explore.series import SeriesExplorer
from ffslab.workloads.cuts.keys import Cuts
from ffslab.workloads.cuts.outcomes import OUTCOMES
from ffslab.workloads.cuts.series import Life, leaks, parse_series, series_words, stored_series
from ffslab.workloads.cuts.texts import GuestTexts
from ffslab.workloads.cuts.walk import cut_of

CASE = cut_case("cuts = 3", series=True)
START = "recovery 0 none 5 1 0\nspace 0 9000 100 90 0 12 3\n"
SERIES = Cuts(history="series", cuts=3, kinds="lost torn-bits")


def printed(*cuts: str) -> str:
    return START + "".join(cuts)


def cut(cycle: int, *after: str, kind: str = "lost", cost: str = "7 2 1") -> str:
    lines = [f"cut {cycle} 4 {kind} 9 20", f"recovery {cycle} {kind} {cost}", *after]
    return "".join(f"{line}\n" for line in lines)


def texts(walk: str, console: str = "", *, timed_out: bool = False) -> GuestTexts:
    return GuestTexts("", None, walk, console, passed=False, timed_out=timed_out)


class Guests:
    """Prints what it was told to, and remembers what it was asked."""

    def __init__(self, *answers: GuestTexts | None) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, list[str]]] = []

    def __call__(
        self, name: str, words: Sequence[str], begun: Callable[[Path], None]
    ) -> GuestTexts | None:
        del begun
        self.asked.append((name, list(words)))
        return self.answers.pop(0)


def explorer(guests: Guests, filesystem: str = "jffs2") -> SeriesExplorer:
    return SeriesExplorer(SERIES, promise_of(filesystem), 5, guests)


ALL = printed(cut(1), cut(2, kind="torn-bits"), cut(3, cost="9 0 0"), "ended 3\n")


def test_cuts_have_what_the_mount_after_them_found() -> None:
    wrong = "wrong 2 bad-links f01 found=7 before=- first=- last=- durable=-"
    found = parse_series(printed(cut(1), cut(2, wrong, kind="torn-bits"), "ended 2\n"))
    assert [(one.cycle, one.kind, one.outcome) for one in found.cuts] == [
        (1, "lost", "correct"),
        (2, "torn-bits", "bad-links"),
    ]
    second = found.cuts[1]
    assert (second.operation, second.variant, second.operations) == (4, 9, 20)
    assert second.detail == "f01 has 7 bytes, was not there before; no call since then"
    assert found.space == [[0, 9000, 100, 90, 0, 12, 3]]
    assert found.complete and not found.stuck


def test_recovery_costs_are_summed_by_kind_and_the_most_is_known() -> None:
    found = parse_series(ALL)
    assert found.recovery == {
        "none": [1, 5, 1, 0, 5, 1, 0],
        "lost": [2, 16, 2, 1, 9, 2, 1],
        "torn-bits": [1, 7, 2, 1, 7, 2, 1],
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "f01 found=- before=2000 remove=- first=4 last=9 durable=9",
            "f01 is not there, had 2,000 bytes before; remove (gone), operations 4 to 9, "
            "durable from operation 9",
        ),
        (
            "f01 found=7 before=0 append=12 first=4 last=9 durable=-",
            "f01 has 7 bytes, had 0 bytes before; append (12 bytes), operations 4 to 9, not synced",
        ),
        ("sync 28", "sync: No space left on device"),
        ("mount 0", "mount"),
        ("obj257", "obj257"),
    ],
)
def test_what_is_wrong_is_told_in_words(words: str, said: str) -> None:
    (one,) = parse_series(printed(cut(1, f"wrong 1 bad-links {words}"))).cuts
    assert one.detail == said


def test_the_worst_of_several_outcomes_is_that_of_the_cut() -> None:
    lines = ("wrong 1 use-fails f02 5", "wrong 1 mount-fails mount 117", "wrong 1 bad-links f01")
    (one,) = parse_series(printed(cut(1, *lines))).cuts
    assert one.outcome == "mount-fails"
    assert one.detail == "mount: Structure needs cleaning"
    assert {word for word, _ in one.wrong} <= set(OUTCOMES)


def test_messages_calls_and_log_are_kept_of_the_last_that_told_them() -> None:
    told = "message 0\n<4>one\nend\ncall a create\ncall b append\nlog 0\n0 erase 3\n\nend\n"
    again = (
        "message 1\n<4>two\nend\nmessage 1\n<4>three\nend\ncall c remove\nlog 1\n1 erase 4\nend\n"
    )
    found = parse_series(printed(told, cut(1), again, cut(2), "stuck unmount 16\n"))
    assert found.messages == {0: ["<4>one"], 1: ["<4>two", "<4>three"]}
    assert found.calls == ["call c remove"] and found.log == ["1 erase 4"]
    assert found.stuck == "unmount 16" and not found.complete


def test_what_a_guest_had_begun_to_write_is_left_out() -> None:
    for end in range(len(ALL)):
        found = parse_series(ALL[:end])
        assert found.complete == (end == len(ALL))
        assert len(found.cuts) == ALL[:end].count("cut ", 0, ALL[:end].rfind("\n") + 1)


def test_a_file_system_that_fails_without_a_cut_is_no_finding() -> None:
    with pytest.raises(
        InfrastructureError, match=r"without any power cut: f01: Input/output error"
    ):
        parse_series(START + "wrong 0 use-fails f01 5\n" + cut(1))


def test_the_guest_is_told_what_the_file_system_promises() -> None:
    guests = Guests(*(texts(ALL),) * 3)
    for filesystem in ("jffs2", "ubifs", "yaffs2"):
        (life,) = explorer(guests, filesystem).explore()
        assert (life.first, life.last, life.text) == (0, 3, ALL)
    jffs2, ubifs, yaffs2 = (words for _, words in guests.asked)
    assert jffs2[0] == "3"
    assert {"seed=5", "kinds=lost,torn-bits", "space_every=1000", "first=0"} <= set(jffs2)
    assert {word.split("=")[0] for word in jffs2} - {word.split("=")[0] for word in ubifs} == {
        "two_names"
    }
    assert set(yaffs2) - set(ubifs) == {"own=lost+found", "returned_is_durable=1"}


def test_a_cut_that_ends_its_guest_is_spared_and_found() -> None:
    console = "[ 1.0] Kernel panic - not syncing: no\n"
    dead = printed(cut(1), "cut 2 4 torn-bits 9 20\n")
    guests = Guests(texts(dead, console), texts(ALL))
    lives = explorer(guests).explore()
    assert [name for name, _ in guests.asked] == ["series-0-0", "series-0-1"]
    assert "spared=2" in guests.asked[1][1]
    stored = stored_series(CASE, lives)
    assert stored["series"]["spared"] == [2]
    assert stored["counts"] == {"lost": {"correct": 2}, "torn-bits": {"guest-died": 1}}
    (finding,) = stored["findings"]
    assert finding["state"] == "2 torn-bits 9" and not finding["confirmed"]
    assert "Kernel panic" in finding["detail"] and "Kernel panic" in "".join(finding["console"])


def test_a_guest_that_ends_where_it_was_spared_is_an_error_of_the_lab() -> None:
    dead = texts(printed(cut(1), "cut 2 4 torn-bits 9 20\n"), "the end\n")
    with pytest.raises(InfrastructureError, match="the end"):
        explorer(Guests(dead, dead)).explore()
    with pytest.raises(InfrastructureError):
        explorer(Guests(texts(""))).explore()


def test_what_ends_a_guest_without_the_cut_too_is_followed_by_a_new_flash() -> None:
    """As where JFFS2 hangs: the flash has what ends it, however the power was cut."""
    dead = texts(
        printed(cut(1), "cut 2 4 torn-bits 9 20\n"), "[ 1.0] Kernel panic - not syncing: no\n"
    )
    guests = Guests(dead, dead, texts(printed(cut(3), "ended 3\n")))
    lives = explorer(guests).explore()
    assert [(life.first, life.last) for life in lives] == [(0, 2), (2, 3)]
    assert "first=2" in guests.asked[2][1] and "spared=2" not in guests.asked[2][1]
    stored = stored_series(CASE, lives)
    assert stored["states"] == 3
    (finding,) = stored["findings"]
    assert (finding["outcome"], finding["states"]) == ("guest-died", 1)


def test_acts_are_told_only_where_there_are_some() -> None:
    acting = replace(SERIES, acts="moves turn-over")
    for workload in (SERIES, acting):
        words = series_words(workload, promise_of("jffs2"), 5, first=0, cuts=3, spared=())
        told = {word for word in words if word.startswith(("acts=", "reordered="))}
        assert told == ({"acts=moves,turn-over", "reordered=torn-bits"} if workload.acts else set())


def test_a_flash_that_is_lost_is_followed_by_a_new_one() -> None:
    lost = printed(cut(1), cut(2, "wrong 2 mount-fails mount 117", kind="torn-bits"))
    guests = Guests(texts(lost + "stuck mount 0\n"), texts(printed(cut(3), "ended 3\n")))
    lives = explorer(guests).explore()
    assert [life.first for life in lives] == [0, 2]
    assert "first=2" in guests.asked[1][1] and guests.asked[1][1][0] == "3"
    stored = stored_series(CASE, lives)
    assert stored["states"] == 3 and stored["operations"] == 60
    assert stored["series"]["lives"] == [0, 2]
    assert stored["series"]["recovery"]["lost"] == [2, 14, 4, 2, 7, 2, 1]
    (finding,) = stored["findings"]
    assert (finding["outcome"], finding["confirmed"]) == ("mount-fails", True)
    assert cut_of(finding["state"]).cut.operation == 2


def test_a_log_without_room_is_no_finding_and_ends_with_its_flash() -> None:
    guests = Guests(
        texts(printed(cut(1)) + "stuck stop 28\n"), texts(printed(cut(2), cut(3), "ended 3\n"))
    )
    stored = stored_series(CASE, explorer(guests).explore())
    assert stored["series"]["given_up"] == [1] and stored["series"]["lives"] == [0, 1]
    assert stored["states"] == 3 and not stored["findings"]


def test_a_series_stops_with_ffslab() -> None:
    with pytest.raises(StoppedError):
        explorer(Guests(None)).explore()


def test_alike_findings_are_one() -> None:
    known = "before=- create=9 first=1 last=2 durable=-"
    lines = [f"wrong {n} bad-links f{n:02} found={n}000 {known}" for n in (1, 2, 3)]
    lines[2] = lines[2].replace("durable=-", "durable=17")
    text = printed(*(cut(n, line) for n, line in enumerate(lines, 1)), "ended 3\n")
    stored = stored_series(CASE, [Life(0, text, parse_series(text), {})])
    assert [(one["states"], one["state"]) for one in stored["findings"]] == [
        (2, "1 lost 9"),
        (1, "3 lost 9"),
    ]


def space(*sizes: int, bad: int = 0) -> list[list[int]]:
    last = len(sizes) - 1
    return [
        [1000 * at, size, 100, 90, bad if at == last else 0, 12, 3] for at, size in enumerate(sizes)
    ]


def test_less_room_for_good_is_a_leak_and_what_varies_is_none() -> None:
    assert not leaks(space(9, 7, 9, 8, 7, 9, 8, 7))
    assert not leaks(space(9, 8, 7))  # too few to say
    (told,) = leaks(space(9, 8, 7, 7, 6, 6, 6, 5))
    assert told == "8 bytes or more fitted at first, 6 or fewer at last"
    assert leaks(space(*[9] * 8, bad=2)) == ["2 blocks more are marked bad"]
    # By more than a file system takes without any cut.
    assert not leaks(space(9, 8, 7, 7, 6, 6, 6, 5), 2)
    assert leaks(space(9, 8, 7, 7, 6, 6, 6, 5), 1) == [told]
    # Of LogFS that is a block, once.
    grown = promise_of("logfs").growth_bytes
    assert not leaks(space(*[12_763_136] * 4, *[12_759_040] * 4), grown)
    assert leaks(space(*[12_763_136] * 4, *[12_759_040 - 4096] * 4), grown)
    assert not any(promise_of(name).growth_bytes for name in ("jffs2", "ubifs", "yaffs2"))
    text = printed(
        "".join(f"space {row[0]} {row[1]} 1 1 0 1 1\n" for row in space(*range(9, 1, -1)))
    )
    text += cut(1) + "ended 1\n"
    stored = stored_series(CASE, [Life(0, text, parse_series(text), {})])
    assert [finding["outcome"] for finding in stored["findings"]] == ["leak"]


def test_flashes_of_one_series_that_leak_alike_do_not_hide_each_other(tmp_path: Path) -> None:
    lives = []
    for first in (0, 10):
        rows = (f"space {first} {size} 1 1 {size < 6} 1 1\n" for size in range(9, 1, -1))
        text = printed("".join(rows).replace("True", "1").replace("False", "0"))
        text += cut(first + 1) + "ended 1\n"
        lives.append(Life(first, text, parse_series(text), {}))
    stored = stored_series(CASE, lives)
    # Each loses space, and has a block more that is marked bad.
    identifiers = [one["id"] for one in stored["findings"] if one["outcome"] == "leak"]
    assert len(set(identifiers)) == len(identifiers) == 4
    run = new_run(tmp_path, SERIES_STUDY.format(workload="cuts = 3"))
    keep(run, (run_cases(run)[0].id, stored), {})
    assert [find_finding(run, wanted)[1] for wanted in identifiers] == identifiers


def test_how_far_a_guest_has_come_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ffslab.workloads.cuts.explore.series._TOLD_EVERY_S", 0.001)
    told: SimpleQueue[tuple[int, int]] = SimpleQueue()

    def guest(name: str, words: Sequence[str], begun: Callable[[Path], None]) -> GuestTexts | None:
        del name, words
        begun(tmp_path)
        (tmp_path / "walk").write_text(printed(cut(1), cut(2), "cut 3"))
        assert told.get(timeout=60) == (2, 3)
        return texts(ALL)

    made = SeriesExplorer(SERIES, promise_of("jffs2"), 5, guest, lambda *both: told.put(both))
    assert made.explore()[0].last == 3
