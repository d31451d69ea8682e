"""The report's section on the size of code."""

from __future__ import annotations

import json
from pathlib import Path

from test_report_support import page_of_words, plain, rows_of, write_run
from test_report_support import section_of as section_in

from ffslab.codesize.parts import COMPRESSION, FILE_SYSTEM, PARTS
from ffslab.codesize.sizes import CodeSizes, Measured, Size, needs_of, to_document
from ffslab.loader import load_catalog
from ffslab.report.code_size import section_of
from ffslab.results.rundir import SIZES

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
    shown = section_of(sizes())
    assert shown.sentence == f"an ARM board, default options: {told}"
    assert shown.note.startswith("Not measured: um: no compiler; apt-get install gcc.")


def test_a_table_has_each_sum_and_each_part_once() -> None:
    sums, parts = section_of(sizes()).tables
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
    (chart,) = section_of(sizes()).charts
    lengths = {(row["label"], row["part"]): row["value"] for row in rows_of(chart.drawing)}
    zlib = "JFFS2 · zlib (default)"
    assert lengths[zlib, FILE_SYSTEM] == 100 and 21 <= lengths[zlib, COMPRESSION] < 21.01
    assert lengths["JFFS2 · none", COMPRESSION] == 0


def test_the_section_is_in_the_report_of_a_run_that_has_sizes(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", [("seed", (1,)), ("filesystem", ("jffs2",))])
    assert "code-size" not in page_of_words(folder)
    (folder / SIZES).write_text(json.dumps(to_document(sizes())))
    page = page_of_words(folder)
    assert '<a href="#code-size">How large is the code?</a>' in page
    section = section_in(page, "code-size")
    assert "Not measured: um: no compiler; apt-get install gcc" in section
    assert "JFFS2 has 123.0 KiB" in plain(section)
