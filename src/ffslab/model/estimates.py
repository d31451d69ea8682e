"""The estimates that a board's times rest on, and a case with one of them halved or doubled.

Most figures of a board are estimates (`ffslab list boards`), so a verdict such as "JFFS2 is faster
than UBIFS" is worth what it survives. The setting `estimate` names one change to a case, whatever
the board's figures are: `half-driver`, `double-driver`, and so on for every estimate below, and
`other-wait`, which makes a polling driver sleep and the reverse. As an axis it makes the cases of a
sensitivity analysis, one change at a time; `ffslab run STUDY --sensitivity` adds it to any study.

Limits: changes are not combined; array times and geometry are the data sheet's and not in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ffslab.errors import SpecError
from ffslab.model.case import Case
from ffslab.model.names import suggestion
from ffslab.model.provenance import set_marks, with_marks
from ffslab.model.specs import CPU_FIGURES, DRIVER_FIGURES, Board, WaitModel

ESTIMATE = "estimate"
AS_STATED = "as-stated"
OTHER_WAIT = "other-wait"
WAIT = "wait"
_FACTORS = {"half": 0.5, "double": 2.0}


@dataclass(frozen=True, slots=True)
class Estimate:
    """Figures that are halved and doubled together, of the board or its chip.

    `is_cpu`: work of the processor, which costs nothing at a cpu_scale of 0.
    """

    name: str
    title: str
    board: tuple[str, ...] = ()
    chip: tuple[str, ...] = ()
    is_cpu: bool = False


ESTIMATES = (
    Estimate("bus", "bus", chip=("bus_read_ps", "bus_write_ps")),
    Estimate("ecc", "ECC time", chip=("ecc_read_ns", "ecc_write_ns")),
    Estimate("driver", "driver's work per page", board=DRIVER_FIGURES, is_cpu=True),
    Estimate("instruction", "price of an instruction", board=CPU_FIGURES[:1], is_cpu=True),
    Estimate("byte", "price of a byte copied", board=CPU_FIGURES[1:2], is_cpu=True),
    Estimate("set", "price of a byte set", board=CPU_FIGURES[2:3], is_cpu=True),
    Estimate("call", "prices of calls", board=CPU_FIGURES[3:], is_cpu=True),
    Estimate("ram", "RAM", board=("ram_bytes",)),
    Estimate("reserve", "UBI's reserve for bad blocks"),
)
TITLES = {**{estimate.name: estimate.title for estimate in ESTIMATES}, WAIT: "wait model"}
VALUES = (
    AS_STATED,
    *(f"{word}-{estimate.name}" for estimate in ESTIMATES for word in _FACTORS),
    OTHER_WAIT,
)


def parts_of(value: str) -> tuple[str, str]:
    """`double-driver` as ("double", "driver"); SpecError for a value that there is not."""
    if value not in VALUES:
        raise SpecError(
            f"unknown {ESTIMATE} {value!r}{suggestion(str(value), VALUES)}",
            cause=f"a misspelt value; valid: {', '.join(VALUES)}",
            remedy=f'for example --set \'{ESTIMATE}=["{AS_STATED}", "double-driver"]\'',
        )
    change, _, name = value.partition("-")
    return change, name


def with_estimate(case: Case, value: str) -> Case:
    """The case with one estimate changed; the same case if that changes nothing in it."""
    change, name = parts_of(value)
    if value == AS_STATED:
        return case
    if value == OTHER_WAIT:
        wait: WaitModel = "interrupt" if case.board.wait == "polled" else "polled"
        marks = set_marks(case.board, {WAIT: wait}, f"the board's other way, by {ESTIMATE}")
        provenance = with_marks(case.board.provenance, marks)
        return replace(case, board=replace(case.board, wait=wait, provenance=provenance))
    factor = _FACTORS[change]
    if name == "reserve":
        return _with_reserve(case, factor)
    estimate = next(estimate for estimate in ESTIMATES if estimate.name == name)
    if estimate.is_cpu and not case.cpu_scale:
        return case
    return replace(case, board=_scaled(case.board, estimate, factor))


def _scaled(board: Board, estimate: Estimate, factor: float) -> Board:
    of_board = {key: round(getattr(board, key) * factor) for key in estimate.board}
    of_chip = {key: round(getattr(board.chip, key) * factor) for key in estimate.chip}
    source = f"{factor:g} × the board's, by {ESTIMATE}"
    marks = with_marks(board.provenance, set_marks(board, of_board, source))
    chip_marks = with_marks(board.chip.provenance, set_marks(board.chip, of_chip, source))
    chip = replace(board.chip, **of_chip, provenance=chip_marks)
    return replace(board, chip=chip, **of_board, provenance=marks)


def _with_reserve(case: Case, factor: float) -> Case:
    """More or fewer erase blocks that UBI keeps for those that will turn bad."""
    ubi = case.filesystem.ubi
    if ubi is None:
        return case
    # 0 would be UBI's own default, which is more.
    reserve = max(round(ubi.max_beb_per1024 * factor), 1)
    changed = replace(ubi, max_beb_per1024=reserve)
    return replace(case, filesystem=replace(case.filesystem, ubi=changed))
