"""The bindings of docs/answers/bit-flips.md."""

from __future__ import annotations

from figure_page import Page, Table, text
from figure_runs import Command, Quantity, said

RUN = Command("run bitflips")
PAGE = Page(document="docs/answers/bit-flips.md", commands=(RUN,), bindings=())
