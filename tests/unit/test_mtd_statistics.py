"""MTD's own statistics, from what a board's guest noted at its begin and its end."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from ffslab.protocol.records import MTD_COUNTS, MTD_ECC, RecordStream, parse_records
from ffslab.results.mtd_statistics import MtdStatistics, mtd_statistics

BEGIN = {
    "corrected_bits": 1000,
    "ecc_failures": 1,
    "bad_blocks": 4,
    "bbt_blocks": 4,
    "ecc_strength_bits": 8,
    "bitflip_threshold_bits": 6,
}
END = {**BEGIN, "corrected_bits": 1017, "ecc_failures": 3, "bad_blocks": 5}


def lines(*noted: Mapping[str, object]) -> bytes:
    head = {"v": 1, "type": "mtd-statistics", "name": "test", "label": "x"}
    return "".join(json.dumps({**head, **one}) + "\n" for one in noted).encode()


def stream(*noted: Mapping[str, object]) -> RecordStream:
    found = parse_records(lines(*noted))
    assert not found.damage
    return found


def of(*noted: Mapping[str, object]) -> MtdStatistics | None:
    return mtd_statistics(stream(*noted))


def test_counts_are_of_the_case_and_the_rest_as_it_is_at_the_end() -> None:
    """1,017 - 1,000 bits, 3 - 1 reads, 5 - 4 blocks: not those since the board was started."""
    assert of(BEGIN, {**END, "corrected_bits": 1009}, END) == {
        "corrected_bits": 17,
        "ecc_failures": 2,
        "grown_bad_blocks": 1,
        "bad_blocks": 5,
        "bbt_blocks": 4,
        "ecc_strength_bits": 8,
        "bitflip_threshold_bits": 6,
    }


def test_what_the_kernel_does_not_tell_is_absent() -> None:
    """Without sysfs's files only the ioctl's four numbers are there."""
    assert of(*({key: one[key] for key in MTD_COUNTS} for one in (BEGIN, END))) == {
        "corrected_bits": 17,
        "ecc_failures": 2,
        "grown_bad_blocks": 1,
        "bad_blocks": 5,
        "bbt_blocks": 4,
    }
    assert of({}, {"bad_blocks": 5}) == {"bad_blocks": 5}
    assert of({"corrected_bits": 5}, {"ecc_failures": 5}) is None
    assert of({}, {}) is None


def test_a_count_that_has_fallen_says_nothing() -> None:
    found = of(BEGIN, {**END, "corrected_bits": 999})
    assert found is not None
    assert "corrected_bits" not in found and found["ecc_failures"] == 2


def test_noted_once_nothing_is_known() -> None:
    assert of() is None
    assert of(BEGIN) is None


@pytest.mark.parametrize("key", [*MTD_COUNTS, *MTD_ECC])
def test_a_damaged_number_is_damage(key: str) -> None:
    for wrong in (-1, "12", 1.5, None, True):
        found = parse_records(lines(BEGIN, {**END, key: wrong}))
        told = f"line 2: a mtd-statistics record whose {key} is {wrong!r}"
        assert found.damage == (told,)
        assert mtd_statistics(found) is None
