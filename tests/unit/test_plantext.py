"""The plan of a case says what docs/plan-format.md asks for, in the experiment's order."""

from __future__ import annotations

from dataclasses import replace

from host_support import STUDY, cases_of

from ffslab.protocol.plan import decode, encode, parse_step
from ffslab.targets.virtual_flash import plan_text
from ffslab.workloads.ffsmark.keys import Ffsmark


def _steps(text: str) -> list[tuple[str, dict[str, str]]]:
    lines = text.splitlines()
    assert lines[0] == "ffsplan 1"
    parsed = [parse_step(line) for line in lines[1:] if line and not line.startswith("#")]
    return [(verb, dict(keys)) for verb, keys in parsed]


def test_values_survive_encoding() -> None:
    value = "chip=name=a b;100%\n\x7f"
    assert decode(encode(value)) == value
    assert not set(encode(value)) & set(" =\n\x7f")


def test_ubifs_plan() -> None:
    case = next(case for case in cases_of() if case.id == "ubifs-aged-s2")
    steps = _steps(plan_text(case))
    assert [verb for verb, _ in steps] == [
        "insmod",
        "insmod",
        "monitor",
        "trace",
        "erase",
        "ubi-attach",
        "ubi-mkvol",
        "mount",
        "snapshot",
        "settle",
        "snapshot",
        "ffsmark",
        "umount",
        "ubi-detach",
        "snapshot",
        "capture",
        "capture",
    ]
    keys = dict(steps)
    assert keys["ubi-attach"]["max_beb_per1024"] == "20"
    assert keys["mount"]["options"] == "compr=lzo"
    assert keys["mount"]["source"] == "ubi0:data"
    workload = keys["ffsmark"]
    assert (workload["valid_percent"], workload["invalid_percent"]) == ("50", "25")
    assert (workload["seed"], workload["drop_caches"], workload["verify"]) == ("2", "1", "0")
    assert "kind" not in workload


def test_ffsmark_may_begin_at_once() -> None:
    """Nothing else changes, and the step has no such key; older specs say nothing of it."""
    case = cases_of()[0]
    assert isinstance(case.workload, Ffsmark)
    at_once = replace(case, workload=replace(case.workload, settle=False))
    steps = _steps(plan_text(case))
    waiting = [verb for verb, _ in steps].index("settle")
    expected = steps[: waiting - 1] + steps[waiting + 2 :]  # without the snapshots around it
    assert _steps(plan_text(at_once)) == expected
    assert "settle" not in case.workload.spec
    assert at_once.workload.spec == {**case.workload.spec, "settle": False}


def test_jffs2_plan_has_no_ubi_and_sync_is_a_flag() -> None:
    text = STUDY + '"options.write_mode" = ["sync"]\n'
    keys = dict(_steps(plan_text(cases_of(text)[0])))
    assert not {"ubi-attach", "ubi-mkvol"} & set(keys)
    assert keys["mount"] == {
        "type": "jffs2",
        "source": "mtd:data",
        "target": "/mnt",
        "options": "compr=zlib",
        "flags": "sync",
    }


def test_chip_is_described_to_vnand() -> None:
    case = cases_of()[0]
    verb, keys = _steps(plan_text(case))[0]
    assert verb == "insmod"
    assert keys["path"] == "/lab/vnand.ko"
    parameter, _, description = keys["args"].partition("=")
    chip = dict(field.split("=", 1) for field in description.split(";"))
    assert parameter == "chip"
    assert chip["parts"] == "data@0+128/rest@128+1920"
    assert chip["t_prog_ns"] == "220000"
    assert chip["store"] == "iomem:flash0"
    drivers = ("driver_read_ns", "driver_program_ns", "driver_erase_ns")
    assert [chip[key] for key in drivers] == ["165000", "165000", "20000"]
    for scale, costs in ((0.0, ["0", "0", "0"]), (2.0, ["330000", "330000", "40000"])):
        scaled = _steps(plan_text(replace(case, cpu_scale=scale)))[0][1]["args"].split(";")
        assert [f"{key}={cost}" for key, cost in zip(drivers, costs, strict=True)] == [
            field for field in scaled if field.startswith("driver_")
        ]
    assert len(keys["args"]) < 1024  # a module's string parameter holds no more


def test_nor_flash_is_described_to_its_own_modules() -> None:
    (case, *_) = cases_of(STUDY.replace('"apf27"', '"imx6ull-evk"'))
    worn = replace(case.board.chip, endurance_cycles=9)
    case = replace(case, board=replace(case.board, chip=worn))
    (first, chip), (second, monitor) = _steps(plan_text(case))[:2]
    assert first == second == "insmod"
    assert (chip["path"], monitor["path"]) == ("/lab/vnor.ko", "/lab/flashmon_nor.ko")
    told = dict(field.split("=", 1) for field in chip["args"].removeprefix("chip=").split(";"))
    assert told["page_bytes"] == told["pages_per_block"] == "256"
    assert (told["t_prog_byte_ns"], told["t_prog_ns"]) == ("30000", "700000")
    assert (told["parts"], told["endurance_cycles"]) == ("data@0+256/rest@256+256", "9")
    assert not {"oob_bytes", "t_read_ns", "nop", "ecc_strength_bits"} & set(told)


def test_a_traced_plan_has_the_same_length() -> None:
    case = cases_of()[0]
    plain, traced = (plan_text(replace(case, trace=trace)) for trace in (False, True))
    assert traced == plain.replace("trace on=0", "trace on=1") != plain


def test_names_of_case_and_study_are_not_in_the_plan() -> None:
    case = cases_of()[0]
    assert plan_text(replace(case, id="other", study="another")) == plan_text(case)
