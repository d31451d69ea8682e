"""A study and its expansion into cases: pure, and in one order.

The cases are the product of the axes, the first axis varying slowest, seeds
fastest; then `[[include]]` and `[[exclude]]` rules are applied. Rules come
before the check of option values, so that a combination which does not exist
(an option one file system lacks) can be left out.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ffslab.errors import SpecError, UsageError
from ffslab.model.catalog import Catalog, initial_state
from ffslab.model.files import PartFile, StateFile, StudyFile, suggestion, validated
from ffslab.model.settings import DEFAULT, PART, check_keys, flatten, option_value, resolve
from ffslab.model.specs import Case
from ffslab.model.units import format_size, parse_size
from ffslab.program import program

Override = tuple[str, tuple[Any, ...]]


Axes = tuple[tuple[str, tuple[Any, ...]], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a study: its settings and axes go over those of the study."""

    name: str
    settings: Mapping[str, Any]
    axes: Axes


@dataclass(frozen=True, slots=True)
class Study:
    """A checked study; `base` and rules are flat, `axes` in the order of the file."""

    name: str
    title: str
    description: str
    base: Mapping[str, Any]
    axes: Axes
    include: tuple[Mapping[str, Any], ...]
    exclude: tuple[Mapping[str, Any], ...]
    parts: tuple[Part, ...] = ()


def study_from_document(document: Mapping[str, Any], catalog: Catalog, where: str) -> Study:
    """A study file's contents as a Study; raises SpecError for what cannot be right."""
    parsed = validated(StudyFile, document, where)
    axes = dict(_axes(parsed.axes, catalog, f"{where}: axes"))
    axes.setdefault("seed", tuple(parsed.base.seeds))
    # Seeds are replicates: neighbours in the table, whatever the file's order.
    axes["seed"] = axes.pop("seed")
    include = tuple(flatten(rule) for rule in parsed.include)
    exclude = tuple(flatten(rule) for rule in parsed.exclude)
    for rule in (*include, *exclude):
        check_keys(rule, catalog, f"{where}: rule")
    return Study(
        name=parsed.name,
        title=parsed.title,
        description=parsed.description.strip(),
        base=_base_settings(parsed, catalog, where),
        axes=tuple(axes.items()),
        include=include,
        exclude=exclude,
        parts=_parts(parsed.part, catalog, where),
    )


def _axes(table: Mapping[str, Any], catalog: Catalog, where: str) -> Axes:
    axes: dict[str, tuple[Any, ...]] = {}
    for key, values in flatten(table).items():
        if not isinstance(values, list) or not values:
            raise SpecError(f"{where}.{key} must be a list with at least one value")
        axes[key] = tuple(values)
    _check_settable(axes, catalog, where)
    return tuple(axes.items())


def _check_settable(keys: Collection[str], catalog: Catalog, where: str) -> None:
    check_keys(keys, catalog, where)
    if PART in keys:
        raise SpecError(
            f"{where}: {PART!r} is no setting",
            cause="the parts of a study are tables of their own",
            remedy='[[part]] name = "NAME", with axes; --set part=NAME chooses among them',
        )


def _parts(parsed: Sequence[PartFile], catalog: Catalog, where: str) -> tuple[Part, ...]:
    parts: dict[str, Part] = {}
    for part in parsed:
        here = f"{where}: part {part.name}"
        if part.name in parts:
            raise SpecError(
                f"{where}: two parts are called {part.name!r}", remedy="rename one of them"
            )
        settings = flatten(part.settings)
        _check_settable(settings, catalog, here)
        parts[part.name] = Part(part.name, settings, _axes(part.axes, catalog, f"{here}: axes"))
    return tuple(parts.values())


def _base_settings(parsed: StudyFile, catalog: Catalog, where: str) -> dict[str, Any]:
    base = parsed.base
    settings: dict[str, Any] = {"board": base.board, "cpu_scale": base.cpu_scale}
    if base.filesystem:
        settings["filesystem"] = base.filesystem
    if base.partition_bytes is not None:
        settings["partition_bytes"] = base.partition_bytes
    settings["state"] = base.state if isinstance(base.state, str) else base.state.model_dump()
    for name, value in base.options.items():
        settings[f"options.{name}"] = value
    for name in type(base.workload).model_fields:
        settings[f"workload.{name}"] = getattr(base.workload, name)
    check_keys(settings, catalog, f"{where}: base")
    return settings


def with_overrides(study: Study, overrides: Sequence[Override], catalog: Catalog) -> Study:
    """The study with axes narrowed or replaced, or base values changed, by `--set`.

    Several values for one name, given together or one after the other, make an axis.
    """
    merged: dict[str, tuple[Any, ...]] = {}
    for key, values in overrides:
        merged[key] = (*merged.get(key, ()), *values)
    check_keys(merged, catalog, "--set")
    parts = _chosen_parts(study, merged.pop(PART, ()))
    base, axes = _overridden(dict(study.base), dict(study.axes), merged)
    axes["seed"] = axes.pop("seed")
    parts = tuple(_overridden_part(part, merged) for part in parts)
    return replace(study, base=base, axes=tuple(axes.items()), parts=parts)


def _chosen_parts(study: Study, names: Sequence[Any]) -> tuple[Part, ...]:
    known = [part.name for part in study.parts]
    for name in names:
        if name not in known:
            raise SpecError(
                f"--set: study {study.name} has no part {name!r}{suggestion(str(name), known)}",
                cause=f"its parts are: {', '.join(known)}" if known else "it has no parts",
                remedy="leave --set part away, or name another",
            )
    return tuple(part for part in study.parts if not names or part.name in names)


def _overridden(
    base: dict[str, Any], axes: dict[str, tuple[Any, ...]], merged: Mapping[str, tuple[Any, ...]]
) -> tuple[dict[str, Any], dict[str, tuple[Any, ...]]]:
    for key, values in merged.items():
        if key in axes or len(values) > 1:
            axes[key] = values
        else:
            base[key] = values[0]
    return base, axes


def _overridden_part(part: Part, merged: Mapping[str, tuple[Any, ...]]) -> Part:
    """What the command line says has precedence over what a part says."""
    settings = {key: value for key, value in part.settings.items() if key not in merged}
    axes = tuple((key, values) for key, values in part.axes if key not in merged)
    return replace(part, settings=settings, axes=axes)


@dataclass(frozen=True, slots=True)
class _Grid:
    """A product of axes over settings: a whole study, or one part of it."""

    base: Mapping[str, Any]
    axes: Axes


def _grids(study: Study) -> tuple[_Grid, ...]:
    if not study.parts:
        return (_Grid(study.base, study.axes),)
    grids = []
    for part in study.parts:
        axes: dict[str, tuple[Any, ...]] = {PART: (part.name,)}
        axes |= {key: values for key, values in study.axes if key not in part.settings}
        axes |= dict(part.axes)
        # Seeds vary fastest, also if the part sets one.
        axes["seed"] = axes.pop("seed", (part.settings.get("seed"),))
        grids.append(_Grid(_merge(study.base, part.settings), tuple(axes.items())))
    return tuple(grids)


def expand(study: Study, catalog: Catalog) -> tuple[Case, ...]:
    """All cases in order; ids are unique. Raises SpecError, also when nothing is left."""
    stated: dict[str, Mapping[str, Any]] = {}
    cases = [case for grid in _grids(study) for case in _grid_cases(study, grid, stated, catalog)]
    if not cases:
        raise SpecError(
            f"study {study.name} has no case left",
            cause="its include and exclude rules, with --set, remove every combination",
            remedy=f"{program()} run {study.name} --dry-run",
        )
    return tuple(cases)


def _grid_cases(
    study: Study, grid: _Grid, stated: dict[str, Mapping[str, Any]], catalog: Catalog
) -> Iterator[Case]:
    """The cases of one product; `stated` has the ids so far with their values on the axes."""
    names = [name for name, _ in grid.axes]
    telling = _telling(grid)
    for values in itertools.product(*(values for _, values in grid.axes)):
        axes = dict(zip(names, values, strict=True))
        settings = _merge(grid.base, axes)
        if study.include and not any(_matches(r, settings, catalog) for r in study.include):
            continue
        if any(_matches(rule, settings, catalog) for rule in study.exclude):
            continue
        labels = (_label(key, settings.get(key, ""), settings, catalog) for key in telling)
        case_id = "-".join(label for label in labels if label is not None)
        case = resolve(case_id, study.name, axes, settings, catalog)
        if case_id in stated:
            if _is_default_twice(axes, stated[case_id]):
                continue
            raise SpecError(
                f"study {study.name}: two cases are called {case_id}",
                cause="an axis has the same value twice, or values that read alike",
                remedy="remove one of them",
            )
        stated[case_id] = axes
        yield case


def _is_default_twice(axes: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two combinations of one id differ by `default` for the value it stands for only.

    That is one case: a file system may have one value of an option that others have several of.
    """
    differing = [key for key in axes if axes[key] != other[key]]
    return bool(differing) and all(
        key.startswith("options.") and DEFAULT in (axes[key], other[key]) for key in differing
    )


def _telling(grid: _Grid) -> list[str]:
    """The settings that make a case's id: axes with several values, file system and seed.

    An axis with one value tells no case from another. The seed is always there, so that an id
    stays what it is when more seeds are added; so is the file system if it is an axis, or if
    nothing but the seed is left.
    """
    always = (PART, "filesystem", "seed")
    names = [name for name, values in grid.axes if len(values) > 1 or name in always]
    return names if names != ["seed"] else ["filesystem", "seed"]


def _merge(base: Mapping[str, Any], axes: Mapping[str, Any]) -> dict[str, Any]:
    """Axes over the base; a whole `state` or `board` replaces what the base said of its parts."""
    settings = dict(base)
    tables = tuple(f"{key}." for key in axes if "." not in key)
    for name in [name for name in settings if name.startswith(tables)]:
        del settings[name]
    settings.update(axes)
    return settings


def _matches(rule: Mapping[str, Any], settings: Mapping[str, Any], catalog: Catalog) -> bool:
    for key, wanted in rule.items():
        alternatives = wanted if isinstance(wanted, list) else [wanted]
        actual = _effective(key, settings, catalog)
        if not any(value in alternatives for value in actual):
            return False
    return True


def _effective(key: str, settings: Mapping[str, Any], catalog: Catalog) -> tuple[Any, ...]:
    """What a rule's value may equal: the setting, and what it stands for."""
    value = settings.get(key)
    if key == "state" and isinstance(value, Mapping):
        return (value.get("name"),)
    if key.startswith("options."):
        filesystem = catalog.filesystems.get(str(settings.get("filesystem")))
        name = key.removeprefix("options.")
        if filesystem and name in filesystem.options:
            return (value, option_value(filesystem, name, settings))
    return (value,)


def _label(key: str, value: Any, settings: Mapping[str, Any], catalog: Catalog) -> str | None:
    """The part of a case's id that an axis gives: words bare, numbers, on and off with their name.

    None for an option that the file system does not have.
    """
    last = key.rpartition(".")[2]
    if key == "seed":
        return f"s{value}"
    if isinstance(value, Mapping):
        value = initial_state(validated(StateFile, value, "state")).name
    elif key.startswith("workload.") and key.endswith("_bytes"):
        value = _size_text(value)
        last = last.removesuffix("_bytes")
    elif key.startswith("options."):
        filesystem = catalog.filesystem(str(settings.get("filesystem", "")))
        if last in filesystem.options:
            value = option_value(filesystem, last, settings)
        elif value == DEFAULT:
            return None
    sign = "m" if str(value).startswith("-") else ""
    text = sign + re.sub(r"[^a-z0-9.]", "", str(value).lower())
    switch = key.startswith("options.") and value in ("on", "off")
    if isinstance(value, str) and not switch and not key.endswith("_bytes"):
        return text
    prefix = {"cpu_scale": "cpu", "partition_bytes": "part"}.get(key, last.replace("_", ""))
    return f"{prefix}{text}"


def _size_text(value: Any) -> str:
    try:
        return format_size(parse_size(value))
    except (TypeError, ValueError):
        return str(value)  # the check of the case says what is wrong with it


def select(cases: Sequence[Case], ids: Sequence[str], study: str = "STUDY") -> tuple[Case, ...]:
    """The cases called `ids`, in expansion order; UsageError for an id that is not there.

    `study` is what the command line calls the study.
    """
    known = {case.id for case in cases}
    for case_id in ids:
        if case_id not in known:
            raise UsageError(
                f"no case {case_id!r}{suggestion(case_id, known, close_matches=3)}",
                cause="the study, with its overrides, does not expand to it",
                remedy=f"{program()} run {study} --dry-run, which lists the {len(known)} cases",
            )
    return tuple(case for case in cases if case.id in set(ids)) if ids else tuple(cases)
