"""The agent for boards: one static program, built for another processor than this computer's.

Two compilers will do. Debian's cross compilers take some 100 MB for each processor; the one of the
target qemu is there anyway. Zig's, from PyPI (extra `cross`), takes 100 MB to fetch and 440 MB on
the disk, and compiles for all but ARMv5. A user's own compiler is named by its prefix.
"""

from __future__ import annotations

import importlib.util
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.lab.build import Architecture, build_agent
from ffslab.lab.cache import cache_root, hash_texts, is_sound, locked, set_aside_if_damaged
from ffslab.lab.commands import clean_environment
from ffslab.lab.lab import FORMAT, hash_program
from ffslab.lab.progress import Progress
from ffslab.paths import data_dir


@dataclass(frozen=True, slots=True)
class _Processor:
    """How its compilers are called: the prefix of Debian's with its package, Zig's words.

    Without Zig's words it has none for that processor.
    """

    tools: str
    package: str
    zig: tuple[str, ...]
    libc: str


_PROCESSORS: Mapping[str, _Processor] = {
    "armv5te": _Processor(
        "arm-linux-gnueabi-",
        "gcc-arm-linux-gnueabi",
        (),  # its C library needs atomic instructions, which ARMv5 has not
        "libc6-dev-armel-cross",
    ),
    "armv7": _Processor(
        "arm-linux-gnueabihf-",
        "gcc-arm-linux-gnueabihf",
        ("-target", "arm-linux-musleabihf", "-mcpu=generic+v7a+vfp3d16"),
        "libc6-dev-armhf-cross",
    ),
    "aarch64": _Processor(
        "aarch64-linux-gnu-",
        "gcc-aarch64-linux-gnu",
        ("-target", "aarch64-linux-musl"),
        "libc6-dev-arm64-cross",
    ),
    "mipsel": _Processor(
        "mipsel-linux-gnu-",
        "gcc-mipsel-linux-gnu",
        ("-target", "mipsel-linux-musleabi"),
        "libc6-dev-mipsel-cross",
    ),
    "riscv64": _Processor(
        "riscv64-linux-gnu-",
        "gcc-riscv64-linux-gnu",
        ("-target", "riscv64-linux-musl"),
        "libc6-dev-riscv64-cross",
    ),
}
AGENT_ARCHITECTURES = tuple(_PROCESSORS)
# Clang takes a constant for unused of which nothing is left where calls are made one by one, and
# an assertion without a message for one of C23 only.
_LENIENT = ("-Wno-error=unused-const-variable", "-Wno-error=c23-extensions")


def ensure_agent(architecture: str, prefix: str, progress: Progress) -> Path:
    """The agent for a processor, built if it is not in the cache.

    `prefix` names a compiler of the user's, as CROSS_COMPILE does; empty: one for `architecture`.
    Neither: for this computer. InfrastructureError if there is no compiler.
    """
    other = bool(architecture) and not prefix
    compiler = _compiler(architecture) if other else _own_compiler(prefix)
    key = hash_texts([FORMAT, architecture, *compiler, _version(compiler), hash_program("agent")])
    # Apart from the lab's agents, so that nobody waits for a kernel that is being built.
    entry = cache_root() / "board-agent" / key
    if not is_sound(entry):
        with locked(cache_root() / "board-agent.lock", progress) as lock:
            if not set_aside_if_damaged(entry):
                tools = (f"CC={shlex.join(compiler)}", f"AGENT_CC={shlex.join(compiler)}")
                # With a prefix, so that nothing of this computer's is put in.
                build_agent(
                    entry,
                    data_dir("guest") / "agent",
                    lock,
                    progress,
                    Architecture("", "cross-"),
                    # All workloads in one program: a board's time is its own.
                    (*tools, "WHOLE=y"),
                )
    return entry / "ffsagent"


def _own_compiler(prefix: str) -> tuple[str, ...]:
    compiler = f"{prefix}gcc"
    if shutil.which(compiler, path=clean_environment()["PATH"]) is None:
        raise InfrastructureError(
            f"the compiler {compiler} is missing",
            cause="a mistyped cross_compile, or a toolchain that is not in the path",
            remedy="its whole path in cross_compile, up to the last hyphen",
        )
    return (compiler,)


def _compiler(architecture: str) -> tuple[str, ...]:
    """The words of a compiler for a processor."""
    known = _PROCESSORS[architecture]
    debian = f"{known.tools}gcc"
    if shutil.which(debian, path=clean_environment()["PATH"]) is not None and _has_libc(debian):
        return (debian,)
    if known.zig and importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "cc", *_LENIENT, *known.zig)
    zig = f"; or {shlex.quote(sys.executable)} -m pip install ziglang" if known.zig else ""
    raise InfrastructureError(
        f"no compiler here can make the agent for {architecture}",
        cause="Debian's is not installed" + (", and neither is Zig's" if zig else ""),
        remedy=f"as root: apt-get install {known.package} {known.libc}{zig}",
    )


def _has_libc(compiler: str) -> bool:
    """Whether a C library is there for it, too: that is another package."""
    told = _output((compiler, "-print-file-name=libc.a"))
    return Path(told).is_absolute()


def _version(compiler: tuple[str, ...]) -> str:
    return _output((*compiler, "--version"))


def _output(words: tuple[str, ...]) -> str:
    finished = subprocess.run(
        words, env=clean_environment(), capture_output=True, text=True, check=False
    )
    return finished.stdout.strip()
