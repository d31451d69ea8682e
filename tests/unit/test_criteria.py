"""What people decide by: the figures that each workload takes from a result."""

from __future__ import annotations

from typing import Any

from ffslab.results.criteria import rooms, writes_back
from ffslab.workloads.ffsmark.metrics import criteria as of_ffsmark

MIB = 2**20


def space(label: str, available: int, free: int, cached: int) -> dict[str, Any]:
    return {
        "label": label,
        "available_bytes": available,
        "mem_free_bytes": free,
        "page_cache_bytes": cached,
        "total_bytes": 0,
        "free_bytes": 0,
    }


def phase(name: str, begin: int, end: int, share: float | None = None) -> dict[str, Any]:
    times = {"t_start_ns": begin, "t_end_ns": end, "duration_ns": end - begin}
    return {"phase": name, "status": "ok", **times, "write_amplification": share}


def result(write_mode: str = "write-back", *, drop_caches: bool = True) -> Any:
    return {
        "spec": {
            "filesystem": {"options": {"write_mode": write_mode}},
            "workload": {"drop_caches": drop_caches},
            "board": {"ram_bytes": 128 * MIB},
        },
        "phases": [
            phase("creation", 100, 200, 0.25),
            phase("transactions", 700, 900, 0.5),
            phase("deletion", 900, 950),
        ],
        "steps": [{"verb": "umount", "status": "ok", "t_start_ns": 960, "duration_ns": 40}],
        "latencies": [],
        "space": [
            space("mount", 60 * MIB, 0, 0),
            space("transactions:end", 40 * MIB, 90 * MIB, 20 * MIB),
        ],
        "preparation": None,
    }


def values(found: Any) -> dict[str, float]:
    return {one.title: one.figure.value for one in found}


def test_the_time_until_on_flash_contains_the_write_back_behind_the_phase() -> None:
    found = values(of_ffsmark(result()))
    assert found["creating the files, until they are on the flash"] == 600
    assert found["the whole work, until all is on the flash"] == 900
    assert found["creating the files"] == 100


def test_without_a_dropped_cache_nothing_says_when_a_phase_is_on_the_flash() -> None:
    found = values(of_ffsmark(result(drop_caches=False)))
    assert "creating the files, until they are on the flash" not in found
    assert found["the whole work, until all is on the flash"] == 900


def test_only_times_of_what_writes_back_end_in_memory() -> None:
    late = {one.title: one for one in of_ffsmark(result())}
    assert late["creating the files"].in_memory
    assert late["creating the files"].programmed_share == 0.25
    assert not late["creating the files, until they are on the flash"].in_memory
    assert not any(one.in_memory for one in of_ffsmark(result("write-through")))
    assert writes_back(result()) and not writes_back(result("sync"))


def test_ram_in_use_is_without_the_page_cache() -> None:
    found = {one.figure.metric.name: one for one in rooms(result(), "transactions:end", "there")}
    assert found["memory_used_bytes"].figure.value == 18 * MIB
    titles = values(rooms(result(), "transactions:end", "there"))
    assert titles["space for files on the empty partition"] == 60 * MIB
    assert titles["space left there"] == 40 * MIB


def test_the_empty_partition_is_the_first_guests() -> None:
    prepared = result() | {"preparation": {"space": [space("mount", 61 * MIB, 0, 0)]}}
    assert values(rooms(prepared)) == {"space for files on the empty partition": 61 * MIB}
