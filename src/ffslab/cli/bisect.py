"""`ffslab bisect`: the commit of a kernel that made a case worse."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ffslab.cli.parse import (
    RESULTS,
    AsJson,
    Catalogs,
    Output,
    Settings,
    Threshold,
    parse_set,
    print_json,
)
from ffslab.errors import EXIT_FAILED, BuildError, InfrastructureError, UsageError
from ffslab.program import command

if TYPE_CHECKING:
    from ffslab.campaign.bisect import Found, Rule, Trial
    from ffslab.campaign.study import Choice
    from ffslab.cli.progress import TerminalWatch
    from ffslab.compare.cases import ComparedCase
    from ffslab.lab.commits import History, Word
    from ffslab.lab.source import KernelSource
    from ffslab.results.schema import Figure

_LETTERS = 12  # of a commit's name
_MOST_FIGURES = 8


def register(app: typer.Typer) -> None:
    """Adds the verb `bisect`."""

    @app.command("bisect")
    def bisect(
        repository: Annotated[
            Path,
            typer.Argument(metavar="REPOSITORY", help="Linux, in git; it is only read."),
        ],
        good: Annotated[str, typer.Option(metavar="COMMIT", help="One without the change.")],
        bad: Annotated[str, typer.Option(metavar="COMMIT", help="One with it.")],
        study: Annotated[str, typer.Option(metavar="STUDY", help="A study: the one of the case.")],
        case: Annotated[str, typer.Option(metavar="ID", help="Only these cases: one of them.")],
        metric: Annotated[
            str, typer.Option(metavar="NAME", help="What became worse [the case fails].")
        ] = "",
        threshold: Threshold = None,
        paths: Annotated[
            list[str] | None,
            typer.Option("--only", metavar="PATH", help="Only commits that change this."),
        ] = None,
        settings: Settings = None,
        catalogs: Catalogs = None,
        output: Output = RESULTS,
        as_json: AsJson = False,
    ) -> None:
        """Find the commit of a kernel that made a case worse.

        Builds a kernel and runs the case once for each commit that git's bisection tries: time is
        virtual, so that a figure has no noise. A commit that does not build is skipped.

        Exit code: 0 the commit is found; 1 skipped commits leave several; 2 the two ends do not
        differ, or wrong usage.
        """
        import tempfile

        from ffslab.campaign.bisect import Rule, search
        from ffslab.campaign.study import Choice
        from ffslab.cli.progress import TerminalWatch
        from ffslab.cli.report import refresh_index
        from ffslab.cli.screen import screen
        from ffslab.compare.ratios import SAME
        from ffslab.lab.commits import commit_of, open_history

        overrides = tuple(map(parse_set, settings or ()))
        choice = Choice(study, overrides, (case,), tuple(catalogs or ()))
        _check(choice, metric)
        only = paths or []
        rule = Rule(metric, SAME if threshold is None else threshold / 100)
        with tempfile.TemporaryDirectory() as scratch:
            history = open_history(repository, Path(scratch) / "history.git")
            ends = commit_of(repository, good), commit_of(repository, bad)
            trials = _Trials(history, choice, metric, output, TerminalWatch(screen(stderr=True)))
            between = history.between(*ends, only)
            typer.echo(f"{between:,} commits from {good} to {bad}", err=True)
            with trials:
                found = search(history, ends, only, rule, trials.of, _Teller(history, as_json))
            refresh_index(output, output)
            if as_json:
                print_json(_document(found, rule, history))
            else:
                _print(found, rule, history, between)
        if len(found.commits) > 1:
            raise typer.Exit(EXIT_FAILED)


def _check(choice: Choice, metric: str) -> None:
    """UsageError for more than one case, and a metric that it does not have."""
    from ffslab.results.naming import check_named
    from ffslab.targets import DEFAULT_TARGET
    from ffslab.workloads.figures import metrics_of

    prepared = choice.prepare()
    if len(prepared.cases) > 1 or prepared.target != DEFAULT_TARGET:
        raise UsageError(
            f"{len(prepared.cases)} cases are meant",
            cause="a commit is judged by one",
            remedy=f"--case {prepared.cases[0].id}",
        )
    if metric:
        kinds = {case.workload.kind: None for case in prepared.cases}
        check_named(metric, metrics_of(kinds), "--metric")


class _Trials:
    """Tries commits: builds the kernel of each, and runs the case.

    Kernels stay in the cache; of trees there is one at a time, and none in the end.
    """

    def __init__(
        self, history: History, choice: Choice, metric: str, output: Path, watch: TerminalWatch
    ) -> None:
        self._history = history
        self._choice = choice
        self._metric = metric
        self._output = output
        self._watch = watch
        self._source: KernelSource | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_error: object) -> None:
        import shutil

        if self._source is not None:
            shutil.rmtree(self._source.tree.parent, ignore_errors=True)

    def of(self, commit: str) -> Trial:
        """The trial of a commit."""
        from ffslab.campaign.bisect import Trial
        from ffslab.campaign.run import RunRequest
        from ffslab.campaign.study import carry_out, pool_options
        from ffslab.lab.source import commit_tree
        from ffslab.targets.target import SiteOptions

        prepared = self._choice.prepare()
        options = pool_options(prepared.target, 1)
        request = RunRequest(
            *(prepared, options, self._watch.command, self._output), label=commit[:_LETTERS]
        )
        unpack = partial(self._history.unpack, commit)
        self._source = commit_tree(commit, unpack, self._watch.build, self._source)
        try:
            end = carry_out(request, SiteOptions(kernel_source=self._source.tree), self._watch)
        except BuildError as error:
            return Trial(commit, why=_reason(error))
        if end.interrupted:
            raise InfrastructureError("interrupted", remedy="the same command again")
        return self._read(commit, end.run.path)

    def _read(self, commit: str, run: Path) -> Trial:
        from ffslab.campaign.bisect import Trial
        from ffslab.report.comparison.load import load_side
        from ffslab.results.rundir import RunDirectory

        (case,) = load_side(RunDirectory(run)).cases
        if not case.is_good:
            return Trial(commit, None, run, f"{case.outcome} {case.reason}".strip())
        return Trial(commit, self._metric_of(case), run)

    def _metric_of(self, case: ComparedCase) -> Figure | None:
        from ffslab.results.naming import like_figure, matches

        if not self._metric:
            return None
        named = [figure for figure in case.figures.values() if matches(self._metric, figure)]
        if len(named) == 1:
            return named[0]
        keys = ", ".join(figure.key for figure in named[:_MOST_FIGURES])
        raise UsageError(
            f"{case.id} has {len(named) or 'no'} figures {self._metric!r}"
            f"{like_figure(self._metric, case.figures.values()) if not named else ''}",
            cause=f"these: {keys}" if named else "another place has it, or another workload",
            remedy=f"--metric {named[0].key}" if named else command("show", "latest", case.id),
        )


def _reason(error: BuildError) -> str:
    """Why a commit has no kernel: what the compiler or the patch says, in one line."""
    lines = [line.strip() for line in error.message.splitlines()]
    of_compiler = (line for line in lines if ": error: " in line)
    return f"does not build: {next(of_compiler, lines[0])}"


class _Teller:
    """Prints what each commit showed; `aside`: beside what is for another program."""

    def __init__(self, history: History, aside: bool) -> None:
        self._history = history
        self._aside = aside

    def __call__(self, trial: Trial, word: Word) -> None:
        shown = _value(trial.figure) or trial.why.partition("\n")[0]
        subject = self._history.subject(trial.commit)
        told = ", ".join(part for part in (shown, subject) if part)
        typer.echo(f"{word:4} {trial.commit[:_LETTERS]} {told}", err=self._aside)


def _value(figure: Figure | None) -> str:
    from ffslab.compare.words import value_text

    return "" if figure is None else value_text(figure.metric, figure.value)


def _print(found: Found, rule: Rule, history: History, between: int) -> None:
    skipped = sum(trial.run is None for trial in found.trials.values())
    tried = f"{len(found.trials)} tried of {between:,}"
    tried += f", {skipped} skipped" if skipped else ""
    if len(found.commits) > 1:
        typer.echo(f"one of {len(found.commits)} commits is the first bad one ({tried}):")
        for commit in found.commits:
            typer.echo(f"  {commit[:_LETTERS]} {history.subject(commit)}")
    else:
        (commit,) = found.commits
        typer.echo(f"{commit} is the first bad commit ({tried})")
        typer.echo(f"  {history.subject(commit)} ({history.authored(commit)})")
    base, new = found.trials[found.before], found.trials[found.commits[-1]]
    if base.figure is not None and new.figure is not None:
        _print_change(base, new)
    elif new.why:
        typer.echo(f"  {new.why}")
    if base.run is not None and new.run is not None:
        typer.echo("")
        _print_comparison(base.run, new.run, rule)


def _print_change(base: Trial, new: Trial) -> None:
    from ffslab.campaign.bisect import loss_of
    from ffslab.compare.words import percent_text

    assert base.figure is not None and new.figure is not None
    loss = percent_text(100 * loss_of(base.figure, new.figure))
    typer.echo(f"  {new.figure.key}: {_value(base.figure)} → {_value(new.figure)}, {loss} worse")


def _print_comparison(base: Path, new: Path, rule: Rule) -> None:
    """What else differs between the two runs, and why."""
    from ffslab.cli.compare_tables import print_comparison
    from ffslab.cli.screen import terminal
    from ffslab.compare.engine import Rules, compare_runs
    from ffslab.compare.tables import Choice as Shown
    from ffslab.report.comparison.load import load_side
    from ffslab.results.rundir import RunDirectory

    first = load_side(RunDirectory(base))
    second = load_side(RunDirectory(new), first)
    comparison = compare_runs(first, second, Rules(100 * rule.threshold, False))
    print_comparison(terminal(), comparison, Shown(False, False))


def _document(found: Found, rule: Rule, history: History) -> dict[str, Any]:
    good = next(iter(found.trials.values()))
    return {
        "first_bad": found.commits[0] if len(found.commits) == 1 else None,
        "candidates": list(found.commits),
        "before": found.before,
        "metric": rule.metric or None,
        "threshold_percent": 100 * rule.threshold,
        "trials": [
            {
                "commit": trial.commit,
                "subject": history.subject(trial.commit),
                "is": str(rule.word(trial, good)),
                "figure": trial.figure.key if trial.figure else None,
                "value": trial.figure.value if trial.figure else None,
                "run": str(trial.run) if trial.run else None,
                "why": trial.why or None,
            }
            for trial in found.trials.values()
        ],
    }
