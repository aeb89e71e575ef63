#!/bin/sh
# Runs the image that build.sh has made, with a new volume, until it is told to stop, on the network of this machine:
#   deploy/image/run.sh <folder of the images> [root]
# as `docker run --read-only --tmpfs /tmp --volume gateway:/data gateway` does. PORT: where it listens, 18081 by default.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$1
root=${2:-$(mktemp -d "$work/root-XXXXXX")}
storage="--root $work/storage --runroot $work/run"
server=
finish() {
  for place in proc dev/shm dev tmp data ''; do umount "$root/$place" 2>/dev/null || true; done
  rmdir "$root" 2>/dev/null || true
  buildah $storage rm "$container" >/dev/null 2>&1 || true
}
field() { buildah $storage inspect --type image --format "{{range $1}}{{println .}}{{end}}" gateway; }

container=$(buildah $storage from --pull-never gateway)
trap finish EXIT
mounted=$(buildah $storage mount "$container")
chmod 755 "$root"
mount --bind "$mounted" "$root"
mount -o remount,bind,ro "$root"
rm -rf "$work/data"
mkdir -p "$work/data"
chown 10001:10001 "$work/data"
mount --bind "$work/data" "$root/data"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mknod -m 666 "$root/dev/null" c 1 3
mknod -m 666 "$root/dev/zero" c 1 5
mknod -m 666 "$root/dev/random" c 1 8
mknod -m 666 "$root/dev/urandom" c 1 9
mkdir "$root/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
"$here/exec.sh" "$work" "$root" $(field .OCIv1.Config.Entrypoint) $(field .OCIv1.Config.Cmd) &
server=$!
trap 'kill "$server" 2>/dev/null || true' INT TERM
status=0
wait "$server" || status=$?
# A signal interrupts the first wait while the server is still stopping.
if kill -0 "$server" 2>/dev/null; then status=0; wait "$server" || status=$?; fi
exit "$status"
