import {
  measureProcess,
  openPorts,
  processingSettings,
  processingVariables,
  publishedVariables,
  webhookVariables,
} from '@gateway/composition'
import { databaseVariables, listen, runProcess, serverVariables, watchCertificates } from '@gateway/server'
import { refusalsElsewhere } from '@gateway/wire'
import { carriersFor } from './configured-carriers.ts'
import { dispatchFor, dispatchVariables } from './dispatch-for.ts'
import { createDispatcherServer } from './health.ts'

await runProcess({
  name: 'dispatcher',
  published: publishedVariables,
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
    const { ports, health: database, certificates, figures, vitals } = await openPorts(context)
    const processing = processingSettings(environment)
    const dispatched = await dispatchFor(context, { ports, configured, health: database, processing })
    const { metrics, health } = dispatched

    measureProcess(context, { ports, health, figures, vitals, metrics })
    const allCertificates = () => [...certificates, ...dispatched.certificates()]
    const watching = watchCertificates({ certificates: allCertificates, log, metrics, now: () => ports.clock.now() })
    onStop('certificates', () => watching.stop())
    const { clock } = ports
    const app = createDispatcherServer({ log, metrics, health, clock })
    const { HOST: host, PORT: port, ADMIN_PORT: adminPort } = environment
    const describeMalformed = refusalsElsewhere(clock)
    const server = await listen({ app, host, port, adminPort, log, clock, describeMalformed, graceSeconds: 3 })
    onStop('server', () => server.close())
  },
})
