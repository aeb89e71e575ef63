import { openPorts, processingSettings, processingVariables, webhookVariables } from '@gateway/composition'
import { databaseVariables, listen, runProcess, serverVariables } from '@gateway/server'
import { carriersFor } from './configured-carriers.ts'
import { dispatchFor } from './dispatch-for.ts'
import { createDispatcherServer } from './server.ts'
import { dispatchVariables } from './variables.ts'

await runProcess({
  name: 'dispatcher',
  variables: {
    ...serverVariables(8085),
    ...databaseVariables,
    ...dispatchVariables,
    ...processingVariables,
    ...webhookVariables,
  },
  start: async (context) => {
    const { environment, log, onStop } = context
    const configured = await carriersFor(context, process.env)
    const { ports, health: database } = await openPorts(context)
    const processing = processingSettings(environment)
    const { metrics, health } = await dispatchFor(context, { ports, configured, health: database, processing })

    const app = createDispatcherServer({ log, metrics, health })
    const server = await listen({ app, host: environment.HOST, port: environment.PORT, log, graceSeconds: 3 })
    onStop('server', () => server.close())
  },
})
