import { createGateway, type Ports } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import { confirmationOf, defaultConfirmation } from '@gateway/core/inbox'
import type { MessageId } from '@gateway/core/messages'
import { anAddress } from './builders.ts'
import { scriptedCarrier } from './memory/scripted-carrier.ts'

const carrier = scriptedCarrier().id

/** Sends a message to each number, which a carrier accepts; returns the ids. */
export async function write(ports: Ports, account: Account, ...recipients: string[]): Promise<readonly MessageId[]> {
  const sent = await createGateway(ports).commands.sendMessages(account, [
    { text: 'hello', recipients, scheduled: undefined },
  ])
  if (typeof sent === 'string' || 'overLimitSeconds' in sent) throw new Error('nothing was sent')
  const { claimedBatches } = ports
  const dispatcher = await claimedBatches.register(60)
  for (const lane of ['single', 'bulk'] as const) {
    const claimRequest = { carrier, lane, messagesMax: 10_000, markedMax: 10_000, leaseSeconds: 60 }
    const batch = await claimedBatches.claim(dispatcher, claimRequest)
    if (typeof batch === 'string') continue
    const recorded = batch.messages.map((message) => ({
      batch: batch.id,
      message,
      handover: { outcome: 'accepted', reference: `${message.id}` } as const,
    }))
    await claimedBatches.record(dispatcher, recorded)
  }
  return sent.flat().map((recipient) => {
    if ('refused' in recipient) throw new Error(recipient.refused)
    return recipient.id
  })
}

/** Makes this code the sender of the account's messages and assigns messages to the code to the account. */
export async function assign(ports: Ports, account: Account, code: string): Promise<void> {
  const outcome = await ports.senders.assign(anAddress(code), account.id)
  if (outcome !== 'assigned') throw new Error(outcome)
}

/** Stores an inbound message; without `to`, one whose address the network does not report. */
export async function arrive(ports: Ports, from: string, text: string | readonly string[], to?: string): Promise<void> {
  const messages = [text].flat().map((one) => ({
    carrier,
    from,
    to,
    text: one,
    sent: undefined,
    reference: undefined,
    offer: undefined,
    part: undefined,
  }))
  await ports.inbox.receive(messages, confirmationOf(defaultConfirmation))
}
