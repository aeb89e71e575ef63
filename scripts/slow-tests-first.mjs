/** Seconds of the longest test files on a quiet machine: begun last, one of them would run alone at the end. */
const seconds = {
  'tests/faults.test.ts': 158,
  'tests/rolling-restart.test.ts': 150,
  'tests/operations.test.ts': 131,
  'packages/adapters-postgres/src/contracts.test.ts': 116,
  'tests/proxies.test.ts': 70,
  'tests/replies.test.ts': 67,
  'packages/adapters-postgres/src/lost-answers.test.ts': 65,
  'tests/operator.test.ts': 46,
  'tests/lifecycle.test.ts': 37,
}

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
