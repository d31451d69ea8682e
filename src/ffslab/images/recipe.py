"""Recipes of source trees: catalog/trees/NAME.toml.

A recipe names Debian packages by version and SHA-256, which paths of each are taken, how some
are renamed, what is added, and what must come out: the shape, the digest, and the SHA-256 of
the canonical archive. So a tree is the same everywhere or it is an error.

In a pattern `*` and `?` stand for characters of one component, `**` for any characters, `[…]`
for one of a set. A package's directory is taken with what is taken below it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, field_validator

from ffslab.errors import SpecError
from ffslab.images.shape import TreeShape
from ffslab.loader import catalog_files, parse_toml, read_text
from ffslab.model.files import Name
from ffslab.model.strict import Strict
from ffslab.model.units import SIZE_MAX
from ffslab.paths import data_dir
from ffslab.program import program

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, le=SIZE_MAX)]
Mode = Annotated[str, Field(pattern=r"^[0-7]{3,4}$")]
Patterns = Annotated[list[str], Field(min_length=1)]


class PackageFile(Strict):
    """A Debian package and what is taken from it."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9.+-]*$")
    version: str = Field(min_length=1)
    file: str = Field(pattern=r"^pool/.+\.deb$", description="its path in Debian's archive")
    sha256: Sha256
    take: Patterns
    drop: list[str] = Field(default=[])
    links: bool = Field(default=True, description="false: its symbolic links are left out")


class RenameFile(Strict):
    """Paths that begin with `prefix` begin with `to` instead."""

    prefix: str = Field(min_length=1)
    to: str


class DirectoriesFile(Strict):
    """Directories that no package has, or whose mode is another one."""

    mode: Mode = "0755"
    paths: Patterns


class TextFile(Strict):
    """A file that is written here because it is made when a system is set up."""

    path: str = Field(min_length=1)
    mode: Mode = "0644"
    text: str


class ExpectedFile(Strict):
    """What must come out. `bytes` are those of the regular files."""

    sha256: Sha256
    digest: str = Field(pattern=r"^[0-9a-f]{16}$")
    directories: Count
    files: Count
    links: Count
    others: Count
    bytes: Count
    largest_file_bytes: Count
    depth: Count
    largest_directory: Count

    def shape(self) -> TreeShape:
        return TreeShape(**self.model_dump(exclude={"sha256", "digest"}))


class Recipe(Strict):
    """catalog/trees/NAME.toml. `time_s` is the modification time of what is added, in seconds
    since 1970."""

    schema_version: Literal[1] = Field(alias="schema")
    name: Name
    title: str
    description: str = Field(min_length=10)
    mirrors: Patterns
    time_s: Count
    packages: list[PackageFile] = Field(min_length=1)
    rename: list[RenameFile] = Field(default=[])
    links: dict[str, str] = Field(default={}, description="path = target")
    directories: list[DirectoriesFile] = Field(default=[])
    texts: list[TextFile] = Field(default=[])
    expected: ExpectedFile

    @field_validator("packages")
    @classmethod
    def _each_once(cls, value: list[PackageFile]) -> list[PackageFile]:
        names = [package.name for package in value]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"package {name} is there twice")
        return value


def recipe_paths() -> dict[str, Path]:
    """The files of all recipes, shipped and the user's own, by name."""
    return catalog_files(data_dir("catalog"), "trees")


def load_recipe(path: Path) -> Recipe:
    """Reads a recipe; raises SpecError that names the file, the key and what is wrong."""
    document = parse_toml(read_text(path), str(path))
    try:
        recipe = Recipe.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise SpecError(
            f"{path}: {key}: {first['msg']}",
            cause="a misspelt key or a value of the wrong kind",
            remedy=f"{program()} schema tree has all keys",
        ) from error
    if recipe.name != path.stem:
        raise SpecError(
            f"{path}: its name is {recipe.name!r}, but the file is called {path.stem!r}"
        )
    return recipe


@lru_cache(maxsize=1024)
def pattern_regex(pattern: str) -> re.Pattern[str]:
    """The regular expression of a recipe's pattern, for a whole path."""
    words = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*|\*|\?|\[[^\]/]+\])", pattern)
    return re.compile(
        "".join(
            words.get(
                part, part if part.startswith("[") and part.endswith("]") else re.escape(part)
            )
            for part in parts
        )
    )
