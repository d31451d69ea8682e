# An update as many products do it: a new version is written beside the old one, synced, and takes
# its place by a rename.
set -e
version=0
while [ $version -lt 10 ]; do
    version=$((version + 1))
    mkdir new
    cp "$FFSLAB_FILES/script.conf" new/settings
    dd if=/dev/urandom of=new/program bs=64k count=8 2>/dev/null
    echo "$version $1" >new/version
    sync
    rm -rf old
    [ ! -e current ] || mv current old
    mv new current
    sync
done
cat current/version
