"""What MTD itself counted of a board's partition, where no flash monitor is: pure.

A board's plan has a step `mtd-statistics` at the begin and at the end of each guest; the difference
is what the case's own guest made the ECC correct, and which blocks went bad in it. Limits: MTD
counts neither pages nor erases, and it begins anew when its driver is loaded: a count that has
fallen says nothing.
"""

from __future__ import annotations

from typing import cast

from typing_extensions import TypedDict

from ffslab.protocol.records import MTD_COUNTS, MTD_ECC, RecordStream

# Counts of which a result has the growth during the case, and as what.
_GROWTH = {
    "corrected_bits": "corrected_bits",
    "ecc_failures": "ecc_failures",
    "bad_blocks": "grown_bad_blocks",
}
_AS_IT_IS = tuple(name for name in (*MTD_COUNTS, *MTD_ECC) if _GROWTH.get(name) != name)


class MtdStatistics(TypedDict, total=False):
    """During the case: bits corrected, reads beyond the ECC, blocks gone bad; and, at its end, bad
    blocks, those of the table of bad blocks, and the ECC. What a kernel does not tell is absent.
    """

    corrected_bits: int
    ecc_failures: int
    grown_bad_blocks: int
    bad_blocks: int
    bbt_blocks: int
    ecc_strength_bits: int
    bitflip_threshold_bits: int


def mtd_statistics(stream: RecordStream) -> MtdStatistics | None:
    """The statistics of a case's guest; None if it did not note them twice, or was told nothing."""
    noted = stream.of_type("mtd-statistics")
    if len(noted) < 2:
        return None
    first, last = noted[0], noted[-1]
    statistics = {name: last[name] for name in _AS_IT_IS if name in last}
    for name, grown in _GROWTH.items():
        if name in first and name in last and last[name] >= first[name]:
            statistics[grown] = last[name] - first[name]
    return cast(MtdStatistics, statistics) if statistics else None
