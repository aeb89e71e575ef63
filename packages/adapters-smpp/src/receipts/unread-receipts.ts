import {
  unreadKindOf,
  type CarrierHandlers,
  type CarrierId,
  type UnreadKind,
  type UnreadReceipt,
  type UnreadReceiptId,
} from '@gateway/core/dispatch'
import type { InboundMessage } from '@gateway/core/inbox'
import { parseStoredMsisdn, type Msisdn } from '@gateway/core/messages'
import { readInboundMessage } from '../inbound/read-inbound-message.ts'
import { readNumber } from '../numbers.ts'
import { decodePdu, sourceOfDelivery, TLV_TAG, tlvText } from '@gateway/smpp'
import type { Delivered } from '../session/session.ts'
import type { SmppSettings } from '../settings.ts'
import { isBinary } from '../text/decode-text.ts'
import {
  isReceipt,
  readReceipt,
  readReceiptByText,
  readReceiptText,
  textOf,
  userDataOf,
  type CarrierReceipt,
} from './read-receipt.ts'

export type UnreadStore = NonNullable<CarrierHandlers['unreadReceipts']>

/** A receipt has some 300 octets. Of what is longer the beginning is kept, which cannot be read again. */
const octetsMax = 4096
const textMax = 1024
const idMax = 256

/** What is kept of a receipt that cannot be read; `octets`: as it came. */
export function unreadReceipt(pdu: Delivered, octets: Buffer, settings: SmppSettings): Omit<UnreadReceipt, 'carrier'> {
  const text = textOf(pdu, settings)
  const reference = tlvText(pdu.tlvs, TLV_TAG.receipted_message_id)?.trim() ?? readReceiptText(text).id
  return {
    reference: reference === undefined || reference === '' ? undefined : storable(reference.slice(0, idMax)),
    number: parseStoredMsisdn(readNumber(pdu.sourceAddr, pdu.sourceAddrTon, settings)),
    text: storable(text.slice(0, textMax)),
    pdu: octets.subarray(0, octetsMax).toString('hex'),
    isMessage: false,
  }
}

/** What is kept of a message of a person that is no text: its data in hexadecimal, and who sent it. */
export const binaryMessage = (
  pdu: Delivered,
  octets: Buffer,
  settings: SmppSettings,
): Omit<UnreadReceipt, 'carrier'> => ({
  reference: undefined,
  number: parseStoredMsisdn(readNumber(pdu.sourceAddr, pdu.sourceAddrTon, settings)),
  text: userDataOf(pdu)
    .subarray(0, textMax / 2)
    .toString('hex'),
  pdu: octets.subarray(0, octetsMax).toString('hex'),
  isMessage: true,
})

/** What is kept of a PDU that cannot be used: its octets, and the sender where the PDU begins as a delivery. */
export const unusablePdu = (octets: Buffer, settings: SmppSettings): Omit<UnreadReceipt, 'carrier'> => ({
  reference: undefined,
  number: senderOf(octets, settings),
  text: '',
  pdu: octets.subarray(0, octetsMax).toString('hex'),
  isMessage: false,
})

function senderOf(octets: Buffer, settings: SmppSettings): Msisdn | undefined {
  const source = sourceOfDelivery(octets)
  return source && parseStoredMsisdn(readNumber(source.sourceAddr, source.sourceAddrTon, settings))
}

/** A database may have no place for NUL. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd')

const NAMES = {
  receipt: ['receipt', 'receipts'],
  binary: ['binary message', 'binary messages'],
  pdu: ['PDU', 'PDUs'],
} as const satisfies Record<UnreadKind, readonly [string, string]>

/**
 * Describes for the log what was kept, by kind. Says nothing of its content, because a person's text may be anywhere in
 * it (P-15).
 */
export function describeUnread(kept: readonly Pick<UnreadReceipt, 'isMessage' | 'reference' | 'text'>[]): string {
  const counts = new Map<UnreadKind, number>()
  for (const one of kept) counts.set(unreadKindOf(one), (counts.get(unreadKindOf(one)) ?? 0) + 1)
  const parts = [...counts].map(([kind, count]) => `${count} ${NAMES[kind][count === 1 ? 0 : 1]}`)
  return `${parts.join(', ')} that cannot be read ${kept.length === 1 ? 'is' : 'are'} kept`
}

const pageMax = 500

/** Stores what could be read after all; rejects if it could not. */
export interface ReadAgainHandlers {
  /** Resolves to those that found no message. */
  receipts(receipts: readonly CarrierReceipt[]): Promise<readonly CarrierReceipt[]>
  messages(messages: readonly InboundMessage[]): Promise<unknown>
}

interface Reading {
  readonly id: UnreadReceiptId
  readonly receipt?: CarrierReceipt
  readonly message?: InboundMessage
}

/**
 * Reads what is kept once more, since the settings or the program may be others now. What can be read is stored, and
 * only then no longer kept. Resolves to the number of PDUs that could be read.
 */
export async function readAgain(
  store: UnreadStore,
  carrier: CarrierId,
  settings: SmppSettings,
  handlers: ReadAgainHandlers,
): Promise<number> {
  let count = 0
  for (let after: UnreadReceiptId | undefined; ;) {
    const kept = await store.list(after, pageMax)
    const readings = kept.flatMap((one) => readKept(one, carrier, settings) ?? [])
    const receipts = readings.flatMap(({ receipt }) => receipt ?? [])
    const messages = readings.flatMap(({ message }) => message ?? [])
    const strangers = receipts.length > 0 ? await handlers.receipts(receipts) : []
    if (messages.length > 0) await handlers.messages(messages)
    // Nobody else keeps what is a receipt by its text alone.
    const isKept = ({ receipt }: Reading): boolean => receipt?.isByTextAlone === true && strangers.includes(receipt)
    const read = readings.filter((reading) => !isKept(reading))
    if (read.length > 0) await store.drop(read.map(({ id }) => id))
    count += read.length
    after = kept.at(-1)?.id
    if (after === undefined) return count
  }
}

type Kept = Awaited<ReturnType<UnreadStore['list']>>[number]

/** The reference of a message makes two processes that read it at the same time store it once. */
function readKept({ id, pdu: hex, isStale }: Kept, carrier: CarrierId, settings: SmppSettings): Reading | undefined {
  const octets = Buffer.from(hex, 'hex')
  const pdu = decodePdu(octets, 0, octets.length)
  if (pdu.command !== 'deliver_sm' && pdu.command !== 'data_sm') return undefined
  const receipt = isReceipt(pdu) ? readReceipt(pdu, settings) : readReceiptByText(pdu, settings)
  if (receipt !== undefined) return receipt === 'unreadable' || isStale === true ? undefined : { id, receipt }
  if (isBinary(pdu.dataCoding)) return undefined
  const message = readInboundMessage(pdu, carrier, settings, () => undefined)
  return { id, message: { ...message, reference: `unread-${id}` } }
}
