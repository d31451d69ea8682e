#!/bin/sh
# Mounts with another option, which must be in effect then.
set -e
mount -o remount,compr=none "$PWD"
grep -q " $PWD jffs2 .*compr=none" /proc/mounts
