#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Prints where C tests of this clone are built.   usage: build_directory.sh CLONE
#
# It is build/ of the clone, which git ignores: two clones do not meet there. In a
# clone that this user may only read, or whose build/ is somebody else's, it is
# the user's own cache, by the hash of the clone's path. Never a directory that
# others could have made first, as in /tmp: what lies there is executed.

clone=$1

mine() {
	mkdir -p "$1" 2>/dev/null && [ -O "$1" ] && [ -w "$1" ]
}

# A path relative to the working directory stays right when a clone is moved.
if mine "$clone/build" && mine "$clone/build/tests"; then
	echo "$clone/build/tests"
	exit
fi
hash=$(cd "$clone" && pwd -P | sha256sum | cut -c 1-16)
cache=${XDG_CACHE_HOME:-${HOME:-}/.cache}/ffslab/c-tests
case $cache in
/.cache/*) ;;
*)
	if mine "$cache" && mine "$cache/$hash"; then
		echo "$cache/$hash"
		exit
	fi
	;;
esac
echo "C tests: neither $clone/build nor $cache can be written to by $(id -un)" >&2
echo "  next: export XDG_CACHE_HOME=DIRECTORY that you may write to, or make O=DIRECTORY" >&2
exit 3
