#!/bin/sh
# JFFS2: a new file has the attribute of a removed one. It mounts the partition beside the tested one.
type=$2
cd / && mkdir -p /tmp/x && mount -t $type mtd1 /tmp/x || exit 9
fill() { dd if=/dev/urandom of=/tmp/x/$1 bs=4096 count=$2 conv=notrunc 2>/dev/null; sync; }
mount_again() { umount /tmp/x && mount -t $type mtd1 /tmp/x || exit 8; }
# The file has the highest inode number. Its block is full of what is replaced later, that of its attribute of what stays.
: >/tmp/x/hot; : >/tmp/x/cold1; : >/tmp/x/cold2
: >/tmp/x/file; fill hot 28
fill cold1 15; /usr/bin/python3 -c "import os; os.setxattr('/tmp/x/file', 'user.a', b'secret')"; fill cold2 15
rm /tmp/x/file; sync
round=0
while [ $round -lt $1 ]; do
	i=0
	while [ $i -lt 10 ]; do fill hot 28; i=$((i + 1)); done
	mount_again
	: >/tmp/x/new; sync
	mount_again
	got=$(/usr/bin/python3 -c "import os; print(*os.listxattr('/tmp/x/new'))")
	[ -z "$got" ] || { echo "after round $round a new file has this: $got"; umount /tmp/x; exit 1; }
	rm /tmp/x/new; sync
	round=$((round + 1))
done
umount /tmp/x
echo "no new file has an attribute"
