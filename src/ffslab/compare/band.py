"""The band of builds: how far a figure moves when nothing but the guest's layout changes.

Equal builds give equal results; another build is another history and moves figures as a seed does.
Perturbed cases (`ffslab.model.perturbation`) show by how much: a figure's span is from its lowest
to its highest value among a case and its perturbed versions. A difference between two builds is
*within the band* if the spans of the two sides touch: then the one side's value could be the
other's. A side without perturbed cases has a span of one value.

How often chance alone puts two equal builds outside: with n histories on one side and one on the
other in 2 of n + 1 figures, with n on both in 2 of all ways to choose n of 2n. So 4 perturbations
of one run (n = 5) leave a third outside, 4 of both 1 in 126.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ffslab.compare.cases import ComparedCase, Side, split_perturbed
from ffslab.compare.ratios import mean
from ffslab.results.schema import Figure


@dataclass(frozen=True, slots=True)
class Band:
    """The differences (new − base) that another build alone would make, and those relative to base.

    `histories` of each side that they are from; relative ends are None where the base is 0.
    """

    low: float
    high: float
    relative: tuple[float, float] | None
    base_histories: int
    new_histories: int

    def holds(self, difference: float) -> bool:
        """Whether a difference is no more than that."""
        return self.low <= difference <= self.high


class Histories:
    """The perturbed versions of the cases of a side, or its repeats; without a side, none."""

    def __init__(self, side: Side | None = None) -> None:
        self._found: dict[str, list[ComparedCase]] = {}
        for case in split_perturbed(side)[1] if side is not None else ():
            if case.is_good:
                self._found.setdefault(case.unperturbed, []).append(case)

    def of(self, case: ComparedCase) -> tuple[ComparedCase, ...]:
        """Those of this case; empty if its band was not measured."""
        return tuple(self._found.get(case.unperturbed, ())) if self._found else ()


def band(
    key: str,
    base: ComparedCase,
    new: ComparedCase,
    base_versions: Sequence[ComparedCase],
    new_versions: Sequence[ComparedCase],
) -> Band | None:
    """The band of one figure of a pair; None if no version of either has it."""
    before, after = _values(key, base, base_versions), _values(key, new, new_versions)
    if len(before) + len(after) < 3:
        return None
    low = min(before) - before[0] - (max(after) - after[0])
    high = max(before) - before[0] - (min(after) - after[0])
    relative = (low / before[0], high / before[0]) if before[0] > 0 else None
    return Band(low, high, relative, len(before), len(after))


@dataclass(frozen=True, slots=True)
class MovedFigure:
    """A figure of a case, its mean over seeds, and how far another layout moves it."""

    figure: Figure
    value: float
    band: Band


def bands_of(side: Side) -> dict[str, tuple[MovedFigure, ...]]:
    """The bands of a run by itself: of each case, whatever its seed, that has perturbed versions.

    A figure that no layout moves has a band from 0 to 0.
    """
    histories = Histories(side)
    groups: dict[str, list[ComparedCase]] = {}
    for case in split_perturbed(side)[0]:
        if case.is_good and histories.of(case):
            groups.setdefault(case.label, []).append(case)
    bands = {}
    for label, cases in groups.items():
        # As if its versions were another build's: the base is the case itself.
        rows = []
        for key, figure in cases[0].figures.items():
            own = [case for case in cases if key in case.figures]
            width = joined(band(key, case, case, histories.of(case), ()) for case in own)
            if width is not None:
                value = mean(case.figures[key].value for case in own)
                rows.append(MovedFigure(figure, value, width))
        bands[label] = tuple(rows)
    return bands


def _values(key: str, case: ComparedCase, versions: Sequence[ComparedCase]) -> list[float]:
    """The figure as it is, then as perturbed."""
    return [version.figures[key].value for version in (case, *versions) if key in version.figures]


def joined(bands: Iterable[Band | None]) -> Band | None:
    """The band of a row of several seeds: as wide as that of any."""
    known = [band for band in bands if band is not None]
    if not known:
        return None
    relative = [band.relative for band in known if band.relative is not None]
    return Band(
        low=min(band.low for band in known),
        high=max(band.high for band in known),
        relative=(min(low for low, _ in relative), max(high for _, high in relative))
        if len(relative) == len(known)
        else None,
        base_histories=min(band.base_histories for band in known),
        new_histories=min(band.new_histories for band in known),
    )
