export { COMMAND_ID, type CommandName } from './command-id.ts'
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
export type { PduReader } from './pdu-reader.ts'
export type { PduWriter } from './pdu-writer.ts'
export type { MalformedPdu, MalformedReason, ReceivedPdu, UnknownPdu } from './received-pdu.ts'
export { integerTlv, noTlvs, textTlv, tlvInteger, tlvText, tlvValue, type Tlv } from './tlv.ts'
