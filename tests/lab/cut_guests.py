"""Cases of power cuts in the lab: run as a study, or guest by guest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from ffslab.campaign.done import CaseDone
from ffslab.campaign.run import RunRequest, prepare_resumed
from ffslab.campaign.study import Choice, carry_out, pool_options, run_study
from ffslab.lab.lab_build import LabBuild
from ffslab.lab.outoftree import identified
from ffslab.lab.progress import SilentProgress
from ffslab.loader import load_catalog, parse_toml
from ffslab.model.case import Case
from ffslab.model.study import expand, study_from_document
from ffslab.oracle.history import History
from ffslab.results.rundir import RunDirectory
from ffslab.targets.registry import DEFAULT_TARGET
from ffslab.targets.several import Guests
from ffslab.targets.target import Opening, SiteOptions
from ffslab.targets.uml.site import LocalSite
from ffslab.workloads.cuts.explore.explorer import Explorer
from ffslab.workloads.cuts.explore.guest import run_guest
from ffslab.workloads.cuts.explored import Explored
from ffslab.workloads.cuts.oracle import oracle_for
from ffslab.workloads.cuts.plan import cuts_on_chip, cutter_of, guest_case, history_of
from ffslab.workloads.cuts.stored import CutsResult, configuration_of, cuts_result
from ffslab.workloads.cuts.texts import GuestTexts
from ffslab.workloads.results import results_of


class Quiet:
    """Watches a run, and shows nothing of it."""

    command = "ffslab run study.toml"
    build = SilentProgress()

    def now(self) -> datetime:
        return datetime.now(UTC)

    @contextmanager
    def cases(self, count: int) -> Iterator[Quiet]:
        del count
        yield self

    def case_done(self, done: CaseDone) -> None:
        del done

    def stopping(self, running: int) -> None:
        del running

    def note(self, text: str) -> None:
        del text

    def part_done(self, case: Case, done: int, total: int) -> None:
        del case, done, total


def run_of(
    text: str, directory: Path, jobs: int = 2, catalogs: tuple[Path, ...] = ()
) -> RunDirectory:
    """Runs a study, given as a text or by the name of a shipped one."""
    directory.mkdir(exist_ok=True)
    name = text
    if "\n" in text:
        name = str(directory / "study.toml")
        Path(name).write_text(text)
    choice = Choice(name, catalogs=catalogs)
    return run_study(choice, directory / "results", Quiet(), jobs=jobs)


def resumed(run: RunDirectory, jobs: int = 2) -> None:
    """Goes on with a run."""
    prepared = prepare_resumed(run, None)
    options = pool_options(DEFAULT_TARGET, jobs)
    request = RunRequest(prepared, options, Quiet.command, run.path.parent, resume=run)
    carry_out(request, SiteOptions(), Quiet())


def cuts_by_case(run: RunDirectory) -> Mapping[str, CutsResult]:
    """What became of the cuts of each case, by file system and history; no two are alike."""
    found = {}
    for result in results_of(run):
        cuts = cuts_result(result)
        assert cuts is not None, (result["id"], result["reason"])
        spec = result["spec"]
        key = f"{spec['filesystem']['name']} {spec['workload']['history']}"
        assert key not in found
        found[key] = cuts
    return found


def cases_of_text(text: str, catalogs: tuple[Path, ...] = ()) -> tuple[Case, ...]:
    """The cases of a study's text."""
    catalog = load_catalog(catalogs)
    cases = expand(study_from_document(parse_toml(text, "test"), catalog, "test"), catalog)
    return identified(cases)


@contextmanager
def opened(
    lab: LabBuild, case: Case, directory: Path, limit_s: float = 60, *, keep: bool = False
) -> Iterator[Guests]:
    """Guests of a case, one at a time."""
    opening = Opening([guest_case(case)], 1, directory)
    with LocalSite(lab).open(opening) as site:
        yield Guests(site.target.kind.rig, site.target.run, 1, limit_s, keep=keep)


def explored(
    lab: LabBuild, case: Case, directory: Path, history: History | None = None
) -> Explored:
    """All cuts of a case, in its own history or another."""
    own = history or history_of(case)
    with opened(lab, case, directory, 120) as guests:
        cutter = cutter_of(case, guests.rig, own)

        def guest(name: str, states: str) -> GuestTexts | None:
            ended = run_guest(guests, cutter, states, directory / name)
            return ended[0] if ended else None

        first = guest("log", "")
        assert first is not None and first.passed
        explorer = Explorer(
            *(configuration_of(case), cuts_on_chip(case), case.seed, guest), oracle_for(case, own)
        )
        return explorer.explore(first)
