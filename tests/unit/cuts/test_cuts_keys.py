"""Settings of power cuts: what they say, what is wrong with others, and that none is in vain."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from cuts_support import SERIES_STUDY, cut_case, study_text
from host_support import cases_of, study_of

from ffslab.campaign.inputs import guest_inputs
from ffslab.errors import SpecError
from ffslab.loader import find_study, load_catalog, study_names
from ffslab.model.effects import check_effects
from ffslab.model.nor import refused_by_nor
from ffslab.model.study import expand, study_from_document
from ffslab.oracle.faults import KINDS, USUAL
from ffslab.oracle.generators.registry import history_of_kind
from ffslab.targets.uml.guests import KIND
from ffslab.workloads.cuts.keys import Cuts
from ffslab.workloads.cuts.plan import cuts_of, cuts_on_chip, history_of
from ffslab.workloads.cuts.stored import configuration_of, finding_id

SPOIL_LATER = {"unstable", "weak-bits", "paired"}  # what had been read well: not in a series


def test_a_study_says_which_cases_there_are() -> None:
    text = study_text(base="seeds = [3]", workload='kinds = "lost erase-half"\nsample = 20')
    cases = cases_of(text)
    assert [case.id for case in cases] == [
        "jffs2-updatebyrename-s3",
        "jffs2-appends-s3",
        "ubifs-updatebyrename-s3",
        "ubifs-appends-s3",
    ]
    for case in cases:
        assert cuts_of(case).cut_kinds == ("lost", "erase-half")
        assert (cuts_of(case).sample, case.seed) == (20, 3)


def test_what_is_not_stated_is_all_kinds_and_as_the_history_usually_is() -> None:
    workload = Cuts()
    assert workload.cut_kinds == USUAL
    assert set(USUAL) - set(Cuts(history="series").cut_kinds) >= SPOIL_LATER
    assert {"lost", "torn-bits", "erase-half", "erase-zeros"} < set(USUAL) - SPOIL_LATER
    assert workload.settings == {}
    assert (workload.is_series, workload.is_timed) == (False, False)
    assert Cuts(history="series").is_series and Cuts(timing="board").is_timed


def test_parameters_are_those_of_the_history() -> None:
    assert Cuts(parameters="updates=4 files=2").settings == {"updates": 4, "files": 2}
    alone = study_text().replace(', "appends"]', "]")
    case = cases_of(alone.replace('kind = "cuts"', 'kind = "cuts"\nparameters = "updates=4"'))[0]
    few, usual = history_of(case), history_of(cut_case())
    assert few.text == history_of_kind("update-by-rename", case.seed, {"updates": 4}).text
    assert len(few.operations) < len(usual.operations)
    for bad in ("updates", "updates=", "updates=x", "updates=-4", "=4 4"):
        with pytest.raises(ValueError, match="is not NAME=NUMBER"):
            _ = Cuts(parameters=bad).settings


@pytest.mark.parametrize(
    ("workload", "said", "cause", "remedy"),
    [
        ('history = "overwrit"', "no history 'overwrit'.*overwrite", "power is cut in", "series"),
        ('history = ""', "no history ''", "power is cut in", "series"),
        ('parameters = "update=4"', "no parameter 'update'.*updates", "misspelt", "updates"),
        ('parameters = "updates"', "'updates' is not NAME=NUMBER", "a number each", "files=250"),
        ('parameters = "updates=x"', "'updates=x' is not NAME=NUMBER", "a number each", "files"),
        ('kinds = "lost erase-haf"', "no kind of cut 'erase-haf'.*erase-half", "misspelt", "lost"),
        ("samples = 20", "workload.samples", "misspelt", "docs/study-format.md"),
        ("variants = 0", "variants", "", ""),
        ("sample = -1", "sample", "", ""),
        ('check = "look"', "check", "", ""),
        ('timing = "slow"', "timing", "", ""),
        ('findings = "hide"', "findings", "", ""),
    ],
)
def test_what_is_wrong_is_told_with_cause_and_remedy(
    workload: str, said: str, cause: str, remedy: str
) -> None:
    text = study_text(workload=workload).replace(
        '"workload.history" = ["update-by-rename", "appends"]', ""
    )
    with pytest.raises(SpecError, match=said) as caught:
        cases_of(text)
    assert cause in caught.value.cause and remedy in caught.value.remedy
    assert caught.value.cause and caught.value.remedy


@pytest.mark.parametrize(
    ("workload", "said", "cause"),
    [
        ("cuts = 0", r"base\.workload\.cuts: .*\(it is 0\)", ""),
        ("acts = 'moves jump'", r"base\.workload\.acts: .*", ""),
        ("acts = 'moves '", r"base\.workload\.acts: .*", ""),
        ("space_every = -1", r"base\.workload\.space_every: .*\(it is -1\)", ""),
        ('kinds = "unstable"', "no kind of cut 'unstable'", "to which cut a loss belongs"),
        ('kinds = "lost paired"', "no kind of cut 'paired'", "to which cut a loss belongs"),
        ('kinds = "los"', "no kind of cut 'los'.*lost", "misspelt"),
    ],
)
def test_what_is_wrong_with_a_series_is_told(workload: str, said: str, cause: str) -> None:
    with pytest.raises(SpecError, match=said) as caught:
        cases_of(SERIES_STUDY.format(workload=workload))
    assert cause in caught.value.cause


@pytest.mark.parametrize(
    ("base", "filesystems", "said", "remedy"),
    [
        ('state = "aged"', ["jffs2"], "cuts begins on a new file system", 'state = "free"'),
        ("", ["squashfs"], "squashfs is read-only", 'workload.kind = "tree"'),
        ('board = "apf28"', ["jffs2"], "did you mean 'apf27'", "ffslab list boards"),
    ],
)
def test_what_cannot_be_cut_is_refused_before_anything_runs(
    base: str, filesystems: list[str], said: str, remedy: str
) -> None:
    text = study_text(filesystems, base=base)
    if base.startswith("board"):
        text = text.replace('board = "apf27"\n', "")
    with pytest.raises(SpecError, match=said) as caught:
        cases_of(text)
    assert remedy in caught.value.remedy


def test_of_a_file_system_without_promises_nothing_can_be_judged() -> None:
    """The oracle knows what each file system of the catalog that can be written promises."""
    names = [
        name
        for name, setup in load_catalog().filesystems.items()
        if setup.image is None or not setup.image.read_only
    ]
    for name in names:
        try:
            cases = cases_of(study_text([name]).replace('"8 MiB"', '"16 MiB"'))
        except SpecError as error:
            assert name not in ("jffs2", "ubifs", "yaffs2", "yaffs2-improved", "logfs"), error
            assert error.cause and error.remedy
        else:
            assert len(cases) == 2


def test_a_partition_that_cannot_be_filled_is_refused() -> None:
    large = study_text().replace("8 MiB", "200 MiB")
    with pytest.raises(SpecError, match="200 MiB cannot be filled") as caught:
        cases_of(large)
    assert "workload.fill_sample = 0, or at most 96 MiB" in caught.value.remedy
    at_most = study_text().replace("8 MiB", "96 MiB")
    for text in (
        at_most,
        *(
            study_text(workload=unfilled).replace("8 MiB", "200 MiB")
            for unfilled in ("fill_sample = 0", 'check = "mount"')
        ),
    ):
        assert len(cases_of(text)) == 4
    row = SERIES_STUDY.replace("16 MiB", "200 MiB")
    with pytest.raises(SpecError, match="200 MiB cannot be filled") as caught:
        cases_of(row.format(workload="fill_sample = 0"))
    assert "workload.space_every = 0" in caught.value.remedy
    assert len(cases_of(row.format(workload="space_every = 0"))) == 2


@pytest.mark.parametrize(
    ("stated", "idle"),
    [
        ({"cuts": 3, "space_every": 5}, {"cuts", "space_every"}),
        ({"check": "mount", "fill_sample": 3}, {"fill_sample"}),
        (
            {
                "history": "series",
                "parameters": "updates=4",
                "variants": 2,
                "sample": 3,
                "recovery_sample": 4,
                "fill_sample": 5,
                "random_sample": 6,
                "check": "mount",
                "paired_distance_pages": 4,
            },
            {
                *("parameters", "variants", "sample", "recovery_sample", "fill_sample"),
                *("random_sample", "check", "paired_distance_pages"),
            },
        ),
    ],
)
def test_keys_that_mean_nothing_beside_the_others_are_idle(
    stated: dict[str, Any], idle: set[str]
) -> None:
    usual, workload = Cuts(), Cuts(**stated)
    found = workload.without_idle_keys()
    assert {name for name in stated if found.spec[name] != stated[name]} == idle
    assert all(found.spec[name] == usual.spec[name] for name in idle)
    # What others state stays as it is.
    busy = Cuts(kinds="lost", timing="board", findings="tell", cuts=3, history="series")
    assert busy.without_idle_keys() == busy
    full = Cuts(sample=3, fill_sample=5, variants=2, random_sample=2, recovery_sample=4)
    assert full.without_idle_keys() == full


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (study_text(workload="space_every = 5"), r"workload\.space_every=5.*no effect"),
        (study_text(workload="cuts = 5"), r"workload\.cuts=5.*no effect"),
        (study_text(workload='check = "mount"\nfill_sample = 3'), r"workload\.fill_sample=3"),
        (study_text(workload='acts = "moves"'), r"workload\.acts=moves.*no effect"),
        (SERIES_STUDY.format(workload="sample = 5"), r"workload\.sample=5.*no effect"),
        (SERIES_STUDY.format(workload='check = "mount"'), r"workload\.check=mount.*no effect"),
        (SERIES_STUDY.format(workload="variants = 2"), r"workload\.variants=2.*no effect"),
    ],
)
def test_a_setting_without_effect_is_refused(text: str, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        check_effects(study_of(text), load_catalog(), guest_inputs(KIND))


@pytest.mark.parametrize(
    "text",
    [
        study_text(workload='sample = 5\nfindings = "tell"\nvariants = 2\ntiming = "board"'),
        study_text(workload="recovery_sample = 5\nrandom_sample = 5\nfill_sample = 3"),
        study_text(workload='check = "mount"\npaired_distance_pages = 4\nkinds = "paired"'),
        SERIES_STUDY.format(workload='cuts = 5\nspace_every = 2\nkinds = "lost"'),
        SERIES_STUDY.format(workload='cuts = 5\nacts = "moves over-emptied drop-caches"'),
    ],
)
def test_a_setting_with_effect_is_not_refused(text: str) -> None:
    check_effects(study_of(text), load_catalog(), guest_inputs(KIND))


def test_shipped_studies_of_cuts_are_good_and_their_histories_there() -> None:
    catalog = load_catalog()
    found = set()
    for name, path in study_names().items():
        if 'kind = "cuts"' not in path.read_text():
            continue
        study = study_from_document(find_study(name).document, catalog, name)
        for case in expand(study, catalog):
            if not isinstance(case.workload, Cuts):
                continue
            found.add(name)
            assert set(case.workload.cut_kinds) <= set(KINDS)
            assert case.workload.is_series or history_of(case).operations
    assert found >= {"crash-quick", "power-cuts", "cuts-in-a-row", "paired-pages", "power-loss"}


# --- chips ---

ON_NOR = study_text(base='board = "v3s-licheepi"', workload='kinds = "lost erase-half"').replace(
    'board = "apf27"\n', ""
)


def test_a_chip_has_the_kinds_of_its_technology() -> None:
    every = ON_NOR.replace('kinds = "lost erase-half"', "")
    for case in cases_of(every):
        found = cuts_on_chip(case).cut_kinds
        assert "erase-zeros" in found and "erase-half" not in found
    found = cuts_on_chip(cut_case()).cut_kinds
    assert "erase-half" in found and "weak-bits" not in found


def test_a_study_of_both_has_the_kinds_of_both_and_a_case_those_of_its_chip() -> None:
    text = ON_NOR.replace("[axes]", '[axes]\nboard = ["v3s-licheepi", "apf27"]')
    text = text.replace("lost erase-half", "lost erase-half erase-bits")
    found = {case.board.name: cuts_on_chip(case).cut_kinds for case in cases_of(text)}
    assert found == {"v3s-licheepi": ("lost", "erase-bits"), "apf27": ("lost", "erase-half")}
    row = SERIES_STUDY.format(workload='kinds = "torn-bits erase-half"').replace(
        "[axes]", '[axes]\nboard = ["v3s-licheepi", "apf27"]'
    )
    found = {case.board.name: cuts_on_chip(case).cut_kinds for case in cases_of(row)}
    assert found == {"v3s-licheepi": ("torn-bits",), "apf27": ("torn-bits", "erase-half")}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("lost erase-half", "erase-half paired", "it is NOR flash"),
        ("[axes]", '[axes]\n"chip.factory_bad" = [2]', "no bad blocks"),
    ],
)
def test_what_nor_flash_cannot_have_is_refused(old: str, new: str, said: str) -> None:
    assert old in ON_NOR
    with pytest.raises(SpecError) as raised:
        cases_of(ON_NOR.replace(old, new))
    assert said in str(raised.value) + raised.value.cause


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"v3s-licheepi"', '"v3s-licheepi-4k"', "UBIFS needs erase blocks of 15 KiB"),
        ('"jffs2", "ubifs"', '"yaffs2"', "OOB"),
    ],
)
def test_what_nor_flash_cannot_have_is_a_reason_to_skip_the_case(
    old: str, new: str, said: str
) -> None:
    text = ON_NOR.replace(old, new).replace("lost erase-half", "lost")
    reasons = {case.filesystem.name: refused_by_nor(case) for case in cases_of(text)}
    assert said in reasons.popitem()[1] and not reasons.get("jffs2")


# --- what a case is called in draws and findings ---


def test_a_case_is_called_the_same_whether_its_history_is_an_axis_or_not() -> None:
    axis = study_text(["jffs2"], axes='"options.compression" = ["none", "default"]')
    for history in ("update-by-rename", "appends"):
        alone = axis.replace('["update-by-rename", "appends"]', f'["{history}"]')
        fixed = axis.replace('"workload.history" = ["update-by-rename", "appends"]', "")
        fixed = fixed.replace('kind = "cuts"', f'kind = "cuts"\nhistory = "{history}"')
        of_axis = [case for case in cases_of(axis) if cuts_of(case).history == history]
        assert len(of_axis) == 2
        for one, other, third in zip(of_axis, cases_of(alone), cases_of(fixed), strict=True):
            assert configuration_of(one) == configuration_of(other) == configuration_of(third)
            ids = {finding_id(case, "3 lost 0") for case in (one, other, third)}
            assert len(ids) == 1
        assert len({configuration_of(case) for case in of_axis}) == 2


def test_findings_of_other_cases_states_and_histories_have_other_ids() -> None:
    text = study_text(base="seeds = [1, 2]")
    ids = [finding_id(case, state) for case in cases_of(text) for state in ("1 lost 0", "2 lost 0")]
    assert len(set(ids)) == len(ids) == 16
    assert all(len(one) == 8 and int(one, 16) >= 0 for one in ids)
    # They are in documents and in issues, and are those of before power cuts were a workload.
    name = b"made\njffs2-s1-update-by-rename\n1 lost 0"
    assert finding_id(cut_case(), "1 lost 0") == hashlib.sha256(name).hexdigest()[:8]


def test_calls_of_ones_own_are_the_history() -> None:
    text = study_text(workload='calls = "create a; fsync a"').replace('"appends"', '"calls"')
    made = {cuts_of(case).history: history_of(case).text for case in cases_of(text)}
    assert made["calls"] == "create a\nfsync a\n"
    for calls, said in (("", "there are no calls"), ("create a b", "line 1: no operation")):
        bad = text.replace("create a; fsync a", calls)
        with pytest.raises(SpecError, match=f"workload.calls: {said}"):
            cases_of(bad)
