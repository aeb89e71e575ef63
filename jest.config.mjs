import { alone } from './scripts/slow-tests-first.mjs'
import { alsoInPart, furtherGroups, grouped } from './scripts/test-groups.mjs'

/** Without a path all tests but the further groups are run: the short ones by the files of `tests/together`. */
const isWhole = process.argv.slice(2).every((argument) => argument.startsWith('-'))

/** Names of groups of `furtherGroups`, or `all`; by default none in a whole run, and all if paths are given. */
process.env.TEST_GROUPS ??= isWhole ? '' : 'all'
const chosen = process.env.TEST_GROUPS.split(',').filter((name) => name !== '')
const unknown = chosen.filter((name) => name !== 'all' && !(name in furtherGroups))
if (unknown.length > 0) throw new Error(`TEST_GROUPS: there is no group ${unknown.join(', ')}`)
const further = Object.values(furtherGroups).flat()
const isLeftOut = (path) =>
  further.includes(path) &&
  !alsoInPart.includes(path) &&
  !chosen.includes('all') &&
  !chosen.some((name) => furtherGroups[name].includes(path))
const pattern = (path) => `/${path.replaceAll('.', '\\.')}$`

const compiler = (how) => ({
  jsc: { ...how, target: 'es2022' },
  module: { type: 'es6' },
  sourceMaps: 'inline',
})

/** Tests run the sources: the export condition leads every `@gateway/*` import to its `src`, never to an old build. */
export default {
  testMatch: isWhole
    ? ['tests/**/*.test.ts', ...alone, ...further].map((path) => `<rootDir>/${path}`)
    : ['<rootDir>/{packages,apps,tests,benchmarks}/**/*.test.ts'],
  testPathIgnorePatterns: [
    ...['/node_modules/', '/dist/', '/dist-testing/'],
    ...(isWhole ? [...grouped, ...further.filter(isLeftOut)].map(pattern) : ['/tests/together/']),
  ],
  modulePathIgnorePatterns: ['<rootDir>/.*/dist/', '<rootDir>/.*/dist-testing/'],
  globalSetup: '<rootDir>/packages/adapters-postgres/testing/start-database.mjs',
  globalTeardown: '<rootDir>/packages/adapters-postgres/testing/stop-database.mjs',
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['@gateway/source', 'node'] },
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: {
    '\\.ts$': ['@swc/jest', compiler({ parser: { syntax: 'typescript' } })],
    '\\.tsx$': [
      '@swc/jest',
      compiler({
        parser: { syntax: 'typescript', tsx: true },
        transform: { react: { runtime: 'automatic', importSource: 'preact' } },
      }),
    ],
  },
  testSequencer: '<rootDir>/scripts/slow-tests-first.mjs',
  // Twice the cores that it is measured on, because tests wait for a good part of their time. With five, tests of time
  // failed because of the load.
  maxWorkers: 4,
  // Long enough for a machine with other load: it only bounds a test that hangs.
  testTimeout: 180_000,
}
