"""The report's numbers and sentences follow the run's data."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from test_report_support import Effects, Overrides, bucket_index, case_ids, write_run

from ffslab.errors import DamagedResultError, UsageError
from ffslab.model.figures import CPU_PRICES
from ffslab.report import data
from ffslab.report.charts import CUT_MEANING, cut_at, look_for, options_key
from ffslab.report.data import Latency, packed_buckets
from ffslab.report.distribution import merge
from ffslab.report.quantity import duration, significant, times
from ffslab.report.wear import SHADES, common_scale, draw
from ffslab.results.outcome import Outcome
from ffslab.workloads.ffsmark.report import sentences
from ffslab.workloads.ffsmark.report.page import context
from ffslab.workloads.ffsmark.report.questions import ask
from loaded_support import load_run

ONE_SEED: Overrides = [("seed", (1,))]


def texts(folder: Path) -> dict[str, str]:
    """The answers of a run by question."""
    questions, _ = ask(load_run(folder))
    return {q.key: " ".join(f.text for f in sentences.answer(q)) for q in questions}


PARTS = ("read", "program", "erase", "transfer")


def test_run_is_read_with_axes_metrics_and_commands(tmp_path: Path) -> None:
    run = load_run(write_run(tmp_path / "r"))
    assert [case.id for case in run.cases] == case_ids()
    first = run.cases[0]
    assert (first.filesystem, first.state, first.compression) == ("jffs2", "free", "none")
    assert first.command == f"ffslab run ffsmark --case {first.id}"
    assert first.metrics["transactions_ns"] > first.metrics["creation_ns"] > 0
    parts = sum(first.metrics[f"flash_{part}_ns"] for part in PARTS)
    assert parts == pytest.approx(first.metrics["flash_ns"])
    phases = ("creation", "transactions", "deletion")
    duration = sum(first.metrics[f"{phase}_ns"] for phase in phases)
    assert first.metrics["rest_ns"] == pytest.approx(duration - parts)
    assert first.metrics["flash_erase_ns"] == first.metrics["blocks_erased"] * 500_000
    assert max(first.erases) - min(first.erases) == first.metrics["erases_spread"]
    assert run.seeds == ("1", "2", "3")
    assert run.varying == ("filesystem", "compression", "write_mode", "state", "seed")


def test_overrides_are_part_of_the_command(tmp_path: Path) -> None:
    overrides: Overrides = [("partition_bytes", ("64 MiB",)), *ONE_SEED]
    run = load_run(write_run(tmp_path / "r", overrides))
    assert "--set 'partition_bytes=\"64 MiB\"'" in run.cases[0].command


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.3, 4.0])
def test_effect_of_the_state_follows_the_data(tmp_path: Path, factor: float) -> None:
    effects = Effects(aged_time={"jffs2": factor, "ubifs": 2.0, "yaffs2": 3.0}, seed_step=0.0)
    text = texts(write_run(tmp_path / "r", ONE_SEED, effects=effects))["state"]
    jffs2 = text[text.index("**JFFS2**, aged") : text.index("**UBIFS**, aged")]
    if factor == 1.0:
        assert "the transactions phase practically unchanged (25.1 → 25.1" in jffs2
    elif factor < 1:
        assert f"is **{1 / factor:.2f} times faster**" in jffs2
    else:
        assert f"is **{factor:.2f} times slower**" in jffs2


@pytest.mark.parametrize(
    ("aged_time", "verdict"),
    [
        ((2.0, 2.0, 2.0), "The order is the same in every state."),
        ((1.0, 3.0, 1.0), ". The order **depends on the state**."),
        ((1.0, 1.0, 3.0), "The first is the same in every state; the order behind it **depends"),
    ],
)
def test_the_order_of_file_systems_may_depend_on_the_state(
    tmp_path: Path, aged_time: tuple[float, ...], verdict: str
) -> None:
    names = ("jffs2", "ubifs", "yaffs2")
    effects = Effects(
        base_s=dict(zip(names, (40.0, 20.0, 30.0), strict=True)),
        aged_time=dict(zip(names, aged_time, strict=True)),
        seed_step=0.0,
    )
    text = texts(write_run(tmp_path / "r", ONE_SEED, effects=effects))["state"]
    assert verdict in text
    then = "YAFFS2 1.50 times slower, JFFS2 2.00 times slower"
    assert f"in state free **UBIFS** (13.2\u00a0s), then {then}; in state aged" in text


def test_synchronous_writing_may_be_dearer_or_cheaper(tmp_path: Path) -> None:
    dear = texts(write_run(tmp_path / "a", ONE_SEED, effects=Effects(sync_time=4.0)))["sync"]
    cheap = texts(write_run(tmp_path / "b", ONE_SEED, effects=Effects(sync_time=0.5)))["sync"]
    assert "write throughput is **4.00 times slower**" in dear
    assert "write throughput is **2.00 times faster**" in cheap
    assert "**UBIFS sync** next to JFFS2, state aged" in dear
    assert "**UBIFS sync** next to YAFFS2, state aged" in dear


def test_compression_names_the_codec_and_both_effects(tmp_path: Path) -> None:
    effects = Effects(compressed_time=2.0, compressed_pages=0.4)
    text = texts(write_run(tmp_path / "r", ONE_SEED, effects=effects))["compression"]
    lead = "**JFFS2**, zlib against no compression: write throughput is **2.00 times slower**"
    assert lead in text
    assert "pages programmed 60 % fewer, " in text


def test_few_erases_of_ubifs_are_said_to_depend_on_its_last_commit(tmp_path: Path) -> None:
    first = load_run(write_run(tmp_path / "r", ONE_SEED)).cases[0]
    blocks = len(first.erases)

    def noted(filesystem: str, *erased: int) -> str:
        cases = [
            replace(
                first,
                axes={**first.axes, "filesystem": filesystem},
                metrics={**first.metrics, "blocks_erased": float(count)},
            )
            for count in erased
        ]
        return sentences.few_erases_note([(case, case) for case in cases])

    assert "27\u2060–\u206081: that depends on where its last commit falls" in noted(
        "ubifs", 81, 27
    )
    assert noted("ubifs", blocks, 3 * blocks) == ""
    assert noted("jffs2", 27) == ""
    assert sentences.few_erases_note([]) == ""


def test_equal_extremes_are_one_value(tmp_path: Path) -> None:
    run = load_run(write_run(tmp_path / "r", ONE_SEED))
    cases = tuple(replace(c, metrics={**c.metrics, "erases_spread": 1.0}) for c in run.cases)
    told = [sentence.text for sentence in sentences.extremes(replace(run, cases=cases))]
    # Below 1 it is compression, or memory: no sentence.
    assert not any("Write amplification" in text for text in told)
    above = tuple(
        replace(c, metrics={**c.metrics, "write_amplification": 1.1 + n})
        for n, c in enumerate(cases)
    )
    found = [sentence.text for sentence in sentences.extremes(replace(run, cases=above))]
    assert any("Write amplification ranges from **1.10**" in text for text in found)
    assert "Wear spread is **1\u00a0erase** in all 14 configurations." in told


def test_equal_ratios_of_different_values_are_not_called_the_same(tmp_path: Path) -> None:
    """The factor is the same for every seed; the times are not, unless the seed has no effect."""
    differing = Effects(aged_time={"jffs2": 1.0, "ubifs": 1.0, "yaffs2": 1.0})
    text = texts(write_run(tmp_path / "a", effects=differing))["compression"]
    assert "The same in all" not in text
    assert "in each of 3 scenarios" in text
    equal = Effects(seed_step=0.0)
    assert "The same in all 3" in texts(write_run(tmp_path / "b", effects=equal))["compression"]


def test_times_of_memory_are_told_for_cases_that_write_back_only(tmp_path: Path) -> None:
    run = load_run(write_run(tmp_path / "r", ONE_SEED))
    assert sentences.in_memory(run) == ""

    def lowered(writing: str) -> str:
        low = {"creation_share": 0.07, "write_amplification": 0.8}
        cases = tuple(
            replace(c, metrics={**c.metrics, **low}) if c.writing == writing else c
            for c in run.cases
        )
        return sentences.in_memory(replace(run, cases=cases))

    assert lowered(data.SYNC) == lowered(data.WRITE_THROUGH) == ""
    told = lowered(data.WRITE_BACK)
    assert "UBIFS" in told and "JFFS2" not in told
    assert "at the end of creation, 7 % (in 4 of 4 cases)" in told
    assert "less than was written (in 4 of 4 cases: write amplification below 1)" in told
    assert "transactions" not in told


def test_rates_of_each_phase(tmp_path: Path) -> None:
    first = load_run(write_run(tmp_path / "r", ONE_SEED)).cases[0].metrics
    seconds = first["creation_ns"] / 1e9
    assert first["creation_write_bytes_per_s"] == pytest.approx(26e6 / seconds)
    assert "deletion_write_bytes_per_s" not in first
    assert first["deletion_files_per_s"] > 0


def test_one_seed_is_called_exact_and_nothing_is_called_significant(tmp_path: Path) -> None:
    one = texts(write_run(tmp_path / "a", ONE_SEED))
    several = texts(write_run(tmp_path / "b"))
    assert all("One scenario, exact for it." in text for text in one.values())
    assert re.search(r"Over 3 scenarios: [\d.]+ to [\d.]+ times slower", several["state"])
    assert "significan" not in " ".join([*one.values(), *several.values()])


def test_questions_without_cases_are_listed_with_the_reason(tmp_path: Path) -> None:
    overrides: Overrides = [("state", ("free",)), ("options.compression", ("none",)), *ONE_SEED]
    questions, not_asked = ask(load_run(write_run(tmp_path / "r", overrides)))
    assert [question.key for question in questions] == ["sync"]
    assert len(not_asked) == 2
    assert "at least two initial states" in not_asked[0].why


def test_failed_cases_leave_questions_and_are_told(tmp_path: Path) -> None:
    aged = [case for case in case_ids(ONE_SEED) if "aged" in case]
    outcomes = {case: Outcome("crash", "kernel panic") for case in aged}
    run = load_run(write_run(tmp_path / "r", ONE_SEED, outcomes=outcomes))
    questions, not_asked = ask(run)
    assert len(run.failures) == len(aged)
    assert "state" not in {question.key for question in questions}
    assert "too few of them passed" in not_asked[0].why
    assert questions[0].left_out > 0


def test_a_further_axis_gets_its_own_question(tmp_path: Path) -> None:
    overrides: Overrides = [("cpu_scale", (0.5, 1.0, 2.0)), *ONE_SEED]
    questions, _ = ask(load_run(write_run(tmp_path / "r", overrides)))
    further = questions[-1]
    assert further.title == "What does the cpu scale change?"
    assert "cpu scale 2.0 against cpu scale 0.5" in sentences.answer(further)[1].text


def test_ratio_from_zero_is_given_as_values() -> None:
    before = data.Case("a", {"seed": "1"}, "pass", "", metrics={"blocks_erased": 0.0})
    after = data.Case("b", {"seed": "1"}, "pass", "", metrics={"blocks_erased": 12.0})
    cell = sentences.table_cell([(before, after)], "blocks_erased")
    assert cell == sentences.Cell("", "0 → 12", "")


def test_the_ratio_is_that_of_the_means_below_it() -> None:
    """1 → 2 and 9 → 3: the geometric mean of 2 and ⅓ would be 0.816."""

    def case(seed: int, erased: float) -> data.Case:
        axes = {"seed": str(seed)}
        return data.Case("c", axes, "pass", "", metrics={"blocks_erased": erased})

    pairs = [(case(1, 1.0), case(1, 2.0)), (case(2, 9.0), case(2, 3.0))]
    cell = sentences.table_cell(pairs, "blocks_erased")
    assert cell == sentences.Cell("50 % fewer", "5 → 2.50", "67 % fewer to 2.00 times as many")
    slower = [(case(1, 1.0), case(1, 2.0)), (case(2, 1.0), case(2, 3.0))]
    cell = sentences.table_cell(slower, "blocks_erased")
    assert cell == sentences.Cell("2.50 times as many", "1 → 2.50", "2.00 to 3.00")
    mixed = [(case(1, 10.0), case(1, 9.0)), (case(2, 10.0), case(2, 12.0))]
    cell = sentences.table_cell(mixed, "blocks_erased")
    assert cell == sentences.Cell("5 % more", "10 → 10.5", "10 % fewer to 20 % more")


def test_time_model_tells_estimates_apart(tmp_path: Path) -> None:
    facts = {fact.name: fact for fact in load_run(write_run(tmp_path / "r", ONE_SEED)).facts}
    assert facts["Page program, tPROG"].value.startswith("220")
    assert not facts["Page program, tPROG"].estimate
    assert facts[CPU_PRICES[0].title].estimate
    assert facts[CPU_PRICES[0].title].basis


def test_a_directory_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no manifest\.json"):
        load_run(tmp_path)


def test_a_run_without_results(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", ONE_SEED)
    (folder / "results.jsonl").write_text("")
    with pytest.raises(UsageError, match="no results yet"):
        load_run(folder)


@pytest.mark.parametrize("damage", ["cut", "field", "type"])
def test_damaged_results_give_a_clear_message(tmp_path: Path, damage: str) -> None:
    folder = write_run(tmp_path / "r", ONE_SEED)
    path = folder / "results.jsonl"
    lines = path.read_text().splitlines()
    row = json.loads(lines[1])
    if damage == "cut":
        lines[1] = lines[1][:100]
    elif damage == "field":
        del row["phases"]
        lines[1] = json.dumps(row)
    else:
        row["latencies"][0]["buckets"] = 7
        lines[1] = json.dumps(row)
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DamagedResultError) as caught:
        load_run(folder)
    assert str(folder) in str(caught.value)
    assert "next:" in str(caught.value)


def latency_of(values: list[int]) -> Latency:
    counts: dict[int, int] = {}
    for value in values:
        counts[bucket_index(value)] = counts.get(bucket_index(value), 0) + 1
    buckets = packed_buckets(sorted(counts.items()))
    return Latency("p", "op", len(values), sum(values), min(values), max(values), buckets)


def test_percentiles_are_within_the_histogram_s_error() -> None:
    rng = random.Random(5)
    values = sorted(round(math.exp(rng.uniform(3, 20))) for _ in range(5000))
    merged = merge([latency_of(values[:2000]), latency_of(values[2000:])])
    assert merged is not None
    for percent in (1, 50, 90, 99, 99.9, 100):
        exact = values[math.ceil(len(values) * percent / 100) - 1]
        assert merged.percentile_ns(percent) == pytest.approx(exact, rel=0.004, abs=0.5)
    assert merged.mean_ns == pytest.approx(sum(values) / len(values))


def test_tails_fall_from_one_and_end_at_the_maximum() -> None:
    rng = random.Random(6)
    values = [round(rng.paretovariate(0.7) * 1000) for _ in range(4000)]
    merged = merge([latency_of(values)])
    assert merged is not None
    tail = merged.tail(100)
    assert len(tail) < 250
    assert list(tail[0]) == [min(values), 1.0]
    assert tail[-1][0] == max(values)
    assert all(a[0] <= b[0] and a[1] >= b[1] for a, b in itertools.pairwise(tail))


def test_nothing_measured_is_no_distribution() -> None:
    assert merge([]) is None
    assert merge([Latency("p", "op", 0, 0, 0, 0, b"")]) is None


@pytest.mark.parametrize("high", [0, 1, 5, 8, 9, 100, 12345])
def test_wear_scale_covers_every_count_once(high: int) -> None:
    scale = common_scale([[0, high], [high // 2]])
    assert len(scale.bounds) <= SHADES
    assert len(scale.labels()) == len(scale.bounds)
    shades = [scale.shade(count) for count in range(high + 1)]
    assert shades == sorted(shades)
    assert shades[0] == 0
    assert shades[-1] == len(scale.bounds) - 1
    assert set(shades) == set(range(len(scale.bounds)))


def test_one_worn_map_leaves_differences_in_the_others() -> None:
    scale = common_scale([[1, 2, 4], [84]])
    assert len({scale.shade(count) for count in (0, 1, 2, 4)}) == 4


def test_wear_map_covers_each_block_exactly_once() -> None:
    erases = [random.Random(7).randrange(6) for _ in range(777)]
    drawing = draw(erases, common_scale([erases]), "label", "w")
    runs = [
        int(part.split("v")[0])
        for part in drawing.split("weargrid")[0].split("h")[1:]
        if "v1" in part
    ]
    assert sum(runs) == 777


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (0.001234, "0.00123"),
        (9.996, "10.0"),
        (999.6, "1,000"),
        (1234.5, "1,234"),
    ],
)
def test_significant_figures(value: float, shown: str) -> None:
    assert significant(value) == shown


@pytest.mark.parametrize(
    ("ns", "shown"), [(7, "7 ns"), (1500, "1.50 µs"), (999_600, "1.00 ms"), (2.5e9, "2.50 s")]
)
def test_durations(ns: float, shown: str) -> None:
    assert duration(ns).replace("\u00a0", " ") == shown


VARIANTS = ("yaffs2", "yaffs2-inband", "yaffs2-no-cache")


def test_a_variant_is_called_after_its_file_system() -> None:
    assert data.filesystem_name("yaffs2-no-cache") == "YAFFS2 no-cache"
    assert data.filesystem_name("scratchfs") == "scratchfs"
    assert data.filesystem_name("my-fs") == "my-fs"


def test_variants_are_compared_with_what_they_are_called_after(tmp_path: Path) -> None:
    effects = Effects(
        base_s={"yaffs2": 10.0, "yaffs2-inband": 20.0, "yaffs2-no-cache": 30.0, "jffs2": 40.0},
        aged_time=dict.fromkeys((*VARIANTS, "jffs2"), 2.0),
        seed_step=0.0,
    )
    overrides: Overrides = [("filesystem", ("jffs2", *VARIANTS)), *ONE_SEED]
    run = load_run(write_run(tmp_path / "r", overrides, effects, study="yaffs2"))
    (question,) = (q for q in ask(run)[0] if q.key == "variants")
    assert {case.filesystem for case in question.cases} == set(VARIANTS)
    told = [sentence.text for sentence in sentences.answer(question)]
    assert len(told) == 4
    assert told[0].startswith("**YAFFS2 inband** next to YAFFS2, state free: the transactions")
    assert "**2.00 times slower**" in told[0] and "**3.00 times slower**" in told[3]
    assert [sentence.text for sentence in sentences.main_answers(question)] == told
    # Another file system has no part in it, and none is asked for where there are no variants.
    assert "variants" not in texts(write_run(tmp_path / "s", ONE_SEED))


def test_an_option_that_a_file_system_does_not_vary_is_in_no_label(tmp_path: Path) -> None:
    overrides: Overrides = [("filesystem", ("jffs2", *VARIANTS)), *ONE_SEED]
    run = load_run(write_run(tmp_path / "r", overrides, study="yaffs2"))
    assert run.varying == ("filesystem", "compression", "state")
    facts = {fact.key: fact for fact in run.filesystems}
    assert facts["jffs2"].code.startswith("the Linux kernel")
    assert "ffslab" in facts["yaffs2"].code
    assert facts["yaffs2-inband"].mounts == ("mount -t yaffs2 -o inband-tags",)
    varied: Overrides = [
        ("filesystem", ("yaffs2",)),
        ("options.tags", ("oob", "inband")),
        *ONE_SEED,
    ]
    run = load_run(write_run(tmp_path / "s", varied, study="yaffs2"))
    assert "tags" in run.varying
    assert len(run.filesystems[0].mounts) == 2


def test_the_head_on_synchronous_writing_is_about_one_file_system(tmp_path: Path) -> None:
    slow = Effects(base_s={"jffs2": 900.0, "ubifs": 29.0, "yaffs2": 900.0})
    questions, _ = ask(load_run(write_run(tmp_path / "r", ONE_SEED, effects=slow)))
    (question,) = (q for q in questions if q.key == "sync")
    told = sentences.main_answers(question)
    assert len(told) == 2
    assert all("sync against write-back" in sentence.text for sentence in told)
    beside = [sentence.text for sentence in sentences.answer(question)]
    assert any("next to JFFS2" in text for text in beside)


def test_the_head_says_what_ageing_costs_each_file_system_and_who_is_ahead(tmp_path: Path) -> None:
    costs = {"jffs2": 3.0, "ubifs": 1.25, "yaffs2": 20.0}
    run = load_run(write_run(tmp_path / "r", ONE_SEED, effects=Effects(aged_time=costs)))
    (question,) = (q for q in ask(run)[0] if q.key == "state")
    told = [sentence.text for sentence in sentences.main_answers(question)]
    assert len(told) == 4
    for text, name, factor in zip(
        told[:3], ("JFFS2", "UBIFS", "YAFFS2"), costs.values(), strict=True
    ):
        assert text.startswith(f"**{name}**, aged against free")
        said = re.search(r"is \*\*([\d.]+) times slower\*\*", text)
        assert said and float(said[1]) == pytest.approx(factor, rel=0.03)
    assert told[-1].startswith("First to finish the transactions")


def test_ratios_have_three_significant_digits() -> None:
    assert [times(r) for r in (0.02651, 1.0, 12.58, 14.44, 230.4)] == [
        *("×0.0265", "×1.00", "×12.6", "×14.4", "×230"),
    ]


@pytest.mark.parametrize(
    ("lengths", "shown"),
    [
        ([24.1, 46.7, 13.8, 32.4, 41.4, 561.0], (46.7, 561.0)),  # one giant: cut between these
        ([1.0, 2.0, 4.0, 8.0, 16.0, 32.0], None),  # each is near the next
        ([1.0, 10.0], None),  # of two bars none is a giant
        ([1.0, 1.1, 1.2, 50.0, 60.0, 70.0], None),  # half of them are long
        ([0.0, 0.0, 0.0], None),
    ],
)
def test_bars_are_cut_only_where_a_few_hide_the_rest(
    lengths: list[float], shown: tuple[float, float] | None
) -> None:
    limit = cut_at(lengths)
    assert limit is None if shown is None else limit and shown[0] < limit < shown[1]


@pytest.mark.slow
def test_a_cut_bar_says_so_and_keeps_its_value(tmp_path: Path) -> None:
    """The drawing's longest bar is no longer many times the others; its value stands there."""
    effects = Effects(aged_time={"jffs2": 1.5, "ubifs": 1.5, "yaffs2": 40.0}, seed_step=0.0)
    run = load_run(write_run(tmp_path / "r", ONE_SEED, effects=effects))
    page = context(run)
    (answer,) = (a for a in page["answers"] if a.question.key == "state")
    panels = {panel.title: panel for panel in answer.panels}
    assert CUT_MEANING in panels["Transactions phase"].meaning
    assert CUT_MEANING not in panels["Write throughput"].meaning
    longest = max(c.metrics["transactions_ns"] for c in answer.question.cases)
    assert f">{significant(longest / 1e9)}<" in panels["Transactions phase"].drawing


def test_many_file_systems_differ_in_colour_or_dash() -> None:
    names = ["jffs2", "ubifs", "yaffs2", *(f"other-{number}" for number in range(9))]
    groups = [data.Group({data.FILESYSTEM: name, data.STATE: "free"}, ()) for name in names]
    look = look_for(groups)
    shown = {(look.colour(g.axes[data.FILESYSTEM]), look.dash(options_key(g.axes))) for g in groups}
    assert len(shown) == len(names)
    assert [look.colour(name) for name in names[:3]] == ["c0", "c1", "c2"]
    # What is known keeps its colour, whoever stands beside it.
    assert look_for(groups[2:]).colour("yaffs2") == "c2"
