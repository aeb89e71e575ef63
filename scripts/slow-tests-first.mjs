/**
 * Durations of the longest test files in seconds, measured while two other files ran on two cores. These files start
 * first, because a long file that starts last would run alone at the end. Only the order of the durations matters.
 */
const seconds = {
  'tests/together/adapters-postgres.test.ts': 156,
  'tests/together/webhooks.test.ts': 121,
  'tests/portal.test.ts': 111,
  'tests/together/outages.test.ts': 102,
  'tests/faults.test.ts': 100,
  'tests/together/smpp.test.ts': 96,
  'tests/together/carriers.test.ts': 90,
  'tests/together/accounts.test.ts': 90,
  'packages/adapters-postgres/src/contracts.test.ts': 88,
  'tests/together/hostile.test.ts': 79,
  'tests/together/interfaces.test.ts': 75,
  'tests/packages.test.ts': 79,
  'tests/rolling-restart.test.ts': 52,
  'tests/together/portal.test.ts': 50,
  'tests/conformance.test.ts': 20,
  'tests/conformance-defects.test.ts': 20,
  'tests/deployed-conformance.test.ts': 40,
  'tests/carrier-reload.test.ts': 40,
  'tests/routes-apart.test.ts': 30,
  'tests/carrier-test.test.ts': 25,
  'tests/operations.test.ts': 25,
  'tests/client-programs.test.ts': 25,
  'tests/proxies.test.ts': 46,
  'tests/together/starts.test.ts': 45,
  'packages/smsc-simulator/src/smpp-carrier.test.ts': 41,
  'tests/kills-within-window.test.ts': 39,
  'tests/drill.test.ts': 38,
  'tests/hostile/hostile.test.ts': 36,
  'tests/together/pages.test.ts': 34,
  'packages/core/testing/contracts.test.ts': 33,
  'packages/adapters-postgres/src/lost-answers.test.ts': 32,
  'tests/troubled-carriers.test.ts': 31,
  'tests/together/server.test.ts': 30,
  'tests/together/core.test.ts': 27,
  'tests/together/dispatcher.test.ts': 27,
  'tests/operator.test.ts': 23,
  'packages/adapters-webhooks/src/webhook-client.test.ts': 23,
  'tests/together/operator.test.ts': 22,
  'packages/embedded-postgres/src/as-root.test.ts': 21,
  'packages/embedded-postgres/src/processes.test.ts': 20,
  'packages/core/src/dispatch/dispatcher-faults.test.ts': 20,
  'packages/embedded-postgres/src/start-embedded-postgres.test.ts': 19,
  'packages/core/src/dispatch/dispatcher-chance.test.ts': 16,
  'apps/xml/src/hostile-requests.test.ts': 15,
  'tests/fuzz.test.ts': 12,
  'tests/races.test.ts': 11,
  'tests/wrong-clock.test.ts': 11,
  'apps/rest/src/generated-client.test.ts': 11,
  'packages/adapters-node/src/node-secrets.test.ts': 11,
  'tests/replies.test.ts': 10,
  'tests/release.test.ts': 10,
  'apps/dispatcher/src/fair-shares.test.ts': 6,
  'tests/together/others.test.ts': 5,
}

/** Test files of packages and apps that `tests/together` leaves out. */
export const alone = Object.keys(seconds).filter((path) => !path.startsWith('tests/'))

const secondsOf = ({ path }) => Object.entries(seconds).find(([name]) => path.endsWith(`/${name}`))?.[1] ?? 0

/** Sorts test files for jest, longest first. No test depends on the order. */
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
