"""The needs file at its limits: the last value that is taken and the first that is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_advise_needs import CATALOG, MIB

from ffslab.advise.needs import OPTIONS, PATTERNS, Needs, load_needs, needs_of
from ffslab.errors import SpecError
from ffslab.loader import load_catalog

LEAST: dict[str, Any] = {
    "schema": 1,
    "name": "least",
    "board": "apf27",  # 256 MiB in blocks of 128 KiB, 100,000 erases each; 128 MiB of RAM
    "partition": "16 MiB",
    "power_cuts": True,
}
BLOCK = 131_072


def alone(**changes: Any) -> Needs:
    """The needs of a file that says no more than it must, and this; None removes."""
    document = {key: value for key, value in {**LEAST, **changes}.items() if value is not None}
    return needs_of(document, CATALOG, "needs.toml")


def refused(said: str, **changes: Any) -> None:
    with pytest.raises(SpecError) as error:
        alone(**changes)
    assert said in str(error.value)


def log(**changes: Any) -> dict[str, Any]:
    """[writes] of a log."""
    return {"pattern": "log", "per_day": "1 MB", **changes}


def records(pattern: str = "database", **changes: Any) -> dict[str, Any]:
    """[writes] of a file that is there, of 1 MiB."""
    return {"pattern": pattern, "per_day": "1 MB", "file": "1 MiB", **changes}


def test_what_a_file_does_not_say_is_no_need() -> None:
    found = alone(writes=log())
    assert (found.title, alone(title="The Least").title) == ("least", "The Least")
    content = (found.tree, found.content_bytes, found.files, found.compressible_percent)
    assert content == ("", 0, 1, 0) and found.packed_bytes == found.free_bytes == 0
    assert (found.boot_ns, found.ram_bytes, found.write_ns) == (None, None, None)
    assert (found.cut_states, found.as_promised_percent) == (1000, 100)
    assert (found.filesystems, found.partitions, found.mainline) == ((), (), False)
    assert found.options == OPTIONS
    assert found.writes is not None
    writes = found.writes
    assert (writes.record_bytes, writes.sync_every, writes.file_bytes) == (128, 1, 0)
    assert writes.years is None and alone().writes is None


def test_what_compresses_leaves_the_rest() -> None:
    """70 % of 1,001 bytes, in whole bytes."""
    assert alone(content={"size": 1001, "compressible_percent": 30}).packed_bytes == 700
    assert alone(content={"size": 1001}).packed_bytes == 1001


@pytest.mark.parametrize("pattern", PATTERNS)
def test_each_pattern_is_one_of_the_file(pattern: str) -> None:
    writes = alone(writes=records(pattern)).writes
    assert writes is not None and writes.pattern == pattern
    assert len(PATTERNS) == 3


# As small a volume that the chip bears it for as long as can be stated.
RANGES: list[tuple[str, dict[str, Any], str, list[float], list[float]]] = [
    ("limits", {}, "boot_s", [0.001, 1e6], [0.0, 1.5e6]),
    ("limits", {}, "write_ms", [0.001, 1e9], [0.0, 1.5e9]),
    ("writes", log(per_day=128), "years", [0.001, 1000.0], [0.0, 1000.5]),
    ("content", {}, "files", [1, 10**7], [0, 10**7 + 1]),
]


@pytest.mark.parametrize(("table", "rest", "key", "good", "bad"), RANGES)
def test_numbers_have_a_range(
    table: str, rest: dict[str, Any], key: str, good: list[float], bad: list[float]
) -> None:
    for value in good:
        alone(**{"writes": log(), table: {**rest, key: value}})
    for value in bad:
        said = f"needs.toml: {table}.{key}: Input should be "
        refused(said, **{"writes": log(), table: {**rest, key: value}})


def test_a_name_has_60_letters_at_most_and_a_share_is_of_100() -> None:
    assert alone(name="n" * 60).name == "n" * 60
    refused("name: String should have at most 60 characters", name="n" * 61)
    refused("Input should be less than or equal to 100", as_promised_percent=100.5)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        # Names are those of the table that the key stands in: the file itself has `partition`.
        ({"consider": {"partition": []}}, "'consider.partition' (did you mean 'partitions'?)"),
        ({"content": {"tre": "a"}}, "unknown key 'content.tre' (did you mean 'tree'?)"),
        ({"writes": log(patern="log")}, "unknown key 'writes.patern' (did you mean 'pattern'?)"),
        ({"shema": 1}, "needs.toml: unknown key 'shema' (did you mean 'schema'?)"),
        ({"writes": {"pattern": "log"}}, "needs.toml: key 'writes.per_day' is missing"),
        ({"chip": "x"}, "needs.toml: document: state either board or chip"),
        # A size is a number or a text: whichever was meant, the place is the same.
        ({"partition": -1}, "needs.toml: partition: Input should be greater than or equal to 0; "
                            "partition: Input should be a valid string"),
        ({"content": {"size": []}}, "needs.toml: content.size: Input should be a valid integer; "
                                    "content.size: Input should be a valid string"),
    ],
)  # fmt: skip
def test_a_problem_is_told_with_its_place(changes: dict[str, Any], said: str) -> None:
    refused(said, **changes)


@pytest.mark.parametrize(
    "need",
    [
        {"power_cuts": True},
        {"content": {"size": 1}},
        {"limits": {"boot_s": 1.0}},
        {"limits": {"ram": 0}},
        {"limits": {"write_ms": 1.0}, "writes": log()},
        {"writes": log(years=1.0)},
    ],
)
def test_each_need_is_one_that_can_be_alone(need: dict[str, Any]) -> None:
    assert alone(**{"power_cuts": False, **need}).name == "least"


def test_writing_alone_is_no_need() -> None:
    refused("it states no need", power_cuts=False)
    refused("it states no need", power_cuts=False, writes=log())
    refused("it states no need", power_cuts=False, content={"free": "1 MiB"})


def test_a_partition_has_a_block_at_least_and_the_chip_at_most() -> None:
    assert alone(partition="256 MiB", consider={"partitions": ["256 MiB", BLOCK]}).partitions == (
        256 * MIB,
        BLOCK,
    )
    assert alone(partition=BLOCK).partition_bytes == BLOCK
    refused("micron-256m-apf27 has 256 MiB", partition=256 * MIB + 1)
    refused("has no whole erase block", partition=BLOCK - 1)
    refused("has no whole erase block", consider={"partitions": [BLOCK - 1]})


@pytest.mark.parametrize("partitions", [[], ["8 MiB"]])
def test_content_and_what_must_be_free_fill_the_largest_partition(partitions: list[str]) -> None:
    """Half of 8 MiB and 12 MiB are 16 MiB."""
    other = {"partitions": partitions}
    content = {"size": "8 MiB", "compressible_percent": 50, "free": "12 MiB"}
    assert alone(content=content, consider=other).free_bytes == 12 * MIB
    content["free"] = 12 * MIB + 1
    refused("do not fit into 16 MiB", content=content, consider=other)
    assert alone(content=content, consider={"partitions": ["17 MiB", "8 MiB"]}).partitions


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_written_file_fits_beside_the_content(pattern: str) -> None:
    """6 of 8 MiB stay of the content; 10 of 16 MiB are left."""
    content = {"size": "8 MiB", "compressible_percent": 25}
    for sizes in ([], ["8 MiB"]):
        more: dict[str, Any] = {"content": content, "consider": {"partitions": sizes}}
        assert alone(writes=records(pattern, file="10 MiB"), **more)
        refused("10 MiB are left", writes=records(pattern, file=10 * MIB + 1), **more)
    assert alone(
        writes=records(pattern, file="11 MiB"),
        content=content,
        consider={"partitions": ["17 MiB", "8 MiB"]},
    )


def test_only_a_log_needs_no_size_of_its_file() -> None:
    assert alone(writes=log(file=0))
    for pattern in ("database", "stream"):
        refused(f"writes.pattern '{pattern}' without writes.file", writes=records(pattern, file=0))


def test_a_day_has_one_record_at_least() -> None:
    assert alone(writes=log(per_day=128))
    refused("127 B a day are less than one record of 128 B", writes=log(per_day=127))
    assert alone(writes=records(per_day=1, record=1))
    refused("less than one record of 0 B", writes=records(record=0))


def test_a_line_of_a_log_has_16_bytes_to_64_kib() -> None:
    for size in (16, 65_536):
        assert alone(writes=log(record=size))
    for size in (15, 65_537):
        refused("a line of a log has 16 B to 64 KiB", writes=log(record=size))
        assert alone(writes=records(record=size))  # not so what is written into a file


def test_a_day_is_enough_to_program_it_all() -> None:
    """2,048 bytes in each of the 86,400 × 10⁹ ÷ 200,000 tPROG of a day are 884,736 MB."""
    day = 884_736_000_000
    celf: dict[str, Any] = {"board": None, "chip": "slc-256m-celf"}
    assert alone(writes=log(per_day=day), **celf)
    refused("in a day without a pause: 824.0 GiB", writes=log(per_day=day + 1), **celf)
    half = {"compressible_percent": 50}
    assert alone(writes=log(per_day=2 * day), content=half, **celf)
    refused("slc-256m-celf programs", writes=log(per_day=2 * day + 1), content=half, **celf)


def test_a_chip_that_takes_no_time_programs_any_volume(tmp_path: Path) -> None:
    (tmp_path / "chips").mkdir()
    (tmp_path / "boards").mkdir()
    (tmp_path / "chips" / "at-once.toml").write_text(
        'schema = 1\nname = "at-once"\nextends = "micron-256m-apf27"\n[figures]\nt_prog_ns = 0\n'
    )
    (tmp_path / "boards" / "mine.toml").write_text(
        'schema = 1\nname = "mine"\nextends = "apf27"\nchip = "at-once"\n'
    )
    document = {**LEAST, "board": "mine", "writes": log(per_day=2**50)}
    assert needs_of(document, load_catalog([tmp_path]), "needs.toml").writes


@pytest.mark.parametrize("partitions", [[], [1000 * BLOCK]])
def test_the_blocks_bear_what_is_written_in_the_years(partitions: list[int]) -> None:
    """1,461 blocks bear 1,461 × 131,072 × 100,000 bytes, and four years have 1,461 days."""
    day = 131_072 * 100_000
    large: dict[str, Any] = {"partition": 1461 * BLOCK, "consider": {"partitions": partitions}}
    assert alone(writes=log(per_day=day, years=4.0), **large)
    refused("in 4 years are more than the", writes=log(per_day=day + 1, years=4.0), **large)
    quarter = {"compressible_percent": 75}
    assert alone(writes=log(per_day=4 * day, years=4.0), content=quarter, **large)
    refused(
        "blocks endure, even if all wear alike: 17834.5 GiB",  # 1,461 × 131,072 × 100,000 ÷ 2³⁰
        writes=log(per_day=4 * day + 1, years=4.0),
        content=quarter,
        **large,
    )
    large["consider"] = {"partitions": [1462 * BLOCK, BLOCK]}
    assert alone(writes=log(per_day=day + 1, years=4.0), **large)


def test_a_file_system_may_take_all_the_ram_of_the_board() -> None:
    assert alone(limits={"ram": "128 MiB"}).ram_bytes == 128 * MIB
    refused("of RAM on the board apf27, which has 128 MiB", limits={"ram": 128 * MIB + 1})


def test_a_tree_is_of_the_catalog_or_beside_the_needs_file(tmp_path: Path) -> None:
    path = tmp_path / "needs.toml"

    def tree_of(stated: str) -> str:
        path.write_text(
            'schema = 1\nname = "n"\nboard = "apf27"\npartition = "16 MiB"\npower_cuts = true\n'
            f'[content]\nsize = "1 MB"\ntree = "{stated}"\n'
        )
        return load_needs(path, CATALOG).tree

    (tmp_path / "beside.tar").touch()
    assert tree_of("beside.tar") == str(tmp_path / "beside.tar")
    assert tree_of("not/there.tar") == str(tmp_path / "not" / "there.tar")
    assert tree_of("../up.tar") == str(tmp_path.parent / "up.tar")
    assert tree_of("embedded-rootfs") == "embedded-rootfs"
    assert tree_of("") == ""
