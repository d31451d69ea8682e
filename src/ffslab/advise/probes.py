"""Small cases that measure a need each, as the parts of one generated study.

- `boot`: the content is there, the file system was unmounted; mount and `ls -R`. Gives boot, RAM,
  and the space that is left. `cut`: the same after power failed behind a synced write.
- `write`: the stated pattern on a flash of which nine tenths have been written to before, for
  longer than the last tenth lasts, so that the file system has to make room: the longest write,
  and what is programmed per byte written.
- `wear`: how evenly the erases of one rewritten file spread beside data that stay. One case for
  each file system, its other options at their defaults and, where there is a choice, without
  compression: what spreads erases is not the compressor, and data that shrink wear less.
- `power`: power cuts, a sample of them, while a configuration file is replaced, files come and go,
  stay open, and a log grows. A case for each of these and each file system, its options at their
  defaults.
- `random`: random operations against a model, where something is written. One case for each file
  system, its options at their defaults.

Limits. The content of `write` and `wear` is a file of random bytes of the size that a compressor
would leave; records come every 100 ms at most, so that background work has less time than on a
product that writes more rarely; a file system's own background work between is what it gets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ffslab.advise.candidates import Candidate
from ffslab.advise.needs import SECONDS_A_DAY, Needs, Writes
from ffslab.model.catalog import Catalog

BOOT, CUT, WRITE, WEAR, POWER, RANDOM = "boot", "cut", "write", "wear", "power", "random"
_BOOT_STEPS = {
    BOOT: "settle unmount restart mount list unmount",
    CUT: "settle log crash mount list unmount",
}
_PERCENT = 100
_USED_PERCENT = 90  # of what is available: content, the written file, and what was written before
_INTERVAL_MAX_US = 100_000
_RECORDS = (500, 20_000)  # so many at least and at most
_WRITTEN_SHARE = 0.12  # of the partition, were each synced record a page
_WEAR_PARTITIONS, _WEAR_BYTES_MAX = 6, 768 * 2**20
RANDOM_ROUNDS, RANDOM_OPERATIONS = 60, 100
POWER_HISTORIES = ("update-by-rename", "transactions", "open-files", "appends")
# UBI's reserve of a large chip, 20 blocks of each 1,024 of the chip, may take half of it.
_POWER_BYTES, _POWER_BLOCKS, _POWER_CHIP_SHARE = 16 * 2**20, 128, 40 / 1024
# Of the partition: data that stay, at most; what they and the file may take; the file, at most.
_STATIC_SHARE_MAX, _WORN_SHARE, _WEAR_FILE_SHARE = 0.5, 0.75, 0.25


@dataclass(frozen=True, slots=True)
class Probe:
    """One case: what it measures, of which candidate, and its settings.

    `variant` tells it from others of its kind and candidate.
    """

    kind: str
    candidate: Candidate
    settings: Mapping[str, Any]
    variant: str = ""

    @property
    def name(self) -> str:
        """The name of its part."""
        return ".".join(filter(None, (self.kind, self.variant, self.candidate.key)))


def probes(needs: Needs, candidates: Sequence[Candidate], catalog: Catalog) -> tuple[Probe, ...]:
    """All cases that the needs ask for; those of `wear` once for each file system and partition."""
    made: dict[str, Probe] = {}
    for candidate in candidates:
        for probe in _of(needs, candidate, catalog):
            made.setdefault(probe.name, probe)
    return tuple(made.values())


def _of(needs: Needs, candidate: Candidate, catalog: Catalog) -> Iterator[Probe]:
    yield Probe(BOOT, candidate, candidate.settings | _boot(needs, BOOT))
    read_only = is_read_only(candidate, catalog)
    if needs.power_cuts and not read_only:
        yield Probe(CUT, candidate, candidate.settings | _boot(needs, CUT))
        yield from _power(needs, power_as(candidate))
    if needs.writes is None or read_only:
        return
    size = candidate.partition_bytes or needs.partition_bytes
    writing = written_as(candidate, catalog)
    yield Probe(WRITE, writing, writing.settings | _write(needs, needs.writes, size))
    yield _random(needs, power_as(candidate))
    if needs.writes.years is not None:
        plain = worn_as(candidate, catalog)
        yield Probe(WEAR, plain, plain.settings | _wear(needs, size))


def is_read_only(candidate: Candidate, catalog: Catalog) -> bool:
    """Whether nothing can be written to it."""
    image = catalog.filesystems[candidate.filesystem].image
    return image is not None and image.read_only


def written_as(candidate: Candidate, catalog: Catalog) -> Candidate:
    """The candidate whose writes stand for this one's: without options that only images have."""
    known = catalog.filesystems[candidate.filesystem].options
    options = tuple(option for option in candidate.options if not known[option[0]].is_of_image)
    return replace(candidate, options=options)


def worn_as(candidate: Candidate, catalog: Catalog) -> Candidate:
    """The candidate whose spread of erases stands for this one."""
    compression = catalog.filesystems[candidate.filesystem].options.get("compression")
    none = (
        compression is not None and compression.default != "none" and "none" in (compression.values)
    )
    options = (("compression", "none"),) if none else ()
    return Candidate(candidate.filesystem, options, candidate.partition_bytes)


def power_as(candidate: Candidate) -> Candidate:
    """The candidate whose power cuts, and random operations, stand for this one's."""
    return Candidate(candidate.filesystem)


def _power(needs: Needs, candidate: Candidate) -> Iterator[Probe]:
    """On a partition that its guests are quick to read: what is judged does not depend on it."""
    for history in POWER_HISTORIES:
        workload = {
            "kind": "cuts",
            "history": history,
            "sample": needs.cut_states,
            "fill_sample": 0,
            "findings": "tell",
        }
        settings = candidate.settings | _small(needs) | {"workload": workload}
        yield Probe(POWER, candidate, settings, history.replace("-", ""))


def _random(needs: Needs, candidate: Candidate) -> Probe:
    workload = {
        "kind": "random",
        "rounds": RANDOM_ROUNDS,
        "operations": RANDOM_OPERATIONS,
        "xattrs": "files",  # of links few products have any, and UBIFS loses its index by them
    }
    return Probe(RANDOM, candidate, candidate.settings | _small(needs) | {"workload": workload})


def _small(needs: Needs) -> dict[str, Any]:
    blocks = max(_POWER_BLOCKS, int(needs.chip.blocks * _POWER_CHIP_SHARE))
    least = max(_POWER_BYTES, blocks * needs.chip.block_bytes)
    return {"partition_bytes": min(needs.partition_bytes, least)}


def _boot(needs: Needs, kind: str) -> dict[str, Any]:
    if needs.tree:
        state = {"kind": "image", "tree": needs.tree}
        return {"state": state, "workload": {"kind": "tree", "steps": f"mount {_BOOT_STEPS[kind]}"}}
    steps = _BOOT_STEPS[kind]
    if kind == CUT:
        steps = steps.replace("settle", "settle sync")
    each = needs.content_bytes // needs.files
    workload: dict[str, Any] = {
        "kind": "tree",
        "directories": 0,
        "depth": 0,
        "files": needs.files if each else 0,
        "size": each,
        "write_bytes": max(min(each, 131_072), 1),
        "steps": f"mount create {steps}",
    }
    if needs.compressible_percent:
        workload |= {
            "contents": "compressible",
            "compressibility_percent": needs.compressible_percent,
        }
    return {"workload": workload}


def _write(needs: Needs, writes: Writes, partition_bytes: int) -> dict[str, Any]:
    """The pattern on a flash that has been written to all over."""
    valid = _share(needs.packed_bytes, partition_bytes)
    # The file is beside the shares, which are of what is available: four fifths at least.
    file = 0 if writes.pattern == "log" else _share(writes.file_bytes, partition_bytes * 4 // 5)
    invalid = max(_USED_PERCENT - valid - file, 0)
    state: dict[str, Any] = {"kind": "aged", "valid_percent": valid, "invalid_percent": invalid}
    if not valid and not invalid:
        state = {"kind": "free"}
    return {"state": state, "workload": _pattern(writes, partition_bytes)}


def _share(size: int, whole: int) -> int:
    """In whole percent, at most 90."""
    return min(round(_PERCENT * size / whole), _USED_PERCENT)


def records_of(writes: Writes, partition_bytes: int) -> int:
    """How many records are written: more than the flash's free pages hold, were each a page."""
    pages = max(writes.record_bytes, 2048)
    return max(_RECORDS[0], min(int(_WRITTEN_SHARE * partition_bytes / pages), _RECORDS[1]))


def interval_us(writes: Writes) -> int:
    """The time between two records: the product's own, or 100 ms."""
    own = SECONDS_A_DAY * 1_000_000 * writes.record_bytes // writes.per_day_bytes
    return min(own, _INTERVAL_MAX_US)


def _pattern(writes: Writes, partition_bytes: int) -> dict[str, Any]:
    records, pause_us = records_of(writes, partition_bytes), interval_us(writes)
    if writes.pattern == "log":
        rotated = {"rotate_bytes": writes.file_bytes} if writes.file_bytes else {}
        return {
            "kind": "append-log",
            "lines": records,
            "line_bytes": writes.record_bytes,
            "interval_us": pause_us,
            "fsync_every": writes.sync_every,
            **rotated,
        }
    pattern = "random-write" if writes.pattern == "database" else "sequential-write"
    return {
        "kind": "micro",
        "pattern": pattern,
        "request_bytes": writes.record_bytes,
        "volume_bytes": records * writes.record_bytes,
        "file_bytes": writes.file_bytes // writes.record_bytes * writes.record_bytes,
        "existing": True,
        "fsync_every": writes.sync_every,
        **({"pause_us": pause_us} if pause_us else {}),
    }


def _wear(needs: Needs, partition_bytes: int) -> dict[str, Any]:
    static = min(needs.packed_bytes, int(_STATIC_SHARE_MAX * partition_bytes))
    room = int(_WORN_SHARE * partition_bytes) - static
    file = min(int(_WEAR_FILE_SHARE * partition_bytes), room // 2)
    volume = min(_WEAR_PARTITIONS * partition_bytes, max(_WEAR_BYTES_MAX, partition_bytes))
    return {
        "workload": {
            "kind": "wear",
            "static_bytes": static,
            "file_bytes": file,
            "volumes": str(volume),
        }
    }


def study_text(needs: Needs, made: Sequence[Probe]) -> str:
    """The study of all probes, as `ffslab run` reads it too."""
    lines = [
        f"# Made by ffslab advise from the needs {needs.name}; changes here are overwritten.",
        "schema = 1",
        f"name = {_toml(study_name(needs))}",
        f"title = {_toml(f'Advice: {needs.title}')}",
        "",
        "[base]",
        f"board = {_toml(needs.board.name)}",
        f"partition_bytes = {needs.partition_bytes}",
        "seeds = [1]",
    ]
    for probe in made:
        lines += ["", "[[part]]", f"name = {_toml(probe.name)}", f"set = {_toml(probe.settings)}"]
    return "\n".join(lines) + "\n"


def study_name(needs: Needs) -> str:
    """The name of the generated study, by which its runs are found again."""
    return f"advise-{needs.name}"


def _toml(value: Any) -> str:
    """A value of TOML in one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f'"{key}" = {_toml(inner)}' for key, inner in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)
