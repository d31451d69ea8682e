"""The metrics a report shows, with title, unit and meaning; and the glossary of terms.

A metric that a run lacks is left out of it; a metric listed nowhere here is not shown. Keys are
the report's own: `load` maps the stored columns to them. What is stored has its title, unit and
meaning from the schema of the results (`ffslab.results.schema`).
"""

from __future__ import annotations

from ffslab.report.quantity import Metric
from ffslab.results.schema import BY_NAME, DURATION, REST, VIRTUAL
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


def _stored(*names: str) -> tuple[Metric, ...]:
    return tuple(_of(BY_NAME[name]) for name in names)


_READ, _WRITE = BY_NAME["read_bytes_per_s"], BY_NAME["write_bytes_per_s"]
_ALL = (
    *(_of(DURATION, f"{place.name}_ns", place.title, place.meaning) for place in PLACES),
    _of(_READ),
    _of(_WRITE),
    _of(FILES_PER_S, "creation_files_per_s", "Creation, files", "files created ÷ its time"),
    _of(_WRITE, "creation_write_bytes_per_s", "Creation, written", ""),
    _of(_READ, "transactions_read_bytes_per_s", "Transactions, read", ""),
    _of(_WRITE, "transactions_write_bytes_per_s", "Transactions, written", ""),
    _of(FILES_PER_S, "deletion_files_per_s", "Deletion, files", "files deleted ÷ its time"),
    *_stored(
        *("pages_read", "pages_programmed", "blocks_erased"),
        *("erases_mean", "erases_std", "erases_spread", "write_amplification"),
        *("flash_read_ns", "flash_program_ns", "flash_erase_ns", "flash_transfer_ns"),
        *("flash_ns", "in_driver_ns"),
    ),
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
    (
        "Flash",
        (
            "pages_read",
            "pages_programmed",
            "blocks_erased",
            "erases_mean",
            "erases_std",
            "erases_spread",
            "write_amplification",
        ),
    ),
)

OPERATIONS: tuple[tuple[str, str, str], ...] = (
    ("create", "Create a file", "open to close, with its writes"),
    ("read", "Read a whole file", "open to close"),
    ("append", "Append to a file", "open to close"),
    ("delete", "Delete a file", "one unlink()"),
    ("request-read", "One read()", "a single system call"),
    ("request-write", "One write()", "a single system call"),
)

GLOSSARY: tuple[tuple[str, str], ...] = (
    (
        "page",
        "The unit in which a NAND chip is read and programmed. Sub-page: a part that can be "
        "programmed by itself.",
    ),
    (
        "OOB",
        "Out-of-band bytes of a page: room for error-correcting codes and the file system's "
        "own marks.",
    ),
    (
        "erase block",
        "The unit of erasing, many pages. PEB is the physical block, LEB the logical one that "
        "UBI maps to it.",
    ),
    (
        "program, read, erase",
        "The three operations of the chip. A page is programmed once between two erases of its "
        "block.",
    ),
    ("valid, invalid, free", "Flash space that holds live data, dead data, or nothing (erased)."),
    (
        "initial state",
        "Flash contents at the start: free (all erased), aged (some valid, some invalid), "
        "saturated (all invalid).",
    ),
    ("fill rate", "Valid data as a share of the partition."),
    (
        "write-back, sync",
        "Whether write() returns when the data are in the page cache, or only when they are on "
        "flash.",
    ),
    (
        "write amplification",
        "Bytes programmed on the chip ÷ bytes the workload wrote. 1 is ideal; below 1 means "
        "compression, or data that never left memory.",
    ),
    ("wear spread", "Erase count of the most erased block minus that of the least erased one."),
    ("erase standard deviation", "Of the erase counts over all erase blocks of the partition."),
    (
        "garbage collection",
        "Copying valid pages out of a block to erase it: the source of extra programs and long "
        "latencies.",
    ),
    (
        "flash time",
        "How long the chip was busy with the phases' operations, as it counted itself. What the "
        "driver's own code costs the CPU is no part of it.",
    ),
    (
        "time in the driver",
        "Time that tasks spend in the driver's reads, programs and erases, as the monitor measures "
        "it. It contains waiting for a busy chip, for each task that waits: it can exceed the time "
        "that passed. It also contains the driver's own CPU time.",
    ),
    (
        "CPU time",
        "Time charged for executing code, and for the driver's work on each page; a model, see "
        "“Time model”.",
    ),
    (
        "virtual time",
        "Time inside the lab: exact, repeatable, independent of the host. Every duration here "
        "is virtual unless it says wall.",
    ),
    ("wall time", "Time on the host that ran the lab."),
    (
        "study, case, phase",
        "A study expands into cases; a case is one boot with one spec; a phase is a part of "
        "its workload.",
    ),
    ("p50, p99, p99.9", "The latency that 50 %, 99 %, 99.9 % of the operations do not exceed."),
    ("MB, MiB", "10⁶ bytes and 2²⁰ bytes."),
)
