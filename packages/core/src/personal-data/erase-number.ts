import type { FoundMessage } from '../messages/message-trace.ts'
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
  type StoredContact,
  type StoredInbound,
  type StoredListRow,
  type StoredSuppression,
} from './personal-data.ts'

export interface MessageWithText extends FoundMessage {
  readonly text: string
}

/**
 * All stored data of the owner of a number. Copies are left out: events for webhooks, which repeat messages and
 * replies.
 */
export interface NumberData {
  /** Messages to the number, latest due first. */
  readonly messages: readonly MessageWithText[]
  readonly inbound: readonly StoredInbound[]
  readonly contacts: readonly StoredContact[]
  readonly listed: readonly StoredListRow[]
  readonly suppressions: readonly StoredSuppression[]
}

const pageMessages = 1000

/** Lists the messages to a number, in pages: all that wait, and those due at or after `since`. */
export async function* messagesTo(
  { sentMessages }: Pick<Ports, 'sentMessages'>,
  number: Msisdn,
  since: Instant,
): AsyncIterable<readonly FoundMessage[]> {
  let after: FoundMessage | undefined
  for (;;) {
    const found = await sentMessages.search({ number, after }, since, pageMessages)
    if (found.length > 0) yield found
    if (found.length < pageMessages) return
    after = found.at(-1)
  }
}

/** Returns the data of all accounts that is stored about the owner of a number. */
export const exportNumber =
  ({ personalData, sentMessages }: Pick<Ports, 'personalData' | 'sentMessages'>) =>
  async (number: Msisdn): Promise<NumberData> => {
    const messages: MessageWithText[] = []
    for await (const page of messagesTo({ sentMessages }, number, instant(0))) {
      const texts = await personalData.texts(page.map(({ id }) => id))
      messages.push(...page.map((message) => ({ ...message, text: texts.get(message.id) ?? '' })))
    }
    const inbound: StoredInbound[] = []
    for await (const message of personalData.inbound(number)) inbound.push(message)
    return {
      messages,
      inbound,
      contacts: await personalData.contacts(number),
      listed: await personalData.listed(number),
      suppressions: await personalData.suppressions(number),
    }
  }

/** Messages and rows of bulk sends that cannot be erased yet, with the reason. */
export interface ErasureObstacles {
  readonly waiting: number
  readonly awaitingReceipt: number
  readonly rowsBeingSent: number
}

export const isObstructed = ({ waiting, awaitingReceipt, rowsBeingSent }: ErasureObstacles): boolean =>
  waiting + awaitingReceipt + rowsBeingSent > 0

export interface ErasedNumber {
  readonly erasure: ErasureId
  readonly erased: ErasedCounts
  /** Messages and rows that were sent to the number while it was being erased, and that are therefore not erased. */
  readonly remaining: ErasureObstacles
  /** Number of opt-outs and blocks, which are not erased. */
  readonly suppressions: number
}

type HoldingPorts = Pick<Ports, 'sentMessages' | 'personalData' | 'clock'>

type ErasingPorts = HoldingPorts & Pick<Ports, 'secretBox' | 'webhooks' | 'carrierVersions'>

/**
 * Number of days before now from which messages with an outcome are searched. No receipt can arrive for older messages.
 */
const lookBackDays = 90

/**
 * Returns what prevents the erasure of a number now. Rows of bulk sends are read before messages, because a row may
 * become a message meanwhile and would otherwise be missed.
 */
export const erasureObstacles = async (ports: HoldingPorts, number: Msisdn): Promise<ErasureObstacles> => {
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
 * Erases the owner of a number from all stored data except opt-outs and blocks, and stores a record of the erasure.
 * Does nothing while a message to the number waits, a receipt may still come, or a list with the number is being sent
 * (`ErasureObstacles`). States, amounts and counts do not change. After an interruption, call it again. Data of
 * messages sent meanwhile is not erased but reported. Throws an `OtherKeyError` without an effect if the record would
 * be made with another key than stored data, unless `despiteKey`.
 */
export const eraseNumber =
  (ports: ErasingPorts) =>
  async (
    number: Msisdn,
    by: string,
    { despiteKey = false }: KeySettings = {},
  ): Promise<ErasedNumber | { readonly obstacles: ErasureObstacles }> => {
    const obstacles = await erasureObstacles(ports, number)
    if (isObstructed(obstacles)) return { obstacles }
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
    return { erasure, erased, remaining: await erasureObstacles(ports, number), suppressions: length }
  }

/**
 * Lists the records of erasures, latest first. If a number is given, lists only its records, as far as this process has
 * the keys with which they were made.
 */
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
