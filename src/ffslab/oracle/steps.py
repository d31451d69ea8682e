"""From a history and its record to the steps of a file system's log.

A *step* is what goes to flash at once, with what it changes in the tree: paths with the node before
and after. A call makes none, one, or more. Calls that returned an error make none, unless they may
have been carried out half way: then they leave doubts (`ffslab.oracle.world`).

For each number of calls the timeline knows how many steps they make, and how many of these the
promise calls durable once they have returned. A cut then leaves the tree after s steps, with s from
the durable ones to all that had begun.

What a sync makes durable follows from notes: a step is noted for objects; fsync of an object brings
to flash the last step that is noted for it, and so all steps before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ffslab.oracle.attributes import Attributes, part_of
from ffslab.oracle.files import PAGE_BYTES, FileLog, Version
from ffslab.oracle.history import History
from ffslab.oracle.observation import DIRECTORY, FILE, OTHER
from ffslab.oracle.operations import (
    DATA,
    FULL,
    OF_ATTRIBUTES,
    RENAMES,
    VERBS,
    FormatError,
    Operation,
)
from ffslab.oracle.promises import WRITE_BACK, Promise
from ffslab.oracle.record import Record
from ffslab.oracle.timeline import ContentsChange, Difference, Floor, Step, Timeline
from ffslab.oracle.world import (
    ANY_LINKS,
    DOUBTFUL,
    KIND_MADE_BY,
    ContradictionError,
    Node,
    Opened,
    World,
)

# Errors with which a call that names something has done nothing: EPERM, ENOENT, EBADF, EBUSY,
# EEXIST, EXDEV, ENOTDIR, EISDIR, EINVAL, EMLINK, EROFS, ENAMETOOLONG, ENOTEMPTY, ELOOP, ENODATA,
# EOPNOTSUPP. ENOSPC is not among them.
_REFUSED = frozenset({1, 2, 9, 16, 17, 18, 20, 21, 22, 31, 30, 36, 39, 40, 61, 95})
_INVALID, _NO_SPACE = 22, 28


def timeline(history: History, record: Record, promise: Promise) -> Timeline:
    """The steps; FormatError if the record is not of this history."""
    if len(record.calls) > len(history.operations):
        raise FormatError(
            f"the record has {len(record.calls)} calls, the history {len(history.operations)}",
            cause="they are not of one run",
        )
    if history.lower and not promise.joins:
        raise FormatError(
            f"{promise.filesystem} has nothing below it, and the history wants a tree there",
            cause="only an overlay has a lower file system",
            remedy="overlay-ubifs, overlay-jffs2, or another workload",
        )
    build = _Builder(promise, history.lower)
    for index, operation in enumerate(history.operations):
        errno = record.calls[index].errno if index < len(record.calls) else 0
        try:
            build.carry_out(index, operation, errno)
        except ContradictionError as contradiction:
            raise FormatError(
                f"operation {index} ({operation.line}) did not fail, but {contradiction}",
                cause="record and history are not of one run, or the file system is not the tree "
                "that the history made",
            ) from None
    return build.done()


@dataclass(slots=True)
class _Notes:
    """How many steps fsync and fdatasync of an object bring to flash."""

    fsync: int = 0
    fdatasync: int = 0


class _Builder:
    def __init__(self, promise: Promise, lower: Sequence[Operation]) -> None:
        self._promise = promise
        self._world = World(promise.root_links, promise.loose_attributes)
        if promise.joins:
            self._world.put_below(lower)
        self._start = self._world.nodes(range(len(self._world.objects)))
        self._steps: list[Step] = []
        self._made, self._durable = [0], [0]
        self._notes: dict[int, _Notes] = {}
        self._floors: dict[int, list[Floor]] = {}
        self._opened: set[int] = set()
        self._mapped: set[int] = set()  # what was stored through a mapping was not synced

    def done(self) -> Timeline:
        logs = {n: obj.log for n, obj in enumerate(self._world.objects) if obj.log}
        written_back: Iterable[int] = self._opened if self._promise.close_writes_back else ()
        return Timeline(
            start=self._start,
            steps=tuple(self._steps),
            made=tuple(self._made),
            durable=tuple(self._durable),
            floors={number: tuple(floors) for number, floors in self._floors.items()},
            logs=logs,
            written_back=frozenset(logs if self._promise.contents == WRITE_BACK else written_back),
            touched=self._world.touched,
            attributes={
                n: obj.attribute_logs
                for n, obj in enumerate(self._world.objects)
                if obj.attribute_logs
            },
        )

    def carry_out(self, index: int, operation: Operation, errno: int) -> None:
        durable = self._durable[-1]
        if errno:
            self._fail(index, operation, errno)
        else:
            self._succeed(index, operation)
            durable = max(durable, self._synced(index, operation))
        self._made.append(len(self._steps))
        self._durable.append(len(self._steps) if self._promise.returned_is_durable else durable)

    # Calls that succeed.

    def _succeed(self, index: int, operation: Operation) -> None:
        path, world = operation.path, self._world
        self._copy_up(index, operation)
        if VERBS[operation.verb].writes:
            self._write(index, operation)
        elif operation.verb == "truncate":
            number, log = world.file(path)
            self._contents(index, number, lambda: log.truncate(index, operation.size_bytes))
        elif operation.verb in KIND_MADE_BY:
            self._make(index, operation, KIND_MADE_BY[operation.verb])
        elif operation.verb in OF_ATTRIBUTES:
            number = world.must_find(path)
            self._attributes(
                index, number, operation, world.objects[number].attributes.after(operation)
            )
        elif operation.verb in ("link", "linkfd"):
            number = world.must_find(path)
            self._forget_doubtful(operation.other)
            self._name(
                index, number, lambda: world.add_name(number, operation.other), operation.other
            )
        elif operation.verb in ("unlink", "rmdir"):
            at_path = world.find(path)
            if at_path is None and path in world.doubtful:
                self._step(index, [], lambda: None, [path])
                return
            number = world.must_find(path)
            self._name(index, number, lambda: world.drop_name(path), path)
        elif operation.verb in RENAMES:
            self._rename(index, operation)
        elif operation.verb == "exchange":
            self._exchange(index, operation)
        elif operation.verb == "close":
            self._closed(index, world.close(path))
        elif operation.verb == "remount":
            world.opened.clear()
        elif VERBS[operation.verb].guesses:
            self._guess(index, operation)
        elif operation.filled:
            self._open(index, operation)

    def _guess(self, index: int, operation: Operation) -> None:
        """A file of which nobody knows what is in it, and which may be deleted in the end."""
        path, world = operation.path, self._world
        if world.find(path) is None:
            self._make(index, operation, FILE)
        number, log = world.file(path)
        self._contents(index, number, lambda: log.forget(index))
        if operation.verb == "turnover":
            self._name(index, number, lambda: world.drop_name(path), path)

    def _attributes(
        self, index: int, number: int, operation: Operation, changed: Attributes
    ) -> None:
        """A step, but for a part that comes to flash in its own time."""

        def act() -> None:
            self._world.set_attributes(number, changed, index)

        if part_of(operation) in self._promise.loose_attributes:
            act()
        else:
            self._step(index, [number], act)
            self._note([number], fdatasync=False)

    def _open(self, index: int, operation: Operation) -> None:
        world, path = self._world, operation.path
        number = world.must_find(path)
        if operation.verb == "tmpfile":
            number = world.make_unnamed(FILE, index)
        sync = VERBS[operation.verb].writes_sync
        if operation.has_descriptor:
            sync = world.opened[path].sync
        world.open(operation.filled, Opened(number, sync))
        self._opened.add(number)

    def _make(self, index: int, operation: Operation, kind: str) -> None:
        path, world = operation.path, self._world
        self._forget_doubtful(path)
        made = len(world.objects)
        self._name(index, made, lambda: world.make(kind, path, index, operation.other), path)

    def _write(self, index: int, operation: Operation) -> None:
        if self._world.find(operation.path) is None and not operation.has_descriptor:
            self._make(index, operation, FILE)
        number, log = self._world.file(operation.path)
        if operation.verb == "mapwrite":
            self._mapped.add(number)
        start = log.last.size_bytes if operation.verb == "append" else operation.offset_bytes
        size, seed = operation.size_bytes, operation.seed
        if size:
            self._contents(
                index, number, lambda: log.write(index, start, size, seed), [operation.path]
            )

    def _rename(self, index: int, operation: Operation) -> None:
        old, new, world = operation.path, operation.other, self._world
        number = world.must_find(old)
        self._forget_doubtful(new)
        victim = world.find(new)
        if victim == number:
            return  # two links to one file: rename(2) does nothing
        from_directory, to_directory = world.place(old)[0], world.place(new)[0]
        touched = [*world.below(number), from_directory, to_directory]
        noted = [to_directory]
        if operation.verb == "whiteout":
            touched.append(len(world.objects))
        if victim is not None:
            touched.append(victim)
            if self._promise.names_note_the_file:
                noted.append(victim)

        def appear() -> None:
            if victim is not None:
                world.drop_name(new)
            world.add_name(number, new)

        def both() -> None:
            world.drop_name(old)
            appear()
            if operation.verb == "whiteout":
                world.add_name(world.make_unnamed(OTHER, index, mode="0"), old)

        # What is in doubt below the old name is in doubt below the new one.
        moved = {
            new + path.removeprefix(old) for path in world.doubtful if path.startswith(f"{old}/")
        }
        if self._promise.rename_is_atomic or world.objects[number].kind == DIRECTORY:
            self._step(index, touched, both, [old, new], moved)
            noted.append(from_directory)
        else:
            self._step(index, touched, appear, [new], moved)
            self._note(noted)
            self._step(index, touched, lambda: world.drop_name(old), [old])
            noted = [from_directory]
        self._note(noted)
        if self._promise.fsync_notes_rename:
            self._note([number], fdatasync=False)

    def _exchange(self, index: int, operation: Operation) -> None:
        old, new, world = operation.path, operation.other, self._world
        old_object, new_object = world.must_find(old), world.must_find(new)
        if old_object == new_object:
            return
        directories = [world.place(old)[0], world.place(new)[0]]

        def act() -> None:
            world.drop_name(old)
            world.drop_name(new)
            world.add_name(old_object, new)
            world.add_name(new_object, old)

        touched = [*world.below(old_object), *world.below(new_object), *directories]
        self._step(index, touched, act, [old, new])
        self._note(directories)
        if self._promise.fsync_notes_rename:
            self._note([old_object, new_object], fdatasync=False)

    def _copy_up(self, index: int, operation: Operation) -> None:
        """What an overlay copies to the upper file system before the call itself.

        Nothing of that is to be seen, unless the file has several names.
        """
        verb, path, world = VERBS[operation.verb], operation.path, self._world
        if not self._promise.joins or not (verb.changes or operation.filled):
            return
        number = world.find(path)
        for name in (path, operation.other if operation.verb != "symlink" else ""):
            world.touch(name, index)
        if number is None or operation.has_descriptor or operation.verb == "unlink":
            return
        if not world.objects[number].is_divided_by_a_copy:
            return
        made = len(world.objects)
        self._step(index, [number, made], lambda: world.divide(path), [path])
        self._note([world.place(path)[0]])
        self._note([made], before=not self._promise.names_note_the_file)

    # Steps.

    def _name(self, index: int, number: int, act: Callable[[], object], path: str) -> None:
        """A step of one name, new or gone, of an object that may be new."""
        world = self._world
        directory = world.place(path)[0]
        touched = [directory, number]
        self._step(index, touched, act, [path])
        self._note([directory])
        is_new = world.objects[number].names == [world.place(path)]
        if self._promise.names_note_the_file:
            self._note([number])
        elif is_new:
            self._note([number], before=True)  # its inode goes ahead of the name

    def _contents(
        self,
        index: int,
        number: int,
        act: Callable[[], Version],
        cleared: Iterable[str] = (),
    ) -> None:
        log = self._world.objects[number].log
        assert log is not None
        before = log.last
        is_written_back = self._promise.contents == WRITE_BACK
        touched = [] if is_written_back else [number]

        def change_all() -> None:
            act()
            written_to = self._world.objects[number].attributes.written_to()
            self._world.set_attributes(number, written_to, index)

        self._step(index, touched, change_all, cleared)
        step = self._steps[-1]
        change = ContentsChange(number, before, log.last)
        self._steps[-1] = Step(step.operation, step.differences, change)
        is_resized = log.last.size_bytes != before.size_bytes
        # What is written back later of a file without a name is not, but for its contents.
        has_inode = bool(self._world.objects[number].names) or not is_written_back
        if self._promise.overwriting_is_noted or (is_resized and has_inode):
            self._note([number])

    def _step(
        self,
        index: int,
        touched: Iterable[int],
        act: Callable[[], object],
        cleared: Iterable[str] = (),
        doubted: Iterable[str] = (),
    ) -> None:
        """Does `act` as a step that changes what is to be seen of these objects.

        `cleared`: paths of which, and below which, nothing is in doubt any more; then `doubted`
        are, all of them below one that it touches.
        """
        world = self._world
        numbers = dict.fromkeys(touched)
        before = world.nodes(number for number in numbers if number < len(world.objects))
        for path in cleared:
            sure = {
                doubtful
                for doubtful in world.doubtful
                if doubtful == path or doubtful.startswith(f"{path}/")
            }
            world.doubtful -= sure
            before.update(dict.fromkeys(sure, DOUBTFUL))
            numbers.update(dict.fromkeys(self._known(sure)))
        world.doubtful.update(doubted)
        act()
        after = world.nodes(numbers)
        self._differences(index, before, {**after, **dict.fromkeys(doubted, DOUBTFUL)})

    def _differences(self, index: int, before: dict[str, Node], after: dict[str, Node]) -> None:
        differences = (
            Difference(path, before.get(path), after.get(path))
            for path in sorted({*before, *after})
            if before.get(path) != after.get(path)
        )
        self._steps.append(Step(index, tuple(differences)))

    def _known(self, paths: Iterable[str]) -> Iterable[int]:
        return [number for path in paths if (number := self._world.find(path)) is not None]

    def _forget_doubtful(self, path: str) -> None:
        """What may have been under a path was not: a call that it would hinder succeeded."""
        if path in self._world.doubtful and self._world.find(path) is not None:
            self._world.drop_name(path)

    # Calls that fail.

    def _fail(self, index: int, operation: Operation, errno: int) -> None:
        verb, path = VERBS[operation.verb], operation.path
        if operation.verb == "close" and path in self._world.opened:
            self._world.close(path)  # man 2 close: whatever it returned
        if operation.verb == "rename" and errno == _INVALID and self._world.find(path) is not None:
            # The upper file system refuses it: fs/overlayfs/dir.c, ovl_rename(), copies first.
            self._copy_up(index, operation)
        if errno in _REFUSED or not verb.changes:
            return
        for name in (path, operation.other):
            self._world.touch(name, index)
        if operation.verb in OF_ATTRIBUTES:
            number = self._world.must_find(path)
            doubted = self._world.objects[number].attributes.doubted(operation)
            self._attributes(index, number, operation, doubted)
        elif verb.writes or operation.verb == "truncate":
            if self._world.find(path) is None:
                if operation.verb == "truncate" or operation.has_descriptor:
                    return
                self._make(index, operation, FILE)
                self._doubt(index, [path])
            number, log = self._world.file(path)
            if self._world.objects[number].is_divided_by_a_copy:
                self._doubt(index, [path])  # it may have become a file of its own
            self._contents(index, number, lambda: log.forget(index))
        elif operation.verb in RENAMES or operation.verb == "exchange":
            self._doubt(index, [path, operation.other])
        elif operation.verb in KIND_MADE_BY:
            if errno != _NO_SPACE:
                self._make(index, operation, KIND_MADE_BY[operation.verb])
                self._doubt(index, [path])
        elif errno != _NO_SPACE or operation.verb != "link":
            self._doubt(index, [operation.other or path])

    def _doubt(self, index: int, paths: Iterable[str]) -> None:
        """From now on these paths, and all below, may be as they are or otherwise."""
        world = self._world
        known = [number for top in self._known(paths) for number in world.below(top)]
        directories = [world.place(path)[0] for path in paths]
        before = world.nodes([*known, *directories])
        for number in (*known, *directories):
            world.objects[number].links = ANY_LINKS
        # What may have moved is in doubt under the other names, too.
        stems = list(paths)
        tails = {path.removeprefix(stem) for stem in stems for path in before if _under(path, stem)}
        doubts = {stem + tail for stem in stems for tail in tails | {""}}
        world.doubtful |= doubts
        after = world.nodes([*known, *directories])
        after.update(dict.fromkeys(doubts, DOUBTFUL))
        self._differences(index, before, after)

    # Syncs.

    def _synced(self, index: int, operation: Operation) -> int:
        """How many steps are durable by this call; what it makes durable of contents is noted."""
        world, verb = self._world, VERBS[operation.verb]
        if verb.syncs_all:
            self._mapped.clear()
            for number, obj in enumerate(world.objects):
                self._floor(index, number, obj.log)
                self._attribute_floor(index, number)
            return len(self._steps)
        if (verb.writes or operation.verb == "truncate") and not operation.has_descriptor:
            self._closed(index, world.must_find(operation.path))
        sync = self._how_it_syncs(operation)
        if not sync:
            return 0
        number = world.must_find(operation.path)
        log, pages = world.objects[number].log, None
        if verb.writes and log is not None:
            change = log.change(log.last)
            pages = (change.start_bytes // PAGE_BYTES, -(-change.end_bytes // PAGE_BYTES))
        else:
            self._mapped.discard(number)
            if sync == FULL:
                self._attribute_floor(index, number)
        self._floor(index, number, log, pages)
        notes = self._notes.get(number, _Notes())
        return notes.fdatasync if sync == DATA else notes.fsync

    def _how_it_syncs(self, operation: Operation) -> str:
        verb = VERBS[operation.verb]
        if verb.writes and not operation.size_bytes:
            return ""  # mm/filemap.c, generic_file_write_iter(): no bytes, no sync
        if verb.writes and operation.has_descriptor and operation.verb != "mapwrite":
            return self._world.opened[operation.path].sync
        return verb.syncs

    def _closed(self, index: int, number: int) -> None:
        """A file was closed: its contents are on flash, but for what came through a mapping."""
        if self._promise.close_writes_back and number not in self._mapped:
            self._floor(index, number, self._world.objects[number].log)

    def _floor(
        self,
        index: int,
        number: int,
        log: FileLog | None,
        pages: tuple[int, int] | None = None,
    ) -> None:
        if log is not None:
            floor = Floor(index + 1, log.last.number, pages)
            self._floors.setdefault(number, []).append(floor)

    def _attribute_floor(self, index: int, number: int) -> None:
        for log in self._world.objects[number].attribute_logs.values():
            log.sync(index + 1)

    def _note(
        self, numbers: Iterable[int], *, before: bool = False, fdatasync: bool = True
    ) -> None:
        """The last step, or all before it, come to flash with an fsync of these objects."""
        for number in numbers:
            notes = self._notes.setdefault(number, _Notes())
            notes.fsync = max(notes.fsync, len(self._steps) - before)
            if fdatasync:
                notes.fdatasync = max(notes.fdatasync, len(self._steps) - before)


def _under(path: str, stem: str) -> bool:
    return path == stem or path.startswith(f"{stem}/")
