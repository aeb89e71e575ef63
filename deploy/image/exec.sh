#!/bin/sh
# Runs a command where run.sh runs the image, as its user and with its environment, as `docker exec` does:
#   deploy/image/exec.sh <folder of the images> <root> COMMAND…
set -eu
work=$1 root=$2
shift 2
environment=$(buildah --root "$work/storage" --runroot "$work/run" inspect --type image \
  --format '{{range .OCIv1.Config.Env}}{{println .}}{{end}}' gateway)
exec env -i $environment PORT="${PORT:-18081}" /usr/sbin/chroot --userspec=10001:10001 "$root" "$@"
