"""Every number of every file has a range, and every reader a depth and a size."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_support import Command
from typing_extensions import TypedDict

import ffslab
from ffslab.advise.needs import needs_of
from ffslab.cli.parse import parse_seeds, parse_set
from ffslab.errors import DamagedResultError, FfslabError, SpecError, UsageError
from ffslab.loader import load_catalog, parse_toml
from ffslab.model.catalog import (
    Catalog,
    board_from_document,
    chip_from_document,
    filesystem_from_document,
    state_from_document,
)
from ffslab.model.strict import Strict
from ffslab.model.study import expand, study_from_document
from ffslab.model.units import parse_size
from ffslab.model.workload_file import file_of
from ffslab.paths import data_dir
from ffslab.reading import DEPTH_MAX, UnreadableError, json_value, toml_value
from ffslab.results.files import read_json_as, read_json_lines
from ffslab.results.result import WrongShapeError, checked
from ffslab.workloads.registry import workloads

DEEP = 3000
ODD = (
    "inf",
    "-inf",
    "nan",
    "1e308",
    "1e23",
    "-1",
    "0",
    str(2**63),
    str(10**23),
    "9" * 5000,
    "-0.0",
)


def shapes() -> list[type[Strict]]:
    """All shapes of files that the sources declare."""
    for module in pkgutil.walk_packages(ffslab.__path__, "ffslab."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for workload in workloads().values():
        file_of(workload)
    found, known = [Strict], set()
    while found:
        shape = found.pop()
        known.add(shape)
        found += shape.__subclasses__()
    return sorted(known - {Strict}, key=lambda shape: (shape.__module__, shape.__name__))


def numbers(schema: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The numbers of a JSON Schema, without those of other shapes."""
    if isinstance(schema, list):
        for one in schema:
            yield from numbers(one, path)
    if not isinstance(schema, dict):
        return
    fixed = "const" in schema or "enum" in schema
    if schema.get("type") in ("integer", "number") and not fixed:
        yield path, schema
    for key, one in schema.items():
        if key != "$defs":
            yield from numbers(one, f"{path}.{key}")


def test_every_number_of_a_shape_has_a_range() -> None:
    count, without = 0, []
    for shape in shapes():
        shape.model_rebuild()
        assert shape.model_config.get("allow_inf_nan") is False
        for path, schema in numbers(shape.model_json_schema(), shape.__name__):
            count += 1
            if not (
                schema.keys() & {"minimum", "exclusiveMinimum"}
                and schema.keys() & {"maximum", "exclusiveMaximum"}
            ):
                without.append(path)
    assert count > 100
    assert without == []


def test_a_shape_without_a_range_is_noticed() -> None:
    schema = {"properties": {"a": {"type": "integer"}, "b": {"anyOf": [{"type": "number"}]}}}
    assert [path for path, _ in numbers(schema, "x")] == ["x.properties.a", "x.properties.b.anyOf"]


# --- TOML ---


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * DEEP + "]" * DEEP,
        "a = " + "{b = " * DEEP + "1" + "}" * DEEP,
        ".".join("a" * DEEP) + " = 1",
        "[" + ".".join("a" * DEEP) + "]",
        "a = " + "[" * (DEPTH_MAX + 1) + "]" * (DEPTH_MAX + 1),
        *(f"a = {sign}{word}" for sign in ("", "+", "-") for word in ("inf", "nan", "1e400")),
        "a = 9223372036854775808",
        "a = [{b = -9223372036854775808}]",
        "a = " + "9" * 5000,
        "a = 0x" + "f" * 5000,
        "a = 1979-05-27T99:00:00",
        "#" * (5 << 20),
    ],
    ids=lambda text: text[:24],
)
def test_toml_that_is_of_no_use_is_refused(text: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_toml(text, "x.toml")
    assert refused.value.cause and refused.value.remedy and len(str(refused.value)) < 500


def test_toml_in_its_bounds_is_read() -> None:
    depth = DEPTH_MAX - 1
    assert toml_value("a = " + "[" * depth + "]" * depth)["a"]
    assert toml_value("a = 9223372036854775807\nb = -1e308\nc = 0.5") == {
        "a": 2**63 - 1, "b": -1e308, "c": 0.5,
    }  # fmt: skip


# --- JSON ---


class Figures(TypedDict):
    count: int
    mean: float
    more: list[dict[str, float]]


@pytest.mark.parametrize(
    "text",
    [
        "[" * DEEP + "]" * DEEP,
        '{"a":' * DEEP + "1" + "}" * DEEP,
        '{"count":NaN}',
        '{"count":1,"mean":Infinity,"more":[]}',
        '{"count":1,"mean":-Infinity,"more":[]}',
        '{"count":1,"mean":1e999,"more":[]}',
        '{"count":1,"mean":1e308,"more":[]}',
        '{"count":1,"mean":1,"more":[{"a":1e999}]}',
        '{"count":1%s,"mean":1,"more":[]}' % ("0" * 400),
        '{"count":1,"mean":1%s,"more":[]}' % ("0" * 400),
        '{"count":1%s,"mean":1,"more":[]}' % ("0" * 5000),
        '{"count":-1%s,"mean":"\\udcff","more":[]}' % ("0" * 5000),
    ],
    ids=lambda text: text[:36],
)
def test_json_that_is_of_no_use_is_damage(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(DamagedResultError):
        read_json_as(path, Figures)
    with pytest.raises(DamagedResultError):
        list(read_json_lines(path, Figures))


def test_json_in_its_bounds_is_read() -> None:
    value = {"count": 2**64, "mean": 0.5, "more": [{"a": -3.0}]}
    assert checked(json_value(json.dumps(value)), Figures) == value
    assert json_value(b'{"a":"\\udcff","b":18446744073709551615}') == {
        "a": "\udcff",
        "b": 2**64 - 1,
    }
    with pytest.raises(WrongShapeError, match=r"more\.0\.a"):
        checked({"count": 1, "mean": 0.5, "more": [{"a": float("nan")}]}, Figures)
    with pytest.raises(UnreadableError):
        json_value('{"a":"\\udcff","b":' + "[" * 2 * DEPTH_MAX + "]" * 2 * DEPTH_MAX + "}")


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"b":[],"a":2}',
        f"[{2**63},{-(2**63) - 1},{2**64},{10**40}]",
        "[0,-0,1.0,-0.0,1e22,9007199254740993.0,5e-324,true,null]",
        "[" * (DEPTH_MAX - 1) + '{"a":1}' + "]" * (DEPTH_MAX - 1),
        '"\\ud83d\\ude00 \u2028"',
    ],
    ids=lambda text: text[:20],
)
def test_json_is_read_as_python_reads_it(text: str) -> None:
    assert repr(json_value(text.encode())) == repr(json_value(text)) == repr(json.loads(text))


@pytest.mark.parametrize("text", ["[1e999]", "[" * (DEPTH_MAX + 2) + "]" * (DEPTH_MAX + 2)])
def test_json_out_of_its_bounds_is_not_read(text: str) -> None:
    with pytest.raises(UnreadableError):
        json_value(text)


# --- options ---


@pytest.mark.parametrize("number", ["1e400", "9" * 30, "9" * 5000, "[" * DEEP, "[inf]"])
def test_numbers_of_options_have_a_range(number: str) -> None:
    with pytest.raises(UsageError):
        parse_set(f"cpu_scale={number}")
    with pytest.raises(UsageError):
        parse_seeds(number)


@pytest.mark.parametrize("size", [2**50 + 1, "9" * 400 + " GB", "1048577 GiB", 10**23])
def test_sizes_have_a_range(size: int | str) -> None:
    with pytest.raises(ValueError, match="at most 1,024 TiB"):
        parse_size(size)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "small.toml", "-j", "9" * 30),
        ("run", "small.toml", "--timeout", "inf"),
        ("run", "small.toml", "--timeout", "nan"),
        ("run", "small.toml", "--timeout", "1e308"),
        ("run", "small.toml", "--set", "cpu_scale=inf"),
        ("run", "small.toml", "--set", "seed=1" + "0" * 30),
        ("run", "small.toml", "--set", "partition_bytes=1" + "0" * 18),
        ("lifetime", "small.toml", "--endurance", "9" * 30),
        ("lifetime", "small.toml", "--daily", "9" * 400),
        ("compare", "a", "b", "--threshold", "inf"),
        ("compare", "a", "b", "--threshold", "nan"),
        ("mkfs", "yaffs2", ".", "x.img", "--page-bytes", "9" * 30),
        ("mkfs", "yaffs2", ".", "x.img", "--pages-per-block", "9" * 30),
        ("mkfs", "logfs", ".", "x.img", "--partition-bytes", "9" * 30),
        ("fsck", "yaffs2", "small.toml", "--page-bytes", "9" * 30),
        ("fsck", "yaffs2", "small.toml", "--pages-per-block", "-1"),
        ("crash", "run", "power-loss", "--timeout", "inf"),
    ],
    ids=lambda words: " ".join(words)[:60],
)
def test_numbers_of_the_command_line_have_a_range(
    ffslab_command: Command, words: tuple[str, ...]
) -> None:
    result = ffslab_command(*words)
    assert result.code == 2, result.error
    assert "internal error" not in result.error


# --- every number of every shipped file ---

NEEDS = """
schema = 1
name = "x"
board = "imx6ull-nand"
partition = 33554432
power_cuts = true
as_promised_percent = 99.5
[content]
size = 1048576
files = 100
compressible_percent = 40
free = 1048576
[limits]
boot_s = 1.5
ram = 1048576
write_ms = 100.0
[writes]
pattern = "log"
per_day = 1048576
years = 10.0
record = 128
sync_every = 1
file = 65536
[consider]
partitions = [67108864]
"""
Read = Callable[[str, str], object]


def study(catalog: Catalog) -> Read:
    def read(text: str, where: str) -> object:
        return expand(study_from_document(parse_toml(text, where), catalog, where), catalog)

    return read


def readers() -> list[tuple[str, Path | str, Read]]:
    """Each shipped file with its reader, by name."""
    catalog = load_catalog()

    def document(build: Callable[[dict[str, Any], str], object]) -> Read:
        return lambda text, where: build(parse_toml(text, where), where)

    kinds: Mapping[str, Read] = {
        "catalog/chips": document(lambda found, where: chip_from_document(found, where, None)),
        "catalog/boards": document(
            lambda found, where: board_from_document(found, catalog.chips, where, None)
        ),
        "catalog/filesystems": document(filesystem_from_document),
        "catalog/states": document(state_from_document),
        "studies": study(catalog),
    }
    found: list[tuple[str, Path | str, Read]] = [
        (f"{kind}/{path.stem}", path, read)
        for kind, read in kinds.items()
        for path in sorted((data_dir("studies").parent / kind).glob("*.toml"))
    ]
    return [*found, ("needs", NEEDS, document(lambda one, where: needs_of(one, catalog, where)))]


NIGHTLY = os.environ.get("FFSLAB_NIGHTLY", "") not in ("", "0")
NUMBER = re.compile(r"(?<=[=\[, ])-?[0-9][0-9_]*(\.[0-9]+)?(?=[,\] }\n])")


@pytest.mark.parametrize(
    ("path", "read"), [row[1:] for row in readers()], ids=[r[0] for r in readers()]
)
def test_a_number_that_makes_no_sense_is_accepted_or_refused(path: Path | str, read: Read) -> None:
    """No internal error, whichever number of the file is whichever of the odd ones."""
    text = path if isinstance(path, str) else path.read_text()
    places = list(NUMBER.finditer(text))
    for count, place in enumerate(places):
        # A study of many cases is expanded for each; there a number meets one after the other.
        few = len(places) < 20 and (NIGHTLY or "studies" not in str(path))
        for odd in ODD if few else ODD[count % len(ODD) :][:1]:
            changed = text[: place.start()] + odd + text[place.end() :]
            try:
                read(changed, "x.toml")
            except FfslabError as error:
                assert error.exit_code == 2, (odd, changed[: place.start()][-60:])
