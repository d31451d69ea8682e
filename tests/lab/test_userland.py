"""A guest of the lab is Linux to the programs that a script runs in it: all at once, in one script.

The programs are the host's: awk, getent, mount, python3. On the default kernel there are no
sockets, and the case says so; the kernel `sockets` has them.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from guest_programs import NIGHTLY
from lab_support import ROOT, results, run_study

sys.path.insert(0, str(ROOT / "tests" / "peers"))
from peer_programs import integck

from findings import finding

pytestmark = pytest.mark.usefixtures("lab")
STUDY = """
schema = 1
name = "userland"
title = "What programs find"

[base]
board = "apf27"
partition_bytes = "16 MiB"
seeds = [1]

[base.workload]
kind = "script"
script = "own.sh"

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2", "logfs"]
"""
FINDS = """set -e
echo "to stdout" >/dev/stdout
echo "to stderr" >/dev/stderr
echo "from stdin" | cat /dev/stdin
exec 3>by-descriptor; echo "by descriptor" >/dev/fd/3; exec 3>&-
echo "a b" | awk '{ print $2 " of awk" }'
echo "$(id -un) $(id -gn) $(getent passwd 65534 | cut -d: -f1) $(getent group tty)"
getent hosts localhost | tr -s ' '
unset TZ
echo "$(date +%Z) $(date -d @86400 +%F) $(uname -n)"
python3 - <<'END'
import _posixshmem, os
master, slave = os.openpty()
print("terminal", os.ttyname(slave), os.fstat(slave).st_gid)
_posixshmem.shm_open("/memory", os.O_CREAT | os.O_RDWR, mode=0o600)
print("shared", os.listdir("/dev/shm"))
END
cd /
umount /mnt
[ ! -e /mnt/by-descriptor ]
mount /mnt
cat /mnt/by-descriptor
umount /mnt
"""
FOUND = [
    *("to stdout", "to stderr", "from stdin", "b of awk", "root root nobody tty:x:5:"),
    *(
        "127.0.0.1 localhost lab",
        "UTC 1970-01-02 lab",
        "terminal /dev/pts/0 5",
        "shared ['memory']",
    ),
    "by descriptor",
]
SOCKETS = """exec python3 - <<'END'
import socket, threading
def answered(family, address):
    with socket.socket(family) as server:
        server.bind(address)
        server.listen()
        def answer():
            with server.accept()[0] as peer:
                peer.sendall(peer.recv(9).upper())
        threading.Thread(target=answer).start()
        with socket.create_connection(server.getsockname()) if family == socket.AF_INET else (
            socket.socket(family)
        ) as client:
            if family == socket.AF_UNIX:
                client.connect(address)
            client.sendall(b"told")
            print(family.name, client.recv(9).decode())
answered(socket.AF_UNIX, "socket")
answered(socket.AF_INET, ("localhost", 0))
try:
    socket.create_connection(("10.0.0.1", 80), 5)
except OSError as error:
    print(error.strerror)
END
"""


def study(directory: Path, script: str) -> Path:
    directory.mkdir()
    (directory / "own.sh").write_text(script)
    (directory / "own.toml").write_text(STUDY)
    return directory / "own.toml"


def output(run: Path, case: str) -> list[str]:
    return (run / "cases" / case / "output.log").read_text().splitlines()


def test_programs_find_what_linux_has(tmp_path: Path) -> None:
    file = study(tmp_path / "s", FINDS)
    runs = [run_study(file, tmp_path / name) for name in ("r1", "r2")]
    one, other = (run / "results.jsonl" for run in runs)
    assert one.read_bytes() == other.read_bytes()
    for result in results(runs[0]):
        told = output(runs[0], result["id"])
        assert result["outcome"] == "pass", (result["id"], result["reason"], told)
        begins = told.index("ffslab: the script begins")
        assert told[begins + 1 : begins + 1 + len(FOUND)] == FOUND
        assert 'there are no sockets (kernel = "sockets" has them)' in told[begins - 1]
        assert told[-1] == "ffslab: the script left /mnt unmounted, so it is mounted again"


@pytest.mark.skipif(not NIGHTLY, reason="FFSLAB_NIGHTLY=1 builds the kernel with sockets")
def test_sockets_of_the_kernel_that_has_them(tmp_path: Path) -> None:
    file = study(tmp_path / "s", SOCKETS)
    wanted = ("--set", "filesystem=['ubifs']")
    run = run_study(file, tmp_path / "r1", *wanted, "--set", "kernel=sockets")
    (result,) = results(run)
    told = output(run, result["id"])
    assert result["outcome"] == "pass", told
    begins = told.index("ffslab: the script begins")
    assert told[begins + 1 : -1] == ["AF_UNIX TOLD", "AF_INET TOLD", "Network is unreachable"]


def test_a_script_without_sockets_is_told_of_the_kernel_that_has_them(tmp_path: Path) -> None:
    file = study(tmp_path / "s", SOCKETS)
    run = run_study(file, tmp_path / "r", "--set", "filesystem=['ubifs']", status=1)
    (result,) = results(run)
    assert 'with them: kernel = "sockets"' in result["reason"], result["reason"]


WATCHES = """python3 -c '
import ctypes, os
if ctypes.CDLL(None, use_errno=True).inotify_init() < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
'
"""


def test_what_no_kernel_has_is_said_before_and_after(tmp_path: Path) -> None:
    file = study(tmp_path / "s", WATCHES)
    run = run_study(file, tmp_path / "r", "--set", "filesystem=['ubifs']", status=1)
    (result,) = results(run)
    assert "Function not implemented; likely cause: " in result["reason"]
    assert "no kernel of the lab has inotify, " in result["reason"]
    assert "no kernel of the lab has inotify, " in output(run, result["id"])[0]


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("bytearray(10**9)", "MemoryError"),
        ("[b'x' * (10**6 + n) for n in range(1000)]", "ffslab: for lack of RAM the kernel ended"),
    ],
    ids=["refused", "killed"],
)
def test_a_program_without_enough_ram_says_so(tmp_path: Path, program: str, told: str) -> None:
    file = study(tmp_path / "s", f'python3 -c "{program}"')
    run = run_study(file, tmp_path / "r", "--set", "filesystem=['ubifs']", status=1)
    (result,) = results(run)
    assert result["outcome"] == "fail"
    assert "the board has too little RAM for its programs" in result["reason"], result["reason"]
    assert [line for line in output(run, result["id"]) if line.startswith(told)]


SQLITE = """exec python3 - <<'END'
import sqlite3
for mode, locking in (("delete", "normal"), ("wal", "normal"), ("wal", "exclusive")):
    database = sqlite3.connect(f"{mode}-{locking}")
    try:
        database.execute(f"PRAGMA locking_mode={locking}")
        database.execute(f"PRAGMA journal_mode={mode}")
        database.execute("CREATE TABLE t (a)")
        database.commit()
        print(mode, locking, "works")
    except sqlite3.Error as error:
        print(mode, locking, error)
    database.close()
END
"""


def test_where_sqlite_has_a_write_ahead_log(tmp_path: Path) -> None:
    """As `advise` and the documents of the workload database say."""
    run = run_study(study(tmp_path / "s", SQLITE), tmp_path / "r")
    assert len(results(run)) == 4
    for result in results(run):
        has_map = not result["id"].startswith(finding("F-JFFS2-17", "jffs2"))
        shared = "works" if has_map else "disk I/O error"
        told = output(run, result["id"])[2:5]
        assert told == ["delete normal works", f"wal normal {shared}", "wal exclusive works"]


def test_integck_unmounts_and_mounts_ubifs(tmp_path: Path) -> None:
    file = study(tmp_path / "s", 'cd / && exec "$FFSLAB_FILES/integck" -e -n 2 /mnt')
    shutil.copy(integck(), file.parent)
    wanted = ("--set", "filesystem=['ubifs']", "--set", "partition_bytes='8 MiB'")
    file.write_text(file.read_text().replace('"own.sh"', '"own.sh"\nfiles = ["integck"]'))
    run = run_study(file, tmp_path / "r", *wanted)
    (result,) = results(run)
    assert result["outcome"] == "pass", output(run, result["id"])
    console = (run / "cases" / result["id"] / "console.log").read_text()
    assert console.count("UBIFS: mounted UBI device 0") >= 3  # the lab's, and two of integck
