"""The kinds of workload that there are: every package of `ffslab.workloads`.

A package is found by being there; its modules are loaded when they are asked for, since some of
them need heavy libraries.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import ffslab.workloads
from ffslab.errors import DamagedResultError
from ffslab.model.workload import Workloads, WorkloadType, assumed_kind


@lru_cache(maxsize=1)
def workloads() -> Workloads:
    """Every kind of workload by its name, in alphabetical order."""
    kinds = [_kind(package) for package in _packages()]
    return {
        workload.kind: workload for workload in sorted(kinds, key=lambda workload: workload.kind)
    }


def kind_of(spec: Any) -> str:
    """The kind of workload of a result's spec; runs of older versions name none for one kind."""
    return str(spec.get("workload", {}).get("kind", assumed_kind(workloads())))


@cache
def module_of(kind: str, name: str) -> ModuleType:
    """The module `name` of a kind's package; DamagedResultError for a kind that there is not."""
    if kind not in workloads():
        raise DamagedResultError(
            f"there is no workload {kind!r}",
            cause="another version of ffslab wrote the results, or the file was edited",
            remedy=f"the workloads are: {', '.join(workloads())}",
        )
    return importlib.import_module(f"{ffslab.workloads.__name__}.{_package_of(kind)}.{name}")


def folder_of(kind: str) -> Path:
    """Where a kind's package is."""
    return Path(ffslab.workloads.__path__[0]) / _package_of(kind)


def _packages() -> list[str]:
    modules = pkgutil.iter_modules(ffslab.workloads.__path__)
    return sorted(module.name for module in modules if module.ispkg)


def _kind(package: str) -> WorkloadType[Any]:
    module = importlib.import_module(f"{ffslab.workloads.__name__}.{package}.kind")
    kind: WorkloadType[Any] = module.WORKLOAD
    return kind


def _package_of(kind: str) -> str:
    """A package is called as its kind, with `_` for what no name of a module may have."""
    return kind.replace("-", "_")
