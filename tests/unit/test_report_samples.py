"""What the cases of a run have to decide by: which are compared, where, what became of others."""

from __future__ import annotations

from dataclasses import replace

from first_support import (
    BACK,
    SHORT,
    SYNC,
    Measured,
    case,
    cost,
    run_of,
    time,
    times,
    told,
)

from ffslab.report.first.samples import Matter, matter_of


def matter(measured: Measured) -> Matter:
    return matter_of(*run_of(measured))


def test_what_was_skipped_is_no_configuration() -> None:
    skipped = replace(case("ubifs"), outcome="skip")
    found = matter([*times(jffs2=1.0), (skipped, [time(2.0)])])
    assert (found.labels, found.tried) == (("JFFS2",), {"JFFS2": 1})


def test_a_case_that_failed_has_no_figures_and_no_place_of_its_own() -> None:
    """Of the four UBIFS fails twice in state aged, where JFFS2 has the only figure of two seeds."""
    failed = [replace(case("ubifs", state="aged", seed=n), outcome="fail") for n in "12"]
    lost = replace(case("ubifs", state="full"), outcome="crash")
    half = replace(case("jffs2", state="aged", seed="2"), outcome="fail")
    found = matter(
        [
            *((one, [time(9.0)]) for one in (*failed, lost, half)),
            (case("jffs2", state="aged"), [time(1.0), cost("pages_read", 5)]),
            (case("jffs2"), [time(2.0), cost("pages_read", 6)]),
            (case("ubifs"), [time(3.0)]),
        ]
    )
    aged, free, full = ((("state", name),) for name in ("aged", "free", "full"))
    assert found.places == (aged, free)
    assert {key: [one.id for one in cases] for key, cases in found.failed.items()} == {
        ("UBIFS", aged): [one.id for one in failed],
        ("UBIFS", full): [lost.id],
        ("JFFS2", aged): [half.id],
    }
    work, read = found.rows
    assert (work.places, work.scenarios) == ((aged, free), (aged, free))
    assert {label: sorted(cells) for label, cells in work.cells.items()} == {
        "JFFS2": [0, 1],
        "UBIFS": [1],
    }
    # JFFS2 has a figure of another seed there.
    assert work.failed == {0: ["UBIFS"], 1: []} == read.failed
    assert work.cells["JFFS2"][0].values == {"1": 1e9}


def test_the_place_of_a_row_has_the_axes_that_differ_in_it() -> None:
    """The read-ahead is 1 wherever RAM was counted, and the state differs."""
    both = [time(1.0), cost("pages_read", 5)]
    found = matter(
        [
            (case("jffs2", **{"workload.ahead": "1"}), both),
            (case("jffs2", state="aged", **{"workload.ahead": "1"}), both),
            (case("jffs2", state="aged", **{"workload.ahead": "2"}), [time(2.0)]),
        ]
    )
    work, read = found.rows
    state, ahead = ("state", "aged"), ("workload.ahead", "1")
    assert work.places[1] == (state, ahead)
    assert read.places == ((("state", "free"),), (state,))
    assert read.scenarios == work.scenarios[:2] == found.places[:2]


def test_options_that_tell_no_configurations_apart_are_told_beside() -> None:
    ways = [(case("ubifs", way, compression="zlib"), [time(1.0)]) for way in (BACK, SYNC)]
    back, sync = matter(ways).configurations
    assert (back.label, back.fixed, back.synced) == ("UBIFS · write-back", "zlib", sync.label)
    assert (sync.label, sync.fixed, sync.synced) == ("UBIFS · sync", "zlib", "")
    assert matter(ways).synced == {back.label: sync.label}
    packed = [(case("ubifs", BACK, compression=how), [time(1.0)]) for how in ("none", "zlib")]
    none, zlib = matter(packed).configurations
    assert (none.label, none.fixed) == ("UBIFS · no compression", BACK)
    assert (zlib.label, zlib.fixed) == ("UBIFS · zlib", BACK)


def test_one_seed_in_memory_or_cut_short_marks_the_cell() -> None:
    cut = replace(case("jffs2", seed="2"), outcome="short", short=SHORT)
    seeds = [(case("jffs2"), [time(1.0, in_memory=True)]), (cut, [time(3.0)])]
    (row,) = matter(seeds).rows
    (cell,) = row.cells["JFFS2"].values()
    assert (cell.mean, cell.in_memory, cell.cut) == (2e9, True, True)
    (row,) = matter(times(jffs2=1.0)).rows
    (cell,) = row.cells["JFFS2"].values()
    assert (cell.in_memory, cell.cut) == (False, False)


# What stands below the first screen.


def test_notes_below_the_first_screen() -> None:
    """A time in memory beside which nobody asks needs no advice."""
    lost = [replace(case(name), outcome="fail") for name in ("yaffs2", "logfs", "ubifs")]
    first = told([*times(jffs2=1.0), *((one, []) for one in lost)])
    assert (first.title, first.key) == ("", "first")
    assert first.notes == (
        "3 cases of LogFS, UBIFS and YAFFS2 did not pass and have no figures here.",
    )
    late = [(case("ubifs", BACK), [time(1.0, in_memory=True)]), *times(jffs2=1.0)]
    (advice,) = told(late).notes
    assert advice.startswith("With UBIFS writing synchronously: ")
    beside = [(one, [replace(own, headline=False) for own in every]) for one, every in late]
    assert told(beside).notes == ()
