import { alone } from './scripts/slow-tests-first.mjs'
import { alsoInPart, furtherGroups, grouped } from './scripts/test-groups.mjs'

/**
 * True if the arguments contain no path. Such a run has all tests except `furtherGroups`. The files of `tests/together`
 * run the short tests.
 */
const isWhole = process.argv.slice(2).every((argument) => argument.startsWith('-'))

/**
 * Names of groups of `furtherGroups`, or `all`. The default is no group in a whole run, and `all` if paths are given.
 */
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

/**
 * Tests run the sources: the export condition resolves every `@gateway/*` import to its `src`, never to an old build.
 */
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
  setupFilesAfterEnv: ['<rootDir>/scripts/within-time.mjs'],
  testSequencer: '<rootDir>/scripts/slow-tests-first.mjs',
  // Twice the number of cores of the reference machine, because tests spend much of their time waiting. With five
  // workers, tests that measure time failed under the load.
  maxWorkers: 4,
  // Only ends a test that hangs, so it is long enough for a machine with other load.
  testTimeout: 180_000,
}
