"""Which of the findings of JFFS2, UBI and UBIFS are in which version of Linux, with our fixes too.

Each input is given to each kernel, and a cell says what came of it: `there`; `not there` where the
input is alike in every kernel and would show it; `not seen` where it searches, and another kernel
may go another way. tests/golden/findings-by-version.json keeps the cells.

    PYTHONPATH=src:tests:tests/lab PYTHON tests/lab/findings_by_version.py [KERNEL | NUMBER]...

computes all cells, or those that are named, writes them there, and prints the table's rows.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from unittest import mock

from cut_guests import Quiet
from finding_inputs import (
    CUTS,
    HISTORY,
    LONGER,
    ORPHAN,
    POSIX,
    SLEEPS,
    SMALL,
    Cuts,
    Excepted,
    Input,
    words_without,
)
from guest_programs import build, run_program
from mended import catalog_with
from test_crash_walk import case_of
from test_fastmap import FLASHED
from test_image_flash import (
    chip_case,
    end,
    made_image,
    packed_tree,
    shown,
    started,
    unpacked,
    write_step,
)
from test_mended_cuts import errno_of_fsync

from ffslab.campaign.run import RunRequest
from ffslab.campaign.study import Choice, carry_out, pool_options
from ffslab.lab import ensure_lab
from ffslab.lab.lab import linux_of
from ffslab.lab.lab_build import LabBuild
from ffslab.lab.progress import ConsoleProgress
from ffslab.lab.source import ensure_source
from ffslab.model.kernels import FIXED, KERNEL, USUAL_VERSION, VERSIONS
from ffslab.model.specs import DEFAULT_VARIANT
from ffslab.oracle import promises
from ffslab.oracle.promises import PROMISES
from ffslab.results.result import CaseResult
from ffslab.targets import DEFAULT_TARGET
from ffslab.targets.target import SiteOptions
from ffslab.workloads.cuts.stored import cuts_result
from ffslab.workloads.results import results_of
from findings import (
    BY_VERSION,
    NOT_RUN,
    NOT_SEEN,
    NOT_THERE,
    THERE,
    by_version_numbers,
    cells,
    rows,
)


@dataclass(frozen=True)
class Kernel:
    """`variant` of the lab kernel, built of a version of Linux."""

    variant: str
    linux: str

    @property
    def tree(self) -> Path:
        return ensure_source(ConsoleProgress(), version=self.linux).tree

    @property
    def source(self) -> Path | None:
        """What is to be named, unless the variant is of that version anyway."""
        return None if linux_of(self.variant) == self.linux else self.tree

    def lab(self) -> LabBuild:
        return ensure_lab(self.variant, kernel_source=self.source)


KERNELS = {
    "5.10": Kernel("5.10", "5.10"),
    "6.1": Kernel(DEFAULT_VARIANT, "6.1"),
    "6.12": Kernel("6.12", "6.12"),
    "7.3": Kernel("7.3", "7.3"),
    "7.3 fixed": Kernel(FIXED, "7.3"),
}
assert {kernel.linux for kernel in KERNELS.values()} == {USUAL_VERSION, *VERSIONS}


def run_in(
    kernel: Kernel,
    directory: Path,
    study: str,
    changes: Mapping[str, object],
    catalogs: tuple[Path, ...] = (),
) -> list[CaseResult]:
    """The results of a study, a text, a path or a name, with the kernel's source."""
    directory.mkdir(parents=True, exist_ok=True)
    if "\n" in study:
        (directory / "study.toml").write_text(study)
        study = str(directory / "study.toml")
    words = tuple((key, (value,)) for key, value in changes.items())
    prepared = Choice(study, words, catalogs=catalogs).prepare()
    options = pool_options(DEFAULT_TARGET, 1)
    request = RunRequest(prepared, options, Quiet.command, directory / "results")
    end = carry_out(request, SiteOptions(kernel_source=kernel.source), Quiet())
    return list(results_of(end.run))


def shows_small(one: Input, kernel: Kernel, directory: Path) -> str:
    for board in one.boards:
        changes = {KERNEL: kernel.variant, "filesystem": one.filesystem, "board": board}
        (result,) = run_in(kernel, directory / board, str(one.study), changes)
        if result["outcome"] != "pass":
            assert result["outcome"] == one.outcome and one.reason in result["reason"], result
            return THERE
    return NOT_THERE if len(one.boards) == 1 else NOT_SEEN


def shows_check(one: Excepted, kernel: Kernel, directory: Path) -> str:
    """Without the exception the check passes, or says what it found; where it finds something else
    a mended file system passes with other options.
    """
    program = "posix" if one in POSIX else "history"
    built, is_long = build(program, directory), one not in (*POSIX, *HISTORY)
    subject, own = one.subject, getattr(one.subject, program)
    if program == "posix":
        subject, more = replace(subject, partition=subject.posix_partition), [one.check]
    else:
        more = ["--operations=12000", SLEEPS] if is_long else ["--operations=2000"]
    without = words_without(one, [*subject.both, *own])
    mounts = program == "posix" or subject.remounts
    for number, words in enumerate((without, [*without, *(one.mended or ())])):
        try:
            place = directory / f"guest-{number}"
            run_program(kernel.lab(), place, subject, built, [*words, *more], mounts=mounts)
        except AssertionError as failed:
            found = re.sub(r"#\d+", "#", str(failed))
            for text, told in {re.sub(r"#\d+", "#", one.found): THERE, **one.elsewhere}.items():
                if text in found:
                    return told
            if number or not one.mended:
                raise
        else:
            return NOT_SEEN if is_long else NOT_THERE
    raise AssertionError


def shows_cuts(one: Cuts, kernel: Kernel, directory: Path, catalogs: tuple[Path, ...] = ()) -> str:
    promised = {name: replace(promise, **one.strict) for name, promise in PROMISES.items()}
    # Of a module, which has another type.
    promised |= {f"{name}x": promise for name, promise in promised.items()}
    changes = {KERNEL: kernel.variant, **one.changes}
    with mock.patch.object(promises, "PROMISES", promised):
        results = run_in(kernel, directory, one.study, changes, catalogs)
    found = [found for result in results if (found := cuts_result(result)) is not None]
    assert len(found) == len(results) and all(cuts["states"] for cuts in found)
    told = [
        "\n".join([fault["state"], fault["detail"], *fault["console"]])
        for cuts in found
        for fault in cuts["findings"]
        if fault["outcome"] in one.outcomes
    ]
    if any(re.search(one.sign, text) for text in told):
        return THERE
    return NOT_THERE if one.is_whole else NOT_SEEN


def shows_halt(kernel: Kernel, directory: Path) -> str:
    """F-JFFS2-06."""
    directory.mkdir(parents=True)
    return NOT_THERE if errno_of_fsync(kernel.lab(), directory, case_of("jffs2")) else THERE


def shows_orphan(kernel: Kernel, directory: Path) -> str:
    """F-UBIFS-18, where UBIFS checks all that it mounts: the lab's kernel has no debugfs."""
    text = "struct ubifs_global_debug_info ubifs_dbg"
    catalog = catalog_with(
        directory,
        "ubifs",
        source=kernel.tree,
        has_fixes=kernel.variant == FIXED,
        changes=[("debug.c", f"{text};", f"{text} = {{ .chk_fs = 1 }};")],
    )
    return shows_cuts(ORPHAN, kernel, directory / "run", (catalog,))


def shows_fastmap(kernel: Kernel, directory: Path) -> str:
    """F-UBIFS-08."""
    off, on = run_in(replace(kernel, variant="fastmap"), directory, FLASHED, {})
    assert off["outcome"] == "pass"
    if on["outcome"] == "pass":
        return NOT_THERE
    assert "could not find any anchor PEB" in on["reason"], on["reason"]
    return THERE


def shows_locks(kernel: Kernel, directory: Path) -> str:
    """F-UBI-01, by lockdep in the debug kernel."""
    is_usual = kernel.linux == USUAL_VERSION
    lab = ensure_lab("debug", kernel_source=None if is_usual else kernel.tree)
    directory.mkdir(parents=True)
    image = made_image("squashfs", unpacked(packed_tree(), directory))
    steps = [
        *(shown(directory), write_step(image), "ubi-attach mtd=data block=0"),
        *("mount type=squashfs source=/dev/ubiblock0_0 flags=ro", "umount", "ubi-detach"),
    ]
    guest = started(lab, directory / "guest", chip_case(), steps, clean=False)
    assert end(guest)["status"] == "ok" and "Lock dependency validator" in guest.console
    report = re.search(r"possible circular locking.*", guest.console, re.DOTALL)
    if report is None:
        return NOT_THERE
    assert "ubiblock_remove" in report[0], report[0]
    return THERE


Shows = Callable[[Kernel, Path], str]


def inputs() -> dict[str, list[Shows]]:
    """Of each finding what shows it, one after the other until one does."""
    listed: list[tuple[str, Shows]] = [
        *((one.number, partial(shows_small, one)) for one in SMALL),
        *((one.number, partial(shows_check, one)) for one in (*POSIX, *HISTORY, *LONGER)),
        *(
            (one.number, partial(shows_check, replace(one, more=(f"--seed={seed}",))))
            for one in LONGER
            for seed in (3, 4, 5)
        ),
        *((one.number, partial(shows_cuts, one)) for one in CUTS),
        ("F-JFFS2-06", shows_halt),
        ("F-UBI-01", shows_locks),
        ("F-UBIFS-08", shows_fastmap),
        ("F-UBIFS-18", shows_orphan),
    ]
    return {number: [shows for named, shows in listed if named == number] for number, _ in listed}


# What shows them is a variant of the kernel, as our fixes are: none has both.
OF_VARIANTS = ("F-UBI-01", "F-UBIFS-08")


def cell(number: str, name: str, directory: Path) -> str:
    """What came of the finding's inputs in a kernel."""
    kernel = KERNELS[name]
    if number in OF_VARIANTS and kernel.variant == FIXED:
        return NOT_RUN
    told = NOT_RUN
    for place, shows in enumerate(inputs().get(number, ())):
        told = shows(kernel, directory / f"{number}-{place}")
        if told == THERE:
            break
    return told


def main(words: Sequence[str]) -> None:
    numbers = [number for number in by_version_numbers() if number in words]
    names = [name for name in KERNELS if name in words]
    for name in names or KERNELS:
        for number in numbers or by_version_numbers():
            began = time.monotonic()
            with tempfile.TemporaryDirectory() as directory:
                told = cell(number, name, Path(directory))
            print(f"{name} {number} {told} {time.monotonic() - began:.0f} s", flush=True)
            if told == NOT_RUN:
                continue
            kept = cells()
            kept.setdefault(number, {})[name] = told
            ordered = {n: {k: kept[n][k] for k in KERNELS if k in kept[n]} for n in sorted(kept)}
            BY_VERSION.write_text(json.dumps(ordered, indent=1) + "\n")
    print("\n".join(rows()))


if __name__ == "__main__":
    main(sys.argv[1:])
