#!/bin/sh
# Small writes all over a file whose pages are not in memory, while the collector moves them: bytes, rounds.
python3 - "$1" "$2" <<'END'
import os, random, sys
size, rounds = int(sys.argv[1]), int(sys.argv[2])
random.seed(1)
fd = os.open("f", os.O_CREAT | os.O_RDWR)
for at in range(0, size, 4096):
    os.pwrite(fd, random.randbytes(4096), at)
os.fsync(fd)
for _ in range(rounds):
    with open("/proc/sys/vm/drop_caches", "w") as drop:
        drop.write("3")
    for _ in range(size // 4096):
        os.pwrite(fd, random.randbytes(500), random.randrange(size - 500))
os.close(fd)
END
