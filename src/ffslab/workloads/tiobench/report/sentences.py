"""What a run of tiobench found, in sentences computed by rules.

Configurations are compared at one place and in one phase, by the mean over seeds. Nothing here
knows a result beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator

from ffslab.compare.ratios import alike, mean, ratio_of
from ffslab.report.quantity import capitalized, duration, grouped, significant
from ffslab.report.standings import listed
from ffslab.report.topics import Sentence, Topic
from ffslab.workloads.tiobench.metrics import ACTS
from ffslab.workloads.tiobench.report.load import TioCase, TioRun
from ffslab.workloads.tiobench.stored import SlowestRequest

MIB = 2**20


def topics(run: TioRun) -> tuple[Topic, ...]:
    """The sentences by question, those that the run can answer."""
    all_topics = (
        Topic("Which is fastest?", (*_fastest(run),)),
        Topic("How long does the slowest request take, and why?", (*_slowest(run),)),
        Topic("What is programmed for what is written?", (*_amplified(run),)),
    )
    return tuple(topic for topic in all_topics if topic.sentences)


def throughput(cases: tuple[TioCase, ...], phase: str) -> float | None:
    """The mean over seeds of a phase's throughput: of one that writes, until all is on flash."""
    values = []
    for tio_case in cases:
        row = tio_case.figures.phases.get(phase)
        if row is None:
            return None
        flushed = row["on_flash_bytes_per_s"]
        values.append(row["throughput_bytes_per_s"] if flushed is None else flushed)
    return mean(values) if values else None


def _lead(scenario: str, act: str) -> str:
    return f"{scenario}, {act}: " if scenario else f"{capitalized(act)}: "


def _fastest(run: TioRun) -> Iterator[Sentence]:
    for scenario in run.places:
        for phase, act in ACTS.items():
            rates = {
                label: rate
                for label in run.labels
                if (rate := throughput(run.at(label, scenario), phase)) is not None
            }
            if len(rates) > 1:
                yield Sentence(f"{_lead(scenario, act)}{_standing(rates)}.")


def _standing(rates: dict[str, float]) -> str:
    first, *others = sorted(rates, key=lambda label: -rates[label])
    told = []
    for label in others:
        ratio = ratio_of(rates[label], rates[first])
        if ratio is not None:
            behind = "alike" if alike(ratio) else f"{significant(ratio)} times slower"
            told.append(f"{label} {significant(rates[label] / MIB)} MiB/s ({behind})")
    return f"{first} **{significant(rates[first] / MIB)} MiB/s**; {listed(told)}"


def _slowest(run: TioRun) -> Iterator[Sentence]:
    """Of each phase the slowest request of all cases."""
    for phase, act in ACTS.items():
        candidates = [
            (slowest, tio_case)
            for tio_case in run.measured
            if (row := tio_case.figures.phases.get(phase)) and (slowest := row["slowest"])
        ]
        if not candidates:
            continue
        slowest, tio_case = max(candidates, key=lambda pair: pair[0]["latency_ns"])
        where = f"{tio_case.label} ({tio_case.place})" if tio_case.place else tio_case.label
        latency = tio_case.figures.latencies[phase]
        ratio = ratio_of(latency.sum_ns / latency.count, slowest["latency_ns"])
        times = f", {significant(ratio)} times its mean" if ratio is not None else ""
        yield Sentence(
            f"{capitalized(act)}: **{duration(slowest['latency_ns'])}** on {where}{times}; "
            f"meanwhile {cause(slowest)}."
        )


def cause(slowest: SlowestRequest) -> str:
    """What each task asked of the flash during the slowest request, the busiest first."""
    tasks = sorted(slowest["tasks"], key=lambda task: -task["busy_ns"])
    told = []
    for task in tasks:
        counts = (
            (task["pages_read"], "read"),
            (task["pages_programmed"], "programmed"),
            (task["blocks_erased"], "erased"),
        )
        words = [f"{grouped(count)} {word}" for count, word in counts if count]
        if words:
            told.append(f"{task['name']} {', '.join(words)}")
    return "; ".join(told) or "no task asked anything of the flash"


def _amplified(run: TioRun) -> Iterator[Sentence]:
    for scenario in run.places:
        for phase in ("write", "random-write"):
            told = []
            for label in run.labels:
                values = [
                    value
                    for tio_case in run.at(label, scenario)
                    if (row := tio_case.figures.phases.get(phase))
                    and (value := row["on_flash_amplification"]) is not None
                ]
                if values:
                    told.append(f"{label} {significant(mean(values))}")
            if told:
                yield Sentence(f"{_lead(scenario, ACTS[phase])}bytes per byte – {listed(told)}.")
