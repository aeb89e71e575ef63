/**
 * So many seconds the longest test files took beside three others on two cores, and those of `tests/together` at a load
 * average of 12 before their longest were left out: begun last, one of them would run alone at the end. Only their
 * order matters.
 */
const seconds = {
  'packages/adapters-postgres/src/lost-answers.test.ts': 257,
  'tests/rolling-restart.test.ts': 220,
  'tests/together/others.test.ts': 209,
  'tests/hostile/hostile.test.ts': 200,
  'tests/together/core.test.ts': 185,
  'tests/together/adapters-postgres.test.ts': 150,
  'tests/together/outages.test.ts': 150,
  'tests/together/hostile.test.ts': 141,
  'packages/adapters-postgres/src/contracts.test.ts': 137,
  'tests/together/carriers.test.ts': 135,
  'tests/faults-over-smpp.test.ts': 132,
  'tests/together/binds.test.ts': 132,
  'tests/together/accounts.test.ts': 119,
  'tests/together/smpp.test.ts': 108,
  'tests/together/pages.test.ts': 108,
  'tests/faults.test.ts': 107,
  'tests/together/starts.test.ts': 99,
  'tests/operator.test.ts': 94,
  'tests/packages.test.ts': 92,
  'tests/together/webhooks.test.ts': 80,
  'tests/proxies.test.ts': 79,
  'tests/conformance.test.ts': 71,
  'tests/replies.test.ts': 61,
  'tests/together/interfaces.test.ts': 60,
  'tests/races.test.ts': 54,
  'tests/together/dispatcher.test.ts': 50,
  'packages/adapters-node/src/node-secrets.test.ts': 46,
  'packages/core/src/carrier/dispatcher-faults.test.ts': 35,
  'packages/core/testing/contracts.test.ts': 32,
  'tests/together/operator.test.ts': 30,
  'apps/rest/src/generated-client.test.ts': 30,
  'apps/dispatcher/src/fair-shares.test.ts': 29,
  'packages/core/src/carrier/dispatcher-chance.test.ts': 29,
  'packages/adapters-webhooks/src/webhook-client.test.ts': 28,
  'packages/smsc-simulator/src/smpp-carrier.test.ts': 28,
  'tests/together/server.test.ts': 27,
  'tests/fuzz.test.ts': 26,
  'packages/embedded-postgres/src/as-root.test.ts': 25,
  'apps/xml/src/hostile-requests.test.ts': 23,
  'packages/embedded-postgres/src/processes.test.ts': 22,
  'packages/embedded-postgres/src/start-embedded-postgres.test.ts': 22,
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
