"""What the results of the probes say of each candidate: values, and what is behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ffslab.advise.candidates import Candidate
from ffslab.advise.life import imbalance_of, years_of_life
from ffslab.advise.needs import Needs
from ffslab.advise.probes import (
    BOOT,
    CUT,
    POWER,
    POWER_HISTORIES,
    RANDOM,
    WEAR,
    WRITE,
    Probe,
    is_read_only,
    power_as,
    worn_as,
    written_as,
)
from ffslab.model.catalog import Catalog
from ffslab.model.units import format_duration_ns, format_size
from ffslab.results.result import CaseResult, LatencyResult
from ffslab.results.shortfall import is_good
from ffslab.workloads.cuts.outcomes import CORRECT, wrong_words
from ffslab.workloads.cuts.stored import cuts_result, outcomes_of
from ffslab.workloads.figures import figures_of, tasks_of
from ffslab.workloads.random.result import harm_of
from ffslab.workloads.random.stored import stored_of
from ffslab.workloads.tree.stored import image_of
from ffslab.workloads.wear.stored import wear_of

# The probes mount before they restart, too: what is measured is the second mount, and `list`.
_MOUNT, _ATTACH, _LIST = "mount-2", "mount-2/attach-2", "list"
_LISTED = "list.listed_ns"
_MEMORY = "memory after "


@dataclass(frozen=True, slots=True)
class Value:
    """A figure with what it is made of; `value` None: not measured, and `why` says why not."""

    value: float | None
    why: str = ""
    failed: bool = False  # a case was run, and did not pass


@dataclass(frozen=True, slots=True)
class Reading:
    """What one case measured, by the name of a figure; `failed`: why it did not pass."""

    values: Mapping[str, Value]
    failed: str = ""


NOT_RUN = Reading({})


def readings_of(made: Sequence[Probe], results: Iterable[CaseResult]) -> dict[str, Reading]:
    """The reading of each probe that has a result, by its name."""
    kinds = {probe.name: probe.kind for probe in made}
    readings = {}
    for result in results:
        name = str(result["axes"].get("part"))
        if name in kinds:
            readings[name] = reading_of(kinds[name], result)
    return readings


def reading_of(kind: str, result: CaseResult) -> Reading:
    """One result; of a case that did not pass no figure counts, but that nothing is left if the
    content did not fit, and that the file system did not keep what it was told.
    """
    if not is_good(result):
        kept = _random(result) if kind == RANDOM else {}
        if kept:
            return Reading(kept)
        reason = result["reason"] or "no reason was recorded"
        full = kind == BOOT and _is_full(result)
        none = {"space": Value(0.0, "the content does not fit", failed=True)} if full else {}
        return Reading(none, f"{result['outcome']}: {reason}")
    return Reading(_READERS[kind](result))


def _is_full(result: CaseResult) -> bool:
    """Whether the partition was full before the content was on it."""
    preparation = result.get("preparation")
    phases = [*(preparation["phases"] if preparation else ()), *result["phases"]]
    return any(phase["errno_name"] == "ENOSPC" for phase in phases)


def _boot(result: CaseResult) -> dict[str, Value]:
    figures = {figure.key: figure.value for figure in figures_of(result)}
    values = {}
    if _LISTED in figures:
        values["boot"] = Value(figures[_LISTED], _boot_words(figures))
    memory = {
        key.removeprefix(_MEMORY).removesuffix(".total_bytes"): value
        for key, value in figures.items()
        if key.startswith(_MEMORY) and key.endswith(".total_bytes")
    }
    if memory:
        most = max(memory, key=lambda label: memory[label])
        each = "; ".join(
            f"after {label.partition('-')[0]} {format_size(int(size))}"
            for label, size in memory.items()
        )
        values["ram"] = Value(memory[most], each)
    space = next(
        (reading for reading in result["space"] if reading["label"].startswith("mount")), None
    )
    if space is not None:
        image = image_of(result)
        packed = (
            f"the image takes {format_size(image['flash_bytes'])} for "
            f"{format_size(image['tree_bytes'])} of files; "
            if image and image["flash_bytes"] and image["tree_bytes"]
            else ""
        )
        words = f"{packed}statfs() after the mount"
        values["space"] = Value(space["available_bytes"], words)
        if image and image["tree_bytes"]:
            values["tree"] = Value(image["tree_bytes"])
    return values


def _boot_words(figures: Mapping[str, float]) -> str:
    """Where the time from the mount to the end of ls goes."""
    mount, listed = (format_duration_ns(figures[f"{step}.duration_ns"]) for step in (_MOUNT, _LIST))
    attach = figures.get(f"{_ATTACH}.duration_ns")
    of_ubi = "" if attach is None else f" ({format_duration_ns(attach)} of it UBI’s attach)"
    pages = [figures.get(f"{step}.pages_read") or 0 for step in (_MOUNT, _LIST)]
    return f"mount {mount}{of_ubi}, ls {listed}; {sum(pages):,} pages read"


def _write(result: CaseResult) -> dict[str, Value]:
    values = {}
    latencies = [
        latency
        for latency in result["latencies"]
        if latency["count"] and latency["phase"] not in _NOT_MEASURED
    ]
    if latencies:
        longest = max(latencies, key=lambda latency: latency["max_ns"])
        values["write"] = Value(longest["max_ns"], _latency_words(result, longest))
    phase = next((phase for phase in result["phases"] if phase["phase"] == "workload"), None)
    page = result["spec"]["board"]["chip"]["page_bytes"]
    if phase is not None and phase["bytes_written"]:
        programmed = phase.get("pages_programmed")
        if programmed is not None:
            ratio = programmed * page / phase["bytes_written"]
            words = (
                f"{programmed:,} pages programmed for {format_size(phase['bytes_written'])} written"
            )
            values["programmed"] = Value(ratio, words)
    return values


_OWN = dict.fromkeys(("init", "ffsagent"), "within the writes")  # the agent's tasks
_TOLD = 0.01  # a task with less is not named
_NOT_MEASURED = ("verify", "prepare", "invalidate")


def _latency_words(result: CaseResult, longest: LatencyResult) -> str:
    """How usual the longest write is, and who used the flash."""
    parts = [
        f"half of {longest['count']:,} writes within {format_duration_ns(longest['p50_ns'])}, "
        f"99.9 % within {format_duration_ns(longest['p999_ns'])}"
    ]
    pages = Counter[str]()
    for work in tasks_of(result):
        pages[work.task] += work.counts["pages_read"] + work.counts["pages_programmed"]
    total = pages.total()
    if total:
        share = ", ".join(
            f"{_OWN.get(task, task)} {100 * count / total:.0f} %"
            for task, count in pages.most_common(2)
            if count >= _TOLD * total
        )
        parts.append(f"of the pages read and programmed: {share}")
    return "; ".join(parts)


def _wear(result: CaseResult) -> dict[str, Value]:
    wear = wear_of(result)
    if not wear or not wear["volumes"]:
        return {}
    last = wear["volumes"][-1]
    inside = last["inside"]
    spec = result["spec"]
    imbalance = imbalance_of(
        inside["max"],
        inside["mean"],
        spec["board"]["chip"]["endurance_cycles"],
        ubi=spec["filesystem"]["ubi"] is not None,
    )
    words = (
        f"erased {inside['mean']:.1f} times in the mean and {inside['max']} at most by "
        f"{format_size(last['written_bytes'])}"
    )
    return {"imbalance": Value(imbalance, words)}


def _power(result: CaseResult) -> dict[str, Value]:
    cuts = cuts_result(result)
    if cuts is None:
        return {}
    outcomes = outcomes_of(cuts)
    wrong = ", ".join(wrong_words(outcomes)) or "all correct"
    return {"states": Value(outcomes.total(), wrong), "correct": Value(outcomes[CORRECT])}


def _random(result: CaseResult) -> dict[str, Value]:
    stored = stored_of(result)
    if stored is None:
        return {}
    harm = harm_of(result["outcome"], stored["difference"])
    if harm:
        return {"kept": Value(0.0, f"it {harm} (round {stored['round'] or 1})", failed=True)}
    if not is_good(result):
        return {}
    words = f"{stored['operations_done']:,} random operations against a model"
    return {"kept": Value(100.0, words)}


_READERS = {
    BOOT: _boot,
    CUT: _boot,
    WRITE: _write,
    WEAR: _wear,
    POWER: _power,
    RANDOM: _random,
}


def values_of(
    needs: Needs, candidate: Candidate, readings: Mapping[str, Reading], catalog: Catalog
) -> dict[str, Value]:
    """All values of a candidate by the key of the need; one that is missing was not measured."""
    boot, cut = (_named(readings, kind, candidate) for kind in (BOOT, CUT))
    write = _named(readings, WRITE, written_as(candidate, catalog))
    clean_ram, cut_ram = (_value(reading, "ram") for reading in (boot, cut))
    ram = {value.value: value for value in (cut_ram, clean_ram) if value.value is not None}
    values = {
        "space": _value(boot, "space"),
        "boot": _value(boot, "boot"),
        "boot-cut": _as_clean(boot) if is_read_only(candidate, catalog) else _value(cut, "boot"),
        "ram": ram[max(ram)] if ram else clean_ram,
        "write": _value(write, "write"),
    }
    if needs.power_cuts:
        values["power"] = _as_promised(candidate, readings, catalog)
    if needs.writes is not None:
        values["kept"] = _kept(candidate, readings, catalog)
    if needs.writes is not None and needs.writes.years is not None:
        wear = _named(readings, WEAR, worn_as(candidate, catalog))
        size = candidate.partition_bytes or needs.partition_bytes
        values["life"] = _life(needs, size, _value(write, "programmed"), _value(wear, "imbalance"))
    return values


def _kept(candidate: Candidate, readings: Mapping[str, Reading], catalog: Catalog) -> Value:
    """Whether it keeps what it was told, without a power cut: all of it, or not."""
    if is_read_only(candidate, catalog):
        return Value(100.0, "nothing is ever written to it")
    return _value(_named(readings, RANDOM, power_as(candidate)), "kept")


def _named(
    readings: Mapping[str, Reading], kind: str, candidate: Candidate, variant: str = ""
) -> Reading:
    return readings.get(Probe(kind, candidate, {}, variant).name, NOT_RUN)


def _as_promised(candidate: Candidate, readings: Mapping[str, Reading], catalog: Catalog) -> Value:
    """The share of states after a power cut that are as promised, in percent."""
    if is_read_only(candidate, catalog):
        return Value(100.0, "nothing is ever written to it")
    stand_in = power_as(candidate)
    states, correct = 0.0, 0.0
    words = []
    for history in POWER_HISTORIES:
        reading = _named(readings, POWER, stand_in, history.replace("-", ""))
        all_states, right = _value(reading, "states"), _value(reading, "correct")
        if all_states.value is None or right.value is None:
            return all_states
        states += all_states.value
        correct += right.value
        words.append(f"{history}: {all_states.value:,.0f} states, {all_states.why}")
    return Value(100 * correct / states if states else None, "; ".join(words))


def _value(reading: Reading, name: str) -> Value:
    known = reading.values.get(name)
    if known is not None:
        return known
    if reading.failed:
        return Value(None, reading.failed, failed=True)
    return Value(None, "its case has not run")


def _as_clean(boot: Reading) -> Value:
    """The boot after a cut of what nothing is written to."""
    value = _value(boot, "boot")
    return value if value.value is None else replace(value, why="nothing is written to it")


def _life(needs: Needs, size: int, programmed: Value, imbalance: Value) -> Value:
    """Years, by `ffslab.advise.life`, from what was programmed and how unevenly."""
    assert needs.writes is not None
    if programmed.value is None:
        return programmed
    if imbalance.value is None:
        return imbalance
    chip = needs.chip
    daily = needs.writes.per_day_bytes * programmed.value
    years = years_of_life(
        chip.endurance_cycles,
        size // chip.block_bytes,
        chip.block_bytes,
        daily,
        imbalance.value,
    )
    words = (
        f"estimate: ×{programmed.value:.3g} programmed per byte written ({programmed.why}); most "
        f"erased block ×{imbalance.value:.2f} the mean ({imbalance.why})"
    )
    return Value(years, words)
