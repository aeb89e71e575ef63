/**
 * So many seconds the longest test files took beside two others on two cores: begun last, one of them would run alone
 * at the end. Only their order matters.
 */
const seconds = {
  'packages/adapters-postgres/src/contracts.test.ts': 367,
  'tests/together/adapters-postgres.test.ts': 319,
  'tests/together/carriers.test.ts': 309,
  'tests/together/outages.test.ts': 243,
  'tests/together/hostile.test.ts': 217,
  'tests/operator.test.ts': 195,
  'tests/together/starts.test.ts': 194,
  'tests/conformance.test.ts': 180,
  'tests/together/binds.test.ts': 176,
  'tests/faults.test.ts': 173,
  'tests/hostile/hostile.test.ts': 164,
  'tests/proxies.test.ts': 151,
  'tests/together/accounts.test.ts': 145,
  'tests/faults-over-smpp.test.ts': 134,
  'tests/rolling-restart.test.ts': 132,
  'tests/together/interfaces.test.ts': 132,
  'tests/packages.test.ts': 131,
  'tests/troubled-carriers.test.ts': 128,
  'packages/embedded-postgres/src/start-embedded-postgres.test.ts': 124,
  'packages/adapters-postgres/src/lost-answers.test.ts': 116,
  'tests/replies.test.ts': 112,
  'tests/together/smpp.test.ts': 108,
  'tests/together/webhooks.test.ts': 97,
  'tests/drill.test.ts': 90,
  'packages/embedded-postgres/src/processes.test.ts': 82,
  'tests/portal.test.ts': 75,
  'tests/kills-within-window.test.ts': 67,
  'tests/together/pages.test.ts': 66,
  'tests/together/core.test.ts': 57,
  'packages/embedded-postgres/src/as-root.test.ts': 55,
  'tests/races.test.ts': 52,
  'tests/together/dispatcher.test.ts': 52,
  'tests/wrong-clock.test.ts': 39,
  'tests/together/server.test.ts': 36,
  'packages/core/testing/contracts.test.ts': 33,
  'apps/rest/src/generated-client.test.ts': 33,
  'packages/smsc-simulator/src/smpp-carrier.test.ts': 32,
  'tests/release.test.ts': 31,
  'apps/xml/src/hostile-requests.test.ts': 29,
  'packages/adapters-webhooks/src/webhook-client.test.ts': 28,
  'tests/together/operator.test.ts': 27,
  'tests/together/others.test.ts': 21,
  'packages/core/src/carrier/dispatcher-faults.test.ts': 19,
  'packages/core/src/carrier/dispatcher-chance.test.ts': 19,
  'packages/adapters-node/src/node-secrets.test.ts': 16,
  'tests/fuzz.test.ts': 16,
  'apps/dispatcher/src/fair-shares.test.ts': 10,
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
