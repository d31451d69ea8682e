"""Harmless changes of a guest's layout: what another build of the lab would do to a case.

Equal builds give equal results. Another build does not: with the agent or the kernel the guest's
memory and its random numbers change, so the file system's threads run at other moments, and figures
move a little although nothing is better or worse. The setting `perturbation` does that on purpose:
0 is the layout as it is, 1 to 16 are others (`ffslab.target.perturbation`), with the same workload
and the same chip. As an axis it measures the *band of builds* of each figure;
`ffslab run STUDY --band 4` adds it to any study, and `ffslab compare` reads it.

Limits: only the layout changes, not what a compiler makes of the code.
"""

from __future__ import annotations

from typing import Any

from ffslab.errors import SpecError
from ffslab.model.specs import PERTURBATION

MOST = 16


def perturbation_of(value: Any, where: str) -> int:
    """The number of a perturbation; SpecError for one that there is not."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
        raise SpecError(
            f"{where}: {PERTURBATION} must be an integer from 0 to {MOST}, not {value!r}",
            cause="0 is the guest's layout as it is, the others are other layouts",
            remedy=f"--set '{PERTURBATION}=[0, 1, 2]', or --band 2",
        )
    return value


def band_values(count: int) -> tuple[int, ...]:
    """The values of the axis that measures the band with so many perturbations."""
    return tuple(range(count + 1))
