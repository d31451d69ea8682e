"""The cases of an advice: what is missing is run, what was measured before is kept.

The generated study has runs like any other, and changed needs cost only the cases that are new
(`ffslab.campaign.kept`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from ffslab.advise.needs import Needs
from ffslab.advise.probes import Probe, study_name, study_text
from ffslab.campaign import kept
from ffslab.campaign.kept import Ready
from ffslab.campaign.prepared import Prepared
from ffslab.campaign.run import RunRequest, prepare_source
from ffslab.lab.progress import Progress as BuildProgress
from ffslab.loader import StudySource, parse_toml
from ffslab.results.files import disk_error, write_atomic
from ffslab.targets.target import SiteOptions


def prepared_study(
    needs: Needs, made: Sequence[Probe], root: Path, catalogs: Sequence[Path] = ()
) -> Prepared:
    """The generated study, expanded and checked as any other; it is written beside the runs."""
    path = root / f"{study_name(needs)}.toml"
    text = study_text(needs, made)
    return prepare_source(StudySource(path, text, parse_toml(text, str(path))), catalogs=catalogs)


def ready(
    request: RunRequest,
    options: SiteOptions,
    progress: BuildProgress,
    now: Callable[[], datetime],
) -> Ready:
    """Writes the study beside its runs, and makes its run ready."""
    prepared, root = request.prepared, request.results_root
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(error, root) from error
    write_atomic(prepared.source.path, prepared.source.text)
    return kept.ready(request, options, progress, now)
