export { COMMAND_ID, type CommandName } from './constants.ts'
export { COMMAND_STATUS, commandStatusName, type CommandStatusName } from './constants.ts'
export { decodePdu, sourceOfDelivery } from './decode-pdu.ts'
export { MESSAGE_STATE, type MessageStateName } from './constants.ts'
export type {
  AlertNotification,
  Bind,
  BindResp,
  CancelSm,
  DataSm,
  DataSmResp,
  DeliverSm,
  DeliverSmResp,
  EmptyPdu,
  MultiDestination,
  Outbind,
  Pdu,
  QuerySm,
  QuerySmResp,
  ReplaceSm,
  SubmitMulti,
  SubmitMultiResp,
  SubmitSm,
  SubmitSmResp,
  UnsuccessSme,
} from './pdu.ts'
export { pduFields } from './pdu.ts'
export { pduReader, type PduReader } from './pdu-reader.ts'
export { encodePdu, pduWriter, type PduWriter } from './pdu-writer.ts'
export type { MalformedPdu, MalformedReason, ReceivedPdu, UnknownPdu } from './pdu.ts'
export { integerTlv, noTlvs, textTlv, tlvInteger, tlvText, tlvValue, type Tlv } from './pdu.ts'
export { TLV_TAG, tlvName, type TlvName } from './constants.ts'
