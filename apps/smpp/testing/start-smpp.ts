import { createBackOffice, createGateway, createProcessing, type Ports } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import type { DeliveryReceiptCode } from '@gateway/core/dispatch'
import type { SmppCredential, SmppSettings } from '@gateway/core/smpp-customers'
import { anAccount, memoryPorts, scriptedCarrier } from '@gateway/core/testing'
import { createLog, createMetrics } from '@gateway/server'
import { startSmppServer, type SmppServerSettings } from '../src/index.ts'
import { SmppClient, type SmppClientSettings } from './smpp-client.ts'

const silent = createLog({ level: 'silent', name: 'smpp' })

export interface StartedSmpp {
  readonly ports: Ports
  readonly port: number
  /** Opens an account with a credential and a balance in tenths of a credit, 1000 by default. */
  customer(settings?: Partial<SmppSettings>, balance?: number): Promise<Customer>
  connect(settings?: Partial<SmppClientSettings>): Promise<SmppClient>
  /** Connects and binds as a customer. */
  bound(customer: Customer, settings?: Partial<SmppClientSettings>): Promise<SmppClient>
  /** Submits due messages to a carrier that accepts them, with a receipt of this code. */
  carry(code: DeliveryReceiptCode | undefined): Promise<void>
  metrics(): Promise<string>
  stop(): Promise<void>
}

export interface Customer {
  readonly account: Account
  readonly credential: SmppCredential
  readonly password: string
}

/** Starts the server on memory ports and a free port of this machine. */
export async function startSmpp(
  settings: Partial<SmppServerSettings> = {},
  wrap: (gateway: SmppServerSettings['gateway']) => SmppServerSettings['gateway'] = (same) => same,
): Promise<StartedSmpp> {
  const ports = memoryPorts()
  const metrics = createMetrics()
  const gateway = wrap(createGateway(ports))
  const processing = createProcessing(ports)
  const server = await startSmppServer({
    ...{ gateway, processing, clock: ports.clock, log: silent, metrics, host: '127.0.0.1', port: 0 },
    ...settings,
  })
  const port = server.port ?? 0
  const clients: SmppClient[] = []

  async function connect(clientSettings: Partial<SmppClientSettings> = {}): Promise<SmppClient> {
    const client = await SmppClient.connect({ port, ...clientSettings })
    clients.push(client)
    return client
  }

  return {
    ports,
    port,
    connect,
    async customer(credentialSettings, balance = 1000) {
      const account = await anAccount(ports, { credits: balance })
      const added = await createBackOffice(ports).commands.addSmppCredential(account.id, credentialSettings)
      if (typeof added === 'string') throw new Error(added)
      return { account, ...added }
    },
    async bound({ credential, password }, clientSettings) {
      const client = await connect(clientSettings)
      const response = await client.bind(credential.systemId, password)
      if (response.status !== 0) throw new Error(`the bind was refused with ${response.status}`)
      return client
    },
    carry: (code) => carry(ports, code),
    metrics: () => metrics.registry.metrics(),
    async stop() {
      for (const client of clients) client.destroy()
      await server.close()
    },
  }
}

const carrier = scriptedCarrier().id

async function carry({ claimedBatches, deliveryReceipts }: Ports, code: DeliveryReceiptCode | undefined) {
  const dispatcher = await claimedBatches.register(60)
  for (const lane of ['single', 'bulk'] as const) {
    const request = { carrier, lane, messagesMax: 1000, markedMax: 1000, leaseSeconds: 60 }
    const batch = await claimedBatches.claim(dispatcher, request)
    if (typeof batch === 'string') continue
    const recorded = batch.messages.map((message) => ({
      ...{ batch: batch.id, message },
      handover: { outcome: 'accepted', reference: `${message.id}` } as const,
    }))
    await claimedBatches.record(dispatcher, recorded)
    if (code === undefined) continue
    const receipts = batch.messages.map(({ id }) => ({
      ...{ carrier, reference: `${id}`, code, number: undefined, submitted: undefined },
    }))
    await deliveryReceipts.apply(receipts)
  }
}
