"""The modules that boards load, built against kernels that are not the lab's: no warning, and
nothing wanted that such a kernel does not export.

Usually against the two kernels of 6.1 that the lab has, which have no tracepoints. FFSLAB_NIGHTLY=1
adds 5.10 and 6.12, which have them, for ARM of 32 and 64 bit: 280 MB to fetch once, 2 GB in the
cache, some minutes.

    FFSLAB_NIGHTLY=1 ./ffslab test tests/lab/test_board_kernels.py
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from guest_programs import NIGHTLY
from kernel_trees import ARM, ARM64, PreparedTree, exported_symbols, prepared_tree
from lab_support import ROOT

from ffslab.lab import ensure_lab
from ffslab.lab.archives import FURTHER
from ffslab.lab.build import UML, Architecture

MODULES = ("flashmon", "yaffs", "logfs")
LABS = {"default": UML, "qemu": ARM}
OTHERS = [(version, architecture) for version in FURTHER for architecture in (ARM, ARM64)]
# What ELF files say of their machine: bits, and the number of the instruction set.
ELF = {"um": (64, 62), "arm": (32, 40), "arm64": (64, 183)}


def built(module: str, objects: Path, architecture: Architecture, place: Path) -> Path:
    """The module, as its README says how; every warning of the compiler in its files is an error.

    W=1 also finds fault with headers of old kernels, which are not ours to mend.
    """
    copy = place / "kmod"
    ignored = shutil.ignore_patterns("*.o", "*.ko", "*.mod*", ".*.cmd", "test")
    shutil.copytree(ROOT / "kmod", copy, ignore=ignored)
    words = ["make", "-C", copy / module, f"KERNEL={objects}", "W=1"]
    tools = [f"CROSS_COMPILE={architecture.tools}"] if architecture.tools else []
    done = subprocess.run([*words, *tools], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    own = [line for line in done.stderr.splitlines() if line.startswith(str(copy))]
    assert not [line for line in own if re.search(r"\b(warning|error):", line)], done.stderr
    return copy / module / f"{module}.ko"


def machine(module: Path) -> tuple[int, int]:
    head = module.read_bytes()[:20]
    assert head[:4] == b"\x7fELF"
    return {1: 32, 2: 64}[head[4]], int.from_bytes(head[18:20], "little")


def wanted_symbols(module: Path, architecture: Architecture) -> set[str]:
    command = [f"{architecture.tools}nm", "--undefined-only", "--format=posix", module]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in told.splitlines()}


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("variant", LABS)
def test_modules_build_against_the_labs_own_kernels(
    tmp_path: Path, variant: str, module: str
) -> None:
    """Here the linker knows all exports, and would not pass what is missing."""
    architecture = LABS[variant]
    objects = ensure_lab(variant).kernel.parent / "obj"
    found = built(module, objects, architecture, tmp_path)
    assert machine(found) == ELF[architecture.name]
    assert b"vermagic=6.1." in found.read_bytes()


@pytest.fixture(
    scope="module", params=OTHERS, ids=[f"{version}-{one.name}" for version, one in OTHERS]
)
def other(request: pytest.FixtureRequest) -> tuple[str, Architecture, PreparedTree]:
    if not NIGHTLY:
        pytest.skip("FFSLAB_NIGHTLY=1 fetches kernels of other versions")
    version, architecture = request.param
    return version, architecture, prepared_tree(version, architecture)


@pytest.mark.parametrize("module", MODULES)
def test_modules_build_against_other_kernels(
    tmp_path: Path, other: tuple[str, Architecture, PreparedTree], module: str
) -> None:
    version, architecture, tree = other
    found = built(module, tree.objects, architecture, tmp_path)
    assert machine(found) == ELF[architecture.name]
    assert f"vermagic={version}.".encode() in found.read_bytes()
    assert len(wanted := wanted_symbols(found, architecture)) > 10
    # What registers an event, of which yaffs has some.
    assert ("trace_event_raw_init" in wanted) is (module == "yaffs")
    assert wanted <= exported_symbols(tree.source)
