"""A study and its expansion into cases: pure, and in one order.

The cases are the product of the axes, the first axis varying slowest, seeds
fastest; then `[[include]]` and `[[exclude]]` rules are applied. Rules come
before the check of option values, so that a combination which does not exist
(an option one file system lacks) can be left out.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ffslab.errors import SpecError, UsageError
from ffslab.model.bounds import Limit
from ffslab.model.case import Case
from ffslab.model.catalog import Catalog
from ffslab.model.estimates import AS_STATED, ESTIMATE, with_estimate
from ffslab.model.files import PartFile, StudyFile, study_shape
from ffslab.model.grids import UNSTATED, Axes, Grid, grid_of
from ffslab.model.kernels import KERNEL, PERIOD
from ffslab.model.limits import check_case
from ffslab.model.names import suggestion
from ffslab.model.settings import (
    DEFAULT,
    PART,
    VOLUME_BYTES,
    check_keys,
    flatten,
    option_value,
    resolve,
    stated_state,
)
from ffslab.model.specs import (
    DEFAULT_VARIANT,
    FIRST_REPEAT,
    PERTURBATION,
    REPEAT,
    is_plain_version,
)
from ffslab.model.units import format_size, parse_size
from ffslab.model.validation import validated
from ffslab.program import program

Override = tuple[str, tuple[Any, ...]]

COMBINATIONS_MAX = 100_000  # a run of so many would take a day
_LONGEST_ID = 255  # of a case: that of a directory, on common file systems


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a study: its settings and axes go over those of the study."""

    name: str
    settings: Mapping[str, Any]
    axes: Axes


@dataclass(frozen=True, slots=True)
class Study:
    """A checked study; `base` and rules are flat, `axes` in the order of the file.

    `stated` are the settings of the base that the file mentions: the others are defaults.
    `overrides` come from the command line, in the order given. `sizes`: the architectures for which
    the size of its file systems' code is wanted, beside the cases.
    """

    name: str
    title: str
    description: str
    base: Mapping[str, Any]
    axes: Axes
    include: tuple[Mapping[str, Any], ...]
    exclude: tuple[Mapping[str, Any], ...]
    parts: tuple[Part, ...] = ()
    stated: frozenset[str] = frozenset()
    overrides: tuple[Override, ...] = ()
    sizes: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    deciding: tuple[str, ...] = ()


def study_from_document(document: Mapping[str, Any], catalog: Catalog, where: str) -> Study:
    """A study file's contents as a Study; raises SpecError for what cannot be right."""
    parsed = validated(study_shape(catalog.workloads), document, where)
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
        stated=_stated(parsed),
        sizes=tuple(dict.fromkeys(parsed.sizes.architectures)) if parsed.sizes else (),
        limits=tuple(table.limit for table in parsed.limits),
        deciding=tuple(dict.fromkeys(parsed.compare.figures)) if parsed.compare else (),
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
            f"{where}: {PART!r} is not a setting",
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
    if base.ubi_volume_bytes is not None:
        settings[VOLUME_BYTES] = base.ubi_volume_bytes
    settings["state"] = base.state if isinstance(base.state, str) else base.state.model_dump()
    if base.kernel != DEFAULT_VARIANT:
        settings[KERNEL] = base.kernel
    for name, on in base.period.items():
        settings[f"{PERIOD}.{name}"] = on
    for name, value in base.options.items():
        settings[f"options.{name}"] = value
    for name in type(base.workload).model_fields:
        settings[f"workload.{name}"] = getattr(base.workload, name)
    check_keys(settings, catalog, f"{where}: base")
    return settings


def _stated(parsed: StudyFile) -> frozenset[str]:
    base = parsed.base
    return frozenset(
        (
            *(n for n in base.model_fields_set if n not in ("options", "workload", PERIOD)),
            *(f"options.{name}" for name in base.options),
            *(f"{PERIOD}.{name}" for name in base.period),
            *(f"workload.{name}" for name in base.workload.model_fields_set),
        )
    )


def with_overrides(study: Study, overrides: Sequence[Override], catalog: Catalog) -> Study:
    """The study with axes narrowed or replaced, or base values changed, by `--set`.

    Several values for one name, given together or one after the other, make an axis, which stands
    where the last of them was given.
    """
    merged: dict[str, tuple[Any, ...]] = {}
    for key, values in overrides:
        merged[key] = (*merged.pop(key, ()), *values)
    check_keys(merged, catalog, "--set")
    parts = _chosen_parts(study, merged.pop(PART, ()))
    return replace(study, parts=parts, overrides=tuple(merged.items()))


def _chosen_parts(study: Study, names: Sequence[Any]) -> tuple[Part, ...]:
    known = [part.name for part in study.parts]
    for name in names:
        if name not in known:
            raise SpecError(
                f"--set: study {study.name} has no part {name!r}{suggestion(str(name), known)}",
                cause=f"a misspelt name; its parts are: {', '.join(known)}"
                if known
                else "it has no parts",
                remedy="leave --set part out, or name another part",
            )
    return tuple(part for part in study.parts if not names or part.name in names)


def grids(study: Study) -> tuple[Grid, ...]:
    """The products of axes that the study is made of: one for each part.

    SpecError for a setting of the command line that another one after it replaces.
    """
    base = {key: (value,) for key, value in study.base.items()}
    layers = [
        (UNSTATED, {key: base[key] for key in base if key not in study.stated}, False),
        ("[base]", {key: base[key] for key in base if key in study.stated}, False),
        ("[axes]", dict(study.axes), True),
    ]
    if not study.parts:
        return (grid_of(layers, study.overrides),)
    return tuple(
        grid_of([*layers, *_part_layers(part)], study.overrides, part.name) for part in study.parts
    )


def _part_layers(part: Part) -> list[tuple[str, Mapping[str, tuple[Any, ...]], bool]]:
    settings = {key: (value,) for key, value in part.settings.items()}
    return [
        (f"part {part.name}: set", settings, False),
        (f"part {part.name}: axes", dict(part.axes), True),
    ]


def points(study: Study, grid: Grid, catalog: Catalog) -> Iterator[dict[str, Any]]:
    """The settings of every combination that the study's rules leave, in order."""
    for settings in grid.settings():
        if study.include and not any(_matches(r, settings, catalog) for r in study.include):
            continue
        if not any(_matches(rule, settings, catalog) for rule in study.exclude):
            yield settings


def expand(study: Study, catalog: Catalog) -> tuple[Case, ...]:
    """All cases in order; ids are unique. Raises SpecError, also when nothing is left."""
    cases = tuple(cases_in_order(study, catalog))
    if not cases:
        raise SpecError(
            f"study {study.name} has no case left",
            cause="its include and exclude rules, with --set, remove every combination",
            remedy=f"{program()} run {study.name} --dry-run",
        )
    return cases


def cases_in_order(study: Study, catalog: Catalog) -> Iterator[Case]:
    """The cases one by one; SpecError at the first that cannot be, or has the id of another."""
    stated: dict[str, Mapping[str, Any]] = {}
    products = grids(study)
    _check_number(study, products)
    for grid in products:
        yield from _grid_cases(study, grid, stated, catalog)


def _check_number(study: Study, products: Sequence[Grid]) -> None:
    """SpecError for more combinations than anybody runs, before minutes go into listing them."""
    total = sum(grid.combinations for grid in products)
    if total <= COMBINATIONS_MAX:
        return
    longest = max(products, key=lambda grid: grid.combinations)
    axes = ", ".join(
        f"{name} ({len(longest.stated[name].values):,})"
        for name in longest.axes
        if len(longest.stated[name].values) > 1
    )
    raise SpecError(
        f"study {study.name} has {total:,} combinations; a run may have {COMBINATIONS_MAX:,}",
        cause=f"the values on its axes multiply: {axes}",
        remedy="fewer values, or parts of the study as runs of their own: --set AXIS=VALUE",
    )


def _grid_cases(
    study: Study, grid: Grid, stated: dict[str, Mapping[str, Any]], catalog: Catalog
) -> Iterator[Case]:
    """The cases of one product; `stated` has the ids so far with their values on the axes."""
    telling = _telling(grid)
    for settings in points(study, grid, catalog):
        axes = {name: settings[name] for name in grid.axes}
        labels = (_label(key, settings, grid.axes, catalog) for key in telling)
        case_id = "-".join(label for label in labels if label is not None)
        if len(case_id) > _LONGEST_ID:
            raise SpecError(
                f"study {study.name}: the name of a case is too long: {case_id[:80]}… has "
                f"{len(case_id)} letters, at most {_LONGEST_ID}",
                cause="it names a directory; it is made of the names of part and state, and of the "
                "values on the axes",
                remedy="a shorter name of the part or the state, or fewer axes",
            )
        resolved = resolve(case_id, study.name, axes, settings, catalog)
        case = with_estimate(resolved, settings.get(ESTIMATE, AS_STATED))
        if axes.get(ESTIMATE, AS_STATED) != AS_STATED and case == resolved:
            continue  # what this case does not have cannot be halved
        check_case(case)
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


def _telling(grid: Grid) -> list[str]:
    """The settings that make a case's id: axes with several values, file system and seed.

    An axis with one value tells no case from another. The seed is always there, so that an id
    stays what it is when more seeds are added; so is the file system if it is an axis, or if
    nothing but the seed is left.
    """
    always = (PART, "filesystem", "seed")
    names = [name for name in grid.axes if len(grid.stated[name].values) > 1 or name in always]
    return names if names != ["seed"] else ["filesystem", "seed"]


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


def _label(
    key: str, settings: Mapping[str, Any], axes: Collection[str], catalog: Catalog
) -> str | None:
    """The part of a case's id that an axis gives: words bare, numbers, on and off with their name.

    None for an option that the file system does not have, and for what is as it is stated.
    """
    value = settings.get(key, "")
    if (key == ESTIMATE and value == AS_STATED) or is_plain_version(key, value):
        return None
    last = key.rpartition(".")[2]
    if key == "seed":
        return f"s{value}"
    if isinstance(value, Mapping) or (
        key == "state" and any(n.startswith("state.") and n not in axes for n in settings)
    ):
        value = stated_state(settings, catalog, "state").name
    elif key == KERNEL:
        value = str(value).replace(":", ".")
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
    short = {"cpu_scale": "cpu", "partition_bytes": "part", VOLUME_BYTES: "volume"}
    prefix = short.get(key, last.replace("_", ""))
    return f"{prefix}{text}"


def _size_text(value: Any) -> str:
    try:
        return format_size(parse_size(value))
    except (TypeError, ValueError):
        return str(value)  # the check of the case says what is wrong with it


def select(cases: Sequence[Case], ids: Sequence[str], study: str = "STUDY") -> tuple[Case, ...]:
    """The cases called `ids`, in expansion order; UsageError for an id that is not there.

    An id may be a pattern of the shell, `ubifs-*`.

    With a case come those that measure its band, and its repeats. `study` is what the command line
    calls the study.
    """
    known = {case.id for case in cases}
    ids = [case_id for pattern in ids for case_id in fnmatch.filter(known, pattern) or [pattern]]
    for case_id in ids:
        if case_id not in known:
            raise UsageError(
                f"no case {case_id!r}{suggestion(case_id, known, close_matches=3)}",
                cause="the study, with its overrides, does not expand to it",
                remedy=f"{program()} run {study} --dry-run, which lists the {len(known)} cases",
            )
    if not ids:
        return tuple(cases)
    return tuple(case for case in cases if {case.id, _plain_id(case)} & set(ids))


def _plain_id(case: Case) -> str:
    """The id of the case whose layout is as it is, and which is run for the first time."""
    plain = case.id
    if case.perturbation:
        plain = plain.replace(f"-{PERTURBATION}{case.perturbation}", "")
    if case.repeat != FIRST_REPEAT:
        plain = plain.replace(f"-{REPEAT}{case.repeat}", "")
    return plain
