"""Bars as SVG: lengths stand for values, and nothing overlaps or leaves the drawing."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from ffslab.report.bars import (
    Bar,
    Frame,
    Piece,
    Rows,
    Scale,
    are_cut,
    bars,
    below_names,
    shortened,
    text_width,
)
from ffslab.report.curves import Quantity

SECONDS = Quantity("time", "s", 1e9)
WORDS = ("Time", "x")


def bar(label: str, seconds: float, **settings: object) -> Bar:
    """A bar of one piece; its text is as long as those of a report."""
    told: dict[str, object] = {"run": "", "text": f"{seconds:.3g}", **settings}
    return Bar(label, pieces=(Piece(seconds * 1e9, "c0"),), **told)  # type: ignore[arg-type]


def parsed(drawing: str) -> ET.Element:
    return ET.fromstring(drawing)


def filled(root: ET.Element) -> list[tuple[float, float, float]]:
    """Left end, upper edge and length of what is filled with a colour of the palette."""
    found = []
    for path in root.iter("path"):
        place = re.fullmatch(r"M([\d.-]+) ([\d.]+)h([\d.]+)v12h-[\d.]+z", path.get("d", ""))
        if place:
            found.append((float(place[1]), float(place[2]), float(place[3])))
    return found


def texts(root: ET.Element) -> dict[str, ET.Element]:
    return {"".join(text.itertext()): text for text in root.iter("text")}


def test_lengths_stand_for_values_on_the_axis() -> None:
    root = parsed(bars([bar("a", 10.0), bar("b", 4.0)], SECONDS, WORDS))
    (_, upper, long), (_, lower, short) = filled(root)
    assert short == pytest.approx(0.4 * long, abs=0.1) and lower > upper + 13
    found = texts(root)
    # The number 6 below the axis stands where a bar of 6 s would end.
    assert float(found["6"].get("x", "")) == pytest.approx(0.6 * long, abs=0.1)
    assert float(found["6"].get("y", "")) > lower + 13
    assert "time (s)" in found and "10" in found
    assert root.findtext("title") == "Time: a: 10; b: 4" and root.get("role") == "img"
    assert root.get("aria-labelledby") == root.find("title").get("id")  # type: ignore[union-attr]


@pytest.mark.parametrize("width", [450, 800])
@pytest.mark.parametrize("label", ["a", "no compression · write-through · of a long name " * 2])
def test_nothing_leaves_the_drawing(width: int, label: str) -> None:
    drawn = [bar(label, 741.0, text="741 ms, 1.42 : 1"), bar("b", 1.0), bar("c", 740.0)]
    root = parsed(bars(drawn, SECONDS, WORDS, width))
    left, _, whole, height = (float(part) for part in root.get("viewBox", "").split())
    assert whole == pytest.approx(width)
    for name, text in texts(root).items():
        x, anchor = float(text.get("x", "")), text.get("text-anchor")
        wide = text_width(name.removeprefix(label) or name)
        start = {"start": x, "middle": x - wide / 2, "end": x - wide}[str(anchor)]
        assert start >= left - 1, name
        assert start + wide <= left + whole + 1, name
        assert float(text.get("y", "")) < height
    assert min(length for _, _, length in filled(root)) > 0


def test_what_has_no_room_is_shortened_and_told_in_full() -> None:
    label = "no compression · write-through · " * 4
    text = next(t for t in parsed(bars([bar(label, 1.0)], SECONDS, WORDS)).iter("text") if len(t))
    assert text.findtext("title") == label
    assert (text.find("title").tail or "").endswith("…")  # type: ignore[union-attr]
    assert shortened("iiii", text_width("iiii")) == "iiii"
    assert shortened("wwww", text_width("www")) == "ww…"
    assert "<title>" not in bars([bar("short", 1.0)], SECONDS, WORDS)[200:]


def test_runs_are_below_each_other_and_groups_below_their_names() -> None:
    drawn = [
        bar("zlib", 1.0, group="JFFS2", run="run 1"),
        bar("zlib", 2.0, group="JFFS2", run="run 2"),
        bar("lzo", 3.0, group="UBIFS", run="run 2"),
    ]
    root = parsed(bars(drawn, SECONDS, WORDS))
    (_, first, _), (_, second, _), (_, third, _) = filled(root)
    names = texts(root)
    assert second - first == 13
    # Row of 2 × 13 + 8 pixels, then the name of the next group; its bar is the second line there.
    assert third - second == 2 * 13 + 8 + 22
    assert second < float(names["UBIFS"].get("y", "")) < third
    assert names["UBIFS"].get("font-weight") == "bold" and names["lzo"].get("font-weight") is None
    assert "JFFS2 · zlib, run 2: 2" in (root.findtext("title") or "")


def test_pieces_follow_each_other_and_what_is_below_0_has_no_length() -> None:
    pieces = (Piece(3e9, "t0"), Piece(-1e9, "t1"), Piece(1e9, "t2", 0.35))
    drawing = bars([Bar("a", "", pieces, "4 s")], SECONDS, WORDS)
    (start, _, first), (behind, _, second) = filled(parsed(drawing))
    assert (start, behind) == (0, pytest.approx(first, abs=0.1))
    assert first == pytest.approx(3 * second, abs=0.3)
    assert "fill:var(--t0);" in drawing and "var(--t1)" not in drawing
    assert "fill:var(--t2);stroke:var(--t2);stroke-width:.8;fill-opacity:0.35" in drawing


def test_seeds_are_points_or_a_line() -> None:
    root = parsed(bars([bar("a", 2.0, points=(1e9, 4e9))], SECONDS, WORDS))
    ((_, _, length),) = filled(root)
    places = [float(point.get("cx", "")) for point in root.iter("circle")]
    assert places == [pytest.approx(length / 2, abs=0.1), pytest.approx(length * 2, abs=0.3)]
    assert float(texts(root)["2"].get("x", "")) > places[1]  # behind the last point
    drawing = bars([bar("a", 2.0, low=1e9, high=4e9)], SECONDS, WORDS)
    ((_, _, length),) = filled(parsed(drawing))
    low, high = re.findall(r'd="M([\d.]+) [\d.]+H([\d.]+)" style="stroke:var\(--ink\)', drawing)[0]
    assert (float(low), float(high)) == (
        pytest.approx(length / 2, abs=0.1),
        pytest.approx(length * 2, abs=0.3),
    )


def test_a_giant_is_cut_and_keeps_its_proportions() -> None:
    giant = Bar("d", "", (Piece(150e9, "t0"), Piece(450e9, "t1")), "600 s", points=(599e9, 601e9))
    drawn = [bar("a", 10.0), bar("b", 11.0), bar("c", 12.0), giant]
    assert are_cut(drawn) and not are_cut(drawn[:3])
    drawing = bars(drawn, SECONDS, WORDS)
    lengths = [length for _, _, length in filled(parsed(drawing))]
    assert lengths[3] + lengths[4] == pytest.approx(1.4 * lengths[2], abs=0.3)  # of the next
    assert lengths[4] == pytest.approx(3 * lengths[3], abs=0.3)
    assert drawing.count("fill:var(--paper)") == 1 and "<circle" not in drawing
    assert "fill:var(--paper)" not in bars(drawn[:3], SECONDS, WORDS)


def test_marks_in_a_bar_and_through_all() -> None:
    drawing = bars([bar("a", 4.0, notch=1e9), bar("b", 2.0)], SECONDS, WORDS, mark_at=3e9)
    (_, _, length), _ = filled(parsed(drawing))
    notch = re.search(r'd="M([\d.]+) 4v13" style="stroke:var\(--ink\);stroke-width:2"', drawing)
    line = re.search(r'd="M([\d.]+) 0V42" style="stroke:var\(--ink\);stroke-dasharray', drawing)
    assert notch and float(notch[1]) == pytest.approx(length / 4, abs=0.1)
    assert line and float(line[1]) == pytest.approx(length * 3 / 4, abs=0.1)
    # A line beyond all bars is inside the drawing.
    root = parsed(bars([bar("a", 1.0)], SECONDS, WORDS, mark_at=50e9))
    assert filled(root)[0][2] < 10


@pytest.mark.parametrize(
    ("low", "high", "logarithmic", "ticks"),
    [
        (0.0, 20.0, False, [0, 5, 10, 15, 20]),
        (0.0, 2.4, False, [0, 0.5, 1, 1.5, 2]),
        (0.0, 0.0009, False, [0, 0.0002, 0.0004, 0.0006, 0.0008]),
        (0.0, 230_000.0, False, [0, 50_000, 100_000, 150_000, 200_000]),
        (0.9, 2.1, True, [1, 1.2, 1.4, 1.6, 1.8, 2]),
        (0.5, 40.0, True, [0.5, 1, 2, 5, 10, 20]),
    ],
)
def test_numbers_of_an_axis_are_round(
    low: float, high: float, logarithmic: bool, ticks: list[float]
) -> None:
    assert Scale(low, high, 400, logarithmic).ticks() == ticks


def test_a_factor_has_one_length_on_a_logarithmic_axis() -> None:
    frame = Frame(Rows((("", "a"),), 1, 40, 300), Scale(0.5, 4, 300, logarithmic=True))
    assert [frame.scale.at(value) for value in (0.5, 1, 2, 4)] == pytest.approx([0, 100, 200, 300])
    drawing = frame.drawing([frame.bar(4, 1, 2, "t0")], "a ÷ b", "told", "y", "×")
    assert filled(parsed(drawing)) == [(100, 4.5, 100)]
    assert {"×1", "×2", "×4"} <= set(texts(parsed(drawing)))


def test_file_systems_with_several_configurations_have_a_name_above_these() -> None:
    alone = [bar("JFFS2 · zlib", 1.0), bar("UBIFS · lzo", 1.0)]
    assert below_names(alone) == alone
    several = below_names([*alone, bar("UBIFS · zlib · sync", 1.0), bar("LogFS", 1.0)])
    assert [(one.group, one.label) for one in several] == [
        *(("JFFS2", "zlib"), ("UBIFS", "lzo"), ("UBIFS", "zlib · sync"), ("LogFS", "")),
    ]
    # Two runs of one configuration are one row.
    runs = [bar("JFFS2 · zlib", 1.0, run="run 1"), bar("JFFS2 · zlib", 1.0, run="run 2")]
    assert below_names(runs) == runs


def test_words_are_escaped_and_equal_bars_are_both_drawn() -> None:
    root = parsed(
        bars([bar("a < b", 0.0, text="0 & 0"), bar("a < b", 0.0, text="0")], SECONDS, WORDS)
    )
    assert root.findtext("title") == "Time: a < b: 0 & 0; a < b: 0"
    assert {"a < b", "0 & 0"} <= set(texts(root))
