import type { FoundMessage } from '../messages/message-traces.ts'
import type { Msisdn } from '../messages/msisdn.ts'
import type { Ports } from '../ports.ts'
import { daysBefore, instant, type Instant } from '../time/instant.ts'
import { requireKeyInUse, type KeySettings } from '../webhooks/signing-secrets.ts'
import {
  erasureSteps,
  firstErasureStep,
  holdsUp,
  nothingErased,
  type ErasedCounts,
  type Erasure,
  type ErasureId,
  type ErasureStep,
  type HeldContact,
  type HeldInbound,
  type HeldListRow,
  type HeldSuppression,
} from './personal-data.ts'

export interface HeldMessage extends FoundMessage {
  readonly text: string
}

/** All that is stored of the owner of a number but copies: events for webhooks say what messages and replies say. */
export interface NumberData {
  /** The latest due first. */
  readonly messages: readonly HeldMessage[]
  readonly inbound: readonly HeldInbound[]
  readonly contacts: readonly HeldContact[]
  readonly listed: readonly HeldListRow[]
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
      listed: await personalData.listed(number),
      suppressions: await personalData.suppressions(number),
    }
  }

/** What is left as it is, and why: messages, and rows of lists of sends in bulk. */
export interface HeldUp {
  readonly waiting: number
  readonly awaitingReceipt: number
  readonly rowsBeingSent: number
}

export const isHeldUp = ({ waiting, awaitingReceipt, rowsBeingSent }: HeldUp): boolean =>
  waiting + awaitingReceipt + rowsBeingSent > 0

export interface ErasedNumber {
  readonly erasure: ErasureId
  readonly erased: ErasedCounts
  /** What was sent, or began to be sent, to the number while it was erased. */
  readonly left: HeldUp
  /** Opt-outs and blocks, which stay. */
  readonly suppressions: number
}

type HoldingPorts = Pick<Ports, 'messageTraces' | 'personalData' | 'clock'>

type ErasingPorts = HoldingPorts & Pick<Ports, 'secretBox' | 'webhooks' | 'carrierVersions'>

/** What was due that long ago has been decided for longer than a receipt may still come. */
const lookBackDays = 90

/** What keeps a number from being erased now. Lists are looked at first: their rows become messages. */
export const heldUp = async (ports: HoldingPorts, number: Msisdn): Promise<HeldUp> => {
  const now = ports.clock.now()
  const listed = await ports.personalData.listed(number)
  const sum = { waiting: 0, awaitingReceipt: 0, rowsBeingSent: listed.filter(({ isBeingSent }) => isBeingSent).length }
  for await (const page of messagesTo(ports, number, daysBefore(now, lookBackDays))) {
    for (const message of page) {
      const why = holdsUp(message, now)
      if (why === 'waits') sum.waiting += 1
      if (why === 'awaits-receipt') sum.awaitingReceipt += 1
    }
  }
  return sum
}

/**
 * Erases the owner of a number from all that is stored but opt-outs and blocks, and leaves a record of it. Nothing is
 * done while a message to it waits, the receipt of one may still come, or a list with it is being sent (`HeldUp`).
 * Money, states and counts stay. Whoever is interrupted erases again; what was sent meanwhile is left, and told. Throws
 * an `OtherKeyError`, with nothing done, where the record would have another key than what is stored, unless
 * `despiteKey`.
 */
export const eraseNumber =
  (ports: ErasingPorts) =>
  async (
    number: Msisdn,
    by: string,
    { despiteKey = false }: KeySettings = {},
  ): Promise<ErasedNumber | { readonly heldUp: HeldUp }> => {
    const held = await heldUp(ports, number)
    if (isHeldUp(held)) return { heldUp: held }
    if (!despiteKey) await requireKeyInUse(ports)
    const [digest = ''] = ports.secretBox.digestsOf(digested(number))
    const erasure = await ports.personalData.begin({ digest, by })
    let erased = nothingErased
    for (let step: ErasureStep | undefined = firstErasureStep; step !== undefined;) {
      const done: { readonly erased: ErasedCounts; readonly next: ErasureStep | undefined } =
        await ports.personalData.erase(number, step)
      erased = sumOf(erased, done.erased)
      step = done.next
    }
    await ports.personalData.end(erasure, erased)
    const { length } = await ports.personalData.suppressions(number)
    return { erasure, erased, left: await heldUp(ports, number), suppressions: length }
  }

/** The records of erasures, the latest first; of a number those that were made with a key that this process has. */
export const listErasures =
  ({ personalData, secretBox }: Pick<Ports, 'personalData' | 'secretBox'>) =>
  async (number?: Msisdn): Promise<readonly Erasure[]> => {
    const all = await personalData.erasures()
    if (number === undefined) return all
    const digests = secretBox.digestsOf(digested(number))
    return all.filter(({ digest }) => digests.includes(digest))
  }

const digested = (number: Msisdn): string => `erased number ${number}`

const sumOf = (a: ErasedCounts, b: ErasedCounts): ErasedCounts =>
  Object.fromEntries(erasureSteps.map((step) => [step, a[step] + b[step]])) as ErasedCounts
