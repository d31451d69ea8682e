"""The console that everything with columns and colours is printed on.

What it prints may come from a stranger's run. So brackets are no markup unless a `Text` says so,
and characters that act on a terminal are shown as escapes (`ffslab.visible_text`): as text is
taken, so that columns have the right width, and once more as it is rendered, whatever it was made
of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from ffslab.visible_text import ReaderGoneError, own_stream, visible

# Into a file or a pipe no line is broken: a path or an id in two pieces cannot be used.
_NO_LIMIT_COLUMNS = 10_000


class Screen(Console):
    """A console that no text can act on."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**{"highlight": False, "markup": False, "emoji": False, **how})

    @property
    def file(self) -> IO[str]:
        """What it writes to: also while a bar is shown, which puts itself before the stream."""
        return own_stream(super().file)

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file

    def on_broken_pipe(self) -> None:
        """As for all that is printed."""
        raise ReaderGoneError

    def render_str(self, text: str, **style: Any) -> Text:
        """As rich's, of the visible text."""
        return super().render_str(visible(text), **style)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As rich's, with every text visible; what rich itself tells the terminal is left."""
        return self._visible(super().render(renderable, options))

    @staticmethod
    def _visible(segments: Iterable[Segment]) -> Iterator[Segment]:
        for segment in segments:
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(visible(segment.text), segment.style)

    def out(self, *objects: Any, **how: Any) -> None:
        """As rich's, of the visible texts."""
        super().out(*(visible(str(value)) for value in objects), **how)


def screen(*, stderr: bool = False, width: int | None = None) -> Screen:
    """A console on standard output or standard error."""
    return Screen(stderr=stderr, width=width)


def terminal() -> Screen:
    """Standard output; a line is as long as it is when that is no terminal."""
    console = screen()
    return console if console.is_terminal else screen(width=_NO_LIMIT_COLUMNS)
