"""A user's directory with sources of kernel modules, the catalog and the study that name them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from ffslab.campaign.run import prepare
from ffslab.errors import FfslabError
from ffslab.lab import ensure_lab
from ffslab.lab.lab_build import LabBuild
from ffslab.lab.progress import SilentProgress
from ffslab.model.case import Case

VARIANT = os.environ.get("FFSLAB_TEST_VARIANT", "default")
STUDY = """
schema = 1
name = "own"
title = "A file system of one's own"

[base]
board = "apf27"
filesystem = "{name}"
partition_bytes = "16 MiB"

[base.workload]
number = 100
transactions = 100
"""
FILESYSTEM = """
schema = 1
name = "{name}"
title = "A file system of one's own"
type = "{name}"
source = "mtd:{{partition}}"
min_blocks = 2
modules = [{modules}]

[module_source]
directory = "../../sources"
{extra}
"""
MODULE = """
#include <linux/module.h>
{head}
static int __init start(void)
{{
	{start}
}}
static void __exit stop(void)
{{
}}
module_init(start);
module_exit(stop);
MODULE_LICENSE("GPL");
"""


def module(start: str = "return 0;", head: str = "") -> str:
    return MODULE.format(start=start, head=head)


class Own:
    """A user's directory, with a space in its name: sources, catalog, study."""

    def __init__(
        self, root: Path, name: str, files: Mapping[str, str], modules: str = "", extra: str = ""
    ) -> None:
        self.name = name
        self.sources = root / "sources"
        self.catalog = root / "catalog"
        self.study = root / "own.toml"
        entry = FILESYSTEM.format(name=name, modules=modules or f'"{name}"', extra=extra)
        self.write(self.catalog / "filesystems" / f"{name}.toml", entry)
        self.write(self.study, STUDY.format(name=name))
        for path, text in files.items():
            self.write(self.sources / path, text)

    @staticmethod
    def write(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def case(self) -> Case:
        return prepare(str(self.study), catalogs=[self.catalog]).cases[0]

    def lab(self) -> LabBuild:
        return build([self.case()])

    def failure(self) -> FfslabError:
        with pytest.raises(FfslabError) as caught:
            self.lab()
        return caught.value


def build(cases: list[Case]) -> LabBuild:
    return ensure_lab(VARIANT, SilentProgress(), file_systems=[case.filesystem for case in cases])
