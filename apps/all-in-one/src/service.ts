import { join } from 'node:path'
import {
  connectingProviders,
  gatewayVariables,
  keepDailyBackups,
  loginsOf,
  openPorts,
  processingSettings,
  processingVariables,
  publishedVariables,
  serveGateway,
  webhookVariables,
} from '@gateway/composition'
import { followCallbackCarriers } from '@gateway/callbacks'
import { createBackOffice, createProcessing } from '@gateway/core'
import type { Messages } from '@gateway/core/messages'
import { carriersFor, dispatchFor, dispatchVariables } from '@gateway/dispatcher'
import {
  databaseVariables,
  flag,
  loadVariables,
  loginVariables,
  oidcVariables,
  runProcess,
  serverVariables,
  writeOut,
  type ConfiguredCertificates,
} from '@gateway/server'
import { serveSmpp, smppServerVariables } from '@gateway/smpp-server'
import { openDemoAccount } from './demo-account.ts'
import { firstScreen, greeting } from './first-screen.ts'
import { createAllInOneServer, describeMalformed } from './server.ts'

/** Accepted messages are dispatched at once instead of after the next poll. */
const waking = (messages: Messages, wake: () => void): Messages => ({
  ...messages,
  accept: async (...order) => {
    const accepted = await messages.accept(...order)
    wake()
    return accepted
  },
})

await runProcess({
  name: 'all-in-one',
  published: publishedVariables,
  // With 50, the value of a process with one interface, dispatching a message costs a fifth more CPU. The value 200 had
  // no measurable cost.
  garbagePercent: 200,
  variables: {
    ...serverVariables(8080),
    ...databaseVariables,
    ...dispatchVariables,
    ...processingVariables,
    ...loadVariables,
    ...loginVariables,
    ...oidcVariables,
    ...gatewayVariables,
    ...webhookVariables,
    ...smppServerVariables,
    DAILY_BACKUP: flag('back up into DATA_DIR/backups once a day', true),
  },
  start: async (context) => {
    const configured = await carriersFor(context, process.env)
    const {
      ports,
      health: database,
      runExclusively,
      backUp,
      certificates,
      figures,
      vitals,
    } = await openPorts(context, loginsOf(context))
    const processing = processingSettings(context.environment)
    const { dispatching, metrics, health, configuration, ...dispatched } = await dispatchFor(context, {
      ports,
      configured,
      health: database,
      processing,
    })
    const carriers = await followCallbackCarriers({ ports, log: context.log })
    context.onStop('carriers of callbacks', () => carriers.stop())
    const store = createProcessing(ports, processing)
    const callbacks = { store, carriers }
    const opened = {
      ports: await connectingProviders(context, {
        ...ports,
        messages: waking(ports.messages, () => dispatching.wake()),
      }),
      health,
      certificates,
      figures,
      vitals,
    }
    let smppCertificates: () => readonly ConfiguredCertificates[] = () => []
    const server = await serveGateway(context, opened, {
      createServer: (gateway, parts) => createAllInOneServer(gateway, { ...parts, callbacks }),
      describeMalformed,
      certificates: () => [...dispatched.certificates(), ...smppCertificates()],
      metrics,
      graceSeconds: 6,
      sendsInBulk: true,
      waitingPartsMax: context.environment.SMPP_PARTS_MAX,
    })
    if (context.environment.SMPP_PORT !== undefined) {
      const { gateway } = server
      const { clock } = ports
      const waiting = () => createBackOffice(ports).queries.smppWaiting()
      const parts = { environment: context.environment, gateway, processing: store, waiting, clock, metrics }
      smppCertificates = (await serveSmpp({ ...parts, log: context.log, onStop: context.onStop })).certificates
    }
    if (context.environment.DAILY_BACKUP) {
      const folder = join(context.environment.DATA_DIR, 'backups')
      keepDailyBackups(context, { folder, backUp, runExclusively, clock: ports.clock })
    }

    // Open the demo account last, because a start that fails must not open an account that is never shown.
    await runExclusively('demo account', async () => {
      const isSimulated = configuration.carriers.every(({ kind }) => kind === 'simulator')
      const backOffice = createBackOffice(ports)
      const isNew = await openDemoAccount(backOffice, ports.secrets, async (demo) => {
        const link = await backOffice.commands.offerSignInLink(demo.id)
        const linkToken = typeof link === 'object' ? link.token : undefined
        return writeOut(firstScreen({ base: server.url, linkToken, isSimulated }, demo))
      })
      if (!isNew) writeOut(greeting(server.url))
    })
  },
})
