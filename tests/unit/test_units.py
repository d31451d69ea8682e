"""One unit everywhere: MB is 10^6 bytes and MiB 2^20, in every heading, table and document.

A published figure keeps its unit, with the conversion beside it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ffslab.model.units import parse_size
from ffslab.workloads.figures import all_metrics
from ffslab.workloads.registry import folder_of, workloads

ROOT = Path(__file__).resolve().parents[2]
SCALES = {
    "B": 1.0,
    "kB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "TB": 1e12,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
}
# Two to the power of 20, and ten to that of 6, as code and documents write them.
_BINARY = r"2(?:\.0)?\s?(?:\*\*|\^)\s?20|1 ?<< ?20|1_?048_?576"
_DECIMAL = r"\b1e6|10\*\*6|1_000_000"
_MEGA = r"\bMB(?:/s)?\b"
_MEBI = r"\bMiB(?:/s)?\b"
_SAYS_SO = re.compile(r"publi|paper", re.IGNORECASE)


@pytest.mark.parametrize("metric", all_metrics(), ids=lambda metric: metric.name)
def test_a_metric_is_divided_by_what_its_unit_says(metric: object) -> None:
    unit = str(getattr(metric, "unit")).removesuffix("/s")  # noqa: B009  (any metric)
    if unit in SCALES:
        assert getattr(metric, "scale") == SCALES[unit]  # noqa: B009


def test_sizes_are_read_as_they_are_shown() -> None:
    assert {unit: parse_size(f"3 {unit}") / 3 for unit in SCALES if unit != "TB"} == {
        unit: size for unit, size in SCALES.items() if unit != "TB"
    }


def mixed(text: str) -> list[str]:
    """The lines in which only one unit stands, beside the other one's number of bytes."""
    return [line for line in text.splitlines() if not _SAYS_SO.search(line) and _is_mixed(line)]


def _is_mixed(line: str) -> bool:
    mega, mebi = re.search(_MEGA, line), re.search(_MEBI, line)
    wrong = _BINARY if mega else _DECIMAL
    return bool(mega) != bool(mebi) and re.search(wrong, line) is not None


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ('f"{rate / 2**20:.2f} MB/s"', True),
        ("| MB/s, of 2^20 bytes | measured |", True),
        ("MB = 1 << 20", True),
        ('f"{rate / 1e6:.2f} MiB/s"', True),
        ('f"{rate / 1e6:.2f} MB/s"', False),
        ('f"{size / 2**20:.1f} MiB"', False),
        ("| published, MB/s of 2^20 bytes | in MB/s |", False),
    ],
)
def test_what_is_mixed(line: str, wrong: bool) -> None:
    assert bool(mixed(line)) is wrong


@pytest.mark.parametrize("folder", ["src", "docs", "studies", "catalog", "examples"])
def test_no_line_mixes_units(folder: str) -> None:
    names = [
        path
        for ending in ("py", "md", "toml", "j2", "js")
        for path in (ROOT / folder).rglob(f"*.{ending}")
    ]
    found = {
        str(path.relative_to(ROOT)): lines
        for path in names
        if (lines := mixed(path.read_text(encoding="utf-8")))
    }
    assert names and found == {}


@pytest.mark.parametrize("kind", workloads())
def test_rates_have_one_unit_in_a_terminal(kind: str) -> None:
    """Rates are in MB/s wherever they are printed: in MiB/s only what was published so."""
    paths = list(folder_of(kind).glob("*.py"))
    assert paths
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            assert "MiB/s" not in line or _SAYS_SO.search(line), (path.name, line)
