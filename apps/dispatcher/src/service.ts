import { openPorts } from '@gateway/composition'
import { createMetrics, databaseVariables, listen, runProcess, serverVariables } from '@gateway/server'
import { carriersFrom } from './carriers.ts'
import { measureDispatching } from './dispatch-metrics.ts'
import { startDispatching } from './dispatch.ts'
import { withProgress } from './progress.ts'
import { createDispatcherServer } from './server.ts'
import { dispatcherSettings, dispatchVariables, processingSettings } from './variables.ts'

const drainSeconds = 12

await runProcess({
  name: 'dispatcher',
  variables: { ...serverVariables(8085), ...databaseVariables, ...dispatchVariables },
  start: async (life) => {
    const { environment, log, onStop } = life
    const { DATA_DIR, CARRIERS, HOST, PORT } = environment
    const carriers = carriersFrom(CARRIERS, { dataDir: DATA_DIR, report: (err) => log.error({ err }, 'carrier') })
    const { ports, health } = await openPorts(life)

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
    const app = createDispatcherServer({ log, metrics, health: withProgress(health, dispatching) })
    const server = await listen({ app, host: HOST, port: PORT, log, graceSeconds: 3 })
    onStop('server', () => server.close())
  },
})
