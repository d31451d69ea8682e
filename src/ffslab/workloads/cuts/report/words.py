"""What the page says in words: the result, what was cut how, the commands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ffslab.oracle.faults import kinds_on
from ffslab.program import command
from ffslab.report.quantity import SPACE, counted, grouped
from ffslab.workloads.cuts.keys import FULL, Cuts
from ffslab.workloads.cuts.outcomes import CORRECT, wrong_words
from ffslab.workloads.cuts.report.load import Part
from ffslab.workloads.cuts.report.outcomes import total
from ffslab.workloads.cuts.walk import Cut

_FAULTS = (
    ("factory_bad", "factory bad blocks"),
    ("program_fail_ppm", "ppm of programs fail"),
    ("erase_fail_ppm", "ppm of erases fail"),
)


def result_words(parts: Sequence[Part]) -> str:
    """What the cuts came to, in a sentence."""
    outcomes = total(parts)
    states = outcomes.total()
    wrong = states - outcomes[CORRECT]
    if not states:
        return "No state has been gone through yet."
    if not wrong:
        return f"All {grouped(states)} states are correct."
    by_label: dict[str, int] = {}
    for part in parts:
        counts = total([part])
        bad = counts.total() - counts[CORRECT]
        if bad:
            by_label[part.label] = by_label.get(part.label, 0) + bad
    whose = ", ".join(f"{label} {grouped(count)}" for label, count in by_label.items())
    are = "is" if wrong == 1 else "are"
    return (
        f"{grouped(wrong)} of {grouped(states)} states {are} not correct: "
        f"{', '.join(wrong_words(outcomes))} ({whose})."
    )


def facts(parts: Sequence[Part]) -> list[tuple[str, str]]:
    """What was cut, by name; where cases differ all that they have."""
    of_histories = [part for part in parts if "series" not in part.cuts]
    of_series = [part for part in parts if "series" in part.cuts]
    all_facts = [
        ("Histories", _each(part.history for part in parts)),
        ("Operations", grouped(sum(part.cuts["operations"] for part in parts))),
        ("States", _states(parts)),
        ("Kinds of cut", _each(" ".join(kinds_of(part)) for part in of_histories)),
        ("Sample", _each(_sample(part.workload) for part in of_histories)),
        ("Each state is", _each(_check(part.workload) for part in of_histories)),
        ("Cuts in a row", _each(grouped(part.cuts["series"]["cuts"]) for part in of_series)),
        ("Kinds of these", _each(" ".join(kinds_of(part)) for part in of_series)),
        ("Chip", _each(_chip(part) for part in parts)),
        ("Other faults of the chip", _each(_faults(part) for part in parts)),
        ("Partition", _each(_partition(part) for part in parts)),
        (
            "Timing",
            _each(
                "the board’s" if part.is_timed else "none: chip and CPU take no time"
                for part in parts
            ),
        ),
    ]
    return [(name, words) for name, words in all_facts if words]


def _each(words: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(words))


def kinds_of(part: Part) -> tuple[str, ...]:
    """The kinds of cut that a part makes."""
    return kinds_on([part.technology], part.workload.cut_kinds)


def _states(parts: Sequence[Part]) -> str:
    states = sum(part.cuts["states"] for part in parts)
    if not any(part.workload.sample for part in parts):
        return grouped(states)
    possible = sum(part.cuts["states_possible"] for part in parts)
    return f"{grouped(states)}; one cut anywhere would leave {grouped(possible)}"


def _sample(cuts: Cuts) -> str:
    words = f"{grouped(cuts.sample)} states of each case" if cuts.sample else "every operation"
    if cuts.variants > 1:
        words += f", {cuts.variants} variants of each kind"
    if cuts.recovery_sample:
        words += f", every cut of the recovery from {grouped(cuts.recovery_sample)} of them"
    return words


def _check(cuts: Cuts) -> str:
    if cuts.check != FULL:
        return "mounted and looked at"
    filled = f" ({grouped(cuts.fill_sample)} of each case until full)" if cuts.fill_sample else ""
    return f"mounted, looked at, used{filled}, mounted again"


def _chip(part: Part) -> str:
    chip = part.spec["board"]["chip"]
    return f"{chip['name']}, pages of {grouped(chip['page_bytes'])}{SPACE}B"


def _faults(part: Part) -> str:
    chip = part.spec["board"]["chip"]
    faults = [f"{chip[key]} {words}" for key, words in _FAULTS if chip.get(key)]
    distance = part.workload.paired_distance_pages
    if distance:
        faults.append(f"pages paired {distance} apart")
    return ", ".join(faults) or "none"


def _partition(part: Part) -> str:
    return f"{counted(part.spec['partition_bytes'] / 2**20)}{SPACE}MiB"


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


def minimize_command(parts: Sequence[Part], run_dir: Path) -> str:
    """What looks for a shorter history that does the same harm; empty if there is no finding."""
    histories = (part for part in parts if "series" not in part.cuts)
    first = next((finding for part in histories for finding in part.cuts["findings"]), None)
    return command("crash", "minimize", first["id"], "--run", run_dir) if first else ""
