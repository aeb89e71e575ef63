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
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { furtherGroups } from './test-groups.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const every = Object.keys(furtherGroups)

/**
 * Groups by the beginning of a changed path; the longest beginning counts. A path that has no row touches every group.
 * Test files, and the files under `tests` that they use, touch the groups that contain or use them.
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
  ['docs/send-from.md', ['clients']],
  ['docs/contract.md', ['deployed']],
  ['docs/embedding.md', ['newcomers']],
  ['docs/proxy/', ['proxies']],
  ['README.md', ['newcomers']],
  ['RELEASING.md', ['newcomers']],
  ['deploy/', ['proxies']],
  ['deploy/prometheus/', ['incidents']],

  ['apps/all-in-one/', ['deployed', 'newcomers']],
  ['apps/callbacks/', ['carriers', 'proxies']],
  ['apps/dispatcher/', ['carriers', 'deployed', 'drill']],
  ['apps/gateway-sms/', ['newcomers']],
  ['apps/asp/', ['clients', 'smscs', 'deployed']],
  ['apps/operator/', ['newcomers', 'carriers', 'operator']],
  ['apps/portal/', ['browsers', 'proxies']],
  ['apps/rest/', ['clients', 'deployed']],
  ['apps/smpp/', ['deployed', 'smscs']],
  ['apps/xml/', ['clients', 'deployed']],
  ['packages/adapters-http/', ['carriers']],
  ['packages/adapters-node/', ['newcomers']],
  ['packages/adapters-postgres/', ['carriers', 'deployed', 'drill', 'operator']],
  ['packages/adapters-postgres/migrations/', ['carriers', 'deployed', 'drill', 'newcomers', 'operator']],
  ['packages/adapters-simulator/', ['deployed', 'newcomers']],
  ['packages/adapters-smpp/', ['smscs', 'carriers']],
  ['packages/carrier-kit/', ['smscs', 'carriers']],
  ['packages/adapters-webhooks/', []],
  ['packages/carriers/', ['carriers', 'operator']],
  ['packages/conformance/', ['newcomers', 'deployed']],
  ['packages/embedded-postgres/', ['newcomers', 'operator', 'embedded', 'drill']],
  ['packages/guide/', []],
  ['packages/smpp/', ['smscs', 'carriers']],
  ['packages/smsc-simulator/', ['smscs', 'carriers']],
  ['packages/wire/', ['clients', 'deployed']],

  ['tests/', []],
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
  const own = every.filter((name) => filesOf(name).includes(path))
  if (own.length > 0 || isTest(path)) return own
  const rows = table.filter(([beginning]) => path.startsWith(beginning))
  const [, groups] = rows.toSorted(([a], [b]) => b.length - a.length)[0] ?? ['', every]
  return groups
}

/** True for a test file, which touches no other test. */
const isTest = (path) => path.endsWith('.test.ts')

/**
 * Returns the files of a group: its test files, and the files under `tests` that these mention by name, which mention
 * further files.
 */
const filesOf = memoized((name) => {
  const found = new Set(furtherGroups[name])
  for (const path of found) for (const used of usedBy(path)) found.add(used)
  return [...found]
})

const usedBy = memoized((path) => {
  const text = existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : ''
  return testFiles().filter((other) => text.includes(`/${basename(other)}`))
})

/** Files under `tests` that are not tests. */
const testFiles = memoized(() =>
  readdirSync(join(root, 'tests'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.m?ts$|\.mjs$/.test(name) && !isTest(name))
    .map((name) => `tests/${name}`),
)

/** Returns a function that calls `compute` once for each argument. */
function memoized(compute) {
  const known = new Map()
  return (key) => {
    if (!known.has(key)) known.set(key, compute(key))
    return known.get(key)
  }
}

function git(...args) {
  const cwd = root
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
