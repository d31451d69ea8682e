"""The fit: figures with which the lab takes the times that were measured.

The lab is the model. It runs the probe with the stated figures, then with each of them changed, and
the differences say how each time depends on each figure: what a kernel does while a chip is busy,
or how an hour of waiting splits into ticks, need not be written down a second time. Figures are
solved for, the lab is run with them, and what is left is solved for once more: times are nearly
linear in the figures, so that a few rounds do.

The figures of chip and driver come from the operations of the bare device alone, the processor's
prices from all else: what the model of the processor gets wrong, a system call for instance, is not
to be made up for by a chip that is not there. Of the latter a time that stands out counts less
(Huber's weights), so that prices are those of most of the work.

Pure but for the lab, which is passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from ffslab.calibrate.figures import TimeFigure, Values, is_price_of_code
from ffslab.calibrate.readings import Key, Readings
from ffslab.calibrate.solve import Equation, Found, Unknown, solve
from ffslab.errors import InfrastructureError

# Runs the probe with each of some sets of figures, which replace the stated ones.
Lab = Callable[[Mapping[str, Values]], Mapping[str, Readings]]
ROUNDS = 4
STATED, FOUND = "stated", "found"
_SAME = 0.002
_TURNS = 12  # between the figures of the flash and the processor's; and of weights
# A miss above so many times the median one stands out (1.345 standard deviations of a normal
# distribution, whose median miss is 0.6745 of one), unless it is below a hundredth.
_HUBER = 1.345 / 0.6745
_EXACT = 0.01


@dataclass(frozen=True, slots=True)
class Comparison:
    """A time as it was measured, and as the lab takes it with the figures found."""

    key: Key
    measured_ns: float
    lab_ns: float

    @property
    def difference(self) -> float:
        """Lab ÷ measured - 1."""
        return self.lab_ns / self.measured_ns - 1


@dataclass(frozen=True, slots=True)
class Calibration:
    """The figures in the order of preference, and how well the lab takes the measured times.

    `stated`: the times as the lab takes them with the figures as stated.
    """

    figures: tuple[TimeFigure, ...]
    found: Mapping[str, Found]
    times: tuple[Comparison, ...]
    stated: tuple[Comparison, ...]
    rounds: int

    def value(self, setting: str) -> int:
        """A figure as a whole number, held ones as they are stated."""
        (figure,) = (one for one in self.figures if one.setting == setting)
        return figure.value_of(self.found[setting].value)

    @property
    def limited(self) -> tuple[TimeFigure, ...]:
        """The figures that the measured times want above what they may be."""
        return tuple(one for one in self.figures if one.exceeds(self.found[one.setting].value))

    @property
    def median_difference(self) -> float:
        """Of all times, without sign."""
        return median_difference(self.times)

    @property
    def worst(self) -> Comparison:
        """The time that the lab takes worst."""
        return max(self.times, key=lambda one: abs(one.difference))


def calibrate(measured: Readings, figures: Sequence[TimeFigure], lab: Lab) -> Calibration:
    """The figures of the board on which `measured` was.

    InfrastructureError if the lab's own runs have none of these times.
    """
    points: dict[str, Values] = {STATED: {}}
    points |= {one.setting: {one.setting: one.changed} for one in figures}
    seen = lab(points)
    modelled = seen[STATED]
    slopes = {key: _slopes(key, seen, figures) for key in _common(measured, seen)}
    if not slopes:
        raise InfrastructureError(
            "the lab and the measured run have no time in common",
            cause="their probes were not the same, or all of the lab's failed",
            remedy="look at the lab's run, beside the measured one",
        )
    values: dict[str, int] = {one.setting: one.stated for one in figures}
    rounds = 0
    moved = 1.0
    while rounds < ROUNDS and moved >= _SAME:
        rounds += 1
        found = _solved(measured, modelled, slopes, figures, values)
        before = values
        values = {one.setting: one.value_of(found[one.setting].value) for one in figures}
        modelled = lab({FOUND: values})[FOUND]
        slopes = {key: slope for key, slope in slopes.items() if key in modelled}
        moved = _moved(before, values)
    times = [Comparison(key, measured[key], modelled[key]) for key in sorted(slopes)]
    stated = [Comparison(key, measured[key], seen[STATED][key]) for key in sorted(slopes)]
    return Calibration(tuple(figures), found, tuple(times), tuple(stated), rounds)


def median_difference(times: Iterable[Comparison]) -> float:
    """Without sign; 0 of no time."""
    return median([abs(one.difference) for one in times] or [0.0])


def _solved(
    measured: Readings,
    modelled: Readings,
    slopes: Mapping[Key, Mapping[str, float]],
    figures: Sequence[TimeFigure],
    values: Values,
) -> dict[str, Found]:
    """The figures from one step of the lab, in which they were `values`."""
    start = {one.setting: one.time_of(values[one.setting]) for one in figures}
    around = {one.setting: one.unknown(start[one.setting]) for one in figures}
    prices = [name for name in around if is_price_of_code(name)]
    others = [name for name in around if name not in prices]
    found: dict[str, Found] = {}
    at = dict(start)
    for _ in range(_TURNS):
        for names, of_flash in ((prices, False), (others, True)):
            told = [
                Equation(
                    str(key),
                    measured[key],
                    modelled[key] + sum(slope[name] * (at[name] - start[name]) for name in at),
                    {name: slope[name] for name in names},
                )
                for key, slope in slopes.items()
                if key.is_of_flash is of_flash
            ]
            unknowns = [replace(around[name], around=at[name]) for name in names]
            found |= solve(told, unknowns) if of_flash else _robust(told, unknowns)
            at |= {name: found[name].value for name in names}
    return {name: found[name] for name in around}


def _robust(equations: Sequence[Equation], unknowns: Sequence[Unknown]) -> dict[str, Found]:
    """The solution in which an equation that stands out counts as its distance, not the square."""
    told = list(equations)
    for _ in range(_TURNS):
        found = solve(told, unknowns)
        rest = [abs(_miss(one, unknowns, found)) for one in equations]
        usual = max(_HUBER * median(rest), _EXACT) if rest else _EXACT
        told = [
            replace(one, weight=min(1.0, (usual / max(miss, _EXACT)) ** 0.5))
            for one, miss in zip(equations, rest, strict=True)
        ]
    return solve(told, unknowns)


def _miss(one: Equation, unknowns: Sequence[Unknown], found: Mapping[str, Found]) -> float:
    """How far an equation is from what it says, relatively."""
    moved = sum(one.slopes[each.name] * (found[each.name].value - each.around) for each in unknowns)
    return (one.modelled + moved) / one.measured - 1


def _common(measured: Readings, seen: Mapping[str, Readings]) -> list[Key]:
    """The times that are long enough, measured and in each run of the lab."""
    everywhere = [key for key in measured if all(key in one for one in seen.values())]
    return sorted(
        key for key in everywhere if min(measured[key], seen[STATED][key]) >= key.least_ns
    )


def _slopes(
    key: Key, seen: Mapping[str, Readings], figures: Sequence[TimeFigure]
) -> dict[str, float]:
    """By how much the time grows with that of each figure."""
    return {
        one.setting: (seen[one.setting][key] - seen[STATED][key])
        / (one.time_of(one.changed) - one.stated_time)
        for one in figures
    }


def _moved(before: Values, after: Values) -> float:
    """The largest change of a figure."""
    changes = [abs(after[name] - old) / max(old, after[name], 1) for name, old in before.items()]
    return max(changes, default=0.0)
