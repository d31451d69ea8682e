# The second metadata scenario by programs: metadata-programs.sh FILES [busybox]
#
# FILES of 750 bytes go into each of 63 directories, as in studies/metadata-s2.toml. Prints what each step
# takes; what asking for the time takes, the step "nothing", is in each.
set -e
files=$1 prefix=$2

# Made in memory, so that a file is one write() on the flash.
grow() { # DIRECTORY DEPTH
    mkdir "$1"
    head -c $((files * 750)) /dev/urandom >/tmp/bytes
    split -a 5 -d -b 750 /tmp/bytes "$1/file"
    [ "$2" = 0 ] || for name in dir00001 dir00002; do grow "$1/$name" $(($2 - 1)); done
}

take() { # STEP COMMAND...
    step=$1
    shift
    begin=$(date +%s%N)
    "$@"
    end=$(date +%s%N)
    echo "$step: $(((end - begin) / 1000)) us"
}

grow /tmp/tree 5
sleep 60 # JFFS2 and UBI format the flash
dd if=/dev/urandom of=warm bs=128k 2>/dev/null || : # until the partition is full
rm warm
cp -r /tmp/tree .
cd /
take nothing :
take unmount umount "$FFSLAB_DIRECTORY"
take mount mount "$FFSLAB_DIRECTORY"
# To know a size find looks at each file. Busybox's does so anyway.
take find $prefix find "$FFSLAB_DIRECTORY" -name no-such-name -o -size +9999
take delete $prefix rm -r "$FFSLAB_DIRECTORY/tree"
