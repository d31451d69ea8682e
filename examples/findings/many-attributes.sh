#!/bin/sh
# UBIFS logs it as an error of its own when an extended attribute is refused.
: >file
/usr/bin/python3 -c "
import errno, os
try:
    for number in range(2000):
        os.setxattr('file', f'user.a{number}', b'1')
except OSError as refused:
    print(f'refused after {number}: {errno.errorcode[refused.errno]}')
"
logged=$(dmesg | sed -n 's/.*\(UBIFS error.*\)/\1/p')
[ -z "$logged" ] || { echo "$logged"; exit 1; }
