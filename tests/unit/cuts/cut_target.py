"""A target whose guests lose power without a kernel: they log, and say of each state what they are
told to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from cuts_support import LOG, RECORD
from host_support import FakeTarget

from ffslab.targets.target import CONSOLE_NAME, RECORDS_NAME, GuestJob, GuestRun
from ffslab.targets.uml.guests import KIND
from ffslab.workloads.cuts.plan import STATES

LOG_FILE = "/proc/vnand/flash0/log"
TREE = "dir . 2 1 0\n"
DIGEST = "0123456789abcdef"


def printed(name: str, mount: int = 0) -> str:
    """A state as ffscrash prints it."""
    whole = f"begin {name}\nstate {name}\nmount {mount} 9 5 1 1 ro=0\n"
    if not mount:
        seen = f"{DIGEST} 10 9 8"
        whole += f"seen {seen}\nuse ok\nafter {seen}\nremount 0 1 1 0 0 ro=0\nagain {seen}\n"
    return whole + f"touched 1, recorded 4\nended {name}\n"


@dataclass
class CutTarget(FakeTarget):
    """`wrong`: states that cannot be mounted. `ended` is the status of the end record."""

    wrong: Callable[[str], bool] = lambda _: False
    ended: str = "ok"
    stopped: bool = False
    asked: dict[str, list[str]] = field(default_factory=dict)
    kind = KIND

    def start_no_more(self) -> None:
        self.stopped = True

    def run(self, job: GuestJob) -> GuestRun:
        self.before(job)
        killed = self.stopped or self.killed.is_set()
        if not killed:
            self.ran.append(job.case.id)
            self._write(job)
        return GuestRun(
            exit_status=0 if self.ended == "ok" else 1,
            timed_out=False,
            killed=killed,
            wall_ns=10**9,
            command="fake",
            flash_sha256=None,
        )

    def _write(self, job: GuestJob) -> None:
        files = {file.path: file.data.decode() for file in job.files}
        lines = files.get(f"/host/{STATES}", "").splitlines()
        self.asked[job.case.id] = lines
        step = {"type": "step", "index": 0, "verb": "exec", "label": "", "status": self.ended}
        records: list[Mapping[str, object]] = [{**step, "t_start_ns": 0, "t_end_ns": 5}]
        if not lines and self.ended == "ok":
            records.append({"type": "file", "label": "", "path": LOG_FILE, "text": LOG})
        counts = {"steps_run": 1, "steps_total": 1, "t_ns": 9}
        records.append({"type": "end", "status": self.ended, **counts})
        text = "".join(json.dumps({"v": 1, **record}) + "\n" for record in records)
        walk = f"text {DIGEST}\n{TREE}end\n"
        for line in lines:
            name = line.removesuffix(" fill")
            walk += printed(name, mount=5 if self.wrong(name) else 0)
        written = {
            CONSOLE_NAME: "booted\n",
            RECORDS_NAME: text,
            "record": RECORD,
            "walk": f"{walk}walked {len(lines)}\n" if lines else "",
        }
        for name, contents in written.items():
            (job.case_dir / name).write_text(contents)
