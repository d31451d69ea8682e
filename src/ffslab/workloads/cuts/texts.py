"""What a guest that lost power has left behind."""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.results.console import Printed, read_log, scan_console


@dataclass(frozen=True, slots=True)
class GuestTexts:
    """`record` of the history, `log` of the chip, `walk` of the states.

    `log` is None if the guest did not come so far, or walked. `output` is the end of what its
    programs printed.
    """

    record: str
    log: str | None
    walk: str
    console: str
    passed: bool
    timed_out: bool
    output: str = ""

    @property
    def last(self) -> tuple[str, ...]:
        """The last lines that kernel and programs printed."""
        return Printed(read_log(self.console.splitlines()), self.output).last

    def death(self, silent: str) -> tuple[str, tuple[str, ...]]:
        """Why the guest ended before its plan did, and the lines that say so.

        `silent` is the reason if the kernel told none.
        """
        worst = scan_console(self.console)
        if worst:
            return worst[0].text, tuple(worst[0].excerpt)
        return "no end within the limit" if self.timed_out else silent, self.last
