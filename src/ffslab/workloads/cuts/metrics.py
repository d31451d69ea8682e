"""The figures of `cuts`: how many states are correct, and what a recovery costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ffslab.oracle.faults import KINDS
from ffslab.results.criteria import Criterion, Tally
from ffslab.results.result import CaseResult
from ffslab.results.schema import Figure, Metric, TaskWork, case_figures
from ffslab.workloads.cuts.keys import BOARD_TIME
from ffslab.workloads.cuts.outcomes import CORRECT, DOES, LEAK
from ffslab.workloads.cuts.stored import (
    SECOND,
    CutsResult,
    added_counts,
    cuts_result,
    outcomes_of,
    space_of,
)

KIND = "cuts"
OF = "the workload cuts"
NOTE = """The key `cuts` of a result ([power-cuts.md](power-cuts.md)): `calls` of the history, `operations` that the chip
logged, `states_possible` that one cut can leave, `states` gone through, `untouched` that the use did not change;
`counts` of states by kind of cut ("A / B" where the recovery was cut, too) and outcome, `random` of those at random;
`findings`; `recovery`, with a row of `curve` for each operation that was lost: operation, pages read, pages programmed,
blocks erased, nanoseconds; `worst`, the operation with the most expensive mount; `uncut`, the mount without a cut. Of a
series also `series`, of sequences `sequences`; of these and of your own calls `failed_calls`: what failed without a
cut, and how often. Null if the history failed without a cut.

"""  # noqa: E501  (columns of the document)
STATES, RECOVERY, FLASHES = "states", "recovery", "flashes"


def _metric(name: str, title: str, meaning: str, **further: object) -> Metric:
    return Metric(name=name, title=title, meaning=meaning, kinds=(KIND,), **further)  # type: ignore[arg-type]


CORRECT_PERCENT = _metric(
    "correct_percent",
    "States that are correct",
    "as the file system promises ÷ all states",
    unit="%",
    better="higher",
    exact=False,
)
WRONG = _metric("not_correct", "States that are not correct", "how many they are")
GONE_THROUGH = _metric("gone_through", "States", "states that were gone through", better="neither")
COSTS = (
    _metric("most_pages_read", "A recovery's pages read", "the most of all mounts after a cut"),
    _metric(
        "most_pages_programmed",
        "A recovery's pages programmed",
        "the most of all mounts after a cut",
    ),
    _metric(
        "most_blocks_erased",
        "A recovery's blocks erased",
        "the most of all mounts after a cut",
    ),
)
LONGEST = _metric(
    "longest_ns",
    "The longest recovery",
    'the longest mount after a cut; with `timing = "board"` only',
    unit="ms",
    scale=1e6,
)
LEAST = _metric(
    "least_bytes",
    "What fits after cuts in a row",
    "the least that one file took when all was empty",
    unit="MiB",
    scale=2.0**20,
    better="higher",
    words=("more", "less"),
)
METRICS = (CORRECT_PERCENT, WRONG, GONE_THROUGH, *COSTS, LONGEST, LEAST)


def figures(result: CaseResult) -> tuple[Figure, ...]:
    """All figures of a result of this workload."""
    cuts = cuts_result(result)
    is_timed = result["spec"]["workload"].get("timing") == BOARD_TIME
    return (*case_figures(result), *(_figures(cuts, is_timed=is_timed) if cuts else ()))


def _figures(cuts: CutsResult, *, is_timed: bool) -> Iterator[Figure]:
    outcomes = outcomes_of(cuts)
    states = outcomes.total()
    if states:
        yield Figure(CORRECT_PERCENT, STATES, 100 * outcomes[CORRECT] / states, main=True)
    yield Figure(WRONG, STATES, states - outcomes[CORRECT], main=True)
    yield Figure(GONE_THROUGH, STATES, states)
    curve = cuts["recovery"]["curve"]
    if curve:
        for column, metric in enumerate(COSTS, start=1):
            yield Figure(metric, RECOVERY, max(row[column] for row in curve), main=True)
        if is_timed:
            yield Figure(LONGEST, RECOVERY, max(row[4] for row in curve), main=True)
    space = space_of(cuts["series"]) if "series" in cuts else None
    if space is not None:
        yield Figure(LEAST, "series", space.least_bytes, main=True)


def criteria(result: CaseResult) -> Iterator[Criterion]:
    """How many states are wrong, of all and of each kind of cut; of a series what fits then."""
    cuts = cuts_result(result)
    if cuts is None or not cuts["states"]:
        return
    yield _tally("all", "all states of the flash", outcomes_of(cuts), headline=True)
    # Those of which a case has none, too: so columns have the order of the kinds in each report.
    for kind in KINDS.values():
        counts = cuts["counts"].get(kind.name, {})
        yield _tally(kind.name, f"{kind.name}: {kind.left}", counts)
    twice = added_counts(counts for name, counts in cuts["counts"].items() if SECOND in name)
    yield _tally("recovery cut", "the recovery from a cut is cut, too", twice)
    yield _tally("at random", "a sample, as cuts at random draw it", cuts["random"])
    if "series" not in cuts:
        return
    lives = len(cuts["series"]["lives"])
    findings = (finding for finding in cuts["findings"] if finding["outcome"] == LEAK)
    leaks = {finding["state"] for finding in findings}  # of one flash several things may leak
    counted = {CORRECT: lives - len(leaks), LEAK: len(leaks)}
    title = "flashes that were cut again and again"
    yield _tally(FLASHES, title, counted, headline=True, noun=FLASHES)
    space = space_of(cuts["series"])
    if space is not None:
        least = Figure(LEAST, "series", space.least_bytes)
        yield Criterion(least, "what fits after cuts in a row, at least", "space", short="fits")


def _tally(
    short: str,
    title: str,
    counts: Mapping[str, int],
    *,
    headline: bool = False,
    noun: str = STATES,
) -> Criterion:
    wrong = tuple((DOES[word], counts[word]) for word in DOES if counts.get(word))
    tally = Tally(noun, sum(counts.values()), wrong)
    return Criterion(
        *(Figure(WRONG, short, tally.count), title, "cuts", headline),
        short=short,
        tally=tally,
    )


def tasks(_result: CaseResult) -> tuple[TaskWork, ...]:
    """Nobody counts by tasks here."""
    return ()
