#!/bin/sh
# An extended attribute of a symbolic link of 5 bytes is removed: UBIFS loses other files.
set -e
echo precious >file; mkdir dir; echo x >dir/y; sync
ln -s abcde link
attribute() { /usr/bin/python3 -c "import os; os.$1(*$2, follow_symlinks=False)"; sync; }
attribute setxattr "('link', 'trusted.a', b'1')"
attribute removexattr "('link', 'trusted.a')"
echo 3 >/proc/sys/vm/drop_caches
cat file dir/y && ls -la
