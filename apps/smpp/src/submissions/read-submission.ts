import type { CodedText } from '@gateway/core/inbox'
import {
  priorityOf,
  readSender,
  type Priority,
  type SenderAddress,
  type SendOptions,
  type ValidityMinutes,
} from '@gateway/core/messages'
import { receiptBitsMask, type SmppAddress, type SmppCredential, type SmppOptions } from '@gateway/core/smpp-customers'
import type { Instant } from '@gateway/core/time'
import { TLV_TAG, tlvInteger, type DataSm, type MultiDestination, type SubmitMulti, type SubmitSm } from '@gateway/smpp'
import { decodeText, findOutside, type Alphabet, type OutsideAlphabet } from '../text/alphabets.ts'
import { readDataCoding } from '../text/data-coding.ts'
import { readUserData, type PartPlace } from '../text/user-data.ts'
import type { SubmissionRefusal } from './command-status.ts'
import { readTimes } from './read-times.ts'

export type SubmissionPdu = SubmitSm | SubmitMulti | DataSm

type Address = Exclude<MultiDestination, { distributionList: string }>

/** Destination with its number in international digits, or '' for a national number without a country. */
export interface ReadDestination {
  readonly written: Address
  readonly number: string
}

/** Submission as a customer's PDU describes it, before core decides on it. */
export interface ReadSubmission {
  readonly sender: SenderAddress | undefined
  readonly destinations: readonly ReadDestination[]
  readonly scheduled: Instant | undefined
  readonly options: SendOptions & { readonly smpp: SmppOptions }
  /** user_message_reference, if the credential uses it for repetitions. */
  readonly reference: number | undefined
  readonly content: { readonly text: string } | { readonly part: PartPlace; readonly coded: CodedText }
}

/** Refusal of a submission, with the octet for `outside-alphabet`. */
export interface RefusedSubmission {
  readonly refusal: SubmissionRefusal
  readonly outside?: OutsideAlphabet
}

/** Reads a submission of a client at the address `remote`. Ignores optional parameters with unknown tags. */
export function readSubmission(
  pdu: SubmissionPdu,
  credential: SmppCredential,
  remote: string,
  now: Instant,
): ReadSubmission | RefusedSubmission {
  const { esmClass, dataCoding, registeredDelivery, tlvs } = pdu
  if ((esmClass & messageTypeBits) !== 0) return { refusal: 'message-type' }
  const fields = readMessageFields(pdu, now)
  if ('refusal' in fields) return fields
  const destinations = readDestinations(pdu, credential)
  if ('refusal' in destinations) return destinations
  const source = readSource(pdu)
  if (source === 'unusable') return { refusal: 'sender' }
  const coding = readDataCoding(dataCoding, credential)
  if (coding === 'binary') return { refusal: 'binary' }
  if (coding === undefined) return { refusal: 'data-coding' }
  const content = readContent(pdu, coding.alphabet)
  if ('refusal' in content) return content
  if ('part' in content && destinations.length > 1) return { refusal: 'parts-to-several' }
  const { scheduled, validity, priority } = fields
  const receipts = registeredDelivery & receiptBitsMask
  const [first] = destinations
  const smpp = {
    credential: credential.id,
    remote,
    ...(receipts !== 0 && { receipts }),
    ...(source.address !== undefined && { source: source.address }),
    ...(first !== undefined && { destination: { ton: first.written.destAddrTon, npi: first.written.destAddrNpi } }),
  }
  const options = {
    ...(validity !== undefined && { validity }),
    ...(priority !== undefined && { priority }),
    ...(coding.isFlash && { flash: true as const }),
    smpp,
  }
  const reference = credential.isIdempotent ? tlvInteger(tlvs, TLV_TAG.user_message_reference) : undefined
  return { sender: source.sender, destinations, scheduled, options, reference, content }
}

/** Bits of esm_class that describe what a message is. A text of a customer has none of them (SMPP 3.4, 5.2.12). */
const messageTypeBits = 0x3c

/** Fields that data_sm does not have. */
interface MessageFields {
  readonly scheduled?: Instant | undefined
  readonly validity?: ValidityMinutes | undefined
  readonly priority?: Priority | undefined
}

function readMessageFields(pdu: SubmissionPdu, now: Instant): MessageFields | RefusedSubmission {
  if (pdu.command === 'data_sm') return {}
  if (pdu.replaceIfPresentFlag !== 0) return { refusal: 'replace' }
  if (pdu.smDefaultMsgId !== 0) return { refusal: 'default-message' }
  const priority = priorityOf(pdu.priorityFlag)
  if (priority === undefined) return { refusal: 'priority' }
  const times = readTimes(pdu, now)
  return times === 'unusable' ? { refusal: 'time' } : { ...times, priority: priority === 0 ? undefined : priority }
}

function readDestinations(
  pdu: SubmissionPdu,
  credential: SmppCredential,
): readonly ReadDestination[] | RefusedSubmission {
  if (pdu.command !== 'submit_multi') {
    const { destAddrTon, destAddrNpi, destinationAddr } = pdu
    return [readDestination({ destAddrTon, destAddrNpi, destinationAddr }, credential)]
  }
  const addresses = pdu.destinations.flatMap((each) => ('distributionList' in each ? [] : [each]))
  if (addresses.length < pdu.destinations.length) return { refusal: 'distribution-list' }
  return addresses.length === 0
    ? { refusal: 'no-destinations' }
    : addresses.map((address) => readDestination(address, credential))
}

/** Types of number (SMPP 3.4, 5.2.5). */
const TON = { national: 2, alphanumeric: 5 } as const

/** Removes one leading `+`, and completes a national number with the country of the credential (ruling 5.6). */
function readDestination(written: Address, { country }: SmppCredential): ReadDestination {
  const address = written.destinationAddr.trim()
  if (written.destAddrTon !== TON.national) return { written, number: address.replace(/^\+/, '') }
  return { written, number: country === undefined ? '' : country + address.replace(/^0/, '') }
}

type Source = { readonly sender: SenderAddress | undefined; readonly address: SmppAddress | undefined }

function readSource({ sourceAddr, sourceAddrTon, sourceAddrNpi }: SubmissionPdu): Source | 'unusable' {
  const text = sourceAddrTon === TON.alphanumeric ? sourceAddr : sourceAddr.replace(/^\+/, '')
  const sender = readSender(text)
  if (sender === 'unusable') return 'unusable'
  const address = { address: sourceAddr, ton: sourceAddrTon, npi: sourceAddrNpi }
  return { sender, address: sourceAddr === '' ? undefined : address }
}

/** Maximum octets of a part. A longer one cannot come from a client that splits texts. */
const partOctetsMax = 255

function readContent(pdu: SubmissionPdu, alphabet: Alphabet): ReadSubmission['content'] | RefusedSubmission {
  const data = readUserData(pdu)
  if (typeof data === 'string') return { refusal: data }
  const { octets, part } = data
  if (part === undefined) {
    const text = decodeText(octets, alphabet)
    return typeof text === 'string' ? { text } : { refusal: 'outside-alphabet', outside: text }
  }
  if (octets.length > partOctetsMax) return { refusal: 'part-size' }
  const outside = findOutside(octets, alphabet)
  if (outside !== undefined) return { refusal: 'outside-alphabet', outside }
  return { part, coded: codedPart(octets, alphabet) }
}

/** Returns the octets of a part in the form that core joins. */
function codedPart(octets: Buffer, alphabet: Alphabet): CodedText {
  if (alphabet === 'gsm') return { coding: 'gsm-7', octets: octets.toString('hex') }
  if (alphabet === 'ucs2') return { coding: 'ucs-2', octets: octets.toString('hex') }
  // Latin-1 and ASCII are the first characters of Unicode.
  return { coding: 'ucs-2', octets: Buffer.from(octets.toString('latin1'), 'utf16le').swap16().toString('hex') }
}
