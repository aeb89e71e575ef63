#!/bin/sh
# Installs a built checkout as services of systemd, or brings an installation up to date: the programs under
# /opt/gateway, the user `gateway`, /etc/gateway.env, the units, and the command `gateway`. As root:
#   deploy/systemd/install.sh            then: systemctl enable --now gateway
# DESTDIR installs below another root. Node is that of NODE, or the one on the PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=${DESTDIR:-}
node=${NODE:-$(command -v node)}
[ "$(id -u)" = 0 ] || { echo 'Run this as root.' >&2; exit 1; }

new="$root/opt/gateway.new"
rm -rf "$new"
mkdir -p "$root/opt" "$root/etc/systemd/system" "$root/usr/bin"
"$here/../production-tree.sh" "$new"
mkdir "$new/bin"
install -m 755 "$node" "$new/bin/node"

if [ -z "$root" ] && ! getent passwd gateway >/dev/null; then
  useradd --system --user-group --home-dir /var/lib/gateway --no-create-home --shell /usr/sbin/nologin gateway
fi
chown -R root:root "$new"
chmod -R go+rX "$new"
rm -rf "$root/opt/gateway.old"
[ ! -e "$root/opt/gateway" ] || mv "$root/opt/gateway" "$root/opt/gateway.old"
mv "$new" "$root/opt/gateway"
rm -rf "$root/opt/gateway.old"

install -m 644 "$here/gateway.service" "$here/gateway@.service" "$root/etc/systemd/system/"
install -m 755 "$here/gateway" "$root/usr/bin/gateway"
if [ ! -e "$root/etc/gateway.env" ]; then
  install -m 640 "$here/gateway.env" "$root/etc/gateway.env"
  [ -n "$root" ] || chgrp gateway "$root/etc/gateway.env"
fi
if [ -z "$root" ] && [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
echo 'Installed. Settings: /etc/gateway.env. Start: systemctl enable --now gateway'
