"""FFSMark's part of a report: data → sentences and charts → what its template shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ffslab.report import data, tails, wear
from ffslab.report.bars import are_cut
from ffslab.report.charts import CUT_MEANING, Look, look_for, options_key
from ffslab.report.data import Group, Run
from ffslab.report.distribution import merge, spread_cells, spread_head
from ffslab.report.elements import Key, Panel, Table, seeds_text
from ffslab.report.load import Read
from ffslab.report.page import common
from ffslab.report.quantity import Metric, grouped
from ffslab.report.topics import Sentence, Topic
from ffslab.workloads.ffsmark.report import charts, sentences
from ffslab.workloads.ffsmark.report.catalogue import METRICS, OPERATIONS, RESULT_TABLES
from ffslab.workloads.ffsmark.report.load import Figures, figures_of, run_of
from ffslab.workloads.ffsmark.report.questions import Question, ask
from ffslab.workloads.ffsmark.report.sentences import Cell

TITLE = "FFSMark"
__all__ = ("TITLE", "figures_of", "page")  # what the report asks of a workload


@dataclass(frozen=True)
class Answer:
    """A question's section; what stands at the head of the page is not among its sentences."""

    question: Question
    sentences: tuple[Sentence, ...]
    panels: tuple[Panel, ...]
    contrasts: tuple[str, ...]
    ratio_rows: tuple[tuple[Metric, tuple[Cell | None, ...]], ...]


@dataclass(frozen=True)
class WearMap:
    """One case's map with its numbers."""

    label: str
    case_id: str
    seed: str
    drawing: str
    summary: wear.Wear


@dataclass(frozen=True)
class LatencySection:
    """One operation: chart and percentiles."""

    key: str
    title: str
    meaning: str
    drawing: str
    table: Table


def page(run_dir: Path, read_cases: Sequence[Read[Figures]]) -> dict[str, Any]:
    """Everything the template shows of a run's cases of FFSMark."""
    return context(run_of(run_dir, read_cases))


def context(run: Run) -> dict[str, Any]:
    """Everything the template shows."""
    options = tuple(axis for axis in run.varying if axis not in (data.STATE, data.SEED))
    groups = data.ordered(data.group_by_seed(run.passed), options, (data.STATE,))
    look = look_for(groups)
    questions, not_asked = ask(run)
    show = tuple(axis for axis in run.varying if axis != data.SEED)
    split = charts.split_bars(groups, show)
    return {
        **common(run),
        "not_asked": not_asked,
        "answers": [_answer(question, look) for question in questions],
        "topics": _topics(questions, run),
        "in_memory": sentences.in_memory(run),
        "seeds": seeds_text(run.seeds, "bars show the mean, points each seed"),
        "wear_maps": (maps := _wear_maps(groups, show)),
        "wear_keys": _wear_keys(maps),
        "latency": _latency(groups, show, look),
        "line_keys": _line_keys(groups, show, look),
        "split": charts.split_chart(split, "time-split") if split else "",
        "split_cut": are_cut(split),
        "split_keys": [Key(part, paint) for _, part, paint in charts.TIME_PARTS],
        "amplification": _amplification(groups, show),
        "tables": [_result_table(title, keys, run) for title, keys in RESULT_TABLES],
        "metrics": METRICS,
    }


def _answer(question: Question, look: Look) -> Answer:
    panels = []
    for key in question.metrics:
        metric = METRICS[key]
        drawn = charts.metric_bars(question, key, look)
        drawing = charts.question_chart(drawn, key, f"{question.key}-{key}".replace("_", "-"))
        cut = f" {CUT_MEANING}" if are_cut(drawn) else ""
        panels.append(
            Panel(metric.title, f"{metric.meaning}.{cut}" if cut else metric.meaning, drawing)
        )
    compared = sentences.contrasts(question)
    told = {sentence.text for sentence in sentences.main_answers(question)}
    return Answer(
        question=question,
        sentences=tuple(f for f in sentences.answer(question) if f.text not in told),
        panels=tuple(panels),
        contrasts=tuple(contrast.label for contrast in compared),
        ratio_rows=tuple(
            (
                METRICS[key],
                tuple(sentences.table_cell(contrast.pairs, key) for contrast in compared),
            )
            for key in question.metrics
        ),
    )


def _topics(questions: Sequence[Question], run: Run) -> tuple[Topic, ...]:
    """What stands at the head of the page: the answers to the study's questions in their order,
    then what is extreme in the whole run.
    """
    topics = [Topic(question.title, sentences.main_answers(question)) for question in questions]
    if extremes := sentences.extremes(run):
        topics.append(Topic("The whole run", extremes))
    return tuple(topic for topic in topics if topic.sentences)


def _wear_maps(groups: Sequence[Group], show: Sequence[str]) -> list[WearMap]:
    """A map per configuration, of its lowest seed, all on one scale."""
    shown = [(group, group.first) for group in groups if group.first.erases]
    if not shown:
        return []
    scale = wear.common_scale([case.erases for _, case in shown])
    maps = []
    for number, (group, case) in enumerate(shown):
        label = data.group_label(group.axes, show) or "all cases"
        summary = wear.Wear(case.erases)
        text = (
            f"Erase counts of {len(case.erases)} blocks, {label}: from {summary.low} to "
            f"{summary.high}, "
            f"mean {summary.mean:.2f}"
        )
        drawing = wear.draw(case.erases, scale, text, f"wear-{number}")
        maps.append(WearMap(label, case.id, case.seed, drawing, summary))
    return maps


def _wear_keys(maps: Sequence[WearMap]) -> list[Key]:
    if not maps:
        return []
    scale = wear.common_scale([shown.summary.erases for shown in maps])
    return [Key(label, f"w{scale.paint(shade)}") for shade, label in enumerate(scale.labels())]


def _latency(groups: Sequence[Group], show: Sequence[str], look: Look) -> list[LatencySection]:
    """One section per operation that the run measured, over all seeds and phases."""
    sections = []
    for op, title, meaning in OPERATIONS:
        lines, rows = [], []
        for group in groups:
            merged = merge(lat for case in group.cases for lat in case.latencies if lat.op == op)
            if merged is None:
                continue
            label = data.group_label(group.axes, show) or "all cases"
            facet = f"state {group.axes[data.STATE]}" if group.axes.get(data.STATE) else "all"
            options = options_key(group.axes)
            lines.append(
                tails.Line(facet, group.axes.get(data.FILESYSTEM, ""), options, merged.tail())
            )
            rows.append((label, grouped(merged.count), *spread_cells(merged)))
        if not lines:
            continue
        table = Table("", ("configuration", "count", *spread_head()), (), tuple(rows))
        drawing = tails.tails(
            lines, f"{title}: share of operations slower than t", look, f"latency-{op}"
        )
        sections.append(LatencySection(op, title, meaning, drawing, table))
    return sections


def _line_keys(groups: Sequence[Group], show: Sequence[str], look: Look) -> list[Key]:
    """The legend of the latency charts: one entry per line of a panel."""
    keys: dict[str, Key] = {}
    wanted = [axis for axis in show if axis != data.STATE]
    for group in groups:
        label = data.group_label(group.axes, wanted) or "all cases"
        dash = " ".join(str(part) for part in look.dash(options_key(group.axes)))
        keys.setdefault(label, Key(label, look.colour(group.axes.get(data.FILESYSTEM, "")), dash))
    return list(keys.values())


def _amplification(groups: Sequence[Group], show: Sequence[str]) -> Table:
    keys = (
        "write_amplification",
        "pages_programmed",
        "pages_read",
        "blocks_erased",
        "flash_ns",
        "in_driver_ns",
        "rest_ns",
    )
    rows = []
    for group in groups:
        cells = [
            METRICS[key].number(value) if (value := group.mean(key)) is not None else "–"
            for key in keys
        ]
        rows.append((data.group_label(group.axes, show) or "all cases", *cells))
    head = ("configuration", *(METRICS[key].title for key in keys))
    return Table("Flash traffic", head, ("", *(METRICS[key].unit for key in keys)), tuple(rows))


def _result_table(title: str, keys: Sequence[str], run: Run) -> Table:
    present = [key for key in keys if any(key in case.metrics for case in run.cases)]
    rows = []
    for case in run.cases:
        cells = [
            METRICS[key].number(case.metrics[key]) if key in case.metrics else "–"
            for key in present
        ]
        rows.append((case.id, case.outcome, *cells))
    head = ("case", "outcome", *(METRICS[key].title for key in present))
    return Table(
        title,
        head,
        ("", "", *(METRICS[key].unit for key in present)),
        tuple(rows),
        text_columns=2,
        outcomes=True,
    )
