"""Who holds a lock: what the holder writes into the lock's file, and how others read it.

Only the standard library is used, because the launcher takes locks before anything is installed.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path


def write_holder(descriptor: int, now_s: float) -> None:
    """Says in the lock's file that this process has the lock since now."""
    holder = json.dumps({"pid": os.getpid(), "since_s": int(now_s)})
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, holder.encode(), 0)


def holder_of(descriptor: int, now_s: float) -> str:
    """Who holds a lock and since when, by what its file says; a file says nothing while its lock
    has only just been taken, or was taken by an older ffslab.
    """
    try:
        entry = json.loads(os.pread(descriptor, 4096, 0))
        pid, since_s = int(entry["pid"]), float(entry["since_s"])
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(since_s))
    except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError, OSError):
        return "another ffslab that is running here"
    held = f"running here since {since} ({max(now_s - since_s, 0):.0f} s ago)"
    if pid == os.getpid():
        return f"another thread of this process, {held}"
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return f"what process {pid} left running when it ended, {held}"
    # python -P -m ffslab run ...: what follows -m is what the user knows.
    command = " ".join(words[words.index("-m") + 1 if "-m" in words else 0 :]).strip()
    return f"process {pid} ({command}), {held}"
