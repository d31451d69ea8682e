"""The search for a commit, on histories of small files: git's own bisection, and trials made up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from ffslab.campaign.bisect import Found, Rule, Trial, loss_of, search
from ffslab.errors import UsageError
from ffslab.lab.commits import History, Word, commit_of, open_history
from ffslab.lab.progress import SilentProgress
from ffslab.lab.source import commit_tree, ensure_source, named_source
from ffslab.results.schema import DURATION, Figure, Metric
from git_support import git

RATE = Metric(name="read_bytes_per_s", title="Rate", meaning="how fast", better="higher")
LENGTH = 40
PLANTED = 23
MAKEFILE = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 9\n"


@dataclass
class Project:
    """A repository whose commits are numbered; those of an odd number change `odd`."""

    top: Path
    commits: list[str] = field(default_factory=list)

    def commit(self, number: int) -> None:
        (self.top / ("odd" if number % 2 else "even")).write_text(f"{number}\n")
        git(self.top, "add", "-A")
        git(self.top, "commit", "-qm", f"number {number}")
        self.commits.append(git(self.top, "rev-parse", "HEAD"))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    top = tmp_path_factory.mktemp("linux")
    git(top, "init", "-q")
    for name, text in (("Kbuild", ""), ("arch/um/Kbuild", ""), ("Makefile", MAKEFILE)):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    made = Project(top)
    for number in range(LENGTH + 1):
        made.commit(number)
    return made


@pytest.fixture
def history(project: Project, tmp_path: Path) -> History:
    return open_history(project.top, tmp_path / "clone")


def figure(value: float, metric: Metric = DURATION) -> Figure:
    return Figure(metric, "creation", value)


def found(
    project: Project,
    history: History,
    rule: Rule,
    trial_of: Callable[[int], Trial],
    paths: Sequence[str] = (),
    ends: tuple[int, int] = (0, LENGTH),
) -> tuple[Found, list[tuple[int, Word]]]:
    told: list[tuple[int, Word]] = []

    def try_commit(commit: str) -> Trial:
        number = project.commits.index(commit)
        made = trial_of(number)
        return Trial(commit, made.figure, made.run, made.why)

    def tell(trial: Trial, word: Word) -> None:
        told.append((project.commits.index(trial.commit), word))

    commits = project.commits[ends[0]], project.commits[ends[1]]
    return search(history, commits, paths, rule, try_commit, tell), told


def slower(number: int) -> Trial:
    """5 % slower from the planted commit on."""
    return Trial("", figure(105.0 if number >= PLANTED else 100.0), Path("run"))


TIME = Rule("creation.time", 0.02)


def test_the_commit_that_made_it_slower_is_found(project: Project, history: History) -> None:
    whole, told = found(project, history, TIME, slower)
    assert whole.commits == (project.commits[PLANTED],)
    assert whole.before == project.commits[PLANTED - 1]
    # The two ends, and as many as halving 40 takes: between 5 and 6.
    assert 2 + 5 <= len(told) == len(whole.trials) <= 2 + 6
    assert all(word is (Word.BAD if number >= PLANTED else Word.GOOD) for number, word in told)
    assert history.subject(whole.commits[0]) == f"number {PLANTED}"
    assert history.authored(whole.commits[0]).startswith("A, 20")


@pytest.mark.parametrize("planted", (1, 2, 9, 31, LENGTH))
def test_wherever_it_is(project: Project, history: History, planted: int) -> None:
    whole, _ = found(
        *(project, history, TIME),
        lambda number: Trial("", figure(200.0 if number >= planted else 100.0), Path("run")),
    )
    assert whole.commits == (project.commits[planted],)


def test_what_does_not_build_is_gone_around(project: Project, history: History) -> None:
    unbuilt = {20, 24, 25}
    whole, told = found(
        *(project, history, TIME),
        lambda number: Trial("", why="no") if number in unbuilt else slower(number),
    )
    assert whole.commits == (project.commits[PLANTED],)
    assert (20, Word.SKIP) in told


def test_commits_that_cannot_be_told_apart_are_all_named(
    project: Project, history: History
) -> None:
    unbuilt = {PLANTED - 1, PLANTED}
    whole, _ = found(
        *(project, history, TIME),
        lambda number: Trial("", why="no") if number in unbuilt else slower(number),
    )
    assert whole.commits == tuple(project.commits[PLANTED - 1 : PLANTED + 2])
    assert whole.before == project.commits[PLANTED - 2]


def test_only_commits_that_change_a_file(project: Project, history: History) -> None:
    odd = [number for number in range(1, LENGTH) if number % 2]
    assert history.between(*(project.commits[n] for n in (0, LENGTH)), ["odd"]) == len(odd)
    whole, told = found(project, history, TIME, slower, ["odd"])
    assert whole.commits == (project.commits[PLANTED],)
    assert {number for number, _ in told} <= {0, *odd, LENGTH}


def test_without_a_metric_what_does_not_pass_is_bad(project: Project, history: History) -> None:
    whole, _ = found(
        *(project, history, Rule("", 0.02)),
        lambda number: Trial("", None, Path("run"), "stuck" if number >= PLANTED else ""),
    )
    assert whole.commits == (project.commits[PLANTED],)
    assert whole.trials[whole.commits[0]].why == "stuck"


@pytest.mark.parametrize(
    ("trial_of", "told"),
    [
        (lambda _: Trial("", figure(100.0), Path("run")), "bad commit has no creation.time"),
        (lambda n: Trial("", figure(200.0 - n), Path("run")), "bad commit has no creation.time"),
        (lambda _: Trial("", why="it does not build"), "good commit has no result: it does not"),
        (
            lambda n: slower(n) if n < LENGTH else Trial("", None, Path("run"), "fail"),
            "bad commit has no result: fail",
        ),
    ],
)
def test_ends_that_do_not_differ_so_are_refused(
    project: Project, history: History, trial_of: Callable[[int], Trial], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        found(project, history, TIME, trial_of)


def test_ends_in_each_others_place_are_refused(project: Project, history: History) -> None:
    with pytest.raises(UsageError, match="good commit does not pass: stuck"):
        found(
            *(project, history, Rule("", 0)),
            lambda number: Trial("", None, Path("run"), "" if number < PLANTED else "stuck"),
            ends=(LENGTH, 0),
        )
    with pytest.raises(UsageError, match="git finds no commit to try"):
        found(project, history, TIME, lambda n: slower(LENGTH - n), ends=(LENGTH, 0))


def test_a_loss_is_a_part_of_the_good_figure() -> None:
    assert loss_of(figure(100), figure(105)) == pytest.approx(0.05)
    assert loss_of(figure(100), figure(95)) == pytest.approx(-0.05)
    assert loss_of(figure(100, RATE), figure(90, RATE)) == pytest.approx(0.1)
    assert loss_of(figure(0), figure(3)) == 3  # nothing to be a part of
    assert loss_of(figure(0), figure(0)) == 0


def test_the_repository_stays_as_it_is(project: Project, history: History) -> None:
    before = git(project.top, "status", "--porcelain"), git(project.top, "for-each-ref")
    found(project, history, TIME, slower)
    after = git(project.top, "status", "--porcelain"), git(project.top, "for-each-ref")
    assert after == before and not (project.top / ".git" / "BISECT_LOG").exists()


def test_what_is_no_commit_and_no_repository_is_refused(project: Project, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no commit 'v9'"):
        commit_of(project.top, "v9")
    assert commit_of(project.top, "HEAD~1") == project.commits[-2]
    with pytest.raises(UsageError, match="is no git repository"):
        open_history(tmp_path, tmp_path / "clone")


def test_the_tree_of_a_commit_is_named_after_it(
    project: Project, history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    first, second = project.commits[5:7]
    source = commit_tree(first, partial(history.unpack, first), SilentProgress())
    assert (source.id, source.version) == (f"git-{first}", "6.12")
    assert (source.tree / "odd").read_text() == "5\n"
    # A tree of the cache is taken as it is; a copy of it would have another name.
    assert named_source(source.tree) == source
    old = (source.tree / "odd").stat().st_ino
    newer = commit_tree(second, partial(history.unpack, second), SilentProgress(), source)
    assert (newer.tree / "even").read_text() == "6\n"
    assert not source.tree.exists()
    assert (newer.tree / "odd").stat().st_ino == old  # as it was, and not written again
    assert ensure_source(SilentProgress(), newer.tree) == newer
