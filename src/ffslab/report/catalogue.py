"""The metrics a report shows, with title, unit and meaning; and the glossary of terms.

A metric that a run lacks is left out of it; a metric listed nowhere here is not shown. Keys are
the report's own: `load` maps the stored columns to them.
"""

from __future__ import annotations

from ffslab.report.quantity import Metric

_ALL = (
    Metric("creation_ns", "Creation phase", "s", 1e9, meaning="time to create the pool of files"),
    Metric("transactions_ns", "Transactions phase", "s", 1e9, meaning="time of all transactions"),
    Metric("deletion_ns", "Deletion phase", "s", 1e9, meaning="time to delete what is left"),
    Metric(
        "read_bytes_per_s",
        "Read throughput",
        "MB/s",
        1e6,
        meaning="bytes the workload read ÷ time of its phases",
    ),
    Metric(
        "write_bytes_per_s",
        "Write throughput",
        "MB/s",
        1e6,
        meaning="bytes the workload wrote ÷ time of its phases",
    ),
    Metric("creation_files_per_s", "Creation, files", "1/s", meaning="files created ÷ its time"),
    Metric("creation_write_bytes_per_s", "Creation, written", "MB/s", 1e6),
    Metric("transactions_read_bytes_per_s", "Transactions, read", "MB/s", 1e6),
    Metric("transactions_write_bytes_per_s", "Transactions, written", "MB/s", 1e6),
    Metric("deletion_files_per_s", "Deletion, files", "1/s", meaning="files deleted ÷ its time"),
    Metric("pages_read", "Pages read", "pages", integer=True, meaning="page reads on the chip"),
    Metric(
        "pages_programmed",
        "Pages programmed",
        "pages",
        integer=True,
        meaning="page programs on the chip",
    ),
    Metric("blocks_erased", "Blocks erased", "blocks", integer=True, meaning="erases on the chip"),
    Metric(
        "erases_mean",
        "Mean erases per block",
        "erases",
        meaning="mean over the partition's erase blocks",
    ),
    Metric(
        "erases_std",
        "Erase standard deviation",
        "erases",
        meaning="over the partition's erase blocks",
    ),
    Metric(
        "erases_spread",
        "Wear spread",
        "erases",
        integer=True,
        meaning="most erased minus least erased block",
    ),
    Metric(
        "write_amplification",
        "Write amplification",
        "",
        meaning="bytes programmed ÷ bytes the workload wrote",
    ),
    Metric(
        "flash_read_ns",
        "Flash time, reads",
        "s",
        1e9,
        meaning="reads: commands, array times and ECC",
    ),
    Metric(
        "flash_program_ns",
        "Flash time, programs",
        "s",
        1e9,
        meaning="programs: commands, array times and ECC",
    ),
    Metric(
        "flash_erase_ns", "Flash time, erases", "s", 1e9, meaning="erases: commands and array times"
    ),
    Metric(
        "flash_transfer_ns",
        "Flash time, transfers",
        "s",
        1e9,
        meaning="bytes on the chip's bus, both ways",
    ),
    Metric(
        "flash_ns",
        "Flash time",
        "s",
        1e9,
        meaning="how long the chip was busy, as it counted itself",
    ),
    Metric(
        "in_driver_ns",
        "Time in the driver",
        "s",
        1e9,
        meaning="of all tasks: each that waits for the chip counts",
    ),
    Metric(
        "rest_ns",
        "Time outside the flash",
        "s",
        1e9,
        meaning="time of the phases minus flash time: mostly CPU",
    ),
    Metric("total_ns", "Virtual time of the case", "s", 1e9, meaning="boot to the last step"),
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
