"""The shape of a workload's table in a study, made from what is stated of its keys."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Literal, cast, get_args, get_type_hints

import pydantic
from pydantic import AfterValidator

from ffslab.model.strict import Strict
from ffslab.model.workload import Form, KeyFacts, WorkloadType


@cache
def file_of(workload: WorkloadType[Any]) -> type[Strict]:
    """The shape of the table of one kind."""
    hints = get_type_hints(workload.settings)
    stated = [field for field in fields(workload.settings) if field.name != "kind"]
    shape: dict[str, Any] = {field.name: _in_file(field, hints[field.name]) for field in stated}
    default = workload.kind if workload.assumed else ...
    meaning = workload.keys["kind"].meaning
    kind = (
        cast(Any, Literal)[workload.kind],
        pydantic.Field(default=default, description=meaning),
    )
    name, doc = f"{workload.settings.__name__}File", workload.settings.__doc__
    return pydantic.create_model(name, __base__=Strict, __doc__=doc, kind=kind, **shape)


def _in_file(stated: Field[Any], hint: Any) -> tuple[Any, Any]:
    """A key's annotation and field in the shape of the table."""
    facts: KeyFacts = stated.metadata["key"]
    assert stated.default is not MISSING
    annotation: Any = hint
    if facts.form is not None:
        annotation = Annotated[_bounded(facts.form), AfterValidator(facts.form.read)]
    if facts.derived is not None:
        annotation = annotation | None
    bounds: dict[str, Any] = {"ge": facts.lowest, "le": facts.highest, "pattern": facts.pattern}
    return annotation, pydantic.Field(
        default=None if facts.derived is not None else stated.default,
        description=facts.meaning,
        **{name: bound for name, bound in bounds.items() if bound is not None},
    )


def _bounded(form: Form) -> Any:
    """The types of a form, its numbers with their range."""
    if form.highest is None:
        return form.types
    numbers = pydantic.Field(ge=0, le=form.highest)
    types: list[Any] = [
        Annotated[plain_type, numbers] if plain_type in (int, float) else plain_type
        for plain_type in get_args(form.types)
    ]
    return reduce(or_, types)
