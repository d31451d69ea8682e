"""Mistakes that no sequence of three acts shows, and why: what the method does not see."""

from __future__ import annotations

from planted_orders import ALL, Order

_NOTHING: frozenset[str] = frozenset()
UNSEEN_YAFFS = (
    # It takes a block of data pages between the page and the index that forgets it.
    Order(
        "segregated-horizon",
        "an index says that no page is newer than the indices, whatever other files have",
        (
            (
                "core/map.c",
                "\t\tif (piece != but)\n\t\t\treturn piece->position;",
                "\t\tif (piece != but && !HERE)\n\t\t\treturn piece->position;",
            ),
        ),
        _NOTHING,
        length=2,
        act_set=ALL,
    ),
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
    # Turning over erases the block with the older header, too, before power is cut.
    Order(
        "yaffs2-erase-order",
        "a block that says what was deleted is erased before older ones",
        (
            (
                "policy/order.c",
                "\tif (!yaffs_view_is_pinned(view, block) &&\n",
                "\tif (HERE)\n\t\treturn true;\n\tif (!yaffs_view_is_pinned(view, block) &&\n",
            ),
        ),
        _NOTHING,
        length=2,
        act_set=ALL,
    ),
)
UNSEEN_LOGFS = (
    # Segments are free in plenty until many acts have filled them.
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
