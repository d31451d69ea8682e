"""Columns of the tables that a run is exported to: their DuckDB types, and what all tables have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ffslab.results.schema import Metric

INT, REAL, TEXT, FLAG = "BIGINT", "DOUBLE", "VARCHAR", "BOOLEAN"
KEY: Mapping[str, str] = {"run": TEXT, "case_id": TEXT}
# A table, or a piece of it, by columns of one length.
Columns = Mapping[str, Sequence[Any]]


def columns_of(metrics: Iterable[Metric]) -> dict[str, str]:
    """A column for each metric."""
    return {metric.name: INT if metric.exact else REAL for metric in metrics}
