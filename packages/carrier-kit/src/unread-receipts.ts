import {
  unreadKindOf,
  type CarrierHandlers,
  type UnreadKind,
  type UnreadReceipt,
  type UnreadReceiptId,
} from '@gateway/core/dispatch'
import type { InboundMessage } from '@gateway/core/inbox'
import type { Msisdn } from '@gateway/core/messages'

/** Store of one carrier for deliveries that could not be read. */
export type UnreadStore = NonNullable<CarrierHandlers['unreadReceipts']>

/** Delivery of the store, with `isStale` if it is too old to be matched to the right message. */
export type KeptDelivery = Awaited<ReturnType<UnreadStore['list']>>[number]

/** Maximum octets kept of a delivery. A receipt has some 300; a longer delivery is cut off and cannot be read again. */
const octetsMax = 4096
const textMax = 1024
const idMax = 256

/** Delivery that cannot be read, with the parts that could be. */
export interface UnreadDelivery {
  /** The carrier's own id of the message, if one was found. */
  readonly reference?: string | undefined
  readonly number?: Msisdn | undefined
  /** Text of the receipt, or the data of an inbound binary message in hexadecimal. */
  readonly text?: string
  /** The whole delivery as it arrived: a PDU, or the body of a request. */
  readonly octets: Uint8Array
  /** True for an inbound message. */
  readonly isMessage?: boolean
}

/** Returns the record to keep of a delivery. Replaces NUL characters, because PostgreSQL cannot store them. */
export function unreadRecord(delivery: UnreadDelivery): Omit<UnreadReceipt, 'carrier'> {
  const { reference = '', number, text = '', octets, isMessage = false } = delivery
  return {
    reference: reference === '' ? undefined : storable(reference.slice(0, idMax)),
    number,
    text: storable(text.slice(0, textMax)),
    pdu: Buffer.from(octets.buffer, octets.byteOffset, Math.min(octets.length, octetsMax)).toString('hex'),
    isMessage,
  }
}

const storable = (text: string): string => text.replaceAll('\0', '\ufffd')

const NAMES = {
  receipt: ['receipt', 'receipts'],
  binary: ['binary message', 'binary messages'],
  pdu: ['PDU', 'PDUs'],
} as const satisfies Record<UnreadKind, readonly [string, string]>

/**
 * Describes kept deliveries for the log by kind and number. Omits their content, because it may be the text of a person
 * (P-15).
 */
export function describeUnread(items: readonly Pick<UnreadReceipt, 'isMessage' | 'reference' | 'text'>[]): string {
  const counts = new Map<UnreadKind, number>()
  for (const one of items) counts.set(unreadKindOf(one), (counts.get(unreadKindOf(one)) ?? 0) + 1)
  const parts = [...counts].map(([kind, count]) => `${count} ${NAMES[kind][count === 1 ? 0 : 1]}`)
  return `${parts.join(', ')} that cannot be read ${items.length === 1 ? 'is' : 'are'} kept`
}

const pageMax = 500

/** Reads kept deliveries again and stores what could be read. All methods but `read` reject if the store fails. */
export interface ReadAgain<Receipt> {
  /** Returns the receipt or message in a kept delivery, or undefined if it cannot be read yet. */
  read(
    delivery: KeptDelivery,
  ): { readonly receipt: Receipt } | { readonly message: Omit<InboundMessage, 'reference'> } | undefined
  /** Stores receipts; resolves to those without a message. */
  receipts(receipts: readonly Receipt[]): Promise<readonly Receipt[]>
  messages(messages: readonly InboundMessage[]): Promise<unknown>
  /** Returns true if a receipt without a message must stay unread, because the store of receipts did not keep it. */
  staysUnread(receipt: Receipt): boolean
}

interface Reading<Receipt> {
  readonly id: UnreadReceiptId
  readonly receipt?: Receipt
  readonly message?: InboundMessage
}

/**
 * Reads the kept deliveries again, because the settings or the program may have changed. A delivery that can be read is
 * stored as a receipt or message, and then dropped. Resolves to the number of deliveries that could be read.
 */
export async function readAgain<Receipt>(store: UnreadStore, by: ReadAgain<Receipt>): Promise<number> {
  let count = 0
  for (let after: UnreadReceiptId | undefined; ;) {
    const page = await store.list(after, pageMax)
    const readings = page.flatMap((one) => readingOf(one, by) ?? [])
    const receipts = readings.flatMap(({ receipt }) => receipt ?? [])
    const messages = readings.flatMap(({ message }) => message ?? [])
    const unmatched = receipts.length > 0 ? await by.receipts(receipts) : []
    if (messages.length > 0) await by.messages(messages)
    const staysUnread = ({ receipt }: Reading<Receipt>): boolean =>
      receipt !== undefined && unmatched.includes(receipt) && by.staysUnread(receipt)
    const read = readings.filter((reading) => !staysUnread(reading))
    if (read.length > 0) await store.drop(read.map(({ id }) => id))
    count += read.length
    after = page.at(-1)?.id
    if (after === undefined) return count
  }
}

function readingOf<Receipt>(delivery: KeptDelivery, by: ReadAgain<Receipt>): Reading<Receipt> | undefined {
  const read = by.read(delivery)
  if (read === undefined) return undefined
  if ('receipt' in read) return { id: delivery.id, receipt: read.receipt }
  // With this reference, two processes that read the same delivery at once store only one message.
  return { id: delivery.id, message: { ...read.message, reference: `unread-${delivery.id}` } }
}
