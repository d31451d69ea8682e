"""The section of a report that says which verdicts hang on which estimate of the board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ffslab.model.estimates import AS_STATED, OTHER_WAIT, TITLES, parts_of
from ffslab.report.elements import Key, Panel, Table
from ffslab.report.estimates.chart import KEYS, tornado
from ffslab.report.estimates.load import Loaded, load_estimates
from ffslab.report.estimates.robustness import EQUAL, Ratio, effects, ratios_of
from ffslab.report.quantity import duration, times
from ffslab.report.topics import Sentence

_PANELS = 12
_SENTENCES = 12
_SLIGHT = 1.005  # a ratio that is moved less than this needs no name


@dataclass(frozen=True)
class EstimateView:
    """What the template shows. Without `ratios` nothing was changed, and `command` would do it."""

    command: str
    estimates: tuple[str, ...]
    board: str = ""
    checked: str = ""
    sentences: tuple[Sentence, ...] = ()
    notes: tuple[str, ...] = ()
    panels: tuple[Panel, ...] = ()
    keys: tuple[Key, ...] = KEYS
    effects: Table | None = None
    ratios: Table | None = None
    cases: Table | None = None


def estimate_view(run_dir: Path) -> EstimateView:
    """The section of the run in `run_dir`."""
    return view_of(load_estimates(run_dir))


def view_of(loaded: Loaded) -> EstimateView:
    estimates = tuple(f"{fact.name} ({fact.value})" for fact in loaded.estimates)
    if not loaded.samples:
        return EstimateView(loaded.command, estimates)
    ratios = ratios_of(loaded.samples)
    changes = [
        change
        for change in dict.fromkeys(sample.change for sample in loaded.samples)
        if change != AS_STATED
    ]
    return EstimateView(
        command=loaded.command,
        estimates=estimates,
        checked=_checked(ratios, changes),
        sentences=_sentences(ratios),
        notes=tuple(_notes(loaded, ratios)),
        panels=_panels(ratios),
        effects=_effect_table(ratios),
        ratios=_ratio_table(ratios),
        cases=_case_table(loaded),
    )


def change_text(change: str) -> str:
    """A change as words: "bus halved"."""
    if change == OTHER_WAIT:
        return "the other wait model"
    how, name = parts_of(change)
    return f"{TITLES[name]} {'halved' if how == 'half' else 'doubled'}"


def _checked(ratios: Sequence[Ratio], changes: Sequence[str]) -> str:
    orders = [ratio for ratio in ratios if ratio.has_order]
    turned = sum(bool(ratio.turned_by) for ratio in orders)
    tried = f"{len(changes)} change{'s' * (len(changes) != 1)} of one estimate at a time"
    if not orders:
        return f"No two configurations have an order that could be tried with {tried}."
    if not turned:
        return f"**All {len(orders)} orders hold for all tried**: {tried}."
    return (
        f"**{len(orders) - turned} of {len(orders)} orders hold for all tried, {turned} "
        f"hang{'s' * (turned == 1)} on an estimate**: {tried}."
    )


def _sentences(ratios: Sequence[Ratio]) -> tuple[Sentence, ...]:
    """One sentence for each place, those with an order that turns first."""
    places: dict[tuple[str, str, bool], list[Ratio]] = {}
    for ratio in ratios:
        if ratio.has_order:
            places.setdefault((ratio.metric, ratio.where, ratio.of_states), []).append(ratio)
    ranked = sorted(places.items(), key=lambda item: not any(r.turned_by for r in item[1]))
    sentences = []
    for (metric, where, _), group in ranked[:_SENTENCES]:
        head = ", ".join(text for text in (metric, where) if text)
        sentences.append(Sentence(f"**{head[:1].upper()}{head[1:]}**: {_sentence(group)}."))
    if len(ranked) > _SENTENCES:
        sentences.append(
            Sentence(f"{len(ranked) - _SENTENCES} more are in the table of all ratios.")
        )
    return tuple(sentences)


def _sentence(group: Sequence[Ratio]) -> str:
    """Chains of neighbours that hold, and each pair that does not."""
    chains: list[list[str]] = []
    for ratio in group:
        if ratio.turned_by:
            continue
        if chains and chains[-1][-1] == ratio.faster:
            chains[-1].append(ratio.slower)
        else:
            chains.append([ratio.faster, ratio.slower])
    parts = []
    if chains:
        parts.append(
            ", ".join(" < ".join(chain) for chain in chains)
            + (" holds for all tried" if len(chains) == 1 else " hold for all tried")
        )
    for ratio in group:
        if ratio.turned_by:
            parts.append(f"{ratio.faster} < {ratio.slower} does not hold with {_turns(ratio)}")
    return "; ".join(parts)


def _turns(ratio: Ratio) -> str:
    stated = ratio.mean() or 1.0
    return ", ".join(
        f"the {change_text(change).removeprefix('the ')} "
        f"({times(stated)} → {times(ratio.mean(change) or 1.0)})"
        for change in ratio.turned_by
    )


def _notes(loaded: Loaded, ratios: Sequence[Ratio]) -> list[str]:
    notes = [
        f"{name}: {outcome}{': ' if reason else ''}{reason}"
        for name, outcome, reason in loaded.failed
    ]
    if loaded.missing:
        notes.append(f"{loaded.missing} cases with a changed estimate have not run yet.")
    if notes:
        notes.append("The verdicts are without them.")
    undecided = sum(not ratio.has_order for ratio in ratios)
    if undecided:
        notes.append(
            f"{undecided} of {len(ratios)} ratios have no order to try: as stated they are below "
            f"{times(EQUAL)}, or seeds disagree."
        )
    return notes


def _panels(ratios: Sequence[Ratio]) -> tuple[Panel, ...]:
    """Those that turn first, then those that move most."""
    ranked = sorted(ratios, key=lambda ratio: (not _turning(ratio), -ratio.reach))
    panels = []
    for number, ratio in enumerate(ranked[:_PANELS]):
        drawing = tornado(ratio, f"tornado-{number}")
        if drawing:
            head = ", ".join(text for text in (ratio.metric, ratio.where) if text)
            meaning = f"{ratio.name}: {times(ratio.mean() or 1.0)} as stated"
            panels.append(Panel(head, meaning, drawing))
    return tuple(panels)


def _turning(ratio: Ratio) -> bool:
    return ratio.has_order and bool(ratio.turned_by)


def _effect_table(ratios: Sequence[Ratio]) -> Table:
    rows = []
    for effect in effects(ratios):
        most = effect.most
        where = ""
        if most is not None and effect.reach >= _SLIGHT:
            where = ", ".join(text for text in (most.metric, most.where, most.name) if text)
        moved = f"up to {times(effect.reach)}"
        rows.append((TITLES[effect.estimate], where or "–", moved, str(effect.turned)))
    head = ("estimate", "moves most", "factor on a ratio", "orders turned")
    return Table("Each estimate", head, ("",) * 4, tuple(rows), text_columns=2, wrapped=(1,))


def _ratio_table(ratios: Sequence[Ratio]) -> Table:
    rows = []
    for ratio in ratios:
        moved = [value for change in ratio.values if (value := ratio.mean(change)) is not None]
        hangs = ", ".join(change_text(change) for change in ratio.turned_by)
        holding = hangs and f"turns with {hangs}"
        if not ratio.has_order:
            holding = "no order"
        numbers = (times(ratio.mean() or 1.0), times(min(moved)), times(max(moved)))
        own = (ratio.metric, ratio.where, ratio.name)
        rows.append((*own, holding or "holds for all tried", *numbers))
    head = ("time", "where", "ratio", "verdict", "as stated", "least", "most")
    return Table("", head, ("",) * 7, tuple(rows), text_columns=4, wrapped=(2, 3))


def _case_table(loaded: Loaded) -> Table:
    names = list(dict.fromkeys(name for _, _, times in loaded.cases for name in times))
    rows = tuple(
        (case, outcome, *(duration(times[name]) if name in times else "–" for name in names))
        for case, outcome, times in loaded.cases
    )
    head = ("case", "outcome", *names)
    return Table("", head, ("",) * len(head), rows, text_columns=2, outcomes=True)
