import { strict as assert } from 'node:assert'
import { processingDefaults, type StoredPorts } from '@gateway/core'
import type { Account, AccountId } from '@gateway/core/accounts'
import type { InboundMessage, InboxMessage, InboxPart, Received } from '@gateway/core/inbox'
import type { MessageId, Msisdn, SenderAddress } from '@gateway/core/messages'
import type { OptOut } from '@gateway/core/suppressions'
import { aNumber, anAddress, anOrder } from '../../builders.ts'
import { accepted, collect, dispatchDue, longAgo, testCarrier } from '../shared.ts'

// Helpers of the checks of the inbox.

export const { confirmation } = processingDefaults

/** Returns an inbound message from `aNumber()` to the default address, without id and time, with `fields` replaced. */
export const anInboundMessage = (fields: Partial<InboundMessage> = {}): InboundMessage => ({
  carrier: testCarrier,
  from: aNumber(),
  to: anAddress(),
  text: 'hello',
  sent: undefined,
  reference: undefined,
  offer: undefined,
  part: undefined,
  ...fields,
})

export const receive = (
  { inbox }: Pick<StoredPorts, 'inbox'>,
  ...messages: readonly Partial<InboundMessage>[]
): Promise<readonly Received[]> => inbox.receive(messages.map(anInboundMessage), confirmation)

/** Sends a message that a carrier accepted, or whose outcome is unknown. */
export async function sent(
  ports: StoredPorts,
  account: Pick<Account, 'id'>,
  options: { to?: Msisdn; from?: SenderAddress; outcome?: 'accepted' | 'unknown' | 'refused' } = {},
): Promise<MessageId> {
  const { to = aNumber(), from = anAddress(), outcome = 'accepted' } = options
  const { ids } = await accepted(ports, anOrder(account.id, { to: [to], senders: [from] }))
  await dispatchDue(ports, 'single', ({ id }) =>
    outcome === 'accepted' ? { outcome, reference: `r${id}` } : { outcome },
  )
  return ids[0] ?? assert.fail('nothing was accepted')
}

const all = { offset: 0, limit: 1000 }

export async function inboxOf(
  { inbox }: Pick<StoredPorts, 'inbox'>,
  by: AccountId,
  part: InboxPart = 'all',
): Promise<readonly InboxMessage[]> {
  const { total, items } = await inbox.list(by, part, longAgo, all)
  assert.equal(total, items.length)
  return items
}

export const optOutsOf = async (
  { suppressions }: Pick<StoredPorts, 'suppressions'>,
  by: AccountId,
): Promise<readonly OptOut[]> => (await collect(suppressions.optOuts(by))).flat()

export const textsOf = (messages: readonly InboxMessage[]): readonly string[] => messages.map(({ text }) => text)

/** Returns the texts in the inbox of an account. */
export const texts = async (
  ports: Pick<StoredPorts, 'inbox'>,
  by: AccountId,
  part?: InboxPart,
): Promise<readonly string[]> => textsOf(await inboxOf(ports, by, part))

/** Returns the only message in the inbox of an account. */
export async function onlyOf(ports: Pick<StoredPorts, 'inbox'>, by: AccountId): Promise<InboxMessage> {
  const [only, ...more] = await inboxOf(ports, by)
  assert.ok(only !== undefined && more.length === 0, `one message, not ${only === undefined ? 0 : 1 + more.length}`)
  return only
}
