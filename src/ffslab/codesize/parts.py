"""Which code is whose: the parts that have figures, and which of them a file system needs.

A part is a set of object files of the kernel. What a file system needs follows from the symbols
that its objects want of others, and from the algorithms that it asks the crypto API for by name;
tests/lab/test_code_objects.py compares the first with the objects. A file system's compressors are
those that its options choose among; what remains without any is what the kernel's configuration
allows to leave out: every compressor has an option of its own in all of them.

Some parts are shown and are in no sum: the MTD core, which a kernel with any of these file systems
has, and the block layer, which hardly any kernel has for a flash file system alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# What kind of code a part is, in the order in which a bar shows them.
FILE_SYSTEM, UNDER, COMPRESSION = "the file system itself", "UBI", "compression"
CRYPTO, OTHER = "crypto API", "check sums and the rest"
KINDS = (FILE_SYSTEM, UNDER, COMPRESSION, CRYPTO, OTHER)


@dataclass(frozen=True, slots=True)
class Part:
    """Object files by their place in the kernel's objects; `kind` is one of KINDS.

    `objects` are files; or a module, `DIR/NAME.mod`, which stands for all files that it is made
    of; or `DIR/built-in.a`, likewise. `without` are those of them that belong to other parts.
    `own`: the place is below a directory of kmod/, of which it is the first word.
    """

    kind: str
    title: str
    objects: tuple[str, ...]
    without: tuple[str, ...] = ()
    own: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """What a type of file system is made of: names of PARTS.

    `compressors` have what each adds; `values` say which of them a value of the option
    `compression` uses, where its name is not that of a compressor.
    """

    base: tuple[str, ...]
    compressors: Mapping[str, tuple[str, ...]]
    values: Mapping[str, tuple[str, ...]]
    shown: tuple[str, ...] = ()


def _files(directory: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{directory}/{name}.o" for name in names)


_JFFS2_GLUE = _files("fs/jffs2", "compr_zlib", "compr_lzo", "compr_rtime")
_SQUASHFS_GLUE = _files(
    "fs/squashfs",
    *("zlib_wrapper", "lzo_wrapper", "lz4_wrapper", "xz_wrapper", "zstd_wrapper"),
)
_EROFS_ZIP = _files("fs/erofs", "decompressor", "zmap", "zdata")
_EROFS_LZMA = _files("fs/erofs", "decompressor_lzma")

PARTS: Mapping[str, Part] = {
    "jffs2": Part(FILE_SYSTEM, "JFFS2", ("fs/jffs2/jffs2.mod",), _JFFS2_GLUE),
    "jffs2-zlib": Part(COMPRESSION, "zlib in JFFS2", _JFFS2_GLUE[:1]),
    "jffs2-lzo": Part(COMPRESSION, "LZO in JFFS2", _JFFS2_GLUE[1:2]),
    "jffs2-rtime": Part(COMPRESSION, "rtime", _JFFS2_GLUE[2:]),
    "ubifs": Part(FILE_SYSTEM, "UBIFS", ("fs/ubifs/ubifs.mod",)),
    "yaffs": Part(FILE_SYSTEM, "YAFFS2", ("yaffs/yaffs.mod",), own=True),
    "logfs": Part(FILE_SYSTEM, "LogFS", ("logfs/logfs.mod",), own=True),
    "squashfs": Part(FILE_SYSTEM, "SquashFS", ("fs/squashfs/squashfs.mod",), _SQUASHFS_GLUE),
    "squashfs-zlib": Part(COMPRESSION, "zlib in SquashFS", _SQUASHFS_GLUE[:1]),
    "squashfs-lzo": Part(COMPRESSION, "LZO in SquashFS", _SQUASHFS_GLUE[1:2]),
    "squashfs-lz4": Part(COMPRESSION, "LZ4 in SquashFS", _SQUASHFS_GLUE[2:3]),
    "squashfs-xz": Part(COMPRESSION, "xz in SquashFS", _SQUASHFS_GLUE[3:4]),
    "squashfs-zstd": Part(COMPRESSION, "zstd in SquashFS", _SQUASHFS_GLUE[4:]),
    "erofs": Part(FILE_SYSTEM, "EROFS", ("fs/erofs/erofs.mod",), (*_EROFS_ZIP, *_EROFS_LZMA)),
    "erofs-zip": Part(COMPRESSION, "compressed files in EROFS", _EROFS_ZIP),
    "erofs-lzma": Part(COMPRESSION, "LZMA in EROFS", _EROFS_LZMA),
    "overlayfs": Part(FILE_SYSTEM, "overlayfs", ("fs/overlayfs/overlay.mod",)),
    "exportfs": Part(OTHER, "exportfs", ("fs/exportfs/exportfs.o",)),
    "ubi": Part(UNDER, "UBI", ("drivers/mtd/ubi/ubi.mod",), ("drivers/mtd/ubi/block.o",)),
    "ubiblock": Part(UNDER, "ubiblock", ("drivers/mtd/ubi/block.o",)),
    "mtdblock": Part(
        OTHER, "mtdblock, read-only", _files("drivers/mtd", "mtd_blkdevs", "mtdblock_ro")
    ),
    "mtd-super": Part(OTHER, "MTD: mounting by device", ("drivers/mtd/mtdsuper.o",)),
    "iomap": Part(OTHER, "iomap", ("fs/iomap/built-in.a",)),
    "crc16": Part(OTHER, "crc16", ("lib/crc16.o",)),
    "crc32": Part(OTHER, "crc32", ("lib/crc32.o",)),
    "crc32c": Part(OTHER, "crc32c", ("lib/libcrc32c.o", "crypto/crc32c_generic.o")),
    "crypto": Part(CRYPTO, "crypto API: core", ("crypto/crypto.mod",)),
    "crypto-algorithms": Part(CRYPTO, "crypto API: algorithms", ("crypto/crypto_algapi.mod",)),
    "crypto-hash": Part(CRYPTO, "crypto API: hashes", ("crypto/crypto_hash.mod",)),
    "crypto-hash-info": Part(CRYPTO, "crypto API: names of hashes", ("crypto/hash_info.o",)),
    "crypto-compression": Part(CRYPTO, "crypto API: compression", ("crypto/crypto_acompress.mod",)),
    "crypto-zlib": Part(CRYPTO, "zlib in the crypto API", ("crypto/deflate.o",)),
    "crypto-lzo": Part(CRYPTO, "LZO in the crypto API", ("crypto/lzo.o",)),
    "crypto-zstd": Part(CRYPTO, "zstd in the crypto API", ("crypto/zstd.o",)),
    "zlib-deflate": Part(COMPRESSION, "zlib deflate", ("lib/zlib_deflate/zlib_deflate.mod",)),
    "zlib-inflate": Part(COMPRESSION, "zlib inflate", ("lib/zlib_inflate/zlib_inflate.mod",)),
    "lzo-compress": Part(COMPRESSION, "LZO compress", ("lib/lzo/lzo_compress.mod",)),
    "lzo-decompress": Part(COMPRESSION, "LZO decompress", ("lib/lzo/lzo_decompress.mod",)),
    "lz4-decompress": Part(COMPRESSION, "LZ4 decompress", ("lib/lz4/lz4_decompress.o",)),
    "xz": Part(COMPRESSION, "xz decompress", ("lib/xz/built-in.a",)),
    "zstd-compress": Part(COMPRESSION, "zstd compress", ("lib/zstd/zstd_compress.mod",)),
    "zstd-decompress": Part(COMPRESSION, "zstd decompress", ("lib/zstd/zstd_decompress.mod",)),
    "zstd-common": Part(
        COMPRESSION, "zstd, both ways", ("lib/zstd/zstd_common.mod", "lib/xxhash.o")
    ),
    "mtd-core": Part(
        OTHER, "MTD core", _files("drivers/mtd", "mtdcore", "mtdpart", "mtdconcat", "mtdchar")
    ),
    "block-layer": Part(OTHER, "block layer", ("block/built-in.a",)),
}

_ZLIB = ("zlib-deflate", "zlib-inflate")
_LZO = ("lzo-compress", "lzo-decompress")
_CRYPTO_COMPRESSION = ("crypto-algorithms", "crypto-compression")
_JFFS2_ALL = ("lzo", "zlib", "rtime")  # in priority mode it tries them all

# By the type of file system, as mount(2) calls it.
CODE: Mapping[str, Code] = {
    "jffs2": Code(
        base=("jffs2", "mtd-super", "crc32"),
        compressors={
            "lzo": ("jffs2-lzo", *_LZO),
            "zlib": ("jffs2-zlib", *_ZLIB),
            "rtime": ("jffs2-rtime",),
        },
        values={
            "none": (),
            "priority": _JFFS2_ALL,
            "image-none": _JFFS2_ALL,
            "image-lzo": _JFFS2_ALL,
            "image-zlib": _JFFS2_ALL,
        },
        shown=("mtd-core",),
    ),
    "ubifs": Code(
        base=("ubifs", "crc16", "crc32", "crypto", "crypto-hash-info"),
        compressors={
            "lzo": (*_CRYPTO_COMPRESSION, "crypto-lzo", *_LZO),
            "zlib": (*_CRYPTO_COMPRESSION, "crypto-zlib", *_ZLIB),
            "zstd": (
                *_CRYPTO_COMPRESSION,
                *("crypto-zstd", "zstd-compress", "zstd-decompress", "zstd-common"),
            ),
        },
        values={"none": (), "image-zlib": ("zlib",)},
        shown=("mtd-core",),
    ),
    "yaffs2": Code(
        base=("yaffs", "mtd-super", "crc32"),
        compressors={},
        values={"none": ()},
        shown=("mtd-core",),
    ),
    "logfs": Code(
        # It compresses by a flag of files, so zlib is always there.
        base=("logfs", "mtd-super", "crc32", *_ZLIB),
        compressors={},
        values={"none": (), "zlib": ()},
        shown=("mtd-core",),
    ),
    "squashfs": Code(
        base=("squashfs",),
        compressors={
            "zlib": ("squashfs-zlib", "zlib-inflate"),
            "lzo": ("squashfs-lzo", "lzo-decompress"),
            "lz4": ("squashfs-lz4", "lz4-decompress"),
            "xz": ("squashfs-xz", "xz"),
            "zstd": ("squashfs-zstd", "zstd-decompress", "zstd-common"),
        },
        values={"none": (), "gzip": ("zlib",)},
        shown=("mtd-core",),
    ),
    "erofs": Code(
        base=("erofs", "iomap", "crc32c", "crypto", "crypto-algorithms", "crypto-hash"),
        compressors={
            "lz4": ("erofs-zip", "lz4-decompress"),
            # CONFIG_EROFS_FS_ZIP brings LZ4 whatever else it is wanted for.
            "lzma": ("erofs-zip", "lz4-decompress", "erofs-lzma", "xz"),
        },
        values={"none": (), "lz4hc": ("lz4",)},
        shown=("mtd-core",),
    ),
    "overlay": Code(base=("overlayfs", "exportfs"), compressors={}, values={}),
}
# What a file system on UBI needs besides, on a block device of UBI, and on one of an MTD device.
UBI = ("ubi", "crc32")
UBI_BLOCK = ("ubiblock",)
MTD_BLOCK = ("mtdblock",)
BLOCK_SHOWN = ("block-layer",)
