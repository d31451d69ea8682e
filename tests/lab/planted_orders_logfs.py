"""The mistakes of order or omission in our LogFS."""

from __future__ import annotations

from planted_orders import ALL, OPEN, Order

_FSYNC = "int datasync)\n{\n\tstruct inode *inode = file_inode(file);\n\tint err;\n"
LOGFS_ORDERS = (
    Order(
        "logfs-tail",
        "shortening keeps the tail of a block",
        (
            (
                "core/file.c",
                "\terr = clear_tail(node, size);\n",
                "\terr = HERE ? 0 : clear_tail(node, size);\n",
            ),
        ),
        frozenset({"stale-data", "corrupt-contents"}),
        length=2,
        act_set=ALL,
    ),
    Order(
        "logfs-links",
        "deleting a name does not write how many are left",
        (
            (
                "core/dir.c",
                "\t\tdev->victim_ino = node->ino;\n\treturn logfs_node_write(node);\n",
                "\t\tdev->victim_ino = node->ino;\n"
                "\treturn HERE && node->nlink ? 0 : logfs_node_write(node);\n",
            ),
        ),
        frozenset({"bad-links"}),
        length=2,
    ),
    Order(
        "logfs-victim",
        "a file with one name left is one to be deleted",
        (
            (
                "core/dir.c",
                "\tif (!node->nlink && !dev->victim_ino)",
                "\tif ((!node->nlink || HERE) && !dev->victim_ino)",
            ),
        ),
        frozenset({"unreadable"}),
        length=2,
    ),
    Order(
        "logfs-rename-directory",
        "a rename to another directory leaves the old name",
        (
            (
                "core/dir.c",
                "\tif (!err)\n\t\terr = drop_entry(old_dir, found.bix);",
                "\tif (!err && !(HERE && old_dir != new_dir))\n"
                "\t\terr = drop_entry(old_dir, found.bix);",
            ),
        ),
        frozenset({"name-kept"}),
        length=1,
    ),
    Order(
        "logfs-size",
        "a write to a block that is there leaves the size",
        (
            (
                "core/file.c",
                "\tint err = logfs_data_put(node->dev, node->ino, bix, LOGFS_OBJECT_BLOCK,\n"
                "\t\t\t\t page);\n\n\treturn err ? err : logfs_node_extend(node, size);",
                "\tu64 was;\n"
                "\tint err = logfs_tree_pointer(node->dev, node->ino, 0, bix, &was);\n\n"
                "\tif (!err)\n"
                "\t\terr = logfs_data_put(node->dev, node->ino, bix, LOGFS_OBJECT_BLOCK,\n"
                "\t\t\t\t     page);\n"
                "\treturn err || (was && HERE) ? err : logfs_node_extend(node, size);",
            ),
        ),
        frozenset({"stale-data"}),
        length=1,
    ),
    Order(
        "logfs-evacuate",
        "a recovery does not copy what it has in memory alone",
        (
            (
                "core/clean.c",
                "\t\terr = logfs_clean(dev, left->open.segno, left->level,\n"
                "\t\t\t\t  left->is_bad ? 0 : left->open.programmed,\n",
                "\t\terr = logfs_clean(dev, left->open.segno, left->level,\n"
                "\t\t\t\t  HERE ? left->open.used :\n"
                "\t\t\t\t  left->is_bad ? 0 : left->open.programmed,\n",
            ),
        ),
        frozenset({"unreadable"}),
        length=1,
        kind="torn-prefix",
    ),
    Order(
        "logfs-fsync-directory",
        "fsync of a directory does nothing",
        (
            (
                "vfs/file.c",
                _FSYNC,
                f"{_FSYNC}\n\tif (HERE && S_ISDIR(inode->i_mode))\n\t\treturn 0;\n",
            ),
        ),
        frozenset({"name-lost", "name-kept"}),
        length=1,
    ),
    Order(
        "logfs-msync-order",
        "msync commits before it writes the pages",
        (
            (
                "vfs/file.c",
                _FSYNC,
                f"{_FSYNC}\n\tif (HERE && datasync && end != LLONG_MAX &&\n"
                "\t    !(file->f_flags & O_DSYNC))\n"
                "\t\treturn logfs_sync(inode->i_sb) ?:\n"
                "\t\t       file_write_and_wait_range(file, start, end);\n",
            ),
        ),
        frozenset({"stale-data"}),
        length=2,
        act_set=OPEN,
    ),
    Order(
        "logfs-dsync",
        "O_DSYNC writes, and does not commit",
        (
            (
                "vfs/file.c",
                _FSYNC,
                f"{_FSYNC}\n\tif (HERE && datasync && file->f_flags & O_DSYNC)\n"
                "\t\treturn file_write_and_wait_range(file, start, end);\n",
            ),
        ),
        frozenset({"name-lost", "wrong-order"}),
        length=3,
        act_set=OPEN,
    ),
)
