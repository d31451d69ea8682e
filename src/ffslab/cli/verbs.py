"""The verbs in groups, an example or two of each, and how `ffslab --help` shows them.

Little more than typer is imported: `ffslab --help` takes a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typer.core import TyperGroup

from ffslab.errors import UsageError
from ffslab.program import program

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Run, and read what came out": (
        *("run", "exec", "cuts", "crash", "report", "open", "list", "show", "rm"),
        *("compare", "trend", "bisect", "rating", "lifetime", "export", "trace", "profile"),
        "reproduce",
    ),
    "Choose": ("advise", "size", "calibrate"),
    "Images and dumps": ("image", "fsck", "mkfs"),
    "Your own": ("new", "schema", "shell"),
    "Set up and develop": ("doctor", "setup", "completion", "man", "test", "bench"),
}
VERBS = tuple(verb for verbs in GROUPS.values() for verb in verbs)

# What stands behind the program's name.
EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "run": ("run quick", "run ffsmark --set filesystem=ubifs --seeds 3"),
    "exec": (
        "exec -- sqlite3 t.db 'create table t(x); insert into t values(1);'",
        "exec --fs ubifs --state aged --file rows.csv -- sh mine.sh",
    ),
    "cuts": (
        "cuts --calls examples/calls/rename-directory.calls --fs jffs2,ubifs",
        "cuts --calls mine.calls --board mt7621-gnubee --partition-bytes 2MiB",
    ),
    "crash": ("crash replay 3dacafe7", "crash minimize 3dacafe7 --run latest"),
    "report": ("report latest", "report results/20261128T204018Z-quick"),
    "open": ("open latest", "open"),
    "list": ("list runs", "list boards nand"),
    "show": ("show latest", "show latest ubifs-aged-s1"),
    "rm": ("rm latest", "rm results/20261128T204018Z-quick"),
    "compare": ("compare latest~1 latest", "compare latest --axis filesystem"),
    "trend": ("trend --study quick", "trend latest~2 latest~1 latest --case 'ubifs-*'"),
    "bisect": (
        "bisect ~/linux --good A --bad B --study quick --case ubifs-free-s1",
        "bisect . --good v6.1 --bad HEAD --study random --case apart-jffs2-s1",
    ),
    "rating": ("rating latest", "rating latest --json"),
    "lifetime": ("lifetime lifetime", "lifetime latest"),
    "export": ("export latest --format csv", "export latest --format parquet"),
    "trace": ("trace latest", "trace latest ubifs-free-s1"),
    "profile": (
        "profile quick --case ubifs-free-s1",
        "profile latest --phase ffsmark/creation --folded stacks.txt",
    ),
    "reproduce": ("reproduce ffsmark", "reproduce B6 C3"),
    "advise": ("advise router", "advise needs.toml --dry-run"),
    "size": ("size", "size jffs2 ubifs"),
    "calibrate": ("calibrate --access board.toml", "calibrate --help"),
    "image": ("image", "image rootfs.tar --fs ubifs --to rootfs.ubi"),
    "fsck": ("fsck yaffs2 dump.img", "fsck logfs dump.img"),
    "mkfs": ("mkfs yaffs2 rootfs rootfs.img", "mkfs logfs rootfs rootfs.img"),
    "new": ("new study mine", "new chip mychip"),
    "schema": ("schema study", "schema metrics"),
    "shell": ("shell", "shell quick"),
    "doctor": ("doctor", "doctor --json"),
    "setup": ("setup", "setup --variant debug"),
    "completion": ("completion bash", "completion zsh"),
    "man": ("man", "man --help"),
    "test": ("test --quick", "test tests/unit/test_units.py"),
    "bench": ("bench", "bench report -n 3"),
}
HELP = "help"

# Options by earlier names, which scripts of users may have, and what they are now.
RENAMED: Mapping[tuple[str, str], str] = {
    ("run", "--cases"): "--all",
    ("run", "--place"): "--access FILE",
    ("cuts", "--partition"): "--partition-bytes SIZE",
    ("open", "--index"): "`open index`",
    ("show", "--cases"): "--all",
    ("compare", "--table"): "--format md, --format csv and --json",
    ("calibrate", "--from"): "--run RUN",
    ("calibrate", "--place"): "--access FILE",
    ("image", "--partition"): "--partition-bytes SIZE",
    ("bench", "--json"): "--to PATH",
    ("bench", "--markdown"): "--format md",
}


def words_of(words: list[str]) -> list[str]:
    """The words of a command line, `help VERB` as `VERB --help`; UsageError for an option by a
    name that it no longer has.
    """
    if words[:1] == [HELP]:
        return [*words[1:], "--help"]
    verb = next((word for word in words if not word.startswith("-")), "")
    for word in words:
        option = word.partition("=")[0]
        if (verb, option) in RENAMED:
            raise UsageError(
                f"{verb} has no {option}: it is now called {RENAMED[verb, option]}",
                cause="the command is of an earlier build",
                remedy=f"{program()} {verb} --help",
            )
    return words


def epilog_of(verb: str, called: str) -> str:
    """The examples of a verb, as click keeps their lines."""
    lines = (f"  {called} {example}" for example in EXAMPLES[verb])
    return "\b\n" + "\n".join(("Examples:", *lines))


class Verbs(TyperGroup):
    """The application; its help lists the verbs group by group, each sentence whole."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """One section for each group that has a verb here."""
        for title, verbs in GROUPS.items():
            commands = ((verb, self.get_command(ctx, verb)) for verb in verbs)
            rows = [
                (verb, (command.help or "").strip().splitlines()[0])
                for verb, command in commands
                if command is not None
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
