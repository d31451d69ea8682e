"""A kind of workload is its package: found by being there, its modules offering what is asked."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import fields
from inspect import isfunction
from pathlib import Path
from typing import Any

import pytest
from host_support import study_of

import ffslab.workloads
from ffslab.errors import SpecError
from ffslab.loader import _shipped, load_catalog
from ffslab.model.study import expand
from ffslab.model.workload_file import file_of
from ffslab.results.columns import KEY
from ffslab.targets.virtual_flash import plan_text
from ffslab.workloads import modules, registry

KINDS = tuple(registry.workloads())
MODULES = {
    "plan": modules.PlanModule,
    "result": modules.ResultModule,
    "metrics": modules.MetricsModule,
    "terminal": modules.TerminalModule,
}
NAP = {
    "__init__.py": '"""Sleeps."""\n',
    "keys.py": '''
from dataclasses import dataclass

from ffslab.model.workload import SIZE, Workload, key


@dataclass(frozen=True, slots=True, kw_only=True)
class Nap(Workload):
    """How long."""

    kind: str = key("cat-nap", "the workload")
    ms: int = key(5, "milliseconds", lowest=1, highest=1000)
    pillow_bytes: int = key(512, "its size", form=SIZE)
    snores: bool = key(False, "absent: with a large pillow",
                       derived=lambda values: values["pillow_bytes"] > 4096)
''',
    "kind.py": '''
from ffslab.errors import SpecError
from ffslab.model.workload import WorkloadType
from ffslab.workloads.cat_nap.keys import Nap


class NapType(WorkloadType[Nap]):
    """A nap."""

    settings = Nap

    def check(self, workload, setting):
        if workload.ms == 13:
            raise SpecError(f"{setting.where}: thirteen")


WORKLOAD = NapType()
''',
    "plan.py": '''
from ffslab.protocol.plan import step
from ffslab.workloads.plans import measuring_plan


def guest_plans(case, rig):
    """One guest that sleeps."""
    return (measuring_plan(case, rig, [step("sleep", ms=case.workload.ms)], prepared=False),)
''',
}
STUDY = """
schema = 1
name = "naps"
title = "Naps"

[base]
board = "apf27"
filesystem = "jffs2"

[base.workload]
kind = "cat-nap"
"""


@pytest.fixture
def nap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package of a further kind, in a place of its own."""
    package = tmp_path / "cat_nap"
    package.mkdir()
    for name, text in NAP.items():
        (package / name).write_text(text)
    monkeypatch.setattr(ffslab.workloads, "__path__", [*ffslab.workloads.__path__, str(tmp_path)])
    caches: list[Any] = [registry.workloads, registry.module_of, _shipped]
    for cache in caches:
        cache.cache_clear()
    importlib.invalidate_caches()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MODULES)
def test_every_package_offers_what_is_asked_of_it(kind: str, name: str) -> None:
    check_part(registry.module_of(kind, name), MODULES[name])


@pytest.mark.parametrize("kind", KINDS)
def test_every_package_has_a_report(kind: str) -> None:
    check_part(modules.report_module(kind), modules.ReportModule)


@pytest.mark.parametrize("kind", KINDS)
def test_own_tables_are_whole(kind: str) -> None:
    module = modules.tables_module(kind)
    assert (module is None) != (registry.folder_of(kind) / "tables.py").is_file()
    if module is None:
        return
    check_part(module, modules.TablesModule)
    for columns in (*module.TABLES.values(), *module.RECORD_TABLES.values()):
        assert dict(list(columns.items())[: len(KEY)]) == KEY


def check_part(module: Any, asked: type) -> None:
    members = [*asked.__annotations__, *(m for m in vars(asked) if not m.startswith("_"))]
    assert members
    for member in members:
        assert hasattr(module, member), f"{module.__name__} has no {member}"
        is_function = isfunction(getattr(module, member))
        assert is_function == (member not in asked.__annotations__)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_stated_of_a_key_is_the_shape_of_its_table(kind: str) -> None:
    workload = registry.workloads()[kind]
    shape = file_of(workload)
    assert list(shape.model_fields) == [field.name for field in fields(workload.settings)]
    for field in fields(workload.settings):
        found, facts = shape.model_fields[field.name], workload.keys[field.name]
        assert found.description == facts.meaning and facts.meaning
        if field.name != "kind":
            assert found.default == (None if facts.derived else field.default)
    defaults = workload.settings()
    # What a spec says in other words is not the key (test_contents.py).
    told = {name: value for name, value in defaults.spec.items() if name in workload.keys}
    assert workload.settings(**told) == defaults


def test_one_kind_is_assumed() -> None:
    assert [kind for kind, workload in registry.workloads().items() if workload.assumed] == [
        "ffsmark"
    ]
    assert registry.kind_of({"workload": {}}) == registry.kind_of({}) == "ffsmark"


@pytest.mark.usefixtures("nap")
def test_a_package_that_is_there_is_a_kind() -> None:
    assert list(registry.workloads()) == sorted([*KINDS, "cat-nap"])
    catalog = load_catalog()

    def nap_of(more: str = "") -> Any:
        (case,) = expand(study_of(STUDY + more, catalog), catalog)
        return case

    case = nap_of()
    assert case.workload.spec == {"kind": "cat-nap", "ms": 5, "pillow_bytes": 512, "snores": False}
    assert "sleep ms=5" in plan_text(case)
    assert nap_of("pillow_bytes = '8 KiB'").workload.snores
    assert not nap_of("pillow_bytes = '8 KiB'\nsnores = false").workload.snores
    assert nap_of("ms = 6").spec_hash != case.spec_hash
    for more, words in (
        ("ms = 13", "thirteen"),
        ("ms = 0", "greater than or equal to 1"),
        ("number = 4", r"unknown key 'base\.workload\.number'"),
        ("msec = 4", r"did you mean 'ms'"),
    ):
        with pytest.raises(SpecError, match=words):
            nap_of(more)


def test_a_kind_that_is_not_there_is_a_clear_error() -> None:
    catalog = load_catalog()
    known = f"kind must be one of: {', '.join(KINDS)}"
    with pytest.raises(SpecError, match=known):
        study_of(STUDY, catalog)
