"""The plans of guests that lose power.

A guest loads the chip that logs what it changes, makes a new file system, carries out a history
while the chip logs, and unmounts. Then it does what the guest is for: it tells the log, or goes
through states. What it writes goes to files of its directory on the host, where it is even if the
guest dies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ffslab.model.case import Case
from ffslab.model.specs import Board
from ffslab.oracle.acts import BEGINNINGS, Act, acts_for
from ffslab.oracle.calls import history_of_calls
from ffslab.oracle.faults import kinds_on
from ffslab.oracle.generators.registry import history_of_kind, worn_erases_of_kind
from ffslab.oracle.history import History
from ffslab.oracle.operations import SHOWS_ATTRIBUTES
from ffslab.oracle.promises import promise_of
from ffslab.oracle.sequences import Tree
from ffslab.protocol.plan import plan_of, step
from ffslab.workloads.cuts.keys import Cuts
from ffslab.workloads.cuts.lower import lower_image
from ffslab.workloads.cuts.tree import kinds_word
from ffslab.workloads.rig import CUTTER, Cutting, Rig

RECORD, WALK, STATES = "record", "walk", "states"  # files on the host
HISTORY, LOWER = "/history", "/lower"  # files of the guest
INTERRUPTED = "/interrupted"  # another one
LOG_MIB = 256  # as much as the chip's log may take
SERIES_LOG_MIB = 768  # and of a series: JFFS2 may write its flash many times until it is full
_BESIDE_MIB = 64  # its tables, and the page cache of what is written
_CUT_AT = 40  # operations behind what was synced: in the midst of what was not
_FORMATTED_MS = 2000  # until an empty file system has been formatted; nothing but virtual time
_TIMES = (
    *("t_command_ns", "t_read_ns", "t_prog_byte_ns", "t_prog_ns", "t_erase_ns"),
    *("bus_read_ps", "bus_write_ps", "ecc_read_ns", "ecc_write_ns"),
)


@dataclass(frozen=True, slots=True)
class Cutter:
    """One file system on its chip with one history, as its guests are told of it.

    `case` is as `guest_case` makes it. A series has no history: "". `worn_erases`: so much more
    often every fourth block of UBI has been erased, as it says. `lower`: an image of what is below
    an overlay; b"": of nothing. `interrupted`: calls behind the history in which power is cut.
    """

    case: Case
    rig: Rig
    history: str
    check: str
    paired_distance_pages: int = 0
    worn_erases: int = 0
    lower: bytes = b""
    interrupted: str = ""

    @property
    def cutting(self) -> Cutting:
        """The steps of a target that can cut power."""
        cutting = self.rig.cutting
        assert cutting is not None  # the campaign has looked
        return cutting


def cuts_of(case: Case) -> Cuts:
    """The workload of a case of this kind."""
    workload = case.workload
    assert isinstance(workload, Cuts)
    return workload


def cuts_on_chip(case: Case) -> Cuts:
    """The workload with the kinds of cut that the case's chip can have."""
    workload = cuts_of(case)
    kinds = kinds_on([case.board.chip.technology], workload.cut_kinds)
    return replace(workload, kinds=" ".join(kinds))


def acts_of(case: Case) -> tuple[tuple[Act, ...], tuple[str, ...]]:
    """The acts of a case of sequences, and the names of those that its file system refuses."""
    workload, promise = cuts_of(case), promise_of(case.filesystem.stack)
    return acts_for(workload.act_set, workload.beginning, promise.refuses)


def tree_of(case: Case) -> Tree:
    """The sequences of a case that has them."""
    workload = cuts_of(case)
    acts, _ = acts_of(case)
    return Tree(acts, workload.length, case.seed, workload.beginning)


def history_of(case: Case) -> History:
    """The calls in which power is cut; of sequences those before them; not of a series."""
    workload = cuts_of(case)
    if workload.is_sequences:
        return tree_of(case).start
    if workload.is_calls:
        return history_of_calls(workload.calls, case.seed)
    return history_of_kind(workload.history, case.seed, workload.settings)


def cutter_of(case: Case, rig: Rig, history: History | None = None) -> Cutter:
    """What the guests of a case are told; its own history, or one that it was made smaller to."""
    workload = cuts_of(case)
    if workload.is_series:
        return Cutter(guest_case(case), rig, "", workload.check)
    if workload.is_sequences:
        return _cutter_of_sequences(case, rig)
    made = history or history_of(case)
    worn = 0
    if not workload.is_calls:
        worn = worn_erases_of_kind(workload.history, workload.settings)
    distance = workload.paired_distance_pages
    return Cutter(
        *(guest_case(case), rig, made.text, workload.check, distance, worn), lower_image(made)
    )


def _cutter_of_sequences(case: Case, rig: Rig) -> Cutter:
    workload, tree = cuts_of(case), tree_of(case)
    cut = len(tree.start.operations) - len(tree.interrupted)
    return Cutter(
        *(guest_case(case), rig, History(tree.start.operations[:cut]).text, workload.check),
        paired_distance_pages=workload.paired_distance_pages,
        interrupted=History(tree.interrupted).text,
    )


def guest_case(case: Case) -> Case:
    """The case as its guests get it: memory for the log, and no time unless it is timed."""
    workload = cuts_of(case)
    log_mib = SERIES_LOG_MIB if workload.is_series else LOG_MIB
    board = _board(case.board, log_mib, is_timed=workload.is_timed)
    if workload.is_sequences:
        keys: dict[str, Any] = dict(BEGINNINGS[workload.beginning].chip)
        board = replace(board, chip=replace(board.chip, **keys))
    return replace(case, board=board, cpu_scale=case.cpu_scale if workload.is_timed else 0)


def _board(board: Board, log_mib: int, *, is_timed: bool) -> Board:
    times: dict[str, Any] = {} if is_timed else dict.fromkeys(_TIMES, 0)
    # The chip's log takes memory, which a small board has none of.
    ram_bytes = board.ram_bytes + (log_mib + _BESIDE_MIB) * 2**20
    return replace(board, ram_bytes=ram_bytes, chip=replace(board.chip, **times))


def guest_plans(case: Case, rig: Rig) -> tuple[str, ...]:
    """The plan of the guest whose chip logs the history, of those to come the first."""
    return (log_plan(cutter_of(case, rig)) if rig.cutting else "",)


def log_plan(cutter: Cutter) -> str:
    """The plan of a guest that tells the chip's log of the history."""
    return _plan(cutter, step("capture", path=cutter.cutting.log))


def walk_plan(cutter: Cutter) -> str:
    """The plan of a guest that goes through states."""
    return _plan(cutter, walk_step(cutter))


def series_plan(cutter: Cutter, words: Sequence[str]) -> str:
    """The plan of a guest with a series; `words` are keys of ffscrash series, the cuts first."""
    line = _exec(
        *("series", cutter.cutting.chip, words[0], *_mounting(cutter)),
        *words[1:],
        f"output={cutter.cutting.host}/{WALK}",
    )
    return _plan(cutter, line)


def tree_plan(cutter: Cutter, after: str) -> str:
    """The plan of a guest with sequences; `after`: a state of the first behind which it begins."""
    cuts = cuts_on_chip(cutter.case)
    words = [f"kinds={kinds_word(cuts.cut_kinds)}", f"variants={cuts.variants}"]
    words += [f"after={after}"] if after else []
    return _plan(cutter, _walked(cutter, "tree", *words))


def walk_step(cutter: Cutter) -> str:
    """The step that goes through states."""
    return _walked(cutter, "walk")


def states_file(cutter: Cutter) -> str:
    """Where a guest finds its states. It is on the host: the guests of a history have the same in
    memory until they have logged it, so that even a kernel whose tasks run in another order when
    an address changes (7.3) logs the same in each.
    """
    return f"{cutter.cutting.host}/{STATES}"


def _walked(cutter: Cutter, verb: str, *words: str) -> str:
    if _shows_attributes(cutter):
        words = (*words, "attributes=1")
    return _exec(
        *(verb, cutter.cutting.chip, states_file(cutter), *_mounting(cutter)),
        *(f"check={cutter.check}", f"output={cutter.cutting.host}/{WALK}", *words),
    )


def _shows_attributes(cutter: Cutter) -> bool:
    """Whether a call of its changes what is looked at only then."""
    workload = cuts_of(cutter.case)
    if workload.is_sequences:
        acts = tree_of(cutter.case).acts
        calls = [call for act in acts for call in act.lines(is_synced=False)]
    else:
        calls = cutter.history.splitlines()
    return any(call.partition(" ")[0] in SHOWS_ATTRIBUTES for call in calls)


def _plan(cutter: Cutter, last: str) -> str:
    """The plan of a guest; `last` is its step after the chip has logged the history."""
    case, rig, cutting = cutter.case, cutter.rig, cutter.cutting
    log_mib = LOG_MIB if cutter.history else SERIES_LOG_MIB
    written = f"output={cutting.host}/{RECORD}"
    history = _exec("history", HISTORY, rig.directory, cutting.chip, written)
    # Once a program has run, the guest's kernel mounts no more of the host.
    host_files, wear = cutting.host_files(), _wear(cutter)
    logged = _exec("chip", cutting.chip, "log", str(log_mib))
    called = [history] if cutter.history else []
    # The flash that sequences begin on is not to be cut.
    is_begun = cuts_of(case).is_sequences
    return plan_of(
        [
            *cutting.devices(case, cutter.paired_distance_pages),
            *rig.erase(),
            *([*host_files, *wear] if wear else []),
            *cutting.mount_new(case, LOWER, len(cutter.lower)),
            step("sleep", ms=_FORMATTED_MS),
            *([] if wear else host_files),
            *([] if is_begun else [logged]),
            *called,
            *(_interrupted(cutter, logged) if cutter.interrupted else ()),
            *cutting.unmount(case),
            *([logged] if is_begun else []),
            _exec("chip", cutting.chip, "stop"),
            last,
        ]
    )


def _interrupted(cutter: Cutter, logged: str) -> list[str]:
    """Power is cut in some calls, and the file system mounted again."""
    case, rig, cutting = cutter.case, cutter.rig, cutter.cutting

    def chip(*words: str) -> str:
        return _exec("chip", cutting.chip, *words)

    return [
        logged,
        _exec("history", INTERRUPTED, rig.directory),
        *cutting.unmount(case),
        *(chip("stop"), chip("at", str(_CUT_AT)), chip("cut", "lost", "0")),
        *rig.staying().mount(case),
        step("sleep", ms=_FORMATTED_MS),
        chip("off"),
    ]


def _exec(*words: str) -> str:
    return step("exec", path=CUTTER, args=" ".join(words))


def _wear(cutter: Cutter) -> list[str]:
    """UBI gives each block a counter when it is attached for the first time."""
    case, cutting = cutter.case, cutter.cutting
    if not (cutter.worn_erases and case.filesystem.ubi):
        return []
    return [
        *cutting.attach(case),
        step("sleep", ms=_FORMATTED_MS),
        *cutting.detach(case),
        _exec("wear", cutting.partition, str(cutter.worn_erases)),
    ]


def _mounting(cutter: Cutter) -> list[str]:
    """The words of ffscrash that say how the file system is attached and mounted."""
    case, setup = cutter.case, cutter.case.filesystem
    words: list[str] = []
    for layer in cutter.cutting.layers(case):
        words += ["+"] if words else []
        words += [layer.type or "-", layer.source or "-", layer.target]
        words.append(",".join(layer.options) or "-")
    if setup.ubi:
        words += [cutter.cutting.partition, f"vid_hdr_offset={setup.ubi.vid_hdr_offset}"]
        words.append(f"max_beb_per1024={case.ubi_beb_per1024}")
        words += ["ubi_block=0"] if setup.ubi.block else []
    return words
