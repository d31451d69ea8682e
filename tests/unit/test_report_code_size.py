"""The report's section on the size of code."""

from __future__ import annotations

import json
import re
from pathlib import Path

from test_report_support import page_of_words, write_run

from ffslab.codesize.parts import COMPRESSION, FILE_SYSTEM, PARTS
from ffslab.codesize.sizes import CodeSizes, Measured, Size, needs_of, to_document
from ffslab.loader import load_catalog
from ffslab.report.code_size import view_of
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


def test_sentences_name_the_default_of_each_file_system_the_smallest_first() -> None:
    # JFFS2 with zlib: 100 + mounting 1 + crc32 1 + glue 1 + 2 × 10 KiB and 3 bytes.
    # YAFFS2: 60 + mounting 1 KiB and 1 byte.
    (sentence,) = view_of(sizes()).sentences
    assert (
        sentence.text == "**an ARM board**, with default options: yaffs2 62.0 KiB; jffs2 123.0 KiB."
    )


def test_a_table_has_each_sum_and_each_part_once() -> None:
    ((sums, parts),) = view_of(sizes()).tables
    rows = {row[0]: row[1:] for row in sums.rows}
    total = f"{123 * KIB:,}"
    assert rows["compression zlib, the default"] == (total, "0", "3", f"{123 * KIB + 3:,}")
    assert sums.headings == {0: "jffs2", 5: "yaffs2"}
    names = [row[0] for row in parts.rows]
    assert len(names) == len(set(names))
    (shared,) = [row for row in parts.rows if row[0] == PARTS["mtd-super"].title]
    assert shared[1] == "jffs2, yaffs2"
    assert "* MTD core" in names


def test_a_bar_is_made_of_kinds_of_code() -> None:
    """The parts of a bar are as long as their kinds: JFFS2 100 KiB, its compression 21 KiB."""
    view = view_of(sizes())
    (panel,) = view.panels
    colours = {key.label: key.colour for key in view.keys}
    title = re.search(r"<title[^>]*>(.*?)</title>", panel.drawing)
    assert title is not None and "jffs2 · zlib (default): 123.0 KiB" in title[1]

    def lengths(colour: str) -> list[float]:
        found = re.findall(
            rf'h([\d.]+)v[\d.]+h-[\d.]+z" style="fill:var\(--{colour}\)', panel.drawing
        )
        return [float(length) for length in found]

    own, compression = lengths(colours[FILE_SYSTEM]), lengths(colours[COMPRESSION])
    assert len(set(own[:-1])) == 1
    (zlib,) = [n for n, one in enumerate(sizes().filesystems[0].sums) if "zlib" in one.options]
    # Sums without a compressor draw nothing of that colour.
    drawn = [n for n, one in enumerate(sizes().filesystems[0].sums) if one.compressors]
    assert abs(compression[drawn.index(zlib)] / own[0] - 0.21) < 0.005


def test_the_section_is_in_the_report_of_a_run_that_has_sizes(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", [("seed", (1,)), ("filesystem", ("jffs2",))])
    assert "code-size" not in page_of_words(folder)
    (folder / SIZES).write_text(json.dumps(to_document(sizes())))
    page = page_of_words(folder)
    assert '<a href="#code-size">Size of the code</a>' in page
    section = page[page.index('<section id="code-size"') : page.index('<section id="estimates"')]
    assert "Not measured: um: no compiler; apt-get install gcc" in section
    assert "yaffs2 62.0 KiB; jffs2 123.0 KiB" in re.sub(r"[\u00a0\u202f]", " ", section)
