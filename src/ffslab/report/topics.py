"""What a report says in sentences: sentences, gathered by the question that they answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sentence:
    """A sentence or two. `weight` orders sentences for the summary: how far the leading ratio is
    from 1.
    """

    text: str
    weight: float = 0.0


@dataclass(frozen=True)
class Topic:
    """What the head of a report says on one question."""

    title: str
    sentences: tuple[Sentence, ...]
