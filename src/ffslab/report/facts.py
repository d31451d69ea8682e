"""The time model a run was made with, as lines for the report: every figure with its basis.

Figures come from the cases' specs; whether one is published or an estimate comes from the
manifest, which holds the catalog's provenance of the boards used (`provenance`: list of {board,
figure, value, source, estimate}; `boards`: title, calibrated, derivation).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ffslab.model.figures import CPU_PRICES
from ffslab.model.kernels import kernel_words
from ffslab.model.specs import CPU_FIGURES, DEFAULT_VARIANT, variant_without_board
from ffslab.report.data import Fact
from ffslab.report.quantity import duration, grouped, significant

Spec = Mapping[str, Any]
_KERNEL = "Lab kernel"
_FREE = "free (not charged)"
_SEVERAL = "; "


def time_model(specs: Sequence[Spec], manifest: Mapping[str, Any]) -> tuple[Fact, ...]:
    """One line per figure; a figure that differs between cases lists all its values and bases."""
    kernels = dict.fromkeys(kernel_words(spec) for spec in specs)
    facts = [Fact(_KERNEL, _SEVERAL.join(kernels), "", False)]
    built_of = dict.fromkeys(map(str, (manifest.get("linux") or {}).values()))
    if built_of:
        facts.append(Fact("Linux", _SEVERAL.join(built_of), "", False))
    stated = str(manifest.get("cpu_time") or "")
    if stated:
        facts.append(Fact("CPU time", stated, "", False))
    for name, keys, show in _LINES:
        if stated and keys[-1] in CPU_FIGURES:
            continue
        shown: dict[str, None] = {}
        sources: dict[str, None] = {}
        estimate = False
        for spec in specs:
            value = _at(spec, keys)
            if value is None:
                continue
            shown[show(value)] = None
            basis = basis_of(manifest, spec, keys[-1])
            if basis is not None:
                sources[str(basis["source"])] = None
                estimate = estimate or bool(basis["estimate"])
        if shown:
            facts.append(Fact(name, ", ".join(shown), "; ".join(sources), estimate))
    return tuple(facts)


def other_kernel(facts: Sequence[Fact]) -> str:
    """The lab kernel that all cases ran in, if it is not the default one; several are an axis.

    Without the board's part of it.
    """
    stated = next((fact.value for fact in facts if fact.name == _KERNEL), DEFAULT_VARIANT)
    kernels = {variant_without_board(words) for words in stated.split(_SEVERAL)}
    return kernels.pop() if len(kernels) == 1 and kernels != {DEFAULT_VARIANT} else ""


def notes(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """For each board: whether it was calibrated, and how its figures were derived."""
    texts = []
    for name, board in (manifest.get("boards") or {}).items():
        how = (
            "calibrated against a real board"
            if board["calibrated"]
            else "not calibrated against a real board"
        )
        derivation = " ".join(str(board["derivation"]).split())
        texts.append(f"{board['title']} ({name}), {board['chip']}: {how}. {derivation}")
    return tuple(texts)


def basis_of(manifest: Mapping[str, Any], spec: Spec, figure: str) -> Mapping[str, Any] | None:
    """Where the value of a figure in a case is from; runs of older versions do not tell values."""
    board: Mapping[str, Any] = spec.get("board") or {}
    stated = board.get(figure, (board.get("chip") or {}).get(figure))
    entries = [
        entry
        for entry in manifest.get("provenance") or ()
        if entry["board"] == board.get("name") and entry["figure"].rpartition(".")[2] == figure
    ]
    exact = [entry for entry in entries if entry.get("value") == stated]
    return next(iter(exact or entries), None)


def _at(spec: Spec, keys: tuple[str, ...]) -> Any:
    value: Any = spec
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _per_byte(value: Any) -> str:
    rate = "" if not value else f" ({significant(1e6 / float(value))} MB/s)"
    return f"{significant(float(value) / 1000)} ns per byte{rate}"


def _mib(value: Any) -> str:
    return f"{significant(int(value) / 2**20)} MiB"


def _mhz(value: Any) -> str:
    return f"{value} MHz" if value else "not known"


def _hz(value: Any) -> str:
    return f"{significant(float(value) / 1e6)} MHz"


def _ns(value: Any) -> str:
    return duration(float(value))


def _per_instruction(value: Any) -> str:
    return f"{significant(float(value) / 1000)} ns per instruction" if value else _FREE


def _per_memory_byte(value: Any) -> str:
    return f"{significant(float(value) / 1000)} ns per byte" if value else _FREE


def _per_operation(value: Any) -> str:
    return duration(float(value)) if value else _FREE


def _efficient(value: Any) -> str:
    return "efficient" if value else "not efficient: by bytes"


def _bytes(value: Any) -> str:
    return f"{grouped(int(value))} B"


_CHIP = ("board", "chip")
_OF_UNIT: Mapping[str, Callable[[Any], str]] = {
    "ps": _per_instruction,
    "ps per byte": _per_memory_byte,
    "ns": _per_operation,
}
_LINES: tuple[tuple[str, tuple[str, ...], Callable[[Any], str]], ...] = (
    ("Board", ("board", "name"), str),
    ("Processor", ("board", "cpu"), str),
    ("Clock of the processor", ("board", "cpu_mhz"), _mhz),
    ("RAM", ("board", "ram_bytes"), _mib),
    *((row.title, (row.name,), _OF_UNIT[row.unit]) for row in CPU_PRICES),
    ("Unaligned access", ("board", "unaligned"), _efficient),
    ("CPU time of the driver, per page read", ("driver_read_ns",), _per_operation),
    ("CPU time of the driver, per page programmed", ("driver_program_ns",), _per_operation),
    ("CPU time of the driver, per erase", ("driver_erase_ns",), _per_operation),
    ("Waiting for the chip", ("board", "wait"), str),
    ("Chip", (*_CHIP, "name"), str),
    ("Page", (*_CHIP, "page_bytes"), _bytes),
    ("OOB area of a page", (*_CHIP, "oob_bytes"), _bytes),
    ("Pages per erase block", (*_CHIP, "pages_per_block"), str),
    ("Array read, tR", (*_CHIP, "t_read_ns"), _ns),
    ("Program of one byte", (*_CHIP, "t_prog_byte_ns"), _ns),
    ("Page program, tPROG", (*_CHIP, "t_prog_ns"), _ns),
    ("Block erase, tBERS", (*_CHIP, "t_erase_ns"), _ns),
    ("Command and address", (*_CHIP, "t_command_ns"), _ns),
    ("SPI clock", ("board", "spi_clock_hz"), _hz),
    ("SPI data lines, reading", ("board", "spi_rx_bits"), str),
    ("SPI data lines, writing", ("board", "spi_tx_bits"), str),
    ("Bus, reading", (*_CHIP, "bus_read_ps"), _per_byte),
    ("Bus, writing", (*_CHIP, "bus_write_ps"), _per_byte),
    ("ECC, per page read", (*_CHIP, "ecc_read_ns"), _ns),
    ("ECC, per page programmed", (*_CHIP, "ecc_write_ns"), _ns),
    ("Partition", ("partition_bytes",), _mib),
)
