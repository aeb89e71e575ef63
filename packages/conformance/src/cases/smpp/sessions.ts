import { expectEqual } from '../../expectations.ts'
import { COMMAND, cString, firstString, SmppSession, tlv, type SmppAnswer } from '../../smpp-session.ts'
import type { TestedGateway } from '../../tested-gateway.ts'

/** Opens a session that ends with the case. */
export async function openSession(gateway: TestedGateway): Promise<SmppSession> {
  const session = await SmppSession.open(gateway.configured(gateway.configuration.smpp, 'smpp'))
  gateway.afterwards(() => {
    session.close()
    return Promise.resolve()
  })
  return session
}

/** Opens a session and binds it with the credential of the configuration. */
export async function bound(gateway: TestedGateway, command: number = COMMAND.bindTransceiver): Promise<SmppSession> {
  const { systemId, password } = gateway.configured(gateway.configuration.smpp, 'smpp')
  const session = await openSession(gateway)
  expectEqual((await session.bind(command, systemId, password)).status, 0)
  return session
}

/** Fields of submit_sm that a case sets. Others are empty or 0, so that the message is sent at once. */
export interface Submitted {
  readonly source?: string
  readonly ton?: number
  readonly to?: string
  readonly esmClass?: number
  readonly priority?: number
  readonly schedule?: string
  readonly validity?: string
  readonly registered?: number
  readonly replace?: number
  readonly dataCoding?: number
  readonly defaultMessage?: number
  readonly text?: Buffer | string
  readonly tlvs?: readonly Buffer[]
}

const textOf = (text: Buffer | string): Buffer => (Buffer.isBuffer(text) ? text : Buffer.from(text, 'latin1'))

/** Encodes the fields from esm_class to the text, which submit_sm and submit_multi share. */
function messageFields({ esmClass = 0, priority = 0, ...more }: Submitted): Buffer {
  const { registered = 0, replace = 0, dataCoding = 0, defaultMessage = 0, text = 'Conformance', tlvs = [] } = more
  const octets = textOf(text)
  return Buffer.concat([
    ...[Buffer.of(esmClass, 0, priority), cString(more.schedule ?? ''), cString(more.validity ?? '')],
    ...[Buffer.of(registered, replace, dataCoding, defaultMessage, octets.length), octets, ...tlvs],
  ])
}

const address = (ton: number, text: string): Buffer => Buffer.concat([Buffer.of(ton, 1), cString(text)])

/** Sends one submit_sm and returns its answer. */
export const submit = (session: SmppSession, fields: Submitted): Promise<SmppAnswer> => {
  const { source = '', ton = 1, to = '' } = fields
  const addresses = [cString(''), address(0, source), address(ton, to)]
  return session.request(COMMAND.submit, Buffer.concat([...addresses, messageFields(fields)]))
}

/** Sends submit_multi to numbers, or to a distribution list. */
export const submitMulti = (
  session: SmppSession,
  to: readonly string[] | { readonly list: string },
  fields: Submitted,
): Promise<SmppAnswer> => {
  const destinations = Array.isArray(to)
    ? (to as readonly string[]).map((number) => Buffer.concat([Buffer.of(1), address(1, number)]))
    : [Buffer.concat([Buffer.of(2), cString((to as { list: string }).list)])]
  const head = [cString(''), address(0, ''), Buffer.of(destinations.length), ...destinations]
  return session.request(COMMAND.submitMulti, Buffer.concat([...head, messageFields(fields)]))
}

/** Sends data_sm with a text in message_payload. */
export const submitData = (session: SmppSession, to: string, text: string): Promise<SmppAnswer> => {
  const addresses = [cString(''), address(0, ''), address(1, to)]
  return session.request(
    COMMAND.data,
    Buffer.concat([...addresses, Buffer.of(0, 0, 0), payload(Buffer.from(text, 'latin1'))]),
  )
}

export const query = (session: SmppSession, id: string): Promise<SmppAnswer> =>
  session.request(COMMAND.query, Buffer.concat([cString(id), address(0, '')]))

export const cancel = (session: SmppSession, id: string): Promise<SmppAnswer> =>
  session.request(COMMAND.cancel, Buffer.concat([cString(''), cString(id), address(0, ''), address(0, '')]))

/** Schedule so far ahead that no case reaches it: 200 days. */
export const farSchedule = '000620000000000R'

/** Submits a scheduled message, which the case cancels at its end, and returns its id. */
export async function schedule(gateway: TestedGateway, session: SmppSession, fields: Submitted): Promise<string> {
  const answer = await submit(session, { to: gateway.number, schedule: farSchedule, ...fields })
  expectEqual(answer.status, 0)
  const id = firstString(answer.body)
  gateway.leave(gateway.main, [Number(id)])
  return id
}

export const payload = (text: Buffer): Buffer => tlv(0x0424, text)
/** sar_msg_ref_num, sar_total_segments, sar_segment_seqnum. */
export const sar = (reference: number, total: number, number: number): readonly Buffer[] => [
  tlv(0x020c, Buffer.of(reference >> 8, reference & 0xff)),
  tlv(0x020e, Buffer.of(total)),
  tlv(0x020f, Buffer.of(number)),
]
