"""The plans of a script: one guest prepares the flash, a second one runs the script on a copy.

The agent has no verb for this: it runs /bin/sh, as any program of the guest, between two snapshots
of the flash. From these and the times of the step the host makes the phase (`RecordStream.phases`).
"""

from __future__ import annotations

import shlex

from ffslab.model.case import Case
from ffslab.model.kernels import SOCKETS
from ffslab.model.units import format_size
from ffslab.model.workload import GuestFile
from ffslab.protocol.own_latencies import LATENCIES
from ffslab.protocol.plan import step
from ffslab.workloads.plans import measuring_plan, preparing_plan, state_keys
from ffslab.workloads.rig import Rig
from ffslab.workloads.script.keys import PLACE, Script, words_of
from ffslab.workloads.userland import mounted, userland_files

START, END, STATUS = f"{PLACE}-start", f"{PLACE}-end", f"{PLACE}-status"
BEGINS, ENDS = "ffslab: the script begins", "ffslab: the script ended with status"
_SHELL = "/bin/sh"
_ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/",
    "LC_ALL": "C",
    "TZ": "UTC",
    "TERM": "dumb",
    "FFSLAB_FILES": PLACE,
}
# What the script left running would keep the file system from being unmounted. Threads of the
# kernel have no program, and some of file systems would obey the signal. The agent is two
# processes: init and the shell's parent.
_END = """left=0
for place in /proc/[0-9]*; do
    number=${place#/proc/}
    case $number in 1|$$|$PPID) continue;; esac
    if [ -e "$place/exe" ]; then
        kill -9 "$number" && left=$((left + 1))
    fi
done
if [ $left -gt 0 ]; then
    echo "ffslab: the script left $left processes behind, which were ended"
    sleep 1
fi
dmesg | sed -n "s/.*Out of memory: Killed process [0-9]* (\\(.*\\)) total.*/$LACKED \\1/p"
"""
# The script may have unmounted what it tests; what comes after it is done with a mounted one.
_MOUNT_AGAIN = """if ! grep -q " {place} " /proc/mounts; then
    mount {place} && echo "ffslab: the script left {place} unmounted, so it is mounted again"
fi
"""
LACKED = "ffslab: for lack of RAM the kernel ended"
# What no kernel of the lab is configured for (kernel/lab.config).
MISSING = "inotify, fanotify, io_uring, POSIX message queues, namespaces, cgroups, POSIX ACLs"


def guest_plans(case: Case, rig: Rig) -> tuple[str, ...]:
    """The plans of the guest that prepares, if there is one, and of the guest with the script."""
    assert isinstance(case.workload, Script)
    verify = case.workload.verify
    prepare = step("prepare", dir=rig.directory, **state_keys(case), seed=case.seed)
    if not case.state.remount:
        work = [prepare, *_run(case, rig)]
        return (measuring_plan(case, rig, work, prepared=False, verify=verify),)
    return (
        preparing_plan(case, rig, [prepare]),
        measuring_plan(case, rig, _run(case, rig), prepared=True, verify=verify),
    )


def guest_files(case: Case, rig: Rig) -> tuple[GuestFile, ...]:
    """The script with its files, how it is started, and what is done after it."""
    workload = case.workload
    assert isinstance(workload, Script)
    directory = rig.directory
    variables = {**_ENVIRONMENT, "FFSLAB_DIRECTORY": directory, "FFSLAB_SEED": case.seed}
    if workload.has_latencies:
        variables["FFSLAB_LATENCIES"] = LATENCIES
    words = (*(f"{name}={value}" for name, value in variables.items()), *words_of(workload))
    begin = f": >{LATENCIES}\n" if workload.has_latencies else ""
    # No process of the lab's stays in the directory: the script may unmount it.
    start = (
        f"echo {shlex.quote(_limits(case))}\necho {shlex.quote(BEGINS)}\n"
        f"{begin}(cd {directory} && exec /usr/bin/env -i {shlex.join(words)} </dev/null)\n"
        f'status=$?\necho $status >{STATUS}\necho "{ENDS} $status"\n'
    )
    again = "".join(_MOUNT_AGAIN.format(place=target) for target in mounted(case, rig))
    end = f"LACKED='{LACKED}'\n{_END}{again}"
    own = (GuestFile(START, start.encode()), GuestFile(END, end.encode()))
    return (*userland_files(case, rig), *workload.guest_files, *own)


def _limits(case: Case) -> str:
    """What programs of the guest cannot have, said before they ask for it."""
    sockets = (
        "sockets lead nowhere but to the guest itself"
        if case.kernel.kind == SOCKETS
        else f'there are no sockets (kernel = "{SOCKETS}" has them)'
    )
    return (
        f"ffslab: programs share {format_size(case.board.ram_bytes)} of RAM with the kernel "
        f"(board.ram_bytes); {sockets}; no kernel of the lab has {MISSING}; "
        "no module can be loaded, and no more of the host be mounted"
    )


def _run(case: Case, rig: Rig) -> list[str]:
    assert isinstance(case.workload, Script)
    latencies = [step("capture", path=LATENCIES)] if case.workload.has_latencies else []
    return [
        *rig.host_programs(),
        *_removal(case, rig),
        *rig.snapshot("script:start"),
        step("exec", path=_SHELL, args=START, label="script"),
        *rig.snapshot("script:end"),
        step("capture", path=STATUS),
        *latencies,
        step("exec", path=_SHELL, args=END, label="rest"),
        *rig.snapshot("flush:start"),
        step("sync", target=rig.directory, phase="flush"),
        *rig.snapshot("flush:end"),
    ]


def _removal(case: Case, rig: Rig) -> list[str]:
    """Makes the file of invalid data invalid, and waits; nothing if the state has none."""
    state = case.state
    if state.kind != "saturated" and not state.invalid_percent:
        return []
    remove = step("exec", path="/bin/rm", args=f"-f {rig.directory}/ffslab.invalid")
    wait = [step("sleep", ms=state.settle_ms)] if state.settle_ms else []
    return [remove, *wait]
