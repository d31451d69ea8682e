"""A document of TOML as one of the shapes of `ffslab.model.files`; what is wrong in it, in words.

Every problem is told, with its key, its line where the text is at hand, and the nearest valid key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from ffslab.documents import document as document_path
from ffslab.errors import SpecError
from ffslab.model.files import BoardFile, ChipFile, FilesystemFile
from ffslab.model.names import suggestion
from ffslab.model.where import line_of
from ffslab.program import program

M = TypeVar("M", bound=BaseModel)


def validated(model: type[M], document: Mapping[str, Any], where: str, described: str = "") -> M:
    """`document` as `model`; raises SpecError with every problem, keys spelled out.

    `where`: a file, as a `Where` one whose lines are told. `described`: the document that has the
    format, if it is none of the catalog or of studies.
    """
    try:
        return model.model_validate(dict(document))
    except ValidationError as error:
        items = [dict(item) for item in error.errors()]
        _check_schema(items, where)
        problems = [_problem(model, item, where) for item in items]
        raise SpecError(
            f"{where}: " + "; ".join(problems),
            cause="a misspelt key or a value of the wrong kind",
            remedy=f"see {document_path(described)}" if described else _where_described(model),
        ) from error


def _check_schema(items: Iterable[Mapping[str, Any]], where: str) -> None:
    """SpecError for the format of another version, in which nothing else need be right."""
    for item in items:
        if item["loc"] == ("schema",) and isinstance(item["input"], int):
            raise SpecError(
                f"{where}: schema = {item['input']}: this ffslab reads schema 1",
                cause="another version of ffslab wrote it, or a typing mistake",
                remedy=f"schema = 1 if it is yours; {program()} --version tells of this one",
            )


# Keys of earlier builds: the key that took the place of each, and what to write.
_SUCCESSORS = {"text": ("contents", 'contents = "random" for text = false')}


def _where_described(model: type[BaseModel]) -> str:
    name = {ChipFile: "chip", BoardFile: "board", FilesystemFile: "filesystem"}.get(model)
    where = document_path("docs/catalog-format.md" if name else "docs/study-format.md")
    return f"see {where}, or: {program()} schema {name or 'study'}"


def _problem(model: type[BaseModel], item: dict[str, Any], where: str) -> str:
    keys, parent = _place(model, item["loc"])
    path = ".".join(keys)
    if item["type"] == "extra_forbidden":
        names = [field.alias or name for name, field in parent.model_fields.items()]
        now = _SUCCESSORS.get(keys[-1], ("", ""))
        hint = f" (now: {now[1]})" if now[0] in names else suggestion(keys[-1], names)
        return f"{line_of(where, item['loc'])}unknown key {path!r}{hint}"
    if item["type"] == "missing":
        return f"key {path!r} is missing"
    text = str(item["msg"]).removeprefix("Value error, ")
    shown = "" if isinstance(item["input"], dict) else f" (it is {item['input']!r})"
    return f"{path or 'document'}: {text}{shown}"


def _place(model: type[BaseModel], location: tuple[Any, ...]) -> tuple[list[str], type[BaseModel]]:
    """The keys that lead to a place, and the shape of the table that has the last of them.

    pydantic puts the branches of unions into a location, too: names of types, and what tells one
    shape from another. They are no keys.
    """
    keys: list[str] = []
    branches: list[type[BaseModel]] = []
    for part in location:
        chosen = next((shape for shape in branches if _is_called(shape, part)), None)
        if chosen is not None or part in _TYPES:
            # What is inside may have a key of that name: the workload cuts has a key `cuts`.
            model, branches = (chosen, []) if chosen else (model, branches)
            continue
        if len(branches) == 1:
            model = branches[0]
        keys.append(str(part))
        if isinstance(part, str):
            field = model.model_fields.get(part)
            branches = _shapes(field.annotation) if field else []
    return keys, model


_TYPES = ("str", "int", "bool", "float")


def _is_called(shape: type[BaseModel], word: Any) -> bool:
    """Whether a branch of a union is `word`: the shape's name, or its kind."""
    kind = shape.model_fields.get("kind")
    return word == shape.__name__ or (kind is not None and word in get_args(kind.annotation))


def _shapes(annotation: Any) -> list[type[BaseModel]]:
    """The shapes in an annotation: itself, in a list, in a union."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [shape for part in get_args(annotation) for shape in _shapes(part)]
