"""The glossary of a report: terms that reports of all workloads use."""

from __future__ import annotations

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
    (
        "wear spread",
        "Erase count of the most erased block minus the count of the least erased one.",
    ),
    ("erase standard deviation", "Of the erase counts over all erase blocks of the partition."),
    (
        "garbage collection",
        "Copying valid pages out of a block to erase it: the source of extra programs and long "
        "latencies.",
    ),
    (
        "flash time",
        "How long the chip was busy with the phases' operations, as it counted itself. It does "
        "not include the CPU time of the driver's own code.",
    ),
    (
        "time in the driver",
        "Time that tasks spend in the driver's reads, programs and erases, as the monitor measures "
        "it. It includes the wait of each task for a busy chip, so it can exceed the time that "
        "passed. It also includes the driver's own CPU time.",
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
