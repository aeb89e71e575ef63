import { nodeSecrets, systemClock } from '@gateway/adapters-node'
import { postgresPorts } from '@gateway/adapters-postgres'
import { gatewaySettings, gatewayVariables } from '@gateway/asp'
import { createBackOffice, createGateway, type Messages } from '@gateway/core'
import {
  carriersFrom,
  dispatcherSettings,
  dispatchVariables,
  exchangeSettings,
  makesProgress,
  measureDispatching,
  startDispatching,
} from '@gateway/dispatcher'
import { openDatabase } from '@gateway/embedded-postgres'
import {
  admissionGate,
  createMetrics,
  databaseSettings,
  databaseVariables,
  handOvers,
  listen,
  loadVariables,
  loginSettings,
  loginVariables,
  measureAdmission,
  measureLogins,
  runProcess,
  serverVariables,
  warnOfFailedLogins,
  writeOut,
} from '@gateway/server'
import { greeting, welcome } from './curl-lines.ts'
import { openDemoAccount, type DemoAccount } from './demo-account.ts'
import { createAllInOneServer } from './server.ts'

const drainSeconds = 12

/** What is accepted is on its way at once instead of after the next poll. */
const waking = (messages: Messages, wake: () => void): Messages => ({
  ...messages,
  accept: async (order) => {
    const accepted = await messages.accept(order)
    wake()
    return accepted
  },
})

await runProcess({
  name: 'all-in-one',
  variables: {
    ...serverVariables(8080),
    ...databaseVariables,
    ...dispatchVariables,
    ...loadVariables,
    ...loginVariables,
    ...gatewayVariables,
  },
  start: async ({ environment, log, stopping, onStop }) => {
    const { DATABASE_URL, DATA_DIR, CARRIERS, HOST, PORT, REQUESTS_MAX } = environment
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

    const clock = systemClock()
    const secrets = nodeSecrets({ ...loginSettings(environment), reportFailures: warnOfFailedLogins(log) })
    const ports = { ...postgres.ports, clock, secrets }
    const settings = dispatcherSettings(environment)
    const dispatching = startDispatching({ ports, carriers, log, settings, exchange: exchangeSettings(environment) })
    onStop('dispatching', () => dispatching.stop(drainSeconds))

    const answers = handOvers({ log })
    onStop('answers', () => answers.settle())
    const metrics = createMetrics()
    measureDispatching(metrics, dispatching)
    const messages = waking(ports.messages, () => dispatching.wake())
    const gateway = createGateway({ ...ports, messages }, gatewaySettings(environment))
    const checks = {
      database: () => postgres.ping().then(() => true),
      progress: () => Promise.resolve(makesProgress(dispatching)),
    }
    const health = { checks, stopping }
    const gate = admissionGate(REQUESTS_MAX)
    measureAdmission(metrics, gate)
    measureLogins(metrics, secrets)
    const app = createAllInOneServer(gateway, { clock, gate, handOvers: answers, log, metrics, health })
    const server = await listen({ app, host: HOST, port: PORT, log, graceSeconds: 6 })
    onStop('server', () => server.close())

    // Only now: a start that fails must not have opened what it does not show.
    await postgres.alone('demo account', async () => {
      const show = (demo: DemoAccount) => writeOut(welcome(server.url, demo))
      const shown = await openDemoAccount(createBackOffice(ports), ports.secrets, show)
      if (!shown) writeOut(greeting(server.url))
    })
  },
})
