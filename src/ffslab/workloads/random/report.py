"""What a report says of random only: which histories end wrongly, where, and with what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ffslab.program import command
from ffslab.report import svg
from ffslab.report.elements import Table
from ffslab.report.lines import names_of
from ffslab.report.quantity import grouped
from ffslab.report.sections.section import Chart, Section
from ffslab.report.vega import as_is, field, mark
from ffslab.workloads.random.result import findings, harm_of
from ffslab.workloads.random.stored import Stored, stored_of

if TYPE_CHECKING:
    from ffslab.report.data import Case, Run
    from ffslab.results.result import CaseResult

TITLE = "Random operations"
METHOD = (
    "A history of random operations, drawn with the seed, runs on a new file system and on a model "
    "of it in memory. Each call must answer as the model says. After each round the whole tree is "
    "compared: names, kinds, owners, modes, links, sizes, contents, extended attributes; then it "
    "is mounted again, or caches are dropped, and it is compared once more. What a file system "
    "cannot do at all, such as links or attributes, is found out first and not asked for. No power "
    "fails, and no block goes bad unless the board’s chip says so. A seed is the same history for "
    "all file systems with the same facts."
)
_GOOD = 0.16  # how strong the colour of a history is that is right
_MOST_LETTERS = 300


@dataclass(frozen=True, slots=True)
class History:
    """How far a history came; `harm`: what the file system does, "" if it is right.

    `told`: the first names with what differs, or why the case ended; `finding`: its id.
    """

    stored: Stored
    harm: str
    told: str
    finding: str


@dataclass(frozen=True)
class _Shown:
    case: Case
    label: str
    place: str

    @property
    def name(self) -> str:
        return f"{self.label}, {self.place}" if self.place else self.label

    @property
    def own(self) -> History:
        own: History = self.case.own
        return own


def figures_of(row: CaseResult) -> History | None:
    """What a case came to; None for one whose guest did not get so far."""
    stored = stored_of(row)
    if stored is None:
        return None
    fault = next(iter(findings(row).values()), None)
    return History(
        stored,
        harm_of(row["outcome"], stored["difference"]),
        str(fault["detail"]) if fault else "",
        str(fault["id"]) if fault else "",
    )


def sections(run: Run, prefix: str) -> Iterator[Section]:
    """Whether each history is right; of those that are not where, and with what."""
    names = names_of(run)
    shown = [_Shown(case, *names[case.id]) for case in run.cases if case.own is not None]
    if not shown:
        return
    wrong = [each for each in shown if each.own.harm]
    yield Section(
        key=f"{prefix}kept",
        title="Does it keep what it was told?",
        sentence=sentence_of({each.case.id: (each.label, each.own.harm) for each in shown}),
        charts=(Chart("Rounds that are right, by seed", _picture(shown, f"{prefix}kept-cells")),),
        tables=(_table(wrong, str(run.path)),) if wrong else (),
    )


def sentence_of(ends: Mapping[str, tuple[str, str]]) -> str:
    """Which file systems keep what they were told, and what the others do; by case, label and
    harm.
    """
    count: dict[str, int] = {}
    harms: dict[str, dict[str, int]] = {}
    for label, harm in ends.values():
        count[label] = count.get(label, 0) + 1
        of_label = harms.setdefault(label, {})
        if harm:
            of_label[harm] = of_label.get(harm, 0) + 1
    right = [label for label, of_label in harms.items() if not of_label]
    parts = [f"**{', '.join(right)}** in all histories"] if right else []
    for label, of_label in harms.items():
        if of_label:
            worst = max(of_label, key=lambda harm: of_label[harm])
            parts.append(f"**{label}** {worst} in {of_label[worst]} of {count[label]}")
    return f"{'; '.join(parts)}."


def _picture(shown: Sequence[_Shown], identifier: str) -> str:
    rows = [_cell(each) for each in shown]
    above = {"orient": "top", "labelAngle": 0, "grid": False}
    beside = {"labelLimit": 320, "grid": False}
    names = list(dict.fromkeys(each.name for each in shown))
    axes = {
        "x": field("seed:O", title="seed", axis=above),
        "y": field("name:N", sort=names, title=None, axis=beside),
    }
    told = [field(f"{column}:N") for column in ("name", "seed", "it", "rounds")]
    cell = {**axes, "fill": as_is("paint"), "opacity": as_is("strength:Q"), "tooltip": told}
    written = {**axes, "text": field("text:N")}
    layers = [mark("rect", cell), mark("text", written, fontSize=11)]
    spec = {"width": {"step": 64}, "height": {"step": 22}, "layer": layers}
    return svg.draw(spec, "Rounds that are right by seed", identifier, {"rows": rows})


def _cell(each: _Shown) -> dict[str, Any]:
    own = each.own
    done = own.stored["rounds_done"]
    return {
        "name": each.name,
        "seed": int(each.case.seed or 0),
        "it": own.harm or "keeps what it was told",
        "rounds": f"{done} of {own.stored['rounds']}",
        "text": f"✕ {done}" if own.harm else f"✓ {done}",
        "paint": svg.PAINT["bad" if own.harm else "muted"],
        "strength": 1 if own.harm else _GOOD,
    }


def _table(wrong: Sequence[_Shown], run: str) -> Table:
    rows = tuple(
        (
            each.name,
            each.case.seed,
            each.own.harm,
            grouped(each.own.stored["round"] or 1),
            grouped(each.own.stored["operation"]) if each.own.stored["difference"] else "–",
            each.own.told[:_MOST_LETTERS],
            command("crash", "minimize", each.own.finding, "--run", run),
        )
        for each in wrong
    )
    head = ("", "seed", "it", "round", "operation", "what differs", "the shortest list of calls")
    return Table(
        "Histories that end wrongly",
        head,
        (),
        rows,
        text_columns=3,
        told=True,
        wrapped=(5, 6),
    )
