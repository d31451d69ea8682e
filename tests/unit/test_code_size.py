"""Sizes of code: which parts a file system needs, what they come to, and what is kept of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ffslab.codesize.measure import measure, parse_sizes
from ffslab.codesize.parts import CODE, PARTS
from ffslab.codesize.sizes import (
    ALL,
    CodeSizes,
    Measured,
    Needs,
    Size,
    Sum,
    from_document,
    needs_of,
    part_title,
    sum_title,
    to_document,
    with_same_code,
)
from ffslab.codesize.stored import read_sizes
from ffslab.errors import DamagedResultError, InfrastructureError, SpecError, UsageError
from ffslab.lab import objects
from ffslab.lab.packages import ARM_PACKAGES
from ffslab.lab.progress import SilentProgress
from ffslab.loader import load_catalog
from ffslab.model.catalog import Catalog
from ffslab.model.specs import FilesystemOption, ModuleSource, OptionValue
from ffslab.paths import data_dir

# What binutils 2.40 prints: of three objects of JFFS2 for ARM.
TABLE = """\
   text	   data	    bss	    dec	    hex	filename
    977	     84	     96	   1157	    485	fs/jffs2/compr_zlib.o
   9152	     60	   2280	  11492	   2ce4	lib/zlib_deflate/deftree.o
    456	     72	      8	    536	    218	fs/jffs2/compr_lzo.o
"""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(())


def needs(catalog: Catalog, name: str) -> Needs:
    return needs_of(catalog.filesystem(name))


def parts_with(found: Needs, option: str) -> set[str]:
    (one,) = [one for one in found.sums if option in one.options]
    return set(found.parts_of(one))


def test_the_table_of_size_is_read_in_order() -> None:
    assert parse_sizes(TABLE) == [Size(977, 84, 96), Size(9152, 60, 2280), Size(456, 72, 8)]
    with pytest.raises(ValueError, match="not a table of size"):
        parse_sizes("size: no input files\n")


def test_jffs2_needs_the_compressor_that_it_is_told_to_use_and_no_other(catalog: Catalog) -> None:
    found = needs(catalog, "jffs2")
    none = {"jffs2", "mtd-super", "crc32"}
    assert parts_with(found, "none") == none
    assert parts_with(found, "zlib") == none | {"jffs2-zlib", "zlib-deflate", "zlib-inflate"}
    assert parts_with(found, "lzo") == none | {"jffs2-lzo", "lzo-compress", "lzo-decompress"}
    assert parts_with(found, "rtime") == none | {"jffs2-rtime"}
    # In priority mode it tries all; a mount that says nothing is in that mode.
    assert parts_with(found, "priority") == parts_with(found, "image-zlib") == set(found.parts)
    assert [one.default for one in found.sums if one.default] == ["zlib"]


def test_ubifs_needs_ubi_and_the_crypto_api_even_without_compressors(catalog: Catalog) -> None:
    found = needs(catalog, "ubifs")
    none = {"ubifs", "ubi", "crc16", "crc32", "crypto", "crypto-hash-info"}
    assert parts_with(found, "none") == none
    assert parts_with(found, "zstd") - none == {
        *("crypto-algorithms", "crypto-compression", "crypto-zstd"),
        *("zstd-compress", "zstd-decompress", "zstd-common"),
    }
    assert "block-layer" not in found.shown


def test_a_read_only_file_system_needs_a_block_device_and_decompresses_only(
    catalog: Catalog,
) -> None:
    for name in ("squashfs", "erofs"):
        found = needs(catalog, name)
        assert {"ubi", "ubiblock"} <= parts_with(found, "none")
        assert "block-layer" in found.shown
        assert not {"zlib-deflate", "lzo-compress", "zstd-compress"} & set(found.parts)
    assert "zlib-inflate" in parts_with(needs(catalog, "squashfs"), "gzip")


def test_an_overlay_is_made_of_its_layers(catalog: Catalog) -> None:
    """SquashFS is read with xz, the default of OpenWrt, whatever compressor UBIFS has."""
    found, upper = needs(catalog, "overlay-ubifs"), needs(catalog, "ubifs")
    layers = {"overlayfs", "exportfs", "squashfs", "squashfs-xz", "xz", "ubiblock"}
    assert parts_with(found, "none") == parts_with(upper, "none") | layers
    assert "lzo-compress" in parts_with(found, "lzo") - parts_with(found, "none")
    assert len(with_same_code([found, upper])) == 2
    found, upper = needs(catalog, "overlay-jffs2"), needs(catalog, "jffs2")
    layers = layers - {"ubiblock"} | {"mtdblock"}
    assert parts_with(found, "zlib") == parts_with(upper, "zlib") | layers
    assert set(found.shown) == {"mtd-core", "block-layer"}


def test_values_that_use_the_same_compressors_are_one_sum(catalog: Catalog) -> None:
    found = needs(catalog, "erofs")
    (lz4,) = [one for one in found.sums if "lz4" in one.options]
    assert lz4.options == ("lz4", "lz4hc") and lz4.default == "lz4hc"
    assert sum_title(lz4) == "compression lz4 or lz4hc, default lz4hc"
    (none,) = [one for one in found.sums if "none" in one.options]
    assert sum_title(none) == "compression none (no compressor in the kernel)"


def test_every_file_system_of_the_catalog_is_known_with_its_options(catalog: Catalog) -> None:
    for filesystem in (one for one in catalog.filesystems.values() if one.is_mounted):
        found = needs_of(filesystem)
        assert found.sums and all(one.known for one in found.sums), filesystem.name
        assert {*found.parts, *found.shown} <= set(PARTS)
    for code in CODE.values():
        assert {name for names in code.values.values() for name in names} <= set(code.compressors)


def test_a_value_of_a_users_own_counts_all_and_says_so(catalog: Catalog) -> None:
    ubifs = catalog.filesystem("ubifs")
    own = FilesystemOption(name="compression", default="own", values={"own": OptionValue()})
    found = needs_of(replace(ubifs, options={"compression": own}))
    assert parts_with(found, "own") == set(needs_of(ubifs).parts)
    assert "not known which it uses" in sum_title(found.sums[0])


def test_modules_of_a_users_own_sources_are_not_guessed(catalog: Catalog) -> None:
    own = replace(
        catalog.filesystem("yaffs2"),
        module_source=ModuleSource(directory="/src", stated_in="own.toml"),
    )
    with pytest.raises(SpecError, match="no objects are known for its type yaffs2"):
        needs_of(own)
    sizes = measure([own], (), SilentProgress())
    assert list(sizes.unmeasured) == ["yaffs2"] and not sizes.filesystems


def test_the_same_code_with_other_mount_options_is_listed_once(catalog: Catalog) -> None:
    names = ("yaffs2-inband", "yaffs2-no-cache", "yaffs2", "ubifs")
    joined = with_same_code([needs(catalog, name) for name in names])
    assert [one.names for one in joined] == [
        ("yaffs2", "yaffs2-inband", "yaffs2-no-cache"),
        ("ubifs",),
    ]
    assert joined[0].title == catalog.filesystem("yaffs2").title


def test_what_is_not_the_same_code_is_not_joined(catalog: Catalog) -> None:
    """Each of the four things that make two file systems differ is enough."""
    one = needs(catalog, "yaffs2")
    others = [
        replace(one, names=("b",), base=("yaffs",)),
        replace(one, names=("c",), compressors={"lzo": ("lzo-compress",)}),
        replace(one, names=("d",), shown=()),
        replace(one, names=("e",), sums=()),
    ]
    joined = with_same_code([one, *others])
    assert [found.names for found in joined] == [("yaffs2",), ("b",), ("c",), ("d",), ("e",)]
    # Of equal length by the alphabet; the title is that of the first.
    named = [replace(one, names=(name,), title=name.upper()) for name in ("zz", "aaa", "yy")]
    (only,) = with_same_code(named)
    assert only.names == ("yy", "zz", "aaa") and only.title == "YY"


def test_all_compressors_are_a_sum_where_there_are_several(catalog: Catalog) -> None:
    titles = [sum_title(one) for one in needs(catalog, "erofs").sums]
    assert titles[-1] == "with all compressors"
    assert [one.options for one in needs(catalog, "yaffs2").sums] == [("none",)]
    jffs2 = needs(catalog, "jffs2")
    # All that priority mode tries is all; values of images only are not named beside it.
    assert jffs2.sums[-1].options == (
        *("priority", "image-none", "image-lzo", "image-zlib"),
        ALL,
    )
    assert jffs2.sums[-1].shown == ("priority", ALL)
    assert sum_title(jffs2.sums[-1]) == "compression priority or all compressors"
    assert Sum(("image-lzo",), ("lzo",)).shown == ("image-lzo",)


def test_a_file_system_with_one_compressor_or_no_option(catalog: Catalog) -> None:
    overlay = replace(catalog.filesystem("yaffs2"), type="overlay", options={})
    found = needs_of(overlay)
    assert found.base == ("overlayfs", "exportfs") and found.shown == ()
    assert [sum_title(one) for one in found.sums] == ["sum"]
    assert found.sums[0].default == ALL


def test_the_mtd_core_is_shown_with_all_and_has_a_name(catalog: Catalog) -> None:
    assert needs(catalog, "jffs2").shown == needs(catalog, "ubifs").shown == ("mtd-core",)
    assert part_title("mtd-core") == "MTD core"
    assert part_title("of-another-version") == "of-another-version"


# --- sums and the document ---


def sizes_of(catalog: Catalog) -> CodeSizes:
    """JFFS2 and YAFFS2 with sizes that tell the parts apart in a sum."""
    found = (needs(catalog, "jffs2"), needs(catalog, "yaffs2"))
    names = dict.fromkeys(part for one in found for part in (*one.parts, *one.shown))
    parts = {name: Size(10**number, number, 1) for number, name in enumerate(names)}
    return CodeSizes({"arm": Measured("an ARM", "debian-6.1", "12", "id", parts)}, found)


def test_a_sum_counts_each_part_once(catalog: Catalog) -> None:
    sizes = sizes_of(catalog)
    jffs2 = sizes.filesystems[0]
    assert jffs2.parts[:6] == (
        *("jffs2", "mtd-super", "crc32", "jffs2-lzo", "lzo-compress", "lzo-decompress"),
    )
    (lzo,) = [one for one in jffs2.sums if one.options == ("lzo",)]
    # Powers of ten of the parts 0 to 5; data 0 + 1 + … + 5; six parts with a byte of bss each.
    measured = sizes.architectures["arm"]
    assert measured.sum(jffs2.parts_of(lzo)) == Size(111_111, 15, 6)
    assert measured.sum(jffs2.parts_of(lzo)).total == 111_132


def test_the_document_is_read_as_it_was_written(catalog: Catalog) -> None:
    sizes = sizes_of(catalog)
    document = json.loads(json.dumps(to_document(sizes)))
    assert document["v"] == 1
    assert set(document["architectures"]["arm"]) == {
        *("title", "source", "compiler", "objects_id", "parts"),
    }
    assert from_document(document) == sizes
    (lzo,) = [one for one in document["filesystems"][0]["sums"] if one["options"] == ["lzo"]]
    assert lzo["bytes"] == {"arm": {"text": 111_111, "data": 15, "bss": 6}}


def broken(change: str) -> Mapping[str, Any]:
    document = to_document(sizes_of(load_catalog(())))
    if change == "version":
        document["v"] = 2
    elif change == "part":
        del document["architectures"]["arm"]["parts"]["crc32"]
    elif change == "negative":
        document["architectures"]["arm"]["parts"]["crc32"]["bss"] = -1
    else:
        document["filesystems"][0]["sums"][0]["compressors"] = ["snappy"]
    return document


@pytest.mark.parametrize("change", ["version", "part", "negative", "compressor"])
def test_damaged_sizes_of_a_run_are_told(tmp_path: Path, change: str) -> None:
    assert read_sizes(tmp_path) is None
    (tmp_path / "sizes.json").write_text(json.dumps(broken(change)))
    with pytest.raises(DamagedResultError, match=r"sizes\.json"):
        read_sizes(tmp_path)


# --- building the objects ---


def test_an_unknown_architecture_is_refused() -> None:
    with pytest.raises(UsageError, match="no architecture 'mips'"):
        objects.ensure_objects("mips", SilentProgress())


def without_compiler(*_arguments: object) -> None:
    raise InfrastructureError("Debian packages are missing: gcc-arm", remedy="as root: apt-get")


def test_a_missing_compiler_ends_the_command_but_not_a_run(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(objects, "ensure_packages", without_compiler)
    chosen = [catalog.filesystem("jffs2")]
    with pytest.raises(InfrastructureError, match="gcc-arm"):
        measure(chosen, ("arm",), SilentProgress())
    sizes = measure(chosen, ("arm",), SilentProgress(), go_on=True)
    assert not sizes.architectures
    assert sizes.unmeasured == {"arm": "Debian packages are missing: gcc-arm; as root: apt-get"}


def test_the_compiler_for_arm_is_asked_for_only_there() -> None:
    assert objects.RECIPES["arm"].packages == ARM_PACKAGES
    assert objects.RECIPES["um"].packages == ()
    for recipe in objects.RECIPES.values():
        for name in recipe.fragments:
            assert (data_dir("kernel") / name).is_file()
