import { nodeSecrets, systemClock } from '@gateway/adapters-node'
import { postgresPorts } from '@gateway/adapters-postgres'
import { createGateway, gatewayDefaults, parseSenderAddress } from '@gateway/core'
import { openDatabase } from '@gateway/embedded-postgres'
import {
  admissionGate,
  createMetrics,
  databaseSettings,
  databaseVariables,
  listen,
  listOf,
  loadVariables,
  measureAdmission,
  runProcess,
  serverVariables,
} from '@gateway/server'
import { createRestServer } from './server.ts'

const SENDERS = listOf({
  what: 'addresses that messages leave from, each of 3 to 15 digits',
  read: parseSenderAddress,
  byDefault: gatewayDefaults.senders,
})

await runProcess({
  name: 'rest',
  variables: { ...serverVariables(8081), ...databaseVariables, ...loadVariables, SENDERS },
  start: async ({ environment, log, stopping, onStop }) => {
    const { DATABASE_URL, DATA_DIR, HOST, PORT, REQUESTS_MAX, SENDERS: senders } = environment
    const database = await openDatabase({ url: DATABASE_URL, dataDir: DATA_DIR, log: (line) => log.info(line) })
    onStop('database', () => database.stop())
    const { connectionString } = database
    const postgres = postgresPorts({ connectionString, log, settings: databaseSettings(environment) })
    onStop('connections', () => postgres.close())
    await postgres.checkServer()
    await postgres.migrate()

    const clock = systemClock()
    const ports = { ...postgres.ports, clock, secrets: nodeSecrets() }
    const gateway = createGateway(ports, { ...gatewayDefaults, senders })
    const metrics = createMetrics()
    const health = { checks: { database: () => postgres.ping().then(() => true) }, stopping }
    const gate = admissionGate(REQUESTS_MAX)
    measureAdmission(metrics, gate)
    const app = createRestServer(gateway, { clock, gate, log, metrics, health })
    const server = await listen({ app, host: HOST, port: PORT, log })
    onStop('server', () => server.close())
  },
})
