import { gatewayVariables, loginsOf, openPorts, serveGateway } from '@gateway/composition'
import { createBackOffice, type Messages } from '@gateway/core'
import {
  carriersFrom,
  dispatcherSettings,
  dispatchVariables,
  processingSettings,
  measureDispatching,
  startDispatching,
  withProgress,
} from '@gateway/dispatcher'
import {
  createMetrics,
  databaseVariables,
  loadVariables,
  loginVariables,
  runProcess,
  serverVariables,
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
  start: async (context) => {
    const { environment, log, onStop } = context
    const { DATA_DIR, CARRIERS } = environment
    const carriers = carriersFrom(CARRIERS, { dataDir: DATA_DIR, report: (err) => log.error({ err }, 'carrier') })
    const { ports, health, runExclusively } = await openPorts(context, loginsOf(context))

    const settings = dispatcherSettings(environment)
    const dispatching = startDispatching({
      ports,
      carriers,
      log,
      settings,
      processing: processingSettings(environment),
    })
    onStop('dispatching', () => dispatching.stop(drainSeconds))

    const metrics = createMetrics()
    measureDispatching(metrics, dispatching)
    const messages = waking(ports.messages, () => dispatching.wake())
    const opened = { ports: { ...ports, messages }, health: withProgress(health, dispatching) }
    const server = await serveGateway(context, opened, { createServer: createAllInOneServer, metrics, graceSeconds: 6 })

    // Only now: a start that fails must not have opened what it does not show.
    await runExclusively('demo account', async () => {
      const show = (demo: DemoAccount) => writeOut(welcome(server.url, demo))
      const shown = await openDemoAccount(createBackOffice(ports), ports.secrets, show)
      if (!shown) writeOut(greeting(server.url))
    })
  },
})
