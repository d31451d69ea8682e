"""The figures of finished cases, as formulas ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ffslab.codesize.sizes import CodeSizes
from ffslab.published.formula import NotMeasuredError, SkippedError
from ffslab.published.load import Publication
from ffslab.published.plan import PlannedRun, fitting, rating_of, without_seed
from ffslab.rating.grade import WORST
from ffslab.rating.read import Rated, rated_run
from ffslab.results.naming import like_figure, matches
from ffslab.results.result import CaseResult
from ffslab.results.schema import Figure
from ffslab.results.shortfall import is_good
from ffslab.workloads.figures import figures_of

Results = Mapping[str, CaseResult]  # of one run, by the ids of its cases


@dataclass
class MeasuredReader:
    """Reads the results of a publication's runs, by the runs' keys."""

    publication: Publication
    runs: Mapping[str, PlannedRun]
    results: Mapping[str, Results]
    sizes: CodeSizes | None = None
    _figures: dict[tuple[str, str], tuple[Figure, ...]] = field(default_factory=dict)
    _rated: dict[str, Rated] = field(default_factory=dict)

    def figure(self, run: str, case: str, word: str = "") -> float:
        return self.figures(run, case, word)[0]

    def figures(self, run: str, case: str, word: str = "") -> tuple[float, ...]:
        asked = word or self.publication.runs[run].figure
        return tuple(
            _mean([self._figure(run, case_id, asked) for case_id in self._seeds(run, name)])
            for name in fitting(case, self._ids(run))
        )

    def stored(self, run: str, case: str, key: str) -> float:
        (name,) = fitting(case, self._ids(run))
        return _mean([_at(self._result(run, case_id), key) for case_id in self._seeds(run, name)])

    def grade(self, run: str, filesystem: str, criterion: str) -> float:
        columns = self._rating(run).columns
        column = next(column for column in columns if column.criterion.name == criterion)
        cell = column.cells.get(filesystem)
        if cell is None or cell.grade is None:
            why = next((rule.why for rule in cell.rules if rule.why), "") if cell else ""
            raise NotMeasuredError(f"{filesystem} has no grade in {criterion}: {why}")
        return float(WORST + 1 - cell.grade)

    def spent(self, run: str, case: str, phase: str) -> str:
        (name,) = fitting(case, self._ids(run))
        result = self._result(run, self._seeds(run, name)[0])
        own = next((each for each in result["phases"] if each["phase"] == phase), None)
        if own is None or not own["duration_ns"]:
            return ""
        array_ns = sum(own[key] for key in ("flash_read_ns", "flash_program_ns", "flash_erase_ns"))
        # What the chip does after the end of the phase is counted in it, too.
        whole_ns = max(own["duration_ns"], own["flash_ns"])
        rest_ns = whole_ns - array_ns - own["flash_transfer_ns"]
        parts = {"array": array_ns, "bus": own["flash_transfer_ns"], "driver and code": rest_ns}
        return ", ".join(f"{name} {100 * ns / whole_ns:.0f} %" for name, ns in parts.items())

    def _rating(self, run: str) -> Rated:
        """All criteria of a run: several formulas name some of them."""
        if run not in self._rated:
            prepared = self.runs[run].prepared
            rating = rating_of(prepared)
            assert rating is not None  # the plan looked
            mainline = {name: {"mainline": since} for name, since in prepared.mainline.items()}
            told = {"filesystems": mainline}
            self._rated[run] = rated_run(rating, told, self.results[run].values())
        return self._rated[run]

    def code_bytes(self, filesystem: str) -> float:
        if self.sizes is None:
            raise NotMeasuredError("the size of code was not measured")
        for architecture, measured in self.sizes.architectures.items():
            for needs in self.sizes.filesystems:
                if filesystem in needs.names:
                    default = next((each for each in needs.sums if each.default), needs.sums[0])
                    return float(measured.sum(needs.parts_of(default)).total)
            raise NotMeasuredError(f"{filesystem} was not measured for {architecture}")
        raise NotMeasuredError("; ".join(self.sizes.unmeasured.values()))

    def _ids(self, run: str) -> list[str]:
        return [case.id for case in self.runs[run].prepared.cases]

    def _seeds(self, run: str, name: str) -> list[str]:
        return [case_id for case_id in self._ids(run) if without_seed(case_id) == name]

    def _result(self, run: str, case_id: str) -> CaseResult:
        result = self.results[run].get(case_id)
        if result is None:
            raise NotMeasuredError(f"{case_id} of the run {run} has no result")
        is_skipped = result["outcome"] == "skip"
        if is_skipped or not is_good(result):
            told = f": {result['reason']}" if result["reason"] else ""
            error = SkippedError if is_skipped else NotMeasuredError
            raise error(f"{case_id} of the run {run}: {result['outcome']}{told}")
        return result

    def _figure(self, run: str, case_id: str, word: str) -> float:
        result = self._result(run, case_id)
        if (run, case_id) not in self._figures:
            self._figures[run, case_id] = figures_of(result)
        every = self._figures[run, case_id]
        named = [figure for figure in every if matches(word, figure)]
        if len(named) != 1:
            told = f"{len(named)} figures are" if named else "it has no figure"
            raise NotMeasuredError(
                f"{case_id} of the run {run}: {told} {word!r}{like_figure(word, every)}"
            )
        return named[0].value


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)


def _at(result: CaseResult, key: str) -> float:
    """What is behind dots in a result, 0 for a word that it does not count; a number picks one of a
    list, a star the last.
    """
    value: Any = result
    for name in key.split("."):
        if isinstance(value, list):
            value = value[-1 if name == "*" else int(name)]
        elif isinstance(value, Mapping):
            value = value.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NotMeasuredError(f"{result['id']}: {key} is {value!r}, not a number")
    return float(value)
