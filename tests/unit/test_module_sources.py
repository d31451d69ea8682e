"""Out-of-tree modules: what a catalog may say, what counts as their sources, and the hints that
a failed build gives; nothing is compiled.
"""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path

import pytest
from host_support import cases_of

from ffslab import doctor
from ffslab.campaign.run import prepare
from ffslab.errors import SpecError
from ffslab.lab import lab, outoftree
from ffslab.lab.lab_build import LabBuild
from ffslab.lab.outoftree import identified, out_of_tree_filesystems, with_hash
from ffslab.lab.source import KernelSource
from ffslab.lab.symbols import missing_symbols, options_of, origin_of
from ffslab.loader import load_catalog
from ffslab.model.case import Case, case_spec
from ffslab.model.specs import Filesystem, ModuleSource
from ffslab.targets.virtual_flash import plan_text

FILESYSTEM = """
schema = 1
name = "mine"
title = "My file system"
type = "mine"
source = "mtd:{partition}"
min_blocks = 2
modules = ["mine"]

[module_source]
directory = "../../my sources"
config = ["CONFIG_MINE=m"]
"""
STUDY = """
schema = 1
name = "own"
title = "A file system of one's own"

[base]
board = "apf27"
filesystem = "mine"
partition_bytes = "16 MiB"
"""


class Own:
    """A user's directory, with a space in its name: a catalog, sources, and a study."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.sources = root / "my sources"
        self.catalog = root / "catalog"
        self.entry = self.catalog / "filesystems" / "mine.toml"
        self.study = root / "own.toml"
        self.write(self.entry, FILESYSTEM)
        self.write(self.study, STUDY)
        self.write(self.sources / "Kbuild", "obj-$(CONFIG_MINE) += mine.o\n")
        self.write(self.sources / "mine.c", "int mine;\n")

    @staticmethod
    def write(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def edit(self, old: str, new: str) -> None:
        text = self.entry.read_text()
        assert old in text
        self.entry.write_text(text.replace(old, new))

    def filesystem(self) -> Filesystem:
        return load_catalog([self.catalog]).filesystem("mine")

    def case(self) -> Case:
        return prepare(str(self.study), catalogs=[self.catalog]).cases[0]

    def source(self) -> ModuleSource:
        found = self.case().filesystem.module_source
        assert found is not None
        return found


@pytest.fixture
def own(tmp_path: Path) -> Own:
    return Own(tmp_path / "my work")


def test_the_directory_is_relative_to_the_file_that_names_it(
    own: Own, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (stated,) = (f.module_source for f in out_of_tree_filesystems(load_catalog([own.catalog])))
    assert stated is not None
    assert stated.directory == str(own.sources)
    assert load_catalog([Path("my work/catalog")]).filesystem("mine").module_source == replace(
        stated, stated_in="my work/catalog/filesystems/mine.toml", sha256=""
    )


def test_the_home_directory_may_be_named(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(own.root))
    own.edit('"../../my sources"', '"~/my sources"')
    assert own.source().directory == str(own.sources)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('modules = ["mine"]\n', "", "module_source needs `modules`"),
        ('["mine"]', '["mine", "mine"]', "module 'mine' would be loaded twice"),
        ('["mine"]', '["vnand"]', "module 'vnand' would be loaded twice"),
        ('["mine"]', '["../mine"]', "modules.0"),
        ('"CONFIG_MINE=m"', '"MINE=m"', "'MINE=m' is not CONFIG_NAME=VALUE"),
        ("config =", "konfig =", "did you mean 'config'"),
        ('config = ["CONFIG_MINE=m"]', 'make_arguments = ["clean"]', "'clean' is not NAME=VALUE"),
        ('config = ["CONFIG_MINE=m"]', 'make_arguments = ["M=/x"]', "M is set by ffslab itself"),
        ('config = ["CONFIG_MINE=m"]', 'make_arguments = ["KBUILD_X=1"]', "is set by ffslab"),
        ('config = ["CONFIG_MINE=m"]', 'cflags = ["-I$(src)"]', "{source} is the directory"),
        ('directory = "../../my sources"\n', "", "'module_source.directory' is missing"),
        ('"../../my sources"', '"~nobody-has-this-name/x"', "module_source.directory"),
    ],
)
def test_what_cannot_be_right_is_an_error_of_the_catalog(
    own: Own, old: str, new: str, message: str
) -> None:
    own.edit(old, new)
    with pytest.raises(SpecError) as caught:
        own.filesystem()
    assert message in caught.value.message
    assert "mine.toml" in caught.value.message
    assert caught.value.exit_code == 2


def test_the_contents_are_in_the_spec_and_the_place_is_not(own: Own, tmp_path: Path) -> None:
    before = own.case()
    spec = case_spec(before)["filesystem"]["module_source"]
    assert set(spec) == {"sha256", "config", "make_arguments", "cflags"}
    assert len(spec["sha256"]) == 64
    assert str(tmp_path) not in str(case_spec(before))

    (own.root).rename(tmp_path / "elsewhere")
    moved = Own(tmp_path / "elsewhere")
    assert moved.case().spec_hash == before.spec_hash
    assert plan_text(moved.case()) == plan_text(before)

    moved.write(moved.sources / "mine.c", "int mine = 1;\n")
    changed = moved.case()
    assert changed.spec_hash != before.spec_hash
    # Then the same text in a file of another name.
    (moved.sources / "mine.c").rename(moved.sources / "other.c")
    assert moved.case().spec_hash not in (before.spec_hash, changed.spec_hash)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("CONFIG_MINE=m", "CONFIG_MINE=y"),
        ('["CONFIG_MINE=m"]', '["CONFIG_MINE=m"]\nmake_arguments = ["DEBUG=1"]'),
        ('["CONFIG_MINE=m"]', '["CONFIG_MINE=m"]\ncflags = ["-DDEBUG"]'),
    ],
)
def test_how_it_is_built_is_in_the_spec(own: Own, old: str, new: str) -> None:
    before = own.case()
    own.edit(old, new)
    assert own.case().spec_hash != before.spec_hash


def test_other_file_systems_have_nothing_of_it_in_their_specs() -> None:
    assert all("module_source" not in case_spec(case)["filesystem"] for case in cases_of())


def test_build_results_and_hidden_files_do_not_count(own: Own) -> None:
    before = own.source().sha256
    left_over = ("mine.o", ".mine.o.cmd", "mine.ko", "mine.mod", "mine.mod.c", "Module.symvers")
    for name in (*left_over, "modules.order", "mine.c~", ".mine.c.swp", ".git/config", "sub/x.o"):
        own.write(own.sources / name, "left over")
    assert own.source().sha256 == before
    own.write(own.sources / "sub" / "x.c", "int x;\n")
    assert own.source().sha256 != before


def test_symbolic_links_are_followed_once(own: Own) -> None:
    before = own.source().sha256
    own.write(own.root / "shared" / "common.h", "#define COMMON\n")
    (own.sources / "shared").symlink_to("../shared")
    with_link = own.source().sha256
    assert with_link != before
    (own.root / "shared" / "back").symlink_to("../my sources")
    (own.sources / "dangling.c").symlink_to("nowhere.c")
    assert own.source().sha256 == with_link


def test_a_directory_that_is_not_there(own: Own) -> None:
    own.edit("my sources", "my source")
    # Only the studies that use it cannot run.
    assert own.filesystem().module_source is not None
    assert prepare("quick", catalogs=[own.catalog]).cases
    with pytest.raises(SpecError) as caught:
        own.case()
    assert f"{own.root}/my source is not a directory" in caught.value.message
    assert str(own.entry) in caught.value.remedy


def test_a_directory_without_kbuild(own: Own) -> None:
    (own.sources / "Kbuild").rename(own.sources / "Makefile")
    assert own.case()
    (own.sources / "Makefile").unlink()
    with pytest.raises(SpecError, match="has neither Kbuild nor Makefile"):
        own.case()


def test_a_directory_that_is_far_too_large(own: Own) -> None:
    with (own.sources / "image").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(SpecError, match="more than 64 MiB"):
        own.case()


def test_a_directory_is_read_once_for_all_cases(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    original = with_hash

    def counted(filesystem: str, source: ModuleSource) -> ModuleSource:
        reads.append(filesystem)
        return original(filesystem, source)

    monkeypatch.setattr(outoftree, "with_hash", counted)
    case = replace(own.case(), id="again")
    assert len(prepare(str(own.study), [("seed", (1, 2, 3))], catalogs=[own.catalog]).cases) == 3
    assert len(reads) == 2
    assert identified([case, case])
    assert len(reads) == 3


def test_every_build_of_the_kernel_has_its_own_modules(
    own: Own, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    setup = own.case().filesystem
    source = KernelSource("debian-6.1.0-0", Path("/nonexistent/tree"))
    default, debug = (lab.plan_lab(variant, source, [setup]) for variant in ("default", "debug"))
    assert default.out_of_tree[0].entry != debug.out_of_tree[0].entry
    assert "out-of-tree mine" in default.missing()
    # A lab is what it is, whatever modules users bring: their sources are in the specs.
    assert default.inputs_id == lab.plan_lab("default", source).inputs_id
    # Two file systems of the same sources share what is built.
    twin = replace(setup, name="twin")
    assert lab.plan_lab("default", source, [setup, twin]).out_of_tree == default.out_of_tree


def test_a_guest_gets_the_modules_of_its_own_file_system(own: Own) -> None:
    setup = own.case().filesystem
    assert setup.module_source is not None
    ours, theirs = Path("ours/mine.ko"), Path("theirs/mine.ko")
    build = LabBuild(
        Path("linux"),
        {"mine": ours, "vnand": Path("vnand.ko")},
        Path("agent"),
        "build-1",
        Path("ffscrash"),
        {setup.module_source.key: {"mine": theirs}},
    )
    assert build.modules_for(setup) == {"mine": theirs, "vnand": Path("vnand.ko")}
    assert build.modules_for(cases_of()[0].filesystem)["mine"] == ours


def test_the_doctor_looks_at_the_sources(
    own: Own, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def finding() -> doctor.Finding:
        found = doctor.examine(catalogs=[own.catalog])
        return next(f for f in found if f.subject == "module mine")

    assert finding().state is doctor.State.LATER
    assert "--catalog" in finding().remedy
    own.edit("my sources", "gone")
    assert finding().state is doctor.State.BAD
    assert "is not a directory" in finding().detail
    own.entry.write_text("name =")
    (catalog,) = (f for f in doctor.examine(catalogs=[own.catalog]) if f.subject == "catalog")
    assert catalog.state is doctor.State.BAD


def test_symbols_and_flags_reach_compiler_and_make(own: Own) -> None:
    own.edit(
        'config = ["CONFIG_MINE=m"]',
        'config = ["CONFIG_MINE=m", "CONFIG_LOG=y", "CONFIG_LEVEL=3", "CONFIG_OFF=n"]\n'
        """cflags = ["-I{source}/include", '-DNAME="a name"']""",
    )
    flags = outoftree._compiler_flags(own.source(), Path("/cache/copy"))
    assert flags == [
        *("-DCONFIG_MINE_MODULE=1", "-DCONFIG_LOG=1", "-DCONFIG_LEVEL=3"),
        *("-I/cache/copy/include", """'-DNAME="a name"'"""),
    ]


LOG = """
  MODPOST /cache/Module.symvers
ERROR: modpost: "mount_bdev" [/cache/mine.ko] undefined!
ERROR: modpost: "lz_pack" [/cache/mine.ko] undefined!
ERROR: modpost: "mount_bdev" [/cache/other.ko] undefined!
make[1]: *** [modpost] Error 1
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A kernel with three files that export something, each under other conditions."""
    files = {
        "Kbuild": "obj-y += fs/\nobj-$(CONFIG_LIBRARY) += lib/\n",
        "fs/Makefile": "ifeq ($(CONFIG_BLOCK),y)\nobj-y += buffer.o\nelse\nobj-y += none.o\nendif\n"
        "obj-y := open.o \\\n\tsuper.o\n",
        "fs/super.c": "#ifdef CONFIG_BLOCK\n#ifndef CONFIG_X\nEXPORT_SYMBOL(mount_bdev);\n"
        "#endif\n#endif\nEXPORT_SYMBOL(mount_single);\n",
        "fs/buffer.c": "EXPORT_SYMBOL(bread);\n",
        "lib/Makefile": "obj-$(CONFIG_LZ) += lz.o\nlz-y := main.o\nlz-$(CONFIG_PACK) += pack.o\n",
        "lib/pack.c": "EXPORT_SYMBOL_NS_GPL(lz_pack, LZ);\n",
        ".config": "CONFIG_LIBRARY=y\nCONFIG_LZ=m\n# CONFIG_BLOCK is not set\n",
    }
    for name, text in files.items():
        Own.write(tmp_path / "tree" / name, text)
    return tmp_path / "tree"


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("mount_bdev", "fs/super.c needs CONFIG_BLOCK"),
        ("bread", "fs/buffer.c needs CONFIG_BLOCK"),
        ("lz_pack", "lib/pack.c needs CONFIG_PACK"),
        ("mount_single", "fs/super.c (not in this configuration)"),
        ("mount", "no file of this kernel exports it"),
    ],
)
def test_a_missing_symbol_leads_to_the_option_that_brings_it(
    tree: Path, symbol: str, expected: str
) -> None:
    assert origin_of(symbol, tree, tree / ".config") == expected


def test_options_of_all_makefiles_above_a_file(tree: Path) -> None:
    assert options_of(Path("lib/pack.c"), tree) == ["CONFIG_PACK", "CONFIG_LZ", "CONFIG_LIBRARY"]


def test_missing_symbols_are_each_told_once() -> None:
    assert missing_symbols(LOG) == ["mount_bdev", "lz_pack"]
    assert missing_symbols("error: something else") == []


def test_a_file_that_cannot_be_read(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    # Not by its mode: root may read everything.
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(SpecError, match=r"my sources/Kbuild: Permission denied"):
        own.case()
