"""Mistakes of order or omission that short sequences of acts have to find: how they are planted.

All of a module are in one copy of it, so that it is compiled once. Where a row says `HERE` there is
a condition, true for the one mistake that the mount option `planted=` names by its number; the
option `planted` of the file system in the catalog has their names, and `none`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from planted_module import MODULES, Change, catalog_of_changed

PLAIN, OPEN, ALL = "plain", "open", "all"
NEW, FULL = "new", "full"
YAFFS2, LOGFS = "yaffs2-improved", "logfs"  # with the option `layout`, both layouts


@dataclass(frozen=True)
class Order:
    """A mistake, and the smallest set, beginning and length of sequences that meet it.

    `outcomes`: what it is found as. `kind`: of cut, which suffices.
    """

    name: str
    what: str
    changes: tuple[Change, ...]
    outcomes: frozenset[str]
    length: int
    act_set: str = PLAIN
    begins: str = NEW
    kind: str = "lost"

    @property
    def filesystem(self) -> str:
        """Its name in the catalog, without `-planted`."""
        return LOGFS if self.name.startswith(LOGFS) else YAFFS2

    @property
    def is_segregated(self) -> bool:
        return self.name.startswith("segregated-")

    @property
    def partition(self) -> str:
        """In each state of a full flash all of it is read."""
        return "2 MiB" if self.begins == FULL else "8 MiB"


def here(name: str) -> str:
    """The condition of a mistake in C."""
    return f"PLANTED({name.replace('-', '_')})"


_OPTION = {
    YAFFS2: (
        (
            "vfs/super.c",
            "\tYAFFS_PARAM_GC_BOUND_US,\n};\n",
            "\tYAFFS_PARAM_GC_BOUND_US,\n\tYAFFS_PARAM_PLANTED,\n};\n\nu32 planted_now;\n",
        ),
        (
            "vfs/super.c",
            '\tfsparam_u32("gc_bound_us", YAFFS_PARAM_GC_BOUND_US),\n',
            '\tfsparam_u32("gc_bound_us", YAFFS_PARAM_GC_BOUND_US),\n'
            '\tfsparam_u32("planted", YAFFS_PARAM_PLANTED),\n',
        ),
        (
            "vfs/super.c",
            "\tcase YAFFS_PARAM_GC_BOUND_US:\n",
            "\tcase YAFFS_PARAM_PLANTED:\n\t\tplanted_now = result.uint_32;\n\t\tbreak;\n"
            "\tcase YAFFS_PARAM_GC_BOUND_US:\n",
        ),
    ),
    LOGFS: (
        (
            "vfs/super.c",
            "enum logfs_param { LOGFS_PARAM_COMPRESS };",
            "enum logfs_param { LOGFS_PARAM_COMPRESS, LOGFS_PARAM_PLANTED };\n\nu32 planted_now;",
        ),
        (
            "vfs/super.c",
            '\tfsparam_flag("compress", LOGFS_PARAM_COMPRESS),\n',
            '\tfsparam_flag("compress", LOGFS_PARAM_COMPRESS),\n'
            '\tfsparam_u32("planted", LOGFS_PARAM_PLANTED),\n',
        ),
        (
            "vfs/super.c",
            "\toptions->compress = true;\n",
            "\tif (key == LOGFS_PARAM_PLANTED)\n\t\tplanted_now = result.uint_32;\n"
            "\telse\n\t\toptions->compress = true;\n",
        ),
    ),
}
_HEADER = """#include <linux/types.h>

enum {{ PLANTED_none, {names} }};
extern u32 planted_now;
#define PLANTED(name) (planted_now == PLANTED_##name)
"""


def catalog_of_orders(orders: Sequence[Order], directory: Path) -> Path:
    """A catalog with FILESYSTEM-planted, whose module has all these mistakes, none of them on."""
    (filesystem,) = {order.filesystem for order in orders}
    kbuild = f"obj-m := {MODULES[filesystem]}.o\n"
    changes = [
        ("Kbuild", kbuild, f"{kbuild}ccflags-y += -include $(src)/planted.h\n"),
        *_OPTION[filesystem],
        *(
            (path, text, other.replace("HERE", here(order.name)))
            for order in orders
            for path, text, other in order.changes
        ),
    ]
    values = "".join(
        f'{order.name} = {{ mount_options = ["planted={number}"] }}\n'
        for number, order in enumerate(orders, 1)
    )
    option = (
        f'\n[options.planted]\ndefault = "none"\n[options.planted.values]\nnone = {{}}\n{values}'
    )
    catalog = catalog_of_changed(filesystem, changes, directory, option)
    names = ", ".join(f"PLANTED_{order.name.replace('-', '_')}" for order in orders)
    header = directory / MODULES[filesystem] / "planted.h"
    header.write_text(_HEADER.format(names=names))
    return catalog
