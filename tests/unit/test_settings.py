"""Settings: who replaces whom, and that none is given in vain.

The largest test tries values for every setting that there is, on every shipped study: either a
case changes, or an error says why not, or all cases have the value already.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, get_args

import pytest
from host_support import study_of

from ffslab.campaign.inputs import guest_inputs
from ffslab.cli.app import main
from ffslab.errors import EXIT_USAGE, SpecError
from ffslab.loader import find_study, load_catalog, study_names
from ffslab.model.case import Case, case_spec
from ffslab.model.catalog import Catalog
from ffslab.model.effects import check_effects
from ffslab.model.estimates import AS_STATED, ESTIMATE
from ffslab.model.files import StateFile
from ffslab.model.kernels import SWITCHES
from ffslab.model.settings import valid_keys
from ffslab.model.specs import Board
from ffslab.model.study import (
    Override,
    Study,
    cases_in_order,
    expand,
    study_from_document,
    with_overrides,
)
from ffslab.model.units import parse_size
from ffslab.model.workload_file import file_of
from ffslab.targets.uml.guests import KIND
from ffslab.workloads.registry import workloads

CATALOG = load_catalog()
GUEST_INPUTS = guest_inputs(KIND)
TREE = """
schema = 1
name = "trees"
title = "Trees"
[base]
board = "apf27"
filesystem = "ubifs"
partition_bytes = "32 MiB"
[base.workload]
kind = "tree"
steps = "mount create unmount"
[axes]
state = ["free", "image"]
"""


def shipped(name: str, catalog: Catalog = CATALOG) -> Study:
    return study_from_document(find_study(name).document, catalog, name)


def checked(study: Study) -> tuple[Case, ...]:
    """The cases of a study whose settings all have an effect; SpecError otherwise."""
    cases = expand(study, CATALOG)
    check_effects(study, CATALOG, GUEST_INPUTS)
    return cases


def with_set(study: Study, *overrides: tuple[str, Any]) -> Study:
    listed = [(k, tuple(v) if isinstance(v, list) else (v,)) for k, v in overrides]
    return with_overrides(study, listed, CATALOG)


# Order: who replaces whom.


def test_a_part_of_a_state_changes_the_state_named_before() -> None:
    cases = checked(
        with_set(shipped("ffsmark"), ("state", "aged"), ("state.valid_percent", 40), ("seed", 1))
    )
    assert {(c.state.kind, c.state.valid_percent, c.state.invalid_percent) for c in cases} == {
        ("aged", 40, 25)
    }


def test_a_part_of_a_state_changes_every_state_of_an_axis() -> None:
    cases = checked(with_set(shipped("ffsmark"), ("state.valid_percent", 40)))
    assert {(c.state.valid_percent, c.state.invalid_percent) for c in cases} == {(40, 0), (40, 25)}
    # The ids say what the states are now, not what they were.
    assert {case.id.split("-")[1] for case in cases} == {"v40i0", "v40i25"}
    assert all(dict(case.axes)["state"] == case.state.name for case in cases)


def test_what_a_later_setting_replaces_is_an_error() -> None:
    study = shipped("ffsmark")
    with pytest.raises(SpecError, match=r"--set state\.valid_percent has no effect: --set state,"):
        checked(with_set(study, ("state.valid_percent", 40), ("state", "aged")))
    with pytest.raises(SpecError, match=r"--set board\.ram_bytes has no effect"):
        checked(with_set(study, ("board.ram_bytes", 2**26), ("board", "omap3530-evm")))
    with pytest.raises(SpecError, match=r"--set workload\.number has no effect"):
        checked(with_set(study, ("workload.number", 9), ("workload.kind", "micro")))


def test_a_setting_of_a_board_changes_every_board_of_an_axis() -> None:
    boards = ("board", ["apf27", "omap3530-evm"])
    for ram in (2**26, [2**26]):
        cases = checked(with_set(shipped("quick"), boards, ("board.ram_bytes", ram)))
        assert {(case.board.name, case.board.ram_bytes) for case in cases} == {
            ("apf27", 2**26),
            ("omap3530-evm", 2**26),
        }


def test_a_whole_state_takes_the_place_of_an_axis_of_its_parts() -> None:
    study = shipped("micro-fill")
    cases = checked(with_set(study, ("state", "saturated"), ("seed", 1)))
    assert {case.state.kind for case in cases} == {"saturated"}
    assert len(cases) == len(expand(with_set(study, ("seed", 1)), CATALOG)) // 3


def test_another_workload_begins_with_its_own_defaults() -> None:
    study = with_set(shipped("ffsmark"), ("workload.kind", "micro"), ("workload.burst", 4))
    study = with_overrides(
        study, [*study.overrides, ("workload.pause_us", (9,)), ("state", ("free",))], CATALOG
    )
    workload = checked(study)[0].workload
    assert (workload.kind, getattr(workload, "burst", 0)) == ("micro", 4)
    assert getattr(workload, "volume_bytes", 0) == 20 * 2**20
    same = with_set(shipped("ffsmark"), ("workload.kind", "ffsmark"))
    assert [c.spec_hash for c in checked(same)] == [
        c.spec_hash for c in checked(shipped("ffsmark"))
    ]


@pytest.mark.slow
def test_the_command_line_narrows_the_axes_of_parts() -> None:
    cases = checked(with_set(shipped("micro-uflip"), ("workload.mix_ratio", 4), ("seed", 1)))
    mixed = [case for case in cases if case.id.startswith("mix-")]
    assert {getattr(case.workload, "mix_ratio", 0) for case in mixed} == {4}
    assert len({case.id for case in cases}) == len(cases)


# Effects: what is given in vain.


@pytest.mark.parametrize(
    ("study", "given", "why"),
    [
        ("metadata-s2", [("state.settle_ms", 5)], "needs workload append-log"),
        ("micro-fill", [("workload.burst", 5)], "needs a pause_us above 0"),
        ("micro-fill", [("workload.mix_ratio", 3)], "needs a mix_pattern"),
        ("micro-fill", [("workload.cache", "keep")], "needs a pattern that reads"),
        ("quick", [("cpu_scale", 0), ("board.cpu_byte_ps", 9)], "needs a cpu_scale above 0"),
        ("quick", [("cpu_scale", 0), ("board.cpu_syscall_ns", 9)], "needs a cpu_scale above 0"),
        ("metadata-s2", [("workload.mix_ratio", 2)], "a setting of workload micro, not of tree"),
        (
            "metadata-s2",
            [("workload.steps", "mount create unmount"), ("workload.find_name", "x")],
            "needs the step find",
        ),
        (
            "micro-fill",
            [("filesystem", ["jffs2", "ubifs"]), ("options.write_mode", ["sync"])],
            "rules of study micro-fill leave out every case of it",
        ),
    ],
)
def test_a_setting_without_an_effect_says_why(
    study: str, given: list[tuple[str, Any]], why: str
) -> None:
    with pytest.raises(SpecError) as caught:
        checked(with_set(shipped(study), *given))
    assert why in str(caught.value)
    assert caught.value.cause
    assert caught.value.remedy


def test_an_effect_on_one_case_is_enough() -> None:
    # Without the image nothing looks at the option, but one of the two states has one.
    assert checked(with_set(study_of(TREE), ("options.compression", ["none", "lzo"])))
    paused = ("workload.pause_us", [0, 100])
    assert checked(with_set(shipped("micro-fill"), paused, ("workload.burst", 5)))


def test_a_value_that_is_so_anyway_is_no_error() -> None:
    quick = shipped("quick")
    chip = expand(quick, CATALOG)[0].board.chip
    for given in (("chip.t_prog_ns", chip.t_prog_ns), ("workload.number", 500), ("cpu_scale", 1)):
        assert [case.spec_hash for case in checked(with_set(quick, given))] == [
            case.spec_hash for case in checked(quick)
        ]


@pytest.mark.parametrize("name", sorted(study_names()))
def test_shipped_studies_state_nothing_in_vain(name: str) -> None:
    check_effects(shipped(name), CATALOG, GUEST_INPUTS)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '"mount create unmount"',
            '"mount unmount"\nfiles = 7',
            r"\[base\] workload.files=constant\(7\) has",
        ),
        ("[axes]", '[axes]\n"workload.find_name" = ["a", "b"]', r"\[axes\] workload.find_name=a"),
        (
            "[axes]",
            '[[exclude]]\nstate = "image"\n[axes]',
            r"\[axes\] state=image has no effect on any case",
        ),
    ],
)
def test_a_study_that_states_something_in_vain(old: str, new: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        checked(study_of(TREE.replace(old, new)))


def test_the_command_line_ends_with_the_exit_code_of_wrong_usage(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("run", "micro-fill", "--dry-run", "--set", "workload.burst=5")
    monkeypatch.setattr(sys, "argv", ["ffslab", *given])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == EXIT_USAGE
    assert "--set workload.burst=5 has no effect on any case of study" in capsys.readouterr().err


# Every setting, on every study.


NAMED: Mapping[str, Sequence[Any]] = {
    "part": ("alignment", "no-such-part"),
    "board": tuple(CATALOG.boards),
    "filesystem": tuple(CATALOG.filesystems),
    "partition_bytes": ("64 MiB", 2**27),
    "state": (*CATALOG.states, {"valid_percent": 11}),
    "seed": (1, 77),
    "cpu_scale": (1, 3),
    "board.wait": ("polled", "interrupt"),
    "board.ram_bytes": ("64 MiB", 2**30),
    "workload.line_bytes": (64, "256 B"),
    "workload.random_bytes": ("32 MiB", "128 KiB"),
    "workload.volumes": ("2 GB", "something"),
    "board.chip": ("micron-256m-ewili", "winbond-w25n01kv", "winbond-w25q128fv"),
    "ubi_volume_bytes": ("3 MiB", "8 MiB"),
    "workload.history": ("appends", "full"),
    "workload.parameters": ("files=10 transactions=20", "updates=7"),
    "workload.kinds": ("lost", "torn-bits"),
    "workload.check": ("mount", "full"),
    "workload.timing": ("board", "none"),
    "workload.findings": ("tell", "fail"),
    "workload.steps": ("mount log unmount", "mount create log sync crash mount find unmount"),
}


def values_for(key: str) -> Sequence[Any]:
    """Some values of a setting; what is wrong in a case is for the checks to refuse."""
    group, _, name = key.partition(".")
    if key in NAMED:
        return NAMED[key]
    if key == "board.unaligned":
        return (False, True)
    if group in ("board", "chip"):
        return (2, 128, 4096)
    if group == "options":
        options = [fs.options[name] for fs in CATALOG.filesystems.values() if name in fs.options]
        return tuple(dict.fromkeys(value for option in options for value in option.values))
    models = [StateFile] if group == "state" else [file_of(kind) for kind in workloads().values()]
    types = [m.model_fields[name].annotation for m in models if name in m.model_fields]
    listed = tuple(dict.fromkeys(word for one in types for word in words(one)))
    if listed:
        return listed
    if not types or any(one in (bool, bool | None) for one in types):
        return (False, True)
    return ("something",) if str in types else (3, 2**16)


def words(annotation: Any) -> Iterator[Any]:
    """The words of a Literal, wherever in a type it is."""
    for argument in get_args(annotation):
        if not isinstance(argument, str):
            yield from words(argument)
        elif argument:
            yield argument


def identity(case: Case) -> str:
    """The spec; and the tree's name, which stands for the tree until that was looked at."""
    return f"{case_spec(case)} {case.state.tree}"


def stated(case: Case, key: str) -> Any:
    """What a case has for a setting."""
    group, _, name = key.partition(".")
    return {
        "chip": lambda: getattr(case.board.chip, name),
        "options": lambda: dict(case.filesystem.options).get(name),
        "board": lambda: of_board(case.board, name),
        "state": lambda: getattr(case.state, name) if name else case.state.name,
        "workload": lambda: getattr(case.workload, name, None),
        "filesystem": lambda: case.filesystem.name,
    }.get(group, lambda: getattr(case, key, None))()


def of_board(board: Board, name: str) -> Any:
    return board.chip.name if name == "chip" else getattr(board, name or "name")


def changes_an_estimate(case: Case) -> bool:
    return dict(case.axes).get(ESTIMATE, AS_STATED) != AS_STATED


def same(one: Any, other: Any) -> bool:
    try:
        return bool(parse_size(one) == parse_size(other))
    except (TypeError, ValueError):
        return bool(one == other) or f"constant({other})" == one or one == str(other)


# Of the studies with hundreds of cases; the others have all file systems and parts.
ONE: list[Override] = [("seed", (1,)), ("filesystem", ("ubifs",))]
FEWER: Mapping[str, list[Override]] = {
    "micro-fill": ONE,
    "micro-interarrival": ONE,
    "micro-saturated": ONE,
    "micro-uflip": [*ONE, ("part", ("granularity", "mix", "pause"))],
    "append-log": [*ONE[:1], ("workload.fsync_every", (1, 0))],
    "mount-scaling": [*ONE[:1], ("cpu_scale", (1,))],
    "metadata-s1": [*ONE[:1], ("cpu_scale", (1,))],
    "metadata-s2": [*ONE[:1], ("cpu_scale", (1,))],
}


@lru_cache(maxsize=1)
def tried() -> dict[tuple[str, str], list[str]]:
    """What became of each setting on each study: `changed`, `so anyway`, `error`, or `IGNORED`."""
    found: dict[tuple[str, str], list[str]] = {}
    for name in study_names():
        study = shipped(name)
        fewer = FEWER.get(name, ONE[:1])
        before = {
            identity(case): case
            for case in cases_in_order(with_overrides(study, fewer, CATALOG), CATALOG)
        }
        for key in valid_keys(CATALOG):
            context = [override for override in fewer if override[0] != key]
            found[name, key] = [
                attempt(study, before, [*context, (key, (value,))]) for value in values_for(key)
            ]
    return found


def attempt(study: Study, before: Mapping[str, Case], given: Sequence[Override]) -> str:
    key, (value,) = given[-1]
    try:
        changed = with_overrides(study, given, CATALOG)
        check_effects(changed, CATALOG, GUEST_INPUTS)
        # Without those that have no such setting: an option may be of one file system alone.
        as_stated = [case for case in before.values() if not changes_an_estimate(case)]
        having = [has for case in as_stated if (has := stated(case, key)) is not None]
        if having and all(same(has, value) for has in having):
            return "so anyway"
        left = set()  # a case may become the same as another one
        for case in cases_in_order(changed, CATALOG):
            if identity(case) not in before:
                return "changed"
            left.add(identity(case))
    except SpecError as error:
        assert error.message, (key, value)
        return "error"
    return "changed" if len(left) < len(before) else "IGNORED"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(study_names()))
def test_every_setting_changes_a_case_or_is_refused(name: str) -> None:
    ignored = [key for (study, key), ends in tried().items() if study == name and "IGNORED" in ends]
    assert not ignored


# What no shipped study can be given alone.
IN_COMPANY: Mapping[str, tuple[str, list[tuple[str, Any]]]] = {
    "options.volume": ("metadata-s1", [("part", "readonly"), ("options.volume", "static")]),
    "workload.compressibility_percent": (
        "metadata-s2",
        [("workload.contents", "compressible"), ("workload.compressibility_percent", 50)],
    ),
    "workload.command": (
        "script",
        [("workload.script", ""), ("workload.arguments", ""), ("workload.command", "true")],
    ),
    "workload.read_files": (
        "metadata-s1",
        [("workload.steps", "mount read unmount"), ("workload.read_files", "bin/sh")],
    ),
    "workload.again": ("celf", [("part", "full"), ("workload.again", False)]),
    "options.lower_compression": (
        "compression",
        [
            ("part", "rootfs"),
            ("filesystem", "overlay-ubifs"),
            ("options.compression", "lzo"),
            ("options.lower_compression", "gzip"),
        ],
    ),
    "workload.keep": ("append-log", [("workload.rotate_bytes", "16 KiB"), ("workload.keep", 2)]),
    "kernel": ("quick", [("kernel", "period")]),
    "estimate": ("quick", [("estimate", "double-driver")]),
    "perturbation": ("quick", [("perturbation", 3)]),
    "chip.t_prog_byte_ns": (
        "quick",
        [("board", "imx6ull-evk"), ("partition_bytes", "16 MiB"), ("chip.t_prog_byte_ns", 1000)],
    ),
    **{
        f"board.{name}": ("quick", [("board", "openwrt-one"), (f"board.{name}", value)])
        for name, value in (("spi_clock_hz", 26_000_000), ("spi_rx_bits", 4), ("spi_tx_bits", 4))
    },
    "repeat": ("quick", [("repeat", 2)]),
    "workload.acts": (
        "power-cuts",
        [("workload.history", "series"), ("workload.acts", "moves drop-caches")],
    ),
    "workload.calls": (
        "power-cuts",
        [("workload.history", "calls"), ("workload.calls", "create a")],
    ),
    "workload.act_set": (
        "power-cuts",
        [("workload.history", "sequences"), ("workload.act_set", "all")],
    ),
    "workload.beginning": (
        "power-cuts",
        [("workload.history", "sequences"), ("workload.beginning", "aged")],
    ),
    "workload.part": (
        "power-cuts",
        [("workload.history", "sequences"), ("workload.parts", 4), ("workload.part", 2)],
    ),
    **{
        f"period.{name}": ("quick", [("kernel", "period"), (f"period.{name}", False)])
        for name in SWITCHES
    },
}


@pytest.mark.slow
def test_every_setting_changes_a_case_of_some_study() -> None:
    changing = {key for (_, key), ends in tried().items() if "changed" in ends}
    assert set(valid_keys(CATALOG)) == changing | set(IN_COMPANY)
    for study, given in IN_COMPANY.values():
        assert checked(with_set(shipped(study), *given))


def test_a_share_that_a_state_has_already_is_no_error() -> None:
    study = with_set(shipped("quick"), ("state", "aged"), ("state.valid_percent", 50))
    assert {case.state.valid_percent for case in checked(study)} == {50}
