import {
  gatewaySettings,
  gatewayVariables,
  loginsOf,
  measureProcess,
  openPorts,
  processingSettings,
  processingVariables,
  publishedVariables,
  watchAccounts,
  webhookVariables,
} from '@gateway/composition'
import { createBackOffice, createGateway, createProcessing } from '@gateway/core'
import {
  createMetrics,
  createServiceApp,
  databaseVariables,
  listen,
  loadSettings,
  loadVariables,
  loginVariables,
  measureLogins,
  runProcess,
  serverVariables,
  watchCertificates,
} from '@gateway/server'
import { serveSmpp } from './serve-smpp.ts'
import { smppProcessVariables } from './variables.ts'

await runProcess({
  name: 'smpp',
  garbagePercent: 200,
  published: publishedVariables,
  variables: {
    ...serverVariables(8087),
    ...databaseVariables,
    ...loadVariables,
    ...loginVariables,
    ...gatewayVariables,
    ...processingVariables,
    ...webhookVariables,
    ...smppProcessVariables,
  },
  start: async (context) => {
    const { environment, log, onStop } = context
    const { ports, health, certificates, figures, vitals } = await openPorts(context, loginsOf(context))
    const { clock } = ports
    const metrics = createMetrics()
    measureProcess(context, { ports, health, figures, vitals, metrics })
    measureLogins(metrics, ports.secrets)
    const watched = watchAccounts({ accountRates: ports.accountRates, metrics })
    onStop('busy accounts', () => watched.stop())

    const { SMPP_PARTS_MAX: waitingPartsMax } = environment
    const settings = { ...gatewaySettings(environment), activity: watched.activity, waitingPartsMax }
    const gateway = createGateway(ports, settings)
    const processing = createProcessing(ports, processingSettings(environment))
    const waiting = () => createBackOffice(ports).queries.smppWaiting()
    const smpp = await serveSmpp({ environment, gateway, processing, waiting, clock, log, metrics, onStop })
    const allCertificates = () => [...certificates, ...smpp.certificates()]
    const watching = watchCertificates({ certificates: allCertificates, log, metrics, now: () => clock.now() })
    onStop('certificates', () => watching.stop())

    const app = createServiceApp({
      ...{ log, metrics, service: 'smpp', health },
      notFound: (_request, response) => void response.status(404).type('text/plain').send('Health and metrics only.'),
      answerError: (_request, response, status) => response.status(status).type('text/plain').send('Error'),
    })
    const { HOST: host, PORT: port, ADMIN_PORT: adminPort } = environment
    const { limits } = loadSettings(environment)
    const server = await listen({ app, host, port, adminPort, log, clock, limits, graceSeconds: 2 })
    onStop('health', () => server.close())
  },
})
