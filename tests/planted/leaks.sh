#!/bin/sh
# JFFS2 must refuse what is of UBI. What the kernel allocated for it, and nothing refers to, is looked for.
set -e
mkdir /run/debug /run/other
mount -t debugfs none /run/debug
! mount -t jffs2 mtd0 /run/other
sleep 6 # kmemleak tells nothing younger than 5 s
echo scan >/run/debug/kmemleak
sleep 6
echo scan >/run/debug/kmemleak
cat /run/debug/kmemleak
! grep -q unreferenced /run/debug/kmemleak
