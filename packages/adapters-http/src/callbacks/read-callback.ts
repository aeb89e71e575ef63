import { createHash } from 'node:crypto'
import type { DeliveryReceiptCode, OwnId } from '@gateway/core/dispatch'
import type { InboundMessage, InboundMessagePart } from '@gateway/core/inbox'
import { OUTCOME, parseStoredMsisdn, type CarrierPrice, type Msisdn } from '@gateway/core/messages'
import { instant, type Instant } from '@gateway/core/time'
import type { ProviderAccount } from '../account.ts'
import { ownIdOf } from '../carrier/own-ids.ts'
import { readPrice } from '../answers/read-price.ts'
import { listOf, scalarText, textAt, valueAt } from '../description/json.ts'
import type { CallbackDescription, Conditions, StateWord } from '../description/schema.ts'
import { readNumber } from '../numbers.ts'
import { bodyText, documentOf, type CallbackRequest } from './callback-request.ts'

/** Receipt as a provider reports it. Its message is found by the reference, else by our own id. */
export interface HttpReceipt {
  /** The provider's id of the message, or our own id if the receipt has no other. */
  readonly reference: string
  readonly ownId: OwnId | undefined
  /** True if a long text has a receipt for each of its parts. */
  readonly isOfPart: true | undefined
  readonly code: DeliveryReceiptCode
  readonly number: Msisdn | undefined
  /** The provider's code of an error. */
  readonly error: string | undefined
  readonly price: CarrierPrice | undefined
}

/** Message that a person sent, as a provider reports it. */
export type HttpInboundMessage = Omit<InboundMessage, 'carrier' | 'offer'>

/** Entry of a callback that could not be read (P-21). */
export interface UnreadEntry {
  readonly reference: string | undefined
  readonly number: Msisdn | undefined
  /** The entry as JSON, or the body of a callback that cannot be read at all. */
  readonly text: string
}

export interface ReadCallback {
  readonly receipts: readonly HttpReceipt[]
  readonly messages: readonly HttpInboundMessage[]
  readonly unread: readonly UnreadEntry[]
}

type ReceiptDescription = NonNullable<CallbackDescription['receipt']>
type InboundDescription = NonNullable<CallbackDescription['inbound']>
type ReadEntry =
  { readonly receipt: HttpReceipt } | { readonly message: HttpInboundMessage } | { readonly unread: UnreadEntry }

const codes = {
  delivered: OUTCOME.delivered,
  expired: OUTCOME.expired,
  cancelled: OUTCOME.cancelled,
  undeliverable: OUTCOME.undeliverable,
  rejected: OUTCOME.rejected,
  failed: OUTCOME.failed,
  'under-way': OUTCOME.underWay,
  unknown: OUTCOME.unknown,
} as const satisfies Record<Exclude<StateWord, 'none'>, DeliveryReceiptCode>

/** Maximum number of characters of an id that is read. */
const idCharactersMax = 200

/**
 * Reads the receipts and messages of a verified callback. An entry that is neither, or whose state is not in the
 * description, is returned as unread. Never throws.
 */
export function readCallback(account: ProviderAccount, request: CallbackRequest): ReadCallback {
  const { callbacks } = account.provider.description
  const document = documentOf(request)
  const list = valueAt(document, callbacks?.each ?? '')
  if (callbacks === undefined || typeof list !== 'object' || list === null) {
    return { receipts: [], messages: [], unread: [{ ...noIds, text: bodyText(request) }] }
  }
  const entries: readonly unknown[] = callbacks.each !== undefined && Array.isArray(list) ? list : [list]
  const read = entries.flatMap((entry) => readEntry(entry, callbacks, account) ?? [])
  return {
    receipts: read.flatMap((each) => ('receipt' in each ? [each.receipt] : [])),
    messages: read.flatMap((each) => ('message' in each ? [each.message] : [])),
    unread: read.flatMap((each) => ('unread' in each ? [each.unread] : [])),
  }
}

const noIds = { reference: undefined, number: undefined }

/** Returns undefined if the entry contains nothing to store. */
function readEntry(entry: unknown, callbacks: CallbackDescription, account: ProviderAccount): ReadEntry | undefined {
  const { receipt, inbound, ignored } = callbacks
  if (ignored !== undefined && fulfils(entry, ignored)) return undefined
  const state = receipt && fulfils(entry, receipt.when) ? textAt(entry, receipt.state) : undefined
  if (receipt !== undefined && state !== undefined) return readReceipt(entry, receipt, state, account)
  const message = inbound && fulfils(entry, inbound.when) ? readMessage(entry, inbound, account) : undefined
  if (message !== undefined) return { message }
  return { unread: { ...noIds, text: JSON.stringify(entry) } }
}

function fulfils(entry: unknown, conditions: Conditions = {}): boolean {
  return Object.entries(conditions).every(([pointer, expected]) => {
    const text = scalarText(valueAt(entry, pointer))
    return text !== undefined && listOf(expected).some((each) => String(each) === text)
  })
}

function readReceipt(
  entry: unknown,
  places: ReceiptDescription,
  state: string,
  account: ProviderAccount,
): ReadEntry | undefined {
  const ownIdText = idAt(entry, places.ownId)
  const ownId = ownIdText === undefined ? undefined : ownIdOf(ownIdText)
  const reference = idAt(entry, places.reference) ?? (ownId && ownIdText)
  const number = numberAt(entry, places.number, account)
  const word = Object.hasOwn(places.states, state) ? places.states[state] : undefined
  if (word === 'none') return undefined
  if (word === undefined || reference === undefined) {
    return { unread: { reference, number, text: JSON.stringify(entry) } }
  }
  const error = textAt(entry, places.error)
  const price = readPrice(places.price, entry, account.provider, account.currency)
  const isOptOut = places.optOut?.some((each) => String(each) === error) === true
  const code = isOptOut ? OUTCOME.optedOut : codes[word]
  const stated = { reference, ownId, isOfPart: places.ofPart, code, number, price }
  return { receipt: { ...stated, error: error === '0' ? undefined : error } }
}

function readMessage(
  entry: unknown,
  places: InboundDescription,
  account: ProviderAccount,
): HttpInboundMessage | undefined {
  const from = textAt(entry, places.from)
  const text = listOf(places.text)
    .map((pointer) => scalarText(valueAt(entry, pointer)))
    .find((found) => found !== undefined)
  if (from === undefined || text === undefined) return undefined
  const to = textAt(entry, places.to)
  return {
    from: readNumber(from, account),
    to: to === undefined ? undefined : readNumber(to, account),
    text,
    sent: timeAt(entry, places.sent),
    reference: idAt(entry, places.reference),
    part: places.parts && partAt(entry, places.parts),
  }
}

const idAt = (entry: unknown, pointers: string | readonly string[] | undefined): string | undefined =>
  textAt(entry, pointers)?.slice(0, idCharactersMax)

function numberAt(
  entry: unknown,
  pointers: string | readonly string[] | undefined,
  account: ProviderAccount,
): Msisdn | undefined {
  const text = textAt(entry, pointers)
  return text === undefined ? undefined : parseStoredMsisdn(readNumber(text, account))
}

function timeAt(entry: unknown, pointers: string | readonly string[] | undefined): Instant | undefined {
  const text = textAt(entry, pointers) ?? ''
  const milliseconds = /^\d{9,10}$/.test(text) ? Number(text) * 1000 : Date.parse(text)
  try {
    return instant(milliseconds)
  } catch {
    return undefined
  }
}

function partAt(entry: unknown, places: NonNullable<InboundDescription['parts']>): InboundMessagePart | undefined {
  const [group, number, of] = [places.group, places.number, places.of].map((each) => textAt(entry, each))
  if (group === undefined || number === undefined || of === undefined) return undefined
  if (!/^\d{1,3}$/.test(number) || !/^\d{1,3}$/.test(of)) return undefined
  return { group: groupNumber(group), number: Number(number), of: Number(of) }
}

/**
 * Returns a number that identifies a group of parts: its name if that is a number, otherwise 31 bits of the hash of the
 * name.
 */
const groupNumber = (name: string): number =>
  /^\d{1,9}$/.test(name) ? Number(name) : createHash('sha256').update(name).digest().readUInt32BE() >>> 1
