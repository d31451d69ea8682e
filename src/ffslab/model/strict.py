"""What every shape of a TOML file is made of (pydantic is used at the border only)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from ffslab.model.units import SIZE_MAX

# Every number of a file has a range, stated here or where the number is declared
# (tests/unit/test_ranges.py).
COUNT_MAX = 10**9
Count = Annotated[int, Field(ge=0, le=COUNT_MAX)]
Positive = Annotated[int, Field(ge=1, le=COUNT_MAX)]
Bytes = Annotated[int, Field(ge=0, le=SIZE_MAX)]
Size = Bytes | str  # `parse_size` reads it


class Strict(BaseModel):
    """No unknown keys, no conversion between types, no infinity and no NaN, immutable.

    A shape is built when it is first used: building all takes longer than a short command.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        populate_by_name=True,
        defer_build=True,
        allow_inf_nan=False,
    )
