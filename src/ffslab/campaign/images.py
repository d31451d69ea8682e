"""The images that a run's cases need on their flash: their trees, and jobs that build them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ffslab.errors import InfrastructureError, UsageError
from ffslab.model.canonical import canonical_json, sha256_hex
from ffslab.model.case import Case

if TYPE_CHECKING:
    from ffslab.images.source import SourceTree
    from ffslab.images.spec import BuiltImage, ImageSpec
    from ffslab.lab.lab_build import LabBuild
    from ffslab.lab.progress import Progress
    from ffslab.targets.running import GuestSlot

_NOTE_COLUMNS = 80


@dataclass(frozen=True, slots=True)
class CaseImage:
    """An image to be written: the file, its SHA-256, and what results say of it."""

    path: Path
    sha256: str
    facts: Mapping[str, Any]


def with_tree_hashes(cases: Sequence[Case]) -> tuple[Case, ...]:
    """The cases with the hash of the tree that their image is built from; each is read once.

    Raises what `ffslab.images.source.source_sha256` does.
    """
    if not any(case.state.kind == "image" for case in cases):
        return tuple(cases)
    from ffslab.images.source import source_sha256

    known: dict[str, str] = {}

    def with_hash(case: Case) -> Case:
        name = case.state.tree
        if case.state.kind != "image":
            return case
        if name not in known:
            known[name] = source_sha256(name)
        return replace(case, state=replace(case.state, tree_sha256=known[name]))

    return tuple(with_hash(case) for case in cases)


@dataclass(frozen=True, slots=True)
class ImageJob:
    """The building of an image from a tree that is at hand, in guests of `lab`.

    `image_key` is a hash of all that determines the image's bytes.
    """

    tree: SourceTree
    spec: ImageSpec
    lab: LabBuild
    image_key: str

    @property
    def key(self) -> str:
        """Equal for jobs that end alike: the same bytes, for which a partition may be too small."""
        return sha256_hex(canonical_json([self.image_key, self.spec.usable_blocks]))


def image_jobs(
    cases: Sequence[Case], lab_of_images: Callable[[], LabBuild], progress: Progress
) -> dict[str, ImageJob]:
    """How the image of each case that needs one is built in that lab, by the case's id.

    The trees are made and the tools installed, since an image's hash depends on both. Raises what
    `ffslab.images.source.source_tree` and `ffslab.images.build.image_key` do, and UsageError for a
    tree that is not what it was when the cases got its hash (`with_tree_hashes`).
    """
    wanted = [case for case in cases if case.state.kind == "image"]
    if not wanted:
        return {}
    from ffslab.images.build import image_key, image_spec

    lab = lab_of_images()
    trees: dict[str, SourceTree] = {}
    jobs: dict[tuple[str, ImageSpec], ImageJob] = {}
    found: dict[str, ImageJob] = {}
    for case in wanted:
        spec = image_spec(case.board.chip, case.partition_blocks, case.filesystem)
        assert spec is not None  # `ffslab.workloads.tree.steps` has seen to it
        name = case.state.tree
        if name not in trees:
            trees[name] = _tree(name, case.state.tree_sha256, progress)
        if (name, spec) not in jobs:
            key = image_key(trees[name], spec, lab, progress)
            jobs[name, spec] = ImageJob(trees[name], spec, lab, key)
        found[case.id] = jobs[name, spec]
    return found


def _tree(name: str, sha256: str, progress: Progress) -> SourceTree:
    from ffslab.images.source import source_tree

    tree = source_tree(name, progress)
    if tree.sha256 != sha256:
        raise UsageError(
            f"the tree {name} has changed since ffslab began",
            cause="a program is writing there",
            remedy="wait until it has ended and start again, or name a copy of the tree",
        )
    return tree


def built(job: ImageJob, progress: Progress, slot: GuestSlot | None = None) -> CaseImage | None:
    """Does the job: the image, or None if the guest was killed in the slot that it was given.

    Raises what `ffslab.images.build.build_image` does, and InfrastructureError if a program is not
    the one that the job's key has.
    """
    from ffslab.images.build import BuildStoppedError, build_image

    try:
        image = build_image(job.tree, job.spec, job.lab, progress, slot)
    except BuildStoppedError:
        return None
    if image.key != job.image_key:
        raise InfrastructureError(
            "the programs that build images have changed since ffslab began",
            cause="an update was installed meanwhile",
        )
    return _case_image(image)


@dataclass(frozen=True, slots=True)
class Noted:
    """A set-up's progress beside that of a run: its phases are notes, of one line each."""

    tell: Callable[[str], None]

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Says that it begins; what becomes of it the run shows."""
        self.tell(name if len(name) <= _NOTE_COLUMNS else f"{name[: _NOTE_COLUMNS - 1]}…")
        yield

    def count(self, done: int, expected: int) -> None:
        """A run has no place for it."""

    def note(self, text: str) -> None:
        """As it is."""
        self.tell(text)


def _case_image(image: BuiltImage) -> CaseImage:
    facts = {
        "tree": image.tree.name,
        "tree_sha256": image.tree.sha256,
        "tool": image.tool,
        "command": image.command,
        "image_bytes": image.image_bytes,
        "flash_bytes": image.flash_bytes,
        "tree_bytes": image.tree.shape.bytes,
        "sha256": image.sha256,
    }
    return CaseImage(image.path, image.sha256, facts)
