/** About so many seconds the longest test files take on a quiet machine: begun last, one of them would run alone at the end. */
const seconds = {
  'tests/rolling-restart.test.ts': 137,
  'tests/faults.test.ts': 104,
  'tests/faults-over-smpp.test.ts': 100,
  'tests/hostile/hostile.test.ts': 95,
  'tests/operations.test.ts': 90,
  'tests/packages.test.ts': 72,
  'packages/embedded-postgres/src/start-embedded-postgres.test.ts': 53,
  'packages/embedded-postgres/src/as-root.test.ts': 45,
  'tests/operator.test.ts': 42,
  'packages/adapters-postgres/src/contracts.test.ts': 40,
  'tests/return-once.test.ts': 30,
  'tests/conformance.test.ts': 30,
  'tests/lifecycle.test.ts': 30,
  'packages/embedded-postgres/src/processes.test.ts': 30,
  'apps/dispatcher/src/fair-shares.test.ts': 29,
  'packages/adapters-postgres/src/lost-answers.test.ts': 27,
  'tests/database-gone.test.ts': 24,
}

/** Test files of packages and apps that `tests/together` leaves out. */
export const alone = Object.keys(seconds).filter((path) => !path.startsWith('tests/'))

const secondsOf = ({ path }) => Object.entries(seconds).find(([name]) => path.endsWith(`/${name}`))?.[1] ?? 0

/** The order of the test files, for jest: the longest first. No test depends on it. */
export default class SlowTestsFirst {
  sort(tests) {
    return [...tests].sort((a, b) => secondsOf(b) - secondsOf(a) || (a.path < b.path ? -1 : 1))
  }

  allFailedTests(tests) {
    return tests
  }

  cacheResults() {}

  shard(tests) {
    return tests
  }
}
