#!/bin/bash
# Builds and starts each artefact by its own script and has a message delivered through it, and looks at the files of
# Compose, Kubernetes, systemd and Prometheus. Of a built checkout, as root for the image and the Debian package:
#   deploy/check.sh [--quick] [folder [step…]]
# --quick: only what builds nothing and no test does. The folder keeps base images and is used again. Steps that are
# named are the only ones. What a step needs and is not here is named, and the step is left out; exit code 1: a step
# failed.
set -uo pipefail
cd "$(dirname "$0")/.."
quick=
if [ "${1:-}" = --quick ]; then
  quick=1
  shift
fi
work=${1:-$(mktemp -d)}
[ $# = 0 ] || shift
mkdir -p "$work"
only=" $* "
failed=
summary=$work/summary.txt
: >"$summary"

# step NAME 'PROGRAMS' COMMAND…
step() {
  local name=$1 programs=$2 program begun=$SECONDS
  shift 2
  [[ $only =~ ^\ *$ || $only == *" $name "* ]] || return 0
  for program in $programs; do
    command -v "$program" >/dev/null || { echo "NOTICE: $name was not tried: $program is missing." | tee -a "$summary"; return; }
  done
  if "$@" >"$work/$name.log" 2>&1; then
    printf '%-12s %4d s  %s\n' "$name" $((SECONDS - begun)) "$(tail -n 1 "$work/$name.log" | cut -c 1-110)" | tee -a "$summary"
  else
    tail -n 40 "$work/$name.log"
    printf '%-12s FAILED after %d s: %s\n' "$name" $((SECONDS - begun)) "$work/$name.log" | tee -a "$summary"
    failed=1
  fi
}

rooted() {
  [ "$(id -u)" = 0 ] || { echo "NOTICE: $1 was not tried: it needs root." | tee -a "$summary"; return 1; }
}

tested() {
  node --experimental-vm-modules --disable-warning=ExperimentalWarning node_modules/jest/bin/jest.js --runInBand "$@"
}

# Its last line says how long the start took; a busy machine is told by the CPU beside it.
packages() {
  tested tests/packages.test.ts 2>&1 | tee "$work/packages.txt" || return 1
  grep '^npx gateway-sms: ready' "$work/packages.txt"
}

# The .env that `gateway init` makes has every variable that the file asks for.
compose() {
  local folder=$work/compose
  rm -rf "$folder"
  mkdir -p "$folder"
  cp -R deploy/compose deploy/compose.yaml deploy/prometheus deploy/grafana "$folder/"
  node scripts/gateway.mjs init --file "$folder/.env" --domain sms.example.com
  if docker compose version >/dev/null 2>&1; then
    docker compose --file "$folder/compose.yaml" config --quiet
  else
    # Version 1 knows no `name:`.
    sed -i '/^name:/d' "$folder/compose.yaml"
    (cd "$folder" && docker-compose --file compose.yaml config --quiet)
  fi && echo 'The file is read, with the settings of gateway init.'
}

manifests() {
  local overlay folder=$work/kubernetes
  rm -rf "$folder"
  cp -R deploy/kubernetes "$folder"
  for overlay in trial production; do
    echo 'SECRETS_KEY=key' >"$folder/overlays/$overlay/secrets.env"
    printf 'password=word\nuri=postgres://gateway:word@postgres:5432/gateway\n' >"$folder/overlays/$overlay/database.env"
    kubectl kustomize "$folder/overlays/$overlay" >"$work/$overlay.yaml" || return 1
  done
  echo "$(cat "$work/trial.yaml" "$work/production.yaml" | grep -c '^kind:') objects of two overlays are put together."
}

# The image's path needs what its own step needs.
newcomers() {
  local paths=(clone npx)
  if [ "$(id -u)" = 0 ] && command -v buildah && command -v debootstrap; then paths+=(image); fi
  IMAGES=$work/image node deploy/newcomers.mjs "${paths[@]}"
}

units() { deploy/systemd/check.sh && echo 'The units are hardened.'; }
alarms() { promtool test rules deploy/prometheus/rules.test.yaml && echo 'Each alarm is raised and held back.'; }

step systemd systemd-analyze units
[ -n "$quick" ] || step alarms promtool alarms
step compose docker-compose compose
step manifests kubectl manifests
if [ -z "$quick" ]; then
  step kubernetes node tested tests/kubernetes.test.ts
  step npx npm packages
  if rooted debian; then step debian 'debootstrap dpkg-deb' deploy/debian/try.sh "$work/debian"; fi
  if rooted image; then step image 'buildah debootstrap' deploy/image/try.sh "$work/image"; fi
  step newcomers 'git npm' newcomers
  echo
  cat "$summary"
fi
[ -z "$failed" ]
