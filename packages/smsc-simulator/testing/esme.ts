import { once } from 'node:events'
import { connect } from 'node:net'
import { until } from '@gateway/core/testing'
import {
  TLV_TAG,
  noTlvs,
  pduReader,
  pduWriter,
  tlvText,
  type Bind,
  type DeliverSm,
  type MalformedPdu,
  type Pdu,
  type ReceivedPdu,
  type SubmitSm,
  type SubmitSmResp,
} from '@gateway/smpp'

/** SMPP client that acknowledges every deliver_sm unless `deliverStatus` says otherwise. */
export interface Esme {
  readonly received: readonly ReceivedPdu[]
  /** True once the server has closed the connection. */
  readonly isClosed: boolean
  /** command_status with which the client answers each deliver_sm; undefined means that it does not answer. */
  deliverStatus: number | undefined
  send(...pdus: readonly Pdu[]): void
  write(bytes: Buffer): void
  /** Submits to each number in one write. The sequence numbers begin at 100. */
  submit(...numbers: readonly string[]): void
  responses(): readonly SubmitSmResp[]
  delivered(): readonly DeliverSm[]
  malformed(): readonly MalformedPdu[]
  /** Ends the client's side and waits for the server to close. */
  end(): void
  close(): void
}

export const bindPdu = (command: Bind['command'], systemId: string, password: string): Bind => ({
  command,
  ...{ status: 0, sequence: 1, systemId, password, systemType: '', interfaceVersion: 0x34 },
  ...{ addrTon: 0, addrNpi: 0, addressRange: '', tlvs: noTlvs },
})

export const submitSm = (destinationAddr: string, sequence: number, text = 'hello'): SubmitSm => ({
  command: 'submit_sm',
  ...{ status: 0, sequence, serviceType: '', sourceAddrTon: 1, sourceAddrNpi: 1, sourceAddr: '12025550100' },
  ...{ destAddrTon: 1, destAddrNpi: 1, destinationAddr, esmClass: 0, protocolId: 0, priorityFlag: 0 },
  ...{ scheduleDeliveryTime: '', validityPeriod: '', registeredDelivery: 1, replaceIfPresentFlag: 0 },
  ...{ dataCoding: 0, smDefaultMsgId: 0, shortMessage: Buffer.from(text), tlvs: noTlvs },
})

/** Connects without a bind. */
export async function connected(port: number): Promise<Esme> {
  const socket = connect(port, '127.0.0.1')
  const reader = pduReader()
  const writer = pduWriter()
  const received: ReceivedPdu[] = []
  let sequence = 99
  let isClosed = false
  socket.on('error', () => undefined)
  socket.on('close', () => (isClosed = true))
  socket.on('data', (chunk: Buffer) => {
    for (const pdu of reader.read(chunk)) {
      received.push(pdu)
      if (pdu.command !== 'deliver_sm' || esme.deliverStatus === undefined) continue
      const answer = { status: esme.deliverStatus, sequence: pdu.sequence, messageId: '', tlvs: noTlvs }
      esme.send({ command: 'deliver_sm_resp', ...answer })
    }
  })
  const esme: Esme = {
    received,
    get isClosed() {
      return isClosed
    },
    deliverStatus: 0,
    send(...pdus) {
      for (const pdu of pdus) writer.write(pdu)
      socket.write(writer.take())
    },
    write: (bytes) => void socket.write(bytes),
    submit: (...numbers) => esme.send(...numbers.map((number) => submitSm(number, ++sequence))),
    responses: () => received.filter((pdu) => pdu.command === 'submit_sm_resp'),
    delivered: () => received.filter((pdu) => pdu.command === 'deliver_sm'),
    malformed: () => received.filter((pdu) => pdu.command === 'malformed'),
    end: () => void socket.end(),
    close: () => socket.destroy(),
  }
  await once(socket, 'connect')
  return esme
}

/** Connects and binds. Resolves when the bind was answered, with any status. */
export async function bound(
  port: number,
  {
    command = 'bind_transceiver',
    systemId = 'me',
    password = 'secret',
  }: Partial<Pick<Bind, 'command' | 'systemId' | 'password'>> = {},
): Promise<Esme> {
  const esme = await connected(port)
  esme.send(bindPdu(command, systemId, password))
  await until(() => esme.received.length > 0)
  return esme
}

/** Returns the message id in a receipt. */
export const receiptIdOf = ({ tlvs, shortMessage }: DeliverSm): string | undefined =>
  tlvText(tlvs, TLV_TAG.receipted_message_id) ?? /id:(\S+)/.exec(shortMessage.toString())?.[1]

/** Returns the states in the receipts of a number, in order. */
export const statesFor = (esme: Esme, number: string): readonly string[] =>
  esme
    .delivered()
    .filter(({ sourceAddr, esmClass }) => sourceAddr === number && esmClass === 4)
    .map(({ shortMessage }) => /stat:(\w+)/.exec(shortMessage.toString())?.[1] ?? '')
