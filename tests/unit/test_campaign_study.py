"""A study that a verb runs and goes on with, without a lab: what is refused, kept and told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from host_support import STUDY, FakeSite, FakeTarget, SilentProgress

from ffslab.campaign import run as campaign_run
from ffslab.campaign.prepared import Prepared
from ffslab.campaign.study import Choice, pool_options, run_study
from ffslab.errors import InfrastructureError, UsageError
from ffslab.lab.progress import SilentProgress as SilentBuild
from ffslab.targets.target import GuestJob


class Told:
    """A watch that remembers how many cases there were to show."""

    command = "ffslab forecast it"
    build = SilentBuild()

    def __init__(self) -> None:
        self.counts: list[int] = []

    def now(self) -> datetime:
        return datetime(2030, 1, 2, tzinfo=UTC)

    @contextmanager
    def cases(self, count: int) -> Iterator[SilentProgress]:
        self.counts.append(count)
        yield SilentProgress()


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def use(monkeypatch: pytest.MonkeyPatch, target: FakeTarget) -> None:
    """Guests run on `target`, and no lab is built."""

    class Module:
        @staticmethod
        def site_for(*_: object) -> FakeSite:
            return FakeSite(target)

    monkeypatch.setattr(campaign_run, "site_module", lambda _: Module)


def test_a_verb_gets_its_run(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, watch = FakeTarget(), Told()
    use(monkeypatch, target)
    run = run_study(Choice(str(study), (("seed", (5, 6)),)), tmp_path / "out", watch, jobs=1)
    manifest = run.manifest()
    assert run.path.parent == tmp_path / "out" and manifest["complete"]
    assert [case["id"] for case in manifest["cases"]] == target.ran
    assert watch.counts == [len(target.ran)] and {name[-2:] for name in target.ran} == {"s5", "s6"}
    assert (manifest["command"], manifest["started"]) == (watch.command, "2030-01-02T00:00:00Z")


def test_what_a_verb_cannot_use_is_not_run(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(prepared: Prepared) -> None:
        raise UsageError(f"no wear in {prepared.study.name}")

    target, watch = FakeTarget(), Told()
    use(monkeypatch, target)
    with pytest.raises(UsageError, match="no wear"):
        run_study(Choice(str(study)), tmp_path / "out", watch, check=check)
    assert not target.ran and not watch.counts and not (tmp_path / "out").exists()


def test_an_interrupted_run_is_not_gone_on_with(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = FakeTarget()

    def interrupt(_job: GuestJob) -> None:
        target.killed.set()

    target.before = interrupt
    use(monkeypatch, target)
    with pytest.raises(InfrastructureError, match="was interrupted") as error:
        run_study(Choice(str(study)), tmp_path / "out", Told(), jobs=1)
    assert "--resume" in str(error.value.remedy)


def test_what_was_not_said_is_the_targets() -> None:
    assert pool_options("uml", None).jobs >= 1
    assert pool_options("uml", 3, keep_flash=True).keep_flash
    guest, board = (pool_options(name, 1).timeout_s for name in ("uml", "ssh"))
    assert board > guest and pool_options("ssh", 1, 7.5).timeout_s == 7.5
    with pytest.raises(UsageError, match="keeps no flash"):
        pool_options("ssh", 1, keep_flash=True)
