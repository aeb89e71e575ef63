import { furtherGroupOf, furtherGroups } from './test-groups.mjs'

/**
 * Durations of the longest test files in seconds, measured while three other files ran on two cores. These files start
 * first, because a long file that starts last would run alone at the end. Only the order of the durations matters.
 */
const seconds = {
  'tests/together/adapters-postgres.test.ts': 264,
  'packages/adapters-postgres/src/contracts.test.ts': 183,
  'tests/together/smpp.test.ts': 145,
  'tests/portal.test.ts': 141,
  'tests/together/outages.test.ts': 90,
  'tests/two-gateways.test.ts': 60,
  'tests/faults.test.ts': 85,
  'tests/together/hostile.test.ts': 77,
  'tests/operations.test.ts': 74,
  'tests/smpp-kills.test.ts': 45,
  'tests/together/webhooks.test.ts': 70,
  'tests/together/operator.test.ts': 67,
  'tests/drill.test.ts': 62,
  'tests/together/starts.test.ts': 60,
  'tests/rolling-restart.test.ts': 60,
  'tests/together/carriers.test.ts': 55,
  'tests/together/interfaces.test.ts': 55,
  'tests/together/portal.test.ts': 54,
  'tests/packages.test.ts': 54,
  'packages/adapters-postgres/src/lost-answers.test.ts': 30,
  'tests/together/accounts.test.ts': 41,
  'packages/smsc-simulator/src/smpp-carrier.test.ts': 39,
  'packages/core/testing/contracts.test.ts': 38,
  'tests/hostile/hostile.test.ts': 36,
  'tests/together/server.test.ts': 35,
  'tests/proxies.test.ts': 32,
  'tests/incidents/incidents.test.ts': 45,
  'packages/embedded-postgres/src/start-embedded-postgres.test.ts': 32,
  'tests/kills-within-window.test.ts': 31,
  'packages/adapters-webhooks/src/webhook-client.test.ts': 20,
  'tests/operator.test.ts': 29,
  'tests/troubled-carriers.test.ts': 29,
  'tests/together/dispatcher.test.ts': 29,
  'tests/together/others.test.ts': 29,
  'apps/xml/src/hostile-requests.test.ts': 25,
  'tests/bulk-send.test.ts': 23,
  'tests/carrier-reload.test.ts': 22,
  'tests/shared-binds.test.ts': 22,
  'tests/http-carriers.test.ts': 20,
  'tests/deployed-conformance.test.ts': 20,
  'packages/embedded-postgres/src/processes.test.ts': 19,
  'tests/carrier-test.test.ts': 19,
  'tests/wrong-clock.test.ts': 19,
  'packages/embedded-postgres/src/as-root.test.ts': 19,
  'apps/rest/src/generated-client.test.ts': 18,
  'packages/adapters-node/src/node-secrets.test.ts': 18,
  'tests/together/pages.test.ts': 17,
  'tests/routes-apart.test.ts': 17,
  'tests/kannel.test.ts': 16,
  'tests/together/core.test.ts': 16,
  'tests/client-programs.test.ts': 16,
  'tests/release.test.ts': 16,
  'tests/fuzz.test.ts': 13,
  'tests/races.test.ts': 13,
  'packages/core/src/dispatch/dispatcher-faults.test.ts': 13,
  'tests/refused-numbers.test.ts': 11,
  'apps/dispatcher/src/fair-shares.test.ts': 11,
  'packages/core/src/dispatch/dispatcher-chance.test.ts': 10,
  'tests/replies.test.ts': 9,
  'tests/conformance.test.ts': 9,
  'tests/conformance-defects.test.ts': 6,
}

/** Test files of packages and apps that `tests/together` leaves out. */
export const alone = Object.keys(seconds).filter((path) => !path.startsWith('tests/'))

const secondsOf = ({ path }) => Object.entries(seconds).find(([name]) => path.endsWith(`/${name}`))?.[1] ?? 0

/** Returns the place of a test file's further group in the order in which they run; -1 for a file of `pnpm test`. */
const rankOf = ({ path }) => Object.keys(furtherGroups).indexOf(furtherGroupOf(path))

/** Sorts test files for jest: those of `pnpm test`, then the further groups, longest first. No test depends on it. */
export default class SlowTestsFirst {
  sort(tests) {
    return [...tests].sort((a, b) => rankOf(a) - rankOf(b) || secondsOf(b) - secondsOf(a) || (a.path < b.path ? -1 : 1))
  }

  allFailedTests(tests) {
    return tests
  }

  cacheResults() {}

  shard(tests) {
    return tests
  }
}
