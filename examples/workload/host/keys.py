"""The settings of sample-files.

Each key is stated once: default, meaning, bounds. The table in a study, its JSON Schema, the checks
and the agent's step follow from it. A key has its unit at the end of its name.
"""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.model.workload import SIZE, Workload, key


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleFiles(Workload):
    """What is written."""

    kind: str = key("sample-files", "the workload")
    files: int = key(100, "files written", lowest=1, highest=100_000)
    file_bytes: int = key(4096, "size of a file, 1 B to 1 MiB", form=SIZE)
