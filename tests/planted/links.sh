#!/bin/sh
# Writes inodes of symbolic links: of lengths that are no multiple of 8, so that some end just before a page does.
set -e
length=301
while [ $length -lt 1001 ]; do
    ln -s "$(printf "%${length}s" | tr ' ' x)" link$length
    sync
    chown -h 1000 link$length
    sync
    length=$((length + 4))
done
