# SPDX-License-Identifier: GPL-2.0-only
"""End-to-end tests of the steps tree-*, on a temporary directory or a tmpfs.

usage: test_tree.py FFSAGENT

What is expected is computed here, or asked of cp, find and zlib.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import zlib
from pathlib import Path

from agent_support import NIGHTLY, Agent, Record, Skip, latency, main, of_type, phases, tmpfs

SHAPE = "files=constant(3) directories=constant(2) depth=constant(2) size=constant(750)"
MASK = (1 << 64) - 1


def tree(records: list[Record], phase: str) -> Record:
    (tree_record,) = [record for record in of_type(records, "tree") if record["phase"] == phase]
    return tree_record


def facts(record: Record) -> dict[str, int]:
    return {key: record[key] for key in ("directories", "files", "links", "others", "bytes")}


def below(top: Path) -> list[Path]:
    """Everything below a directory; links are not followed."""
    return [
        Path(folder) / name
        for folder, directories, others in os.walk(top)
        for name in (*directories, *others)
    ]


def on_disk(top: Path) -> dict[str, int]:
    """Counts of a directory, by os.walk."""
    counts = dict.fromkeys(("directories", "files", "links", "others", "bytes"), 0)
    counts["directories"] = 1
    kinds = {stat.S_IFDIR: "directories", stat.S_IFREG: "files", stat.S_IFLNK: "links"}
    for path in below(top):
        entry = path.lstat()
        kind = kinds.get(stat.S_IFMT(entry.st_mode), "others")
        counts[kind] += 1
        counts["bytes"] += entry.st_size if kind == "files" else 0
    return counts


def fnv(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & MASK
    return value


LETTERS = {
    stat.S_IFDIR: "d", stat.S_IFREG: "f", stat.S_IFLNK: "l", stat.S_IFCHR: "c",
    stat.S_IFBLK: "b", stat.S_IFIFO: "p", stat.S_IFSOCK: "s",
}  # fmt: skip


def digest(top: Path) -> str:
    """The digest of docs/plan-format.md, section 9."""
    total = 0
    for path in below(top):
        entry = path.lstat()
        letter = LETTERS[stat.S_IFMT(entry.st_mode)]
        mode = 0 if letter == "l" else stat.S_IMODE(entry.st_mode)
        data = b""
        if letter == "f":
            data = path.read_bytes()
        elif letter == "l":
            data = os.fsencode(path.readlink())
        elif letter in "cb":
            data = f"{os.major(entry.st_rdev)}:{os.minor(entry.st_rdev)}".encode()
        head = f"{mode} {letter} {entry.st_uid} {entry.st_gid}".encode()
        total += fnv(os.fsencode(path.relative_to(top)) + b"\0" + head + b"\0" + data)
    return f"{total & MASK:016x}"


def varied(top: Path) -> None:
    """Entries of all kinds that this user may make."""
    top.mkdir()
    (top / "sub" / "deeper").mkdir(parents=True)
    (top / "sub").chmod(0o2750)
    (top / "empty").write_bytes(b"")
    (top / "sub" / "with space").write_bytes(bytes(range(256)) * 700)
    (top / "sub" / "with space").chmod(0o4711)
    (top / "naïve").write_bytes(b"x")
    (top / "link").symlink_to("sub/with space")
    (top / "dangling").symlink_to("/nowhere")
    os.mkfifo(top / "sub" / "pipe", 0o640)
    if os.geteuid() == 0:
        os.chown(top / "empty", 1000, 100)
        os.lchown(top / "link", 1, 2)
        try:
            os.mknod(top / "sub" / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        except PermissionError:
            print("note: no right to make a device")
    os.utime(top / "naïve", ns=(1_234_567_890_123_456_789, 987_654_321_000_000_001))
    os.utime(top / "dangling", ns=(5 * 10**17, 6 * 10**17), follow_symlinks=False)
    os.utime(top / "sub", ns=(3 * 10**17, 4 * 10**17))


def test_tree_records(agent: Agent) -> None:
    top = agent.dir / "tree-1"
    records = agent.plan(
        f"tree-create dir={top} phase=create write_bytes=100 seed=77 {SHAPE}",
        f"tree-list dir={agent.dir} phase=list",
        f"tree-list dir={agent.dir} phase=list-2 stat=0",
        f"tree-find dir={agent.dir} phase=find name=file00002",
        f"tree-find dir={agent.dir} phase=find-2 name=f*3 stat=0",
        f"tree-check dir={top} phase=check seed=77 {SHAPE}",
    )
    assert of_type(records, "start")[0]["seed"] == 77
    whole = {"directories": 7, "files": 21, "links": 0, "others": 0, "bytes": 21 * 750}
    assert facts(tree(records, "create")) == facts(tree(records, "check")) == whole
    assert on_disk(top) == whole
    above = {**whole, "directories": 8}
    assert facts(tree(records, "list")) == facts(tree(records, "find")) == above
    # Sizes come from lstat().
    assert facts(tree(records, "list-2")) == {**above, "bytes": 0}
    assert tree(records, "create")["depth"] == 2 and tree(records, "list")["depth"] == 3
    assert {tree(records, name)["largest_directory"] for name in ("create", "list")} == {5}
    assert tree(records, "find")["found"] == 7 == tree(records, "find-2")["found"]
    counts = {
        ("create", "create"): 21, ("create", "mkdir"): 7, ("create", "request-write"): 21 * 8,
        ("list", "lstat"): 28, ("list", "readdir"): 16, ("find", "lstat"): 28,
        ("list-2", "readdir"): 16, ("check", "request-read"): 42, ("check", "readdir"): 14,
    }  # fmt: skip
    counted = {(r["phase"], r["op"]): r["count"] for r in of_type(records, "latency")}
    assert counts.items() <= counted.items(), counted
    assert ("list-2", "lstat") not in counted and ("find-2", "lstat") not in counted
    p = phases(records)
    assert p["create"]["files_created"] == 21 and p["create"]["bytes_written"] == 21 * 750
    assert p["check"]["files_read"] == 21 and p["check"]["bytes_read"] == 21 * 750
    assert not of_type(records, "space") and not of_type(records, "flash")


def test_tree_is_of_the_seed(agent: Agent) -> None:
    def make(seed: int, name: str) -> str:
        top = agent.dir / name
        records = agent.plan(
            f"tree-create dir={top} phase=c seed={seed}", f"tree-digest dir={top} phase=d"
        )
        assert facts(tree(records, "c")) == facts(tree(records, "d")) == on_disk(top)
        value = tree(records, "d")["digest"]
        assert value == digest(top)
        assert value == tree(agent.plan(f"tree-digest dir={top} phase=e"), "e")["digest"]
        return str(value)

    assert make(1, "one") == make(1, "again") != make(2, "other")


def test_files_of_a_list(agent: Agent) -> None:
    """Links lead where they would if the directory was the root; a number cuts a file."""
    top = agent.dir / "root"
    (top / "lib").mkdir(parents=True)
    (top / "lib" / "libc 1").write_bytes(bytes(200_000))
    (top / "libc").symlink_to("/lib/libc 1")
    (top / "empty").touch()
    listed = "%0A".join(("/libc", "lib/libc%201%0970000", "", "empty", "lib/libc%201%090"))
    records = agent.plan(f"tree-read dir={top} phase=read files={listed}")
    tree_record = tree(records, "read")
    assert (tree_record["files"], tree_record["bytes"]) == (4, 270_000)
    phase = phases(records)["read"]
    assert phase["files_read"] == 4 and phase["bytes_read"] == 270_000
    times = latency(records, "read", "read")
    assert times and times["count"] == 4


def test_files_that_cannot_be_read(agent: Agent) -> None:
    top = agent.dir / "root"
    top.mkdir()
    (top / "there").write_text("1")
    for listed, message in (
        ("there%0Anone", "cannot open {top}/none of the list"),
        (".", "cannot read {top}/."),
        ("../none", "cannot open"),
        ("a%09b", "line 1 of the list is not a path"),
        ("there%0A%09", "line 2 of the list is not a path"),
    ):
        records = agent.plan(f"tree-read dir={top} phase=read files={listed}", expect=1)
        assert message.format(top=top) in of_type(records, "end")[0]["message"], listed


def test_digest_of_all_kinds(agent: Agent) -> None:
    top = agent.dir / "varied"
    varied(top)
    wanted = digest(top)
    records = agent.plan(f"tree-digest dir={top} phase=digest expect={wanted}")
    assert tree(records, "digest")["digest"] == wanted
    assert facts(tree(records, "digest")) == on_disk(top)
    (top / "lost+found" / "below").mkdir(parents=True)
    agent.plan(f"tree-digest dir={top} phase=digest expect={wanted} exclude=x,lost+found")
    (top / "lost+found" / "below").rmdir()
    (top / "lost+found").rmdir()
    (top / "sub" / "deeper").chmod(0o700)
    records = agent.plan(f"tree-digest dir={top} phase=digest expect={wanted}", expect=1)
    end = records[-1]
    assert end["errno_name"] == "EBADMSG" and wanted in end["message"]
    assert tree(records, "digest")["digest"] == digest(top)
    assert phases(records)["digest"]["status"] == "error"


def test_known_digest(agent: Agent) -> None:
    """One file and one directory, their hashes written out."""
    (agent.dir / "a").mkdir(mode=0o755)
    (agent.dir / "a" / "b").write_bytes(b"hello\n")
    for path, mode in ((agent.dir / "a", 0o755), (agent.dir / "a" / "b", 0o644)):
        path.chmod(mode)
    owner = f"{os.getuid()} {(agent.dir / 'a').stat().st_gid}"
    entries = [f"a\0{0o755} d {owner}\0", f"a/b\0{0o644} f {owner}\0hello\n"]
    wanted = sum(fnv(entry.encode()) for entry in entries) & MASK
    if owner == "0 0":
        assert f"{wanted:016x}" == "a0c0dd9d0a5c7efd"
    agent.plan(f"tree-digest dir={agent.dir} phase=digest expect={wanted:016x}")


def test_copy_is_as_cp_makes_it(agent: Agent) -> None:
    top = agent.dir / "varied"
    varied(top)
    (agent.dir / "copy-0").mkdir()
    (agent.dir / "tree-9").write_text("not to be copied")
    cp = agent.scratch / "cp"
    subprocess.run(["cp", "-a", str(agent.dir), str(cp)], check=True)
    (cp / "copy-0").rmdir()
    (cp / "tree-9").unlink()
    copy = agent.dir / "copy-1"
    records = agent.plan(
        f"tree-copy from={agent.dir} dir={copy} phase=copy exclude=copy-,tree-",
        f"tree-digest dir={copy} phase=digest expect={digest(cp)}",
        f"tree-copy from={agent.dir} dir={top}/sub/inside phase=copy-2",
    )
    for path in sorted([cp, *cp.rglob("*")]):
        original = os.lstat(path)
        other = os.lstat(copy / path.relative_to(cp))
        assert (original.st_mode, original.st_uid, original.st_gid) == (
            other.st_mode,
            other.st_uid,
            other.st_gid,
        )
        if path != cp:  # which has lost two entries
            assert original.st_mtime_ns == other.st_mtime_ns, path
    assert facts(tree(records, "copy")) == on_disk(copy)
    assert phases(records)["copy"]["bytes_written"] == on_disk(copy)["bytes"]
    # A copy inside of what is copied is not copied into itself.
    assert not (top / "sub" / "inside" / "varied" / "sub" / "inside").exists()
    assert (top / "sub" / "inside" / "copy-1" / "varied" / "empty").exists()


def test_delete(agent: Agent) -> None:
    varied(agent.dir / "varied")
    outside = agent.scratch / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (agent.dir / "to-outside").symlink_to(outside)
    before = on_disk(agent.dir)
    records = agent.plan(f"tree-delete dir={agent.dir} phase=delete keep=1")
    assert facts(tree(records, "delete")) == {**before, "bytes": 0}
    assert not list(agent.dir.iterdir()) and (outside / "kept").exists()
    deleted = latency(records, "delete", "delete")
    removed = latency(records, "delete", "rmdir")
    assert deleted is not None and removed is not None
    assert deleted["count"] == before["files"] + before["links"] + before["others"]
    assert removed["count"] == before["directories"] - 1
    agent.plan(f"tree-delete dir={agent.dir} phase=delete")
    assert not agent.dir.exists()
    records = agent.plan(f"tree-delete dir={agent.dir} phase=delete", expect=1)
    assert records[-1]["errno_name"] == "ENOENT"


def saving(agent: Agent, name: str, keys: str, chunk: int) -> float:
    """Percent that zlib saves on the files of a tree, in pieces of so many bytes."""
    top = agent.dir / name
    agent.plan(f"tree-create dir={top} phase=c directories=constant(0) {keys}")
    before = after = 0
    for path in top.iterdir():
        data = path.read_bytes()
        for at in range(0, len(data), chunk):
            piece = data[at : at + chunk]
            before += len(piece)
            after += len(zlib.compress(piece))
    return 100 - 100 * after / before


def test_contents_compress_as_stated(agent: Agent) -> None:
    large = "files=constant(4) size=constant(300000)"
    small = "files=constant(100) size=uniform(2000,9000)"
    for percent in (0, 10, 25, 50, 75, 90, 100):
        for name, keys in (("large", large), ("small", small)):
            for chunk in (4096, 131072):
                keys_all = f"{keys} contents=compressible compressibility_percent={percent}"
                saved = saving(agent, f"{name}-{percent}-{chunk}", keys_all, chunk)
                assert abs(saved - percent) < 5, (name, percent, chunk, saved)
    assert saving(agent, "random", f"{large} contents=random", 131072) < 1
    # docs/plan-format.md states these.
    assert 58 < saving(agent, "text", f"{large} contents=text", 131072) < 66
    assert 48 < saving(agent, "text-4k", f"{large} contents=text", 4096) < 56


def wide_s(agent: Agent, files: int) -> float:
    """CPU time of a directory with that many files, from its creation to its deletion."""
    top = agent.dir / "wide"
    keys = f"files=constant({files}) directories=constant(0) size=constant(10)"
    before = os.times()
    records = agent.plan(
        f"tree-create dir={top} phase=create {keys}",
        f"tree-list dir={top} phase=list",
        f"tree-find dir={top} phase=find name=none",
        f"tree-check dir={top} phase=check {keys}",
        f"tree-delete dir={top} phase=delete",
    )
    after = os.times()
    assert tree(records, "list")["largest_directory"] == files == tree(records, "list")["files"]
    assert tree(records, "find")["found"] == 0 and not top.exists()
    spent = (after.children_user, after.children_system)
    return sum(spent) - before.children_user - before.children_system


def test_wide(agent: Agent) -> None:
    """Ten times as many entries in a directory take ten times as long, not a hundred times."""
    files = 100_000 if NIGHTLY else 8_000
    assert wide_s(agent, files) < 30 * wide_s(agent, files // 10)


def test_deep(agent: Agent) -> None:
    """2,000 levels."""
    top = agent.dir / "deep"
    keys = "files=constant(1) directories=constant(1) depth=constant(2000) size=constant(10)"
    records = agent.plan(
        f"tree-create dir={top} phase=create {keys}",
        f"tree-list dir={top} phase=list",
        f"tree-check dir={top} phase=check {keys}",
        f"tree-digest dir={top} phase=digest",
        f"tree-copy from={top} dir={agent.dir}/copy phase=copy",
        f"tree-digest dir={agent.dir}/copy phase=digest-2",
        f"tree-delete dir={agent.dir} phase=delete keep=1",
    )
    assert tree(records, "list")["depth"] == 2000 == tree(records, "copy")["depth"]
    assert tree(records, "digest")["digest"] == tree(records, "digest-2")["digest"]
    assert not list(agent.dir.iterdir())


def test_a_full_partition(agent: Agent) -> None:
    """ENOSPC ends a creation, not the plan; tree-warm is made for it."""
    with tmpfs(agent, "2m") as top:
        records = agent.plan(
            f"tree-warm dir={top} phase=warm",
            f"tree-create dir={top}/a phase=create depth=constant(0) files=constant(900)"
            " size=constant(5000)",
            f"tree-copy from={top}/a dir={top}/b phase=copy",
            f"tree-list dir={top} phase=list",
            f"tree-delete dir={top} phase=delete keep=1",
            expect=1,
        )
        p = phases(records)
        assert p["warm"]["status"] == "ok" and p["warm"]["bytes_written"] == 2 << 20
        assert tree(records, "warm")["bytes"] == 2 << 20
        for phase in ("create", "copy"):
            assert p[phase]["status"] == "error" and p[phase]["errno_name"] == "ENOSPC"
        assert 100 < tree(records, "create")["files"] < 900
        assert "after" in p["create"]["message"] and "of 900 files" in p["create"]["message"]
        assert p["list"]["status"] == p["delete"]["status"] == "ok"
        assert records[-1]["errno_name"] == "ENOSPC" and not list(top.iterdir())


def test_check_ends_the_plan(agent: Agent) -> None:
    top = agent.dir / "t"
    agent.plan(f"tree-create dir={top} phase=create {SHAPE}")
    (top / "dir001" / "file00001").write_bytes(b"")
    records = agent.plan(
        f"tree-check dir={top} phase=check {SHAPE}", f"tree-list dir={top} phase=list", expect=1
    )
    assert records[-1]["errno_name"] == "EBADMSG" and "list" not in phases(records)
    assert "/t/dir001/file00001 is shorter" in records[-1]["message"]
    records = agent.plan(
        f"tree-check dir={top} phase=check may_fail=1 {SHAPE}",
        f"tree-list dir={top} phase=list",
    )
    assert phases(records)["list"]["status"] == "ok"


def test_not_root(agent: Agent) -> None:
    """What may not be read says so, and owners stay as they are."""
    if os.geteuid() != 0:
        raise Skip("only root can become another user")
    varied(agent.dir / "varied")
    (agent.dir / "varied" / "sub" / "null").unlink(missing_ok=True)
    (agent.dir / "varied" / "sub").chmod(0o755)
    (agent.dir / "varied" / "sub" / "with space").chmod(0o644)
    for path in (agent.scratch, agent.dir):
        path.chmod(0o777)
    plan = agent.scratch / "plan"
    plan.write_text(
        f"ffsplan 1\ntree-copy from={agent.dir}/varied dir={agent.dir}/copy phase=copy\n"
        f"tree-delete dir={agent.dir}/varied phase=delete\n"
    )
    done = subprocess.run(
        [str(agent.program), "run", str(plan)],
        capture_output=True, text=True, timeout=60, user=65534, group=65534, extra_groups=[],
    )  # fmt: skip
    assert done.returncode == 1 and "Permission denied" in done.stderr, done.stderr
    assert "varied" in done.stderr and "cannot delete" in done.stderr
    assert os.lstat(agent.dir / "copy" / "empty").st_uid == 65534


def test_wrong_keys_say_what_to_do(agent: Agent) -> None:
    wrong = {
        "tree-create phase=c": "needs dir=",
        "tree-create dir=/x": "needs phase=",
        "tree-create dir=/x phase=c files=gauss(4,1)": "files=gauss(4,1) is no distribution",
        "tree-create dir=/x phase=c depth=uniform(5,2)": "LOW is above HIGH",
        "tree-create dir=/x phase=c size=normal(5)": "two numbers",
        "tree-create dir=/x phase=c contents=words": "random, zeros, printable, text, compressible",
        "tree-create dir=/x phase=c contents=text compressibility_percent=50": "leave it out",
        "tree-create dir=/x phase=c compressibility_percent=101": "from 0 to 100",
        "tree-check dir=/x phase=c write_bytes=4096": "has no key 'write_bytes'",
        "tree-check dir=/x phase=c size=constant(-1)": "below 0",
        "tree-find dir=/x phase=f": "needs name=",
        "tree-delete dir=/ phase=d": "would delete the whole system",
        "tree-delete dir=//. phase=d keep=1": "would delete the whole system",
        "tree-delete phase=d": "needs dir=",
        "tree-copy from=/x dir=/x phase=c": "are both /x",
        "tree-digest dir=/x phase=d expect=12": "16 lower-case hex digits",
        "tree-digest dir=/x phase=d expect=0123456789ABCDEF": "16 lower-case hex digits",
        "tree-warm dir=x phase=w": "not an absolute path",
    }
    for line, message in wrong.items():
        end = agent.plan(line, expect=2)[-1]
        assert message in end["message"] and end["message"].startswith("line 2"), end["message"]
        assert end["steps_run"] == 0
    top = agent.dir / "t"
    late = {
        "files=constant(6000000)": ("EINVAL", "more than 5000000 entries"),
        "directories=constant(1) depth=constant(9000)": ("ENAMETOOLONG", "deeper than 8192"),
    }
    for keys, (name, message) in late.items():
        end = agent.plan(f"tree-create dir={top} phase=c {keys}", expect=1)[-1]
        assert end["errno_name"] == name and message in end["message"]
        assert not top.exists()


if __name__ == "__main__":
    sys.exit(main(globals()))
