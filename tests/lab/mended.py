"""JFFS2 and UBIFS, mended, as modules of a user: the lab kernel's source and its changes.

kernel/fixes has a change for each finding that we know how to mend. A module takes less time than a
kernel. Its file system is called `jffs2x` or `ubifsx`, for the kernel has the other name.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from planted_module import Change, apply_changes

from ffslab.lab.patches import Series, apply_series, read_series
from ffslab.lab.progress import ConsoleProgress
from ffslab.lab.source import ensure_source
from ffslab.paths import data_dir


def catalog_with(
    directory: Path,
    filesystem: str,
    *,
    source: Path | None = None,
    has_fixes: bool = True,
    changes: Iterable[Change] = (),
) -> Path:
    """A catalog whose file system FILESYSTEM-own is such a module.

    `source`: another kernel's; without the fixes it is that kernel's. `changes`: further ones.
    """
    patched = directory / "source"
    sources = patched / "fs" / filesystem
    source = source or ensure_source(ConsoleProgress()).tree
    shutil.copytree(source / "fs" / filesystem, sources)
    if has_fixes:
        fixes = read_series(data_dir("kernel") / "fixes")
        apply_series(patched, Series(tuple(fix for fix in fixes if f"-{filesystem}-" in fix.name)))
    apply_changes(sources, changes)
    _rename(sources, filesystem)
    described = (data_dir("catalog") / "filesystems" / f"{filesystem}.toml").read_text()
    name = f"{filesystem}-own"
    for old, new in (
        (f'name = "{filesystem}"', f'name = "{name}"'),
        (f'type = "{filesystem}"', f'type = "{filesystem}x"\nmodules = ["{filesystem}x"]'),
    ):
        assert described.count(old) == 1
        described = described.replace(old, new)
    described += f'\n[module_source]\ndirectory = "../../source/fs/{filesystem}"\n'
    catalog = directory / "catalog" / "filesystems"
    catalog.mkdir(parents=True)
    (catalog / f"{name}.toml").write_text(described)
    return catalog.parent


def _rename(sources: Path, filesystem: str) -> None:
    """What the kernel knows both by: the type, the module, directories and caches."""
    for path in sources.glob("*.c"):
        text = path.read_text().replace(f'"{filesystem}"', f'"{filesystem}x"')
        text = text.replace(f'kmem_cache_create("{filesystem}', f'kmem_cache_create("{filesystem}x')
        path.write_text(text)
    makefile = sources / "Makefile"
    text = re.sub(f"^{filesystem}-", f"{filesystem}x-", makefile.read_text(), flags=re.MULTILINE)
    text = re.sub(r"^obj-.*$", f"obj-m += {filesystem}x.o", text, flags=re.MULTILINE)
    (sources / "Kbuild").write_text(text)
    makefile.unlink()
