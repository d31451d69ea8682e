"""`ffslab image`: its table, its one image, its errors; the images are made up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ffslab.cli import image as image_verb
from ffslab.errors import FfslabError, SpecError, UsageError
from ffslab.images import build, source
from ffslab.images.build import BuiltImage, ImageSpec
from ffslab.images.catalogue import all_images, named_image
from ffslab.images.source import SourceTree
from ffslab.lab.lab_build import LabBuild
from ffslab.loader import load_catalog

LAB = LabBuild(Path("linux"), {}, Path("agent"), "build", Path("ffscrash"))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SourceTree:
    """A tree of a million bytes, and images of half of that with each tool but UBIFS's."""
    shape = source.TreeShape(3, 20, 1, 0, 1_000_000, 5000, 2, 10)
    made = SourceTree("rootfs", tmp_path / "tree.tar", "0" * 64, shape, "0" * 16)
    (tmp_path / "image").write_bytes(b"content")

    def build_image(tree: SourceTree, spec: ImageSpec, *_: object) -> BuiltImage:
        if spec.tool == "ubifs":
            raise SpecError("the image of rootfs is larger than the partition")
        return BuiltImage(
            key="e" * 64,
            path=tmp_path / "image",
            sha256="f" * 64,
            image_bytes=500_000,
            flash_bytes=512_000,
            oob=spec.tool == "yaffs2",
            tool="mkfs.test 1.0",
            command=f"mkfs.test {' '.join(spec.options)}",
            log="",
            tree=tree,
        )

    monkeypatch.setattr(source, "source_tree", lambda *_: made)
    monkeypatch.setattr(build, "build_image", build_image)
    monkeypatch.setattr("ffslab.lab.ensure_lab", lambda **_: LAB)
    return made


def run(*arguments: str) -> str:
    """Standard output of the verb; errors are raised."""
    app = typer.Typer()
    image_verb.register(app)
    done = CliRunner().invoke(app, arguments)
    if isinstance(done.exception, FfslabError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.usefixtures("tree")
def test_the_table_has_a_line_for_each_image_and_a_reason_for_none() -> None:
    lines = run().splitlines()
    assert lines[0].startswith("rootfs: 3 directories, 20 files of 1,000,000 bytes, 1 links")
    assert " ".join(lines[1].split()) == "file system compression image bytes flash bytes ratio"
    cells = [line.split() for line in lines[2:]]
    assert ["jffs2", "zlib", "500,000", "512,000", "2.00"] in cells
    assert ["ubifs", "lzo", "none"] in cells
    assert "ubifs lzo: the image of rootfs is larger than the partition" in lines
    # What differs in the mount only has one line.
    assert not any(row[0] == "yaffs2-no-cache" for row in cells)
    # So has an overlay: no two lines are of one tool's work.
    assert not any(row[0].startswith("overlay") for row in cells)
    assert max(map(len, lines)) <= 80


@pytest.mark.usefixtures("tree")
def test_one_image_goes_to_a_file(tmp_path: Path) -> None:
    output = tmp_path / "out"
    shown = run("rootfs", "--fs", "jffs2", "--compression", "lzo", "--to", str(output))
    assert output.read_bytes() == b"content"
    assert "jffs2 lzo: 500,000 bytes, ratio 2.00" in shown
    assert "512,000 bytes in 250 pages" in shown
    assert f"file:    {output}\n" in shown
    on_ubi = run("rootfs", "--fs", "squashfs", "--to", str(output))
    assert f"file:    {output}, 7 bytes with UBI\n" in on_ubi
    assert "mkfs.test -x zlib -x rtime -X lzo" in shown
    assert "pages with OOB" in run("--fs", "yaffs2")


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "image"), "one image has one file system"),
        (("--compression", "lzo"), "one image has one file system"),
        (("--fs", "ubifs"), "larger than the partition"),
        (("--fs", "nothing"), "unknown filesystem 'nothing'"),
        (("--fs", "ubifs", "--compression", "rtime"), "ubifs has no compression 'rtime'"),
        (("--fs", "jffs2", "--partition-bytes", "large"), "'large' is not a size"),
        (("--fs", "jffs2", "--partition-bytes", "1 GiB"), "larger than chip"),
        (("--fs", "jffs2", "--board", "nothing"), "unknown board 'nothing'"),
        (("--fs", "jffs2", "--to", "/dev/null/x"), "cannot write /dev/null/x"),
    ],
)
def test_what_cannot_be(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(*arguments)


def test_a_file_system_without_a_tool_has_no_image() -> None:
    catalog = load_catalog()
    board = catalog.board("apf27-2012")
    without = replace(catalog.filesystem("jffs2"), image=None)
    with pytest.raises(SpecError, match="no tool that builds images of jffs2"):
        named_image(without, board, "100 MiB")
    assert all(one.spec.partition_blocks == 800 for one in all_images(catalog, board, "100 MiB"))
