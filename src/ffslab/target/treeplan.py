"""The plans of workload `tree`: each word of a case becomes steps with a phase of their own.

Nothing stands between two words but the record of the RAM in use: what a file system still does
in the background after one step is a part of the next, as it would be for a user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ffslab.model.specs import Case, Tree
from ffslab.model.trees import MOUNT, SPLITS, Step, split_steps, steps_of
from ffslab.target.guest import IMAGE_NAME
from ffslab.target.planlines import (
    MOUNT_POINT,
    PARTITION,
    SETTLE_QUIET_MS,
    attach_line,
    beginning,
    mount_line,
    plan_of,
    statistics_lines,
    step,
    volume_line,
    write_image_line,
)

# JFFS2 checks every inode in the background, 60 ms apart: 100 minutes for 100,000.
SETTLE_MAX_MS = 4 * 3_600_000
_HOST = "/host"
_HOST_FILES = {
    "type": "hostfs",
    "source": "none",
    "target": _HOST,
    "options": "/proc/self/cwd",  # of the guest as the host runs it
    "flags": "ro",
}
# What these words make is beside the image's files.
_MAKING = frozenset({"create", "copy", "log"})
# After these words the RAM in use is noted.
_REMEMBERED = frozenset({MOUNT, "unmount", "create", "copy", "list", "find", "delete"})


def tree_plan_text(case: Case) -> str:
    """The plan of the case's own guest."""
    before, steps = split_steps(_tree(case))
    fresh = case.state.kind == "free" and not before
    return plan_of(
        beginning(case, trace=case.trace)
        + ([step("erase", mtd=PARTITION)] if fresh else [])
        + _word_lines(case, steps, new=fresh)
        + [step("snapshot", label="unmounted"), *statistics_lines()]
    )


def tree_preparation_plan_text(case: Case) -> str:
    """The plan of the guest that gets an erased flash, and does what is before `restart`.

    After `crash` there is no further step: what is not on the flash by then is lost.
    """
    before, _ = split_steps(_tree(case))
    crashes = bool(before) and before[-1].word == "crash"
    return plan_of(
        beginning(case, trace=False)
        + [step("erase", mtd=PARTITION)]
        + (_image_lines(case) if case.state.kind == "image" else [])
        + _word_lines(case, before, new=case.state.kind == "free")
        + ([] if crashes else [step("snapshot", label="prepared")])
    )


def _tree(case: Case) -> Tree:
    assert isinstance(case.workload, Tree)
    return case.workload


def _image_lines(case: Case) -> list[str]:
    """Writes the image, which is in the host's directory of the guest."""
    return [
        step("mount", **_HOST_FILES),
        write_image_line(case, f"{_HOST}/{IMAGE_NAME}", phase="write"),
        step("umount", target=_HOST),
    ]


def _word_lines(case: Case, steps: Iterable[Step], *, new: bool) -> list[str]:
    """The steps of words; a file system of its own on UBI needs a `new` volume first."""
    lines: list[str] = []
    for word in steps:
        if not lines:
            lines.append(step("memory", label="start"))
        if word.word in SPLITS:
            continue
        lines += _WORDS[word.word](case, word)
        if word.word == MOUNT and new and case.filesystem.ubi:
            lines.insert(-1, volume_line(case, phase="volume"))
            new = False
        if word.word in _REMEMBERED:
            lines.append(step("memory", label=word.phase))
    return lines


def _mount(case: Case, word: Step) -> list[str]:
    attach = [attach_line(case, phase=word.phase_of("attach"))] if case.filesystem.ubi else []
    return [*attach, mount_line(case, phase=word.phase, label=word.phase)]


def _unmount(case: Case, word: Step) -> list[str]:
    detach = step("ubi-detach", ubi=0, phase=word.phase_of("detach"))
    return [
        step("umount", target=MOUNT_POINT, phase=word.phase),
        *([detach] if case.filesystem.ubi else []),
    ]


def _settle(_case: Case, word: Step) -> list[str]:
    # A collector that never rests is no failure: the step's end is in the result.
    return [
        step("settle", quiet_ms=SETTLE_QUIET_MS, max_ms=SETTLE_MAX_MS, phase=word.phase, may_fail=1)
    ]


def _sync(_case: Case, word: Step) -> list[str]:
    return [step("sync", target=MOUNT_POINT, phase=word.phase)]


def _drop(_case: Case, word: Step) -> list[str]:
    return [step("drop-caches", phase=word.phase)]


def _warm(case: Case, word: Step) -> list[str]:
    return [step("tree-warm", dir=MOUNT_POINT, phase=word.phase, seed=case.seed)]


def _create(case: Case, word: Step) -> list[str]:
    return [_create_line(case, word, _generator_keys(case), sync=_tree(case).sync)]


def _log(case: Case, word: Step) -> list[str]:
    keys = {
        "files": "constant(1)",
        "directories": "constant(0)",
        "size": f"constant({_tree(case).write_bytes})",
        "depth": "constant(0)",
        "contents": "random",
        "seed": case.seed,
    }
    return [_create_line(case, word, keys, sync=True)]


def _create_line(case: Case, word: Step, keys: Mapping[str, object], *, sync: bool) -> str:
    return step(
        "tree-create",
        dir=f"{MOUNT_POINT}/{word.subject}",
        phase=word.phase,
        **keys,
        write_bytes=_tree(case).write_bytes,
        sync=int(sync),
    )


def _check(case: Case, word: Step) -> list[str]:
    directory = f"{MOUNT_POINT}/{word.subject}"
    return [step("tree-check", dir=directory, phase=word.phase, **_generator_keys(case))]


def _generator_keys(case: Case) -> dict[str, object]:
    tree = _tree(case)
    keys: dict[str, object] = {
        "files": tree.files,
        "directories": tree.directories,
        "size": tree.size,
        "depth": tree.depth,
        "contents": tree.contents,
    }
    if tree.contents == "compressible":
        keys["compressibility_percent"] = tree.compressibility_percent
    return {**keys, "seed": case.seed}


def _copy(case: Case, word: Step) -> list[str]:
    source = {"from": f"{MOUNT_POINT}/{word.source}" if word.source else MOUNT_POINT}
    # Of all that there is, only what earlier steps made is left out: the rest is the image's.
    made = [step.subject for step in steps_of(_tree(case))[: word.index] if step.word in _MAKING]
    exclude = {"exclude": ",".join(made)} if made and not word.source else {}
    directory = f"{MOUNT_POINT}/{word.subject}"
    return [step("tree-copy", dir=directory, **source, **exclude, phase=word.phase)]


def _list(case: Case, word: Step) -> list[str]:
    return [step("tree-list", dir=MOUNT_POINT, phase=word.phase, stat=int(_tree(case).list_stat))]


def _find(case: Case, word: Step) -> list[str]:
    tree = _tree(case)
    keys = {"name": tree.find_name, "stat": int(tree.list_stat)}
    return [step("tree-find", dir=MOUNT_POINT, phase=word.phase, **keys)]


def _delete(_case: Case, word: Step) -> list[str]:
    if word.subject:
        return [step("tree-delete", dir=f"{MOUNT_POINT}/{word.subject}", phase=word.phase)]
    return [step("tree-delete", dir=MOUNT_POINT, phase=word.phase, keep=1)]


_WORDS: Mapping[str, Callable[[Case, Step], list[str]]] = {
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
    "delete": _delete,
    "check": _check,
}
