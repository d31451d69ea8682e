#!/bin/sh
# JFFS2 hangs: a directory is renamed over one from which a file was removed.
mkdir a b && touch b/x && sync
rm b/x && sync
mv -T a b || exit 9
i=0
while [ $i -lt $1 ]; do
	dd if=/dev/urandom of=f$((i % 7)) bs=4096 count=30 2>/dev/null
	sync f$((i % 7))
	i=$((i + 1))
done
echo "$1 files were written and synced"
