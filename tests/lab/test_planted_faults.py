"""Do power cuts find mistakes? Some are planted, and each has to be found.

Those of JFFS2, UBIFS and UBI are in one lab kernel more (tests/planted/mistakes.patch), where
"planted=NAME" on the command line has one of them; those of YAFFS2 and LogFS are changed copies of
the module. Without the mistake, in the same kernel or with the module as it is, the same
same cuts find nothing. `pytest -s` prints the table of docs/power-cuts.md. Syncs that do nothing
are a sample; FFSLAB_NIGHTLY=1 does them all.
"""

from __future__ import annotations

import os
import resource
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from cut_guests import cases_of_text, explored
from patched_kernel import kernel_with, patched_source
from planted_faults import FAULTS, Fault
from planted_module import catalog_of_changed
from planted_syncs import SAMPLE, SYNCS

from ffslab.lab import ensure_lab
from ffslab.lab.lab_build import LabBuild
from ffslab.oracle.history import parse_history
from ffslab.targets.uml.site import lab_parts
from ffslab.workloads.cuts.explored import Explored
from ffslab.workloads.cuts.outcomes import CORRECT
from ffslab.workloads.cuts.plan import history_of

NIGHTLY = os.environ.get("FFSLAB_NIGHTLY", "") not in ("", "0")
TRIED = tuple(fault for fault in SYNCS if NIGHTLY or fault.name in SAMPLE)
MODULES = {"yaffs2": "yaffs", "logfs": "logfs"}
SHARED = ("portable.h", "compat.h", "flashfs.h", "invariant.h")
STUDY = """
schema = 1
name = "planted"
title = "A mistake is planted"

[base]
board = "{board}"
partition_bytes = "{partition}"
filesystem = "{filesystem}"

[base.workload]
kind = "cuts"
history = "{history}"
parameters = "{parameters}"
fill_sample = 0
kinds = "{kinds}"
{cuts}
"""


@pytest.fixture(scope="session")
def planted_lab(lab: LabBuild) -> LabBuild:
    """A lab whose kernel has all mistakes, none of them on."""
    del lab  # has a source
    return ensure_lab(kernel_source=patched_source())


def changed_module(fault: Fault, directory: Path) -> Path:
    """A catalog with the file system whose module has the mistake."""
    return catalog_of_changed(fault.filesystem, fault.changes, directory)


def cuts_with(fault: Fault, lab: LabBuild | None, directory: Path, *, planted: bool) -> Explored:
    """What the cuts find, with the mistake or without."""
    filesystem: str = fault.filesystem
    catalogs: tuple[Path, ...] = ()
    if planted and fault.changes:
        filesystem = f"{fault.filesystem}-planted"
        catalogs = (changed_module(fault, directory),)
    is_history = "\n" in fault.history
    text = STUDY.format(
        board=fault.board,
        filesystem=filesystem,
        partition=fault.partition,
        history="directories" if is_history else fault.history,
        parameters=fault.parameters,
        kinds=" ".join(fault.kinds),
        cuts=fault.cuts,
    )
    (case,) = cases_of_text(text, catalogs)
    history = parse_history(fault.history) if is_history else history_of(case)
    if lab is None:
        lab = ensure_lab(**lab_parts([case]))
    elif planted:
        case = replace(case, kernel=kernel_with((f"planted={fault.mistake or fault.name}",)))
    return explored(lab, case, directory, history)


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime + own.ru_utime + own.ru_stime


@pytest.mark.parametrize("fault", (*FAULTS, *TRIED), ids=lambda fault: fault.name)
def test_the_mistake_is_found_and_nothing_without_it(
    fault: Fault, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    lab = None if fault.changes else request.getfixturevalue("planted_lab")
    (tmp_path / "without").mkdir()
    (tmp_path / "with").mkdir()
    without = cuts_with(fault, lab, tmp_path / "without", planted=False)
    assert {one.judgement.outcome for one in without.judged} == {CORRECT}
    before_s = cpu_s()
    found = cuts_with(fault, lab, tmp_path / "with", planted=True)
    outcomes = Counter(one.judgement.outcome for one in found.judged)
    words = [f"{count} {word}" for word, count in outcomes.most_common() if word != CORRECT]
    cells = (f"`{fault.name}`", fault.what, len(found.judged), ", ".join(words))
    print(f"\n| {' | '.join(map(str, cells))} | {cpu_s() - before_s:.0f} |")
    assert fault.outcomes & set(outcomes)
