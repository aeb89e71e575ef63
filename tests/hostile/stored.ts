import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { postgresPorts } from '@gateway/adapters-postgres'
import { createProcessing } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { credits } from '@gateway/core/credits'
import { parseSenderAddress } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import { aCarrierId } from '@gateway/core/testing'
import { rest, restSend } from '../support/clients.ts'
import type { Deployment } from './deployment.ts'

/** Stored data that the attacking account can request. */
export interface Stored {
  readonly ids: readonly number[]
  readonly webhook: number
}

const filled = new WeakMap<Deployment, Promise<Stored>>()

/**
 * Stores the data at the first call for a deployment: messages, replies of every kind, sub accounts, and a webhook with
 * its attempts.
 */
export function stored(deployment: Deployment, full: boolean): Promise<Stored> {
  const before = filled.get(deployment) ?? fill(deployment, full ? 10 : 1, full ? 1000 : 200)
  filled.set(deployment, before)
  return before
}

const shortCode = '31313'

async function fill(deployment: Deployment, thousands: number, each: number): Promise<Stored> {
  const hostile = deployment.hostile('rest')
  const webhook = await addWebhook(deployment)
  const numbers = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => `2785${String(from + i).padStart(5, '0')}01`)
  const ids: number[] = []
  for (let i = 0; i < thousands; i++)
    for (const id of await restSend(hostile, numbers(i * 1000, 1000))) ids.push(Number(id))

  const { ports, clock, close } = postgresPorts({ connectionString: deployment.database.connectionString })
  try {
    const code = parseSenderAddress(shortCode)
    if (code === undefined) throw new Error(shortCode)
    const hostileId = deployment.hostileId as AccountId
    await ports.senders.assign(code, hostileId)
    const carrier = aCarrierId('network')
    const common = { sent: undefined, offer: undefined, part: undefined }
    const from = (kind: number, texts: string, to?: string) =>
      numbers(kind * each, each).map((number, i) => ({
        ...common,
        from: number,
        to,
        text: `${texts} ${i}`,
        reference: `${kind} ${i}`,
      }))
    const { acceptInboundMessages } = createProcessing({ ...ports, clock })
    for (const messages of [from(0, 'a reply'), from(1, 'a word', shortCode), from(0, 'stop send')])
      for (let at = 0; at < messages.length; at += 100)
        await acceptInboundMessages(carrier, messages.slice(at, at + 100))
    for (let i = 0; i < each / 10; i++) await ports.accounts.open(subAccount(hostileId, i), instant(Date.now()))
  } finally {
    await close()
  }
  await deployment.database.rows(
    `insert into webhook_attempt (list_id, tries, webhook_id, at, milliseconds, status, beginning, verdict)
     select -i, 1, $1, now() - i * interval '1 second', 5, 500, repeat('x', 200), 2 from generate_series(1, $2::int) i`,
    [webhook, Math.max(each, 1000)],
  )
  return { ids, webhook }
}

const subAccount = (parent: AccountId, i: number) => ({
  account: {
    parent,
    login: `sub-of-hostile-${i}`,
    firstName: '',
    surname: '',
    trial: undefined,
    transactional: false,
  },
  password: undefined,
  credits: credits(0),
})

/** Adds a webhook whose receiver is in this process and accepts everything. */
async function addWebhook(deployment: Deployment): Promise<number> {
  const receiver = createServer((request, response) => request.resume().on('end', () => response.end()))
  receiver.unref()
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const { webhook } = await rest<{ webhook: { id: number } }>(deployment.hostile('rest'), '/webhooks', { url })
  return webhook.id
}
