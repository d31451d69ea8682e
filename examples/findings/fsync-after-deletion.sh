#!/bin/sh
# JFFS2: a line is appended and synced, and that takes until all blocks of a deleted file are erased.
dd if=/dev/urandom of=large bs=65536 count=192 2>/dev/null; sync; rm large
/usr/bin/python3 -c "
import os, sys, time
line = os.open('line', os.O_WRONLY | os.O_CREAT)
longest = 0
for _ in range(20):
    began = time.monotonic()
    os.write(line, b'x' * 100)
    os.fsync(line)
    longest = max(longest, time.monotonic() - began)
print(f'the longest fsync took {1000 * longest:.0f} ms')
sys.exit(1000 * longest > $1)
"
