import {
  measureProcess,
  openPorts,
  processingSettings,
  processingVariables,
  publishedVariables,
  webhookVariables,
} from '@gateway/composition'
import { createProcessing } from '@gateway/core'
import {
  admissionGate,
  createMetrics,
  createServiceApp,
  databaseVariables,
  listen,
  loadSettings,
  loadVariables,
  measureAdmission,
  runProcess,
  serverVariables,
  trustProxies,
  watchCertificates,
} from '@gateway/server'
import { refusalsElsewhere } from '@gateway/wire'
import { followCallbackCarriers } from './callback-carriers.ts'
import { RefusedCallbacks } from './refused-callbacks.ts'
import { callbacksNotFound, callbacksRouter } from './router.ts'

/** Seconds that a stop waits for callbacks that are being stored. */
const requestsSeconds = 3

await runProcess({
  name: 'callbacks',
  published: publishedVariables,
  variables: {
    ...serverVariables(8086),
    ...databaseVariables,
    ...loadVariables,
    ...processingVariables,
    ...webhookVariables,
  },
  start: async (context) => {
    const { environment, log, onStop } = context
    const { ports, health: database, certificates, figures, vitals } = await openPorts(context)
    const { clock } = ports
    const carriers = await followCallbackCarriers({ ports, log })
    onStop('changes of carriers', () => carriers.stop())
    const { inFlightMax, gate: gateSettings, limits, proxies } = loadSettings(environment)
    const gate = admissionGate(inFlightMax, gateSettings)
    onStop('requests', () => gate.requests.ended(requestsSeconds))

    const metrics = createMetrics()
    const health = {
      ...database,
      checks: { ...database.checks, carriers: () => Promise.resolve(carriers.isUsable()) },
    }
    measureProcess(context, { ports, health, figures, vitals, metrics })
    measureAdmission(metrics, gate)
    const watching = watchCertificates({ certificates: () => certificates, log, metrics, now: () => clock.now() })
    onStop('certificates', () => watching.stop())

    const refused = new RefusedCallbacks()
    const processing = createProcessing(ports, processingSettings(environment))
    const app = createServiceApp({
      ...{ log, metrics, service: 'callbacks' },
      health: { ...health, details: { callbacks: () => ({ refused: refused.list() }) } },
      mounted: ['/', callbacksRouter(processing, { carriers, clock, gate, log, metrics, refused })],
      notFound: callbacksNotFound({ clock, log, metrics }),
      answerError: (_request, response, status) => response.status(status).type('text/plain').send('Error'),
    })
    trustProxies(app, proxies)
    const { HOST: host, PORT: port, ADMIN_PORT: adminPort } = environment
    const describeMalformed = refusalsElsewhere(clock)
    const server = await listen({ app, host, port, adminPort, log, clock, limits, describeMalformed, graceSeconds: 6 })
    onStop('server', () => server.close())
  },
})
