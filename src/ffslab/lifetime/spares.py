"""How many blocks a file system can lose, and whether it moves static data: pure.

Read off the sources of Linux 6.1, and of our YAFFS2:

- **UBI** (`get_bad_peb_limit()` in `drivers/mtd/ubi/build.c`): so many in 1,024 of the whole
  chip's blocks are reserved, rounded up (CONFIG_MTD_UBI_BEB_LIMIT, 20), less those that are bad
  already. `__erase_worker()` in `wl.c` goes read-only at the block after the last of them. Static
  data are moved once two blocks differ by CONFIG_MTD_UBI_WL_THRESHOLD erases, 4,096.
- **JFFS2** has no blocks for this purpose: whatever is free or can be freed. It keeps
  `resv_blocks_write` (`jffs2_calc_trigger_levels()` in `fs/jffs2/build.c`), which its statfs has
  taken off, and gives up when less than `nospc_dirty_size`, a block and a hundredth of the
  partition, is there beside them (`jffs2_reserve_space()` in `nodemgmt.c`).
- **YAFFS2** likewise: `YAFFS_RESERVED_BLOCKS` and those of the checkpoint are kept
  (`yaffs_space_for()` in `kmod/yaffs/core/space.c`), and its statfs has taken them off.

So without UBI the blocks to lose are the space that statfs has available beside the file when it
is there as a whole. What another file system does is not known; the same is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ffslab.model.specs import version_and_kind

_PER = 1024
_FILE_OVERHEAD = 1.02  # headers of nodes or pages: a sixtieth
# CONFIG_MTD_UBI_WL_THRESHOLD of the lab's kernels; of others the kernel's own default.
_THRESHOLDS = {"ubi-wear": 80}
_DEFAULT_THRESHOLD = 4096


@dataclass(frozen=True, slots=True)
class Spares:
    """Blocks that may go bad before writing ends, in words where they are, and UBI's threshold."""

    blocks: int
    words: str
    threshold: int | None = None


def spares_of(spec: Mapping[str, Any], available_bytes: int, file_bytes: int) -> Spares:
    """Of a case's spec; `available_bytes`: by statfs when the static data are there."""
    chip, system = spec["board"]["chip"], spec["filesystem"]
    if system["ubi"] is not None:
        # NOR flash has no bad blocks, and UBI no reserve: the first that fails is the end.
        blocks = 0 if chip.get("kind") == "spi-nor" else chip["blocks"]
        return _of_ubi(spec, blocks, chip.get("factory_bad", 0))
    block_bytes = chip["page_bytes"] * chip["pages_per_block"]
    spare = available_bytes - file_bytes * _FILE_OVERHEAD
    if system["type"] == "jffs2":
        spare -= block_bytes + spec["partition_bytes"] / 100
    return Spares(max(0, int(spare / block_bytes)), "space that nothing needs")


def _of_ubi(spec: Mapping[str, Any], chip_blocks: int, factory_bad: int) -> Spares:
    per = spec["filesystem"]["ubi"].get("max_beb_per1024") or 20
    limit = chip_blocks * per // _PER
    if limit * _PER // per < chip_blocks:
        limit += 1
    _, kind = version_and_kind((spec.get("kernel") or {}).get("variant", ""))
    threshold = _THRESHOLDS.get(kind, _DEFAULT_THRESHOLD)
    # How many of the chip's bad blocks are in the partition is not in the spec: all, at worst.
    return Spares(max(0, limit - factory_bad), "UBI's reserve for bad blocks", threshold)
