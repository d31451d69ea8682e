"""Which commit made a case worse: a search that tries one commit after the other.

How a commit is tried is the caller's business; what is known of the history comes from
`ffslab.lab.commits`. Each commit is tried once. Time is virtual, so one trial is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ffslab.errors import UsageError
from ffslab.lab.commits import History, Word
from ffslab.results.schema import Figure


@dataclass(frozen=True, slots=True)
class Trial:
    """What a commit showed: the figure asked for, or None; `why` there is none or it is no good.

    `run` is None where the commit could not be built.
    """

    commit: str
    figure: Figure | None = None
    run: Path | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """What is bad. With a `metric`: a figure worse than the good commit's by more than `threshold`
    (0.02: 2 %). Without: a case that does not pass.
    """

    metric: str
    threshold: float

    def word(self, trial: Trial, good: Trial) -> Word:
        """What a trial says of its commit."""
        if trial.run is None:
            return Word.SKIP
        if not self.metric:
            return Word.BAD if trial.why else Word.GOOD
        if trial.figure is None or good.figure is None:
            return Word.SKIP
        return Word.BAD if loss_of(good.figure, trial.figure) > self.threshold else Word.GOOD


@dataclass(frozen=True, slots=True)
class Found:
    """The first bad commit, or those of which one is it, the oldest first; all `trials` by commit.

    `before` is the good commit next to it.
    """

    commits: tuple[str, ...]
    before: str
    trials: Mapping[str, Trial]


def loss_of(good: Figure, new: Figure) -> float:
    """By how much a figure is worse than a good one, as a part of that; below 0: better.

    Where neither way is better, more is worse.
    """
    change = new.value - good.value
    if good.metric.better == "higher":
        change = -change
    return change / abs(good.value) if good.value else change


def search(
    history: History,
    ends: tuple[str, str],
    paths: Sequence[str],
    rule: Rule,
    try_commit: Callable[[str], Trial],
    tell: Callable[[Trial, Word], None],
) -> Found:
    """Tries the two `ends`, a good and a bad commit, and then what lies between them.

    `paths`: only commits that change these files are tried. UsageError if the ends do not differ as
    the rule says.
    """
    good, bad = ends
    first = try_commit(good)
    _require(first, rule, "good", Word.GOOD, first, tell)
    last = try_commit(bad)
    _require(last, rule, "bad", Word.BAD, first, tell)
    trials = {good: first, bad: last}
    fine, following = [good], history.start(good, bad, paths)
    while following.commit:
        trial = trials.get(following.commit) or try_commit(following.commit)
        trials[trial.commit] = trial
        word = rule.word(trial, first)
        tell(trial, word)
        if word is Word.GOOD:
            fine.append(trial.commit)
        following = history.tell(trial.commit, word)
    begin = following.found[0]
    before = min(fine, key=lambda commit: history.between(commit, begin))
    return Found(following.found, before, trials)


def _require(
    trial: Trial,
    rule: Rule,
    end: str,
    wanted: Word,
    first: Trial,
    tell: Callable[[Trial, Word], None],
) -> None:
    """UsageError if one of the ends is not what the user calls it."""
    word = rule.word(trial, first)
    tell(trial, word)
    if word is wanted:
        return
    if word is Word.SKIP:
        raise UsageError(
            f"the {end} commit has no result: {trial.why}",
            cause="it does not build here, or its case does not pass",
            remedy=f"another commit for --{end}",
        )
    if not rule.metric:
        says = f"does not pass: {trial.why}" if end == "good" else "passes"
    else:
        says = f"has no {rule.metric} that is more than {100 * rule.threshold:g} % worse"
    raise UsageError(
        f"the case of the {end} commit {says}",
        cause="the two commits are in each other's place, or the change is elsewhere",
        remedy="other commits, another --metric or a smaller --threshold",
    )
