"""Distributions of whole numbers, as the agent's step `tree-create` draws from them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ffslab.model.units import parse_size
from ffslab.model.workload import Form

_LARGEST = 2**31 - 1
_SYNTAX = re.compile(r"(constant|uniform|normal)\(([^,()]+)(?:,([^,()]+))?\)")
_NAMES = {"constant": ("N",), "uniform": ("LOW", "HIGH"), "normal": ("MEAN", "DEVIATION")}


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution of whole numbers: its kind and its one or two numbers, in thousandths."""

    kind: str
    thousandths: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.kind}({','.join(_decimal(number) for number in self.thousandths)})"

    @property
    def mean(self) -> float:
        """What a draw is on average, before it is rounded and cut at 0."""
        first, last = self.thousandths[0], self.thousandths[-1]
        return (first + last) / 2000 if self.kind == "uniform" else first / 1000

    @property
    def largest(self) -> float:
        """What practically no draw exceeds."""
        spread = 5 * self.thousandths[1] if self.kind == "normal" else 0
        first = self.thousandths[-1] if self.kind == "uniform" else self.thousandths[0]
        return (first + spread) / 1000


def _decimal(thousandths: int) -> str:
    whole, rest = divmod(thousandths, 1000)
    return f"{whole}.{rest:03d}".rstrip("0").rstrip(".") if rest else str(whole)


def parse_distribution(value: Any) -> Distribution:
    """A number, or `constant(N)`, `uniform(LOW,HIGH)`, `normal(MEAN,DEVIATION)`; ValueError.

    Numbers are decimal with up to three places, or sizes with a unit such as `10 KiB`.
    """
    text = f"constant({value})" if isinstance(value, (int, float)) else str(value).strip()
    if not isinstance(value, bool) and "(" not in text:
        text = f"constant({text})"
    match = _SYNTAX.fullmatch(text.replace(", ", ","))
    if isinstance(value, bool) or match is None:
        raise ValueError(
            f"{value!r} is not a distribution: a number, uniform(LOW, HIGH), or "
            "normal(MEAN, DEVIATION)"
        )
    kind = match[1]
    words = [word for word in (match[2], match[3]) if word is not None]
    if len(words) != len(_NAMES[kind]):
        raise ValueError(f"{value!r}: {kind} takes {' and '.join(_NAMES[kind])}")
    numbers = tuple(_thousandths(word.strip()) for word in words)
    if kind == "uniform" and numbers[0] > numbers[1]:
        raise ValueError(f"{value!r}: LOW is above HIGH")
    return Distribution(kind, numbers)


def _thousandths(word: str) -> int:
    if re.fullmatch(r"[0-9]+(\.[0-9]{1,3})?", word):
        whole, _, rest = word.partition(".")
        number = int(whole) * 1000 + int(rest.ljust(3, "0"))
    elif re.fullmatch(r"[0-9.]+ *[A-Za-z]+", word):
        number = parse_size(word) * 1000
    else:
        raise ValueError(
            f"{word} is below 0"
            if re.fullmatch(r"-[0-9.]+.*", word)
            else f"{word} is not a number: write digits, with up to three after a point, or a size "
            'such as "10 KiB"'
        )
    if number > _LARGEST * 1000:
        raise ValueError(f"{word} is above {_LARGEST}")
    return number


# A number stands for the constant.
DISTRIBUTION = Form(int | float | str, lambda value: str(parse_distribution(value)), _LARGEST)
