#!/bin/sh
# JFFS2: removed names are back after a clean unmount and mount. It mounts the partition beside the tested one.
type=$2
cd / && mkdir -p /tmp/x && mount -t $type mtd1 /tmp/x || exit 9
fill() { dd if=/dev/urandom of=/tmp/x/$1 bs=4096 count=$2 2>/dev/null; sync; }
turn_over() { # writes and deletes a file of about an erase block, again and again, and mounts again
	i=0
	while [ $i -lt 7 ]; do fill hot 30; i=$((i + 1)); done
	umount /tmp/x && mount -t $type mtd1 /tmp/x || exit 8
}
round=0
while [ $round -lt $1 ]; do
	# Each entry is the last node of its page, in a block that is full of what stays.
	for n in 1 2 3 4 5 6; do : >/tmp/x/name$n; sync; fill cold$n 15; done
	rm /tmp/x/name*; sync
	turn_over; turn_over
	round=$((round + 1))
	names=$(cd /tmp/x && echo name*)
	[ "$names" = 'name*' ] || { echo "after round $round these are back: $names"; exit 1; }
done
echo "no name is back after $round rounds"
umount /tmp/x
