"""Sections beside the chapters: repeats on a real clock, the size of code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_report_support import rows_of, write_run

from ffslab.codesize.parts import COMPRESSION, FILE_SYSTEM, PARTS
from ffslab.codesize.sizes import CodeSizes, Measured, Size, needs_of
from ffslab.loader import load_catalog
from ffslab.report import code_size, repeats
from ffslab.report.load import open_run

PLAIN = [("seed", (1,)), ("filesystem", ("jffs2",)), ("state", ("free",))]


def real_run(folder: Path, *factors: float) -> Path:
    """A case and as many repeats of it; their transactions took so many times as long."""
    run = write_run(folder, [*PLAIN, ("options.compression", ("none",))])
    (row,) = map(json.loads, (run / "results.jsonl").read_text().splitlines())
    rows = [row, *(repeated(row, number, f) for number, f in enumerate(factors, start=2))]
    (run / "results.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in rows))
    manifest = json.loads((run / "manifest.json").read_text())
    (planned,) = manifest["cases"]
    manifest["cases"] += [
        {**planned, "id": each["id"], "repeat": each["spec"]["repeat"]} for each in rows[1:]
    ]
    more = {"real_clock": True, "absent": [["CPU time", "nobody counts it"]]}
    (run / "manifest.json").write_text(json.dumps({**manifest, **more}))
    return run


def repeated(row: dict[str, Any], number: int, factor: float) -> dict[str, Any]:
    phases = [
        {**phase, "duration_ns": round(phase["duration_ns"] * factor)} for phase in row["phases"]
    ]
    spec = {**row["spec"], "repeat": number}
    return {**row, "id": f"{row['id']}-repeat{number}", "spec": spec, "phases": phases}


def test_the_median_and_the_range_of_all_repeats(tmp_path: Path) -> None:
    (section,) = repeats.sections(open_run(real_run(tmp_path / "r", 1.5, 0.9)))
    assert section.sentence.startswith("Each case was measured 3 times; ")
    (table,) = section.tables
    name = "transactions: time"
    (row,) = [row for row in table.rows if row[1] == name]
    # 0.9, 1 and 1.5 of the first: from 0.9 to 1.5 are 60 % of the median.
    assert row[5] == "60 %"
    (chart,) = section.charts
    ends = [row["value"] for row in rows_of(chart.drawing) if row["row"] == name]
    assert ends == [pytest.approx(0.9), pytest.approx(1.5)]
    assert "Absent: CPU time, because nobody counts it." in section.note


def test_without_a_repeat_nobody_knows_how_far_it_varies(tmp_path: Path) -> None:
    (section,) = repeats.sections(open_run(real_run(tmp_path / "r")))
    assert "nobody knows how far it varies" in section.sentence and not section.charts


def test_in_virtual_time_there_is_no_such_section(tmp_path: Path) -> None:
    assert not list(repeats.sections(open_run(write_run(tmp_path / "r", PLAIN))))


# --- the size of code ---

KIB = 1024


def sizes() -> CodeSizes:
    """JFFS2 of 100 KiB and YAFFS2 of 60 KiB; every other part has 1 KiB of text and a byte of bss,
    but for zlib's two parts of 10 KiB each.
    """
    catalog = load_catalog(())
    found = tuple(needs_of(catalog.filesystem(name)) for name in ("jffs2", "yaffs2"))
    own = {"jffs2": 100 * KIB, "yaffs": 60 * KIB}
    own |= dict.fromkeys(("zlib-inflate", "zlib-deflate"), 10 * KIB)
    names = dict.fromkeys(part for one in found for part in (*one.parts, *one.shown))
    parts = {name: Size(own[name], 0, 0) if name in own else Size(KIB, 0, 1) for name in names}
    arm = Measured("an ARM board", "debian-6.1", "12 arm", "id", parts)
    return CodeSizes({"arm": arm}, found, {"um": "no compiler; apt-get install gcc"})


def test_the_sentence_names_the_smallest_and_the_largest_with_default_options() -> None:
    # JFFS2 with zlib: 100 + mounting 1 + crc32 1 + glue 1 + 2 × 10 KiB and 3 bytes.
    # YAFFS2: 60 + mounting 1 KiB and 1 byte.
    told = "**YAFFS2** is smallest with 62.0 KiB; JFFS2 has 123.0 KiB."
    shown = code_size.section_of(sizes())
    assert shown.sentence == f"an ARM board, default options: {told}"
    assert shown.note.startswith("Not measured: um: no compiler; apt-get install gcc.")


def test_a_table_has_each_sum_and_each_part_once() -> None:
    sums, parts = code_size.section_of(sizes()).tables
    rows = {row[0]: row[1:] for row in sums.rows}
    total = f"{123 * KIB:,}"
    assert rows["compression zlib, the default"] == (total, "0", "3", f"{123 * KIB + 3:,}")
    assert sums.headings == {0: "JFFS2", 5: "YAFFS2"}
    names = [row[0] for row in parts.rows]
    assert len(names) == len(set(names))
    (shared,) = [row for row in parts.rows if row[0] == PARTS["mtd-super"].title]
    assert shared[1] == "JFFS2, YAFFS2"
    assert "* MTD core" in names


def test_a_bar_is_made_of_kinds_of_code() -> None:
    """JFFS2 has 100 KiB of its own, and with zlib 21 KiB of compression."""
    (chart,) = code_size.section_of(sizes()).charts
    lengths = {(row["label"], row["part"]): row["value"] for row in rows_of(chart.drawing)}
    zlib = "JFFS2 · zlib (default)"
    assert lengths[zlib, FILE_SYSTEM] == 100 and 21 <= lengths[zlib, COMPRESSION] < 21.01
    assert lengths["JFFS2 · none", COMPRESSION] == 0
