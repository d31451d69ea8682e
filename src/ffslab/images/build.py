"""Builds the image of a file system from a source tree, or takes it from the cache.

The cache's key is a hash of all that determines the bytes: the tree, what the guest is told to run,
the programs with their libraries, kernel and agent. So it makes no difference to a result whether
an image was there already. The partition's size is no part of it unless the tool is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffslab.errors import SpecError
from ffslab.images.builders import Builder, builder_for, check_words, larger_than_partition
from ffslab.images.cache import IMAGE_NAME, ImageStore, image_root
from ffslab.images.spec import BuiltImage, ImageSpec, image_spec
from ffslab.images.toolguest import BuildStoppedError
from ffslab.images.tools import packages
from ffslab.lab.cache import cache_root, file_sha256
from ffslab.lab.packages import DebianPackage, ensure_packages, missing_packages
from ffslab.model.canonical import canonical_json, sha256_hex
from ffslab.targets.running import GuestSlot, RunningGuests

if TYPE_CHECKING:
    from ffslab.images.source import SourceTree
    from ffslab.lab.lab_build import LabBuild
    from ffslab.lab.progress import Progress

__all__ = [
    "BuildStoppedError",
    "BuiltImage",
    "ImageSpec",
    "build_image",
    "image_key",
    "image_spec",
    "missing_tools",
]


def missing_tools(tool: str) -> list[DebianPackage]:
    """The packages of a tool's programs that are not installed; SpecError: no such tool."""
    return missing_packages(packages(tool))


def image_key(tree: SourceTree, spec: ImageSpec, lab: LabBuild, progress: Progress) -> str:
    """The hash of all that determines the bytes of an image, which is not built.

    Missing Debian packages are installed, since the programs are a part of it. Raises SpecError if
    there is no such tool, InfrastructureError if a program cannot be had.
    """
    return _key(tree, _builder(tree, spec, lab, progress))


def build_image(
    tree: SourceTree,
    spec: ImageSpec,
    lab: LabBuild,
    progress: Progress,
    slot: GuestSlot | None = None,
) -> BuiltImage:
    """The image of `tree` that `spec` asks for; from the cache if it is there.

    Missing Debian packages are installed. Raises SpecError if the tool refuses its options or the
    tree, or if the image is larger than the partition; InfrastructureError if a program, the guest
    or the disk stands in the way; BuildStoppedError if the guest was killed in the slot that it was
    given.
    """
    slot = slot or GuestSlot(RunningGuests(progress.note))
    builder = _builder(tree, spec, lab, progress)
    check_words(spec)
    key = _key(tree, builder)
    store = ImageStore(image_root())
    with store.entry(key, progress) as entry:
        facts = store.facts(entry)
        if facts is None:
            title = " ".join((spec.tool, *spec.options))
            with (
                progress.phase(f"building an image of {tree.name} ({title})"),
                store.scratch(entry) as scratch,
            ):
                output = builder.build(tree, scratch, slot)
                facts = {
                    "sha256": file_sha256(output.flash_file),
                    "image_bytes": output.image_bytes,
                    "flash_bytes": output.flash_bytes,
                    "log": output.log,
                }
                store.keep(scratch, entry, output.flash_file, facts)
    image = BuiltImage(
        key=key,
        path=entry / IMAGE_NAME,
        sha256=facts["sha256"],
        image_bytes=facts["image_bytes"],
        flash_bytes=facts["flash_bytes"],
        oob=builder.oob,
        tool=builder.tool,
        command=builder.command,
        log=facts["log"],
        tree=tree,
    )
    _check_size(image, spec)
    return image


def _builder(tree: SourceTree, spec: ImageSpec, lab: LabBuild, progress: Progress) -> Builder:
    if missing_tools(spec.tool):
        ensure_packages(packages(spec.tool), cache_root() / "packages.log", progress)
    return builder_for(tree, spec, lab)


def _key(tree: SourceTree, builder: Builder) -> str:
    return sha256_hex(canonical_json({"tree": tree.sha256, **builder.inputs}))


def _check_size(image: BuiltImage, spec: ImageSpec) -> None:
    """SpecError for an empty image, and for one with more erase blocks than the partition."""
    if not image.image_bytes:
        raise SpecError(
            f"the image of {image.tree.name} is empty",
            cause=f"the tree has no entries, and {spec.tool} writes nothing",
            remedy="a tree with at least one file",
        )
    raw_page_bytes = spec.page_bytes + (spec.oob_bytes if image.oob else 0)
    blocks = -(-image.path.stat().st_size // (raw_page_bytes * spec.pages_per_block))
    if blocks > spec.usable_blocks:
        raise larger_than_partition(image.tree.name, spec, blocks)
