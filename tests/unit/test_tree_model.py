"""Workload `tree`: distributions, words, and the plans that they become."""

from __future__ import annotations

from dataclasses import replace

import pytest
from host_support import cases_of
from plan_support import is_prepared_apart, preparation_plan_text

from ffslab.errors import SpecError
from ffslab.loader import parse_toml
from ffslab.model.case import Case, case_spec
from ffslab.model.catalog import filesystem_from_document
from ffslab.model.specs import InitialState
from ffslab.model.workload import Setting
from ffslab.paths import data_dir
from ffslab.protocol.plan import parse_step
from ffslab.targets.virtual_flash import module_path, plan_text, shell_plan_text
from ffslab.workloads.tree.checks import check_tree, mean_shape
from ffslab.workloads.tree.distribution import parse_distribution
from ffslab.workloads.tree.keys import Tree
from ffslab.workloads.tree.steps import guests_of, steps_of

STUDY = """
schema = 1
name = "trees"
title = "A study of trees"

[base]
board = "apf27-2012"
partition_bytes = "100 MiB"
filesystem = "{filesystem}"
state = "{state}"
seeds = [7]

[base.workload]
kind = "tree"
{workload}
"""

JFFS2 = ("jffs2", "free")


def case_of(workload: str = "", filesystem: str = "ubifs", state: str = "free") -> Case:
    (case,) = cases_of(STUDY.format(filesystem=filesystem, state=state, workload=workload))
    return case


def verbs(plan: str) -> list[str]:
    return [line.split()[0] for line in plan.splitlines()]


def keys(plan: str, verb: str, number: int = 0) -> dict[str, str]:
    lines = [line for line in plan.splitlines() if line.split()[0] == verb]
    return dict(parse_step(lines[number])[1])


@pytest.mark.parametrize(
    ("value", "text", "mean"),
    [
        (4, "constant(4)", 4),
        (2.5, "constant(2.5)", 2.5),
        ("12", "constant(12)", 12),
        ("13 KiB", "constant(13312)", 13312),
        ("uniform(512, 10 KiB)", "uniform(512,10240)", 5376),
        ("normal(4, 1)", "normal(4,1)", 4),
        ("normal(3,0.25)", "normal(3,0.25)", 3),
        ("constant(750)", "constant(750)", 750),
    ],
)
def test_distribution(value: object, text: str, mean: float) -> None:
    distribution = parse_distribution(value)
    assert str(distribution) == text
    assert distribution.mean == mean
    assert parse_distribution(text) == distribution


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (True, "not a distribution"),
        ("poisson(3)", "not a distribution"),
        ("normal(4)", "MEAN and DEVIATION"),
        ("constant(1,2)", "takes N"),
        ("uniform(9, 3)", "LOW is above HIGH"),
        ("uniform(1, 2, 3)", "not a distribution"),
        (-1, "-1 is below 0"),
        ("normal(4, -1)", "-1 is below 0"),
        (0.0001, "0.0001 is not a number"),
        (1e30, "not a number"),
        (float("nan"), "nan is not a number"),
        ("²", "² is not a number"),
        ("10 XB", "not a size"),
        (2**40, "above"),
    ],
)
def test_bad_distribution(value: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_distribution(value)


def test_phases_are_numbered_over_the_whole_case() -> None:
    tree = Tree(steps="mount create list unmount restart mount list create delete delete unmount")
    phases = [step.phase for step in steps_of(tree)]
    assert " ".join(phases) == (
        "mount create list unmount restart mount-2 list-2 create-2 delete delete-2 unmount-2"
    )
    before, after = guests_of(tree, InitialState("free", "free"))
    assert [step.word for step in before] == ["mount", "create", "list", "unmount", "restart"]
    assert after[0].phase_of("attach") == "attach-2"
    # The tree created last goes first.
    assert [step.subject for step in after if step.word == "delete"] == ["tree-2", "tree-1"]


def test_plan_on_an_erased_flash() -> None:
    plan = plan_text(
        case_of('steps = "mount settle warm create unmount mount find delete unmount"')
    )
    assert "tree-warm" in verbs(plan)
    assert verbs(plan).index("erase") < verbs(plan).index("ubi-attach")
    assert verbs(plan).count("ubi-mkvol") == 1
    assert keys(plan, "ubi-mkvol")["phase"] == "volume"
    assert keys(plan, "mount", 1)["phase"] == "mount-2"
    assert keys(plan, "ubi-attach", 1)["phase"] == "attach-2"
    assert keys(plan, "tree-create")["seed"] == "7"
    assert keys(plan, "tree-delete")["dir"] == "/mnt/tree-1"
    labels = [dict(parse_step(line)[1])["label"] for line in plan.splitlines() if "memory" in line]
    assert " ".join(labels) == "start mount create unmount mount-2 find delete unmount-2"


def test_plan_of_an_image() -> None:
    case = case_of('steps = "mount list copy delete unmount"', state="image")
    assert is_prepared_apart(case)
    preparation, plan = preparation_plan_text(case), plan_text(case)
    assert keys(preparation, "write-image") == {
        "mtd": "data",
        "path": "/host/image.bin",
        "oob": "0",
        "phase": "write",
    }
    assert "ubi-attach" not in verbs(preparation)
    assert not {"erase", "ubi-mkvol", "write-image"} & set(verbs(plan))
    assert "exclude" not in keys(plan, "tree-copy")
    assert keys(plan, "tree-delete") == {"dir": "/mnt", "phase": "delete", "keep": "1"}
    yaffs = case_of('steps = "mount unmount"', filesystem="yaffs2", state="image")
    assert keys(preparation_plan_text(yaffs), "write-image")["oob"] == "1"
    logfs = case_of('steps = "mount unmount"', filesystem="logfs", state="image")
    written = keys(preparation_plan_text(logfs), "write-image")
    assert (written["oob"], written["in_place"]) == ("0", "1")


def test_a_copy_of_the_image_leaves_out_what_steps_made_and_nothing_else() -> None:
    steps = 'steps = "mount create delete log copy copy unmount"'
    plan = plan_text(case_of(steps, filesystem="jffs2", state="image"))
    assert keys(plan, "tree-copy")["exclude"] == "tree-1,log-1"
    assert keys(plan, "tree-copy", 1)["exclude"] == "tree-1,log-1,copy-1"
    plan = plan_text(case_of('steps = "mount create copy unmount"'))
    assert keys(plan, "tree-copy")["from"] == "/mnt/tree-1"
    assert "exclude" not in keys(plan, "tree-copy")


def test_plan_of_a_shell_with_an_image() -> None:
    case = case_of('steps = "mount unmount"', filesystem="squashfs", state="image")
    plan = shell_plan_text(case, "/bin/sh", module_path, "/var/tmp/image.bin")
    assert verbs(plan)[-5:] == ["erase", "write-image", "ubi-attach", "mount", "shell"]
    assert keys(plan, "write-image") == {"mtd": "data", "path": "/var/tmp/image.bin", "oob": "0"}
    free = shell_plan_text(case_of(), "/bin/sh", module_path)
    assert verbs(free)[-5:] == ["erase", "ubi-attach", "ubi-mkvol", "mount", "shell"]


def test_plan_of_a_read_only_image() -> None:
    case = case_of('steps = "mount list unmount"', filesystem="squashfs", state="image")
    plan = plan_text(case)
    assert keys(plan, "ubi-attach")["block"] == "0"
    assert keys(plan, "mount")["flags"] == "ro"


def test_the_type_of_a_volume_is_another_case_and_changes_no_plan() -> None:
    text = STUDY.format(filesystem="squashfs", state="image", workload='steps = "mount unmount"')
    found = cases_of(text + '[axes]\n"options.volume" = ["default", "static"]\n')
    kinds = [case_spec(case)["filesystem"]["ubi_volume_type"] for case in found]
    assert kinds == ["dynamic", "static"]
    first, second = (
        replace(case, state=replace(case.state, tree_sha256="7" * 64)) for case in found
    )
    assert first.spec_hash != second.spec_hash
    assert plan_text(found[0]) == plan_text(found[1])
    assert preparation_plan_text(found[0]) == preparation_plan_text(found[1])
    free = case_spec(case_of('steps = "mount unmount"'))
    assert "ubi_volume_type" not in free["filesystem"]


def test_an_option_of_images_is_in_the_spec_of_a_case_with_an_image_only() -> None:
    text = STUDY.format(filesystem="jffs2", state="image", workload='steps = "mount unmount"')
    axis = '[axes]\n"options.summary" = ["default", "on"]\n'
    off, on = (case_spec(case)["filesystem"] for case in cases_of(text + axis))
    assert (off["options"]["summary"], on["options"]["summary"]) == ("off", "on")
    assert "jffs2_summaries" not in off
    assert on["jffs2_summaries"] is True
    text = text.replace('"image"', '"free"')
    (free,) = cases_of(text + axis.replace(', "on"', ""))
    assert list(case_spec(free)["filesystem"]["options"]) == ["compression", "write_mode"]
    assert free.spec_hash == cases_of(text)[0].spec_hash
    with pytest.raises(SpecError, match="'on' affects images only"):
        cases_of(text + axis)


@pytest.mark.parametrize("name", ["ubifs", "yaffs2", "squashfs"])
def test_only_jffs2_has_summaries_by_sumtool(name: str) -> None:
    text = (data_dir("catalog") / f"filesystems/{name}.toml").read_text()
    text += '\n[options.sums]\ndefault = "a"\nvalues.a.jffs2_summaries = false\n'
    with pytest.raises(SpecError, match="jffs2_summaries needs"):
        filesystem_from_document(parse_toml(text, "test"), "test")


def test_a_volume_that_is_written_to_has_no_type() -> None:
    text = (data_dir("catalog") / "filesystems/ubifs.toml").read_text()
    text += '\n[options.volume]\ndefault = "a"\nvalues.a.ubi_volume_type = "static"\n'
    with pytest.raises(SpecError, match="read_only = true"):
        filesystem_from_document(parse_toml(text, "test"), "test")


def test_a_crash_ends_the_preparation_at_once() -> None:
    case = case_of('steps = "mount create sync log crash mount list unmount"')
    preparation, plan = preparation_plan_text(case), plan_text(case)
    assert verbs(preparation)[-1] == "tree-create"  # nothing more, not even a snapshot
    assert keys(preparation, "tree-create", 1) == {
        "dir": "/mnt/log-1",
        "phase": "log",
        "files": "constant(1)",
        "directories": "constant(0)",
        "size": "constant(4096)",
        "depth": "constant(0)",
        "contents": "random",
        "seed": "7",
        "write_bytes": "4096",
        "sync": "1",
    }
    assert "umount" not in verbs(preparation)
    assert "erase" not in verbs(plan)
    assert "ubi-mkvol" not in verbs(plan)
    assert keys(plan, "mount")["phase"] == "mount-2"
    # What is after the crash does not change what is before it.
    other = case_of('steps = "mount create sync log crash mount find unmount"')
    assert preparation_plan_text(other) == preparation


def test_the_path_of_a_tree_is_no_part_of_the_spec() -> None:
    spec = case_spec(case_of('steps = "mount list unmount"', state="image"))
    assert "tree" not in spec["state"]
    assert spec["state"]["tree_sha256"] == ""
    assert "tree_sha256" not in case_spec(case_of())["state"]


def test_mean_shape() -> None:
    directories, files = mean_shape(Tree(files="constant(2)", directories="constant(2)"))
    assert (directories, files) == (63, 126)


@pytest.mark.parametrize(
    ("workload", "filesystem", "state", "words"),
    [
        ('steps = "mount lst unmount"', "jffs2", "free", "step 2, 'lst' is not a word"),
        ('steps = "list unmount"', "jffs2", "free", "not mounted"),
        ('steps = "mount mount unmount"', "jffs2", "free", "mounted already"),
        ('steps = "mount list"', "jffs2", "free", "do not end"),
        ('steps = ""', "jffs2", "free", "do not end"),
        ('steps = "mount delete unmount"', "jffs2", "free", "there is no tree"),
        ('steps = "mount check unmount"', "jffs2", "image", "no tree has been created"),
        ('steps = "mount restart mount unmount"', "jffs2", "free", "is mounted"),
        ('steps = "restart mount unmount"', "ubifs", "free", "nothing has been mounted"),
        ('steps = "mount unmount restart restart mount unmount"', *JFFS2, "without a step after"),
        ('steps = "mount create crash"', *JFFS2, "without a step after"),
        ("", "squashfs", "image", "read-only: it has no step 'create'"),
        ('steps = "mount unmount"', "squashfs", "free", "needs an image"),
        ("", "jffs2", "aged", "not with state 'aged'"),
        ("depth = 1000", "jffs2", "free", "levels deep"),
        ("depth = 20\ndirectories = 8", "jffs2", "free", "too wide or deep"),
        ("size = '1 MiB'", "jffs2", "free", "larger than the partition"),
        ("compressibility_percent = 50", "jffs2", "free", "compressibility_percent"),
        ("files = 'normal(4)'", "jffs2", "free", "MEAN and DEVIATION"),
    ],
)
def test_bad_tree_is_a_clear_error(workload: str, filesystem: str, state: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        case_of(workload, filesystem, state)


def test_a_file_system_without_a_tool_has_no_image() -> None:
    case = case_of('steps = "mount unmount"', filesystem="yaffs2", state="image")
    assert isinstance(case.workload, Tree)
    setup = replace(case.filesystem, image=None)
    with pytest.raises(SpecError, match="no image of yaffs2"):
        check_tree(
            case.workload,
            Setting(case.state, setup, case.board.chip, case.partition_bytes, "case x"),
        )


def test_only_workload_tree_has_images() -> None:
    text = STUDY.format(filesystem="squashfs", state="image", workload="")
    with pytest.raises(SpecError, match="read-only"):
        cases_of(text.replace('"tree"', '"ffsmark"'))
    with pytest.raises(SpecError, match="is an image"):
        cases_of(text.replace('"tree"', '"micro"').replace("squashfs", "jffs2"))
