#!/bin/sh
# Builds the package, installs it in a fresh Debian, delivers a message there, and removes the
# package. Run as root, with debootstrap: deploy/debian/try.sh [folder]. The Debian is kept in the
# folder for later runs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=${1:-$(mktemp -d)}
mkdir -p "$work"
mirror=${MIRROR:-$(sed -n 's/^URIs: *//p; s/^deb \([a-z]*:[^ ]*\).*/\1/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.sources \
  2>/dev/null | head -n 1)}
[ -e "$work/debian.tar" ] || {
  rm -rf "$work/new"
  debootstrap --variant=minbase --include=ca-certificates bookworm "$work/new" "$mirror" >"$work/debootstrap.log"
  tar -C "$work/new" --exclude='./proc/*' --exclude='./sys/*' -cf "$work/debian.tar.part" .
  mv "$work/debian.tar.part" "$work/debian.tar"
  rm -rf --one-file-system "$work/new"
}
root=$(mktemp -d "$work/root-XXXXXX")
chmod 755 "$root"
server=
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  umount "$root/proc" 2>/dev/null || true
  rm -rf --one-file-system "$root"
}
trap finish EXIT
tar -C "$root" -xf "$work/debian.tar"
mount -t proc proc "$root/proc"

package=$("$here/build.sh" "$work")
ls -l "$package"
cp "$package" "$root/gateway.deb"
chroot "$root" dpkg -i /gateway.deb
echo 'PORT=18080' >>"$root/etc/gateway.env"

# Start it in the same way as the unit.
chroot "$root" sh -c 'set -a; . /etc/gateway.env; export DATA_DIR=/var/lib/gateway; cd /var/lib/gateway
  exec setpriv --reuid gateway --regid gateway --clear-groups --no-new-privs \
    /opt/gateway/bin/node /opt/gateway/dist/main.js all-in-one' >"$work/server.log" 2>&1 &
server=$!
for _ in $(seq 300); do
  if grep -q 'The gateway runs at' "$work/server.log"; then break; fi
  kill -0 "$server" 2>/dev/null || { cat "$work/server.log"; exit 1; }
  sleep 0.2
done
chroot "$root" gateway send --account 1 --to 27825550101 --text 'Hello' --wait | tee "$work/sent.txt"
grep -q DELIVERED "$work/sent.txt"
kill "$server"
wait "$server"
server=

chroot "$root" dpkg --remove gateway-sms
[ ! -e "$root/opt/gateway" ] && [ -e "$root/etc/gateway.env" ]
chroot "$root" dpkg --purge gateway-sms
[ ! -e "$root/etc/gateway.env" ] && [ -d "$root/var/lib/gateway" ]
echo 'The package was installed, delivered a message, and was removed.'
