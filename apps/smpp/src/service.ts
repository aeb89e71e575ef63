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
  fallbackHandler,
  listen,
  loadSettings,
  loadVariables,
  loginVariables,
  measureLogins,
  requestTarget,
  runProcess,
  serverVariables,
  watchCertificates,
  writeWhole,
} from '@gateway/server'
import { interfaceOf, notFoundElsewhere, refusalsElsewhere } from '@gateway/wire'
import { serveSmpp } from './serve-smpp.ts'
import { smppProcessVariables } from './variables.ts'

const nothingElse = {
  status: 404,
  contentType: 'text/plain; charset=utf-8',
  body: 'There is nothing here but /health/live, /health/ready and /metrics',
}

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
      // A path of an interface is answered 404 in the form of that interface (ruling 3.8).
      notFound: fallbackHandler({ log, metrics, service: 'smpp' }, (response) => {
        const path = requestTarget(response.req)
        writeWhole(response, interfaceOf(path) === undefined ? nothingElse : notFoundElsewhere(path, clock.now()))
      }),
      answerError: (_request, response, status) => response.status(status).type('text/plain').send('Error'),
    })
    const { HOST: host, PORT: port, ADMIN_PORT: adminPort } = environment
    const { limits } = loadSettings(environment)
    const describeMalformed = refusalsElsewhere(clock)
    const server = await listen({ app, host, port, adminPort, log, clock, limits, describeMalformed, graceSeconds: 2 })
    onStop('health', () => server.close())
  },
})
