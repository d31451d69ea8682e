#!/usr/bin/env python3
"""Writes the hashes of all distribution files into requirements.lock and requirements-dev.lock.

    python3 tools/lock_requirements.py

Versions are what the files name: to change one, edit its `name==version` and run this. All files
of a release are listed, whatever platform they are for. pip-tools, in an environment of its own
that is removed again, asks the package index that pip is configured for; the index is not named in
what comes out. A package that another one needs and no file names is an error: the environment is
installed without looking for dependencies.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = ("requirements.lock", "requirements-dev.lock")
PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)", re.MULTILINE)
BLOCK = re.compile(r"^([a-z0-9-]+)==(\S+) \\\n((?:    --hash=\S+(?: \\)?\n)+)", re.MULTILINE)


def normalized(name: str) -> str:
    """One spelling of a package's name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def compiled(pins: str, directory: Path) -> str:
    """What pip-compile makes of `pins`: each release with the hashes of its files."""
    python = directory / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", directory / "venv"], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "pip-tools"], check=True)
    (directory / "pins.in").write_text(pins)
    subprocess.run(
        [
            *(python, "-m", "piptools", "compile", "--generate-hashes", "--quiet"),
            *("--no-header", "--no-annotate", "--allow-unsafe", "--strip-extras"),
            *("--no-emit-index-url", "--no-emit-trusted-host", "--no-emit-find-links"),
            *("--output-file", "pins.lock", "pins.in"),
        ],
        cwd=directory,
        check=True,
    )
    return (directory / "pins.lock").read_text()


def locked(text: str, hashes: dict[tuple[str, str], str]) -> str:
    """A lock file with its comments, its names and versions, and these hashes."""
    comments = [line for line in text.splitlines() if line.startswith("#")]
    pins = [
        f"{name}=={version} \\\n{hashes[normalized(name), version].rstrip()}"
        for name, version in PIN.findall(text)
    ]
    return "\n".join([*comments, *pins]) + "\n"


def main() -> int:
    texts = {name: (ROOT / name).read_text() for name in FILES}
    pins = [pin for text in texts.values() for pin in PIN.findall(text)]
    with tempfile.TemporaryDirectory() as directory:
        try:
            output = compiled("".join(f"{n}=={v}\n" for n, v in pins), Path(directory))
        except subprocess.CalledProcessError as error:
            print(f"lock_requirements: failed, see above: {error.cmd[0]}", file=sys.stderr)
            print("  next: correct the version that pip names, or the network", file=sys.stderr)
            return 3
    hashes = {(name, version): block for name, version, block in BLOCK.findall(output)}
    unknown = hashes.keys() - {(normalized(name), version) for name, version in pins}
    if unknown:
        needed = ", ".join(sorted(f"{name}=={version}" for name, version in unknown))
        print(f"lock_requirements: needed, and in no lock file: {needed}", file=sys.stderr)
        return 1
    for name, text in texts.items():
        (ROOT / name).write_text(locked(text, hashes))
    print(f"{len(hashes)} releases, {output.count('--hash=')} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
