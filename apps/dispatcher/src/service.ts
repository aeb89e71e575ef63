import { systemClock } from '@gateway/adapters-node'
import { postgresPorts } from '@gateway/adapters-postgres'
import { openDatabase } from '@gateway/embedded-postgres'
import {
  createMetrics,
  databaseSettings,
  databaseVariables,
  listen,
  runProcess,
  serverVariables,
} from '@gateway/server'
import { carriersFrom } from './carriers.ts'
import { measureDispatching } from './dispatch-metrics.ts'
import { startDispatching } from './dispatch.ts'
import { createDispatcherServer } from './server.ts'
import { dispatcherSettings, dispatchVariables, exchangeSettings } from './variables.ts'

const drainSeconds = 12

await runProcess({
  name: 'dispatcher',
  variables: { ...serverVariables(8085), ...databaseVariables, ...dispatchVariables },
  start: async ({ environment, log, stopping, onStop }) => {
    const { DATABASE_URL, DATA_DIR, CARRIERS, HOST, PORT } = environment
    const carriers = carriersFrom(CARRIERS, { dataDir: DATA_DIR, report: (err) => log.error({ err }, 'carrier') })

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

    const ports = { ...postgres.ports, clock: systemClock() }
    const settings = dispatcherSettings(environment)
    const dispatching = startDispatching({ ports, carriers, log, settings, exchange: exchangeSettings(environment) })
    onStop('dispatching', () => dispatching.stop(drainSeconds))

    const metrics = createMetrics()
    measureDispatching(metrics, dispatching)
    const health = { checks: { database: () => postgres.ping().then(() => true) }, stopping }
    const app = createDispatcherServer({ log, metrics, health })
    const server = await listen({ app, host: HOST, port: PORT, log, graceSeconds: 3 })
    onStop('server', () => server.close())
  },
})
