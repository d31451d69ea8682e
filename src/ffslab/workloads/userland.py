"""What a guest has of /etc, so that programs of a distribution find what they expect there.

The guest's root is the lab's, with the programs of the host in it. The same files are there on
every host, whatever its own are: users, groups and names of hosts that every Linux has, UTC as the
zone of time, and a table of file systems with the one under test, which `mount DIRECTORY` reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ffslab.model.case import Case
from ffslab.model.workload import GuestFile
from ffslab.protocol.plan import parse_step
from ffslab.workloads.rig import Rig

# Names and numbers are Debian's.
_USERS = (
    ("root", 0, 0, "/root", "/bin/sh"),
    ("daemon", 1, 1, "/usr/sbin", "/usr/sbin/nologin"),
    ("bin", 2, 2, "/bin", "/usr/sbin/nologin"),
    ("sys", 3, 3, "/dev", "/usr/sbin/nologin"),
    ("user", 1000, 1000, "/tmp", "/bin/sh"),
    ("nobody", 65534, 65534, "/nonexistent", "/usr/sbin/nologin"),
)
_GROUPS = (
    *(("root", 0), ("daemon", 1), ("bin", 2), ("sys", 3), ("adm", 4), ("tty", 5), ("disk", 6)),
    *(("users", 100), ("user", 1000), ("nogroup", 65534)),
)
_TEXTS = {
    "passwd": "".join(
        f"{name}:x:{user}:{group}::{home}:{shell}\n" for name, user, group, home, shell in _USERS
    ),
    "group": "".join(f"{name}:x:{number}:\n" for name, number in _GROUPS),
    "hosts": "127.0.0.1 localhost lab\n",
    "hostname": "lab\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\nservices: files\n",
    "protocols": "ip 0 IP\nicmp 1 ICMP\ntcp 6 TCP\nudp 17 UDP\n",
    "services": "syslog 514/udp\nmqtt 1883/tcp\n",
    "shells": "/bin/sh\n",
    "machine-id": "00000000000000000000000000000001\n",
    "timezone": "Etc/UTC\n",
}
# A file of time zones (RFC 8536, version 2) with one zone, whose difference to UTC is 0.
_HEAD = b"TZif2" + bytes(15)
_COUNTS = b"".join(number.to_bytes(4, "big") for number in (0, 0, 0, 0, 1, 4))
_UTC = (_HEAD + _COUNTS + bytes(6) + b"UTC\0") * 2 + b"\nUTC0\n"


def userland_files(case: Case, rig: Rig) -> tuple[GuestFile, ...]:
    """The files of /etc in the guest of a case that runs programs."""
    texts = {**_TEXTS, "fstab": "".join(f"{line}\n" for line in _mount_table(rig.mount(case)))}
    files = {name: text.encode() for name, text in texts.items()} | {"localtime": _UTC}
    return tuple(GuestFile(f"/etc/{name}", data) for name, data in sorted(files.items()))


def mounted(case: Case, rig: Rig) -> tuple[str, ...]:
    """The directories where the rig mounts the case's file system, the lowest first."""
    return tuple(line.split()[1] for line in _mount_table(rig.mount(case)))


def _mount_table(lines: Sequence[str]) -> Iterator[str]:
    for verb, keys in map(parse_step, lines):
        if verb == "mount":
            options = ",".join(filter(None, (keys.get("flags"), keys.get("options"))))
            yield f"{keys['source']} {keys['target']} {keys['type']} {options or 'defaults'} 0 0"
        elif verb == "mount-overlay":
            upper = f"upperdir={keys['upper']}/upper,workdir={keys['upper']}/work"
            yield f"overlay {keys['target']} overlay lowerdir={keys['lower']},{upper} 0 0"
