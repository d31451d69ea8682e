"""The section of a report that says which verdicts hang on which estimate of the board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ffslab.model.estimates import AS_STATED, OTHER_WAIT, TITLES, parts_of
from ffslab.report.elements import Table
from ffslab.report.estimates.chart import ranges
from ffslab.report.estimates.load import Loaded, load_estimates
from ffslab.report.estimates.robustness import EQUAL, Ratio, effects, ratios_of
from ffslab.report.load import Document, Opened
from ffslab.report.quantity import duration, times
from ffslab.report.sections.section import Chart, Section

_KEY, _TITLE = "estimates", "What do the verdicts hang on?"
_MOST_ROWS = 16
_SLIGHT = 1.005  # a ratio that is moved less than this needs no name
_UNTRIED = "Whether they survive other values of the board’s estimates was not tried in this run."
_DOES = (
    "This runs each case again with bus, ECC time, driver, the prices of code and memory, RAM and "
    "UBI’s reserve halved and doubled, and with the other wait model, one change at a time"
)
_NOTE = (
    "An order says who takes less time, by at least 2 %; it holds if it is the same for every "
    "seed. Ratios are geometric means over seeds."
)


@dataclass(frozen=True)
class EstimateView:
    """What the verdicts hang on: `line` is for the first screen, `section` for below."""

    line: str
    section: Section


def estimate_view(run: Opened, spec: Document) -> EstimateView:
    """Of a run; `spec`: that of any of its cases."""
    loaded = load_estimates(run, spec)
    if not loaded.samples:
        return EstimateView(_UNTRIED, _untried(loaded))
    ratios = ratios_of(loaded.samples)
    changes = dict.fromkeys(sample.change for sample in loaded.samples)
    line = _checked(ratios, len(changes.keys() - {AS_STATED}))
    return EstimateView(line, _section(loaded, ratios, line))


def _untried(loaded: Loaded) -> Section:
    """What would try it, and what the times rest on."""
    told = Markup("<p>{}: <code>{}</code></p>").format(_DOES, loaded.command)
    rows = tuple((fact.name, fact.value) for fact in loaded.estimates)
    table = Table("Estimates of the board and its chip", ("estimate", "value"), (), rows)
    return Section(_KEY, _TITLE, _UNTRIED, markup=told, tables=(table,) if rows else ())


def _section(loaded: Loaded, ratios: Sequence[Ratio], line: str) -> Section:
    orders = [ratio for ratio in ratios if ratio.has_order]
    ranked = sorted(orders, key=lambda ratio: (not ratio.turned_by, -ratio.reach))[:_MOST_ROWS]
    tables = (_effect_table(ratios), _ratio_table(ratios), _case_table(loaded))
    return Section(
        key=_KEY,
        title=_TITLE,
        sentence=line,
        charts=(
            Chart(
                "Ratios under all changes",
                ranges(ranked, "estimates-ranges"),
                "A bar is what the changes make of a ratio, the dot what it is as stated; left of "
                "the line the order turns. First those that turn, then those that move most.",
            ),
        )
        if ranked
        else (),
        tables=tuple(table for table in tables if table.rows),
        note=" ".join((*_notes(loaded, ratios), _NOTE)),
    )


def change_text(change: str) -> str:
    """A change as words: "bus halved"."""
    if change == OTHER_WAIT:
        return "the other wait model"
    how, name = parts_of(change)
    return f"{TITLES[name]} {'halved' if how == 'half' else 'doubled'}"


def _checked(ratios: Sequence[Ratio], changes: int) -> str:
    orders = [ratio for ratio in ratios if ratio.has_order]
    turned = sum(bool(ratio.turned_by) for ratio in orders)
    tried = f"{changes} change{'s' * (changes != 1)} of one estimate at a time"
    if not orders:
        return f"No two configurations have an order that could be tried with {tried}."
    if not turned:
        return f"**All {len(orders)} orders hold for all tried**: {tried}."
    return (
        f"**{len(orders) - turned} of {len(orders)} orders hold for all tried, {turned} "
        f"hang{'s' * (turned == 1)} on an estimate**: {tried}."
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
    return Table("All ratios", head, ("",) * 7, tuple(rows), text_columns=4, wrapped=(2, 3))


def _case_table(loaded: Loaded) -> Table:
    names = list(dict.fromkeys(name for _, _, times in loaded.cases for name in times))
    rows = tuple(
        (case, outcome, *(duration(times[name]) if name in times else "–" for name in names))
        for case, outcome, times in loaded.cases
    )
    head = ("case", "outcome", *names)
    return Table(
        "Cases with a changed estimate",
        head,
        ("",) * len(head),
        rows,
        text_columns=2,
        outcomes=True,
    )
