"""The metrics a report shows, with title, unit and meaning; and the glossary of terms.

A metric that a run lacks is left out of it; a metric listed nowhere here is not shown. Keys are
the report's own: `load` maps the stored columns to them. What is stored has its title, unit and
meaning from the schema of the results (`ffslab.results.schema`).
"""

from __future__ import annotations

from ffslab.report.quantity import Metric
from ffslab.results.schema import (
    BY_NAME,
    DURATION,
    FLASH_PARTS,
    FLASH_TIME,
    IN_DRIVER,
    OF_FLASH,
    REST,
    VIRTUAL,
)
from ffslab.results.schema import Metric as Stored
from ffslab.workloads.ffsmark.metrics import FILES_PER_S, PLACES


def _of(stored: Stored, key: str = "", title: str = "", meaning: str | None = None) -> Metric:
    """A stored metric as the report shows it; what is named differently has another place."""
    return Metric(
        key or stored.name,
        title or stored.title,
        stored.unit,
        stored.scale,
        stored.exact and not stored.is_time,
        stored.meaning if meaning is None else meaning,
    )


_READ, _WRITE = BY_NAME["read_bytes_per_s"], BY_NAME["write_bytes_per_s"]
_ALL = (
    *(_of(DURATION, f"{phase.name}_ns", phase.title, phase.meaning) for phase in PLACES),
    _of(_READ),
    _of(_WRITE),
    _of(FILES_PER_S, "creation_files_per_s", "Creation, files", "files created ÷ its time"),
    _of(_WRITE, "creation_write_bytes_per_s", "Creation, written", ""),
    _of(_READ, "transactions_read_bytes_per_s", "Transactions, read", ""),
    _of(_WRITE, "transactions_write_bytes_per_s", "Transactions, written", ""),
    _of(FILES_PER_S, "deletion_files_per_s", "Deletion, files", "files deleted ÷ its time"),
    *(_of(metric) for metric in (*OF_FLASH, *FLASH_PARTS, FLASH_TIME, IN_DRIVER)),
    _of(REST),
    _of(VIRTUAL, "total_ns"),
    Metric(
        "virtual_per_wall",
        "Virtual ÷ wall time",
        "",
        meaning="how much faster than real time the lab was",
    ),
    Metric(
        "wall_ns",
        "Wall time of the case",
        "s",
        1e9,
        meaning="on the host that ran it; not reproducible",
    ),
)
METRICS = {metric.key: metric for metric in _ALL}


def stored(key: str) -> Stored:
    """The metric of the schema that one of the report's own keys shows."""
    return BY_NAME.get(key) or (REST if key == "rest_ns" else DURATION)


RESULT_TABLES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "Time and throughput",
        (
            "creation_ns",
            "transactions_ns",
            "deletion_ns",
            "read_bytes_per_s",
            "write_bytes_per_s",
            "flash_ns",
            "rest_ns",
            "total_ns",
            "virtual_per_wall",
        ),
    ),
    (
        "Rates of each phase",
        (
            "creation_files_per_s",
            "creation_write_bytes_per_s",
            "transactions_read_bytes_per_s",
            "transactions_write_bytes_per_s",
            "deletion_files_per_s",
        ),
    ),
    ("Flash", tuple(metric.name for metric in OF_FLASH)),
)

OPERATIONS: tuple[tuple[str, str, str], ...] = (
    ("create", "Create a file", "open to close, with its writes"),
    ("read", "Read a whole file", "open to close"),
    ("append", "Append to a file", "open to close"),
    ("delete", "Delete a file", "one unlink()"),
    ("request-read", "One read()", "a single system call"),
    ("request-write", "One write()", "a single system call"),
)
