"""What every shape of a TOML file is made of (pydantic is used at the border only)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]


class Strict(BaseModel):
    """No unknown keys, no conversion between types, immutable.

    A shape is built when it is first used: building all takes longer than a short command.
    """

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, populate_by_name=True, defer_build=True
    )
