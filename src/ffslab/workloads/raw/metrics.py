"""The figures of `raw`: how fast the flash is without a file system."""

from __future__ import annotations

from collections.abc import Iterator

from ffslab.results.criteria import Criterion
from ffslab.results.result import CaseResult
from ffslab.results.schema import (
    Figure,
    Metric,
    TaskWork,
    case_figures,
    figures_at,
    phase_figures,
)
from ffslab.workloads.raw.stored import raw_of

KIND = "raw"
OF = "the workload raw"
NOTE = """The key `raw` of a result has `within`, the largest relative difference that counts as agreement, and
`phases`, a row for each of `erase`, `write` and `read`: `bytes` requested from the flash, `duration_ns`,
`published_bytes_per_s`, and whether measured and published throughput agree (`agrees`). The phase `workload` sums them.
The key is null if no phase came to its end.

"""  # noqa: E501  (columns of the document)
SPEED = Metric(
    name="raw_bytes_per_s",
    title="Raw throughput",
    unit="MB/s",
    scale=1e6,
    meaning="bytes requested from the flash ÷ time of the phase",
    better="higher",
    exact=False,
    kinds=(KIND,),
)
DIFFERENCE = Metric(
    name="difference",
    title="Difference to the published",
    meaning="measured ÷ published - 1",
    better="neither",
    exact=False,
    kinds=(KIND,),
)
METRICS = (SPEED, DIFFERENCE)


def rate_text(bytes_per_s: float) -> str:
    """A rate in MB/s, so exact that it differs from the published one."""
    return f"{bytes_per_s / SPEED.scale:.3f} {SPEED.unit}"


def published_text(bytes_per_s: float) -> str:
    """A published rate as it was published, in MiB/s, and in MB/s."""
    as_published = f"{bytes_per_s / 2**20:.2f} MiB/s"
    return f"{as_published} ({rate_text(bytes_per_s)})"


def figures(result: CaseResult) -> tuple[Figure, ...]:
    """All figures of a result of this workload."""
    raw = raw_of(result)
    return (
        *case_figures(result),
        *(
            figure
            for phase in (raw["phases"] if raw else ())
            for figure in figures_at(phase, phase["phase"], METRICS, (SPEED.name,))
        ),
        *phase_figures(result["phases"], {}),
    )


def criteria(result: CaseResult) -> Iterator[Criterion]:
    """What people decide by: how fast the device is."""
    raw = raw_of(result)
    for phase in raw["phases"] if raw else ():
        for figure in figures_at(phase, phase["phase"], (SPEED,)):
            yield Criterion(figure, f"raw {phase['phase']}", "time", True)


def tasks(_result: CaseResult) -> tuple[TaskWork, ...]:
    """There is one task."""
    return ()
