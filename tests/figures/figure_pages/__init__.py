"""The documents whose figures are bound, by their names: a module for each."""

from __future__ import annotations

from importlib import import_module

from figure_page import Page

_NAMES = (
    *("bit-flips", "boot", "compression", "cut-results", "fixes", "full", "kernels", "lifetime"),
    *("power-cut", "sequences", "spi", "sqlite", "stalls", "which"),
)
PAGES: dict[str, Page] = {
    name: import_module(f"figure_pages.{name.replace('-', '_')}").PAGE for name in _NAMES
}
