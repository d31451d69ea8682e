"""The catalog files of a calibrated board: what was found, each figure with where it is from. Pure.

A board's figures stand in two files, the chip's and the board's own. Both extend those that the
probe's board was described by, and state only what was found; a figure that was held is the base's,
with the base's source.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from ffslab.calibrate.figures import TimeFigure, is_of_chip
from ffslab.calibrate.fitting import Calibration
from ffslab.model.specs import Board


def chip_name(name: str) -> str:
    """What the chip of the calibrated board `name` is called."""
    return f"{name}-chip"


def paths_of(name: str) -> tuple[str, str]:
    """Where a catalog has the chip and the board."""
    return f"chips/{chip_name(name)}.toml", f"boards/{name}.toml"


def catalog_files(
    name: str, board: Board, calibration: Calibration, wait: str | None, source: str
) -> Mapping[str, str]:
    """The texts by their paths within a catalog; `source`: the command that found the figures."""
    found = [one for one in calibration.figures if not calibration.found[one.setting].held]
    of_chip = [_line(one, calibration, source) for one in found if is_of_chip(one.setting)]
    of_board = [_line(one, calibration, source) for one in found if not is_of_chip(one.setting)]
    if wait is not None:
        told = {"value": wait, "source": f"{source}: the CPU's time of an erase"}
        of_board.append(f"wait = {_table(told)}")
    chip = [
        f"# The chip of {name}, calibrated; everything else is as in {board.chip.name}.",
        "schema = 1",
        f"name = {json.dumps(chip_name(name))}",
        f"extends = {json.dumps(board.chip.name)}",
        f"title = {json.dumps(f'{board.chip.title}, calibrated')}",
        "",
        "[figures]",
        *of_chip,
    ]
    own = [
        f"# {name}: calibrated; everything else is as in {board.name}.",
        "schema = 1",
        f"name = {json.dumps(name)}",
        f"extends = {json.dumps(board.name)}",
        f"title = {json.dumps(f'{board.title}, calibrated')}",
        f"chip = {json.dumps(chip_name(name))}",
        "calibrated = true",
        f"derivation = {json.dumps(derivation(calibration, source))}",
        "",
        "[figures]",
        *of_board,
    ]
    texts = ("\n".join(lines) + "\n" for lines in (chip, own))
    return dict(zip(paths_of(name), texts, strict=True))


def derivation(calibration: Calibration, source: str) -> str:
    """How the figures were found, how well they fit, and what could not be told apart."""
    worst = calibration.worst
    sentences = [
        f"Found by {source}: with these figures the lab takes the {len(calibration.times)} "
        f"times that were measured with a median difference of "
        f"{calibration.median_difference:.1%}; the worst is {worst.key}, {worst.difference:+.1%}."
    ]
    for setting, found in calibration.found.items():
        if found.held:
            sentences.append(f"{held_words(setting, found.mixed_with)}.")
    sentences += [f"{limited_words(one)}." for one in calibration.limited]
    return " ".join(sentences)


def held_words(setting: str, mixed_with: tuple[str, ...]) -> str:
    """Why a figure was not looked for."""
    if not mixed_with:
        return f"{setting} is as stated: it is below 1 % of every time"
    others = " and ".join(mixed_with)
    return f"{setting} is as stated: the measurements cannot tell it from {others}"


def limited_words(figure: TimeFigure) -> str:
    """That a rate was measured which the chip does not have, as the catalog describes it."""
    return (
        f"{figure.setting} is {figure.most:,} {figure.row.unit}, the most that the chip takes: "
        "the measured times ask for more (is the number of data lines right?)"
    )


def _line(figure: TimeFigure, calibration: Calibration, source: str) -> str:
    found = calibration.found[figure.setting]
    error = "" if found.error is None else f"; residual {relative_error(found.value, found.error)}"
    told = {"value": calibration.value(figure.setting), "source": f"{source}{error}"}
    return f"{figure.row.name} = {_table(told)}"


def relative_error(value: float, error: float) -> str:
    """A standard error in words."""
    return f"±{error / value:.1%}" if value else f"±{error:.0f}"


def _table(told: Mapping[str, object]) -> str:
    listed = ", ".join(
        f"{key} = {json.dumps(one, ensure_ascii=False)}" for key, one in told.items()
    )
    return f"{{ {listed}, estimate = false }}"
