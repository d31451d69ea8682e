"""Profiles: what a kernel wrote, windows of time, sums by function, the files for others' tools."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from ffslab.errors import DamagedResultError
from ffslab.protocol import profile as protocol
from ffslab.protocol.profile import (
    REST,
    Node,
    Profile,
    Window,
    WindowProfile,
    profile_argument,
    read_kernel_profile,
    read_profile,
    windows_of,
    write_profile,
)
from ffslab.protocol.records import parse_records
from ffslab.results.profiles import (
    changes,
    chosen,
    folded,
    functions_of,
    speedscope,
    stacks_of,
    tasks_of,
)

WRITE = Window("ffsmark/creation", 100, 200)


def kernel_file(
    path: Path,
    nodes: list[tuple[int, int, int, int, int]],
    names: tuple[str, ...] = ("", "vfs_write ", "yaffs_write yaffs", "yaffs_write.cold yaffs"),
    tasks: tuple[str, ...] = ("init", "kworker/u2:1"),
    windows: int = 1,
) -> Path:
    """A file as the kernel leaves it; the first node is what found no room."""
    text = b"\0".join(name.encode() for name in names) + b"\0"
    begins = [sum(len(name) + 1 for name in names[:n]) for n in range(len(names))]
    data = bytearray(protocol._NAMES_AT + len(text))
    protocol._HEADER.pack_into(
        *(data, 0, protocol._MAGIC, len(names), len(nodes), len(text), 9, 0, windows)
    )
    for number, task in enumerate(tasks):
        struct.pack_into("16s", data, protocol._TASKS_AT + 16 * number, task.encode())
    struct.pack_into(f"<{len(begins)}I", data, protocol._NAME_AT, *begins)
    for number, node in enumerate(nodes):
        protocol._NODE.pack_into(data, protocol._NODES_AT + protocol._NODE.size * number, *node)
    data[protocol._NAMES_AT :] = text
    path.write_bytes(data)
    return path


NODES = [
    (0, 0, 0, 0, 0),
    (0, 0 << 16 | 0, 5, 0, 0),  # init, in no window
    (0, 1 << 16 | 0, 1, 0, 0),  # init, while files are created
    (2, 1, 10, 0, 0),  # vfs_write
    (3, 2, 20, 3, 40),  # yaffs_write below it
    (4, 3, 7, 0, 0),  # and the part of that which the compiler put aside
    (0, 1 << 16 | 1, 2, 0, 0),  # a worker
    (6, 2, 4, 0, 0),  # yaffs_write, called by nobody
]


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    return read_kernel_profile(kernel_file(tmp_path / "profile.bin", NODES), [WRITE])


def test_the_kernels_tree_is_one_for_each_window_and_task(profile: Profile) -> None:
    rest, work = profile.windows
    assert (rest.name, rest.total_ns) == (REST, 5)
    assert work.window == WRITE
    assert list(work.stacks()) == [
        (("init",), [1, 0, 0]),
        (("init", "vfs_write"), [10, 0, 0]),
        (("init", "vfs_write", "yaffs_write yaffs"), [27, 3, 40]),
        (("kworker/u2:1",), [2, 0, 0]),
        (("kworker/u2:1", "yaffs_write yaffs"), [4, 0, 0]),
    ]
    assert work.total_ns == sum(sum(node[2:]) for node in NODES) - 5
    assert profile.lost_ns == 0


def test_what_found_no_room_is_told(tmp_path: Path) -> None:
    nodes = [(0, 0, 8, 1, 2), *NODES[1:]]
    assert read_kernel_profile(kernel_file(tmp_path / "p", nodes), [WRITE]).lost_ns == 11


@pytest.mark.parametrize(
    ("told", "damage"),
    [
        ("too few", lambda path: path.write_bytes(path.read_bytes()[:5000])),
        ("begin as one", lambda path: path.write_bytes(b"?" + path.read_bytes()[1:])),
        ("has no place", lambda path: kernel_file(path, [*NODES, (99, 1, 1, 0, 0)])),
        ("has no place", lambda path: kernel_file(path, [*NODES, (3, 77, 1, 0, 0)])),
        ("is nobody's", lambda path: kernel_file(path, [*NODES, (0, 2 << 16, 1, 0, 0)])),
        ("3 windows of 1", lambda path: kernel_file(path, NODES, windows=3)),
        ("No such file", lambda path: path.unlink()),
    ],
)
def test_a_damaged_file_is_no_profile(tmp_path: Path, told: str, damage: object) -> None:
    path = kernel_file(tmp_path / "profile.bin", NODES)
    assert callable(damage)
    damage(path)
    with pytest.raises(DamagedResultError, match=told):
        read_kernel_profile(path, [WRITE])


def test_what_is_kept_is_the_same_again(tmp_path: Path, profile: Profile) -> None:
    path = tmp_path / "profile.json"
    write_profile(profile, path)
    assert read_profile(path) == profile
    first = path.read_bytes()
    write_profile(read_profile(path), path)
    assert path.read_bytes() == first
    for cut in (0, 10, len(first) // 2):
        path.write_bytes(first[:cut])
        with pytest.raises(DamagedResultError, match="is no profile"):
            read_profile(path)


def _record(**values: object) -> bytes:
    return json.dumps({"v": 1, **values}).encode() + b"\n"


def test_windows_are_phases_and_the_steps_without_them() -> None:
    ended = {"status": "ok"}
    start = _record(type="start", agent="1.0.0", kernel="6.1", clock="page", seed=1)
    mount = _record(
        type="step", index=0, verb="mount", label="", t_start_ns=10, t_end_ns=20, **ended
    )
    counts = dict.fromkeys(
        ("files_created", "files_deleted", "files_read", "files_appended", "bytes_read"), 0
    )
    phases = [
        _record(
            **{"type": "phase", "workload": "ffsmark", "phase": name, **counts},
            **{"bytes_written": 0, "t_start_ns": begin, "t_end_ns": end, **ended},
        )
        for name, begin, end in (("creation", 30, 60), ("transactions", 60, 90), ("none", 95, 95))
    ]
    work = _record(
        type="step", index=1, verb="ffsmark", label="", t_start_ns=25, t_end_ns=100, **ended
    )
    windows = windows_of(parse_records(b"".join((start, mount, *phases, work))))
    assert windows == (
        Window("mount", 10, 20),
        Window("ffsmark/creation", 30, 60),
        Window("ffsmark/transactions", 60, 90),
    )
    assert profile_argument(windows) == "um_profile=profile.bin,10-20,30-60,60-90"


def test_a_function_has_its_own_time_and_that_of_all_it_called(profile: Profile) -> None:
    rows = {row.name: row for row in functions_of(chosen(profile, None))}
    assert list(rows) == ["yaffs_write yaffs", "vfs_write"]
    write = rows["yaffs_write yaffs"]
    assert (write.code_ns, write.driver_ns, write.chip_ns, write.own_ns) == (31, 3, 40, 74)
    assert (rows["vfs_write"].own_ns, rows["vfs_write"].total_ns) == (10, 80)
    assert list(tasks_of(chosen(profile, None))) == [("init", 81), ("kworker/u2:1", 6)]


def test_a_function_that_calls_itself_has_its_time_once() -> None:
    inner = Node("f", [5, 0, 0])
    tree = Node("init", calls={"f": Node("f", [1, 0, 0], {"g": Node("g", calls={"f": inner})})})
    (row,) = functions_of([WindowProfile(None, {"init": tree})])
    assert (row.own_ns, row.total_ns) == (6, 6)


def test_windows_are_chosen_by_name(profile: Profile) -> None:
    assert [window.name for window in chosen(profile, REST)] == [REST]
    assert [window.name for window in chosen(profile, None)] == ["ffsmark/creation"]
    assert chosen(profile, "mount") == ()
    rest = Profile(profile.windows[:1])
    assert chosen(rest, None) == rest.windows, "of a guest without a phase there is that"


def test_others_tools_read_the_stacks(profile: Profile) -> None:
    """The format of flamegraph.pl: frames without blanks and semicolons, one number at the end."""
    text = folded(chosen(profile, None))
    assert text == (
        "init 1\n"
        "init;vfs_write 10\n"
        "init;vfs_write;yaffs_write_yaffs 27\n"
        "init;vfs_write;yaffs_write_yaffs;[chip] 40\n"
        "init;vfs_write;yaffs_write_yaffs;[driver] 3\n"
        "kworker/u2:1 2\n"
        "kworker/u2:1;yaffs_write_yaffs 4\n"
    )


def test_speedscope_gets_a_profile_for_each_window(profile: Profile) -> None:
    told = speedscope(profile, "yaffs2-free-s1")
    names = [frame["name"] for frame in told["shared"]["frames"]]
    assert {"name": "yaffs_write", "file": "yaffs"} in told["shared"]["frames"]
    rest, work = told["profiles"]
    assert (rest["name"], rest["endValue"]) == (REST, 5)
    assert work["unit"] == "nanoseconds"
    assert work["endValue"] == sum(work["weights"]) == 87
    stacks = {
        tuple(names[n] for n in stack): ns
        for stack, ns in zip(work["samples"], work["weights"], strict=True)
    }
    assert stacks[("init", "vfs_write", "yaffs_write", "[chip]")] == 40
    assert len(stacks) == len(stacks_of(chosen(profile, None)))


def test_changes_are_the_largest_first(tmp_path: Path, profile: Profile) -> None:
    slower = [*NODES[:4], (3, 2, 20, 3, 90), *NODES[5:]]
    other = read_kernel_profile(kernel_file(tmp_path / "other", slower), [WRITE])
    rows = changes(chosen(profile, None), chosen(other, None))
    assert [(row.name, row.more_ns) for row in rows] == [("yaffs_write yaffs", 50)]
    (back,) = changes(chosen(other, None), chosen(profile, None))
    assert (back.old_ns, back.new_ns, back.more_ns) == (124, 74, -50)
    assert changes(chosen(profile, None), chosen(profile, None)) == ()
