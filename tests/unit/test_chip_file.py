"""The host file of a chip: its digest is that of its contents, wherever the holes are."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from ffslab.protocol import chip_file
from ffslab.protocol.chip_file import CHUNK_BYTES, DIGEST_FORM, flash_digest

PAGE = 4096


def digest_of(contents: bytes) -> str:
    """What the docstring of flash_digest says, of all bytes of the file."""
    digest = hashlib.sha256(len(contents).to_bytes(8, "little"))
    for start in range(0, len(contents), CHUNK_BYTES):
        chunk = contents[start : start + CHUNK_BYTES]
        pages = [chunk[at : at + PAGE] for at in range(0, len(chunk), PAGE)]
        used = [number for number, page in enumerate(pages) if any(page)]
        if used:
            digest.update(start.to_bytes(8, "little"))
            digest.update(sum(1 << number for number in used).to_bytes(2, "little"))
            digest.update(b"".join(pages[number] for number in used))
    return DIGEST_FORM + digest.hexdigest()


CONTENTS = {
    "nothing": {},
    "a byte at the start": {0: b"\1"},
    "a byte in the middle of a page": {5 * PAGE + 17: b"\1"},
    "one page of each chunk": {n * CHUNK_BYTES + n % 16 * PAGE: b"\7" * 64 for n in range(8)},
    "two pages with a hole between": {3 * PAGE: b"\1" * PAGE, 9 * PAGE: b"\2" * PAGE},
    "data across two chunks": {CHUNK_BYTES - PAGE - 3: b"\3" * (2 * PAGE)},
    "zeros that were written": {2 * PAGE: bytes(3 * PAGE), 7 * PAGE: b"\4"},
    "a full chunk": {CHUNK_BYTES: b"\5" * CHUNK_BYTES},
    "a byte at the end": {8 * CHUNK_BYTES + 1233: b"\6"},
}


@pytest.mark.parametrize("pieces", CONTENTS.values(), ids=CONTENTS)
@pytest.mark.parametrize("size", [8 * CHUNK_BYTES, 8 * CHUNK_BYTES + 1234])
def test_digest_is_that_of_the_contents(
    pieces: dict[int, bytes], size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = bytearray(max(size, *(at + len(data) for at, data in pieces.items()), 0))
    sparse, full = tmp_path / "sparse", tmp_path / "full"
    with sparse.open("wb") as file:
        file.truncate(len(contents))
        for at, data in pieces.items():
            contents[at : at + len(data)] = data
            os.pwrite(file.fileno(), data, at)
    full.write_bytes(contents)
    want = digest_of(bytes(contents))
    assert flash_digest(sparse) == flash_digest(full) == want
    # A file system that knows no holes says that all is data.
    monkeypatch.setattr(chip_file, "_next_hole", lambda _descriptor, _position, size: size)
    assert flash_digest(sparse) == want
