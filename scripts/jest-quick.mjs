import config from '../jest.config.mjs'
import { alone } from './slow-tests-first.mjs'
import { furtherGroups, groups, quickGroups } from './test-groups.mjs'

const isByGroup = process.env.QUICK === 'all'
const others = { ...config }
delete others.globalSetup
delete others.globalTeardown

/**
 * Jest configuration of the tests that need no database and no other process. Runs all of them by group, or only the
 * files related to changes.
 */
export default {
  ...others,
  rootDir: '..',
  resolver: '<rootDir>/scripts/resolve-sources.cjs',
  testMatch: isByGroup
    ? quickGroups.map((group) => `<rootDir>/tests/together/${group}.test.ts`)
    : quickGroups.flatMap((group) => groups[group]).map((folder) => `<rootDir>/${folder}/**/*.test.ts`),
  testPathIgnorePatterns: [
    ...['/node_modules/', '/dist/', '/dist-testing/'],
    ...[...alone, ...Object.values(furtherGroups).flat()].map((path) => `/${path.replaceAll('.', '\\.')}$`),
  ],
  maxWorkers: '100%',
}
