"""Once a program of a case runs, nothing more of the host can be mounted, and no module loaded.

The lab shows the guest a directory read-only, as it does with the host's programs. A script and a
program then try to write there, and to mount it anew. What counts is the directory on the host.
The same attacks with `host=open` succeed: so it is the lab kernel that refuses them.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from fio_support import host_steps
from lab_support import ROOT, boot, cases, results, run_study

from ffslab.lab.lab_build import LabBuild
from ffslab.protocol.plan import encode
from ffslab.results.console import last_lines

SOURCE = ROOT / "tests" / "lab" / "guest" / "attack" / "attack.c"
# Each line of the output is a way and where it led.
SCRIPT = """#!/bin/sh
way() {{
    name=$1
    shift
    if "$@" 2>/dev/null; then echo "attack $name: done"; else echo "attack $name: refused"; fi
}}
mkdir -p /tmp/own /tmp/merged /tmp/bound /tmp/upper /tmp/work
mount --bind /victim /tmp/bound
way bind mount -o remount,bind,rw /tmp/bound
way write-bound touch /tmp/bound/by-bind
/attack attribute /victim /victim/by-attribute
overlay=upperdir=/victim/upper,workdir=/victim/work
way overlay mount -t overlay -o lowerdir=/victim,$overlay none /tmp/merged
touch /tmp/merged/by-overlay
way mount mount -t hostfs -o {victim} none /tmp/own
touch /tmp/own/by-mount
/attack fsopen {victim}
way remount mount -o remount,rw /victim
way write-remounted touch /victim/by-remount
/attack reconfigure /victim
way write-reconfigured touch /victim/by-reconfigure
/attack finit /planted.ko
/attack init /planted.ko
cat /victim/kept
"""
KEPT = "what the lab mounted is still read"
# What changes the mount alone is allowed; what is mounted stays read-only.
HARMLESS = {"bind": "done"}
REFUSED = {
    "write-bound": "refused",
    "attribute": "EROFS",
    "overlay": "refused",
    "mount": "refused",
    "fsopen": "EPERM",
    "remount": "refused",
    "write-remounted": "refused",
    "reconfigure": "EPERM",
    "write-reconfigured": "refused",
    "finit": "EPERM",
    "init": "EPERM",
}
# Without the refusal: the second of two loads says that the first one worked.
OPEN = {
    "mount": "done",
    "fsopen": "done",
    "remount": "done",
    "write-remounted": "done",
    "reconfigure": "done",
    "write-reconfigured": "done",
    "finit": "done",
    "init": "EEXIST",
}


@pytest.fixture(scope="module")
def attack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("attack") / "attack"
    words = ("-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-static")
    subprocess.run(["gcc", *words, "-o", str(program), str(SOURCE)], check=True)
    return program


def attacked(
    lab: LabBuild, directory: Path, attack: Path, *arguments: str
) -> tuple[dict[str, str], set[str]]:
    """What became of each way, and what is in the directory that the guest had read-only."""
    victim = directory / "victim"
    for name in ("upper", "work"):
        (victim / name).mkdir(parents=True)
    (victim / "kept").write_text(f"{KEPT}\n")
    script = directory / "attack.sh"
    script.write_text(SCRIPT.format(victim=victim))
    script.chmod(0o755)
    plan = [
        "ffsplan 1",
        "insmod path=/overlay.ko",
        *host_steps("sh", "mount", "mkdir", "touch", "cat"),
        f"mount type=hostfs source=none target=/victim options={encode(str(victim))} flags=ro",
        "mount type=tmpfs source=none target=/tmp",
        "exec path=/attack.sh",
    ]
    modules = {"/overlay.ko": lab.modules["overlay"], "/planted.ko": lab.modules["flashmon"]}
    files = {"/attack.sh": script, "/attack": attack, **modules}
    case = cases()["jffs2-free-s1"]
    text = "\n".join(plan) + "\n"
    guest = boot(lab, directory / "guest", case, text, files=files, arguments=arguments)
    assert KEPT in guest.output, "\n".join(last_lines(guest.output, 40))
    lines = (line.strip() for line in guest.output.splitlines())
    told = (line.removeprefix("attack ") for line in lines if line.startswith("attack "))
    found = {way: result for way, _, result in (line.partition(": ") for line in told)}
    return found, {path.name for path in victim.iterdir()}


def test_a_program_of_a_case_gets_nothing_more_of_the_host(
    lab: LabBuild, tmp_path: Path, attack: Path
) -> None:
    found, left = attacked(lab, tmp_path, attack)
    assert found == HARMLESS | REFUSED
    assert left == {"upper", "work", "kept"}


def test_it_is_the_kernel_that_refuses(lab: LabBuild, tmp_path: Path, attack: Path) -> None:
    found, left = attacked(lab, tmp_path, attack, "host=open")
    assert found | OPEN == found
    assert {"by-mount", "by-remount", "by-reconfigure"} <= left


STUDY = """
schema = 1
name = "own"
title = "A script that wants more of the host"
[base]
board = "apf27"
partition_bytes = "16 MiB"
filesystem = "jffs2"
seeds = [1]
[base.workload]
kind = "script"
script = "own.sh"
"""


@pytest.mark.usefixtures("lab")
def test_a_script_of_a_study_gets_nothing_more_of_the_host(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (tmp_path / "own.toml").write_text(STUDY)
    (tmp_path / "own.sh").write_text(
        f"mkdir /tmp/own && mount -t hostfs -o {victim} none /tmp/own\n"
        "echo the mount ended with $?\ntouch /tmp/own/written\nexit 7\n"
    )
    run = run_study(tmp_path / "own.toml", tmp_path / "r", status=1)
    (result,) = results(run)
    # The script itself ran to its end.
    assert result["script"]["exit_status"] == 7
    output = (run / "cases" / result["id"] / "output.log").read_text()
    assert "the mount ended with 32" in output and "permission denied" in output
    assert not list(victim.iterdir())
