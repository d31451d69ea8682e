"""A chip's operations and its cuts, carried out one by one in a guest, and what they left.

A test writes a script of lines of `tests/lab/guest/chipcuts`; each line's answer comes back. What
was programmed is a function of a seed, here as in the guest, so that what should be on the flash is
known without it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab_support import Boot, boot, cases
from test_crash_walk import STUDY

from ffslab.lab.lab_build import LabBuild
from ffslab.protocol.plan import decode, encode, parse_step, step
from ffslab.targets.target import RECORDS_NAME
from ffslab.targets.virtual_flash import chip_modules, cutting_module, module_path, plan_text

PAGE, OOB, STEP, SUBPAGE = 2048, 64, 512, 512
PAGES = 16  # of a block
STRENGTH = 2
FREE = dict.fromkeys(
    (
        *("t_read_ns", "t_prog_ns", "t_prog_byte_ns", "t_erase_ns", "t_command_ns"),
        *("bus_read_ps", "bus_write_ps", "ecc_read_ns", "ecc_write_ns"),
    ),
    0,
)
PROGRAM = "/test/chipcuts"
_STATE = 4  # bytes of struct vnand_page_state


def pattern(size: int, seed: int) -> bytes:
    """As pattern() in tests/lab/guest/chipcuts/flash.c."""
    state = (seed * 2654435761 + 1) % 2**32
    made = bytearray()
    for _ in range(size):
        state = (state * 1664525 + 1013904223) % 2**32
        made.append(state >> 24)
    return bytes(made)


def oob_pattern(seed: int) -> bytes:
    return b"\xff\xff" + pattern(OOB, seed + 1000)[2:]


@dataclass(frozen=True)
class Bits:
    """The true bits of a page, data and OOB area."""

    data: bytes = b"\xff" * PAGE
    oob: bytes = b"\xff" * OOB

    def programmed(self, column: int, size: int, with_oob: bool, seed: int) -> Bits:
        """With one more program upon it: bits only clear."""
        data = b"\xff" * column + pattern(size, seed)
        data += b"\xff" * (PAGE - len(data))
        oob = oob_pattern(seed) if with_oob else b"\xff" * OOB
        return Bits(both(self.data, data), both(self.oob, oob))


BLANK = Bits()


def both(one: bytes, other: bytes) -> bytes:
    return bytes(a & b for a, b in zip(one, other, strict=True))


def differing(one: bytes, other: bytes) -> int:
    """In how many bits."""
    return (int.from_bytes(one) ^ int.from_bytes(other)).bit_count()


def steps_of(data: bytes) -> Iterator[bytes]:
    for at in range(0, PAGE, STEP):
        yield data[at : at + STEP]


@dataclass(frozen=True)
class Read:
    """What reading a page gave: data through the ECC, true bits, OOB area."""

    corrected: int
    failed: int
    data: bytes
    raw: bytes
    oob: bytes

    @property
    def bits(self) -> Bits:
        return Bits(self.raw, self.oob)


def well(bits: Bits) -> Read:
    """What a page of these bits gives, with nothing to correct."""
    return Read(0, 0, bits.data, bits.data, bits.oob)


def through_ecc(
    raw: bytes, candidates: Sequence[bytes], strength: int = STRENGTH
) -> tuple[int, int, bytes]:
    """What the ECC makes of true bits: the nearest codeword, the first of several, or these bits.

    How many bits it corrected, how many steps it could not, data: docs/fault-model.md.
    """
    corrected = failed = 0
    data = b""
    for number, bits in enumerate(steps_of(raw)):
        words = [list(steps_of(one))[number] for one in candidates]
        nearest = min(words, key=lambda word: differing(word, bits))
        errors = differing(nearest, bits)
        if errors > strength:
            failed += 1
            data += bits
        else:
            corrected += errors
            data += nearest
    return corrected, failed, data


@dataclass
class Script:
    """Lines for the guest; each returns its place, by which its answer is found."""

    lines: list[str] = field(default_factory=list)

    def add(self, line: str) -> int:
        """Another line; two of those that answer with several lines would run into each other."""
        assert line not in _LINES or self.lines[-1:] != [line]
        self.lines.append(line)
        return len(self.lines) - 1

    def chip(self, command: str) -> int:
        return self.add(f"chip {command}")

    def read(self, page: int) -> int:
        return self.add(f"read {page}")

    def cut(self, operation: int, kind: str, variant: int = 0) -> int:
        """Goes to the moment and makes the cut; the answer is the cut's."""
        self.chip(f"at {operation}")
        return self.chip(f"cut {kind} {variant}")


@dataclass(frozen=True)
class Answers:
    """What each line of a script gave."""

    guest: Boot
    given: tuple[tuple[str, ...], ...]

    def errno(self, place: int) -> int:
        (line,) = self.given[place]
        return int(line.split()[1])

    def text(self, place: int) -> str:
        return "\n".join(self.given[place])

    def read(self, place: int) -> Read:
        (line,) = self.given[place]
        _, corrected, failed, *hexes = line.split(" ")  # of no OOB area ""
        data, raw, oob = (bytes.fromhex(text) for text in hexes)
        return Read(int(corrected), int(failed), data, raw, oob)

    def numbers(self, place: int) -> list[int]:
        (line,) = self.given[place]
        return [int(word) for word in line.split()[1:]]


# What answers with "did", and what with several lines.
_CHANGES, _LINES = ("erase", "mark", "program"), ("state", "log")


def _matched(script: Script, printed: Sequence[str]) -> Iterator[tuple[str, ...]]:
    at = 0
    for line in script.lines:
        word = line.split()[0]
        wanted = "did" if word in _CHANGES else word
        end = at + (word not in _LINES)
        while word in _LINES and end < len(printed) and printed[end].startswith(f"{word} "):
            end += 1
        assert all(text.startswith(wanted) for text in printed[at:end]), (line, printed[at:end])
        yield tuple(printed[at:end])
        at = end
    assert at == len(printed)


def carried_out(
    lab: LabBuild,
    directory: Path,
    program: Path,
    script: Script,
    *,
    study: str = STUDY,
    paired: int = 0,
    bad: str = "",
    **chip: int,
) -> Answers:
    """The script in a guest on a chip without times; `bad`: its factory bad blocks, as 3/17."""
    geometry = {"pages_per_block": PAGES, "blocks": 128, "ecc_strength_bits": STRENGTH}
    case = next(iter(cases(study, **{**FREE, **geometry, **chip}).values()))
    kept = ("ffsplan", "insmod")
    lines = [line for line in plan_text(case).splitlines() if line.split()[0] in kept]
    at = next(
        number for number, line in enumerate(lines) if module_path(chip_modules(case)[0]) in line
    )
    _, keys = parse_step(lines[at])
    words = [decode(keys["args"]) if "%" in keys["args"] else keys["args"]]
    if bad:
        words[0] += f";factory_bad={bad}"
    if paired:
        words.append(f"paired_distance_pages={paired}")
    lines[at] = step("insmod", path=module_path(cutting_module(case)), args=" ".join(words))
    directory.mkdir()
    text = directory / "script"
    text.write_text("".join(f"{line}\n" for line in script.lines))
    arguments = encode("/dev/mtd0 flash0 /test/script /dev/ttyS0")
    plan = "\n".join([*lines, f"exec path={PROGRAM} args={arguments}"]) + "\n"
    files = {PROGRAM: program, "/test/script": text}
    guest = boot(lab, directory / "guest", case, plan, files=files)
    printed = (guest.directory / RECORDS_NAME).read_text().splitlines()
    answers = [line for line in printed if not line.startswith("{")]
    end = printed[-1]
    assert '"status":"ok"' in end.replace(" ", ""), (end, guest.printed)
    return Answers(guest, tuple(_matched(script, answers)))


@dataclass(frozen=True)
class Contents:
    """What is on a chip, as its digest sees it: reads are no part of it.

    `blocks`: erases, programs, one behind the last page, flags. `pages`: those that are programmed.
    """

    blocks: tuple[tuple[int, ...], ...]
    pages: dict[int, bytes]


def contents_of(path: Path) -> Contents:
    """The contents of a flash file: kmod/vnand/image_format.h, and page states of four bytes."""
    flash = path.read_bytes()
    page_bytes, oob_bytes, _, pages_per_block, blocks = struct.unpack_from("<5I", flash, 12)
    blocks_at, pages_at, data_at = struct.unpack_from("<3Q", flash, 32)
    rows = [struct.unpack_from("<7I", flash, blocks_at + 28 * block) for block in range(blocks)]
    raw = page_bytes + oob_bytes
    pages = {}
    for page in range(blocks * pages_per_block):
        state = flash[pages_at + _STATE * page : pages_at + _STATE * (page + 1)]
        if any(state):
            pages[page] = state + flash[data_at + raw * page : data_at + raw * (page + 1)]
    facts = tuple((row[0], row[1], *row[4:]) for row in rows)
    return Contents(facts, pages)


# --- the workload of the tests ---

# Neighbours of the blocks that are used, and of none: on a chip from the factory.
BAD = "2/5/70"
TORN_PAGE, OVER, UNIT, OOB_ALONE = 3, 7, 9, 8  # operations below
ERASE, MARK, LAST = 11, 13, 15


@dataclass(frozen=True)
class Program:
    """An operation of the workload: a program."""

    page: int
    seed: int
    column: int = 0
    size: int = PAGE
    with_oob: bool = True

    def __str__(self) -> str:
        words = (self.page, self.column, self.size, int(self.with_oob), self.seed)
        return f"program {' '.join(map(str, words))}"


@dataclass(frozen=True)
class Change:
    """An operation of the workload: an erase, or a bad-block mark."""

    verb: str
    block: int

    def __str__(self) -> str:
        return f"{self.verb} {self.block}"


Operation = Program | Change
BLOCK, OTHER, MARKED = 3, 4, 6
FIRST = BLOCK * PAGES
# Before the log begins: a block with ten pages, and two without.
BEFORE: tuple[Operation, ...] = (
    *(Change("erase", block) for block in (BLOCK, OTHER, MARKED)),
    *(Program(OTHER * PAGES + page, 100 + page) for page in range(10)),
)
WORK: tuple[Operation, ...] = (
    *(Program(FIRST + page, 1 + page) for page in range(6)),
    Program(FIRST + 6, 7, 0, 1024, False),
    Program(FIRST + 6, 8, 1024, 1024, False),
    Program(FIRST + 7, 9, 0, 0),
    Program(FIRST + 8, 10, 512, 512, False),
    Program(FIRST + 14, 20),
    Change("erase", OTHER),
    Program(OTHER * PAGES, 11),
    Change("mark", MARKED),
    Change("erase", BLOCK),
    Program(FIRST, 12),
)


def flash_at(operation: int) -> dict[int, Bits]:
    """The true bits of all pages that are not blank before an operation of the workload."""
    pages: dict[int, Bits] = {}
    for one in (*BEFORE, *WORK[:operation]):
        if isinstance(one, Program):
            before = pages.get(one.page, BLANK)
            pages[one.page] = before.programmed(one.column, one.size, one.with_oob, one.seed)
        elif one.verb == "erase":
            kept = {page: bits for page, bits in pages.items() if page // PAGES != one.block}
            pages = kept
    return pages


def page_at(operation: int, page: int) -> Bits:
    return flash_at(operation).get(page, BLANK)


def around(operation: int) -> tuple[int, Bits, Bits]:
    """The page that an operation programs, as it was and as it is meant to be."""
    one = WORK[operation]
    assert isinstance(one, Program)
    return one.page, page_at(operation, one.page), page_at(operation + 1, one.page)


def worked() -> Script:
    """The workload, logged; the chip stands at its end."""
    script = Script()
    for operation in BEFORE:
        script.add(str(operation))
    script.chip("log 32")
    for operation in WORK:
        script.add(str(operation))
    script.chip("stop")
    return script
