import type { CommandName } from './command-id.ts'
import type { Tlv } from './tlv.ts'

/** What every PDU has. Field names are those of SMPP 3.4 in camel case; texts are Latin-1 without the NUL. */
interface Head<C extends CommandName> {
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

/** The two have the same fields (SMPP 3.4, 4.4.1 and 4.6.1). */
interface MessagePdu<C extends CommandName> extends Head<C>, Source, Destination, MessageFields {
  readonly serviceType: string
}

export type SubmitSm = MessagePdu<'submit_sm'>
export type DeliverSm = MessagePdu<'deliver_sm'>

/** `messageId` is of any length: carriers exceed the 64 characters of the standard. Without a body it is ''. */
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

/** A number, or the name of a distribution list. */
export type MultiDestination = Destination | { readonly distributionList: string }

export interface SubmitMulti extends Head<'submit_multi'>, Source, MessageFields {
  readonly serviceType: string
  /** At most 254. */
  readonly destinations: readonly MultiDestination[]
}

/** A number of a submit_multi that was refused, and why. */
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

/** Every PDU of SMPP 3.4. */
export type Pdu =
  | SubmitSm
  | SubmitSmResp
  | DeliverSm
  | DeliverSmResp
  | DataSm
  | DataSmResp
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
