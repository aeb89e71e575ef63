import { lastText, octet, text, tlvs, wholeTlvs, type Cursor } from './cursor.ts'
import { FIELD_SIZE } from './field-sizes.ts'
import type { AlertNotification, Bind, BindResp, Outbind } from './pdu.ts'

/** SMPP 3.4, 4.1.1, 4.1.3 and 4.1.5. */
export const bind =
  (command: Bind['command']) =>
  (from: Cursor, status: number, sequence: number): Bind => ({
    command,
    status,
    sequence,
    systemId: text(from, FIELD_SIZE.systemId),
    password: text(from, FIELD_SIZE.password),
    systemType: text(from, FIELD_SIZE.systemType),
    interfaceVersion: octet(from),
    addrTon: octet(from),
    addrNpi: octet(from),
    addressRange: text(from, FIELD_SIZE.addressRange),
    tlvs: tlvs(from),
  })

/** SMPP 3.4, 4.1.2, 4.1.4 and 4.1.6; there may be no body. Its command_status decides: a name of any length and a cut TLV break no bind. */
export const bindResp =
  (command: BindResp['command']) =>
  (from: Cursor, status: number, sequence: number): BindResp => ({
    command,
    status,
    sequence,
    systemId: lastText(from),
    tlvs: wholeTlvs(from),
  })

/** SMPP 3.4, 4.1.7. */
export const outbind = (from: Cursor, status: number, sequence: number): Outbind => ({
  command: 'outbind',
  status,
  sequence,
  systemId: text(from, FIELD_SIZE.systemId),
  password: text(from, FIELD_SIZE.password),
  tlvs: tlvs(from),
})

/** SMPP 3.4, 4.12.1. */
export const alertNotification = (from: Cursor, status: number, sequence: number): AlertNotification => ({
  command: 'alert_notification',
  status,
  sequence,
  sourceAddrTon: octet(from),
  sourceAddrNpi: octet(from),
  sourceAddr: text(from, FIELD_SIZE.longAddress),
  esmeAddrTon: octet(from),
  esmeAddrNpi: octet(from),
  esmeAddr: text(from, FIELD_SIZE.longAddress),
  tlvs: tlvs(from),
})
