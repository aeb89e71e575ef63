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

/** Maximum octets kept of a PDU. A receipt has some 300; a longer PDU is cut off and cannot be read again. */
const octetsMax = 4096
const textMax = 1024
const idMax = 256

/** Returns the record of a receipt that cannot be read. `octets` is the PDU as it arrived. */
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

/** Returns the record of a binary message of a person: its sender and its data in hexadecimal. */
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

/** Returns the record of a PDU that cannot be used: its octets, and its sender if the PDU begins like a delivery. */
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

/** Replaces NUL characters, because PostgreSQL cannot store them. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd')

const NAMES = {
  receipt: ['receipt', 'receipts'],
  binary: ['binary message', 'binary messages'],
  pdu: ['PDU', 'PDUs'],
} as const satisfies Record<UnreadKind, readonly [string, string]>

/**
 * Describes kept PDUs for the log by kind and number. Omits their content, because it may be the text of a person
 * (P-15).
 */
export function describeUnread(items: readonly Pick<UnreadReceipt, 'isMessage' | 'reference' | 'text'>[]): string {
  const counts = new Map<UnreadKind, number>()
  for (const one of items) counts.set(unreadKindOf(one), (counts.get(unreadKindOf(one)) ?? 0) + 1)
  const parts = [...counts].map(([kind, count]) => `${count} ${NAMES[kind][count === 1 ? 0 : 1]}`)
  return `${parts.join(', ')} that cannot be read ${items.length === 1 ? 'is' : 'are'} kept`
}

const pageMax = 500

/** Stores receipts and messages that can be read now. Both methods reject if the store fails. */
export interface ReadAgainHandlers {
  /** Resolves to the receipts without a message. */
  receipts(receipts: readonly CarrierReceipt[]): Promise<readonly CarrierReceipt[]>
  messages(messages: readonly InboundMessage[]): Promise<unknown>
}

interface Reading {
  readonly id: UnreadReceiptId
  readonly receipt?: CarrierReceipt
  readonly message?: InboundMessage
}

/**
 * Reads the kept PDUs again, because the settings or the program may have changed. A PDU that can be read is stored as
 * a receipt or message, and then dropped. Resolves to the number of PDUs that could be read.
 */
export async function readAgain(
  store: UnreadStore,
  carrier: CarrierId,
  settings: SmppSettings,
  handlers: ReadAgainHandlers,
): Promise<number> {
  let count = 0
  for (let after: UnreadReceiptId | undefined; ;) {
    const page = await store.list(after, pageMax)
    const readings = page.flatMap((one) => readKept(one, carrier, settings) ?? [])
    const receipts = readings.flatMap(({ receipt }) => receipt ?? [])
    const messages = readings.flatMap(({ message }) => message ?? [])
    const unmatched = receipts.length > 0 ? await handlers.receipts(receipts) : []
    if (messages.length > 0) await handlers.messages(messages)
    // A receipt by its text alone stays here if it has no message, because the store does not keep it.
    const staysUnread = ({ receipt }: Reading): boolean =>
      receipt?.isByTextAlone === true && unmatched.includes(receipt)
    const read = readings.filter((reading) => !staysUnread(reading))
    if (read.length > 0) await store.drop(read.map(({ id }) => id))
    count += read.length
    after = page.at(-1)?.id
    if (after === undefined) return count
  }
}

type KeptPdu = Awaited<ReturnType<UnreadStore['list']>>[number]

/** Reads one kept PDU. Its message has a reference, so that two processes that read it at once store it once. */
function readKept({ id, pdu: hex, isStale }: KeptPdu, carrier: CarrierId, settings: SmppSettings): Reading | undefined {
  const octets = Buffer.from(hex, 'hex')
  const pdu = decodePdu(octets, 0, octets.length)
  if (pdu.command !== 'deliver_sm' && pdu.command !== 'data_sm') return undefined
  const receipt = isReceipt(pdu) ? readReceipt(pdu, settings) : readReceiptByText(pdu, settings)
  if (receipt !== undefined) return receipt === 'unreadable' || isStale === true ? undefined : { id, receipt }
  if (isBinary(pdu.dataCoding)) return undefined
  const message = readInboundMessage(pdu, carrier, settings, () => undefined)
  return { id, message: { ...message, reference: `unread-${id}` } }
}
