#!/usr/bin/env python3
"""1,000 rows of telemetry in SQLite, a commit for each: `sqlite.py JOURNAL SYNCHRONOUS`."""

import os
import random
import sqlite3
import sys
import time
from pathlib import Path

ROWS = 1000


def main() -> None:
    journal, synchronous = sys.argv[1:]
    rows = random.Random(int(os.environ["FFSLAB_SEED"]))
    database = sqlite3.connect("telemetry.db", isolation_level=None)
    if journal == "wal":
        # Then it needs no shared memory in a file, which JFFS2 cannot map for writing.
        database.execute("pragma locking_mode = exclusive")
    (mode,) = database.execute(f"pragma journal_mode = {journal}").fetchone()
    if mode != journal:
        sys.exit(f"SQLite has journal mode {mode}, not {journal}")
    database.execute(f"pragma synchronous = {synchronous}")
    database.execute("create table sample (time integer primary key, sensor, value, note)")
    database.execute("create index by_sensor on sample (sensor)")
    took_ns = []
    for number in range(ROWS):
        row = (number, rows.randrange(16), rows.random(), rows.randbytes(40))
        began_ns = time.monotonic_ns()
        database.execute("insert into sample values (?, ?, ?, ?)", row)
        took_ns.append(time.monotonic_ns() - began_ns)
    database.close()
    lines = "".join(f"commit {each}\n" for each in took_ns)
    Path(os.environ["FFSLAB_LATENCIES"]).write_text(lines)


main()
