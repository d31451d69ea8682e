"""The needs file: what it states, what contradicts it, and the cases that it is expanded into."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ffslab.advise.candidates import Candidate, candidates
from ffslab.advise.needs import Needs, load_needs, needs_of
from ffslab.advise.probes import (
    interval_us,
    probes,
    records_of,
    study_text,
    worn_as,
    written_as,
)
from ffslab.advise.run import prepared_study
from ffslab.errors import SpecError
from ffslab.loader import load_catalog, parse_toml

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "needs").glob("*.toml"))
CATALOG = load_catalog()
BASE: dict[str, Any] = {
    "schema": 1,
    "name": "small",
    "board": "apf27",
    "partition": "16 MiB",
    "power_cuts": True,
    "content": {"size": "4 MB", "files": 10, "compressible_percent": 50, "free": "2 MiB"},
    "limits": {"boot_s": 0.5, "ram": "2 MiB", "write_ms": 100},
    "writes": {"pattern": "log", "per_day": "1 MB", "years": 5},
}
MIB = 2**20


def needs(**changes: Any) -> Needs:
    """The needs of BASE with changed keys; of a table, with changed keys in it; None removes."""
    document = dict(BASE)
    for key, value in changes.items():
        table = {**document.get(key, {}), **value} if isinstance(value, dict) else value
        document[key] = table
    kept = {key: value for key, value in document.items() if value is not None}
    return needs_of(kept, CATALOG, "needs.toml")


def test_units_become_bytes_and_nanoseconds() -> None:
    found = needs()
    assert (found.partition_bytes, found.content_bytes, found.packed_bytes) == (
        16 * MIB,
        4_000_000,
        2_000_000,
    )
    assert (found.boot_ns, found.write_ns, found.ram_bytes) == (5e8, 1e8, 2 * MIB)
    assert found.writes is not None and found.writes.per_day_bytes == 1_000_000


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"boards": "apf27"}, "unknown key 'boards' (did you mean 'board'?)"),
        ({"limits": {"boot": 1.0}}, "unknown key 'limits.boot' (did you mean 'boot_s'?)"),
        ({"partition": None}, "key 'partition' is missing"),
        ({"partition": "16 Mib"}, "is not a size"),
        ({"board": None}, "state either board or chip"),
        ({"chip": "slc-256m-celf"}, "state either board or chip"),
        ({"board": "apf28"}, "unknown board 'apf28' (did you mean 'apf27'"),
        ({"consider": {"filesystems": ["ubfs"]}}, "no file system 'ubfs' (did you mean 'ubifs'?)"),
        # What contradicts itself, with the figures of both sides.
        ({"partition": "512 MiB"}, "micron-256m-apf27 has 256 MiB"),
        ({"partition": "64 KiB"}, "no whole erase block"),
        ({"content": {"size": "40 MB"}}, "do not fit into 16 MiB"),
        ({"content": {"tree": "embedded-rootfs", "size": 0}}, "content.tree without content.size"),
        ({"limits": {"ram": "256 MiB"}}, "which has 128 MiB"),
        ({"writes": None}, "limits.write_ms without [writes]"),
        ({"writes": {"per_day": 100}}, "less than one record"),
        ({"writes": {"record": "1 MiB", "per_day": "10 MB"}}, "16 B to 64 KiB"),
        ({"writes": {"pattern": "database"}}, "without writes.file"),
        ({"writes": {"pattern": "stream", "file": "15 MiB"}}, "does not fit beside the content"),
        # tPROG of 220 µs for 2 KiB: 749 GiB a day at the most.
        ({"writes": {"per_day": "4000 GB"}}, "more than micron-256m-apf27 programs in a day"),
        # 16 MiB × 100,000 erases are 1,562.5 GiB; half of 5 GB × 365.25 × 5 is 4,252 GiB.
        ({"writes": {"per_day": "5 GB"}}, "4252.1 GiB in 5 years are more"),
    ],
)
def test_what_cannot_be_right_is_said(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError) as error:
        needs(**changes)
    assert said in str(error.value)
    assert "likely cause:" in str(error.value) and "next:" in str(error.value)


def test_without_any_need_there_is_nothing_to_advise_on() -> None:
    with pytest.raises(SpecError, match="it states no need"):
        needs(content=None, limits=None, writes=None, power_cuts=False)


def test_a_chip_stands_for_the_board_that_has_it() -> None:
    assert needs(board=None, chip="slc-256m-celf").board.name == "celf-mips"


def test_a_chip_without_an_endurance_has_no_life(tmp_path: Path) -> None:
    chips = tmp_path / "chips"
    chips.mkdir()
    (chips / "endless.toml").write_text(
        'schema = 1\nname = "endless"\nextends = "micron-256m-apf27"\n[figures]\n'
        "endurance_cycles = 0\n"
    )
    (tmp_path / "boards").mkdir()
    (tmp_path / "boards" / "mine.toml").write_text(
        'schema = 1\nname = "mine"\nextends = "apf27"\nchip = "endless"\n'
    )
    document = {**BASE, "board": "mine"}
    with pytest.raises(SpecError, match="states no endurance"):
        needs_of(document, load_catalog([tmp_path]), "needs.toml")


def test_a_chip_of_several_boards_and_of_none(tmp_path: Path) -> None:
    (tmp_path / "boards").mkdir()
    (tmp_path / "boards" / "mine.toml").write_text('schema = 1\nname = "mine"\nextends = "apf27"\n')
    (tmp_path / "chips").mkdir()
    (tmp_path / "chips" / "alone.toml").write_text(
        'schema = 1\nname = "alone"\nextends = "micron-256m-apf27"\n'
    )
    catalog = load_catalog([tmp_path])
    document = {key: value for key, value in BASE.items() if key != "board"}
    with pytest.raises(SpecError, match="several boards have the chip micron-256m-apf27"):
        needs_of({**document, "chip": "micron-256m-apf27"}, catalog, "needs.toml")
    with pytest.raises(SpecError, match="new board my-board --extends apf27 --chip alone"):
        needs_of({**document, "chip": "alone"}, catalog, "needs.toml")


def titles(found: Needs) -> list[str]:
    return [one.title for one in candidates(found, CATALOG)]


def test_each_candidate_is_one_step_from_the_defaults() -> None:
    found = candidates(needs(consider={"partitions": ["32 MiB"]}), CATALOG)
    assert all(len(one.options) + bool(one.partition_bytes) <= 1 for one in found)
    assert len({one.key for one in found}) == len(found)
    names = {"jffs2", "ubifs", "overlay-jffs2", "overlay-ubifs", "yaffs2"}
    assert {one.filesystem for one in found} == names
    # Content without a tree has no image: no summary, nothing below an overlay.
    assert not any(dict(one.options).get("summary") for one in found)
    # A partition of 128 blocks has a fastmap, one of 64 has none.
    assert "ubifs, fastmap" in [one.title for one in found]
    assert "ubifs, fastmap" not in titles(needs(partition="8 MiB"))


def test_options_that_change_nothing_are_left_out() -> None:
    assert "ubifs, mount -o sync" in titles(needs())
    calm = needs(writes=None, limits={"write_ms": None})
    assert "ubifs, mount -o sync" not in titles(calm)
    assert "ubifs, image summary" not in titles(calm)
    assert titles(needs(consider={"filesystems": ["ubifs"], "options": []})) == ["ubifs"]


def test_what_is_read_only_or_outside_of_linux_can_be_no_choice() -> None:
    assert "yaffs2" not in titles(needs(consider={"mainline": True}))
    tree = {"tree": "embedded-rootfs", "free": 0}
    assert "squashfs" not in titles(needs(content=tree))
    still = needs(content=tree, writes=None, limits={"write_ms": None})
    assert {"squashfs", "erofs"} <= {one.filesystem for one in candidates(still, CATALOG)}
    with pytest.raises(SpecError, match="no file system is left"):
        candidates(needs(consider={"filesystems": ["squashfs"]}), CATALOG)


def test_probes_measure_each_need_once() -> None:
    found = needs(consider={"filesystems": ["ubifs"], "options": ["compression"]})
    made = probes(found, candidates(found, CATALOG), CATALOG)
    kinds = [probe.kind for probe in made]
    # Four compressors: three cases of each, and one of wear for all.
    assert {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)} == {
        "boot": 4,
        "cut": 4,
        "write": 4,
        "power": 4,
        "random": 1,
        "wear": 1,
    }
    calm = needs(power_cuts=False, writes=None, limits={"write_ms": None})
    assert {one.kind for one in probes(calm, candidates(calm, CATALOG), CATALOG)} == {"boot"}


def test_options_of_images_alone_are_written_like_the_default() -> None:
    below = Candidate("overlay-ubifs", (("lower_compression", "lz4"),))
    assert written_as(below, CATALOG) == Candidate("overlay-ubifs")
    fastmap = Candidate("ubifs", (("fastmap", "on"),))
    assert written_as(fastmap, CATALOG) == fastmap
    assert worn_as(fastmap, CATALOG) == Candidate("ubifs", (("compression", "none"),))
    assert worn_as(Candidate("yaffs2"), CATALOG) == Candidate("yaffs2")


def test_the_writing_uses_the_flash_up() -> None:
    """2 MB of 16 MiB stay, 12 %: another 78 % were written and removed."""
    found = needs()
    (probe,) = [p for p in probes(found, [Candidate("jffs2")], CATALOG) if p.kind == "write"]
    assert probe.settings["state"] == {
        "kind": "aged",
        "valid_percent": 12,
        "invalid_percent": 78,
    }
    assert found.writes is not None
    # 12 % of 16 MiB in pages of 2 KiB; 7,812.5 lines a day come 11 s apart, more than 100 ms.
    assert records_of(found.writes, 16 * MIB) == 983
    assert interval_us(found.writes) == 100_000
    busy = needs(writes={"per_day": "100 MB", "record": 64}).writes
    assert busy is not None
    assert interval_us(busy) == 86_400 * 64 * 1_000_000 // 100_000_000 == 55_296


@pytest.mark.parametrize("pattern", ["log", "database", "stream"])
def test_the_study_of_each_pattern_is_a_study(pattern: str, tmp_path: Path) -> None:
    """As for any study, a setting that has no effect would be an error."""
    found = needs(writes={"pattern": pattern, "file": "1 MiB", "record": 4096, "sync_every": 4})
    made = probes(found, candidates(found, CATALOG), CATALOG)
    prepared = prepared_study(found, made, tmp_path)
    assert [dict(case.axes)["part"] for case in prepared.cases] == [probe.name for probe in made]
    assert not list(tmp_path.iterdir())  # nothing is written before something runs


def test_the_examples_are_there() -> None:
    assert [path.stem for path in EXAMPLES] == ["data-logger", "industrial-panel", "router"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_understood_and_has_few_cases(path: Path, tmp_path: Path) -> None:
    found = load_needs(path, CATALOG)
    chosen = candidates(found, CATALOG)
    made = probes(found, chosen, CATALOG)
    document = parse_toml(study_text(found, made), "study")
    assert len(document["part"]) == len(made)
    cut = {probe.candidate.filesystem for probe in made if probe.kind == "power"}
    assert 5 <= len(chosen) <= 30 and len(made) - 5 * len(cut) <= 100
    assert {probe.kind for probe in made} == {"boot", "cut", "write", "wear", "power", "random"}
    assert len(made) - 4 * len(cut) == sum(probe.kind != "power" for probe in made)
    prepared = prepared_study(found, made, tmp_path)
    assert len({case.id for case in prepared.cases}) == len(made)
