#!/bin/sh
# Builds the image of deploy/Dockerfile from HEAD, as `docker build` does, but without an engine. Run as root, with
# buildah, debootstrap and npm: deploy/image/build.sh <folder>
# debootstrap makes the base image, which has the name of the real one; the folder keeps it. BUILD_OPTIONS are passed to
# buildah, for requirements of the package installation on this machine. With BASE_ONLY only the base image is made.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
work=${1:?name the folder of the images}
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
[ -z "${BASE_ONLY:-}" ] || exit 0

context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
git -C "$here/.." archive HEAD | tar -C "$context" -xf -
buildah $storage bud --pull-never --format docker --build-arg COMMIT="$(git -C "$here/.." rev-parse HEAD)" ${BUILD_OPTIONS:-} \
  --file "$context/deploy/Dockerfile" --tag gateway "$context" >"$work/build.log" 2>&1 || { tail -n 50 "$work/build.log"; exit 1; }
