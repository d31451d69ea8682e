"""The images that a run's cases need on their flash: their trees, and the building of each once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ffslab.errors import SpecError, UsageError
from ffslab.model.case import Case

if TYPE_CHECKING:
    from ffslab.images.spec import BuiltImage, ImageSpec
    from ffslab.kernel.lab_build import LabBuild
    from ffslab.kernel.progress import Progress
    from ffslab.targets.target import GuestJob, GuestRun, Target, TargetKind


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
class CaseImages:
    """The images of cases, and why others have none, each by the case's id."""

    built: Mapping[str, CaseImage] = field(default_factory=dict)
    unbuildable: Mapping[str, str] = field(default_factory=dict)


def build_images(
    cases: Sequence[Case], lab_of_images: Callable[[], LabBuild], progress: Progress
) -> CaseImages:
    """The image of each case that needs one; equal ones are built once, in guests of that lab.

    An image that the tool refuses or the partition is too small for is no reason not to run the
    other cases. If none can be built the SpecError is raised, as is whatever else
    `ffslab.images.build.build_image` raises; and UsageError for a tree that is not what it was
    when the cases got its hash (`with_tree_hashes`).
    """
    wanted = [case for case in cases if case.state.kind == "image"]
    if not wanted:
        return CaseImages()
    from ffslab.images.build import build_image, image_spec
    from ffslab.images.source import SourceTree, source_tree

    lab = lab_of_images()
    trees: dict[str, SourceTree] = {}
    made: dict[tuple[str, ImageSpec], CaseImage | SpecError] = {}
    images: dict[str, CaseImage] = {}
    refused: dict[str, SpecError] = {}
    for case in wanted:
        spec = image_spec(case.board.chip, case.partition_blocks, case.filesystem)
        assert spec is not None  # `ffslab.workloads.tree.steps` has seen to it
        name = case.state.tree
        if name not in trees:
            trees[name] = source_tree(name, progress)
        if trees[name].sha256 != case.state.tree_sha256:
            raise UsageError(
                f"the tree {name} is not what it was when ffslab began",
                cause="a program writes there",
                remedy="wait until it has ended and start again, or name a copy of the tree",
            )
        if (name, spec) not in made:
            try:
                made[name, spec] = _case_image(build_image(trees[name], spec, lab, progress))
            except SpecError as error:
                made[name, spec] = error
        image = made[name, spec]
        if isinstance(image, SpecError):
            refused[case.id] = image
        else:
            images[case.id] = image
    if not images:
        raise next(iter(refused.values()))
    return CaseImages(images, {case_id: error.message for case_id, error in refused.items()})


@dataclass(frozen=True, slots=True)
class TargetWithout:
    """A target that skips some cases; `reasons` are by the id of the case."""

    target: Target
    reasons: Mapping[str, str]

    @property
    def kind(self) -> TargetKind:
        """As the target's."""
        return self.target.kind

    def missing(self, case: Case) -> str:
        """The reason for a skip, or an empty string."""
        return self.reasons.get(case.id) or self.target.missing(case)

    def run(self, job: GuestJob) -> GuestRun:
        """As the target's."""
        return self.target.run(job)

    def start_no_more(self) -> None:
        """As the target's."""
        self.target.start_no_more()

    def kill_all(self) -> None:
        """As the target's."""
        self.target.kill_all()


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
