"""`ffslab show`: a run as a table, or one case in detail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ffslab.cli.parse import RESULTS, AsJson, EachCase, Output, Run, print_json
from ffslab.errors import UsageError
from ffslab.program import command, program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ffslab.model.bounds import Limit
    from ffslab.results.result import CaseResult
    from ffslab.results.rundir import RunDirectory


def register(app: typer.Typer) -> None:
    """Adds the verb `show`."""

    @app.command("show")
    def show(
        run: Run,
        case: Annotated[str | None, typer.Argument(metavar="CASE", help="A case of it.")] = None,
        each_case: EachCase = False,
        output: Output = RESULTS,
        as_json: AsJson = False,
    ) -> None:
        """Show a run, or one of its cases and how to repeat it.

        With --json a run prints what it is and the outcome of each case. A case prints its result
        as in docs/result-format.md, where its files are, and the command. Both have the limits of
        the study that a case missed.
        """
        from ffslab.results.rundir import find_run

        directory = find_run(run, output)
        if as_json:
            print_json(_run_values(directory) if case is None else _case_values(directory, case))
            return
        from ffslab.cli.screen import terminal

        if case is None:
            _show_run(terminal(), directory, each_case)
        else:
            _show_case(terminal(), directory, case)


def _run_values(run: RunDirectory) -> dict[str, Any]:
    from dataclasses import asdict

    from ffslab.results.summary import summary_of
    from ffslab.workloads.limits import limits_of
    from ffslab.workloads.results import results_of

    walls, limits = run.walls(), limits_of(run.manifest())
    cases = [
        {
            "id": result["id"],
            "axes": result["axes"],
            "outcome": result["outcome"],
            "reason": result["reason"],
            "wall_ns": walls[result["id"]]["wall_ns"] if result["id"] in walls else None,
            **_missed_values(result, limits),
        }
        for result in results_of(run)
    ]
    return {**asdict(summary_of(run)), "path": str(run.path), "cases": cases}


def _case_values(run: RunDirectory, case_id: str) -> dict[str, Any]:
    from ffslab.workloads.limits import limits_of

    result = _find(run, case_id)
    return {
        "result": result,
        **_missed_values(result, limits_of(run.manifest())),
        "files": str(run.case_dir(case_id)),
        "reproduce": _reproduce(run, case_id),
    }


def _missed_values(result: CaseResult, limits: Sequence[Limit]) -> dict[str, Any]:
    """What a case missed; nothing of a study without limits."""
    from ffslab.workloads.limits import missed_of

    return {"missed": [miss.plain for miss in missed_of(result, limits)]} if limits else {}


def _reproduce(run: RunDirectory, case_id: str) -> str:
    from ffslab.results.reproduce import other_target, reproduce_command

    manifest = run.manifest()
    return reproduce_command(
        study_argument(manifest),
        [(key, values) for key, values in manifest.get("overrides", [])],
        case_id,
        catalogs=manifest.get("catalogs", ()),
        trace=bool(manifest.get("trace")),
        target=other_target(manifest),
        access=str(manifest.get("place") or ""),
        program=program(),
    )


def _show_run(console: Console, run: RunDirectory, each_case: bool) -> None:
    from ffslab.cli.ending import print_brief
    from ffslab.cli.tables import limit_counts, outcome_counts
    from ffslab.report.first.brief import brief_of

    manifest = run.manifest()
    brief = brief_of(run)
    opening = [str(manifest.get("title", "")), f"{run.path}: {manifest.get('command', '')}"]
    closing = [f"label: {manifest['label']}"] if manifest.get("label") else []
    if manifest.get("cpu_time"):
        closing.append(f"target {manifest['target']}: CPU time is {manifest['cpu_time']}")
    total = manifest.get("cases_total", "?")
    closing.append(
        f"{len(brief.heads)} of {total} cases: {outcome_counts(brief.heads, brief.accepted.cases)}"
        f"{limit_counts(brief.missed, brief.unused)}"
    )
    if not manifest.get("complete"):
        closing.append(f"incomplete; next: {command('run', run.path, '--resume')}")
    print_brief(console, run, brief, (opening, closing), every=each_case)


def _show_case(console: Console, run: RunDirectory, case_id: str) -> None:
    from ffslab.cli.tables import print_latencies, print_phases
    from ffslab.model.kernels import kernel_words
    from ffslab.workloads.limits import limits_of, missed_of
    from ffslab.workloads.modules import terminal_module
    from ffslab.workloads.registry import kind_of

    manifest = run.manifest()
    result = _find(run, case_id)
    console.print(f"{case_id}: {result['outcome']}")
    if result["reason"]:
        console.print(f"  {result['reason']}")
    for miss in missed_of(result, limits_of(manifest)):
        console.print(f"  missed: {miss.text}", soft_wrap=True)
    for line in result["excerpt"]:
        console.print(f"  | {line}", soft_wrap=True)
    part = terminal_module(kind_of(result["spec"]))
    part.print_case(console, result)
    if result["phases"] and part.shows_phases(result):
        console.print()
        print_phases(console, result)
    if result["latencies"]:
        console.print()
        print_latencies(console, result)
    console.print()
    for line in collector_lines(result):
        console.print(line, soft_wrap=True)
    console.print(f"time: {_time_model(result['spec'])}", soft_wrap=True)
    _print_own_figures(console, manifest, result["spec"])
    console.print(f"spec: {result['spec_hash']}")
    console.print(f"kernel: {kernel_words(result['spec'])}", soft_wrap=True)
    _print_module_source(console, manifest, result)
    console.print(f"files: {run.case_dir(case_id)}", soft_wrap=True)
    console.print(f"reproduce: {_reproduce(run, case_id)}", soft_wrap=True)


def collector_lines(result: CaseResult) -> list[str]:
    """What YAFFS2 said of its garbage collector, if the case's options had it do so."""
    from ffslab.model.units import format_duration_ns

    collector = result.get("collector", {})
    lines = []
    if "forecast" in collector:
        forecast = collector["forecast"]
        taken = format_duration_ns(forecast["taken_ns"])
        mean, p99 = forecast["error_mean_percent"], forecast["error_p99_percent"]
        lines.append(
            f"collector: {forecast['runs']:,} runs forecast, {taken} together, mean error "
            f"{mean:.2f} %, 99 of 100 within {p99:.1f} %"
        )
    if "bound" in collector:
        bound = collector["bound"]
        lines.append(
            f"bound of {format_duration_ns(1000 * bound['bound_us'])}: missed by "
            f"{bound['missed']:,} of {bound['calls']:,} calls, which waited at most "
            f"{format_duration_ns(bound['longest_ns'])} for the collector"
        )
    return lines


def _time_model(spec: dict[str, Any]) -> str:
    """What the processor and its flash driver cost in this case, after cpu_scale."""
    from ffslab.model.specs import CPU_FIGURES, DRIVER_FIGURES

    board = spec["board"]
    # Results of versions before these figures have some of them only.
    prices = [
        f"{spec[key] / (1000 if key.endswith('_ps') else 1):g}" if key in spec else "–"
        for key in CPU_FIGURES
    ]
    driver = [f"{spec[key] / 1000:g}" if key in spec else "–" for key in DRIVER_FIGURES]
    return (
        f"{board['name']}, {'/'.join(prices)} ns per "
        "instruction/byte copied/byte set/copy/set/system call, "
        f"driver {'/'.join(driver)} µs per page read/page programmed/erase, "
        f"{board['wait']}, {board['ram_bytes'] / 2**20:g} MiB"
    )


def _print_own_figures(console: Console, manifest: dict[str, Any], spec: dict[str, Any]) -> None:
    """The figures that no source stands behind: estimated by the user, set, derived."""
    board = spec["board"]
    for entry in manifest.get("provenance", ()):
        group, _, name = entry["figure"].partition(".")
        value = (board["chip"] if group == "chip" else board).get(name)
        own = entry.get("origin", "catalog") != "catalog" and entry["board"] == board["name"]
        if own and entry["value"] == value:
            line = f"figure: {entry['figure']} = {value}: {entry['source']}"
            console.print(line, soft_wrap=True)


def _print_module_source(console: Console, manifest: dict[str, Any], result: CaseResult) -> None:
    """Out-of-tree modules by the hash of their sources, which the spec has, and their place."""
    filesystem = result["spec"]["filesystem"]
    source = filesystem.get("module_source")
    if source is None:
        return
    where = manifest.get("module_sources", {}).get(filesystem["name"], {}).get("directory", "?")
    console.print(
        f"modules: {', '.join(filesystem['modules'])} from {where}, sources {source['sha256']}",
        soft_wrap=True,
    )


def _find(run: RunDirectory, case_id: str) -> CaseResult:
    from ffslab.model.names import suggestion
    from ffslab.workloads.results import results_of

    known = []
    for result in results_of(run):
        if result["id"] == case_id:
            return result
        known.append(result["id"])
    raise UsageError(
        f"no case {case_id!r} in {run.path}{suggestion(case_id, known)}",
        cause="it is not part of the study, or has not run",
        remedy=command("show", run.path),
    )


def study_argument(manifest: dict[str, Any]) -> str:
    """A shipped study by its name, another one by its file."""
    from ffslab.loader import study_names

    name, path = str(manifest.get("study", "")), str(manifest.get("study_file", ""))
    shipped = study_names().get(name)
    return name if shipped is not None and str(shipped) == path else path
