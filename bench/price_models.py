"""The ways of counting that the part `price` compares: what has a price, and in which lab kernel.

Each thing is counted by the lab's own clock: a guest in which it alone has a price lasts as long as
there are many of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# What a 32-bit ARM takes for an instruction of x86-64, by the kinds of scripts/basic/as.c
# (kernel/price): by its instruction set, not by a fit. docs/price-of-code.md has the reasons.
ARM_INSTRUCTIONS: Mapping[str, float] = {
    "alu": 0.8,
    "alu64": 0.8,
    "shift": 0.8,
    "address": 0.8,
    "compare": 0.8,
    "move": 0.8,
    "constant": 0.8,
    "extend": 0.8,
    "load": 1,
    "store": 1,
    "alu_memory": 2.5,
    "alu_update": 3,
    "stack": 0.2,
    "call": 1,
    "branch": 1,
    "multiply": 2,
    "divide": 2,
    "atomic": 1.5,
    "symbol": 1,
    "indexed": 1,
}
# About what each costs, so that a guest's background work comes when it would.
_INSTRUCTION_PS = 4000
_BLOCK_PS = 20_000
_BYTE_PS = 10_000
_SYSTEM_CALL_PS = 10_000_000
_ROUTINE_PS = 200_000
# With no price at all the CPU would be free, which is another mode of the kernel.
_FREE = {"cpu_block_ps": "1", "cpu_byte_ps": "0", "cpu_set_byte_ps": "0"}


@dataclass(frozen=True, slots=True)
class Counted:
    """One thing with a price: the words of the kernel's command line that price it, in ps."""

    words: Mapping[str, str]
    price_ps: int

    @property
    def arguments(self) -> tuple[str, ...]:
        """Of a guest in which nothing else costs time; the last word of a name counts."""
        return tuple(f"{name}={value}" for name, value in {**_FREE, **self.words}.items())


@dataclass(frozen=True, slots=True)
class Model:
    """A lab kernel that charges for code: its variant, and what has a price."""

    title: str
    variant: str
    counted: Mapping[str, Counted]


def priced_kinds(weights: Mapping[str, float], instruction_ps: int) -> str:
    """The word cpu_price= for instructions of these weights."""
    prices = (f"{kind}:{round(weight * instruction_ps)}" for kind, weight in weights.items())
    return ",".join(prices)


_BYTES = {
    "byte copied": Counted({"cpu_byte_ps": str(_BYTE_PS)}, _BYTE_PS),
    "byte set": Counted({"cpu_set_byte_ps": str(_BYTE_PS)}, _BYTE_PS),
}
_SYSTEM_CALL = {
    "system call": Counted({"cpu_price": f"syscall:{_SYSTEM_CALL_PS}"}, _SYSTEM_CALL_PS)
}
_ROUTINES = {
    "call to copy": Counted({"cpu_price": f"copy:{_ROUTINE_PS}"}, _ROUTINE_PS),
    "call to set": Counted({"cpu_price": f"set:{_ROUTINE_PS}"}, _ROUTINE_PS),
}
_EVERY = dict.fromkeys(ARM_INSTRUCTIONS, 1.0) | {"symbol": 0.0, "indexed": 0.0}


def _instructions(title: str, weights: Mapping[str, float], more: Mapping[str, Counted]) -> Model:
    words = {"cpu_price": priced_kinds(weights, _INSTRUCTION_PS)}
    counted = {"instruction": Counted(words, _INSTRUCTION_PS), **_BYTES}
    return Model(title, "price", {**counted, **more})


MODELS = (
    Model(
        "blocks",
        "default",
        {"basic block": Counted({"cpu_block_ps": str(_BLOCK_PS)}, _BLOCK_PS), **_BYTES},
    ),
    _instructions("x86", _EVERY, _SYSTEM_CALL),
    _instructions("ARM", ARM_INSTRUCTIONS, _SYSTEM_CALL),
    _instructions("ARM, calls", ARM_INSTRUCTIONS, {**_SYSTEM_CALL, **_ROUTINES}),
)
