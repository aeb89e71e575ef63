import type { SmppReply } from '@gateway/core/smpp-customers'
import type { DeliverSm } from '@gateway/smpp'
import { encodeGsm, encodeUcs2 } from '../text/alphabets.ts'
import type { CustomerAlphabets } from '../text/data-coding.ts'
import { emptyDelivery } from './empty-delivery.ts'

/** Data codings of deliveries: that of the credential's alphabet 0, and UCS-2. */
const dataCodings = { alphabet0: 0, ucs2: 8 } as const

/** Octets of one part, without and with a header of six octets (3GPP TS 23.040, 9.2.3.24.1). */
const SIZES = { septets: { single: 160, several: 153 }, octets: { single: 140, several: 134 } } as const

/**
 * Builds the deliver_sm PDUs of a reply. data_coding 0 has the alphabet that the customer means by it; texts outside
 * that alphabet are sent in UCS-2. A long text is sent in parts with a user data header of 8-bit references, because
 * SMSCs deliver long texts to clients in this form, and because clients below version 3.4 know no message_payload.
 */
export function replyPdus(reply: SmppReply, alphabets: CustomerAlphabets, reference: number): readonly DeliverSm[] {
  const { dataCoding, octets, sizes } = encodeReply(reply.text, alphabets)
  const base = { ...emptyDelivery, ...addressesOf(reply), dataCoding }
  const size = octets.length <= sizes.single ? sizes.single : sizes.several
  const parts = partsOf(octets, size, dataCoding)
  if (parts.length <= 1) return [{ ...base, esmClass: 0, shortMessage: octets }]
  return parts.map((part, at) => ({
    ...base,
    esmClass: headerIndicator,
    shortMessage: Buffer.concat([Buffer.of(5, 0, 3, reference & 0xff, parts.length, at + 1), part]),
  }))
}

const headerIndicator = 0x40

function encodeReply(text: string, { alphabet0 }: CustomerAlphabets) {
  const gsm = alphabet0 === 'gsm' ? encodeGsm(text) : undefined
  if (gsm !== undefined) return { dataCoding: dataCodings.alphabet0, octets: gsm, sizes: SIZES.septets }
  const fits = alphabet0 === 'latin1' ? /^[\t\n\f\r -~\u00a0-\u00ff]*$/ : /^[\t\n\f\r -~]*$/
  if (alphabet0 !== 'gsm' && fits.test(text)) {
    return { dataCoding: dataCodings.alphabet0, octets: Buffer.from(text, 'latin1'), sizes: SIZES.octets }
  }
  return { dataCoding: dataCodings.ucs2, octets: encodeUcs2(text), sizes: SIZES.octets }
}

const escape = 0x1b

/** Splits octets into parts without splitting an escape sequence or a surrogate pair. */
function partsOf(octets: Buffer, size: number, dataCoding: number): readonly Buffer[] {
  const parts: Buffer[] = []
  for (let start = 0; start < octets.length;) {
    let end = Math.min(start + size, octets.length)
    if (end < octets.length) end -= overhang(octets, end, dataCoding)
    parts.push(octets.subarray(start, end))
    start = end
  }
  return parts
}

/** Returns the number of octets by which a cut must move back. */
function overhang(octets: Buffer, cut: number, dataCoding: number): number {
  if (dataCoding !== dataCodings.ucs2) return octets[cut - 1] === escape ? 1 : 0
  const isHighSurrogate = ((octets[cut - 2] ?? 0) & 0xfc) === 0xd8
  return isHighSurrogate ? 2 : 0
}

const addressesOf = ({ from, to = '' }: SmppReply) => ({
  ...{ sourceAddr: from.slice(0, 20), ...typeOf(from) },
  ...{ destinationAddr: to.slice(0, 20), destAddrTon: ton(to), destAddrNpi: npi(to) },
})

const typeOf = (address: string) => ({ sourceAddrTon: ton(address), sourceAddrNpi: npi(address) })

/** Shortest international number. Shorter digits are a short code, whose type is unknown here. */
const internationalDigits = 7
const isNumber = (address: string): boolean => /^[0-9]+$/.test(address)
const ton = (address: string): number => {
  if (!isNumber(address)) return address === '' ? 0 : 5
  return address.length >= internationalDigits ? 1 : 0
}
const npi = (address: string): number => (isNumber(address) ? 1 : 0)
