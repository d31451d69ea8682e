"""One file system with one history: its log, all its states, and what became of each.

A state that ends its guest is repeated alone, in a fresh guest, whose verdict counts; so is every
other one with a fault. The others go on behind it in the next guest. Guests are deterministic, so
what two guests disagree about is a finding of its own: those before it in the same guest had left
something behind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

from ffslab.errors import InfrastructureError
from ffslab.exploration.guest import Explored, GuestTexts, log_of
from ffslab.exploration.states import all_cuts, drawn, parse_log
from ffslab.exploration.study import Cuts
from ffslab.exploration.verdict import CORRECT, GUEST_DIED, Oracle, Verdict, Verdicts
from ffslab.exploration.walked import Cut, State, StateName, Walk, parse_walk
from ffslab.oracle.faults import KINDS, kinds_on
from ffslab.results.console import scan_console

# Runs a guest of the unit with these states ("" for none) under a name; None: ffslab is to stop.
RunGuest = Callable[[str, str], GuestTexts | None]
_IN_ONE_GUEST = 5000
# Repeating all of ten thousand like faults alone would tell nothing new.
_CONFIRMED_OF_A_KIND = 3


class StoppedError(Exception):
    """ffslab is to stop; what is unfinished is left."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A state and its verdict; `confirmed`: alone in a guest it was the same.

    `is_filled`: it was to be filled until it is full.
    """

    name: StateName
    verdict: Verdict
    state: State | None
    confirmed: bool = False
    is_filled: bool = False
    console: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnitResult:
    """All of a unit. `record` and `log` are the texts that the verdicts rest on.

    `random` are the cuts of the experiment that cuts at random.
    """

    record: str
    log: str
    judged: tuple[Judged, ...]
    guests: int
    states_possible: int
    random: frozenset[Cut] = frozenset()

    @property
    def operations(self) -> int:
        return len(self.log.splitlines())


@dataclass(slots=True)
class Unit:
    """Goes through the states of one unit.

    `oracle_for` makes the oracle from the record of the history. `tell` is called with how many
    states are done, of how many. `jobs` guests are asked for at once, in threads of their own.
    """

    explored: Explored
    cuts: Cuts
    seed: int
    run_guest: RunGuest
    oracle_for: Callable[[str], Oracle]
    tell: Callable[[int, int], None] = lambda _done, _all: None
    jobs: int = 1
    _guests: int = 0
    _texts: dict[str, str] = field(default_factory=dict)
    _filled: frozenset[Cut] = frozenset()

    def __post_init__(self) -> None:
        kinds = kinds_on([self.explored.case.board.chip.technology], self.cuts.kinds)
        self.cuts = replace(self.cuts, kinds=kinds)

    def explore(self) -> UnitResult:
        """Everything; InfrastructureError if the history fails without a cut."""
        first = self._run("log", ())
        self._guests = 1
        text = log_of(first, self.explored)
        log = parse_log(text)
        paired = bool(self.explored.paired_distance_pages)
        every = list(all_cuts(log, self.cuts, paired=paired))
        chosen = drawn(every, self.cuts.sample, self.seed, self.explored.case.id)
        verdicts = Verdicts(self._texts, self.oracle_for(first.record))
        self._filled = self._some(chosen, self.cuts.fill_sample, "filled")
        lines = [line_of(StateName(cut), cut in self._filled) for cut in chosen]
        lines += self._second_cuts(chosen)
        judged = self._judged(lines, verdicts, first.record)
        confirmed = self._confirmed(judged, verdicts)
        there = [one.name.cut for one in confirmed if one.name.then is None]
        return UnitResult(
            first.record,
            text,
            tuple(confirmed),
            self._guests,
            len(every),
            self._some(there, self.cuts.random_sample, "random"),
        )

    def _some(self, cuts: Sequence[Cut], count: int, what: str) -> frozenset[Cut]:
        """So many of the cuts, none for 0, by a draw of its own."""
        if not count:
            return frozenset()
        return frozenset(drawn(cuts, count, self.seed, f"{self.explored.case.id} {what}"))

    def _second_cuts(self, chosen: Sequence[Cut]) -> list[str]:
        """Lines for every cut in the recovery from some of the states."""
        if not self.cuts.recovery_sample:
            return []
        what = f"{self.explored.case.id} recovery"
        outer = drawn(chosen, self.cuts.recovery_sample, self.seed, what)
        second = [kind for kind in self.cuts.kinds if KINDS[kind].in_recovery]
        return [f"{cut} * {kind} 0" for cut in outer for kind in second]

    def _run(self, name: str, states: Sequence[str]) -> GuestTexts:
        texts = self.run_guest(name, "".join(f"{line}\n" for line in states))
        if texts is None:
            raise StoppedError
        return texts

    def _judged(self, lines: Sequence[str], verdicts: Verdicts, record: str) -> list[Judged]:
        """All states of these lines, part by part; which are in a part does not depend on jobs."""
        parts = [lines[at : at + _IN_ONE_GUEST] for at in range(0, len(lines), _IN_ONE_GUEST)]
        judged: list[Judged] = []
        done = 0
        with ThreadPoolExecutor(self.jobs) as pool:
            walked = pool.map(partial(self._walked, record), range(len(parts)), parts)
            for part, guests in zip(parts, walked, strict=True):
                for texts, walk in guests:
                    self._texts.update(walk.texts)
                    # A page of one sub-page, say, has no prefix: such states are not there.
                    there = [state for state in walk.states if not state.refused]
                    judged += [self._judge(state, verdicts) for state in there]
                    if walk.begun is not None and not walk.complete:
                        judged.append(_died(walk.begun, texts, self._is_filled(walk.begun)))
                self._guests += len(guests)
                done += len(part)
                self.tell(done, len(lines))
        return judged

    def _judge(self, state: State, verdicts: Verdicts) -> Judged:
        verdict = verdicts.of(state)
        return Judged(state.name, verdict, state, is_filled=self._is_filled(state.name))

    def _walked(
        self, record: str, number: int, part: Sequence[str]
    ) -> list[tuple[GuestTexts, Walk]]:
        """The states of a part: in one guest, and behind each that ended its guest in another."""
        guests: list[tuple[GuestTexts, Walk]] = []
        todo = list(part)
        while todo:
            texts = self._run(f"walk-{number}-{len(guests)}", todo)
            walk = self._read(texts, record)
            guests.append((texts, walk))
            if walk.complete:
                break
            if walk.begun is None:
                raise InfrastructureError(
                    f"a guest of {self.explored.case.id} ended between two states:\n"
                    + "\n".join(f"    {line}" for line in texts.last),
                    cause="ffscrash failed, or the guest's memory is too small for the log",
                )
            todo = list(_behind(walk.begun, todo))
        return guests

    def _read(self, texts: GuestTexts, record: str) -> Walk:
        if texts.record and texts.record != record:
            raise InfrastructureError(
                f"two guests with the history of {self.explored.case.id} logged different things",
                cause="a source of difference in the lab, which is a bug of ours",
                remedy="report it, with the run directory",
            )
        return parse_walk(texts.walk)

    def _confirmed(self, judged: Sequence[Judged], verdicts: Verdicts) -> list[Judged]:
        """States with a fault, some of each kind, alone in a guest of their own."""
        tried: Counter[tuple[str, str]] = Counter()
        repeated: list[Judged] = []
        for one in judged:
            alike = (one.verdict.outcome, one.name.cut.kind)
            if one.verdict.outcome != CORRECT and tried[alike] < _CONFIRMED_OF_A_KIND:
                tried[alike] += 1
                repeated.append(one)
        with ThreadPoolExecutor(self.jobs) as pool:
            alone = pool.map(
                lambda one: self._run(f"alone-{one[0]}", [line_of(one[1].name, one[1].is_filled)]),
                enumerate(repeated),
            )
            found = {
                one.name: self._again(one, texts, verdicts)
                for one, texts in zip(repeated, alone, strict=True)
            }
        self._guests += len(repeated)
        return [found.get(one.name, one) for one in judged]

    def _again(self, one: Judged, texts: GuestTexts, verdicts: Verdicts) -> Judged:
        """What is to be said of a state that was repeated alone."""
        walk = parse_walk(texts.walk)
        self._texts.update(walk.texts)
        again = next((state for state in walk.states if state.name == one.name), None)
        if again is None:
            return replace(
                _died(one.name, texts, one.is_filled), confirmed=one.verdict.outcome == GUEST_DIED
            )
        verdict = verdicts.of(again)
        if verdict.outcome == one.verdict.outcome:
            return replace(one, confirmed=True)
        told = f"after the states before it: {one.verdict.outcome}: {one.verdict.detail}; alone"
        return replace(
            one, verdict=Verdict(one.verdict.outcome, f"{told}: {verdict.outcome}"), state=again
        )

    def _is_filled(self, name: StateName) -> bool:
        return name.then is None and name.cut in self._filled


def line_of(name: StateName, is_filled: bool = False) -> str:
    """A state as ffscrash is told of it."""
    cuts = f"{name.cut} {name.then}" if name.then else str(name.cut)
    return f"{cuts} fill" if is_filled else cuts


def _died(name: StateName, texts: GuestTexts, is_filled: bool) -> Judged:
    worst = scan_console(texts.console)
    if worst:
        verdict, console = Verdict(GUEST_DIED, worst[0].text), worst[0].excerpt
        return Judged(name, verdict, None, is_filled=is_filled, console=console)
    said = "no end within the limit" if texts.timed_out else "the guest ended without a word"
    console = texts.last
    return Judged(name, Verdict(GUEST_DIED, said), None, is_filled=is_filled, console=console)


def _behind(killer: StateName, lines: Sequence[str]) -> Iterable[str]:
    """The lines that are left when a state killed its guest."""
    first = str(killer.cut)
    place = next(at for at, line in enumerate(lines) if _is_of(line, killer))
    if killer.then is not None:
        # Of all cuts in a recovery those behind the one that killed.
        after = replace(killer.then, operation=killer.then.operation + 1)
        yield f"{first} {after.operation}+ {after.kind} {after.variant}"
    yield from lines[place + 1 :]


def _is_of(line: str, name: StateName) -> bool:
    if name.then is None:
        return line in (line_of(name), line_of(name, is_filled=True))
    words = line.split(" ")
    return " ".join(words[:3]) == str(name.cut) and words[4:] == str(name.then).split(" ")[1:]
