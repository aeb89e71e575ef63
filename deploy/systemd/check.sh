#!/bin/sh
# Checks that systemd accepts the units and rates each as hardened (an exposure of at most 2.9 of
# 10; needs systemd-analyze), and that the command line reads the settings file as systemd does.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/given" <<'EOF'
# A comment
DATABASE_URL=postgres://me:p$w@a,b/gateway?sslmode=verify-full&sslrootcert=/etc/gateway/ca.pem
OPTOUT_CONFIRMATION=You'll get no more; reply "START" # to get them again
SENDERS= "12025550100"
EOF
sed -e 1d -e 's#^SENDERS= "\(.*\)"#SENDERS=\1#' "$work/given" >"$work/expected"
sed -e "s#/etc/gateway.env#$work/given#g" -e 's#/opt/gateway/bin/node .*#env#' -e 's#setpriv .*#env#' gateway >"$work/gateway"
env -i PATH="$PATH" sh "$work/gateway" | grep -E '^(DATABASE_URL|OPTOUT_CONFIRMATION|SENDERS)=' | LC_ALL=C sort |
  diff "$work/expected" - || { echo 'The command line does not read the settings as systemd does.' >&2; exit 1; }

cp gateway.service "$work/"
cp gateway@.service "$work/gateway@rest.service"
for unit in "$work"/*.service; do
  # The programs need not be installed here.
  sed -i -e 's#^ExecStart=.*#ExecStart=/bin/true#' -e 's#^User=gateway#User=daemon#' "$unit"
  systemd-analyze verify "$unit"
  systemd-analyze security --offline=yes --no-pager --threshold=29 "$unit" | tail -n 1
done
