import { COMMAND_ID, FIELD_SIZE, type CommandName } from './constants.ts'
import { tlvs, type Cursor } from './cursor.ts'
import {
  destinationFields,
  destinationsField,
  lastTextField,
  messageField,
  octetField,
  sourceFields,
  textField,
  unsuccessSmesField,
  type Field,
} from './fields.ts'
import type { EmptyPdu, Head, HotPdu, Pdu } from './pdu.ts'
import type { Sink } from './sink.ts'

type PduOf<C extends CommandName> = Pdu extends infer P
  ? P extends Head<infer D>
    ? C extends D
      ? P
      : never
    : never
  : never

/** Mandatory parameters in the order of the wire, which is the order of the keys. */
type Layout<P> = { readonly [Name in Exclude<keyof P, keyof Head<CommandName>>]: Field<P[Name]> }

const bind = {
  systemId: textField(FIELD_SIZE.systemId),
  password: textField(FIELD_SIZE.password),
  systemType: textField(FIELD_SIZE.systemType),
  interfaceVersion: octetField,
  addrTon: octetField,
  addrNpi: octetField,
  addressRange: textField(FIELD_SIZE.addressRange),
}

const bindResp = { systemId: lastTextField(FIELD_SIZE.systemId) }

const times = {
  scheduleDeliveryTime: textField(FIELD_SIZE.time),
  validityPeriod: textField(FIELD_SIZE.time),
}

const empty = {}

/**
 * Layouts of all PDUs except those that every message needs, whose codecs are written out (SMPP 3.4, 4.1 to 4.12). The
 * compiler checks that each parameter is present and has its type.
 */
const LAYOUT = {
  bind_receiver: bind,
  bind_transmitter: bind,
  bind_transceiver: bind,
  bind_receiver_resp: bindResp,
  bind_transmitter_resp: bindResp,
  bind_transceiver_resp: bindResp,
  outbind: { systemId: bind.systemId, password: bind.password },
  unbind: empty,
  unbind_resp: empty,
  generic_nack: empty,
  submit_multi: {
    serviceType: textField(FIELD_SIZE.serviceType),
    ...sourceFields(FIELD_SIZE.address),
    destinations: destinationsField,
    esmClass: octetField,
    protocolId: octetField,
    priorityFlag: octetField,
    ...times,
    registeredDelivery: octetField,
    replaceIfPresentFlag: octetField,
    dataCoding: octetField,
    smDefaultMsgId: octetField,
    shortMessage: messageField,
  },
  submit_multi_resp: { messageId: textField(), unsuccessSmes: unsuccessSmesField },
  query_sm: { messageId: textField(), ...sourceFields(FIELD_SIZE.address) },
  query_sm_resp: {
    messageId: textField(),
    finalDate: textField(FIELD_SIZE.time),
    messageState: octetField,
    errorCode: octetField,
  },
  cancel_sm: {
    serviceType: textField(FIELD_SIZE.serviceType),
    messageId: textField(),
    ...sourceFields(FIELD_SIZE.address),
    ...destinationFields,
  },
  cancel_sm_resp: empty,
  replace_sm: {
    messageId: textField(),
    ...sourceFields(FIELD_SIZE.address),
    ...times,
    registeredDelivery: octetField,
    smDefaultMsgId: octetField,
    shortMessage: messageField,
  },
  replace_sm_resp: empty,
  enquire_link: empty,
  enquire_link_resp: empty,
  alert_notification: {
    ...sourceFields(FIELD_SIZE.longAddress),
    esmeAddrTon: octetField,
    esmeAddrNpi: octetField,
    esmeAddr: textField(FIELD_SIZE.longAddress),
  },
} satisfies { readonly [C in Exclude<CommandName, HotPdu['command']>]: Layout<PduOf<C>> }

type ColdPdu = Exclude<Pdu, HotPdu>
type NamedFields = readonly (readonly [name: string, field: Field<unknown>])[]

const FIELDS = new Map<string, NamedFields>(
  Object.entries(LAYOUT).map(([command, layout]) => [command, Object.entries<Field<unknown>>(layout)]),
)

const COMMANDS = new Map<number, string>([...FIELDS.keys()].map((name) => [COMMAND_ID[name as CommandName], name]))

/** Returns true for a response. The body of a response may be missing if the request failed. */
const isResponse = (command: string): boolean => command.endsWith('_resp')

/** Decodes a PDU by its layout, or returns undefined if SMPP 3.4 has no PDU with this command_id. */
export function decodeByLayout(commandId: number, from: Cursor, status: number, sequence: number): ColdPdu | undefined {
  const command = COMMANDS.get(commandId)
  if (command === undefined) return undefined
  const isAbsent = isResponse(command) && from.at >= from.end
  const parameters: Record<string, unknown> = {}
  for (const [name, field] of FIELDS.get(command) ?? []) parameters[name] = isAbsent ? field.absent : field.read(from)
  return { ...{ command: command as EmptyPdu['command'], status, sequence }, ...parameters, tlvs: tlvs(from) }
}

/**
 * Encodes the body of a PDU by its layout. Writes no body for a failed response whose parameters are all empty (SMPP
 * 3.4, 4.1.2).
 */
export function encodeByLayout(to: Sink, pdu: ColdPdu): void {
  const fields = FIELDS.get(pdu.command) ?? []
  const valueOf = (name: string): unknown => Reflect.get(pdu, name)
  const saysNothing = (): boolean =>
    pdu.tlvs.length === 0 && fields.every(([name, { absent }]) => isSame(valueOf(name), absent))
  if (isResponse(pdu.command) && pdu.status !== 0 && saysNothing()) return
  for (const [name, field] of fields) field.write(to, valueOf(name))
}

const isSame = (value: unknown, absent: unknown): boolean =>
  value === absent || (Array.isArray(value) && value.length === 0)
