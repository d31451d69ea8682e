"""What the agent may say at a place of its records, by what it has said before: pure.

The channel of the records is a device of the guest, which its programs can write to as well. A
record that the agent would not write at its place is somebody else's.

Limit: what a program writes while the agent is at a step of its own, and what is new there, such as
a phase that the plan does not have, is not told from the agent's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# What the agent writes once at most, or once for each of these names.
ONCE: Mapping[str, tuple[str, ...]] = {
    "start": (),
    "phase": ("workload", "phase"),
    "flash": ("label",),
    "mtd": (),
    "prepared": (),
}
_PROGRAMS = ("exec", "shell")


class RecordOrder:
    """What came before, for what the agent does not say again, or later, or meanwhile.

    `once`: what is said once only. A plan that was written by hand may repeat a phase.
    """

    def __init__(self, once: Mapping[str, tuple[str, ...]] = ONCE) -> None:
        self._once = once
        self._ended = False
        self._step = -1
        self._since_step = 0
        self._said: set[tuple[str, ...]] = set()

    def forged_before(self, record: Mapping[str, Any]) -> int:
        """How many records before a program's step are not the agent's, which waited for it."""
        of_program = record["type"] == "step" and record["verb"] in _PROGRAMS
        return self._since_step if of_program else 0

    def broken_by(self, record: Mapping[str, Any]) -> str:
        """Why the agent did not write `record` at this place, or empty."""
        problem = self._broken_by(record)
        if record["type"] in ("start", "step"):
            self._since_step = 0
        elif not problem:
            self._since_step += 1
        return problem

    def _broken_by(self, record: Mapping[str, Any]) -> str:
        kind = record["type"]
        if self._ended:
            return f"{kind} record behind the end"
        if kind == "step":
            if record["index"] <= self._step:
                return f"step {record['index']} behind step {self._step}"
            self._step = record["index"]
        self._ended = kind == "end"
        names = self._once.get(kind)
        if names is None:
            return ""
        identity = (kind, *(str(record[name]) for name in names))
        if identity in self._said:
            return f"a second {' '.join(identity)}"
        self._said.add(identity)
        return ""
