"""Mistakes that no sequence of two acts shows, and why none of three would."""

from __future__ import annotations

from planted_orders import ALL, Order

_NOTHING: frozenset[str] = frozenset()
UNSEEN_YAFFS = (
    # Harm is done when the file grows after the recovery; nothing is done to it then.
    Order(
        "segregated-tail",
        "a header does not say that the last page has still to be cut",
        (
            (
                "core/map.c",
                "\thead->tail = obj->tail;\n",
                "\thead->tail = obj->tail && !HERE;\n",
            ),
        ),
        _NOTHING,
        length=2,
        act_set=ALL,
    ),
)
UNSEEN_LOGFS = (
    # Others are taken first, and three acts leave most of them.
    Order(
        "logfs-free-early",
        "a segment is free before the commit that empties it",
        (
            (
                "core/segments.c",
                "\tif (is_free(dev, segno, &e) && !xa_load(&dev->changed, segno)) {",
                "\tif (is_free(dev, segno, &e) && (HERE || !xa_load(&dev->changed, segno))) {",
            ),
        ),
        _NOTHING,
        length=2,
        act_set=ALL,
    ),
    # What nobody can reach takes room, and the room is not compared.
    Order(
        "logfs-no-victim",
        "a file that was deleted while open stays on flash when power is cut",
        (
            (
                "core/recover.c",
                "\tif (!dev->victim_ino)\n\t\treturn 0;\n",
                "\tif (!dev->victim_ino || HERE)\n\t\treturn 0;\n",
            ),
        ),
        _NOTHING,
        length=2,
        act_set=ALL,
    ),
)
