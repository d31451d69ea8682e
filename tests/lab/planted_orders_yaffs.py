"""The mistakes of order or omission in our YAFFS2: in its plain layout, and in the segregated."""

from __future__ import annotations

from planted_orders import ALL, FULL, OPEN, Order

PLAIN_LAYOUT = (
    Order(
        "yaffs2-rename-order",
        "a rename deletes the old file before it writes the name",
        (
            (
                "core/operations.c",
                "\tshadow.shadowed_id = victim->id;\n",
                "\tshadow.shadowed_id = victim->id;\n\tif (HERE) {\n"
                "\t\terr = yaffs_unlink(victim);\n\t\tif (err)\n\t\t\treturn err;\n"
                "\t\treturn move_object(entry, dir, name, name_bytes, &shadow) ?:\n"
                "\t\t       yaffs_header_write(entry, NULL);\n\t}\n",
            ),
        ),
        frozenset({"name-lost"}),
        length=2,
    ),
    Order(
        "yaffs2-truncate-order",
        "the last page is cut before the header has the new size",
        (
            (
                "core/data.c",
                "\terr = yaffs_header_write(obj, NULL);\n\tdev->gc.disabled--;\n",
                "\terr = HERE ? yaffs_file_cut_tail(obj) : 0;\n\tif (!err)\n"
                "\t\terr = yaffs_header_write(obj, NULL);\n\tdev->gc.disabled--;\n",
            ),
        ),
        frozenset({"wrong-order"}),
        length=1,
    ),
    Order(
        "yaffs2-hole",
        "a long hole does not void what was there",
        (
            (
                "core/data.c",
                "\treturn err ? err : yaffs_header_write(obj, &shrink);",
                "\treturn err || HERE ? err : yaffs_header_write(obj, &shrink);",
            ),
        ),
        frozenset({"stale-data"}),
        length=2,
        act_set=ALL,
    ),
    Order(
        "yaffs2-unlink-open",
        "deleting an open file is written when it is closed",
        (
            (
                "core/operations.c",
                "\t\treturn delete_and_free(obj);\n\tobj->ctime_s = yaffs_now_s();\n",
                "\t\treturn delete_and_free(obj);\n\tif (HERE) {\n"
                "\t\terr = yaffs_object_load(obj) ?:\n"
                "\t\t      yaffs_object_set_name(obj, name, sizeof(name) - 1);\n"
                "\t\tif (err)\n\t\t\treturn err;\n"
                "\t\tyaffs_directory_remove(obj);\n"
                "\t\tyaffs_directory_add(obj->dev->unlinked, obj);\n"
                "\t\tobj->unlinked = true;\n\t\treturn 0;\n\t}\n"
                "\tobj->ctime_s = yaffs_now_s();\n",
            ),
        ),
        frozenset({"name-kept"}),
        length=2,
        act_set=OPEN,
    ),
    Order(
        "yaffs2-fsync-one",
        "fsync writes one page alone",
        (
            (
                "vfs/file.c",
                "\t\terr = yaffs_object_sync(yaffs_obj(inode), datasync);",
                "\t\terr = HERE ? min(yaffs_object_sync_page(yaffs_obj(inode)), 0) :\n"
                "\t\t      yaffs_object_sync(yaffs_obj(inode), datasync);",
            ),
        ),
        frozenset({"synced-data-lost", "stale-data"}),
        length=3,
        act_set=OPEN,
    ),
    Order(
        "yaffs2-shrink-cache",
        "shortening a file forgets what is cached of it",
        (
            (
                "core/data.c",
                "\t\treturn grow(obj, size);\n\terr = yaffs_cache_flush(obj);",
                "\t\treturn grow(obj, size);\n\terr = HERE ? 0 : yaffs_cache_flush(obj);",
            ),
        ),
        frozenset({"stale-data"}),
        length=3,
        act_set=OPEN,
    ),
    Order(
        "yaffs2-rename-link",
        "renaming a hard link is not written",
        (
            (
                "core/operations.c",
                "\telse\n\t\terr = move_object(entry, dir, name, name_bytes, NULL);",
                "\telse if (HERE && entry->type == YAFFS_TYPE_HARDLINK) {\n"
                "\t\terr = yaffs_object_load(entry) ?:\n"
                "\t\t      yaffs_object_set_name(entry, name, name_bytes);\n"
                "\t\tyaffs_directory_remove(entry);\n"
                "\t\tyaffs_directory_add(dir, entry);\n"
                "\t} else\n\t\terr = move_object(entry, dir, name, name_bytes, NULL);",
            ),
        ),
        frozenset({"name-lost"}),
        length=3,
    ),
    Order(
        "yaffs2-collect-order",
        "the collector erases a page before it writes the copy",
        (
            (
                "core/gc.c",
                "\tlost = give_up && err == -EBADMSG && tags.used;\n",
                "\tlost = give_up && err == -EBADMSG && tags.used;\n"
                "\tif (!err && HERE)\n\t\tyaffs_chunk_dead(dev, chunk);\n",
            ),
        ),
        frozenset({"synced-data-lost"}),
        length=1,
        begins=FULL,
    ),
    Order(
        "yaffs2-collect-directory",
        "the collector drops headers of directories",
        (
            (
                "core/gc.c",
                "\tif (!obj || obj->hdr_chunk != chunk)\n\t\treturn -ENOENT;\n",
                "\tif (!obj || obj->hdr_chunk != chunk)\n\t\treturn -ENOENT;\n"
                "\tif (HERE && obj->type == YAFFS_TYPE_DIRECTORY)\n\t\treturn 0;\n",
            ),
        ),
        frozenset({"name-lost"}),
        length=1,
        begins=FULL,
    ),
)
SEGREGATED_LAYOUT = (
    Order(
        "segregated-size",
        "a mount takes a size from the header alone",
        (
            (
                "core/scan_map.c",
                "\t\tobj->file.size = max(obj->file.size, end);\n\treturn take_page",
                "\t\tobj->file.size = max(obj->file.size, HERE ? 0 : end);\n\treturn take_page",
            ),
        ),
        frozenset({"stale-data"}),
        length=2,
        act_set=OPEN,
    ),
    Order(
        "segregated-entry",
        "a newer page does not replace an older one",
        (
            (
                "core/scan_map.c",
                "\tif (yaffs_index_get(index, tags->chunk_id) & MET)",
                "\tif (yaffs_index_get(index, tags->chunk_id) & (HERE ? U32_MAX : MET))",
            ),
        ),
        frozenset({"stale-data", "synced-data-lost"}),
        length=2,
    ),
    Order(
        "segregated-first",
        "the first page behind an index counts as older",
        (
            (
                "core/scan_map.c",
                "\tif (position < piece->position ||",
                "\tif (position < piece->position + HERE ||",
            ),
        ),
        frozenset({"stale-data"}),
        length=2,
        act_set=OPEN,
    ),
    Order(
        "segregated-note",
        "the collector does not note that an index is old",
        (
            (
                "core/gc.c",
                "\tyaffs_map_note(obj, tags->chunk_id, copy);\n",
                "\tif (!HERE)\n\t\tyaffs_map_note(obj, tags->chunk_id, copy);\n",
            ),
        ),
        frozenset({"synced-data-lost", "name-lost"}),
        length=2,
        act_set=ALL,
    ),
    Order(
        "segregated-checkpoint",
        "a checkpoint leaves out indices not on flash yet",
        (
            (
                "core/checkpoint.c",
                "\t    yaffs_horizon_flush(dev))\n",
                "\t    (!HERE && yaffs_horizon_flush(dev)))\n",
            ),
        ),
        frozenset({"name-lost"}),
        length=2,
        act_set=OPEN,
    ),
    Order(
        "segregated-stream",
        "the collector copies headers among data",
        (
            (
                "policy/segregated.c",
                "kind == YAFFS_PAGE_METADATA_COPY;",
                "(kind == YAFFS_PAGE_METADATA_COPY && !HERE);",
            ),
        ),
        frozenset({"synced-data-lost", "name-lost"}),
        length=1,
        begins=FULL,
    ),
)
YAFFS_ORDERS = (*PLAIN_LAYOUT, *SEGREGATED_LAYOUT)
