import type { CarrierHandlers, UnreadReceipt, UnreadReceiptId } from '@gateway/core/dispatch'
import { parseStoredMsisdn } from '@gateway/core/messages'
import { readNumber } from '../numbers.ts'
import { decodePdu, TLV_TAG, tlvText } from '../pdu/index.ts'
import type { Delivered } from '../session/session.ts'
import type { SmppSettings } from '../settings.ts'
import {
  headOf,
  isReceipt,
  readReceipt,
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

/** A database may have no place for NUL. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd')

/** For operators: its id if it has one, and its text up to that of the message. */
export function describeUnread({ reference, text, isMessage }: Omit<UnreadReceipt, 'carrier' | 'pdu'>): string {
  if (isMessage) return `a binary message, ${text.slice(0, 200)}`
  const id = reference === undefined ? 'no id' : `the id ${JSON.stringify(reference)}`
  return `a receipt with ${id} and the text ${JSON.stringify(headOf(text).slice(0, 200))}`
}

const pageMax = 500

/**
 * Reads what is kept once more, since the settings or the program may be others now. What can be read is taken, and
 * only then not kept any more. Resolves to how many could be read.
 */
export async function readAgain(
  store: UnreadStore,
  settings: SmppSettings,
  take: (receipts: readonly CarrierReceipt[]) => Promise<unknown>,
): Promise<number> {
  let count = 0
  for (let after: UnreadReceiptId | undefined; ;) {
    const kept = await store.list(after, pageMax)
    const read = kept.flatMap(({ id, pdu }) => {
      const receipt = receiptIn(Buffer.from(pdu, 'hex'), settings)
      return receipt === undefined ? [] : [{ id, receipt }]
    })
    if (read.length > 0) {
      await take(read.map(({ receipt }) => receipt))
      await store.drop(read.map(({ id }) => id))
    }
    count += read.length
    after = kept.at(-1)?.id
    if (after === undefined) return count
  }
}

function receiptIn(octets: Buffer, settings: SmppSettings): CarrierReceipt | undefined {
  const pdu = decodePdu(octets, 0, octets.length)
  if ((pdu.command !== 'deliver_sm' && pdu.command !== 'data_sm') || !isReceipt(pdu)) return undefined
  const receipt = readReceipt(pdu, settings)
  return receipt === 'unreadable' ? undefined : receipt
}
