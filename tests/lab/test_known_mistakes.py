"""How much do the explorations see? Mistakes that others found and corrected are put back.

The lab kernel of planted mistakes has all of them (tests/planted/mistakes.patch); "planted=NAME" on
the command line has one of them back. Each must be found by a study of ffslab's, and the same study
must not find the same without it. By default the quick ones; with FFSLAB_NIGHTLY=1 all, and `pytest
-s` prints the rows of docs/known-mistakes.md, with seconds of CPU time.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from cut_guests import Quiet
from known_mistakes import MISTAKES, Mistake
from patched_kernel import PLANTED, kernel_with, patched_source
from test_planted_faults import cpu_s

from ffslab.campaign.run import RunRequest
from ffslab.campaign.study import Choice, carry_out, pool_options
from ffslab.lab.lab_build import LabBuild
from ffslab.model.specs import LabKernel
from ffslab.paths import data_dir
from ffslab.targets import DEFAULT_TARGET
from ffslab.targets.target import SiteOptions
from ffslab.workloads.cuts.stored import cuts_result
from ffslab.workloads.results import results_of

NIGHTLY = os.environ.get("FFSLAB_NIGHTLY", "") not in ("", "0")
TRIED = tuple(one for one in MISTAKES if NIGHTLY or one.is_quick)
MOST_S = 600
CHANGED = "-changed"
CALL_FAILS = "call-fails"  # without any cut; what the history is to be like says it does not
STUDY = """
schema = 1
name = "known"
title = "A mistake that mainline had"

[base]
board = "{board}"
partition_bytes = "{partition}"
filesystem = "{filesystem}"
{base}

[base.workload]
{workload}

[axes]
{axes}
"""
Found = Mapping[tuple[str, str, str], int]  # outcome, kind of cut, reason: states


@pytest.fixture(scope="session")
def source(lab: LabBuild) -> Path:
    del lab  # has a source
    return patched_source()


def catalog_of(one: Mistake, directory: Path) -> Path:
    """A catalog with the same file system, described otherwise."""
    name = f"{one.filesystem}.toml"
    described = (data_dir("catalog") / "filesystems" / name).read_text(encoding="utf-8")
    was, now = one.described
    assert described.count(was) == 1
    own = f'name = "{one.filesystem}{CHANGED}"'
    described = described.replace(f'name = "{one.filesystem}"', own, 1).replace(was, now)
    filesystems = directory / "catalog" / "filesystems"
    filesystems.mkdir(parents=True)
    (filesystems / f"{one.filesystem}{CHANGED}.toml").write_text(described, encoding="utf-8")
    return filesystems.parent


def found_by(one: Mistake, source: Path, directory: Path, *, known: bool) -> tuple[int, Found]:
    """How many states, and what is not as it should be: with the mistake or without."""
    directory.mkdir(exist_ok=True)
    catalogs = (catalog_of(one, directory),) if one.described[0] else ()
    for script in PLANTED.glob("*.sh"):
        shutil.copy(script, directory)
    path = directory / "study.toml"
    path.write_text(
        STUDY.format(
            board=one.board,
            partition=one.partition,
            filesystem=f"{one.filesystem}{CHANGED if catalogs else ''}",
            base=one.base,
            workload=one.workload,
            axes=one.axes,
        )
    )
    words = (*one.words, *((f"planted={one.name}",) if known else ()))
    prepared = Choice(str(path), catalogs=catalogs).prepare()
    own = LabKernel(one.kernel) if one.kernel else None
    cases = tuple(
        replace(case, kernel=kernel_with(words, own or case.kernel)) for case in prepared.cases
    )
    prepared = replace(prepared, cases=cases)
    request = RunRequest(
        prepared, pool_options(DEFAULT_TARGET, 1), Quiet.command, directory / "results"
    )
    end = carry_out(request, SiteOptions(kernel_source=source), Quiet())
    states, found = 0, Counter[tuple[str, str, str]]()
    for result in results_of(end.run):
        cuts = cuts_result(result)
        if cuts is None:
            if result["outcome"] != "pass":
                found[result["outcome"], "", str(result["reason"])] += 1
            continue
        states += cuts["states"]
        for failed in cuts.get("failed_calls", ()):
            found[CALL_FAILS, "", f"{failed['call']}: {failed['errno']}"] += failed["times"]
        for finding in cuts["findings"]:
            found[finding["outcome"], finding["kind"], finding["detail"]] += finding["states"]
    return states, found


@pytest.mark.parametrize("one", TRIED, ids=lambda one: one.name)
def test_the_mistake_is_found(one: Mistake, source: Path, tmp_path: Path) -> None:
    _, without = found_by(one, source, tmp_path / "without", known=False)
    before_s = cpu_s()
    states, found = found_by(one, source, tmp_path / "with", known=True)
    took_s = cpu_s() - before_s
    new = Counter[str]()
    for (outcome, kind, reason), count in found.items():
        if (outcome, kind, reason) not in without:
            new[outcome] += count
    words = ", ".join(f"{count} {outcome}" for outcome, count in new.most_common())
    print(f"\n| `{one.name}` | {one.title} | {states:,} | {words} | {took_s:.0f} |")
    if not new:
        print(dict(without), dict(found))
    assert one.outcomes & set(new), new
    assert took_s < MOST_S
