"""Opening an image: what is not given is deduced from the file, and the report says how.

A geometry is tried by reading the tags of a sample of pages as it would place them. Tags whose
ECC verifies hardly occur by chance, so a page size, OOB size and OOB offset that give them is
right; tags without ECC and in-band tags are recognised by plausible numbers. Pages per block
follow from the sequence numbers, which change from block to block and only there. The original's
image tool gives all blocks the same number, 0x1000: it says nothing about blocks. If nothing else
does, 64 pages are assumed and the report says so. The files do not hang on it: they are read in
the order of the pages.

A partition inside a lab flash file (or a dump of a whole chip) is found by the summaries: they
hold the internal block number, which counts from the partition's start. Its size follows from a
checkpoint, if there is one; else it is taken to reach to the end of the file. A raw image may be
shorter than its partition: the blocks behind its end count as erased.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ffslab.errors import UsageError
from ffslab.fsimage import flashfile
from ffslab.fsimage.flashfile import map_file
from ffslab.protocol.chip_layout import Contents, LabHeader, parse_lab_header
from ffslab.yaffs2.checkpoint_read import deduce_blocks
from ffslab.yaffs2.format import (
    CHECKPOINT_FORMS,
    ID_MAX,
    ID_SUMMARY,
    SEQUENCE_OF_TOOLS,
    SEQUENCE_UNUSED,
    SUMMARY_HEADER_BYTES,
    Geometry,
    Layout,
    geometry_problem,
    sequence_is_valid,
)
from ffslab.yaffs2.image import FlashImage
from ffslab.yaffs2.segregated.marks import decoded, partition_layout
from ffslab.yaffs2.tags import Tags, TagState, read_tags

# Ascending: two small pages with their OOBs look like one large page with tags in its middle.
_PAGE_SIZES = (1024, 2048, 4096, 8192, 16384)
_OOB_SIZES = (0, 32, 64, 128, 218, 224, 232, 256, 448, 512, 640, 744, 1024, 1280)
_BLOCK_SIZES = (64, 128, 32, 256, 16, 512)
_SAMPLE = 96
_LOOKED_AT = 2048
_FEW = 12
_LAST_OFFSET = 63  # of tags that are searched for
_GOOD_FRACTION = 0.9
_ECC_WEIGHT = 2.0
_MIN_FRACTION = 0.05
_TAGS_EVIDENCE = 16_384
_SEQUENCE_UNLIKELY = 1 << 28  # no chip lives long enough to reach it
_CHECKPOINTS = tuple(form.sequence for form in CHECKPOINT_FORMS.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageOptions(flashfile.ImageOptions):
    """And what is known about the tags."""

    oob_offset: int | None = None
    inband: bool | None = None
    tags_ecc: bool | None = None


@dataclass(frozen=True, slots=True)
class OpenedImage:
    """An image with what was deduced. `problems` are (rule, message) about the file itself."""

    path: Path
    flash: FlashImage
    source: str
    problems: tuple[tuple[str, str], ...]
    layout: Layout = Layout.ORIGINAL


def open_image(path: Path, options: ImageOptions | None = None) -> OpenedImage:
    """Opens a raw dump or lab flash file. UsageError: no file, impossible options."""
    options = options or ImageOptions()
    contents = map_file(path)
    lab = parse_lab_header(contents)
    problems: list[tuple[str, str]] = []
    if lab:
        if lab.problem:
            problems.append(("image-header", f"header of the lab flash file: {lab.problem}"))
        options = options.of_lab(lab)
    start = lab.data_offset if lab else 0
    geometry, source = _deduce(contents, start, lab, options, problems)
    problem = geometry_problem(geometry)
    if problem and not lab:
        raise UsageError(f"{path}: {problem}", remedy="give other sizes, or none")
    if problem:
        problems.append(("image-header", f"header of the lab flash file: {problem}"))
        geometry, lab = Geometry(), None
    flash, partition = _partition(path, contents, geometry, lab, options, problems)
    layout = partition_layout(flash)
    return OpenedImage(path, flash, f"{source}{partition}", tuple(problems), layout)


def _deduce(
    contents: Contents,
    start: int,
    lab: LabHeader | None,
    options: ImageOptions,
    problems: list[tuple[str, str]],
) -> tuple[Geometry, str]:
    given = [
        name
        for name in ("page_bytes", "oob_bytes", "oob_offset", "inband", "tags_ecc")
        if getattr(options, name) is not None
    ]
    sample = _best_candidate(contents, start, lab, options)
    if sample is None:
        geometry = _from_options(Geometry(), options)
        reason = "no page has readable tags: defaults"
    else:
        geometry = sample.geometry
        reason = "found by the tags"
    if lab:
        source = "from the file's header"
    elif len(given) >= 3 or (given and sample is None):
        source = "as given"
    else:
        source = reason
    if options.pages_per_block is None and sample is not None:
        geometry, assumed = _with_pages_per_block(contents, geometry)
        if assumed:
            problems.append(("image-block-size", assumed))
            source += f"; {geometry.pages_per_block} pages are assumed"
    return geometry, source


def _from_options(base: Geometry, options: ImageOptions) -> Geometry:
    names = ("page_bytes", "oob_bytes", "pages_per_block", "oob_offset", "inband", "tags_ecc")
    given = {name: getattr(options, name) for name in names}
    known = {name: value for name, value in given.items() if value is not None}
    geometry = replace(base, **known)
    if options.inband is None and geometry.oob_bytes < geometry.oob_offset + 16:
        geometry = replace(geometry, inband=True)
    return geometry


@dataclass(frozen=True, slots=True)
class _Candidate:
    geometry: Geometry
    fraction: float
    weight: float  # of the evidence: an ECC that verifies counts more than plausible numbers


def _best_candidate(
    contents: Contents, start: int, lab: LabHeader | None, options: ImageOptions
) -> _Candidate | None:
    """The geometry under which most sampled pages have tags."""
    best: _Candidate | None = None
    page_sizes = _PAGE_SIZES if options.page_bytes is None else (options.page_bytes,)
    oob_sizes = _OOB_SIZES if options.oob_bytes is None else (options.oob_bytes,)
    for page_bytes in page_sizes:
        for oob_bytes in oob_sizes:
            geometry = Geometry(page_bytes, oob_bytes, options.pages_per_block or 64)
            if not 512 <= page_bytes <= 65536 or not 0 <= oob_bytes <= 8192:
                continue
            sampled = list(_sample_pages(contents, start, lab, geometry))
            for candidate in _judge(sampled, geometry, options):
                if best is None or _strength(candidate) > _strength(best):
                    best = candidate
            if best and best.fraction >= _GOOD_FRACTION and best.weight == _ECC_WEIGHT:
                return best
        if best and best.fraction >= _GOOD_FRACTION:
            return best
    return best if best and best.fraction >= _MIN_FRACTION else None


def _strength(candidate: _Candidate) -> float:
    return round(candidate.fraction * candidate.weight, 3)


def _sample_pages(
    contents: Contents, start: int, lab: LabHeader | None, geometry: Geometry
) -> Iterator[bytes]:
    """Some pages that are not blank: from the beginning, then from all over the file."""
    step = geometry.raw_page_bytes
    pages = (len(contents) - start) // step
    blank, zero = b"\xff" * step, bytes(step)
    near = range(min(pages, _LOOKED_AT // 2))
    far = range(len(near), pages, max(1, pages // (_LOOKED_AT // 2)))
    for numbers in (near, far):
        taken = 0
        for number in numbers:
            if lab and not _lab_programs(contents, lab, number):
                continue
            raw = contents[start + number * step : start + (number + 1) * step]
            if raw not in (blank, zero):
                yield raw
                taken += 1
                if taken == _SAMPLE:
                    break


def _lab_programs(contents: Contents, lab: LabHeader, page: int) -> bool:
    """Whether vnand knows of a program of this page."""
    at = lab.pages_offset + page * 4
    return contents[at : at + 1] not in (b"\0", b"")


def _judge(sampled: list[bytes], geometry: Geometry, options: ImageOptions) -> Iterator[_Candidate]:
    """Every tag mode that the options leave open, with the fraction of pages it explains."""
    if not sampled:
        return
    if options.inband is not True:
        for ecc in (True, False) if options.tags_ecc is None else (options.tags_ecc,):
            yield from _judge_oob(sampled, replace(geometry, tags_ecc=ecc), options.oob_offset)
    if options.inband is not False and options.tags_ecc is not True:
        inband = replace(geometry, inband=True, oob_offset=0)
        at = inband.data_bytes
        hits = sum(_plausible(raw[at : at + 16], inband) for raw in sampled)
        yield _Candidate(inband, hits / len(sampled), 1.0)


def _judge_oob(
    sampled: list[bytes], geometry: Geometry, offset: int | None
) -> Iterator[_Candidate]:
    size = geometry.stored_tags_bytes
    last = geometry.oob_bytes - size
    if offset is None:
        # The kernel's usual layout first; a tie is decided for the first.
        offsets = [2, *(number for number in range(min(last, _LAST_OFFSET) + 1) if number != 2)]
    else:
        offsets = [offset]
    for candidate in offsets:
        if not 0 <= candidate <= last:
            continue
        placed = replace(geometry, oob_offset=candidate)
        at = geometry.page_bytes + candidate
        few = sum(_plausible(raw[at : at + size], placed) for raw in sampled[:_FEW])
        if few < min(len(sampled), _FEW) / (_FEW if geometry.tags_ecc else 3):
            continue
        hits = sum(_plausible(raw[at : at + size], placed) for raw in sampled)
        weight = _ECC_WEIGHT if geometry.tags_ecc else 1.0
        yield _Candidate(placed, hits / len(sampled), weight)


def _plausible(stored: bytes, geometry: Geometry) -> bool:
    """Whether these bytes look like the tags of a page that YAFFS2 wrote, in either layout."""
    if b"\x10" <= stored[3:4] < b"\xf0" or stored[3:4] > b"\xf8":
        return False
    state, tags = read_tags(stored, ecc=geometry.has_ecc)
    if state is not TagState.GOOD:
        return False
    if tags.sequence not in _CHECKPOINTS:
        tags = decoded(tags)
        if not sequence_is_valid(tags.sequence) or tags.sequence >= _SEQUENCE_UNLIKELY:
            return False
    if geometry.has_ecc:
        return True
    if tags.extended:
        return 1 <= tags.type_number <= 5 and 0 < tags.object_id <= ID_MAX
    sizes = tags.byte_count <= geometry.data_bytes or tags.chunk_id == 0
    return sizes and 0 < tags.object_word <= ID_MAX


def _with_pages_per_block(contents: Contents, geometry: Geometry) -> tuple[Geometry, str]:
    """The block size of a raw dump: the one under which the tags break the fewest rules.

    With it what to say if nothing in the image tells it from others.
    """
    tags = _all_tags(contents, geometry)
    violations = {size: _violations(tags, size, geometry) for size in _BLOCK_SIZES}
    fewest = min(violations.values())
    possible = [size for size in _BLOCK_SIZES if violations[size] == fewest]
    of_tools = sum(
        page_tags is not None and page_tags.sequence == SEQUENCE_OF_TOOLS for page_tags in tags
    )
    assumed = ""
    if len(possible) > 1 and of_tools > possible[0]:
        assumed = (
            f"{possible[0]} pages are assumed, since the blocks all have sequence number "
            f"{SEQUENCE_OF_TOOLS:#x}; --pages-per-block says how many there are"
        )
    return replace(geometry, pages_per_block=possible[0]), assumed


def _all_tags(contents: Contents, geometry: Geometry) -> list[Tags | None]:
    """The tags of pages in their order; None of those that have none."""
    pages = min(len(contents) // geometry.raw_page_bytes, _TAGS_EVIDENCE)
    flash = FlashImage(contents, replace(geometry, pages_per_block=1), 0, pages)
    tags: list[Tags | None] = []
    for page in range(pages):
        state, raw_tags = flash.tags(page, 0)
        good = state in (TagState.GOOD, TagState.CORRECTED)
        tags.append(decoded(raw_tags) if good else None)
    return tags


def _violations(tags: list[Tags | None], size: int, geometry: Geometry) -> int:
    """How badly a block size fits: mixed or repeated sequence numbers, gaps, summaries."""
    geometry = replace(geometry, pages_per_block=size)
    if size <= geometry.summary_pages:
        return len(tags)
    seen: set[int] = set()
    count = 0
    for first in range(0, len(tags), size):
        block = tags[first : first + size]
        numbers = {page_tags.sequence for page_tags in block if page_tags}
        valid = {number for number in numbers if sequence_is_valid(number)} - {SEQUENCE_OF_TOOLS}
        count += max(0, len(numbers) - 1) + len(valid & seen)
        seen |= valid
        gap = False
        for page, page_tags in enumerate(block):
            if page_tags is None:
                gap = True
                continue
            count += gap
            gap = False
            is_summary = page_tags.object_word == ID_SUMMARY and not page_tags.extended
            count += is_summary and page < size - geometry.summary_pages
    return count


def _partition(
    path: Path,
    contents: Contents,
    geometry: Geometry,
    lab: LabHeader | None,
    options: ImageOptions,
    problems: list[tuple[str, str]],
) -> tuple[FlashImage, str]:
    """The part of the file that the options name, or that was found."""
    start = lab.data_offset if lab else 0
    inside = max(0, len(contents) - start)
    if lab:
        total = min(lab.blocks, inside // geometry.raw_block_bytes)
    else:
        total = -(-inside // geometry.raw_block_bytes)
        _note_truncation(contents, geometry, problems)
    if not total:
        problems.append(("image-truncated", f"the file has {len(contents)} bytes: no block"))
    first, partition = options.first_block, ""
    if first is None:
        first = _first_block(FlashImage(contents, geometry, 0, total, lab))
        if first:
            partition = f"; the partition's first block, {first}, by the summaries"
    if first < 0 or first >= max(total, 1):
        raise UsageError(f"{path} has {total} blocks, so there is no block {first}")
    blocks = options.blocks
    if blocks is None:
        blocks = total - first
        rest = FlashImage(contents, geometry, first, blocks, lab)
        deduced = deduce_blocks(rest, partition_layout(rest))
        if deduced and deduced != blocks and (deduced < blocks or not lab):
            blocks = deduced
            partition += f"; its {blocks} blocks by the checkpoint"
    elif blocks < 1 or (lab and first + blocks > total):
        raise UsageError(
            f"{path} has {total} blocks; {blocks} from block {first} on is more than that"
        )
    return FlashImage(contents, geometry, first, blocks, lab), partition


def _note_truncation(
    contents: Contents, geometry: Geometry, problems: list[tuple[str, str]]
) -> None:
    """A raw image that ends inside a block.

    Nothing is missing behind an erased page, and image tools may stop after the last page.
    """
    rest = len(contents) % geometry.raw_block_bytes
    if not rest:
        return
    pages, odd = divmod(rest, geometry.raw_page_bytes)
    behind = f" and {odd} bytes" if odd else ""
    message = f"the file ends {pages} pages{behind} into its last block"
    last = FlashImage(contents, replace(geometry, pages_per_block=1), 0, 0)
    number = len(contents) // geometry.raw_page_bytes - 1
    _, tags = last.tags(max(0, number), 0)
    if not odd and tags.sequence in (SEQUENCE_OF_TOOLS, SEQUENCE_UNUSED):
        problems.append(("image-unpadded", f"{message}; the rest counts as erased"))
    else:
        problems.append(("image-truncated", message))


def _first_block(flash: FlashImage) -> int:
    """Where most summaries say that the partition begins; 0 if blocks in front have tags too."""
    geometry = flash.geometry
    page = geometry.pages_per_block - geometry.summary_pages
    votes: Counter[int] = Counter()
    lowest = flash.blocks
    for block in range(flash.blocks):
        if block < lowest and _plausible(flash.stored_tags(block, 0), geometry):
            lowest = block
        state, tags = flash.tags(block, page)
        tags = decoded(tags)
        if state is TagState.UNUSED or tags.object_word != ID_SUMMARY or tags.chunk_word != 1:
            continue
        internal = int.from_bytes(flash.data(block, page)[4:8], "little")
        if 1 <= internal <= block + 1 and tags.bytes_word >= SUMMARY_HEADER_BYTES:
            votes[block + 1 - internal] += 1
    first = votes.most_common(1)[0][0] if votes else 0
    return first if first <= lowest else 0
