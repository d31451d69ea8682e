"""Which candidates there are, and the settings of the cases that measure them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from test_advise_limits import BLOCK, LEAST, alone, log, records
from test_advise_needs import CATALOG, MIB, ROOT

from ffslab.advise.candidates import Candidate, candidates
from ffslab.advise.needs import Needs, needs_of
from ffslab.advise.probes import (
    POWER_HISTORIES,
    interval_us,
    is_read_only,
    probes,
    records_of,
    study_text,
    worn_as,
    written_as,
)
from ffslab.errors import SpecError
from ffslab.loader import load_catalog

TREE = {"tree": "embedded-rootfs", "size": "8 MiB"}


def titles(needs: Needs) -> dict[str, list[str]]:
    """What the candidates differ in from the defaults, by file system."""
    found: dict[str, list[str]] = {}
    for one in candidates(needs, CATALOG):
        found.setdefault(one.filesystem, []).append(one.title.partition(", ")[2])
    return found


def test_each_value_that_is_not_the_default_is_a_candidate() -> None:
    """64 MiB are 512 blocks, enough for a fastmap; a tree is in an image; something is written."""
    assert titles(alone(partition="64 MiB", content=TREE, writes=log())) == {
        "jffs2": ["", "uncompressed", "lzo", "image summary", "mount -o sync"],
        "overlay-jffs2": ["", "uncompressed", "lzo", "below lz4", "mount -o sync"],
        "overlay-ubifs": [
            *("", "uncompressed", "zlib", "zstd", "below lz4"),
            *("fastmap", "reserve 5/1024", "mount -o sync"),
        ],
        "ubifs": [
            *("", "uncompressed", "zlib", "zstd"),
            *("fastmap", "reserve 5/1024", "mount -o sync"),
        ],
        "yaffs2": ["", "mount -o sync"],
    }


def test_what_nothing_is_written_to_may_be_read_only() -> None:
    still = titles(alone(partition="64 MiB", content=TREE))
    assert still["squashfs"] == ["", "uncompressed", "lzo", "zstd", "fastmap", "reserve 5/1024"]
    assert still["erofs"] == ["", "uncompressed", "reserve 5/1024"]
    assert "mount -o sync" not in still["ubifs"]
    for more in ({"writes": log()}, {"content": {**TREE, "free": 1}}, {"content": {"size": 1}}):
        found = titles(alone(**{"partition": "64 MiB", "content": TREE, **more}))
        assert not {"squashfs", "erofs"} & found.keys() and "ubifs" in found


@pytest.mark.parametrize(
    ("size", "known"),
    [
        # 5 blocks are enough for JFFS2, 10 for YAFFS2, 17 for UBIFS.
        (4 * BLOCK, set()),
        (5 * BLOCK, {"jffs2", "overlay-jffs2"}),
        (10 * BLOCK, {"jffs2", "overlay-jffs2", "yaffs2"}),
        (17 * BLOCK - 1, {"jffs2", "overlay-jffs2", "yaffs2"}),
        (17 * BLOCK, {"jffs2", "overlay-jffs2", "yaffs2", "ubifs", "overlay-ubifs"}),
    ],
)
def test_a_file_system_needs_so_many_blocks(size: int, known: set[str]) -> None:
    if known:
        assert titles(alone(partition=size)).keys() == known
    else:
        with pytest.raises(SpecError, match="no file system is left"):
            titles(alone(partition=size))


def test_fastmap_is_of_more_than_64_blocks() -> None:
    assert "fastmap" not in titles(alone(partition=65 * BLOCK - 1))["ubifs"]
    assert "fastmap" in titles(alone(partition=65 * BLOCK))["ubifs"]


def test_what_is_named_takes_part_and_nothing_else() -> None:
    assert titles(alone(consider={"filesystems": ["logfs", "yaffs2-inband"], "options": []})) == {
        "logfs": [""],
        "yaffs2-inband": [""],
    }
    with pytest.raises(SpecError, match="no file system is left"):
        titles(alone(consider={"filesystems": ["mtd"]}))  # no file system at all
    linux = {"jffs2", "overlay-jffs2", "overlay-ubifs", "ubifs"}
    assert titles(alone(consider={"mainline": True})).keys() == linux
    with pytest.raises(SpecError, match="no file system is left"):
        titles(alone(consider={"filesystems": ["yaffs2"], "mainline": True}))


def test_another_size_is_a_candidate_and_the_same_is_none() -> None:
    consider = {"filesystems": ["ubifs"], "options": ["fastmap"], "partitions": [
        "32 MiB", "16 MiB"
    ]}  # fmt: skip
    found = candidates(alone(consider=consider), CATALOG)
    fastmap = Candidate("ubifs", (("fastmap", "on"),))
    assert found == (Candidate("ubifs"), fastmap, Candidate("ubifs", (), 32 * MIB))


def test_a_candidate_has_a_key_a_title_and_settings() -> None:
    both = Candidate("overlay-ubifs", (("write_mode", "sync"), ("fastmap", "on")), 32 * MIB)
    assert both.key == "overlayubifs.writemode.sync.fastmap.on.part.33554432"
    assert both.title == "overlay-ubifs, mount -o sync, fastmap, 32 MiB"
    assert both.settings == {
        "filesystem": "overlay-ubifs",
        "partition_bytes": 33_554_432,
        "options.write_mode": "sync",
        "options.fastmap": "on",
    }
    assert Candidate("ubifs").settings == {"filesystem": "ubifs"}
    assert Candidate("ubifs").key == Candidate("ubifs").title == "ubifs"


@pytest.mark.parametrize(
    ("options", "size", "risks"),
    [
        ([], None, 0),
        ([("compression", "none"), ("write_mode", "sync")], None, 0),
        ([("fastmap", "on")], None, 1),
        ([("beb_per1024", "5")], None, 1),
        ([("beb_per1024", "10")], None, 0),
        ([], 2**25, 1),
        ([("fastmap", "on"), ("beb_per1024", "5")], 2**25, 3),
    ],
)
def test_what_no_need_measures_is_counted(
    options: list[tuple[str, str]], size: int | None, risks: int
) -> None:
    assert Candidate("ubifs", tuple(options), size).risks == risks


@pytest.fixture
def own(tmp_path: Path) -> Any:
    """The catalog, with an overlay of other defaults, and a file system that always compresses."""
    folder = tmp_path / "filesystems"
    folder.mkdir()
    overlay = (ROOT / "catalog" / "filesystems" / "overlay-ubifs.toml").read_text()
    overlay = overlay.replace('name = "overlay-ubifs"', 'name = "overlay-gzip"')
    (folder / "overlay-gzip.toml").write_text(overlay.replace('default = "xz"', 'default = "gzip"'))
    (folder / "packer.toml").write_text(
        'schema = 1\nname = "packer"\ntitle = "Packer"\ntype = "jffs2"\nmin_blocks = 5\n'
        'source = "mtd:{partition}"\n[options.compression]\ndefault = "zlib"\n'
        "[options.compression.values]\n"
        'zlib = { mount_options = ["compr=zlib"] }\nlzo = { mount_options = ["compr=lzo"] }\n'
    )
    return load_catalog([tmp_path])


def test_a_catalog_of_ones_own_is_gone_through_like_any(own: Any) -> None:
    """Both other compressors below an overlay; and what has no image at all."""
    wanted = {"filesystems": ["overlay-gzip", "packer"], "options": ["lower_compression"]}
    document = {**LEAST, "content": TREE, "consider": wanted}
    assert [one.title for one in candidates(needs_of(document, own, ""), own)] == [
        "overlay-gzip",
        "overlay-gzip, below lz4",
        "overlay-gzip, below xz",
        "packer",
    ]
    assert not is_read_only(Candidate("packer"), own)
    assert not is_read_only(Candidate("ubifs"), own) and is_read_only(Candidate("erofs"), own)


def test_wear_is_measured_without_compression_where_that_can_be(own: Any) -> None:
    fastmap = (("fastmap", "on"),)
    plain = Candidate("ubifs", (("compression", "none"),), 2**25)
    assert worn_as(Candidate("ubifs", fastmap, 2**25), own) == plain
    assert worn_as(Candidate("packer"), own) == Candidate("packer")
    assert worn_as(Candidate("logfs"), own) == Candidate("logfs")  # none is its default
    assert worn_as(Candidate("mtd"), own) == Candidate("mtd")
    lower = Candidate("overlay-gzip", (("lower_compression", "xz"), *fastmap), 2**25)
    assert written_as(lower, own) == Candidate("overlay-gzip", fastmap, 2**25)


def settings(kind: str, needs: Needs, candidate: Candidate) -> dict[str, Any]:
    """Those of the one case of a kind."""
    (probe,) = [one for one in probes(needs, [candidate], CATALOG) if one.kind == kind]
    return dict(probe.settings)


JFFS2 = Candidate("jffs2")


def test_a_tree_boots_from_its_image() -> None:
    needs = alone(content=TREE)
    state = {"kind": "image", "tree": "embedded-rootfs"}
    assert settings("boot", needs, Candidate("jffs2", (("summary", "on"),))) == {
        "filesystem": "jffs2",
        "options.summary": "on",
        "state": state,
        "workload": {
            "kind": "tree",
            "steps": "mount settle unmount restart mount list unmount",
        },
    }
    assert settings("cut", needs, JFFS2) == {
        "filesystem": "jffs2",
        "state": state,
        "workload": {"kind": "tree", "steps": "mount settle log crash mount list unmount"},
    }


def test_content_without_a_tree_is_created() -> None:
    """Ten files of 400,000 bytes, written in pieces of 128 KiB."""
    content: dict[str, Any] = {"size": 4_000_005, "files": 10, "compressible_percent": 40}
    made = {
        "kind": "tree",
        "directories": 0,
        "depth": 0,
        "files": 10,
        "size": 400_000,
        "write_bytes": 131_072,
        "steps": "mount create settle unmount restart mount list unmount",
        "contents": "compressible",
        "compressibility_percent": 40,
    }
    needs = alone(content=content)
    assert settings("boot", needs, JFFS2) == {"filesystem": "jffs2", "workload": made}
    made["steps"] = "mount create settle sync log crash mount list unmount"
    assert settings("cut", needs, JFFS2) == {"filesystem": "jffs2", "workload": made}


@pytest.mark.parametrize(
    ("content", "files", "size", "piece"),
    [
        ({"size": 1000, "files": 3}, 3, 333, 333),
        ({"size": 1, "files": 1}, 1, 1, 1),
        ({"size": 2, "files": 3}, 0, 0, 1),  # not a byte for each: none is created
        ({}, 0, 0, 1),
    ],
)
def test_small_content_is_written_at_once(
    content: dict[str, int], files: int, size: int, piece: int
) -> None:
    assert settings("boot", alone(content=content), JFFS2)["workload"] == {
        "kind": "tree",
        "directories": 0,
        "depth": 0,
        "files": files,
        "size": size,
        "write_bytes": piece,
        "steps": "mount create settle unmount restart mount list unmount",
    }


@pytest.mark.parametrize(
    ("content", "writes", "state"),
    [
        # 12 of 16 MiB stay; the log is not there before.
        ("12 MiB", log(file="1 MiB"), {"valid_percent": 75, "invalid_percent": 15}),
        # 2 MB are 11.9 %; a file of 4 MiB is 31.25 % of four fifths of the partition.
        ("2 MB", records(file="4 MiB"), {"valid_percent": 12, "invalid_percent": 47}),
        ("2 MB", records("stream", file="4 MiB"), {"valid_percent": 12, "invalid_percent": 47}),
        # Content and file are more than is used: nothing else is written before.
        ("8 MiB", records(file="8 MiB"), {"valid_percent": 50, "invalid_percent": 0}),
        # Just above 62.5 % of four fifths in whole bytes, 13,421,772.
        (0, records(file="8 MiB"), {"valid_percent": 0, "invalid_percent": 27}),
        # At most 90 %.
        (16_700_000, log(), {"valid_percent": 90, "invalid_percent": 0}),
    ],
)
def test_nine_tenths_are_written_before(
    content: int | str, writes: dict[str, Any], state: dict[str, int]
) -> None:
    needs = alone(content={"size": content}, writes=writes)
    assert settings("write", needs, JFFS2)["state"] == {"kind": "aged", **state}


def test_a_file_that_takes_it_all_is_on_a_free_flash() -> None:
    needs = alone(writes=records(file="15 MiB"))
    assert settings("write", needs, JFFS2)["state"] == {"kind": "free"}


def test_shares_are_of_the_candidates_own_partition() -> None:
    """8 MiB are a quarter of 32 MiB."""
    needs = alone(content={"size": "8 MiB"}, writes=log(years=1.0))
    large = Candidate("jffs2", (), 32 * MIB)
    aged = {"kind": "aged", "valid_percent": 25, "invalid_percent": 65}
    assert settings("write", needs, large)["state"] == aged
    assert settings("wear", needs, large)["workload"]["volumes"] == str(6 * 32 * MIB)


@pytest.mark.parametrize(
    ("record", "size", "count"),
    [
        # 12 % of the partition in pages of 2 KiB at least; 500 to 20,000 records.
        (128, 64 * MIB, 3932),  # 8,053,063.68 bytes are 3,932.16 pages
        (4096, 32 * MIB, 983),  # 4,026,531.84 bytes are 983.04 records
        (2048, 4 * MIB, 500),
        (2048, 1024 * MIB, 20_000),
    ],
)
def test_records_are_more_than_the_last_tenth(record: int, size: int, count: int) -> None:
    writes = alone(writes=log(record=record)).writes
    assert writes is not None and records_of(writes, size) == count


@pytest.mark.parametrize(
    ("record", "per_day", "between_us"),
    [
        (64, 10**8, 55_296),  # 86,400 s × 64 ÷ 10⁸
        (64, 10**8 + 1, 55_295),  # 55,295.9994
        (100, 86_400_000, 100_000),
        (100, 86_300_000, 100_000),
        (100, 86_500_000, 99_884),  # 99,884.4
        (16, 2 * 10**12, 0),
    ],
)
def test_records_come_as_often_as_on_the_product(
    record: int, per_day: int, between_us: int
) -> None:
    # A compressor that saves all of it: else no chip is so fast.
    content = {"compressible_percent": 100}
    writes = alone(content=content, writes=log(record=record, per_day=per_day)).writes
    assert writes is not None and interval_us(writes) == between_us


def test_a_log_is_written_as_stated() -> None:
    """12 % of 64 MiB are 3,932 pages."""
    stated = log(record=200, sync_every=7, per_day="100 MB")
    workload = {
        "kind": "append-log",
        "lines": 3932,
        "line_bytes": 200,
        "interval_us": 100_000,  # 172.8 ms are on the product
        "fsync_every": 7,
    }
    needs = alone(partition="64 MiB", writes=stated)
    assert settings("write", needs, JFFS2)["workload"] == workload
    needs = alone(partition="64 MiB", writes={**stated, "file": 300_000})
    workload["rotate_bytes"] = 300_000
    assert settings("write", needs, JFFS2)["workload"] == workload


@pytest.mark.parametrize(
    ("pattern", "called"), [("database", "random-write"), ("stream", "sequential-write")]
)
def test_records_are_written_into_a_file_that_is_there(pattern: str, called: str) -> None:
    """1 MiB and 100 bytes hold 1,048 records of 1,000 bytes; 10 GB a day leave 8.64 ms each."""
    workload = {
        "kind": "micro",
        "pattern": called,
        "request_bytes": 1000,
        "volume_bytes": 3932 * 1000,
        "file_bytes": 1_048_000,
        "existing": True,
        "fsync_every": 3,
        "pause_us": 8640,
    }
    stated = records(pattern, file=MIB + 100, record=1000, sync_every=3, per_day="10 GB")
    needs = alone(partition="64 MiB", writes=stated)
    assert settings("write", needs, JFFS2)["workload"] == workload
    del workload["pause_us"]  # none between what is written without a pause
    content = {"compressible_percent": 100}
    needs = alone(partition="64 MiB", writes={**stated, "per_day": "100000 GB"}, content=content)
    assert settings("write", needs, JFFS2)["workload"] == workload


@pytest.mark.parametrize(
    ("board", "partition_mib", "content", "static", "file", "volume_mib"),
    [
        # The content, a file of a quarter, six times the partition.
        ("apf27", 16, 2_000_000, 2_000_000, 4 * MIB, 96),
        # Three quarters of 16 MiB less the content, for the old file and the new one.
        ("apf27", 16, 5_000_001, 5_000_001, 3_791_455, 96),
        # Half of the partition stays at most; so a quarter is left for both.
        ("apf27", 16, 12 * MIB, 8 * MIB, 2 * MIB, 96),
        # 768 MiB at most, but the partition once.
        ("apf27", 256, 0, 0, 64 * MIB, 768),
        ("xscale-1g", 1024, 0, 0, 256 * MIB, 1024),
    ],
)
def test_wear_rewrites_a_file_beside_what_stays(
    board: str, partition_mib: int, content: int, static: int, file: int, volume_mib: int
) -> None:
    needs = alone(
        board=board,
        partition=partition_mib * MIB,
        content={"size": content},
        writes=log(years=0.01),
    )
    assert settings("wear", needs, JFFS2) == {
        "filesystem": "jffs2",
        "options.compression": "none",
        "workload": {
            "kind": "wear",
            "static_bytes": static,
            "file_bytes": file,
            "volumes": str(volume_mib * MIB),
        },
    }


CUTS = ("power",) * len(POWER_HISTORIES)


@pytest.mark.parametrize(
    ("changes", "filesystem", "kinds"),
    [
        ({}, "jffs2", ["boot", "cut", *CUTS]),
        ({"power_cuts": False}, "jffs2", ["boot"]),
        ({"writes": log()}, "jffs2", ["boot", "cut", *CUTS, "write", "random"]),
        ({"writes": log(years=1.0)}, "jffs2", ["boot", "cut", *CUTS, "write", "random", "wear"]),
        ({"writes": log(years=1.0)}, "squashfs", ["boot"]),
    ],
)
def test_each_need_has_its_case(
    changes: Mapping[str, Any], filesystem: str, kinds: list[str]
) -> None:
    needs = alone(content=TREE, **changes)
    made = probes(needs, [Candidate(filesystem)], CATALOG)
    assert [one.kind for one in made] == kinds
    assert [one.name.partition(".")[0] for one in made] == kinds


def test_the_study_is_a_file_of_its_own() -> None:
    needs = alone(title="Zähler", power_cuts=False, limits={"boot_s": 1.0})
    made = probes(needs, [Candidate("ubifs", (("fastmap", "on"),))], CATALOG)
    assert study_text(needs, made) == (
        "# Made by ffslab advise from the needs least; changes here are overwritten.\n"
        "schema = 1\n"
        'name = "advise-least"\n'
        'title = "Advice: Zähler"\n'
        "\n"
        "[base]\n"
        'board = "apf27"\n'
        "partition_bytes = 16777216\n"
        "seeds = [1]\n"
        "\n"
        "[[part]]\n"
        'name = "boot.ubifs.fastmap.on"\n'
        'set = { "filesystem" = "ubifs", "options.fastmap" = "on", "workload" = '
        '{ "kind" = "tree", "directories" = 0, "depth" = 0, "files" = 0, "size" = 0, '
        '"write_bytes" = 1, "steps" = "mount create settle unmount restart mount list unmount" } }'
        "\n"
    )
