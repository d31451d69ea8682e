"""One file system with one history: its log, all its states, and what became of each.

A state that ends its guest is repeated alone, in a fresh guest, whose judgement counts; so is every
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
from ffslab.oracle.faults import KINDS
from ffslab.targets.several import StoppedError
from ffslab.workloads.cuts.explored import Explored, Judged
from ffslab.workloads.cuts.keys import Cuts
from ffslab.workloads.cuts.outcomes import CORRECT, GUEST_DIED, Judgement, Judgements, Oracle
from ffslab.workloads.cuts.states import all_cuts, drawn, parse_log
from ffslab.workloads.cuts.texts import GuestTexts
from ffslab.workloads.cuts.walk import Cut, State, StateName, Walk, parse_walk

# Runs a guest with these states ("" for none) under a name; None: ffslab is to stop.
RunGuest = Callable[[str, str], GuestTexts | None]
_IN_ONE_GUEST = 5000
# Repeating all of ten thousand like faults alone would tell nothing new.
_CONFIRMED_OF_A_KIND = 3


@dataclass(slots=True)
class Explorer:
    """Goes through the states of one history.

    `name` makes its draws differ from those of other cases. `oracle_for` makes the oracle from the
    record of the history. `tell` is called with how many states are done, of how many. `jobs`
    guests are asked for at once, in threads of their own.
    """

    name: str
    cuts: Cuts
    seed: int
    run_guest: RunGuest
    oracle_for: Callable[[str], Oracle]
    tell: Callable[[int, int], None] = lambda _done, _all: None
    jobs: int = 1
    _guests: int = 0
    _texts: dict[str, str] = field(default_factory=dict)
    _filled: frozenset[Cut] = frozenset()

    def explore(self, first: GuestTexts) -> Explored:
        """Everything; `first` is what the guest left whose chip logged the history."""
        text = first.log or ""
        self._guests = 1
        log = parse_log(text)
        paired = bool(self.cuts.paired_distance_pages)
        every = list(all_cuts(log, self.cuts, paired=paired))
        chosen = drawn(every, self.cuts.sample, self.seed, self.name)
        judgements = Judgements(self._texts, self.oracle_for(first.record))
        self._filled = self._some(chosen, self.cuts.fill_sample, "filled")
        lines = [line_of(StateName(cut), cut in self._filled) for cut in chosen]
        lines += self._second_cuts(chosen)
        judged = self._judged(lines, judgements, first.record)
        confirmed = self._confirmed(judged, judgements)
        there = [
            judged_state.name.cut for judged_state in confirmed if judged_state.name.then is None
        ]
        return Explored(
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
        return frozenset(drawn(cuts, count, self.seed, f"{self.name} {what}"))

    def _second_cuts(self, chosen: Sequence[Cut]) -> list[str]:
        """Lines for every cut in the recovery from some of the states."""
        if not self.cuts.recovery_sample:
            return []
        what = f"{self.name} recovery"
        outer = drawn(chosen, self.cuts.recovery_sample, self.seed, what)
        second = [kind for kind in self.cuts.cut_kinds if KINDS[kind].in_recovery]
        return [f"{cut} * {kind} 0" for cut in outer for kind in second]

    def _run(self, name: str, states: Sequence[str]) -> GuestTexts:
        texts = self.run_guest(name, "".join(f"{line}\n" for line in states))
        if texts is None:
            raise StoppedError
        return texts

    def _judged(self, lines: Sequence[str], judgements: Judgements, record: str) -> list[Judged]:
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
                    judged += [self._judge(state, judgements) for state in there]
                    if walk.begun is not None and not walk.complete:
                        judged.append(_died(walk.begun, texts, self._is_filled(walk.begun)))
                self._guests += len(guests)
                done += len(part)
                self.tell(done, len(lines))
        return judged

    def _judge(self, state: State, judgements: Judgements) -> Judged:
        judgement = judgements.of(state)
        return Judged(state.name, judgement, state, is_filled=self._is_filled(state.name))

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
                    f"a guest of {self.name} ended between two states:\n"
                    + "\n".join(f"    {line}" for line in texts.last),
                    cause="ffscrash failed, or the guest's memory is too small for the log",
                )
            todo = list(_behind(walk.begun, todo))
        return guests

    def _read(self, texts: GuestTexts, record: str) -> Walk:
        if texts.record and texts.record != record:
            raise InfrastructureError(
                f"two guests with the history of {self.name} logged different things",
                cause="a source of difference in the lab, which is a bug of ours",
                remedy="report it, with the run directory",
            )
        return parse_walk(texts.walk)

    def _confirmed(self, judged: Sequence[Judged], judgements: Judgements) -> list[Judged]:
        """States with a fault, some of each kind, alone in a guest of their own."""
        tried: Counter[tuple[str, str]] = Counter()
        repeated: list[Judged] = []
        for judged_state in judged:
            alike = (judged_state.judgement.outcome, judged_state.name.cut.kind)
            if judged_state.judgement.outcome != CORRECT and tried[alike] < _CONFIRMED_OF_A_KIND:
                tried[alike] += 1
                repeated.append(judged_state)
        with ThreadPoolExecutor(self.jobs) as pool:
            alone = pool.map(
                lambda numbered: self._run(
                    f"alone-{numbered[0]}", [line_of(numbered[1].name, numbered[1].is_filled)]
                ),
                enumerate(repeated),
            )
            confirmed = {
                judged_state.name: self._again(judged_state, texts, judgements)
                for judged_state, texts in zip(repeated, alone, strict=True)
            }
        self._guests += len(repeated)
        return [confirmed.get(judged_state.name, judged_state) for judged_state in judged]

    def _again(self, judged_state: Judged, texts: GuestTexts, judgements: Judgements) -> Judged:
        """What is to be said of a state that was repeated alone."""
        walk = parse_walk(texts.walk)
        self._texts.update(walk.texts)
        again = next((state for state in walk.states if state.name == judged_state.name), None)
        if again is None:
            return replace(
                _died(judged_state.name, texts, judged_state.is_filled),
                confirmed=judged_state.judgement.outcome == GUEST_DIED,
            )
        judgement = judgements.of(again)
        if judgement.outcome == judged_state.judgement.outcome:
            return replace(judged_state, confirmed=True)
        before = judged_state.judgement
        told = f"after the states before it: {before.outcome}: {before.detail}; alone"
        differs = Judgement(before.outcome, f"{told}: {judgement.outcome}")
        return replace(judged_state, judgement=differs, state=again)

    def _is_filled(self, name: StateName) -> bool:
        return name.then is None and name.cut in self._filled


def line_of(name: StateName, is_filled: bool = False) -> str:
    """A state as ffscrash is told of it."""
    cuts = f"{name.cut} {name.then}" if name.then else str(name.cut)
    return f"{cuts} fill" if is_filled else cuts


def _died(name: StateName, texts: GuestTexts, is_filled: bool) -> Judged:
    said, console = texts.death("the guest ended without a word")
    return Judged(name, Judgement(GUEST_DIED, said), None, is_filled=is_filled, console=console)


def _behind(killer: StateName, lines: Sequence[str]) -> Iterable[str]:
    """The lines that are left when a state killed its guest."""
    first = str(killer.cut)
    position = next(at for at, line in enumerate(lines) if _is_of(line, killer))
    if killer.then is not None:
        # Of all cuts in a recovery those behind the one that killed.
        after = replace(killer.then, operation=killer.then.operation + 1)
        yield f"{first} {after.operation}+ {after.kind} {after.variant}"
    yield from lines[position + 1 :]


def _is_of(line: str, name: StateName) -> bool:
    if name.then is None:
        return line in (line_of(name), line_of(name, is_filled=True))
    words = line.split(" ")
    return " ".join(words[:3]) == str(name.cut) and words[4:] == str(name.then).split(" ")[1:]
