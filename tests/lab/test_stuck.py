"""A kernel that works and gets nowhere ends its case, by virtual time, with the task's stack.

A planted module has a file for each way to spend time; who reads it is in the kernel until the
way ends. Most never do.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from lab_support import Boot, boot
from own_modules import Own

from ffslab.lab.lab_build import LabBuild
from ffslab.model.specs import CPU_FIGURES
from ffslab.protocol.records import parse_records
from ffslab.results.outcome import Outcome, judge
from ffslab.targets.virtual_flash import module_path

NAME = "planted"
SOURCE = """
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>

static int count;	/* times that a way is gone; 0: for ever */
module_param(count, int, 0);

static void planted_compute(void)
{
	unsigned long flags;
	int i;

	for (i = 0; i < 10000; i++)
		barrier();
	local_irq_save(flags);
	local_irq_restore(flags);
}

static DEFINE_MUTEX(planted_mutex);

/* Enables no interrupts, so no virtual time passes. */
static void planted_lock(void)
{
	mutex_lock(&planted_mutex);
	mutex_unlock(&planted_mutex);
}

static void planted_flash(void)
{
	mdelay(100);
}

static void planted_block(void)
{
	schedule_timeout_uninterruptible(HZ);
}

static void planted_wait(void)
{
	schedule_timeout_interruptible(HZ);
}

static int show(struct seq_file *m, void *v)
{
	void (*way)(void) = m->private;
	int n;

	for (n = 0; !count || n < count; n++)
		way();
	seq_puts(m, "ended\\n");
	return 0;
}

static int planted_thread(void *unused)
{
	planted_wait();
	for (;;)
		planted_block();
	return 0;
}

static void run_thread(void)
{
	kthread_run(planted_thread, NULL, "planted_thread");
}

static int __init start(void)
{
	proc_create_single_data("compute", 0, NULL, show, planted_compute);
	proc_create_single_data("lock", 0, NULL, show, planted_lock);
	proc_create_single_data("flash", 0, NULL, show, planted_flash);
	proc_create_single_data("block", 0, NULL, show, planted_block);
	proc_create_single_data("wait", 0, NULL, show, planted_wait);
	proc_create_single_data("thread", 0, NULL, show, run_thread);
	return 0;
}

module_init(start);
MODULE_LICENSE("GPL");
"""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory, lab: LabBuild) -> Own:
    assert lab.build_id
    files = {"Kbuild": f"obj-m += {NAME}.o\n", f"{NAME}.c": SOURCE}
    return Own(tmp_path_factory.mktemp(NAME), NAME, files)


def gone(
    planted: Own,
    directory: Path,
    way: str,
    *arguments: str,
    count: int = 0,
    after: str = "",
    free: bool = False,
) -> tuple[Outcome, Boot]:
    """The outcome of a guest whose agent reads the way's file. `free`: the CPU takes no time."""
    plan = (
        f"ffsplan 1\ninsmod path={module_path(NAME)} args=count={count}\n"
        f"capture path=/proc/{way}\n{after}"
    )
    case = planted.case()
    if free:
        case = replace(case, board=replace(case.board, **dict.fromkeys(CPU_FIGURES, 0)))
    guest = boot(planted.lab(), directory, case, plan, arguments=arguments, clean=False)
    records = (directory / "records.jsonl").read_bytes()
    return judge(parse_records(records), guest.console, guest.status, None), guest


@pytest.mark.parametrize(
    ("way", "arguments", "worked_s", "silent_s"),
    [
        # No flash: 120 s. The flash is used all the time: an hour.
        ("block", (), 120, 120),
        ("flash", (), 3600, 0),
        ("compute", ("stuck=2,10",), 2, 2),
        ("flash", ("stuck=2,10",), 10, 0),
        ("block", ("stuck=0,600", "hung_task_panic=0"), 600, 600),
    ],
)
def test_a_call_that_never_ends_is_stuck(
    planted: Own, tmp_path: Path, way: str, arguments: tuple[str, ...], worked_s: int, silent_s: int
) -> None:
    outcome, guest = gone(planted, tmp_path / "guest", way, *arguments)
    assert outcome.kind == "stuck", guest.console[-3000:]
    told = (
        f"{worked_s} s of virtual time, the last {silent_s} s without use of the flash",
        f"{worked_s + 1} s of virtual time, the last {silent_s + bool(silent_s)} s without",
    )
    assert outcome.reason.startswith("init (pid ")
    assert "has been in system call 0 for" in outcome.reason  # read(2)
    assert any(words in outcome.reason for words in told), outcome.reason
    # Where: the function of the module is in the stack.
    assert any(f"planted_{way}" in line or "show+" in line for line in outcome.excerpt)
    assert guest.status != 0


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize(("arguments", "millions"), [((), 2000), (("stuck=120,3600,50",), 50)])
def test_a_loop_without_virtual_time_is_stuck(
    planted: Own, tmp_path: Path, arguments: tuple[str, ...], millions: int, free: bool
) -> None:
    outcome, guest = gone(planted, tmp_path / "guest", "lock", *arguments, free=free)
    assert outcome.kind == "stuck", guest.console[-3000:]
    told = re.search(r"^init \(pid \d+\) has executed (\d+) million", outcome.reason)
    # It is looked for at every 65,536th pass of some functions, two of which are in the loop.
    assert told and millions <= int(told[1]) < millions + 5
    assert any("planted_lock" in line or "show+" in line for line in outcome.excerpt)
    again, other = gone(planted, tmp_path / "again", "lock", *arguments, free=free)
    assert again == outcome and other.console == guest.console


def test_a_loop_that_ends_is_not_stuck(planted: Own, tmp_path: Path) -> None:
    outcome, guest = gone(planted, tmp_path / "guest", "lock", count=5_000_000)
    assert outcome.kind == "pass", guest.console[-3000:]


def test_a_thread_that_never_ends_is_stuck(planted: Own, tmp_path: Path) -> None:
    after = "sleep ms=200000\n"
    outcome, guest = gone(planted, tmp_path / "guest", "thread", count=1, after=after)
    assert outcome.kind == "stuck", guest.console[-3000:]
    assert outcome.reason.startswith("planted_thread (pid ")
    assert "has been in a kernel thread for 12" in outcome.reason


@pytest.mark.parametrize(
    ("way", "count", "seconds"),
    [
        ("block", 100, 100),  # less than the limit
        ("flash", 30_000, 3000),
        ("wait", 8000, 8000),  # nobody is kept busy
    ],
)
def test_slow_work_and_idle_waits_are_not_stuck(
    planted: Own, tmp_path: Path, way: str, count: int, seconds: int
) -> None:
    after = "sleep ms=7200000\n"
    outcome, guest = gone(planted, tmp_path / "guest", way, count=count, after=after)
    assert outcome.kind == "pass", guest.console[-3000:]
    ended = guest.of_type("end")[0]["t_ns"]
    assert seconds + 7200 <= ended / 1e9 < 1.5 * seconds + 7260
