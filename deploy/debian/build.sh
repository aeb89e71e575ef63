#!/bin/sh
# Builds a Debian package of a built checkout, with Node included, for the architecture of this machine. Needs dpkg-deb
# and npm:
#   deploy/debian/build.sh <folder>
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?name the folder to put the package into}
node_version=24
arch=$(dpkg --print-architecture)
case $arch in
  amd64) cpu=x64 ;;
  arm64) cpu=arm64 ;;
  *) echo "There is no embedded PostgreSQL for $arch." >&2; exit 1 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$out" "$root/opt" "$root/lib/systemd/system" "$root/usr/bin" "$root/etc" "$root/usr/share/doc/gateway-sms"

"$here/../production-tree.sh" "$root/opt/gateway"
mkdir "$root/opt/gateway/bin" "$work/node"
(cd "$work/node" && npm install --no-save --no-audit --no-fund --silent "node-linux-$cpu@$node_version")
install -m 755 "$work/node/node_modules/node-linux-$cpu/bin/node" "$root/opt/gateway/bin/node"
strip "$root/opt/gateway/bin/node" 2>/dev/null || true

cp "$here/../systemd/gateway.service" "$here/../systemd/gateway@.service" "$root/lib/systemd/system/"
install -m 755 "$here/../systemd/gateway" "$root/usr/bin/gateway"
install -m 640 "$here/../systemd/gateway.env" "$root/etc/gateway.env"
cp "$here/../../LICENSE" "$root/usr/share/doc/gateway-sms/copyright"
chmod -R go+rX "$root/opt"

version=$(node -p "require('$here/../../package.json').version")
mkdir "$root/DEBIAN"
install -m 755 "$here/postinst" "$here/prerm" "$here/postrm" "$root/DEBIAN/"
echo /etc/gateway.env >"$root/DEBIAN/conffiles"
cat >"$root/DEBIAN/control" <<CONTROL
Package: gateway-sms
Version: $version
Architecture: $arch
Maintainer: The gateway project <maintainers@example.invalid>
Section: net
Priority: optional
Depends: libc6, libgcc-s1, libstdc++6, util-linux, passwd, ca-certificates
Installed-Size: $(du -sk "$root" | cut -f1)
Description: Self-hosted bulk SMS gateway
 Three interfaces (REST, query string, XML) over one account model, and SMPP 3.4
 to carriers. With Node and a PostgreSQL of its own.
CONTROL
file="$out/gateway-sms_${version}_$arch.deb"
dpkg-deb --root-owner-group -Zxz -z6 --build "$root" "$file" >&2
echo "$file"
