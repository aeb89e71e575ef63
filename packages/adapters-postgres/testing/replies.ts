import { processingDefaults, type StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import type { InboundMessage } from '@gateway/core/inbox'
import type { Msisdn } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import { aNumber, anAddress, anOrder } from '@gateway/core/testing'
import { acceptedIds, dispatchAll, testCarrier } from './old-history.ts'

export const { confirmation } = processingDefaults

/** Returns a message from `aNumber()` to the default address, except for the given fields. */
export const aReply = (fields: Partial<InboundMessage> = {}): InboundMessage => ({
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

/**
 * Sends a message to a number through a carrier, so that replies of the number belong to the account. Returns its id.
 */
export async function sentTo(ports: StoredPorts, by: AccountId, number: Msisdn = aNumber()): Promise<number> {
  const [id = NaN] = await acceptedIds(ports, anOrder(by, { to: [number] }))
  await dispatchAll(ports)
  return id
}

export async function inboxTexts({ inbox }: StoredPorts, by: AccountId): Promise<readonly string[]> {
  const { items } = await inbox.list(by, 'all', instant(0), { offset: 0, limit: 100_000 })
  return items.map(({ text }) => text)
}
