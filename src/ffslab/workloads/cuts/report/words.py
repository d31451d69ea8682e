"""What the page of an exploration says in words: its result, what was explored, the commands."""

from __future__ import annotations

from ffslab.program import command
from ffslab.report.quantity import SPACE, counted, grouped
from ffslab.workloads.cuts.explore.case import STUDY
from ffslab.workloads.cuts.kind import Exploration
from ffslab.workloads.cuts.outcomes import CORRECT
from ffslab.workloads.cuts.report.load import Loaded, Part
from ffslab.workloads.cuts.report.outcomes import total, wrong_words
from ffslab.workloads.cuts.walk import Cut

_FAULTS = (
    ("factory_bad", "factory bad blocks"),
    ("program_fail_ppm", "ppm of programs fail"),
    ("erase_fail_ppm", "ppm of erases fail"),
)


def result_words(loaded: Loaded) -> str:
    """The exploration in a sentence."""
    found = total(part.stored["counts"] for part in loaded.parts)
    states = found.total()
    wrong = states - found[CORRECT]
    if not states:
        return "No state has been gone through yet."
    if not wrong:
        return f"All {grouped(states)} states are correct."
    by_label: dict[str, int] = {}
    for part in loaded.parts:
        counts = total([part.stored["counts"]])
        bad = counts.total() - counts[CORRECT]
        if bad:
            by_label[part.label] = by_label.get(part.label, 0) + bad
    whose = ", ".join(f"{label} {grouped(count)}" for label, count in by_label.items())
    are = "is" if wrong == 1 else "are"
    return (
        f"{grouped(wrong)} of {grouped(states)} states {are} not correct: "
        f"{', '.join(wrong_words(found))} ({whose})."
    )


def facts(loaded: Loaded) -> list[tuple[str, str]]:
    """What was explored, by name."""
    exploration, about, parts = loaded.exploration, loaded.about, loaded.parts
    series = exploration.series
    builds = [str(build)[:12] for build in about.get("builds", ())]
    return [
        ("Run", loaded.path.resolve().name),
        ("Exploration", exploration.name),
        ("ffslab", str(about.get("ffslab", ""))),
        ("Build of the lab", ", ".join(builds) or "not recorded"),
        ("File systems", ", ".join(dict.fromkeys(part.label for part in parts)) or "–"),
        ("Workloads", ", ".join(dict.fromkeys(part.workload for part in parts)) or "–"),
        ("Operations", grouped(sum(part.stored["operations"] for part in parts))),
        ("States", _states(loaded)),
        *(_of_histories(exploration) if exploration.workloads else ()),
        *(
            [
                ("Cuts in a row", grouped(series.cuts)),
                ("Kinds of these", ", ".join(series.kinds)),
            ]
            if series
            else ()
        ),
        *_board(exploration),
    ]


def _of_histories(exploration: Exploration) -> list[tuple[str, str]]:
    return [
        ("Kinds of cut", ", ".join(exploration.cuts.kinds)),
        ("Sample", _sample(exploration)),
        ("Each state is", _check(exploration)),
    ]


def _states(loaded: Loaded) -> str:
    states = grouped(loaded.states)
    if not loaded.exploration.cuts.sample:
        return states
    possible = sum(part.stored["states_possible"] for part in loaded.parts)
    return f"{states}; one cut anywhere would leave {grouped(possible)}"


def _sample(exploration: Exploration) -> str:
    cuts = exploration.cuts
    words = f"{grouped(cuts.sample)} states of each unit" if cuts.sample else "every operation"
    if cuts.variants > 1:
        words += f", {cuts.variants} variants of each kind"
    if cuts.recovery_sample:
        words += f"; every cut of the recovery from {grouped(cuts.recovery_sample)} of them"
    return words


def _check(exploration: Exploration) -> str:
    cuts = exploration.cuts
    if cuts.check == "mount":
        return "mounted and looked at"
    filled = f" ({grouped(cuts.fill_sample)} of each unit until full)" if cuts.fill_sample else ""
    return f"mounted, looked at, used{filled}, mounted again"


def _board(exploration: Exploration) -> list[tuple[str, str]]:
    own = exploration.cases[0].board.chip
    chips = dict.fromkeys(
        f"{board.chip.title}, pages of {grouped(board.chip.page_bytes)}{SPACE}B"
        for board in exploration.boards
    )
    faults = [f"{getattr(own, key)} {words}" for key, words in _FAULTS if getattr(own, key)]
    if exploration.paired_distance_pages:
        faults.append(f"pages paired {exploration.paired_distance_pages} apart")
    sizes = sorted({case.partition_bytes for case in exploration.cases})
    return [
        ("Board", ", ".join(dict.fromkeys(board.name for board in exploration.boards))),
        ("Chip", "; ".join(chips)),
        ("Other faults of the chip", ", ".join(faults) or "none"),
        ("Partition", f"{', '.join(counted(size / 2**20) for size in sizes)}{SPACE}MiB"),
        (
            "Timing",
            "the board’s" if exploration.is_timed else "none: chip and CPU take no time",
        ),
    ]


def cut_words(cut: Cut) -> str:
    """A cut: "torn-bits at 12"."""
    variant = f", variant {cut.variant}" if cut.variant else ""
    return f"{cut.kind} at {grouped(cut.operation)}{variant}"


def series_words(cut: Cut) -> str:
    """One of many cuts, which has its number in the place of an operation: "cut 12: lost"."""
    return f"cut {grouped(cut.operation)}: {cut.kind}"


def under_way(part: Part, operation: int) -> str:
    """What a cut came into: "program of block 1, page 2, in: fsync etc/conf"."""
    flash, call = part.operations.flash(operation), part.operations.call(operation)
    return f"{flash}, in: {call}" if flash and call else flash


def commands(loaded: Loaded) -> list[tuple[str, str]]:
    """What each command is for, and the command."""
    path = loaded.path
    catalogs = [word for one in loaded.about["catalogs"] for word in ("--catalog", one)]
    found = [
        ("This exploration again", str(loaded.about.get("command", ""))),
        ("Its file as it was then", command("crash", "run", path / STUDY, *catalogs)),
        ("Outcomes and findings as a text", command("crash", "show", path)),
        ("This page", command("crash", "report", path)),
    ]
    if loaded.missing:
        found.insert(0, ("Go on with it", command("crash", "run", "--resume", path)))
    histories = (part for part in loaded.parts if "series" not in part.stored)
    first = next((one for part in histories for one in part.stored["findings"]), None)
    if first is not None:
        smaller = command("crash", "minimize", first["id"], "--run", path)
        found.append(("A shorter history that does the same harm", smaller))
    return [(what, words) for what, words in found if words]
