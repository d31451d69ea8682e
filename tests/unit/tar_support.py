"""Tar archives made by hand, also such as no program would write."""

from __future__ import annotations

from collections.abc import Sequence

BLOCK = 512
SPARSE_FORMS = ("gnu", "0.0", "0.1", "1.0")
TIME_S = 1_700_000_000


def octal(value: int, width: int) -> bytes:
    """A number in a header's field: octal, or base 256 if it does not fit or is negative."""
    if 0 <= value < 8 ** (width - 1):
        return b"%0*o\0" % (width - 1, value)
    return ((value + (1 << (8 * width))) % (1 << (8 * width)) | (1 << (8 * width - 1))).to_bytes(
        width, "big"
    )


def with_checksum(block: bytes) -> bytes:
    plain = block[:148] + b" " * 8 + block[156:]
    return plain[:148] + b"%06o\0 " % sum(plain) + plain[156:]


def header(
    name: bytes, size: int = 0, kind: bytes = b"0", *, target: bytes = b"", uid: int = 0
) -> bytes:
    fields = (
        name[:100].ljust(100, b"\0") + octal(0o644, 8) + octal(uid, 8) + octal(0, 8),
        octal(size, 12) + octal(TIME_S, 12) + b" " * 8 + kind,
        target[:100].ljust(100, b"\0") + b"ustar  \0",
    )
    return with_checksum(b"".join(fields).ljust(BLOCK, b"\0"))


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % BLOCK)


def file(name: bytes, data: bytes) -> bytes:
    return header(name, len(data)) + padded(data)


def pax(*records: tuple[str, str]) -> bytes:
    body = b""
    for key, value in records:
        rest = f" {key}={value}\n".encode()
        length = len(rest) + len(str(len(rest) + 3))
        body += b"%d" % length + rest
    return header(b"pax", len(body), b"x") + padded(body)


def finished(*members: bytes) -> bytes:
    return b"".join(members) + bytes(2 * BLOCK)


def sparse_tar(
    form: str, parts: Sequence[tuple[int, int]], data: bytes, size: int, name: str = "f"
) -> bytes:
    """An archive of one sparse file of that size, whose map says where `data` goes."""
    return finished(sparse(form, parts, data, size, name))


def sparse(form: str, parts: Sequence[tuple[int, int]], data: bytes, size: int, name: str) -> bytes:
    if form == "gnu":
        return _old_sparse(parts, data, size, name.encode())
    numbers = [str(number) for part in parts for number in part]
    if form == "1.0":
        table = padded("\n".join([str(len(parts)), *numbers, ""]).encode())
        records = [("major", "1"), ("minor", "0"), ("name", name), ("realsize", str(size))]
        data = table + data
    else:
        records = [("size", str(size)), ("numblocks", str(len(parts)))]
        if form == "0.1":
            records.append(("map", ",".join(numbers)))
        else:
            names = ("offset", "numbytes")
            records += [(names[n % 2], number) for n, number in enumerate(numbers)]
    return pax(*((f"GNU.sparse.{key}", value) for key, value in records)) + file(
        name.encode(), data
    )


def _old_sparse(parts: Sequence[tuple[int, int]], data: bytes, size: int, name: bytes) -> bytes:
    def table(some: Sequence[tuple[int, int]], room: int) -> bytes:
        pairs = b"".join(octal(start, 12) + octal(length, 12) for start, length in some)
        return pairs.ljust(24 * room, b"\0")

    first, rest = parts[:4], [parts[at : at + 21] for at in range(4, len(parts), 21)]
    block = header(name, len(data), b"S")
    block = block[:386] + table(first, 4) + bytes([bool(rest)]) + octal(size, 12) + bytes(17)
    blocks = with_checksum(block)
    tables = [
        (table(some, 21) + bytes([some is not rest[-1]])).ljust(BLOCK, b"\0") for some in rest
    ]
    return b"".join([blocks, *tables, padded(data)])
