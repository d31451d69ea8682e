"""The ways of counting that the part `price` compares: what has a price, and in which lab kernel.

Each thing is counted by the lab's own clock: a guest in which it alone has a price lasts as long as
there are many of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ffslab.model.figures import CPU_PRICES

# The kinds of instructions that scripts/basic/as.c tells apart (asm/cpu-kinds.h in
# kernel/patches/0004), without what operands add to them, and basic blocks.
KINDS = (
    "alu",
    "alu64",
    "shift",
    "address",
    "compare",
    "move",
    "constant",
    "extend",
    "load",
    "store",
    "alu_memory",
    "alu_update",
    "stack",
    "call",
    "branch",
    "multiply",
    "divide",
    "atomic",
)
# About what each costs, so that a guest's background work comes when it would.
_INSTRUCTION_PS = 4000
_BLOCK_PS = 20_000
_BYTE_PS = 10_000
_SYSTEM_CALL_NS = 10_000
_ROUTINE_NS = 200
_PS_PER_NS = 1000
# With no price at all the CPU would be free, which is another mode of the kernel.
_FREE = {row.name: "0" for row in CPU_PRICES} | {"cpu_instruction_ps": "1"}


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


def _priced(name: str, price: int, unit_ps: int = 1) -> Counted:
    return Counted({name: str(price)}, price * unit_ps)


def _kinds(kinds: Iterable[str], price_ps: int) -> Counted:
    """Of the kernel `price` alone, which counts kinds one by one."""
    return Counted({"cpu_price": ",".join(f"{kind}:{price_ps}" for kind in kinds)}, price_ps)


_BYTES = {
    "byte copied": _priced("cpu_byte_ps", _BYTE_PS),
    "byte set": _priced("cpu_set_byte_ps", _BYTE_PS),
}
_SYSTEM_CALL = {"system call": _priced("cpu_syscall_ns", _SYSTEM_CALL_NS, _PS_PER_NS)}
_ROUTINES = {
    "call to copy": _priced("cpu_copy_ns", _ROUTINE_NS, _PS_PER_NS),
    "call to set": _priced("cpu_set_ns", _ROUTINE_NS, _PS_PER_NS),
}
_INSTRUCTION = {"instruction": _priced("cpu_instruction_ps", _INSTRUCTION_PS)}
_LAB = {**_INSTRUCTION, **_BYTES, **_SYSTEM_CALL, **_ROUTINES}

MODELS = (
    Model("blocks", "price", {"basic block": _kinds(("block",), _BLOCK_PS), **_BYTES}),
    Model(
        "x86",
        "price",
        {"instruction": _kinds(KINDS, _INSTRUCTION_PS), **_BYTES, **_SYSTEM_CALL},
    ),
    Model("ARM", "unaligned", {**_INSTRUCTION, **_BYTES, **_SYSTEM_CALL}),
    Model("byte by byte", "default", _LAB),
    Model("the lab's", "unaligned", _LAB),
)
