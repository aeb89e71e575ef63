#!/bin/sh
# Builds the image of deploy/Dockerfile without an engine, starts it as its user on a read-only root, and has a message
# delivered in it. As root, with buildah, debootstrap and npm: deploy/try-image.sh [folder]
# The base image is made by debootstrap and has the name of the real one; the folder keeps it. BUILD_OPTIONS is given to
# buildah, for what an installation of packages needs here.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=${1:-$(mktemp -d)}
mkdir -p "$work"
export BUILDAH_ISOLATION=chroot
storage="--root $work/storage --runroot $work/run"
base=docker.io/library/node:24-bookworm-slim
mirror=${MIRROR:-$(sed -n 's/^URIs: *//p; s/^deb \([a-z]*:[^ ]*\).*/\1/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.sources \
  2>/dev/null | head -n 1)}
case $(dpkg --print-architecture) in amd64) cpu=x64 ;; arm64) cpu=arm64 ;; esac

if ! buildah $storage images --quiet "$base" >/dev/null 2>&1; then
  [ -e "$work/debian" ] ||
    { debootstrap --variant=minbase --include=ca-certificates bookworm "$work/new" "$mirror" >"$work/debootstrap.log" && mv "$work/new" "$work/debian"; }
  echo "deb $mirror bookworm main" >"$work/debian/etc/apt/sources.list"
  mkdir -p "$work/node" "$work/debian/usr/local/lib/node_modules"
  (cd "$work/node" && npm install --no-save --no-audit --no-fund --silent "node-linux-$cpu@24" npm@11)
  install -m 755 "$work/node/node_modules/node-linux-$cpu/bin/node" "$work/debian/usr/local/bin/node"
  cp -R "$work/node/node_modules/npm" "$work/debian/usr/local/lib/node_modules/"
  for name in npm npx; do
    ln -sf "../lib/node_modules/npm/bin/$name-cli.js" "$work/debian/usr/local/bin/$name"
  done
  container=$(buildah $storage from scratch)
  tar -C "$work/debian" --exclude='./proc/*' --exclude='./sys/*' --exclude='./var/cache/apt/*' -cf "$work/base.tar" .
  buildah $storage add --quiet "$container" "$work/base.tar" /
  buildah $storage config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
  buildah $storage commit --quiet --rm "$container" "$base"
  rm "$work/base.tar"
fi

context=$(mktemp -d)
root=$(mktemp -d "$work/root-XXXXXX")
server=
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  for place in proc dev/shm dev tmp data ''; do umount "$root/$place" 2>/dev/null || true; done
  rmdir "$root" 2>/dev/null || true
  rm -rf "$context"
}
trap finish EXIT
git -C "$here/.." archive HEAD | tar -C "$context" -xf -
buildah $storage bud --pull-never --format docker --build-arg COMMIT="$(git -C "$here/.." rev-parse HEAD)" ${BUILD_OPTIONS:-} \
  --file "$context/deploy/Dockerfile" --tag gateway "$context" >"$work/build.log" 2>&1 || { tail -n 50 "$work/build.log"; exit 1; }

container=$(buildah $storage from --pull-never gateway)
mounted=$(buildah $storage mount "$container")
megabytes=$(du -sm "$mounted" | cut -f 1)
echo "The image has $megabytes MB."
[ "$megabytes" -lt 250 ]
field() { buildah $storage inspect --type image --format "{{range $1}}{{println .}}{{end}}" gateway; }

chmod 755 "$root"
# As `docker run --read-only --tmpfs /tmp` does it.
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
inside() { (starts "$@"); }
starts() { exec env -i $(field .OCIv1.Config.Env) PORT="${PORT:-18081}" /usr/sbin/chroot --userspec=10001:10001 "$root" "$@"; }
: >"$work/server.log"
starts $(field .OCIv1.Config.Entrypoint) $(field .OCIv1.Config.Cmd) >"$work/server.log" 2>&1 &
server=$!
for _ in $(seq 300); do
  if grep -q 'The gateway runs at' "$work/server.log"; then break; fi
  kill -0 "$server" 2>/dev/null || { cat "$work/server.log"; exit 1; }
  sleep 0.2
done
inside wget -q -O /dev/null "http://127.0.0.1:${PORT:-18081}/health/ready"
inside gateway send --account 1 --to 27825550101 --text 'Hello' --wait | tee "$work/sent.txt"
grep -q DELIVERED "$work/sent.txt"
if inside sh -c 'echo >/opt/gateway/x' 2>/dev/null; then echo 'The root can be written.'; exit 1; fi
for process in rest asp xml portal dispatcher; do inside gateway-sms "$process" --version; done
kill "$server"
wait "$server"
server=
buildah $storage rm "$container" >/dev/null
echo 'The image was built, and delivered a message as its user on a read-only root.'
