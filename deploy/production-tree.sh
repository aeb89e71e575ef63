#!/bin/sh
# Makes the tree that a machine gets: gateway-sms with its production dependencies of the lockfile,
# without types, maps and static libraries. Build the checkout before: deploy/production-tree.sh
# <new folder>
set -eu
cd "$(dirname "$0")/.."
target=${1:?name the folder to make}
[ ! -e "$target" ] || { echo "$target is already there" >&2; exit 1; }
node node_modules/pnpm/bin/pnpm.mjs --filter gateway-sms --package-import-method copy deploy --prod --legacy "$target" >&2
find "$target" -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.a' \
  -o -name '.tsbuildinfo' \) -delete
rm -rf "$target"/node_modules/.pnpm/@gateway+core@*/node_modules/@gateway/core/dist-testing \
  "$target"/node_modules/.pnpm/@gateway+carrier-kit@*/node_modules/@gateway/carrier-kit/dist-testing
chmod 755 "$target/dist/main.js" "$target/dist/gateway.js"
# The pages of the guide.
cp -R docs "$(echo "$target"/node_modules/.pnpm/@gateway+guide@*/node_modules/@gateway/guide)/pages"
# The version that each process prints names the commit.
commit=${COMMIT:-$(git rev-parse HEAD 2>/dev/null || true)}
for manifest in "$target"/node_modules/.pnpm/@gateway+server@*/node_modules/@gateway/server/package.json; do
  [ -z "$commit" ] || sed -i "s/^  \"version\": .*/&\n  \"gitHead\": \"$commit\",/" "$manifest"
done
