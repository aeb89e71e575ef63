import { nodeSecrets, systemClock } from '@gateway/adapters-node'
import { postgresPorts } from '@gateway/adapters-postgres'
import { createGateway } from '@gateway/core'
import { openDatabase } from '@gateway/embedded-postgres'
import {
  admissionGate,
  createMetrics,
  databaseSettings,
  databaseVariables,
  handOvers,
  healthRoutes,
  listen,
  loadVariables,
  loginSettings,
  loginVariables,
  measureAdmission,
  measureLogins,
  runProcess,
  serverVariables,
  warnOfFailedLogins,
} from '@gateway/server'
import { createXmlServer } from './server.ts'
import { gatewaySettings, gatewayVariables } from './variables.ts'

await runProcess({
  name: 'xml',
  variables: {
    ...serverVariables(8083),
    ...databaseVariables,
    ...loadVariables,
    ...loginVariables,
    ...gatewayVariables,
  },
  start: async ({ environment, log, stopping, onStop }) => {
    const { DATABASE_URL, DATA_DIR, HOST, PORT, REQUESTS_MAX } = environment
    const database = await openDatabase({
      url: DATABASE_URL,
      dataDir: DATA_DIR,
      signal: stopping,
      log: (line) => log.info(line),
    })
    onStop('database', () => database.stop())
    const { connectionString } = database
    const postgres = postgresPorts({ connectionString, log, settings: databaseSettings(environment) })
    onStop('connections', () => postgres.close())
    await postgres.checkServer()
    await postgres.migrate()

    const answers = handOvers({ log })
    onStop('answers', () => answers.settle())
    const clock = systemClock()
    const secrets = nodeSecrets({ ...loginSettings(environment), reportFailures: warnOfFailedLogins(log) })
    const ports = { ...postgres.ports, clock, secrets }
    const gateway = createGateway(ports, gatewaySettings(environment))
    const metrics = createMetrics()
    const health = healthRoutes({ checks: { database: () => postgres.ping().then(() => true) }, stopping })
    const gate = admissionGate(REQUESTS_MAX)
    measureAdmission(metrics, gate)
    measureLogins(metrics, secrets)
    const app = createXmlServer(gateway, {
      clock,
      gate,
      handOvers: answers,
      log,
      metrics,
      beside: [health, metrics.route],
    })
    const server = await listen({ app, host: HOST, port: PORT, log })
    onStop('server', () => server.close())
  },
})
