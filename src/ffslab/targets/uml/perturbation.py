"""How a guest's layout is perturbed: other random numbers of its kernel, a larger initramfs.

The workload's and the chip's random choices come from the case's seed and stay as they are. The
padding shifts what the boot leaves free of the guest's memory, and takes some time to unpack: with
it the phase of every timer shifts against the workload. A case without a perturbation gets neither.
"""

from __future__ import annotations

from ffslab.model.case import Case
from ffslab.targets.uml.initramfs import ArchiveEntry, regular_file

_SEED_STEP = 1_000_003  # a prime: no seed of a study meets another's perturbations
_PADDING_BYTES = 12_289  # odd, and three pages and a byte: layouts of n and n + 1 differ


def guest_seed(case: Case) -> int:
    """What the kernel of the guest draws its random numbers from."""
    return case.seed + case.perturbation * _SEED_STEP


def padding(case: Case) -> tuple[ArchiveEntry, ...]:
    """A file of the initramfs that nobody reads; none without a perturbation."""
    if not case.perturbation:
        return ()
    return (regular_file("/padding", bytes(case.perturbation * _PADDING_BYTES)),)
