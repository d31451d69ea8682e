"""The model: catalog figures, expansion of studies, and every kind of bad spec."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from host_support import STUDY, cases_of, study_of

from ffslab.campaign.inputs import guest_inputs
from ffslab.errors import SpecError, UsageError
from ffslab.loader import find_study, load_catalog, parse_toml, study_names
from ffslab.model.case import case_spec
from ffslab.model.effects import check_effects
from ffslab.model.specs import CPU_FIGURES, DRIVER_FIGURES, ModuleSource
from ffslab.model.study import expand, select, study_from_document, with_overrides
from ffslab.model.units import format_duration_ns, format_size, parse_size
from ffslab.paths import data_dir
from ffslab.targets.uml.guests import KIND

GUEST_INPUTS = guest_inputs(KIND)
MIB = 2**20


PUBLISHED = ("apf27", "apf27-2012", "celf-mips", "omap3530-evm", "xscale-1g")


def test_five_boards_state_the_published_latencies() -> None:
    boards = load_catalog().boards
    stated = {
        "omap3530-evm": (25_000, 200_000, 500_000, 256 * MIB),
        "apf27": (25_000, 220_000, 500_000, 128 * MIB),
        "apf27-2012": (25_000, 300_000, 2_000_000, 128 * MIB),
        "xscale-1g": (60_000, 800_000, 1_500_000, 64 * MIB),
    }
    assert {*stated, "celf-mips"} == set(PUBLISHED) <= set(boards)
    for name, (read, program, erase, ram) in stated.items():
        chip = boards[name].chip
        assert (chip.t_read_ns, chip.t_prog_ns, chip.t_erase_ns) == (read, program, erase)
        assert boards[name].ram_bytes == ram


def test_celf_chip_gives_the_published_raw_throughput() -> None:
    """The driver's estimated part is the board's, and not in the chip's ECC once more."""
    board = load_catalog().board("celf-mips")
    chip, per_s = board.chip, 1e9 / MIB
    read, program = chip.page_read_ns(), chip.page_program_ns()
    copy = chip.page_bytes * board.cpu_byte_ps / 1000  # from or to the program that measures
    read, program = read + board.driver_read_ns + copy, program + board.driver_program_ns + copy
    erase = chip.block_erase_ns() + board.driver_erase_ns
    assert chip.page_bytes / read * per_s == pytest.approx(2.50, rel=1e-5)
    assert chip.page_bytes / program * per_s == pytest.approx(2.00, rel=1e-5)
    assert chip.block_bytes / erase * per_s == pytest.approx(10.61, rel=1e-5)


def test_drivers_are_scaled_by_the_clock() -> None:
    """165 and 20 µs at 400 MHz, to 0.1 µs, on the boards whose processor moves the pages."""
    boards = load_catalog().boards
    for board in (boards[name] for name in (*PUBLISHED, "at91sam9g25-ek")):
        expected = [round(ns * 400 / board.cpu_mhz, -2) for ns in (165_000, 165_000, 20_000)]
        found = [board.driver_read_ns, board.driver_program_ns, board.driver_erase_ns]
        assert found == expected, board.name


def test_every_figure_has_a_source_and_no_board_claims_calibration() -> None:
    for board in load_catalog().boards.values():
        assert not board.calibrated
        estimates = {entry.figure for entry in board.provenance if entry.estimate}
        assert {*CPU_FIGURES, *DRIVER_FIGURES} <= estimates
        assert all(entry.source for entry in (*board.provenance, *board.chip.provenance))


def test_published_study_has_the_published_cases() -> None:
    catalog = load_catalog()
    study = study_from_document(find_study("ffsmark").document, catalog, "ffsmark")
    cases = expand(study, catalog)
    # In 2 states, 3 seeds: JFFS2 with 3 compressions; UBIFS with 2, write-back and sync; YAFFS2
    # with block summaries and without; LogFS with compression, and in one state without.
    assert len(cases) == 2 * 3 * (3 + 4 + 2 + 1) + 3
    assert not [c for c in cases if not c.id.startswith("ubifs") and "-sync" in c.id]
    assert {c.state.name for c in cases if c.filesystem.name == "yaffs2"} == {"free", "aged"}
    assert {c.partition_bytes for c in cases} == {100 * MIB}
    case = next(c for c in cases if c.id == "ubifs-aged-none-writeback-s1")
    assert (case.state.valid_percent, case.state.invalid_percent) == (50, 25)
    assert (case.workload.number, case.workload.transactions) == (5000, 15000)
    options = dict(case.filesystem.options)
    assert (options["compression"], options["write_mode"]) == ("none", "write-back")
    # 1 % of the partition's 800 blocks, of a chip of 2,048.
    assert case.filesystem.ubi is not None
    assert case.filesystem.ubi.max_beb_per1024 * case.board.chip.blocks // 1024 == 8
    compressed = {dict(c.filesystem.options)["compression"] for c in cases if "lzo" in c.id}
    assert compressed == {"lzo"}


@pytest.mark.slow
def test_all_shipped_studies_expand() -> None:
    catalog = load_catalog()
    for name in study_names():
        study = study_from_document(find_study(name).document, catalog, name)
        assert study.name == name
        assert expand(study, catalog)


def test_expansion_is_ordered_and_ids_are_unique() -> None:
    ids = [case.id for case in cases_of()]
    assert ids == [
        "jffs2-free-s1",
        "jffs2-free-s2",
        "jffs2-aged-s1",
        "jffs2-aged-s2",
        "ubifs-free-s1",
        "ubifs-free-s2",
        "ubifs-aged-s1",
        "ubifs-aged-s2",
    ]
    assert len({case.spec_hash for case in cases_of()}) == len(ids)


def test_spec_hash_depends_on_what_determines_the_result_only() -> None:
    first = cases_of()[0]
    renamed = cases_of(STUDY.replace('"small"', '"other"').replace("A small", "Another"))[0]
    assert renamed.spec_hash == first.spec_hash
    slower = cases_of(STUDY.replace("seeds", "cpu_scale = 2\nseeds"))[0]
    assert slower.spec_hash != first.spec_hash
    assert case_spec(slower)["cpu_instruction_ps"] == 2 * case_spec(first)["cpu_instruction_ps"]


def test_include_keeps_only_what_matches() -> None:
    cases = cases_of(STUDY + '\n[[include]]\nfilesystem = "ubifs"\nstate = ["aged"]\n')
    assert [case.id for case in cases] == ["ubifs-aged-s1", "ubifs-aged-s2"]


def test_rule_matches_option_by_resolved_value() -> None:
    text = STUDY + (
        '"options.compression" = ["default"]\n'
        '[[exclude]]\nfilesystem = "ubifs"\n"options.compression" = "lzo"\n'
    )
    assert {case.filesystem.name for case in cases_of(text)} == {"jffs2"}


@pytest.mark.parametrize("values", ['["none", "default"]', '["default", "none"]'])
def test_default_beside_the_value_it_stands_for_is_one_case(values: str) -> None:
    text = STUDY.replace('"ubifs"]', f'"yaffs2"]\n"options.compression" = {values}')
    ids = [case.id for case in cases_of(text) if case.seed == 1 and case.state.name == "free"]
    assert sorted(ids) == ["jffs2-none-free-s1", "jffs2-zlib-free-s1", "yaffs2-none-free-s1"]
    with pytest.raises(SpecError, match="two cases are called"):
        cases_of(text.replace(values, '["none", "none"]'))


def test_an_id_names_switches_and_leaves_out_options_that_a_file_system_lacks() -> None:
    text = STUDY.replace('"ubifs"]', '"ubifs", "yaffs2"]\n"options.summary" = ["default", "on"]')
    text += '[[exclude]]\nfilesystem = ["jffs2", "ubifs"]\n"options.summary" = "on"\n'
    ids = [case.id for case in cases_of(text) if case.seed == 1 and case.state.name == "free"]
    assert ids == ["jffs2-summaryoff-free-s1", "ubifs-free-s1", "yaffs2-summaryon-free-s1"]


def test_variants_of_yaffs2_differ_in_one_mount_option() -> None:
    filesystems = load_catalog().filesystems

    def mounted(name: str) -> set[str]:
        found = filesystems[name].options.values()
        return {text for option in found for text in option.values[option.default].mount_options}

    assert mounted("yaffs2") == set()
    assert mounted("yaffs2-improved") == set()  # its mechanisms are options, none on by default
    variants = {name.removeprefix("yaffs2-") for name in filesystems if name.startswith("yaffs2-")}
    variants.remove("improved")
    assert variants == {"inband", "no-cache", "no-checkpoint", "no-summary"}
    for variant in variants:
        option = {"inband": "inband-tags", "no-summary": "disable-summary"}.get(variant, variant)
        assert mounted(f"yaffs2-{variant}") == {option}
        # In all else they are the file system of their name.
        for key in ("type", "source", "modules", "min_blocks"):
            assert getattr(filesystems[f"yaffs2-{variant}"], key) == getattr(
                filesystems["yaffs2"], key
            )


def test_an_option_of_the_base_goes_to_the_file_systems_that_have_it() -> None:
    text = STUDY.replace("seeds", 'options = { beb_per1024 = "4" }\nseeds')
    for case in cases_of(text):
        ubi = case.filesystem.ubi
        assert (ubi.max_beb_per1024 if ubi else None) == (
            4 if case.filesystem.name == "ubifs" else None
        )
    catalog = load_catalog()
    without = study_of(text.replace('"jffs2", "ubifs"', '"jffs2"'))
    with pytest.raises(SpecError, match=r"options\.beb_per1024=4 has no effect"):
        check_effects(without, catalog, GUEST_INPUTS)
    alone = with_overrides(study_of(text), [("filesystem", ("jffs2",))], catalog)
    check_effects(alone, catalog, GUEST_INPUTS)
    assert {case.filesystem.name for case in expand(alone, catalog)} == {"jffs2"}
    given = with_overrides(
        study_of(text),
        [("filesystem", ("jffs2",)), ("options.beb_per1024", ("4",))],
        catalog,
    )
    with pytest.raises(SpecError, match=r"--set options\.beb_per1024=4 has no effect"):
        check_effects(given, catalog, GUEST_INPUTS)


def test_a_smaller_reserve_lets_ubi_have_a_smaller_partition() -> None:
    text = STUDY.replace('"16 MiB"', '"5 MiB"').replace('"jffs2", ', "")
    with pytest.raises(SpecError, match="too small for ubifs"):
        cases_of(text)
    assert cases_of(text.replace("seeds", 'options = { beb_per1024 = "1" }\nseeds'))


def test_axis_of_a_figure_replaces_it() -> None:
    text = STUDY + '"chip.t_prog_ns" = [100_000, 200_000]\n"board.wait" = ["polled"]\n'
    cases = cases_of(text)
    assert {case.board.chip.t_prog_ns for case in cases} == {100_000, 200_000}
    assert {case.board.wait for case in cases} == {"polled"}
    assert cases[0].id == "jffs2-free-tprogns100000-s1"


def test_state_as_a_table_and_by_its_shares() -> None:
    text = STUDY.replace(
        '["free", "aged"]', '[{ valid_percent = 30, invalid_percent = 60 }, "free"]'
    )
    case = cases_of(text)[0]
    assert case.id == "jffs2-v30i60-s1"
    shares = STUDY.replace("state = [", '"state.valid_percent" = [10, 90]\nignored = [')
    shares = "\n".join(line for line in shares.splitlines() if "ignored" not in line)
    assert [c.state.valid_percent for c in cases_of(shares)][:3] == [10, 10, 90]


def test_overrides_narrow_axes_and_change_the_base() -> None:
    catalog = load_catalog()
    study = with_overrides(
        study_of(STUDY, catalog),
        [("filesystem", ("ubifs",)), ("workload.transactions", (7,)), ("seed", (5,))],
        catalog,
    )
    cases = expand(study, catalog)
    assert [case.id for case in cases] == ["ubifs-free-s5", "ubifs-aged-s5"]
    assert {case.workload.transactions for case in cases} == {7}


def test_an_axis_with_one_value_is_not_in_the_ids() -> None:
    def ids(axes: str, seeds: str = "[1]") -> list[str]:
        head = STUDY.split("[axes]")[0].replace("seeds = [1, 2]", f"seeds = {seeds}")
        return [case.id for case in cases_of(f'{head}filesystem = "ubifs"\n[axes]\n{axes}')]

    one = '"options.compression" = ["lzo"]\n'
    assert ids(one) == ids("") == ["ubifs-s1"]
    assert ids(one, "[1, 2]") == ["ubifs-s1", "ubifs-s2"]
    assert ids(one + 'state = ["free", "aged"]\n') == ["free-s1", "aged-s1"]
    assert ids('filesystem = ["jffs2"]\nstate = ["free", "aged"]\n') == [
        "jffs2-free-s1",
        "jffs2-aged-s1",
    ]


def test_override_with_several_values_makes_an_axis() -> None:
    catalog = load_catalog()
    study = with_overrides(study_of(STUDY, catalog), [("cpu_scale", (0, 1.5))], catalog)
    assert next(case.id for case in expand(study, catalog)) == "jffs2-free-cpu0-s1"
    assert len(expand(study, catalog)) == 16


def test_select_keeps_order_and_names_unknown_ids() -> None:
    cases = cases_of()
    assert [case.id for case in select(cases, ["ubifs-free-s1", "jffs2-free-s1"])] == [
        "jffs2-free-s1",
        "ubifs-free-s1",
    ]
    with pytest.raises(UsageError, match="did you mean 'jffs2-free-s1'"):
        select(cases, ["jffs2-fre-s1"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title =", "tilte =", r"unknown key 'tilte' \(did you mean 'title'\?\)"),
        ("partition_bytes", "partition_byte", r"'base.partition_byte' \(did you mean 'parti"),
        ('"16 MiB"', '"16 MiB"\n[base.workload]\nnumbre = 3', r"did you mean 'number'"),
        ('"apf27"', '"apf28"', "unknown board 'apf28'.*did you mean 'apf27'"),
        ('"jffs2"', '"jfs2"', "unknown filesystem 'jfs2'"),
        ('"free"', '"fresh"', "unknown state 'fresh'"),
        ("state =", "sttae =", "unknown axis 'sttae'"),
        ('"16 MiB"', '"300 MiB"', "larger than chip micron-256m-apf27, which has 2048"),
        ('"16 MiB"', '"2 MiB"', "16 erase blocks is too small for ubifs"),
        ('"16 MiB"', '"512 KiB"', "4 erase blocks is too small for jffs2"),
        ('"16 MiB"', '"16 MeB"', "is not a size"),
        ("schema = 1", "schema = 2", "schema"),
        ('["free", "aged"]', "[{valid_percent = 80, invalid_percent = 30}]", "110 %, over 100 %"),
        ('["free", "aged"]', '"free"', "axes.state must be a list"),
        ('["free", "aged"]', '["free", "free"]', "two cases are called jffs2-free-s1"),
        ("seeds = [1, 2]", "seeds = [-1]", "seeds"),
        ("seeds = [1, 2]", 'seeds = ["one"]', "seeds"),
        ("seeds = [1, 2]", 'options = { compression = "lz4" }', "valid.*none, lzo, zlib"),
        ("seeds = [1, 2]", 'options = { compress = "lzo" }', "did you mean 'options.compression'"),
        ("seeds = [1, 2]", "cpu_scale = -1", "cpu_scale"),
        ("seeds = [1, 2]", "workload = { size_min = 9, size_max = 8 }", "size_min 9 is above"),
    ],
)
def test_bad_study_is_a_clear_error(old: str, new: str, message: str) -> None:
    assert old in STUDY
    with pytest.raises(SpecError, match=message) as caught:
        cases_of(STUDY.replace(old, new, 1))
    assert caught.value.exit_code == 2


def test_option_that_one_file_system_lacks_must_be_excluded() -> None:
    text = STUDY + '"options.compression" = ["zstd"]\n'
    with pytest.raises(SpecError, match="jffs2 has no such value"):
        cases_of(text)
    rule = '[[exclude]]\nfilesystem = "jffs2"\n'
    assert {case.filesystem.name for case in cases_of(text + rule)} == {"ubifs"}


def test_study_without_a_case_left() -> None:
    with pytest.raises(SpecError, match="no case left"):
        cases_of(STUDY + '[[include]]\nstate = "full"\n')


def test_the_catalog_refers_only_to_studies_that_are_shipped() -> None:
    boards = load_catalog().boards.values()
    texts = [board.derivation for board in boards]
    texts += [entry.source for board in boards for entry in board.provenance]
    named = {name for text in texts for name in re.findall(r"ffslab run ([\w-]+)", text)}
    assert named == {"cpu-speed"}
    assert named <= set(study_names())


def test_bad_toml_names_the_line() -> None:
    with pytest.raises(SpecError, match="line 2"):
        parse_toml("schema = 1\nname = \n", "bad.toml")


def test_sizes() -> None:
    assert parse_size("100 MiB") == 100 * MIB
    assert parse_size("1.5KiB") == 1536
    assert parse_size("2 MB") == 2_000_000
    assert parse_size(7) == 7
    for bad in ("", "12 XB", "-1", "0.3 B"):
        with pytest.raises(ValueError):
            parse_size(bad)
    assert format_size(100 * MIB) == "100 MiB"
    assert format_duration_ns(1_234_567) == "1.23 ms"


def test_a_catalog_of_ones_own_adds_and_overrides(tmp_path: Path) -> None:
    shipped = data_dir("catalog")
    chip = (shipped / "chips" / "micron-256m-apf27.toml").read_text()
    for kind in ("chips", "boards"):
        (tmp_path / kind).mkdir()
    (tmp_path / "chips" / "slow.toml").write_text(
        chip.replace("micron-256m-apf27", "slow").replace("220_000", "990_000")
    )
    (tmp_path / "chips" / "micron-256m-apf27.toml").write_text(chip.replace("220_000", "330_000"))
    board = (shipped / "boards" / "apf27.toml").read_text()
    (tmp_path / "boards" / "mine.toml").write_text(
        board.replace('"apf27"', '"mine"').replace('"micron-256m-apf27"', '"slow"')
    )
    catalog = load_catalog([tmp_path])
    assert catalog.board("mine").chip.t_prog_ns == 990_000
    # A shipped board has the chip that takes the shipped one's place.
    assert catalog.board("apf27").chip.t_prog_ns == 330_000
    assert set(load_catalog().boards) == set(catalog.boards) - {"mine"}


def test_a_directory_that_is_no_catalog_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "my-chip.toml").touch()
    with pytest.raises(UsageError, match="is not a catalog: it has no chips/"):
        load_catalog([tmp_path])


def test_the_geometry_of_a_chip_can_be_set() -> None:
    text = STUDY.replace("16 MiB", "64 MiB") + (
        '"chip.page_bytes" = ["2 KiB", 4096]\n"chip.oob_bytes" = [128]\n'
        '"chip.subpages" = [1]\n"chip.pages_per_block" = [128]\n'
    )
    chips = {case.board.chip for case in cases_of(text)}
    assert {chip.block_bytes for chip in chips} == {256 * 1024, 512 * 1024}
    assert {(chip.oob_bytes, chip.subpages) for chip in chips} == {(128, 1)}


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("page_bytes = [3000]", "page_bytes must be a power of two from 512 to 16384, not 3000"),
        ("page_bytes = [32768]", "page_bytes must be a power of two"),
        ("oob_bytes = [4]", "oob_bytes must be from 8 to 2048, not 4"),
        ("subpages = [3]", "subpages must be a power of two from 1 to 8"),
        ("subpages = [8]", "subpages 8 is above nop 4"),
        ("pages_per_block = [0]", "pages_per_block must be a power of two from 1 to 1024"),
        ('page_bytes = ["2 XB"]', "is not a size"),
    ],
)
def test_a_geometry_that_no_chip_has_is_an_error(setting: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        cases_of(STUDY + f"chip.{setting}\n")


def test_a_case_has_a_hash_when_it_is_known_what_it_is_made_of() -> None:
    (plain,) = cases_of(STUDY.replace('"ubifs"', "").replace(', "aged"', "").replace("1, 2", "1"))
    assert plain.is_final and len(plain.spec_hash) == 64
    unknown = replace(plain, state=replace(plain.state, kind="image", tree="rootfs"))
    source = ModuleSource(directory="/src", stated_in="mine.toml")
    built = replace(plain, filesystem=replace(plain.filesystem, module_source=source))
    for case in (unknown, built):
        assert not case.is_final
        with pytest.raises(ValueError, match="has no hash yet"):
            _ = case.spec_hash
    known = replace(unknown, state=replace(unknown.state, tree_sha256="7" * 64))
    assert known.spec_hash != plain.spec_hash
