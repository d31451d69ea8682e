"""docs/metrics.md: every metric of a result, from the schema. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from ffslab.results.schema import (
    CASE_METRICS,
    DECISION_METRICS,
    GENERAL,
    LATENCY_METRICS,
    PHASE_METRICS,
    REST,
    Metric,
)
from ffslab.workloads.modules import metrics_module
from ffslab.workloads.registry import workloads

_BEGIN = """# The metrics

`ffslab schema metrics` prints this document. It lists every metric of a result. A figure is a metric at a place of a
case, such as `creation.duration_ns`. A place is a phase of FFSMark or of a micro-benchmark, a step of the workload
tree, one kind of operation (`transactions/read`), or the memory after a step. Stored values have the unit at the end of
their name; "shown in" is the unit of tables and of the report. "Better" says which way `ffslab compare` calls better.
A metric without it says how much work was done.

To add a metric, compute it in `src/ffslab/results/metrics.py` or in the `result.py` of its workload, and define it in
`src/ffslab/results/schema.py` or in the `metrics.py` of its workload. The tables of the store, the report, comparisons
and this document take it from there.
"""  # noqa: E501  (columns of the document)
_OF_THE_VERDICT = """The report's verdict compares these and some of the others. It computes them from the phases, steps
and records of space of a result. `criteria` in the `metrics.py` of each workload says what people decide by.

"""  # noqa: E501  (columns of the document)
_OF_PHASES = """All workloads have the metrics of this section and the next. The table `phases` of an export has these columns in this
order. [result-format.md](result-format.md#figures-of-a-phase) says more about some of them.

"""  # noqa: E501  (columns of the document)
_OF_LATENCIES = """The table `latencies` of an export has these columns in this order.

"""
_HEAD = (
    "| metric | title | shown in | better | whole number | meaning |\n|---|---|---|---|---|---|\n"
)


def metrics_document() -> str:
    """The whole document."""
    parts = [metrics_module(kind) for kind in workloads()]
    own = "".join(_section(f"Of {part.OF}", part.METRICS, part.NOTE) for part in parts)
    verdict = _section("Of the verdict", DECISION_METRICS, _OF_THE_VERDICT)
    general = (
        _section("Of all workloads", (*CASE_METRICS, REST)),
        _section("Of a phase", PHASE_METRICS, _OF_PHASES),
        _section("Of the latencies of operations", LATENCY_METRICS, _OF_LATENCIES),
    )
    return f"{_BEGIN}{''.join(general)}{own}{verdict}"


def _section(title: str, metrics: Iterable[Metric], note: str = "") -> str:
    return f"\n## {title}\n\n{note}{_HEAD}{''.join(_row(metric) for metric in metrics)}"


def _row(metric: Metric) -> str:
    better = "" if metric.better == "neither" else metric.better
    whole = "yes" if metric.exact else ""
    meaning = metric.meaning
    if metric in GENERAL and metric.kinds:
        meaning += f" ({', '.join(metric.kinds)})"
    return (
        f"| `{metric.name}` | {metric.title} | {metric.unit} | {better} | {whole} | {meaning} |\n"
    )
