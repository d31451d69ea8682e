"""Images in a run, on a target without a kernel and with tools that are a function: values with a
key; written by the guest that prepares the flash; refused, and why that skips what."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from host_support import cases_of
from image_support import (
    CASES,
    IMAGES,
    STUDY,
    Runs,
    Tools,
    hashed_cases,
    jobs_of,
    lab_in,
    runs_in,
    tools_in,
    write_tree,
)

from ffslab.campaign.chain import chain_of
from ffslab.campaign.images import ImageJob, built, with_tree_hashes
from ffslab.campaign.run import prepare, prepare_resumed
from ffslab.errors import InfrastructureError, UsageError
from ffslab.images.build import ImageSpec
from ffslab.lab.cache import file_sha256
from ffslab.lab.progress import SilentProgress
from ffslab.model.canonical import canonical_json, sha256_hex
from ffslab.model.case import case_spec
from ffslab.results.rundir import RunDirectory, find_run
from ffslab.targets.running import GuestSlot
from ffslab.targets.target import IMAGE_NAME
from ffslab.targets.uml.directory import write_guest_directory
from ffslab.targets.uml.guests import KIND


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tools:
    return tools_in(tmp_path, monkeypatch)


@pytest.fixture
def run(tools: Tools, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Runs:
    return runs_in(tools.place, monkeypatch, capsys)


# --- the tree in the spec ---


def test_each_tree_is_hashed_once_and_its_hash_is_in_the_spec(tools: Tools) -> None:
    write_tree(tools.place / "other", "other\n")
    text = STUDY.format(tree="rootfs")
    cases = with_tree_hashes(cases_of(text + '"state.tree" = ["rootfs", "other"]\n'))
    assert sorted(tools.hashed) == ["other", "rootfs"]
    hashes = {case.state.tree: case_spec(case)["state"]["tree_sha256"] for case in cases}
    assert len(set(hashes.values())) == 2
    assert all(len(value) == 64 for value in hashes.values())
    assert not tools.read


def test_the_contents_are_a_part_of_the_spec_and_the_place_is_not(tools: Tools) -> None:
    def specs(tree: str) -> set[str]:
        return {case.spec_hash for case in hashed_cases(tree)}

    first = specs("rootfs")
    shutil.copytree("rootfs", "elsewhere/rootfs")
    assert specs("elsewhere/rootfs") == specs(str(tools.place / "rootfs")) == first
    (tools.place / "elsewhere/rootfs/greeting").write_text("hello!\n")
    assert not specs("elsewhere/rootfs") & first


def test_without_images_no_tree_is_looked_at(tools: Tools) -> None:
    text = STUDY.format(tree="rootfs").replace('state = { tree = "rootfs" }', 'state = "free"')
    cases = cases_of(text.replace('"squashfs"', '"yaffs2"').replace('["none", "lzo"]', '["none"]'))
    assert with_tree_hashes(cases) == cases
    assert jobs_of(cases, tools.place) == {}
    assert not tools.hashed + tools.read
    assert not tools.built


# --- the jobs ---


def test_cases_that_begin_with_the_same_image_share_its_job(tools: Tools) -> None:
    cases = hashed_cases(more="cpu_scale = [1, 0]\nseed = [1, 2]\n")
    jobs = jobs_of(cases, tools.place)
    assert tools.read == ["rootfs"]
    assert set(jobs) == {case.id for case in cases}
    assert len(cases) == 4 * CASES
    assert len({job.key for job in jobs.values()}) == IMAGES
    # Its key is there before the image.
    assert not tools.built
    for case in cases:
        image = built(jobs[case.id], SilentProgress())
        assert image is not None
        words = case.filesystem.image_options
        assert image.facts["command"] == f"mkfs.test {' '.join(words)}"
        assert jobs_of((case,), tools.place)[case.id].key == jobs[case.id].key


def test_a_job_is_a_value_that_another_process_can_be_given(tools: Tools) -> None:
    (job, *_) = jobs_of(hashed_cases(), tools.place).values()
    assert pickle.loads(pickle.dumps(job)) == job


def test_a_partition_that_may_be_too_small_is_another_job(tools: Tools) -> None:
    """Though the image is the same: the tool is not told."""
    (job, *_) = jobs_of(hashed_cases(), tools.place).values()
    smaller = replace(job, spec=replace(job.spec, partition_blocks=10))
    assert smaller.image_key == job.image_key
    assert smaller.key != job.key
    assert replace(job, image_key="0" * 64).key != job.key


def test_a_program_that_is_updated_meanwhile_is_an_error(tools: Tools) -> None:
    (job, *_) = jobs_of(hashed_cases(), tools.place).values()
    tools.version = "1.1"
    with pytest.raises(InfrastructureError, match="programs that build images have changed"):
        built(job, SilentProgress())


@pytest.mark.parametrize(
    ("axis", "images"),
    [
        ('"options.volume" = ["dynamic", "static"]', 2),
        ("partition_bytes = ['20 MiB', '24 MiB']", 2),
        ('"chip.subpages" = [1, 4]', 2),
        ('"chip.t_read_ns" = [1000, 2000]', 1),
        ('"workload.list_stat" = [true, false]', 1),
    ],
)
def test_what_the_tool_is_told_makes_another_image(axis: str, images: int, tools: Tools) -> None:
    text = STUDY.format(tree="rootfs").split("[axes]")[0]
    text += f'[axes]\nfilesystem = ["squashfs"]\n"workload.steps" = ["mount unmount"]\n{axis}\n'
    cases = with_tree_hashes(cases_of(text))
    assert len(cases) == 2
    assert len({job.key for job in jobs_of(cases, tools.place).values()}) == images


def test_a_tree_that_changes_meanwhile_is_an_error(tools: Tools) -> None:
    cases = hashed_cases()
    (tools.place / "rootfs/more").write_text("more\n")
    with pytest.raises(UsageError, match="rootfs has changed"):
        jobs_of(cases, tools.place)
    assert not tools.built


# --- the guests ---


def test_the_preparing_guest_gets_the_image_and_the_other_its_flash(
    run: Runs, tools: Tools
) -> None:
    result = run()
    assert result.code == 0, result.error
    assert len(tools.built) == IMAGES
    # What comes after the image makes no difference to the state.
    assert len(run.target.prepared) == IMAGES
    assert len(run.target.measured) == CASES
    assert {job.image for job in run.target.prepared} == set(tools.place.glob("image-*"))
    for job in run.target.prepared:
        assert "write-image " in job.plan
        assert job.flash is None
    for job in run.target.measured:
        assert "write-image " not in job.plan
        assert job.image is None
        assert job.flash is not None
        options = str(job.case.filesystem.image_options)
        assert f"options={options}, ".encode() in job.flash.read_bytes()


def test_a_result_says_what_was_on_the_flash(run: Runs, tools: Tools) -> None:
    run()
    (tree_sha256,) = {case.state.tree_sha256 for case in hashed_cases()}
    for result in find_run("latest", Path("results")).results():
        image = result["image"]
        assert (image["tree"], image["tree_sha256"]) == ("rootfs", tree_sha256)
        assert image["sha256"] in {file_sha256(path) for path in tools.place.glob("image-*")}
        assert image["image_bytes"] == 4
        assert image["ratio"] == len("hello\n") / 4
        assert image["pages"] > 0
        assert image["write_ns"] > 0
        assert str(tools.place) not in str(result)


def test_the_image_is_put_into_the_guests_directory(tools: Tools) -> None:
    (case, *_) = cases_of(STUDY.format(tree="rootfs"))
    image, directory = tools.place / "built", tools.place / "guest"
    image.write_bytes(b"image")
    directory.mkdir()
    write_guest_directory(directory, lab_in(tools.place), case, "ffsplan 1\n", image=image)
    assert (directory / IMAGE_NAME).read_bytes() == b"image"


# --- kept states ---


def test_the_images_job_is_in_the_states_key_and_its_place_is_not(tools: Tools) -> None:
    (case, *_) = hashed_cases()
    job = jobs_of((case,), tools.place)[case.id]

    def key(job: ImageJob) -> str:
        return chain_of(case, KIND, "build", job).preparing[0].key

    moved = replace(job.tree, tar=Path("elsewhere"))
    assert key(replace(job, tree=moved)) == key(job)
    assert key(replace(job, image_key="2" * 64)) != key(job)


def test_the_key_of_a_state_without_an_image_is_what_it_was() -> None:
    """Thousands of them are in the caches of users."""
    text = STUDY.format(tree="rootfs").replace('{ tree = "rootfs" }', '"saturated"')
    text = text.replace('kind = "tree"', 'kind = "micro"').replace('"squashfs"', '"yaffs2"')
    text = text.split('"options.compression"')[0]
    (case, *_) = cases_of(text)
    (job,) = chain_of(case, KIND, "build").preparing
    determines = {"plan": job.plan, **KIND.history(case), "build_id": "build", "image_sha256": ""}
    assert job.key == sha256_hex(canonical_json(determines))


def test_a_state_is_kept_until_the_tree_changes(run: Runs, tools: Tools) -> None:
    run()
    run()
    assert not run.target.prepared
    assert len(run.target.measured) == CASES
    (tools.place / "rootfs/greeting").write_text("hello again\n")
    run()
    assert len(run.target.prepared) == IMAGES


# --- errors, and a run that is continued ---


def test_cases_without_their_image_are_skipped_and_the_others_run(run: Runs, tools: Tools) -> None:
    tools.failing = ("squashfs",)
    assert run().code == 0
    results = find_run("latest", Path("results")).results()
    outcomes = {one["id"]: (one["outcome"], one["reason"]) for one in results}
    assert len(outcomes) == CASES
    for case_id, (outcome, reason) in outcomes.items():
        assert outcome == ("skip" if "squashfs" in case_id else "pass"), (case_id, reason)
        assert ("larger than the partition" in reason) == ("squashfs" in case_id)
    assert len(run.target.prepared) == IMAGES // 2


def test_no_image_at_all_is_an_error_of_the_study(run: Runs, tools: Tools) -> None:
    tools.failing = ("squashfs",)
    result = run("run", "images.toml", "--jobs", "1", "--set", 'filesystem="squashfs"')
    assert result.code == 2
    assert "larger than the partition" in result.error
    assert not run.target.jobs
    # The reasons of all of them are there.
    done = find_run("latest", Path("results"))
    assert [one["outcome"] for one in done.results()] == ["skip"] * (CASES // 2)
    assert done.manifest()["complete"]
    assert not (done.path / "report.html").exists()


def test_a_fault_of_the_host_stops_the_run_which_can_be_resumed(run: Runs, tools: Tools) -> None:
    def full(spec: ImageSpec, _: GuestSlot) -> None:
        if spec.tool == "squashfs":
            raise InfrastructureError("cannot keep an image: no space left on device")

    tools.before = full
    result = run()
    assert result.code == 3
    assert "no space left on device" in result.error
    assert "--resume" in result.error
    done = find_run("latest", Path("results"))
    kept = {one["id"] for one in done.results()}
    assert kept
    assert all("jffs2-none" in name for name in kept)
    tools.before = lambda *_: None
    first = tools.built[0]
    tools.built.clear()
    assert run("run", str(done.path), "--resume", "--no-report").code == 0
    assert len(done.results()) == CASES
    # What has its results needs no image.
    assert len(tools.built) == IMAGES - 1
    assert first not in tools.built


def remove(tree: Path) -> None:
    shutil.rmtree(tree)


def lead_nowhere(tree: Path) -> None:
    shutil.rmtree(tree)
    tree.symlink_to("nowhere")


@pytest.mark.parametrize("harm", [remove, lead_nowhere])
def test_a_tree_that_is_not_there(harm: Callable[[Path], None], run: Runs, tools: Tools) -> None:
    harm(tools.place / "rootfs")
    result = run()
    assert result.code == 2
    assert "no tree 'rootfs'" in result.error
    assert not run.target.jobs
    assert not tools.built


@pytest.fixture
def interrupted(run: Runs, tools: Tools) -> RunDirectory:
    """A run without the results of the first file system with its second compression."""
    assert run().code == 0
    done = find_run("latest", Path("results"))
    for case in hashed_cases():
        if "jffs2-lzo" in case.id:
            (done.case_dir(case.id) / "case.json").unlink()
    (done.path / "results.jsonl").unlink()
    shutil.rmtree(tools.place / "state")
    tools.built.clear()
    return done


def test_a_resumed_run_builds_what_is_missing_only(
    interrupted: RunDirectory, run: Runs, tools: Tools
) -> None:
    result = run("run", str(interrupted.path), "--resume", "--no-report")
    assert result.code == 0, result.error
    assert [spec.tool for spec in tools.built] == ["jffs2"]
    assert len(run.target.prepared) == 1
    assert len(run.target.measured) == 2
    results = interrupted.results()
    assert len(results) == CASES
    assert all(result["image"] for result in results)


def test_a_run_is_not_continued_with_another_tree(
    interrupted: RunDirectory, run: Runs, tools: Tools
) -> None:
    (tools.place / "rootfs/greeting").write_text("changed\n")
    result = run("run", str(interrupted.path), "--resume", "--no-report")
    assert result.code == 2
    assert "has another spec now" in result.error
    assert not run.target.jobs
    assert not tools.built


@pytest.mark.usefixtures("tools")
def test_the_manifest_has_the_spec_with_the_tree(run: Runs) -> None:
    run()
    found = find_run("latest", Path("results"))
    again = prepare_resumed(found, "build-1")
    listed = {case["id"]: case["spec_hash"] for case in found.manifest()["cases"]}
    assert {case.id: case.spec_hash for case in again.cases} == listed
    assert all(case.state.tree_sha256 for case in prepare("images.toml").cases)
