"""Makes quick.svg: a terminal with what a command printed.

./ffslab run quick --jobs 1 | PYTHON docs/images/terminal.py './ffslab run quick' > quick.svg

PYTHON is the one of ffslab's environment (`ls ~/.cache/ffslab`). A test compares the picture's
figures with those of a run.
"""

from __future__ import annotations

import io
import sys

from rich.console import Console
from rich.text import Text

COLUMNS = 80
# rich's own form without the fonts that a browser would fetch from elsewhere.
FORM = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: monospace; font-size: {char_height}px;
line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>
{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def picture(command: str, output: str) -> str:
    """The SVG of a terminal in which `command` has ended."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), highlight=False)
    console.print(Text(f"$ {command}", style="bold"))
    console.print(Text(output.rstrip("\n")))
    return console.export_svg(title="ffslab", code_format=FORM, unique_id="quick")


if __name__ == "__main__":
    print(picture(sys.argv[1], sys.stdin.read()), end="")
