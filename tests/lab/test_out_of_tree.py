"""File systems that ffslab builds from a user's directory: the example that is shipped, and what
goes wrong with others, each told in a way that leads on.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from lab_support import ROOT, boot, ffslab, results, run_study
from own_modules import VARIANT, Own, build, module

from ffslab.campaign.run import prepare
from ffslab.errors import InfrastructureError, SpecError
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.targets.virtual_flash import plan_text

EXAMPLE = ROOT / "examples" / "out-of-tree"


@pytest.fixture
def place(tmp_path: Path, lab: LabBuild) -> Path:
    """A directory for users' files; the lab itself is built."""
    assert lab.build_id
    return tmp_path / "my work"


@pytest.mark.usefixtures("lab")
def test_the_example_is_built_mounted_and_measured(tmp_path: Path) -> None:
    example = tmp_path / "a copy"
    shutil.copytree(EXAMPLE, example)
    before = sorted(example.rglob("*"))
    catalog = ("--catalog", str(example / "catalog"))
    run = run_study(example / "scratchfs.toml", tmp_path / "out", *catalog)
    found = {result["id"]: result for result in results(run)}
    assert {result["outcome"] for result in found.values()} == {"pass"}
    # Nothing was written into the user's directory.
    assert sorted(example.rglob("*")) == before

    own = found["scratchfs-free-s1"]
    phases = {phase["phase"]: phase for phase in own["phases"]}
    assert phases["verify"]["status"] == "ok"
    # Pages of 2 KiB, slots of 4 KiB: every byte written costs at least its share of a page.
    assert phases["creation"]["pages_programmed"] > phases["creation"]["bytes_written"] / 2048
    assert phases["creation"]["blocks_erased"] > 0
    shown = ffslab("show", str(run), own["id"]).stdout
    assert str(example / "scratchfs") in shown
    assert own["spec"]["filesystem"]["module_source"]["sha256"] in shown
    report = (run / "report.html").read_text(encoding="utf-8")
    assert own["spec"]["filesystem"]["module_source"]["sha256"] in report


@pytest.mark.usefixtures("lab")
def test_the_example_can_be_built_and_looked_at_without_a_run() -> None:
    catalog = ("--catalog", str(EXAMPLE / "catalog"))
    variant = ("--variant", VARIANT)
    built = ffslab("setup", *variant, *catalog)
    assert built.returncode == 0, built.stderr
    assert "module   scratchfs (out of tree): " in built.stdout
    (line,) = [
        line
        for line in ffslab("doctor", *variant, *catalog).stdout.splitlines()
        if "module scratchfs" in line
    ]
    assert line.startswith("ok ") and str(EXAMPLE / "scratchfs") in line
    assert f"out of tree: {EXAMPLE / 'scratchfs'}" in ffslab("list", "filesystems", *catalog).stdout


def example_case(**changes: object) -> Case:
    prepared = prepare(
        str(EXAMPLE / "scratchfs.toml"),
        [("filesystem", ("scratchfs",)), *((key, (value,)) for key, value in changes.items())],
        catalogs=[EXAMPLE / "catalog"],
    )
    return prepared.cases[0]


@pytest.mark.usefixtures("lab")
def test_the_example_unloads(tmp_path: Path) -> None:
    case = example_case()
    plan = plan_text(case) + "rmmod name=scratchfs\ninsmod path=/lab/scratchfs.ko\n"
    boot(build([case]), tmp_path / "guest", case, plan)


@pytest.mark.usefixtures("lab")
def test_its_code_is_charged_by_the_cpu_model(tmp_path: Path) -> None:
    """A read that finds nothing on the flash, a free CPU apart, costs what code costs."""
    times = {}
    for scale in (0, 1):
        case = example_case(cpu_scale=scale)
        guest = boot(build([case]), tmp_path / f"guest-{scale}", case)
        (deletion,) = [r for r in guest.of_type("phase") if r["phase"] == "deletion"]
        assert deletion["flash_end"] == deletion["flash_start"]
        times[scale] = deletion["t_end_ns"] - deletion["t_start_ns"]
    assert times[1] > 10 * times[0]


def test_sources_in_sub_directories_with_symbols_and_flags(place: Path, tmp_path: Path) -> None:
    own = Own(
        place,
        "pair",
        {
            "Kbuild": "obj-m += core/ fs/\n",
            "core/Kbuild": "obj-m += pair_core.o\n",
            "core/pair_core.c": module(
                head="#include <pair.h>\nint pair_value(void)\n{\n\treturn PAIR;\n}\n"
                "EXPORT_SYMBOL_GPL(pair_value);"
            ),
            "fs/Makefile": "obj-$(CONFIG_PAIR) += pair.o\npair-y := main.o $(PARTS)\n",
            "fs/main.c": module(
                head="#include <pair.h>",
                start='pr_info("pair: %d %d %s\\n", pair_value(), pair_part(), NAME);\n\treturn 0;',
            ),
            "fs/sub/part.c": "#include <pair.h>\nint pair_part(void)\n{\n"
            "\treturn CONFIG_PAIR_MODULE + CONFIG_PAIR_LEVEL;\n}\n",
            "include/pair.h": "#define PAIR 2\nint pair_value(void);\nint pair_part(void);\n",
        },
        modules='"pair_core", "pair"',
        extra='config = ["CONFIG_PAIR=m", "CONFIG_PAIR_LEVEL=7"]\n'
        'make_arguments = ["PARTS=sub/part.o"]\n'
        """cflags = ["-I{source}/include", '-DNAME="a name"']""",
    )
    guest = boot(own.lab(), tmp_path / "guest", own.case(), clean=False)
    assert "pair: 2 8 a name" in guest.console
    assert guest.failed_step()["verb"] == "mount"  # it registers no file system
    assert {path.name for path in own.sources.rglob("*") if path.is_file()} == {
        *("Kbuild", "Makefile", "pair_core.c", "main.c", "part.c", "pair.h")
    }


def test_an_error_of_the_compiler_is_shown_in_the_users_file(place: Path) -> None:
    own = Own(
        place,
        "broken",
        {"Kbuild": "obj-m += broken.o\n", "broken.c": module("return not_there;")},
    )
    error = own.failure()
    assert isinstance(error, InfrastructureError)
    assert "error: 'not_there' undeclared" in error.message
    assert str(own.sources / "broken.c") in error.message
    (log,) = [line.split()[-1] for line in error.message.splitlines() if "full log" in line]
    assert "not_there" in Path(log).read_text()
    assert str(own.sources) in error.cause
    # The lab itself is complete, and the next attempt begins anew.
    own.write(own.sources / "broken.c", module())
    assert "broken" in own.lab().modules_for(own.case().filesystem)


def test_symbols_that_the_kernel_lacks_are_named_with_their_options(place: Path) -> None:
    head = "int dquot_acquire(void);\nint made_up_function(void);"
    start = "return dquot_acquire() + made_up_function();"
    own = Own(place, "wants", {"Kbuild": "obj-m += wants.o\n", "wants.c": module(start, head)})
    error = own.failure()
    assert isinstance(error, InfrastructureError)
    assert "dquot_acquire: fs/quota/dquot.c needs CONFIG_QUOTA" in error.message
    assert "made_up_function: no file of this kernel exports it" in error.message
    assert "lab.config" in error.remedy


def test_modules_of_other_names_are_listed(place: Path) -> None:
    files = {"Kbuild": "obj-m += one.o two.o\n", "one.c": module(), "two.c": module()}
    error = Own(place, "third", files).failure()
    assert isinstance(error, SpecError)
    assert "made no third.ko, but one.ko, two.ko" in error.message
    assert 'modules = ["one", "two"]' in error.remedy


def test_a_makefile_that_builds_no_module(place: Path) -> None:
    error = Own(place, "nothing", {"Makefile": "all:\n\techo not for kbuild\n"}).failure()
    assert isinstance(error, SpecError)
    assert "made no module" in error.message
    assert "obj-m += nothing.o" in error.cause


def test_a_module_that_does_not_load_is_an_outcome(place: Path) -> None:
    start = 'pr_err("refuses: no such hardware\\n");\n\treturn -ENXIO;'
    files = {"Kbuild": "obj-m += refuses.o\n", "refuses.c": module(start)}
    own = Own(place, "refuses", files)
    output = place / "out"
    arguments = ("--catalog", str(own.catalog), "--output", str(output))
    done = ffslab("run", str(own.study), *arguments)
    assert done.returncode == 1, done.stderr
    (run,) = output.glob("*/")
    (result,) = results(run)
    assert result["outcome"] == "fail"
    assert "(insmod)" in result["reason"] and "No such device or address" in result["reason"]
    assert any("refuses: no such hardware" in line for line in result["excerpt"])


def test_a_module_of_the_labs_name_is_the_users(place: Path, lab: LabBuild) -> None:
    files = {"Kbuild": "obj-m += nandsim.o\n", "nandsim.c": module('pr_info("mine\\n"); return 0;')}
    own = Own(place, "nandsim", files)
    built = own.lab()
    case = own.case()
    theirs = built.modules_for(case.filesystem)["nandsim"]
    assert theirs.read_bytes() != lab.modules["nandsim"].read_bytes()
    assert built.modules_for(replace(case.filesystem, module_source=None)) == lab.modules


def test_other_sources_are_another_result(place: Path) -> None:
    own = Own(place, "changes", {"Kbuild": "obj-m += changes.o\n", "changes.c": module()})
    output = place / "out"
    arguments = ("--catalog", str(own.catalog), "--output", str(output))
    ffslab("run", str(own.study), *arguments)
    (run,) = output.glob("*/")
    (before,) = results(run)
    # As after an interruption: the case has not run.
    (run / "cases" / before["id"] / "case.json").unlink()
    own.write(own.sources / "changes.c", module("return -EIO;"))
    resumed = ffslab("run", str(run), "--resume")
    assert resumed.returncode == 2
    assert "has another spec now" in resumed.stderr
    again = output / "again"
    ffslab("run", str(own.study), "--catalog", str(own.catalog), "--output", str(again))
    (other,) = again.glob("*/")
    (after,) = results(other)
    assert after["spec_hash"] != before["spec_hash"]
    assert after["reason"] != before["reason"]
