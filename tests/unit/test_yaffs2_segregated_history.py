"""Random histories of a file system of the segregated layout, with what a reader must find.

`System` does what the specification lets a writer do, in any order: data before their index,
pieces written late, pages moved by a collector, files cut, grown and deleted, ids used again,
power cuts, blocks erased as soon as they may be, also those with headers of deleted objects. After
every few steps the flash must read as the files that the system has in mind, without an error. The
seed is the whole history.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from yaffs2_segregated_support import TwoLogs
from yaffs2_support import DIRECTORY, Image

from ffslab.yaffs2 import ImageOptions, check_image, read_tree
from ffslab.yaffs2.format import GRAVES, ID_FIRST_ORDINARY, Geometry
from ffslab.yaffs2.segregated.head import CUTS_MAX, header_chunks, piece_chunks
from ffslab.yaffs2.segregated.ids import IdPart, parse_part, part_ids
from ffslab.yaffs2.segregated.marks import SegregatedTags

GEOMETRY = Geometry(page_bytes=1024, oob_bytes=32, pages_per_block=8)
OPTIONS = ImageOptions(
    page_bytes=1024, oob_bytes=32, pages_per_block=8, oob_offset=2, inband=False, tags_ecc=True
)
S = GEOMETRY.data_bytes
PIECE = piece_chunks(S)
IN_HEADER = header_chunks(S, 0)
N = part_ids(GEOMETRY)
# Within the header, around its end, around the ends of pieces, far behind one that may be a hole.
CHUNK_IDS = (
    *(1, 2, 3, 4, 5, IN_HEADER - 2, IN_HEADER - 1, IN_HEADER),
    *(PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 5),
)
# The ids that a history uses: of one part, or around the ends of three.
IDS = ((256, 257, 258, 259), (256, N - 1, N, 2 * N + 7))
HORIZON_BLOCKS = 6  # of sequence numbers that the horizon may stay behind
NOTES = {"data-unflushed", "summary-missing", "object-unlinked"}


@dataclass
class File:
    """What the system has in mind of a file. Pages are chunk numbers."""

    cuts: list[tuple[int, int]]
    size: int = 0
    chunks: dict[int, tuple[int, bytes]] = field(default_factory=dict)
    header: int = 0
    pieces: dict[int, int] = field(default_factory=dict)  # index pages on flash
    header_entries: int | None = None  # None: the header has no index
    index_in_header: bool = False  # and no index page of piece 0 is newer
    waiting: dict[int, int] = field(default_factory=dict)  # piece: oldest page it does not have

    @property
    def fits_header(self) -> bool:
        return max(self.chunks, default=-1) < IN_HEADER


class System:
    """A writer that keeps the rules, and does otherwise what the dice say."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.log = TwoLogs(GEOMETRY, summaries=seed % 3 > 0)
        self.ids = IDS[seed % 2]
        self.files: dict[int, File] = {}
        self.unlinked: dict[int, File] = {}  # still open
        self.deleted: set[int] = set()  # pages with headers of deleted objects
        self.erased: set[int] = set()
        self.early = 0  # blocks with such headers that only the ids allowed to erase
        self.root = self.log.header(1, DIRECTORY, 0, "")
        self.said = {self.root: self.log.now}  # metadata page: the highest position in it

    # --- writing ---

    @property
    def horizon(self) -> int:
        waiting = [oldest for file in self.files.values() for oldest in file.waiting.values()]
        return min(waiting, default=self.log.now)

    def write_header(self, object_id: int) -> None:
        file = self.files[object_id]
        entries = None
        if file.fits_header:
            entries = {chunk_id: page for chunk_id, (page, _) in file.chunks.items()}
            file.pieces.pop(0, None)
            file.waiting.clear()
        elif file.index_in_header and file.header_entries:
            self.write_index(object_id, 0)  # else the header that has the piece would be gone
        file.index_in_header = entries is not None
        file.header_entries = None if entries is None else len(entries)
        name, parent = f"f{object_id}", 1
        if object_id in self.unlinked:
            name, parent = "unlinked", 3
        file.header = self.log.file(
            object_id,
            name,
            file.size,
            entries,
            parent=parent,
            cuts=file.cuts,
            horizon=self.horizon,
        )
        self.said[file.header] = self.log.now

    def write_index(self, object_id: int, piece: int) -> None:
        file = self.files[object_id]
        file.waiting.pop(piece, None)
        chunks = {
            chunk_id: page
            for chunk_id, (page, _) in file.chunks.items()
            if chunk_id // PIECE == piece
        }
        page = self.log.index(object_id, piece, file.size, chunks, horizon=self.horizon)
        file.pieces[piece] = page
        self.said[page] = self.log.now
        if piece == 0:
            file.index_in_header = False

    def write_piece(self, object_id: int, piece: int) -> None:
        if self.files[object_id].fits_header:
            self.write_header(object_id)
        else:
            self.write_index(object_id, piece)

    def write_data(self, object_id: int, chunk_id: int, content: bytes) -> None:
        file = self.files[object_id]
        file.waiting.setdefault(chunk_id // PIECE, self.log.now)
        file.chunks[chunk_id] = (self.log.data(object_id, chunk_id, content), content)
        file.size = max(file.size, (chunk_id - 1) * S + len(content))
        while (self.log.now >> 10) - (self.horizon >> 10) > HORIZON_BLOCKS:
            self.write_first_in_line()

    def write_first_in_line(self) -> None:
        line = sorted(
            (oldest, object_id, piece)
            for object_id, file in self.files.items()
            for piece, oldest in file.waiting.items()
        )
        if line:
            self.write_piece(line[0][1], line[0][2])

    # --- what users and the collector do ---

    def create(self) -> None:
        free = [number for number in self.ids if number not in {**self.files, **self.unlinked}]
        if free:
            object_id = min(free)
            self.files[object_id] = File([(self.log.now, 0)])
            self.write_header(object_id)

    def a_file(self) -> int | None:
        return self.draw.choice(sorted(self.files)) if self.files else None

    def write(self) -> None:
        object_id = self.a_file()
        if object_id is None:
            return
        chunk_id = self.draw.choice(CHUNK_IDS)
        content = bytes([self.draw.randrange(1, 256)]) * S
        self.write_data(object_id, chunk_id, content)

    def truncate(self) -> None:
        object_id = self.a_file()
        if object_id is None:
            return
        file = self.files[object_id]
        size = self.draw.choice((0, 1, 2, 4, 83, PIECE)) * S + self.draw.choice((0, 100))
        if size >= file.size:
            file.size = size
            self.write_header(object_id)
            return
        kept = -(-size // S)
        for chunk_id in [number for number in file.chunks if number > kept]:
            del file.chunks[chunk_id]
        file.waiting = {piece: at for piece, at in file.waiting.items() if piece <= kept // PIECE}
        if size % S and kept in file.chunks:
            self.write_data(object_id, kept, file.chunks[kept][1][: size % S])
        file.size = size
        self.cut(object_id, kept)
        self.write_header(object_id)

    def cut(self, object_id: int, kept: int) -> None:
        file = self.files[object_id]
        file.cuts = [cut for cut in file.cuts if cut[1] < kept]
        if file.cuts and file.cuts[-1][0] == self.log.now:
            return
        if len(file.cuts) == CUTS_MAX:
            (_, low), (later, high) = file.cuts[:2]
            pieces = {chunk_id // PIECE for chunk_id in file.chunks if low < chunk_id <= high}
            for piece in sorted(pieces):
                self.write_index(object_id, piece)
            file.cuts[:2] = [(later, low)]
        file.cuts.append((self.log.now, kept))

    def unlink(self) -> None:
        """Deletes a file, or leaves it until it is closed."""
        object_id = self.a_file()
        if object_id is None:
            return
        file = self.unlinked[object_id] = self.files[object_id]
        if self.draw.random() < 0.3:
            self.write_header(object_id)
        else:
            self.delete(object_id)
        del self.files[object_id]
        file.waiting.clear()

    def delete(self, object_id: int) -> None:
        del self.unlinked[object_id]
        header = self.log.deleted(object_id, horizon=self.horizon)
        self.deleted.add(header)
        self.said[header] = self.log.now

    def close(self) -> None:
        for object_id in sorted(self.unlinked):
            self.delete(object_id)

    def flush(self) -> None:
        object_id = self.a_file()
        if object_id is not None:
            self.write_header(object_id)

    def move_data(self) -> None:
        object_id = self.a_file()
        if object_id is not None and self.files[object_id].chunks:
            chunk_id = self.draw.choice(sorted(self.files[object_id].chunks))
            self.write_data(object_id, chunk_id, self.files[object_id].chunks[chunk_id][1])

    def move_index(self) -> None:
        object_id = self.a_file()
        if object_id is None or not self.files[object_id].pieces:
            return
        file = self.files[object_id]
        piece = self.draw.choice(sorted(file.pieces))
        file.pieces[piece] = self.copied(file.pieces[piece])

    def move_header(self) -> None:
        object_id = self.a_file()
        if object_id is None:
            return
        file = self.files[object_id]
        if file.header_entries is not None and not file.index_in_header:
            self.write_header(object_id)  # an index page is newer than its entries
        else:
            file.header = self.copied(file.header)

    def copied(self, chunk: int) -> int:
        """A header or index page as it is, moved as a collector does."""
        block, page = self.log.place(chunk)
        words = self.log.log.blocks[block].tags[page].words
        copy = self.log.log.write(words, self.log.image().page(block, page), metadata=True)
        self.said[copy] = self.said[chunk]
        return copy

    def power_cut(self) -> None:
        """The clock goes on with what is on flash, be it less than what was there."""
        self.mount()
        if self.draw.random() < 0.5:  # once more, without the blocks written last if they are dead
            self.collect()
            self.mount()

    def mount(self) -> None:
        blocks = self.log.log.blocks
        there = [block.sequence for number, block in enumerate(blocks) if number not in self.erased]
        there += [self.said[page] >> 10 for page in self.pages_in_force()]
        newest, now = self.newest_part()
        there.append(now >> 10)
        there += [
            said >> 10
            for page, said in self.said.items()
            if self.log.place(page)[0] > newest and self.log.place(page)[0] not in self.erased
        ]
        self.log.mount(max(there))
        self.close()

    def parts(self) -> dict[int, tuple[int, IdPart]]:
        """The newest version of each part of the ids on flash, with its block."""
        image, last = self.log.image(), GEOMETRY.pages_per_block - 1
        return {
            number: (internal - 1, parse_part(GEOMETRY, image.page(internal - 1, last)))
            for number, internal in enumerate(self.log.log.ids.blocks)
            if internal
        }

    def newest_part(self) -> tuple[int, int]:
        """The block with the newest part and the position in it; all blocks are newer than none."""
        versions = [(block, part.now) for block, part in self.parts().values()]
        return max(versions, default=(-1, 0))

    def pages_in_force(self) -> Iterator[int]:
        """The newest header of each file and the newest page of each piece, without void ones."""
        blocks, parts = self.log.log.blocks, self.parts()
        seen: set[tuple[int, int | None]] = set()
        gone: set[int] = set()
        for number in range(len(blocks) - 1, -1, -1):
            if number in self.erased or not blocks[number].is_metadata:
                continue
            for page in range(len(blocks[number].tags) - 1, -1, -1):
                tags = blocks[number].tags[page]
                assert isinstance(tags, SegregatedTags)
                key = tags.object_id, tags.piece
                version, part = parts.get(tags.object_id // N, (-1, None))
                void = part is not None and number <= version and not part.has(tags.object_id)
                if tags.object_id < ID_FIRST_ORDINARY or key in seen or void:
                    continue
                seen.add(key)
                if tags.is_header and tags.parent_id in GRAVES:
                    gone.add(tags.object_id)
                if tags.object_id not in gone:
                    yield (number + 1) * GEOMETRY.pages_per_block + page

    def step(self) -> None:
        actions: list[tuple[Callable[[], None], int]] = [
            (self.create, 3),
            (self.write, 20),
            (self.truncate, 4),
            (self.unlink, 2),
            (self.close, 1),
            (self.flush, 2),
            (self.write_first_in_line, 2),
            (self.move_data, 5),
            (self.move_index, 2),
            (self.move_header, 2),
            (self.collect, 2),
            (self.power_cut, 1),
        ]
        choices, weights = zip(*actions, strict=True)
        self.draw.choices(choices, weights)[0]()

    # --- erasing ---

    def collect(self) -> None:
        """Erases blocks that need not be there, the oldest first; some are left for later."""
        opened = set(self.log.log.open_blocks)
        live = {self.log.place(page) for page in self.live_pages()}
        for number, block in enumerate(self.log.log.blocks):
            if number in opened or number in self.erased:
                continue
            needed = any(place[0] == number for place in live)
            late = self.draw.random() < (0.5 if block.is_metadata else 0.2)
            if not (needed or late) and self.may_erase(number, live):
                self.erased.add(number)

    def image(self) -> Image:
        """The flash without the blocks that were erased."""
        image = self.log.image()
        for number in self.erased:
            image.erase(number)
        return image

    def may_erase(self, number: int, live: set[tuple[int, int]]) -> bool:
        """A metadata block with a deleted object's header waits for the ids, or dead pages."""
        blocks, ids = self.log.log.blocks, self.log.log.ids
        if number + 1 in ids.blocks:
            return False
        if not any(self.log.place(page)[0] == number for page in self.deleted):
            return True
        versions = [ids.blocks[part] for part in ids.parts]
        newer = all(block and block - 1 > number for block in versions)
        older = [
            (before, page)
            for before in range(number)
            if blocks[before].is_metadata and before not in self.erased
            for page in range(len(blocks[before].tags))
        ]
        nothing_dead = all(place in live for place in older)
        self.early += newer and not nothing_dead
        return newer or nothing_dead

    def live_pages(self) -> list[int]:
        pages = [self.root]
        for file in (*self.files.values(), *self.unlinked.values()):
            pages += [file.header, *file.pieces.values()]
            pages += [page for page, _ in file.chunks.values()]
        return pages


# 59 fails if the clock leaves out the newest part and the pages of newer metadata blocks.
@pytest.mark.parametrize("seed", [*range(12), 59])
def test_a_history_reads_as_it_was_written(seed: int, tmp_path: Path) -> None:
    system = System(seed)
    void = 0
    for number in range(1, 801):
        system.step()
        if number % 25:
            continue
        system.collect()
        path = system.image().write(tmp_path)
        report = check_image(path, OPTIONS)
        assert set(report.counts) <= NOTES, f"step {number}: {report.text()}"
        void += report.statistics["pages_void"]
        tree = read_tree(path, OPTIONS)
        assert set(tree) == {"/", "/lost+found", *(f"/f{number}" for number in system.files)}
        for object_id, file in system.files.items():
            node = tree[f"/f{object_id}"]
            assert node.size == file.size, f"step {number} of {object_id}"
            found = {offset // S + 1: content for offset, content in node.pieces()}
            assert found == {chunk_id: content for chunk_id, (_, content) in file.chunks.items()}
    assert bool(void or system.early) <= bool(seed % 3), "without summaries there are no ids"
