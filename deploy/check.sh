#!/bin/bash
# Builds and starts each artefact by its own script, delivers a message through it, and checks the files of Compose,
# Kubernetes, systemd and Prometheus. Needs a built checkout, and root for the image and the Debian package:
#   deploy/check.sh [--quick] [folder [step…]]
# --quick: only steps that build nothing and that no test covers. The folder keeps base images for later runs. If steps
# are named, only these run. A step whose requirements are missing is skipped with a notice. Exit code 1: a step failed.
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

# Its last line has the duration of the start and the CPU time, which shows whether the machine was
# busy.
packages() {
  tested tests/packages.test.ts 2>&1 | tee "$work/packages.txt" || return 1
  grep '^npx gateway-sms: ready' "$work/packages.txt"
}

# The .env of `gateway init` has every variable that the file requires.
compose() {
  local folder=$work/compose
  rm -rf "$folder"
  mkdir -p "$folder"
  cp -R deploy/compose deploy/compose.yaml deploy/prometheus deploy/grafana "$folder/"
  node scripts/gateway.mjs init --file "$folder/.env" --domain sms.example.com
  if docker compose version >/dev/null 2>&1; then
    docker compose --file "$folder/compose.yaml" config --quiet
  else
    # Version 1 does not support `name:`.
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

# The path of the image has the requirements of the image step.
newcomers() {
  local paths=(clone npx)
  if [ "$(id -u)" = 0 ] && command -v buildah && command -v debootstrap; then paths+=(image); fi
  IMAGES=$work/image node deploy/newcomers.mjs "${paths[@]}"
}

units() { deploy/systemd/check.sh && echo 'The units are hardened.'; }
alarms() { tested tests/incidents/rules.test.ts && echo 'Each alarm is raised and held back.'; }

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
