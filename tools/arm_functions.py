#!/usr/bin/env python3
"""How long functions are on ARM, by what the lab kernel counts for them.

    python3 tools/arm_functions.py LAB_KERNEL ARM_SYSTEM_MAP [NAME ...]

The lab kernel counts the instructions that a 32-bit ARM takes, by weights of kinds (scripts/basic/
as.c of kernel/patches/0004). This adds up what it counts for each function, as if every block were
executed once, and sets it against the length of the same function in the kernel of variant `qemu`,
which ARM's compiler made of the same source. `./ffslab setup --variant unaligned` and `--variant
qemu` print where the two are: the file `linux` of the one, and `obj/System.map` of the other.

1 means that the weights are right; functions that as.c corrects by a factor of its own are shown
with it. Without names it prints the quantiles of all functions, and those of compressors that are a
fifth or more off. A length counts a loop once, and pools of constants as instructions.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

LEAST_INSTRUCTIONS = 30
OFF = 0.2
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def counted(kernel: Path) -> dict[str, float]:
    """Instructions that the lab kernel counts in each of its functions."""
    totals: Counter[str] = Counter()
    command = ["objdump", "-d", "--no-show-raw-insn", str(kernel)]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    name = ""
    for line in text.splitlines():
        if match := re.match(r"[0-9a-f]+ <(.+)>:$", line):
            name = match[1]
        elif match := re.search(r"addq\s+\$0x([0-9a-f]+),.*<um_cpu_counters", line):
            totals[name] += int(match[1], 16)
    return {name: tenths / 10 for name, tenths in totals.items()}


def lengths(system_map: Path) -> dict[str, int]:
    """Instructions, of four bytes, in each function of ARM's kernel."""
    words = (line.split() for line in system_map.read_text("ascii").splitlines())
    starts = sorted((int(at, 16), name) for at, kind, name in words if kind in "tT")
    starts = [start for start in starts if not start[1].startswith("$")]
    return {name: (end - at) // 4 for (at, name), (end, _) in pairwise(starts)}


def main(kernel: str, system_map: str, *names: str) -> None:
    """Prints the ratios."""
    here, arm = counted(Path(kernel)), lengths(Path(system_map))
    ratios = {
        name: arm[name] / count
        for name, count in here.items()
        if name in arm and count >= LEAST_INSTRUCTIONS
    }
    if not names:
        ordered = sorted(ratios.values())
        told = (f"{part:.0%} {ordered[int(len(ordered) * part)]:.2f}" for part in QUANTILES)
        print(f"{len(ordered)} functions; quantiles of ARM's length ÷ count: {', '.join(told)}")
    wanted = names or [name for name in ratios if re.search("inflate|deflate|lzo|ZSTD|HUF", name)]
    for name in sorted(wanted):
        if name in ratios and (names or abs(ratios[name] - 1) >= OFF):
            print(f"{ratios[name]:5.2f}  {here[name]:7.1f}  {arm[name]:5}  {name}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
