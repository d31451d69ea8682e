"""append-log's part of a report: data → sentences, charts and tables → what its template shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ffslab.report.curves import styles_for
from ffslab.report.elements import seeds_text
from ffslab.report.load import Read
from ffslab.report.page import common
from ffslab.report.quantity import capitalized
from ffslab.report.standings import ALIKE
from ffslab.workloads.append_log.report import sentences, tables
from ffslab.workloads.append_log.report.load import Figures, figures_of, run_of

TITLE = "append-log"
__all__ = ("TITLE", "figures_of", "page")  # what the report asks of a workload
_RULE = (
    "The report compares configurations at each point, by the mean over seeds. For several "
    f"points it gives the range and where its ends are. {capitalized(ALIKE)} counts as alike."
)
_GLOSSARY = (
    ("sync", "fsync() or fdatasync() of the log: after it the lines are on the flash."),
    ("sync interval", "Every so many lines are followed by a sync."),
    ("flush", "What is still in memory is written after the last line (syncfs)."),
    ("rotation", "The log is renamed, a new one begun, the oldest deleted, as logrotate does."),
)


def page(run_dir: Path, read_cases: Sequence[Read[Figures]]) -> dict[str, Any]:
    """Everything the template shows of a run's cases of this workload."""
    run = run_of(run_dir, read_cases)
    styles = styles_for({log_case.label: run.identity(log_case) for log_case in run.cases})
    return {
        **common(run.run, _GLOSSARY),
        "rule": _RULE,
        "seeds": f"{seeds_text(run.run.seeds)}.",
        "topics": sentences.topics(run),
        "why": sentences.why({log_case.case.filesystem for log_case in run.measured}),
        "axis_word": run.axis.word if run.axis else "",
        "figures": tables.figures(run, styles),
        "tails": tables.tail_charts(run),
        "line_keys": [styles[label] for label in run.labels],
        "latencies": tables.latency_table(run),
        "flash": tables.flash_table(run),
        "case_table": tables.case_table(run),
    }
