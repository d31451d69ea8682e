"""The period kernel as a setting: what it may be, what it changes, and where it is named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from host_support import LAB, FakeSite, FakeTarget, SilentProgress

from ffslab.campaign.chain import chain_of
from ffslab.campaign.done import PoolOptions
from ffslab.campaign.manifest import build_ids, new_manifest
from ffslab.campaign.prepared import Prepared
from ffslab.campaign.run import RunEnd, RunRequest, execute, prepare, prepare_resumed
from ffslab.cli.app import build_app
from ffslab.cli.tables import kernel_lines
from ffslab.errors import SpecError, UsageError
from ffslab.lab import lab as lab_module
from ffslab.lab.lab import kernel_inputs, plan_lab
from ffslab.lab.lab_build import LabBuild
from ffslab.lab.patches import read_series
from ffslab.lab.source import KernelSource
from ffslab.loader import StudySource, load_catalog, parse_toml
from ffslab.model.case import Case, case_spec
from ffslab.model.kernels import SWITCHES, kernel_words
from ffslab.model.study import expand, study_from_document, with_overrides
from ffslab.paths import data_dir
from ffslab.protocol.plan import parse_step
from ffslab.report.data import Fact
from ffslab.report.facts import other_kernel
from ffslab.results.store import case_rows
from ffslab.targets.uml.guests import BATCH_CONSOLE, KIND, LocalTarget, kernel_arguments
from ffslab.targets.uml.site import lab_parts
from ffslab.targets.virtual_flash import plan_text
from loaded_support import load_run

STUDY = """
schema = 1
name = "period"
title = "A study in several kernels"

[base]
board = "apf27"
filesystem = "ubifs"
partition_bytes = "32 MiB"
{base}
{axes}
"""


KERNEL_FACT = Fact("Lab kernel", "default", "", False)


def study_cases(base: str = "", axes: str = "", **settings: Any) -> tuple[Case, ...]:
    catalog = load_catalog()
    text = STUDY.format(base=base, axes=axes)
    study = study_from_document(parse_toml(text, "test"), catalog, "test")
    overrides = [(key.replace("__", "."), (value,)) for key, value in settings.items()]
    return expand(with_overrides(study, overrides, catalog), catalog)


def only_case(**settings: Any) -> Case:
    (case,) = study_cases(**settings)
    return case


def switches(case: Case) -> Mapping[str, bool]:
    return dict(case.kernel.switches)


def test_an_option_that_needs_a_kernel_brings_it() -> None:
    """Fastmap is an option of file systems on UBI; UBI is told on the kernel's command line."""
    off, on = (only_case(filesystem="ubifs", options__fastmap=word) for word in ("off", "on"))
    assert off.kernel.is_default
    assert "ubi.fm_autoconvert=1" in kernel_arguments(on, BATCH_CONSOLE)
    assert "ubi.fm_autoconvert=1" not in kernel_arguments(off, BATCH_CONSOLE)
    assert case_spec(on)["kernel"] == {"variant": "fastmap", "switches": {}}
    assert kernel_words(case_spec(on)) == "fastmap"
    assert on.spec_hash != off.spec_hash


def test_another_threshold_of_ubi_needs_a_kernel_of_its_own() -> None:
    usual, small = (
        only_case(filesystem="ubifs", options__wl_threshold=word) for word in ("4096", "80")
    )
    assert usual.kernel.is_default and case_spec(small)["kernel"]["variant"] == "ubi-wear"
    # Nothing on the kernel's command line tells the two apart; a job's key does.
    assert KIND.history(small)["kernel"] == "ubi-wear" and "kernel" not in KIND.history(usual)
    with pytest.raises(SpecError, match="need the lab kernels fastmap and ubi-wear"):
        only_case(filesystem="ubifs", options__wl_threshold="80", options__fastmap="on")


def test_no_fastmap_in_another_kernel_or_on_64_blocks() -> None:
    """UBI_FM_MAX_START is 64: on no more blocks UBI writes none, without a word."""
    settings = {"filesystem": "ubifs", "options__fastmap": "on"}
    with pytest.raises(SpecError, match="needs the lab kernel fastmap"):
        study_cases(kernel="period", **settings)
    blocks = {"chip__blocks": 1024, **settings}  # UBI reserves 20 of them
    with pytest.raises(SpecError, match="no fastmap on a partition of 64 erase blocks"):
        study_cases(partition_bytes="8 MiB", **blocks)
    (case,) = study_cases(partition_bytes=65 * 128 * 1024, **blocks)
    assert case.partition_blocks == 65


def test_the_default_kernel_is_not_in_a_spec() -> None:
    case = only_case()
    assert case.spec_hash == only_case(kernel="default").spec_hash
    assert "kernel" not in case_spec(case)
    assert not any("period" in word for word in kernel_arguments(case, BATCH_CONSOLE))
    assert kernel_words(case_spec(case)) == "default"


@pytest.mark.parametrize(
    ("settings", "on", "words"),
    [
        ({"kernel": "period"}, set(SWITCHES), "period (all switches on)"),
        ({"kernel": "period:none"}, set(), "period (all switches off)"),
        (
            {"kernel": "period:ubi_reserve+lzo_no_skip"},
            {"lzo_no_skip", "ubi_reserve"},
            "period (lzo_no_skip, ubi_reserve)",
        ),
        (
            {"kernel": "period", "period__lzo_no_skip": False},
            set(SWITCHES) - {"lzo_no_skip"},
            f"period ({', '.join(name for name in SWITCHES if name != 'lzo_no_skip')})",
        ),
        (
            {"kernel": "period:none", "period__dirty_limits": True},
            {"dirty_limits"},
            "period (dirty_limits)",
        ),
    ],
)
def test_switches(settings: dict[str, Any], on: set[str], words: str) -> None:
    case = only_case(**settings)
    assert {name for name, value in switches(case).items() if value} == on
    assert list(switches(case)) == list(SWITCHES)
    arguments = kernel_arguments(case, BATCH_CONSOLE)
    # They come last: the kernel's random numbers depend on all that is before the first.
    assert list(arguments[-len(SWITCHES) :]) == [
        f"period.{name}={int(name in on)}" for name in SWITCHES
    ]
    assert arguments[: -len(SWITCHES)] == kernel_arguments(only_case(), BATCH_CONSOLE)
    assert case_spec(case)["kernel"] == {"variant": "period", "switches": switches(case)}
    assert kernel_words(case_spec(case)) == words


def test_the_base_of_a_study_may_say_it() -> None:
    (case,) = study_cases('kernel = "period"\nperiod = { flush_ticks = false }')
    assert switches(case) == {name: name != "flush_ticks" for name in SWITCHES}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "debug"}, "no kernel 'debug'"),
        ({"kernel": "perod"}, "did you mean 'period'"),
        ({"kernel": "period:"}, "no kernel 'period:'"),
        ({"kernel": "default:lzo_no_skip"}, "no kernel 'default:lzo_no_skip'"),
        ({"kernel": "period:lzo_noskip"}, "did you mean 'lzo_no_skip'"),
        ({"kernel": "period:lzo_no_skip+"}, "no switch ''"),
        ({"kernel": "period", "period__lzo_no_skip": "yes"}, "true or false, not 'yes'"),
        ({"period__lzo_no_skip": True}, "period.lzo_no_skip is a switch of the period kernel"),
        ({"kernel": "period", "period__lzo": True}, "unknown axis 'period.lzo'"),
    ],
)
def test_errors(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=re.escape(message)):
        study_cases(**settings)


def test_every_choice_is_another_spec_id_and_state() -> None:
    kernels = ["default", "period", "period:none", *(f"period:{name}" for name in SWITCHES)]
    listed = ", ".join(f'"{kernel}"' for kernel in kernels)
    found = study_cases("[base.workload]\nkind = 'micro'", f"[axes]\nkernel = [{listed}]")
    assert [dict(case.axes)["kernel"] for case in found] == kernels
    assert len({case.id for case in found}) == len(kernels)
    assert len({case.spec_hash for case in found}) == len(kernels)
    jobs = [chain_of(case, KIND, "build").preparing[0] for case in found]
    assert len({job.key for job in jobs}) == len(kernels)
    assert found[1].id == "period-s1" and found[3].id == "period.jffs2nosummary-s1"


def test_a_state_depends_on_the_kernels_build() -> None:
    case = study_cases("[base.workload]\nkind = 'micro'", kernel="period")[0]
    keys = [chain_of(case, KIND, build).preparing[0].key for build in ("a", "b")]
    assert len(set(keys)) == 2


@pytest.mark.parametrize(
    ("settings", "variant"),
    [
        ({}, "unaligned"),
        ({"options__fastmap": "on"}, "unaligned-fastmap"),
        ({"options__wl_threshold": "80"}, "unaligned-ubi-wear"),
        ({"kernel": "period"}, "unaligned-period"),
        ({"kernel": "6.12"}, "unaligned-6.12"),
    ],
)
def test_a_board_with_unaligned_access_has_its_own_kernel(
    settings: dict[str, Any], variant: str
) -> None:
    """The words of the study are the same, and so is what they put on the command line."""
    aligned, case = (only_case(board__unaligned=has, **settings) for has in (False, True))
    named = aligned.kernel.variant
    assert (case.kernel.variant, case.kernel.aligned_variant) == (variant, named)
    assert case.kernel.is_named == aligned.kernel.is_named == (named != "default")
    assert case_spec(case)["kernel"] == {"variant": variant, "switches": switches(case)}
    assert case_spec(case)["board"]["unaligned"] and not case_spec(aligned)["board"]["unaligned"]
    assert kernel_arguments(case, BATCH_CONSOLE) == kernel_arguments(aligned, BATCH_CONSOLE)
    assert KIND.history(case) == {**KIND.history(aligned), "kernel": variant}
    assert set(lab_parts([case])["variants"]) == {variant}
    inputs, other = kernel_inputs(variant), kernel_inputs(named)
    assert inputs.fragments == (*other.fragments, data_dir("kernel") / "unaligned.config")
    assert inputs.series.patches == other.series.patches
    back = case.kernel.on_board(unaligned=False)
    assert back == aligned.kernel and back.on_board(unaligned=True) == case.kernel


def test_unaligned_access_is_an_axis_and_true_or_false() -> None:
    axes = '[axes]\n"board.unaligned" = [false, true]'
    assert [case.kernel.variant for case in study_cases(axes=axes)] == ["default", "unaligned"]
    for wrong in (1, "yes"):
        with pytest.raises(SpecError, match=r"board\.unaligned must be true or false, not"):
            study_cases(board__unaligned=wrong)


def test_what_a_board_brings_does_not_clash_with_an_option() -> None:
    settings = {"filesystem": "ubifs", "options__fastmap": "on", "board__unaligned": True}
    with pytest.raises(SpecError, match=r"the lab kernel fastmap, and the case .* run in period\n"):
        study_cases(kernel="period", **settings)
    blocks = {"chip__blocks": 1024, "partition_bytes": "8 MiB"}
    with pytest.raises(SpecError, match="no fastmap on a partition of 64 erase blocks"):
        study_cases(**blocks, **settings)


def test_no_case_of_a_board_runs_in_a_kernel_that_checks() -> None:
    with pytest.raises(UsageError, match="no lab kernel variant 'unaligned-debug'"):
        kernel_inputs("unaligned-debug")


def test_the_period_reserve_is_left_to_the_kernel() -> None:
    def asked(case: Case) -> str:
        steps = dict(parse_step(line) for line in plan_text(case).splitlines()[1:])
        return steps["ubi-attach"]["max_beb_per1024"]

    assert asked(only_case()) == "20"
    assert asked(only_case(kernel="period")) == "0"
    assert asked(only_case(kernel="period", period__ubi_reserve=False)) == "20"


def test_a_partition_may_be_smaller_with_the_period_reserve() -> None:
    small = {"partition_bytes": "4 MiB"}  # 32 blocks, of which today's reserve would be 40
    assert only_case(kernel="period", **small).partition_blocks == 32
    for kernel in ("default", "period:lzo_no_skip"):
        with pytest.raises(SpecError, match="too small for ubifs"):
            only_case(kernel=kernel, **small)


def test_a_lab_is_asked_for_the_kernels_that_cases_need() -> None:
    both = study_cases(axes='[axes]\nkernel = ["default", "period", "period:none"]')
    parts = lab_parts(both)
    assert len(parts["file_systems"]) == 1 and len(parts["variants"]["period"]) == 2
    assert lab_parts(both[:1])["variants"] == {}


def test_a_lab_without_the_kernel_skips_the_case(tmp_path: Path) -> None:
    kernel = tmp_path / "linux"
    kernel.write_text("")
    kernel.chmod(0o755)
    modules = {"vnand": kernel, "flashmon": kernel}
    lab = LabBuild(kernel, modules, kernel, "build", Path("ffscrash"))
    target = LocalTarget(lab, tmp_path, lambda: 0)
    assert target.missing(only_case()) == ""
    assert target.missing(only_case(kernel="period")) == "the lab has no kernel period"
    complete = LabBuild(
        kernel, modules, kernel, "build", Path("ffscrash"), variants={"period": lab}
    )
    assert LocalTarget(complete, tmp_path, lambda: 0).missing(only_case(kernel="period")) == ""
    assert complete.variant_ids == {"period": "build"}


def test_the_manifest_names_kernels_and_switches() -> None:
    catalog = load_catalog()
    text = STUDY.format(
        base="", axes='[axes]\nkernel = ["default", "period:none", "period:lzo_no_skip"]'
    )
    document = parse_toml(text, "test")
    study = study_from_document(document, catalog, "test")
    source = StudySource(Path("study.toml"), text, document)
    prepared = Prepared(source, study, (), expand(study, catalog))
    site = FakeSite(FakeTarget(), replace(LAB, variants={"period": replace(LAB, build_id="two")}))
    now = datetime(2026, 1, 1, tzinfo=UTC)
    manifest = new_manifest("run", prepared, site, command="", started=now, jobs=1)
    assert manifest["kernels"] == {
        "period": {"build_id": "two", "switches_on": [[], ["lzo_no_skip"]]}
    }
    assert build_ids(manifest) == {"period": "two"} and build_ids({}) == {}


@pytest.fixture
def ran(tmp_path: Path) -> RunEnd:
    """A run of one case in each of three kernels, without a guest."""
    lab = LabBuild(Path("linux"), {}, Path("agent"), "one", Path("ffscrash"))
    lab = replace(lab, variants={"period": replace(lab, build_id="two")})
    path = tmp_path / "study.toml"
    path.write_text(
        STUDY.format(base="", axes='[axes]\nkernel = ["default", "period", "period:lzo_no_skip"]')
    )
    request = RunRequest(prepare(str(path)), PoolOptions(1, 60), "ffslab run", tmp_path / "results")
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return execute(request, FakeSite(FakeTarget(), lab), SilentProgress(), lambda: now)


def test_every_result_names_its_kernel(ran: RunEnd) -> None:
    words = ["default", "period (all switches on)", "period (lzo_no_skip)"]
    assert [result["kernel"]["variant"] for result in ran.results] == ["default"] + ["period"] * 2
    assert [kernel_words(result["spec"]) for result in ran.results] == words
    rows = [next(iter(case_rows("run", result, {})["cases"])) for result in ran.results]
    assert [row["kernel"] for row in rows] == words
    (fact,) = [f for f in load_run(ran.run.path).facts if f.name == "Lab kernel"]
    assert fact.value == "; ".join(words)
    assert other_kernel([fact]) == ""  # it is an axis, and in every label


@pytest.mark.parametrize("words", ["period (all switches on)", "period (lzo_no_skip)"])
def test_a_report_of_one_other_kernel_names_it_on_top(words: str) -> None:
    assert other_kernel([replace(KERNEL_FACT, value=words)]) == words
    assert other_kernel([KERNEL_FACT]) == "" == other_kernel([])


def test_show_names_the_kernels(ran: RunEnd, capsys: pytest.CaptureFixture[str]) -> None:
    def shown(*words: str) -> str:
        with pytest.raises(SystemExit) as end:
            build_app()(["show", str(ran.run.path), *words])
        assert end.value.code in (0, None)
        return capsys.readouterr().out

    assert "lab kernel period (lzo_no_skip): 1 cases" in shown()
    assert "kernel: period (lzo_no_skip)\n" in shown("period.lzonoskip-s1")
    assert "kernel: default\n" in shown("default-s1")


def test_what_a_board_brings_is_no_other_kernel_to_list() -> None:
    def listed(**settings: Any) -> list[str]:
        case = only_case(board__unaligned=True, **settings)
        return kernel_lines([{"spec": case_spec(case)}])  # type: ignore[typeddict-item]

    assert listed() == []
    assert listed(kernel="period") == ["lab kernel period (all switches on): 1 cases"]


def test_a_run_is_not_continued_in_another_build_of_the_period_kernel(ran: RunEnd) -> None:
    assert len(prepare_resumed(ran.run, "one", {"period": "two"}).cases) == 3
    for variants in ({"period": "three"}, {}):
        with pytest.raises(UsageError, match="the lab is another build"):
            prepare_resumed(ran.run, "one", variants)


def test_its_patches_are_of_no_other_kernel() -> None:
    own = read_series(data_dir("kernel") / "period")
    assert own
    for variant in ("default", "debug", "nocpu"):
        assert not set(kernel_inputs(variant).series.patches) & set(own)
    period = kernel_inputs("period")
    assert period.series.patches == (*kernel_inputs("default").series.patches, *own)
    assert period.fragments == kernel_inputs("default").fragments


def test_its_patches_do_not_change_the_default_kernels_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = KernelSource("debian-6.1.0-0", Path("/nonexistent/tree"))
    for name in ("lab.config", "patches/series", "period/series", "period/one.patch"):
        path = tmp_path / "kernel" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one.patch\n" if name == "period/series" else "")
    (tmp_path / "kmod").mkdir()
    for program in ("agent", "crash"):
        (tmp_path / program).mkdir()
        (tmp_path / program / "Makefile").touch()
    monkeypatch.setattr(lab_module, "data_dir", lambda name: tmp_path / name)
    before = {variant: plan_lab(variant, source) for variant in ("default", "period")}
    (tmp_path / "kernel" / "period" / "one.patch").write_text("changed")
    assert plan_lab("default", source) == before["default"]
    assert plan_lab("period", source).inputs_id != before["period"].inputs_id


def test_the_patches_define_the_switches_that_the_model_knows() -> None:
    text = (data_dir("kernel") / "period" / "0001-period-switches.patch").read_text()
    assert tuple(re.findall(r"^\+PERIOD_SWITCH\((\w+)\);$", text, re.MULTILINE)) == SWITCHES
    for name in SWITCHES:
        others = [p.read_text() for p in read_series(data_dir("kernel") / "period")[1:]]
        assert any(f"period_{name}" in patch for patch in others), name
