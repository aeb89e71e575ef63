/**
 * Prints the groups of `furtherGroups` that a change touches, separated by commas, for `TEST_GROUPS`: all groups if
 * the change is not known or has a path that no row of the table covers.
 *
 *   node scripts/touched-groups.mjs [commit]
 *
 * The change is what differs from the given commit. The default is the commit where the branch left `main`; on `main`
 * itself the first parent of a merge. A commit on `main` that is not a merge may be one of several that came together,
 * so its change is not known.
 */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { furtherGroups } from './test-groups.mjs'

const every = Object.keys(furtherGroups)

/**
 * Groups by the beginning of a changed path; the longest beginning counts. A path that has no row touches every group.
 *
 * @type {readonly (readonly [beginning: string, groups: readonly string[]])[]}
 */
export const table = [
  // Documents that only tests of `pnpm test` read.
  ['CHANGELOG.md', []],
  ['CONTRIBUTING.md', []],
  ['SECURITY.md', []],
  ['benchmarks/', []],
  ['docs/', []],
  ['docs/clients/', ['clients', 'smscs']],
  ['docs/contract.md', ['deployed']],
  ['docs/embedding.md', ['newcomers']],
  ['docs/proxy/', ['proxies']],
  ['README.md', ['newcomers']],
  ['RELEASING.md', ['newcomers']],
  ['deploy/', ['proxies']],

  ['apps/callbacks/', ['carriers', 'proxies']],
  ['apps/asp/', ['clients', 'smscs', 'deployed']],
  ['apps/operator/', ['newcomers', 'carriers', 'operator']],
  ['apps/portal/', ['browsers', 'proxies']],
  ['apps/rest/', ['clients', 'deployed']],
  ['apps/smpp/', ['smscs']],
  ['apps/xml/', ['clients', 'deployed']],
  ['packages/adapters-http/', ['carriers']],
  ['packages/adapters-smpp/', ['smscs', 'carriers']],
  ['packages/carrier-kit/', ['smscs', 'carriers']],
  ['packages/adapters-webhooks/', []],
  ['packages/carriers/', ['carriers', 'operator']],
  ['packages/conformance/', ['newcomers', 'deployed']],
  ['packages/embedded-postgres/', ['newcomers', 'operator', 'embedded', 'drill']],
  ['packages/guide/', []],
  ['packages/smpp/', ['smscs', 'carriers']],
  ['packages/smsc-simulator/', ['smscs', 'carriers']],

  ['tests/', []],
  ['tests/carrier-reload.test.ts', ['carriers']],
  ['tests/carrier-test.test.ts', ['carriers']],
  ['tests/client-programs.test.ts', ['clients']],
  ['tests/deployed-conformance.test.ts', ['deployed']],
  ['tests/drill', ['drill']],
  ['tests/faults/', ['drill']],
  ['tests/http-carriers.test.ts', ['carriers']],
  ['tests/kannel.test.ts', ['smscs']],
  ['tests/operations.test.ts', ['deployed']],
  ['tests/operator.test.ts', ['operator']],
  ['tests/packages.test.ts', ['newcomers']],
  ['tests/portal', ['browsers']],
  ['tests/proxies.test.ts', ['proxies']],
  ['tests/refused-numbers.test.ts', ['carriers']],
  ['tests/release.test.ts', ['newcomers']],
  ['tests/rolling-restart.test.ts', ['proxies']],
  ['tests/routes-apart.test.ts', ['carriers']],
  ['tests/shared-binds.test.ts', ['carriers']],
  ['tests/smpp-customers.test.ts', ['smscs']],
  ['tests/support/', every],
  ['tests/troubled-carriers.test.ts', ['carriers']],
  ['tests/two-gateways.test.ts', ['carriers']],
]

/**
 * Returns the groups that a change of these paths touches, in the order of `furtherGroups`.
 *
 * @param {readonly string[]} paths
 * @returns {readonly string[]}
 */
export function groupsOf(paths) {
  const touched = new Set(paths.flatMap(groupsOfPath))
  return every.filter((name) => touched.has(name))
}

function groupsOfPath(path) {
  const rows = table.filter(([beginning]) => path.startsWith(beginning))
  const [, groups] = rows.toSorted(([a], [b]) => b.length - a.length)[0] ?? ['', every]
  return groups
}

function git(...args) {
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const stdio = ['ignore', 'pipe', 'ignore']
  return execFileSync('git', args, { cwd, stdio, encoding: 'utf8' }).trim()
}

/** Returns the commit before the change, or undefined if it is not known. */
function commitBefore() {
  try {
    const main = git(
      'rev-parse',
      '--verify',
      '--quiet',
      git('branch', '--list', 'main') === '' ? 'origin/main' : 'main',
    )
    const head = git('rev-parse', 'HEAD')
    const base = git('merge-base', main, head)
    if (base !== head) return base
    return git('rev-parse', '--verify', '--quiet', 'HEAD^2') === '' ? undefined : git('rev-parse', 'HEAD^1')
  } catch {
    return undefined
  }
}

/**
 * Returns the paths that differ from a commit, including files that are not committed. Returns undefined if git fails.
 */
function changedSince(commit) {
  try {
    const committed = git('diff', '--name-only', '--no-renames', commit)
    const added = git('ls-files', '--others', '--exclude-standard')
    return `${committed}\n${added}`.split('\n').filter((path) => path !== '')
  } catch {
    return undefined
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const commit = process.argv[2] ?? commitBefore()
  const paths = commit === undefined ? undefined : changedSince(commit)
  console.log((paths === undefined ? every : groupsOf(paths)).join(','))
}
