"""The plans of workload `tree`: each word of a case becomes steps with a phase of their own.

Nothing stands between two words but the record of the RAM in use: what a file system still does
in the background after one step is a part of the next, as it would be for a user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ffslab.model.case import Case
from ffslab.protocol.plan import plan_of, step
from ffslab.workloads.plans import SETTLE_QUIET_MS
from ffslab.workloads.rig import Rig
from ffslab.workloads.tree.keys import Tree
from ffslab.workloads.tree.steps import MOUNT, SPLITS, Step, guests_of, steps_of

# JFFS2 checks every inode in the background, 60 ms apart: 100 minutes for 100,000.
SETTLE_MAX_MS = 4 * 3_600_000
# What these words make is beside the image's files.
_MAKING = frozenset({"create", "copy", "log"})
# After these words the RAM in use is noted.
_REMEMBERED = frozenset({MOUNT, "unmount", "create", "copy", "list", "find", "read", "delete"})


@dataclass(slots=True)
class _Guest:
    """One guest while its plan is written; `new`: the next mount is that of a new file system."""

    case: Case
    tree: Tree
    rig: Rig
    new: bool


def guest_plans(case: Case, rig: Rig) -> tuple[str, ...]:
    """The plans of the guests that do what is before each `crash` or `restart`, and of the last."""
    workload = case.workload
    assert isinstance(workload, Tree)
    guests = guests_of(workload, case.state)
    plans = []
    for number, steps in enumerate(guests):
        first, last = number == 0, number == len(guests) - 1
        image = first and case.state.kind == "image"
        guest = _Guest(case, workload, rig, new=first and not image)
        lines = rig.begin(case, trace=last and case.trace)
        lines += rig.erase() if first else []
        lines += rig.write_image(case, phase="write") if image else []
        lines += _word_lines(guest, steps)
        plans.append(plan_of([*lines, *_end(rig, steps, last=last)]))
    return tuple(plans)


def _end(rig: Rig, steps: tuple[Step, ...], *, last: bool) -> list[str]:
    """Counts for the last time; after `crash` there is no further step.

    What is not on the flash by then is lost.
    """
    if last:
        return [*rig.snapshot("unmounted"), *rig.statistics()]
    crashes = bool(steps) and steps[-1].word == "crash"
    return [] if crashes else rig.snapshot("prepared")


def _word_lines(guest: _Guest, steps: Iterable[Step]) -> list[str]:
    """The steps of a guest's words."""
    lines: list[str] = []
    for word in steps:
        if not lines:
            lines.append(step("memory", label="start"))
        if word.word in SPLITS:
            continue
        lines += _WORDS[word.word](guest, word)
        if word.word in _REMEMBERED:
            lines.append(step("memory", label=word.phase))
    return lines


def _mount(guest: _Guest, word: Step) -> list[str]:
    new, guest.new = guest.new, False
    return guest.rig.mount(guest.case, new=new, named=word.phase_of)


def _unmount(guest: _Guest, word: Step) -> list[str]:
    return guest.rig.unmount(guest.case, named=word.phase_of)


def _settle(guest: _Guest, word: Step) -> list[str]:
    # A collector that never rests is no failure: the step's end is in the result.
    waits = {"quiet_ms": SETTLE_QUIET_MS, "max_ms": SETTLE_MAX_MS}
    return guest.rig.settle(**waits, phase=word.phase, may_fail=1)


def _sync(guest: _Guest, word: Step) -> list[str]:
    return [step("sync", target=guest.rig.directory, phase=word.phase)]


def _drop(_guest: _Guest, word: Step) -> list[str]:
    return [step("drop-caches", phase=word.phase)]


def _warm(guest: _Guest, word: Step) -> list[str]:
    return [step("tree-warm", dir=guest.rig.directory, phase=word.phase, seed=guest.case.seed)]


def _create(guest: _Guest, word: Step) -> list[str]:
    return [_create_line(guest, word, _generator_keys(guest), sync=guest.tree.sync)]


def _log(guest: _Guest, word: Step) -> list[str]:
    keys = {
        "files": "constant(1)",
        "directories": "constant(0)",
        "size": f"constant({guest.tree.write_bytes})",
        "depth": "constant(0)",
        "contents": "random",
        "seed": guest.case.seed,
    }
    return [_create_line(guest, word, keys, sync=True)]


def _create_line(guest: _Guest, word: Step, keys: Mapping[str, object], *, sync: bool) -> str:
    return step(
        "tree-create",
        dir=f"{guest.rig.directory}/{word.subject}",
        phase=word.phase,
        **keys,
        write_bytes=guest.tree.write_bytes,
        sync=int(sync),
    )


def _check(guest: _Guest, word: Step) -> list[str]:
    directory = f"{guest.rig.directory}/{word.subject}"
    return [step("tree-check", dir=directory, phase=word.phase, **_generator_keys(guest))]


def _generator_keys(guest: _Guest) -> dict[str, object]:
    tree = guest.tree
    keys: dict[str, object] = {
        "files": tree.files,
        "directories": tree.directories,
        "size": tree.size,
        "depth": tree.depth,
        "contents": tree.contents,
    }
    if tree.contents == "compressible":
        keys["compressibility_percent"] = tree.compressibility_percent
    return {**keys, "seed": guest.case.seed}


def _copy(guest: _Guest, word: Step) -> list[str]:
    source = {
        "from": f"{guest.rig.directory}/{word.source}" if word.source else guest.rig.directory
    }
    # Of all that there is, only what earlier steps made is left out: the rest is the image's.
    made = [step.subject for step in steps_of(guest.tree)[: word.index] if step.word in _MAKING]
    exclude = {"exclude": ",".join(made)} if made and not word.source else {}
    directory = f"{guest.rig.directory}/{word.subject}"
    return [step("tree-copy", dir=directory, **source, **exclude, phase=word.phase)]


def _list(guest: _Guest, word: Step) -> list[str]:
    return [
        step("tree-list", dir=guest.rig.directory, phase=word.phase, stat=int(guest.tree.list_stat))
    ]


def _find(guest: _Guest, word: Step) -> list[str]:
    tree = guest.tree
    keys = {"name": tree.find_name, "stat": int(tree.list_stat)}
    return [step("tree-find", dir=guest.rig.directory, phase=word.phase, **keys)]


def _read(guest: _Guest, word: Step) -> list[str]:
    files = guest.tree.read_files
    return [step("tree-read", dir=guest.rig.directory, phase=word.phase, files=files)]


def _delete(guest: _Guest, word: Step) -> list[str]:
    if word.subject:
        return [step("tree-delete", dir=f"{guest.rig.directory}/{word.subject}", phase=word.phase)]
    return [step("tree-delete", dir=guest.rig.directory, phase=word.phase, keep=1)]


_WORDS: Mapping[str, Callable[[_Guest, Step], list[str]]] = {
    MOUNT: _mount,
    "unmount": _unmount,
    "settle": _settle,
    "sync": _sync,
    "drop": _drop,
    "warm": _warm,
    "create": _create,
    "copy": _copy,
    "log": _log,
    "list": _list,
    "find": _find,
    "read": _read,
    "delete": _delete,
    "check": _check,
}
