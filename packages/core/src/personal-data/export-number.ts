import type { FoundMessage } from '../message/found-message.ts'
import type { Msisdn } from '../message/msisdn.ts'
import type { Ports } from '../ports.ts'
import { instant, type Instant } from '../time/instant.ts'
import type { HeldContact, HeldInbound, HeldSuppression } from './personal-data.ts'

export interface HeldMessage extends FoundMessage {
  readonly text: string
}

/** All that is stored of the owner of a number but copies: events for webhooks say what messages and replies say. */
export interface NumberData {
  /** The latest due first. */
  readonly messages: readonly HeldMessage[]
  readonly inbound: readonly HeldInbound[]
  readonly contacts: readonly HeldContact[]
  readonly suppressions: readonly HeldSuppression[]
}

const pageMessages = 1000

/** Messages to a number, in pages, with every one that waits, and those that were due from `since` on. */
export async function* messagesTo(
  { messageTraces }: Pick<Ports, 'messageTraces'>,
  number: Msisdn,
  since: Instant,
): AsyncIterable<readonly FoundMessage[]> {
  let after: FoundMessage | undefined
  for (;;) {
    const found = await messageTraces.find({ number, after }, since, pageMessages)
    if (found.length > 0) yield found
    if (found.length < pageMessages) return
    after = found.at(-1)
  }
}

/** What is stored of the owner of a number, in every account. */
export const exportNumber =
  ({ personalData, messageTraces }: Pick<Ports, 'personalData' | 'messageTraces'>) =>
  async (number: Msisdn): Promise<NumberData> => {
    const messages: HeldMessage[] = []
    for await (const page of messagesTo({ messageTraces }, number, instant(0))) {
      const texts = await personalData.texts(page.map(({ id }) => id))
      messages.push(...page.map((message) => ({ ...message, text: texts.get(message.id) ?? '' })))
    }
    const inbound: HeldInbound[] = []
    for await (const message of personalData.inbound(number)) inbound.push(message)
    return {
      messages,
      inbound,
      contacts: await personalData.contacts(number),
      suppressions: await personalData.suppressions(number),
    }
  }
