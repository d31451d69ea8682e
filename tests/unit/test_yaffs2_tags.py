"""Tags and their ECC: worked by hand from the definition, then the properties of the code."""

from __future__ import annotations

import itertools
import random
import struct

import pytest

from ffslab.yaffs2.format import ObjectType
from ffslab.yaffs2.tags import (
    Tags,
    TagState,
    correct,
    ecc_parities,
    header_tags,
    pack_with_ecc,
    read_tags,
)


def one_byte(index: int, value: int) -> bytes:
    data = bytearray(16)
    data[index] = value
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "parities"),
    [
        # Even weight everywhere: no byte's index is in the line parities.
        (bytes(16), (0, 0, 0)),
        # Bit 0 is in the column groups {0,2,4,6}, {0,1,4,5}, {0-3}: bits 0, 2, 4.
        (one_byte(0, 0x01), (0b010101, 0, 0xFFFFFFFF)),
        # Bit 7 is in {1,3,5,7}, {2,3,6,7}, {4-7}: bits 1, 3, 5. The index 5 is odd.
        (one_byte(5, 0x80), (0b101010, 5, 0xFFFFFFFA)),
        # Bit 1 alone gives 0b010110; with bit 0 that cancels to 0b000011. Even weight.
        (one_byte(9, 0x03), (0b000011, 0, 0)),
        # Bits 1 and 2 and 4: 0b010110 ^ 0b011001 ^ 0b100101.
        (one_byte(15, 0x16), (0b101010, 15, 0xFFFFFFF0)),
    ],
)
def test_parities_worked_by_hand(data: bytes, parities: tuple[int, int, int]) -> None:
    assert ecc_parities(data) == parities


def test_two_odd_bytes_by_hand() -> None:
    data = bytearray(16)
    data[3] = data[5] = 0x01
    # The columns cancel; 3 ^ 5 = 6, and the complements' complements cancel as well.
    assert ecc_parities(bytes(data)) == (0, 6, 6)


def test_stored_form_by_hand() -> None:
    # Bytes of the words: 1 at index 0, 2 at 4, 3 (even weight) at 8, 4 at 12.
    stored = pack_with_ecc(Tags(1, 2, 3, 4))
    assert stored[:16] == struct.pack("<4I", 1, 2, 3, 4)
    column = 0b010101 ^ 0b010110 ^ 0b000011 ^ 0b011001
    line = 0 ^ 4 ^ 12
    assert stored[16] == column
    assert stored[17:20] == b"\0\0\0"
    assert stored[20:] == struct.pack("<II", line, line ^ 0xFFFFFFFF)


def random_tags(seed: int) -> bytes:
    return random.Random(seed).randbytes(16)


@pytest.mark.parametrize("seed", range(4))
def test_any_wrong_data_bit_is_corrected(seed: int) -> None:
    data = random_tags(seed)
    ecc = pack_with_ecc(Tags(*struct.unpack("<4I", data)))[16:]
    assert correct(data, ecc) == (TagState.GOOD, data)
    for bit in range(128):
        wrong = bytearray(data)
        wrong[bit // 8] ^= 1 << bit % 8
        assert correct(bytes(wrong), ecc) == (TagState.CORRECTED, data), bit


@pytest.mark.parametrize("seed", range(2))
def test_any_two_wrong_data_bits_are_detected(seed: int) -> None:
    data = random_tags(seed)
    ecc = pack_with_ecc(Tags(*struct.unpack("<4I", data)))[16:]
    for one, other in itertools.combinations(range(128), 2):
        wrong = bytearray(data)
        wrong[one // 8] ^= 1 << one % 8
        wrong[other // 8] ^= 1 << other % 8
        assert correct(bytes(wrong), ecc)[0] is TagState.UNCORRECTABLE, (one, other)


def test_a_wrong_bit_of_the_ecc_leaves_the_data() -> None:
    data = random_tags(7)
    ecc = pack_with_ecc(Tags(*struct.unpack("<4I", data)))[16:]
    for bit in range(96):
        wrong = bytearray(ecc)
        wrong[bit // 8] ^= 1 << bit % 8
        state, repaired = correct(data, bytes(wrong))
        assert repaired == data
        in_padding = 8 <= bit < 32
        assert state is (TagState.GOOD if in_padding else TagState.CORRECTED), bit


def test_one_wrong_bit_in_data_and_one_in_the_ecc_are_detected() -> None:
    data = random_tags(8)
    ecc = pack_with_ecc(Tags(*struct.unpack("<4I", data)))[16:]
    for bit, ecc_bit in itertools.product(range(128), (*range(8), *range(32, 96))):
        wrong, wrong_ecc = bytearray(data), bytearray(ecc)
        wrong[bit // 8] ^= 1 << bit % 8
        wrong_ecc[ecc_bit // 8] ^= 1 << ecc_bit % 8
        state, _ = correct(bytes(wrong), bytes(wrong_ecc))
        assert state is TagState.UNCORRECTABLE, (bit, ecc_bit)


def test_unused_is_known_by_the_sequence_alone() -> None:
    stored = b"\xff" * 4 + b"anything at all, no ECC!"
    assert read_tags(stored, ecc=True)[0] is TagState.UNUSED
    assert read_tags(stored[:16], ecc=False)[0] is TagState.UNUSED


def test_without_ecc_everything_counts_as_good() -> None:
    assert read_tags(struct.pack("<4I", 0x1001, 257, 1, 9), ecc=False) == (
        TagState.GOOD,
        Tags(0x1001, 257, 1, 9),
    )


def test_extended_tags_by_hand() -> None:
    tags = Tags(0x1001, 0x10000101, 0x80000001, 5000)
    assert tags.extended and tags.is_header
    assert (tags.object_id, tags.type_number, tags.parent_id) == (257, 1, 1)
    assert (tags.chunk_id, tags.byte_count) == (0, 0)
    assert not tags.shrink and not tags.shadows and not tags.spare_bit
    assert Tags(0x1001, 0x10000101, 0xC0000004, 0).shrink
    assert Tags(0x1001, 0x10000101, 0xA0000004, 0).shadows
    assert Tags(0x1001, 0x10000101, 0x90000004, 0).spare_bit


def test_header_tags_by_hand() -> None:
    tags = header_tags(0x1001, 300, ObjectType.HARD_LINK, 257, size_or_target=258, shrink=True)
    assert tags == Tags(0x1001, 0x4000012C, 0xC0000101, 258)


def test_plain_tags_of_data() -> None:
    tags = Tags(0x1001, 257, 3, 2048)
    assert not tags.is_header
    assert (tags.object_id, tags.chunk_id, tags.byte_count) == (257, 3, 2048)
    assert Tags(0x1001, 257, 0, 0).is_header  # a header with plain tags
