/**
 * Test files that share one set of loaded modules, because loading core, the adapters and their libraries takes longer
 * than most test files. Each key is the name of the file in `tests/together` that runs the group. A folder means all
 * its test files except those in `alone`.
 */
export const groups = {
  'adapters-postgres': ['packages/adapters-postgres'],
  core: ['packages/core'],
  dispatcher: ['apps/dispatcher', 'apps/all-in-one', 'apps/callbacks', 'benchmarks'],
  interfaces: ['apps/rest', 'apps/asp', 'apps/xml', 'packages/wire'],
  portal: ['apps/portal'],
  operator: ['apps/operator', 'apps/gateway-sms', 'packages/composition', 'packages/conformance'],
  server: ['packages/server', 'packages/carriers', 'packages/embedded-postgres', 'packages/guide'],
  smpp: [
    'packages/smpp',
    'apps/smpp',
    'packages/carrier-kit',
    'packages/adapters-smpp',
    'packages/smsc-simulator',
    'packages/adapters-simulator',
  ],
  others: ['packages/adapters-node', 'packages/adapters-webhooks', 'packages/adapters-http'],
  accounts: ['tests/last-credits.test.ts', 'tests/return-once.test.ts', 'tests/tenant-wall.test.ts'],
  carriers: [
    'tests/carriers-agree.test.ts',
    'tests/retries.test.ts',
    'tests/slow-carrier.test.ts',
    'tests/smpp.test.ts',
    'tests/unknown-outcomes.test.ts',
  ],
  hostile: [
    'tests/hostile/canaries.test.ts',
    'tests/hostile/limits.test.ts',
    'tests/hostile/log-ins.test.ts',
    'tests/hostile/raw-requests.test.ts',
    'tests/hostile/smuggling.test.ts',
  ],
  outages: [
    'tests/clients-gone.test.ts',
    'tests/database-gone.test.ts',
    'tests/kill.test.ts',
    'tests/overload.test.ts',
    'tests/stopping.test.ts',
    'tests/upgrade.test.ts',
  ],
  pages: [
    'tests/architecture-page.test.ts',
    'tests/citations.test.ts',
    'tests/compose.test.ts',
    'tests/incidents/rules.test.ts',
    'tests/embedding.test.ts',
    'tests/kubernetes.test.ts',
    'tests/operations-page.test.ts',
    'tests/pages.test.ts',
    'tests/planted-bugs.test.ts',
    'tests/touched-groups.test.ts',
  ],
  starts: [
    'tests/five-processes.test.ts',
    'tests/lifecycle.test.ts',
    'tests/one-command.test.ts',
    'tests/one-version.test.ts',
  ],
  webhooks: ['tests/webhook-isolation.test.ts', 'tests/webhook-page.test.ts', 'tests/webhooks.test.ts'],
}

/**
 * Test files that `pnpm test` leaves out, by the name of their group: `pnpm test:all` runs all of them, `.ci/run` the
 * groups that a change touches (`touched-groups.mjs`). No promise of docs/reliability.md is proved by them alone.
 *
 * A run with further groups runs them last, in this order, which is that of how likely a change elsewhere breaks them.
 * On a slow machine `.ci/run` leaves out the last ones (`within-time.mjs`).
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const furtherGroups = {
  /** Several carriers: routes, changes while they run, shared binds, `gateway carrier test`, carriers over HTTP. */
  carriers: [
    'tests/two-gateways.test.ts',
    'tests/http-carriers.test.ts',
    'tests/carrier-reload.test.ts',
    'tests/carrier-test.test.ts',
    'tests/refused-numbers.test.ts',
    'tests/routes-apart.test.ts',
    'tests/shared-binds.test.ts',
    'tests/troubled-carriers.test.ts',
  ],
  /**
   * Every case of the contract over HTTP on deployed processes, tests in which all interfaces work together, and kills
   * of the SMPP server.
   */
  deployed: ['tests/operations.test.ts', 'tests/smpp-kills.test.ts', 'tests/deployed-conformance.test.ts'],
  /** The loss of a database server under load. */
  drill: ['tests/drill.test.ts'],
  /** Incidents on a running gateway, watched by Prometheus and Alertmanager. `pnpm test` plays two of them. */
  incidents: ['tests/incidents/incidents.test.ts'],
  /**
   * Every journey through the portal and every page in a browser. Without this group, only a third of the journeys run.
   */
  browsers: ['tests/portal.test.ts', 'tests/connect-provider.test.ts'],
  /** nginx and HAProxy with the tested configurations, and restarts behind them. */
  proxies: ['tests/rolling-restart.test.ts', 'tests/proxies.test.ts'],
  /** The command line as a process beside a running server. */
  operator: ['tests/operator.test.ts'],
  /** The packages in their published form, installed outside the checkout. */
  newcomers: ['tests/packages.test.ts', 'tests/release.test.ts'],
  /** Starts, stops and upgrades of the embedded PostgreSQL. */
  embedded: [
    'packages/embedded-postgres/src/start-embedded-postgres.test.ts',
    'packages/embedded-postgres/src/as-root.test.ts',
    'packages/embedded-postgres/src/processes.test.ts',
  ],
  /** Programs in eight languages, and clients that are generated from the OpenAPI document. */
  clients: ['tests/client-programs.test.ts', 'tests/send-from.test.ts', 'apps/rest/src/generated-client.test.ts'],
  /** SMSCs and SMPP clients of other projects. */
  smscs: [
    'tests/kannel.test.ts',
    'tests/smpp-customers.test.ts',
    'tests/smpp-personalities.test.ts',
    'packages/smsc-simulator/src/net-smpp.test.ts',
    'packages/smsc-simulator/src/npm-smpp.test.ts',
  ],
}

/** Test files of a further group of which `pnpm test` runs a part. These files read `TEST_GROUPS`. */
export const alsoInPart = ['tests/portal.test.ts', 'tests/incidents/incidents.test.ts']

/** Groups that need no database and no other process. */
export const quickGroups = ['core', 'interfaces', 'portal']

/** Test files in `tests` that belong to a group. */
export const grouped = Object.values(groups)
  .flat()
  .filter((path) => path.startsWith('tests/'))

/** Returns the name of the further group of a test file, or undefined if `pnpm test` runs the file or a part of it. */
export function furtherGroupOf(path) {
  if (alsoInPart.some((one) => path.endsWith(`/${one}`))) return undefined
  return Object.keys(furtherGroups).find((name) => furtherGroups[name].some((one) => path.endsWith(`/${one}`)))
}
