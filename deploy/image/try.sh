#!/bin/sh
# Builds the image without an engine, starts it as its user on a read-only root, and delivers a
# message in it. Run as root, with the requirements of build.sh: deploy/image/try.sh [folder]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=${1:-$(mktemp -d)}
export PORT="${PORT:-18081}"
storage="--root $work/storage --runroot $work/run"
"$here/build.sh" "$work"

container=$(buildah $storage from --pull-never gateway)
megabytes=$(du -sm "$(buildah $storage mount "$container")" | cut -f 1)
buildah $storage rm "$container" >/dev/null
echo "The image has $megabytes MB."
[ "$megabytes" -lt 250 ]

root=$(mktemp -d "$work/root-XXXXXX")
inside() { "$here/exec.sh" "$work" "$root" "$@"; }
"$here/run.sh" "$work" "$root" >"$work/server.log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in $(seq 600); do
  if grep -q 'The gateway runs at' "$work/server.log"; then break; fi
  kill -0 "$server" 2>/dev/null || { cat "$work/server.log"; exit 1; }
  sleep 0.2
done
# The health check of the image.
check=$(buildah $storage inspect --type image --format '{{index .Docker.Config.Healthcheck.Test 1}}' gateway)
[ -n "$check" ] && inside sh -c "$check"
inside gateway send --account 1 --to 27825550101 --text 'Hello' --wait | tee "$work/sent.txt"
grep -q DELIVERED "$work/sent.txt"
if inside sh -c 'echo >/opt/gateway/x' 2>/dev/null; then echo 'The root can be written.'; exit 1; fi
for process in rest asp xml portal dispatcher; do inside gateway-sms "$process" --version; done
inside gateway-sms smsc --help
inside gateway-sms http-provider --help
kill "$server"
wait "$server"
trap - EXIT
echo "The image has $megabytes MB, is healthy, and delivered a message as its user on a read-only root."
