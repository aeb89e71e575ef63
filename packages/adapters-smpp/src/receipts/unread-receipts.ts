import { unreadRecord, type KeptDelivery } from '@gateway/carrier-kit'
import type { CarrierId } from '@gateway/core/dispatch'
import type { InboundMessage } from '@gateway/core/inbox'
import { parseStoredMsisdn, type Msisdn } from '@gateway/core/messages'
import { decodePdu, sourceOfDelivery, TLV_TAG, tlvText } from '@gateway/smpp'
import { readInboundMessage } from '../inbound/read-inbound-message.ts'
import { readNumber } from '../numbers.ts'
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

type UnreadRecord = ReturnType<typeof unreadRecord>

/** Returns the record of a receipt that cannot be read. `octets` is the PDU as it arrived. */
export function unreadReceipt(pdu: Delivered, octets: Buffer, settings: SmppSettings): UnreadRecord {
  const text = textOf(pdu, settings)
  const reference = tlvText(pdu.tlvs, TLV_TAG.receipted_message_id)?.trim() ?? readReceiptText(text).id
  return unreadRecord({ reference, number: senderOf(pdu, settings), text, octets })
}

/** Returns the record of an inbound binary message: its sender and its data in hexadecimal. */
export const binaryMessage = (pdu: Delivered, octets: Buffer, settings: SmppSettings): UnreadRecord =>
  unreadRecord({ number: senderOf(pdu, settings), text: userDataOf(pdu).toString('hex'), octets, isMessage: true })

/** Returns the record of a PDU that cannot be used: its octets, and its sender if the PDU begins like a delivery. */
export function unusablePdu(octets: Buffer, settings: SmppSettings): UnreadRecord {
  const source = sourceOfDelivery(octets)
  return unreadRecord({ number: source && senderOf(source, settings), octets })
}

const senderOf = (
  { sourceAddr, sourceAddrTon }: Pick<Delivered, 'sourceAddr' | 'sourceAddrTon'>,
  settings: SmppSettings,
): Msisdn | undefined => parseStoredMsisdn(readNumber(sourceAddr, sourceAddrTon, settings))

/** Reads a kept PDU. Returns undefined if it cannot be read, or is a receipt too old to be matched. */
export function readKept(
  { pdu: hex, isStale }: KeptDelivery,
  carrier: CarrierId,
  settings: SmppSettings,
): { readonly receipt: CarrierReceipt } | { readonly message: InboundMessage } | undefined {
  const octets = Buffer.from(hex, 'hex')
  const pdu = decodePdu(octets, 0, octets.length)
  if (pdu.command !== 'deliver_sm' && pdu.command !== 'data_sm') return undefined
  const receipt = isReceipt(pdu) ? readReceipt(pdu, settings) : readReceiptByText(pdu, settings)
  if (receipt !== undefined) return receipt === 'unreadable' || isStale === true ? undefined : { receipt }
  if (isBinary(pdu.dataCoding)) return undefined
  return { message: readInboundMessage(pdu, carrier, settings, () => undefined) }
}
