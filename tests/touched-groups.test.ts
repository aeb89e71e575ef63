import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import SlowTestsFirst from '../scripts/slow-tests-first.mjs'
import { alsoInPart, furtherGroupOf, furtherGroups } from '../scripts/test-groups.mjs'
import { groupsOf, table } from '../scripts/touched-groups.mjs'
import { root } from './support/process.ts'

const every = Object.keys(furtherGroups)

test.each([
  ['documents that only pnpm test reads', ['CHANGELOG.md', 'docs/faq.md'], []],
  ['a page with programs of clients', ['docs/clients/send.py'], ['clients', 'smscs']],
  ['the sources of one interface', ['apps/rest/src/router.ts'], ['deployed', 'clients']],
  [
    'two areas',
    ['apps/portal/src/session.ts', 'packages/smpp/src/codec.ts'],
    ['carriers', 'browsers', 'proxies', 'smscs'],
  ],
  ['a test of pnpm test', ['tests/kill.test.ts'], []],
  ['a test of a further group', ['tests/drill.test.ts'], ['drill']],
  ['a test beside its source', ['packages/core/src/messages/body.test.ts'], []],
  ['a file of a test', ['tests/support/proxies.ts'], ['proxies']],
  ['a file that a file of a test uses', ['tests/faults/final-checks.ts'], ['drill']],
  ['nothing', [], []],
])('%s: the groups of the longest row of each path', (_title, paths, groups) => {
  expect(groupsOf(paths)).toEqual(groups)
})

test.each(['packages/core/src/messages/body.ts', 'pnpm-lock.yaml', '.ci/run', 'tests/support/process.ts', 'new/file'])(
  'a change of %s, for which no row says less, touches every group, whatever else is changed',
  (path) => {
    expect(groupsOf(['CHANGELOG.md', path])).toEqual(every)
  },
)

test('every file of a further group exists, is in one group, and touches its group when it is changed', () => {
  const files = Object.values(furtherGroups).flat()
  expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([])
  expect(files.filter((path, i) => files.indexOf(path) !== i)).toEqual([])
  for (const [name, paths] of Object.entries(furtherGroups))
    for (const path of paths)
      expect({ path, touches: groupsOf([path]).includes(name) }).toEqual({ path, touches: true })
})

test('no promise names a file of a further group as its proof', () => {
  const promises = readFileSync(join(root, 'docs/reliability.md'), 'utf8').match(/^\| P-\d+ .*$/gm) ?? []
  expect(promises.length).toBeGreaterThanOrEqual(21)
  const named = (path: string): readonly string[] => promises.filter((promise) => promise.includes(basename(path)))
  expect(Object.values(furtherGroups).flat().flatMap(named)).toEqual([])
})

test('every row begins like a path of the repository, and names existing groups', () => {
  const beginnings = table.map(([beginning]) => beginning)
  expect(beginnings.filter((beginning) => !existsSync(join(root, beginning)))).toEqual([])
  expect(table.flatMap(([, groups]) => groups).filter((name) => !every.includes(name))).toEqual([])
})

test('the files of pnpm test run before all files of further groups, which run group by group', () => {
  const further = Object.values(furtherGroups).flat()
  const paths = ['tests/fuzz.test.ts', ...further].map((path) => join(root, path))
  const sorted = new SlowTestsFirst().sort(paths.toReversed().map((path) => ({ path })))
  const groups = sorted.map(({ path }) => furtherGroupOf(path))
  expect(groups.slice(0, alsoInPart.length + 1).every((group) => group === undefined)).toBe(true)
  const changes = groups.filter((group, i) => group !== undefined && group !== groups[i - 1])
  // The files of some groups also belong to pnpm test.
  expect(changes).toEqual(every.filter((name) => furtherGroups[name]?.some((path) => !alsoInPart.includes(path))))
})
