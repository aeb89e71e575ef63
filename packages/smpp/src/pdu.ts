import { COMMAND_ID, commandStatusName, tlvName, type CommandName } from './constants.ts'

/**
 * Parameters that every PDU has. Field names are those of SMPP 3.4 in camel case; texts are Latin-1 without the NUL.
 */
export interface Head<C extends CommandName> {
  readonly command: C
  /** command_status: 0 in a request; `COMMAND_STATUS` has the names. */
  readonly status: number
  /** sequence_number, 0 to 0xffffffff (the standard allows requests 1 to 0x7fffffff). */
  readonly sequence: number
  readonly tlvs: readonly Tlv[]
}

export interface Bind extends Head<'bind_receiver' | 'bind_transmitter' | 'bind_transceiver'> {
  readonly systemId: string
  readonly password: string
  readonly systemType: string
  readonly interfaceVersion: number
  readonly addrTon: number
  readonly addrNpi: number
  readonly addressRange: string
}

export interface BindResp extends Head<'bind_receiver_resp' | 'bind_transmitter_resp' | 'bind_transceiver_resp'> {
  readonly systemId: string
}

export interface Outbind extends Head<'outbind'> {
  readonly systemId: string
  readonly password: string
}

interface Source {
  readonly sourceAddrTon: number
  readonly sourceAddrNpi: number
  readonly sourceAddr: string
}

interface Destination {
  readonly destAddrTon: number
  readonly destAddrNpi: number
  readonly destinationAddr: string
}

interface MessageFields {
  readonly esmClass: number
  readonly protocolId: number
  readonly priorityFlag: number
  readonly scheduleDeliveryTime: string
  readonly validityPeriod: string
  readonly registeredDelivery: number
  readonly replaceIfPresentFlag: number
  readonly dataCoding: number
  readonly smDefaultMsgId: number
  /** At most 255 octets (the standard says 254). */
  readonly shortMessage: Buffer
}

/** Fields of submit_sm and deliver_sm (SMPP 3.4, 4.4.1 and 4.6.1). */
interface MessagePdu<C extends CommandName> extends Head<C>, Source, Destination, MessageFields {
  readonly serviceType: string
}

export type SubmitSm = MessagePdu<'submit_sm'>
export type DeliverSm = MessagePdu<'deliver_sm'>

/**
 * Response with a message id. The id has any length, because carriers exceed the 64 characters of the standard. It is
 * '' if the response has no body.
 */
interface MessageIdPdu<C extends CommandName> extends Head<C> {
  readonly messageId: string
}

export type SubmitSmResp = MessageIdPdu<'submit_sm_resp'>
export type DeliverSmResp = MessageIdPdu<'deliver_sm_resp'>
export type DataSmResp = MessageIdPdu<'data_sm_resp'>

export interface DataSm extends Head<'data_sm'>, Source, Destination {
  readonly serviceType: string
  readonly esmClass: number
  readonly registeredDelivery: number
  readonly dataCoding: number
}

/** Destination of submit_multi: a number, or the name of a distribution list. */
export type MultiDestination = Destination | { readonly distributionList: string }

export interface SubmitMulti extends Head<'submit_multi'>, Source, MessageFields {
  readonly serviceType: string
  /** Destinations of the message, at most 254. */
  readonly destinations: readonly MultiDestination[]
}

/** Number of a submit_multi that was refused, with the reason. */
export interface UnsuccessSme extends Destination {
  readonly errorStatusCode: number
}

export interface SubmitMultiResp extends Head<'submit_multi_resp'> {
  readonly messageId: string
  readonly unsuccessSmes: readonly UnsuccessSme[]
}

export interface QuerySm extends Head<'query_sm'>, Source {
  readonly messageId: string
}

export interface QuerySmResp extends Head<'query_sm_resp'> {
  readonly messageId: string
  readonly finalDate: string
  readonly messageState: number
  readonly errorCode: number
}

export interface CancelSm extends Head<'cancel_sm'>, Source, Destination {
  readonly serviceType: string
  readonly messageId: string
}

export interface ReplaceSm extends Head<'replace_sm'>, Source {
  readonly messageId: string
  readonly scheduleDeliveryTime: string
  readonly validityPeriod: string
  readonly registeredDelivery: number
  readonly smDefaultMsgId: number
  readonly shortMessage: Buffer
}

export interface AlertNotification extends Head<'alert_notification'>, Source {
  readonly esmeAddrTon: number
  readonly esmeAddrNpi: number
  readonly esmeAddr: string
}

/** PDUs that consist of a header. */
export type EmptyPdu = Head<
  | 'generic_nack'
  | 'unbind'
  | 'unbind_resp'
  | 'enquire_link'
  | 'enquire_link_resp'
  | 'cancel_sm_resp'
  | 'replace_sm_resp'
>

/** PDUs that each message needs. Their codecs are written out; the others are coded by a table of their fields. */
export type HotPdu = SubmitSm | SubmitSmResp | DeliverSm | DeliverSmResp | DataSm | DataSmResp

/** Every PDU of SMPP 3.4. */
export type Pdu =
  | HotPdu
  | Bind
  | BindResp
  | Outbind
  | SubmitMulti
  | SubmitMultiResp
  | QuerySm
  | QuerySmResp
  | CancelSm
  | ReplaceSm
  | AlertNotification
  | EmptyPdu

/**
 * Reason why bytes are not a PDU. After one of the first two, the start of the next PDU is unknown and the session must
 * end.
 */
export type MalformedReason =
  | 'command-length-too-small'
  | 'command-length-too-large'
  | 'body-too-short'
  | 'string-unterminated'
  | 'string-too-long'
  | 'message-too-long'
  | 'tlv-too-long'
  | 'destination-flag'

/** Bytes that are not a PDU. */
export interface MalformedPdu {
  readonly command: 'malformed'
  readonly reason: MalformedReason
  /** The header as received. A header field is 0 if it had not arrived yet when the length turned out to be wrong. */
  readonly commandId: number
  readonly status: number
  readonly sequence: number
  /** The command_status with which to answer, in a response or a generic_nack. */
  readonly answerStatus: number
  /**
   * True if nothing can be read after these bytes. The receiver then answers with generic_nack and closes the
   * connection.
   */
  readonly endsSession: boolean
  /** Received bytes of the PDU, or at most a header if its length is wrong. */
  readonly bytes: Buffer
}

/**
 * A well-framed PDU whose command_id does not exist in SMPP 3.4. The receiver answers it with generic_nack and
 * ESME_RINVCMDID.
 */
export interface UnknownPdu {
  readonly command: 'unknown'
  readonly commandId: number
  readonly status: number
  readonly sequence: number
  readonly body: Buffer
}

export type ReceivedPdu = Pdu | UnknownPdu | MalformedPdu

/** Optional parameter (SMPP 3.4, 3.2.4), whether its tag is known or not. */
export interface Tlv {
  /** 0 to 65535; `TLV_TAG` has the names of the standard. */
  readonly tag: number
  /** At most 65535 octets. In a decoded PDU it is a view of the received bytes. */
  readonly value: Buffer
}

export const noTlvs: readonly Tlv[] = Object.freeze([])

/** Returns the value of the first TLV with this tag. */
export function tlvValue(tlvs: readonly Tlv[], tag: number): Buffer | undefined {
  for (const tlv of tlvs) if (tlv.tag === tag) return tlv.value
  return undefined
}

/**
 * Returns the value of the first TLV with this tag as an integer. Returns undefined if there is no such TLV, or if its
 * value does not have 1, 2 or 4 octets.
 */
export function tlvInteger(tlvs: readonly Tlv[], tag: number): number | undefined {
  const value = tlvValue(tlvs, tag)
  if (value === undefined) return undefined
  const { length } = value
  return length === 1 || length === 2 || length === 4 ? value.readUIntBE(0, length) : undefined
}

/** Returns the first TLV with this tag as Latin-1 text up to its NUL. The NUL may be missing, as carriers omit it. */
export function tlvText(tlvs: readonly Tlv[], tag: number): string | undefined {
  const value = tlvValue(tlvs, tag)
  if (value === undefined) return undefined
  const nul = value.indexOf(0)
  return value.toString('latin1', 0, nul === -1 ? value.length : nul)
}

/** Returns an integer TLV of 1, 2 or 4 octets. Throws a RangeError if the value does not fit. */
export function integerTlv(tag: number, octets: 1 | 2 | 4, integer: number): Tlv {
  const value = Buffer.allocUnsafe(octets)
  value.writeUIntBE(integer, 0, octets)
  return { tag, value }
}

/** Returns a C-octet string TLV: Latin-1 with a NUL at its end. */
export const textTlv = (tag: number, text: string): Tlv => ({ tag, value: Buffer.from(`${text}\0`, 'latin1') })

/**
 * Returns the fields of a PDU for people and programs. Octets are hexadecimal; the status and the tags have the names
 * of the standard. A status of 0 and an empty list of TLVs are omitted, and a password is masked.
 */
export function pduFields(pdu: ReceivedPdu): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(pdu)) {
    const text = shown(name, value)
    if (text !== undefined) fields[name] = text
  }
  if (pdu.command in COMMAND_ID && pdu.status === 0) delete fields['status']
  if ('password' in fields) fields['password'] = '***'
  return fields
}

function shown(name: string, value: unknown): unknown {
  if (Buffer.isBuffer(value)) return value.toString('hex')
  if (name === 'status') return commandStatusName(value as number)
  if (name !== 'tlvs') return value
  const tlvs = value as readonly Tlv[]
  return tlvs.length === 0 ? undefined : tlvs.map(({ tag, value: octets }) => [tlvName(tag), octets.toString('hex')])
}
