#!/bin/sh
# JFFS2: a removed attribute is back after a clean unmount and mount, with the value before its last one.
type=$1
cd / && mkdir -p /tmp/x && mount -t $type mtd1 /tmp/x || exit 9
attribute() { /usr/bin/python3 -c "import os; print(*os.$1('/tmp/x/file', *$2) or ())"; }
echo x >/tmp/x/file
attribute setxattr "('user.a', b'old')"
attribute setxattr "('user.a', b'new')"
attribute removexattr "('user.a',)"
umount /tmp/x && mount -t $type mtd1 /tmp/x || exit 8
back=$(attribute listxattr "()")
[ -z "$back" ] || { echo "this is back: $back, $(attribute getxattr "('$back',)")"; umount /tmp/x; exit 1; }
umount /tmp/x
echo "no attribute is back"
