"""A synthetic run of workload `tree`: real specs of studies written here, made-up results with
effects that a test chooses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from host_support import begun_run, study_of

from ffslab.campaign.prepared import Prepared
from ffslab.loader import StudySource, load_catalog, parse_toml
from ffslab.model.canonical import canonical_json
from ffslab.model.case import Case
from ffslab.model.study import expand
from ffslab.protocol.records import RecordStream
from ffslab.results.casefile import case_result
from ffslab.results.metrics import FLASH_TIMES
from ffslab.results.outcome import Outcome
from ffslab.workloads.tree.checks import mean_shape
from ffslab.workloads.tree.keys import Tree
from ffslab.workloads.tree.steps import Step, guests_of, steps_of

MIB = 2**20
TREE_BYTES = 15_000_000

HEAD = """
schema = 1
name = "{name}"
title = "{title}"
description = "Made up."

[base]
board = "apf27-2012"
partition_bytes = "100 MiB"
seeds = {seeds}
{base}
[base.workload]
kind = "tree"
"""
WRITING = "mount list list create unmount mount list list create unmount"
READING = "mount list list unmount mount list list unmount"

# Scenario 1 on images, as the published one; two parts because read-only file systems do less.
IMAGES = f"""
[[part]]
name = "writable"
title = "file systems that can be written"
[part.axes]
filesystem = ["jffs2", "ubifs"]
"options.compression" = ["none", "zlib", "lzo"]
cpu_scale = [1, 0]
"workload.steps" = ["{WRITING}"]

[[part]]
name = "yaffs2"
title = "YAFFS2 without compression"
[part.axes]
filesystem = ["yaffs2"]
cpu_scale = [1, 0]
"workload.steps" = ["{WRITING}"]

[[part]]
name = "read-only"
title = "read-only file systems"
[part.axes]
filesystem = ["squashfs", "erofs"]
cpu_scale = [1, 0]
"workload.steps" = ["{READING}"]
"""
FILES = """
depth = 5
directories = 2
size = 750
steps = "mount settle warm create unmount mount find delete unmount"
[axes]
filesystem = ["jffs2", "ubifs", "yaffs2"]
"workload.files" = [1, 2, 8, 32, 100]
cpu_scale = [1, 0]
"""
MOUNTS = """
steps = "mount create unmount mount list unmount"
depth = 2
directories = 3
[axes]
filesystem = ["jffs2", "ubifs", "yaffs2"]
"workload.steps" = [
    "mount create sync crash mount list unmount",
    "mount create unmount restart mount list unmount",
]
[[part]]
name = "size"
title = "size of the partition"
[part.axes]
partition_bytes = ["32 MiB", "64 MiB", "128 MiB", "256 MiB"]
[[part]]
name = "files"
title = "number of files"
[part.axes]
"workload.files" = [4, 40, 400]
"""


@dataclass(frozen=True)
class Effects:
    """What the made-up file systems do."""

    speed: Mapping[str, float] = field(
        default_factory=lambda: {
            "jffs2": 1.0,
            "ubifs": 0.25,
            "yaffs2": 0.5,
            "squashfs": 0.2,
            "erofs": 0.1,
        }
    )
    crash: Mapping[str, float] = field(default_factory=lambda: {"yaffs2": 8.0, "ubifs": 1.5})
    growth: float = 1.0  # of JFFS2's mount with the partition
    cpu_share: float = 0.4
    first_unmount: float = 20.0  # run 1 of JFFS2
    seed_step: float = 0.05
    no_space: Sequence[str] = ()  # cases whose first create ends with ENOSPC


def study_text(name: str, body: str, seeds: Sequence[int] = (1, 2), base: str = "") -> str:
    """A study's TOML text; `body` goes on in its [base.workload]."""
    title = f"Made-up {name}"
    return HEAD.format(name=name, title=title, seeds=list(seeds), base=base) + body


def images_text(seeds: Sequence[int] = (1, 2)) -> str:
    """Scenario 1: every file system, two runs."""
    return study_text("images", IMAGES, seeds, 'state = "image"')


def files_text(seeds: Sequence[int] = (1, 2)) -> str:
    """Scenario 2: against the number of files."""
    return study_text("files", FILES, seeds, 'options = { compression = "none" }')


def mounts_text(seeds: Sequence[int] = (1, 2)) -> str:
    """Mounting after a crash and after a clean unmount, against partition and files."""
    return study_text("mounts", MOUNTS, seeds, 'options = { compression = "none" }')


def tree_cases(text: str) -> tuple[Case, ...]:
    """The cases of a study; combinations that a file system does not have are left out."""
    return _prepared(text).cases


def _prepared(text: str) -> Prepared:
    source = StudySource(Path("made-up.toml"), text, parse_toml(text, "made-up"))
    catalog = load_catalog()
    study = study_of(text, catalog)
    cases = tuple(with_tree(case) for case in expand(study, catalog))
    return Prepared(source, study, (), cases, ())


def with_tree(case: Case) -> Case:
    """A case whose image, if it has one, is of a tree that nobody looked at."""
    sha256 = "5" * 64 if case.state.kind == "image" else ""
    return replace(case, state=replace(case.state, tree_sha256=sha256))


def write_tree_run(
    folder: Path,
    text: str,
    effects: Effects | None = None,
    outcomes: Mapping[str, Outcome] | None = None,
    planned: int = 0,
) -> Path:
    """Write a run of a study; `outcomes` has the cases that did not pass, `planned` how many cases
    more there should have been.
    """
    prepared = _prepared(text)
    folder.mkdir(parents=True)
    run = begun_run(folder, prepared)
    if planned:
        manifest = run.manifest()
        manifest["cases_total"] = len(prepared.cases) + planned
        run.write_manifest(manifest)
    lines = []
    for case in prepared.cases:
        outcome = (outcomes or {}).get(case.id, Outcome("pass"))
        result = case_result(case, outcome, RecordStream((), (), False), None)
        result |= {"tree": None, "image": None}
        if outcome.kind != "skip":
            result |= _figures(case, effects or Effects(), outcome.kind == "pass")
        lines.append(canonical_json(result) + "\n")
    (folder / "results.jsonl").write_text("".join(lines))
    return folder


def _tree(case: Case) -> Tree:
    assert isinstance(case.workload, Tree)
    return case.workload


def _figures(case: Case, effects: Effects, passed: bool) -> dict[str, Any]:
    steps = steps_of(_tree(case))
    *before, _ = guests_of(_tree(case), case.state)
    rows = [_step(case, step, effects, step.index < sum(map(len, before))) for step in steps]
    if not passed:  # it ended in the middle
        rows = [
            row if row["index"] < 2 else {**row, "status": "missing", "duration_ns": None}
            for row in rows
        ]
    memory = [
        _memory(case, row, effects)
        for row in rows
        if row["step"] in ("mount", "list") and row["status"] == "ok"
    ]
    image = _image(case) if case.state.kind == "image" else None
    return {"virtual_ns": 10**10, "tree": {"steps": rows, "memory": memory}, "image": image}


def step_ns(case: Case, step: Step, effects: Effects) -> float:
    """How long a made-up step takes with the case's own processor."""
    name = case.filesystem.name
    files = mean_shape(_tree(case))[1] if "create" in _tree(case).steps else 1000
    each = {"create": 2e6, "list": 1e5, "find": 1e5, "delete": 8e5, "sync": 1e4, "warm": 5e6}
    base = each.get(step.word, 0.0) * files + 2e6
    if step.word == "mount":
        base = 2e7 * (case.partition_bytes / (100 * MIB)) ** effects.growth + 1e4 * files
        words = _tree(case).steps.split()
        if "crash" in words[: step.index]:
            base *= effects.crash.get(name, 1.0)
    if step.word == "unmount" and step.number == 1 and name == "jffs2":
        base *= effects.first_unmount
    if step.word == "list" and step.number % 2 == 0:
        base /= 50
    if dict(case.filesystem.options).get("compression", "none") != "none":
        base *= 1.3
    return base * effects.speed.get(name, 1.0) * (1 + effects.seed_step * (case.seed - 1))


def _parts(case: Case, step: Step, duration: int) -> list[dict[str, Any]]:
    """What a step consists of: with UBI a mount is attaching, here 0.7 of it, and mounting."""
    attach = duration * 7 // 10 + step.number
    if case.filesystem.name != "ubifs" or step.word != "mount":
        return [{"phase": step.phase, "duration_ns": duration}]
    return [
        {"phase": step.phase.replace("mount", "attach"), "duration_ns": attach},
        {"phase": step.phase, "duration_ns": duration - attach},
    ]


def _step(case: Case, step: Step, effects: Effects, prepared: bool) -> dict[str, Any]:
    whole = step_ns(case, step, effects)
    flash = whole * (1 - effects.cpu_share)
    duration = round(flash + whole * effects.cpu_share * min(case.cpu_scale, 1))
    ends = step.word in ("crash", "restart")
    failed = case.id in effects.no_space and step.word == "create" and step.number == 1
    pages = round(whole / 1e6)
    files = round(mean_shape(_tree(case))[1])
    seen = {"files": files, "directories": files // 4 + 1, "bytes": files * 1000, "found": 0}
    seen |= {"links": 0, "others": 0, "depth": 0}
    walks = step.word in ("create", "list", "find", "delete")
    work = {"pages_read": pages, "pages_programmed": pages // 2, "blocks_erased": pages // 64}
    work |= {"oob_pages": 0}
    return {
        "index": step.index,
        "step": step.word,
        "number": step.number,
        "phase": step.phase,
        "prepared": prepared,
        "status": "error" if failed else "ok",
        "errno_name": "ENOSPC" if failed else "",
        "t_start_ns": None if ends else step.index * 10**9,
        "duration_ns": None if ends else duration,
        "parts": [] if ends else _parts(case, step, duration),
        **dict.fromkeys(FLASH_TIMES, None if ends else round(flash * 0.25)),
        "flash_ns": None if ends else round(flash),
        "in_driver_ns": None if ends else round(flash * 1.25),
        **{key: None if ends else value for key, value in work.items() if key != "oob_pages"},
        "oob_reads": 0,
        "oob_programs": 0,
        **{key: value if walks else None for key, value in seen.items()},
        "digest": "",
        "bytes_read": 0,
        "bytes_written": 0,
        "tasks": []
        if ends
        else [
            {"name": "init", "busy_ns": round(flash / 4), **work},
            {"name": "kworker/u2:1", "busy_ns": round(flash), **work},
        ],
    }


def memory_bytes(case: Case, files: float) -> int:
    """What a made-up file system takes when it is mounted."""
    name = case.filesystem.name
    per_mib = {"jffs2": 12_000, "ubifs": 900, "yaffs2": 3000}.get(name, 100)
    return round(65_536 + per_mib * case.partition_bytes / MIB + 150 * files)


def _memory(case: Case, row: Mapping[str, Any], effects: Effects) -> dict[str, Any]:
    del effects
    files = mean_shape(_tree(case))[1] if row["number"] > 1 else 0
    total = memory_bytes(case, files)
    slabs = {"filesystem": total // 2, "kmalloc": total // 4, "inodes": total // 8, "other": 0}
    vmalloc = total - sum(slabs.values())
    return {
        "label": row["phase"],
        "prepared": row["prepared"],
        "slab_bytes": slabs,
        "vmalloc_bytes": vmalloc,
        "kernel_stack_bytes": 0,
        "percpu_bytes": 0,
        "page_cache_bytes": 8192,
        "other_bytes": -4096,
        "total_bytes": total,
        "caches": [[f"{case.filesystem.name}_nodes", total // 2], ["kmalloc-64", total // 4]],
        "vmalloc": [["mount_super", vmalloc]],
    }


def _image(case: Case) -> dict[str, Any]:
    compression = dict(case.filesystem.options).get("compression", "none")
    shares = {"none": 1.05, "zlib": 0.45, "lzo": 0.55, "gzip": 0.4, "lz4hc": 0.5}
    read_only = case.filesystem.name in ("squashfs", "erofs")
    size = round(TREE_BYTES * shares.get(compression, 0.6) * (0.9 if read_only else 1))
    return {
        "tree": "embedded-rootfs",
        "tree_sha256": "0" * 64,
        "tool": f"mkfs.{case.filesystem.name} 2.1",
        "command": f"mkfs.{case.filesystem.name} -x {compression} -o image tree",
        "image_bytes": size,
        "flash_bytes": -(-size // 131_072) * 131_072,
        "tree_bytes": TREE_BYTES,
        "ratio": size / TREE_BYTES,
        "sha256": "1" * 64,
        "write_ns": size * 100,
        "pages": size // 2048,
        "blocks": size // 131_072,
    }


def test_synthetic_runs_have_the_cases_of_their_studies(tmp_path: Path) -> None:
    for name, text in (("i", images_text()), ("f", files_text()), ("m", mounts_text())):
        folder = write_tree_run(tmp_path / name, text)
        assert len((folder / "results.jsonl").read_text().splitlines()) == len(tree_cases(text))
