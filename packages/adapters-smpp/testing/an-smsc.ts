import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type {
  Carrier,
  CarrierHandlers,
  DeliveryReceipt,
  StoredUnreadReceipt,
  Submission,
  SubmissionAnswer,
  UnreadReceipt,
  UnreadReceiptId,
} from '@gateway/core/dispatch'
import type { InboundMessage } from '@gateway/core/inbox'
import { bodyOf, type Body } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import { aMessageId, aBody, anAddress, aNumber, until } from '@gateway/core/testing'
import {
  COMMAND_STATUS,
  encodePdu,
  noTlvs,
  pduReader,
  type DeliverSm,
  type Pdu,
  type ReceivedPdu,
  type SubmitSm,
} from '@gateway/smpp'
import { smppDefaults, type SmppSettings } from '../src/settings.ts'
import { smppCarrier, type SmppCarrier } from '../src/smpp-carrier.ts'

export const never = new Promise<never>(() => undefined)

type Reply = Pdu | 'silence' | 'close'

export interface Connection {
  readonly socket: Socket
  readonly send: (pdu: Pdu) => void
}

/** Starts a small SMSC. It behaves like any SMSC unless the test decides otherwise. */
export async function anSmsc(
  answer: (pdu: SubmitSm, connection: Connection, nth: number) => Reply | undefined = () => undefined,
) {
  const connections = new Set<Connection>()
  const received: ReceivedPdu[] = []
  const submits: SubmitSm[] = []
  const chunks: number[] = []
  let sequence = 1
  let ids = 0
  let onPdu: (pdu: ReceivedPdu, connection: Connection) => boolean = () => false
  const respond = (pdu: ReceivedPdu, rest: Partial<Pdu> = {}): Pdu =>
    ({ command: `${pdu.command}_resp`, status: 0, sequence: pdu.sequence, tlvs: noTlvs, ...rest }) as Pdu
  const server: Server = createServer((socket) => {
    const connection = { socket, send: (pdu: Pdu) => void socket.write(encodePdu(pdu)) }
    connections.add(connection)
    const reader = pduReader()
    socket.on('error', () => undefined)
    socket.on('close', () => connections.delete(connection))
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk.length)
      for (const pdu of reader.read(chunk)) {
        received.push(pdu)
        if (onPdu(pdu, connection)) continue
        if (pdu.command === 'submit_sm') {
          submits.push(pdu)
          const reply = answer(pdu, connection, submits.length)
          if (reply === 'close') socket.destroy()
          else if (reply !== 'silence') connection.send(reply ?? respond(pdu, { messageId: `id-${++ids}` }))
        } else if (pdu.command.startsWith('bind')) connection.send(respond(pdu, { systemId: 'smsc' }))
        else if (pdu.command === 'enquire_link' || pdu.command === 'unbind') connection.send(respond(pdu))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    connections,
    received,
    submits,
    chunks,
    respond,
    on: (handler: typeof onPdu) => void (onPdu = handler),
    /** Sends a deliver_sm and resolves to the status of its response. */
    deliver: async (pdu: Partial<DeliverSm>): Promise<number> => {
      const number = sequence++
      const [connection] = connections
      connection?.send({ ...aDelivery, ...pdu, sequence: number })
      const isAnswer = (one: ReceivedPdu) => one.command === 'deliver_sm_resp' && one.sequence === number
      await until(() => received.some(isAnswer))
      const found = received.find(isAnswer)
      return found === undefined ? -1 : found.status
    },
    /** Sends the octets of a PDU with a tail behind them, and resolves to the first PDU that answers it. */
    sendOctets: async (octets: Buffer, tail = ''): Promise<ReceivedPdu> => {
      const bytes = Buffer.concat([octets, Buffer.from(tail, 'hex')])
      const number = sequence++
      bytes.writeUInt32BE(bytes.length, 0)
      bytes.writeUInt32BE(number, 12)
      const before = received.length
      for (const { socket } of [...connections].slice(0, 1)) socket.write(bytes)
      const answer = () => received.slice(before).find((one) => one.sequence === number)
      await until(() => answer() !== undefined)
      return answer() as ReceivedPdu
    },
    stop: () => {
      for (const { socket } of connections) socket.destroy()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

export const aDelivery: DeliverSm = {
  ...{ command: 'deliver_sm', status: 0, sequence: 1, tlvs: noTlvs, serviceType: '' },
  ...{ sourceAddrTon: 1, sourceAddrNpi: 1, sourceAddr: '27825550101', destAddrTon: 1, destAddrNpi: 1 },
  ...{ destinationAddr: '12025550100', esmClass: 0, protocolId: 0, priorityFlag: 0, scheduleDeliveryTime: '' },
  ...{ validityPeriod: '', registeredDelivery: 0, replaceIfPresentFlag: 0, dataCoding: 0, smDefaultMsgId: 0 },
  shortMessage: Buffer.alloc(0),
}

export const aNack = ({ sequence }: ReceivedPdu): Pdu => ({
  ...{ command: 'generic_nack', status: COMMAND_STATUS.ESME_RINVCMDID, sequence, tlvs: noTlvs },
})

export type Smsc = Awaited<ReturnType<typeof anSmsc>>
export const smscs: Smsc[] = []
export const carriers: Carrier[] = []

/** Closes all carriers and SMSCs that a test has started. */
export async function endAll(): Promise<void> {
  await Promise.all(carriers.splice(0).map((carrier) => carrier.close(Promise.resolve())))
  await Promise.all(smscs.splice(0).map((smsc) => smsc.stop()))
}

export interface Started {
  readonly smsc: Smsc
  readonly carrier: SmppCarrier
  readonly answers: SubmissionAnswer[]
  readonly receipts: DeliveryReceipt[]
  readonly inbound: InboundMessage[]
  readonly problems: unknown[]
  readonly recovered: string[]
  readonly submit: (...bodies: readonly Body[]) => void
  readonly submitOne: (more: Partial<Submission>) => Promise<readonly SubmissionAnswer[]>
}

export async function start(
  settings: Partial<SmppSettings> = {},
  answer?: Parameters<typeof anSmsc>[0],
  store: (receipts: readonly DeliveryReceipt[]) => Promise<readonly DeliveryReceipt[]> = () => Promise.resolve([]),
  more: Partial<CarrierHandlers> = {},
): Promise<Started> {
  const smsc = await anSmsc(answer)
  smscs.push(smsc)
  const problems: unknown[] = []
  const recovered: string[] = []
  const carrier = smppCarrier(
    'test',
    {
      ...smppDefaults,
      host: '127.0.0.1',
      port: smsc.port,
      systemId: 'us',
      password: 'secret',
      reconnectSeconds: 0.02,
      // The circuit breaker has tests of its own: here no number of failures opens it.
      failuresPercent: 101,
      ...settings,
    },
    { report: (problem) => problems.push(problem), works: (text) => recovered.push(text) },
  )
  carriers.push(carrier)
  const answers: SubmissionAnswer[] = []
  const receipts: DeliveryReceipt[] = []
  const inbound: InboundMessage[] = []
  carrier.listen({
    receipts: async (some) => {
      const unknown = await store(some)
      receipts.push(...some.filter((one) => !unknown.includes(one)))
      return unknown
    },
    inboundMessages: (some) => Promise.resolve(void inbound.push(...some)),
    ...more,
  })
  let id = 0
  const submit = (...bodies: readonly Body[]): void =>
    carrier.submit(
      bodies.map((body): Submission => ({ id: aMessageId(++id), from: anAddress(), to: aNumber('27825550101'), body })),
      (some) => void answers.push(...some),
    )
  const submitOne = (more: Partial<Submission>): Promise<readonly SubmissionAnswer[]> =>
    new Promise((resolve) =>
      carrier.submit(
        [{ id: aMessageId(++id), from: anAddress(), to: aNumber('27825550101'), body: aBody(), ...more }],
        resolve,
      ),
    )
  return { smsc, carrier, answers, receipts, inbound, problems, recovered, submit, submitOne }
}

/** Creates a store of PDUs that could not be read. */
export function aStore() {
  const store = {
    isAway: false,
    receipts: [] as readonly StoredUnreadReceipt[],
    keep(receipts: readonly UnreadReceipt[]): Promise<void> {
      if (store.isAway) return Promise.reject(new Error('away'))
      const additions = receipts.map((one, at) => ({ ...one, id: (store.receipts.length + at + 1) as UnreadReceiptId }))
      store.receipts = [...store.receipts, ...additions.map((one) => ({ ...one, at: instant(0) }))]
      return Promise.resolve()
    },
    list: (after = 0 as UnreadReceiptId, countMax: number) =>
      Promise.resolve(store.receipts.filter(({ id }) => id > after).slice(0, countMax)),
    drop(ids: readonly UnreadReceiptId[]): Promise<void> {
      store.receipts = store.receipts.filter(({ id }) => !ids.includes(id))
      return Promise.resolve()
    },
  }
  return store
}

export const long = (characters: number): Body => {
  const body = bodyOf('a'.repeat(characters))
  if (typeof body === 'string') throw new Error(body)
  return body
}
export const many = (count: number) => Array.from({ length: count }, () => aBody())
export const outcomes = (answers: readonly SubmissionAnswer[]) => answers.map(({ outcome }) => outcome)
/** Returns a relative time one second earlier. */
export function aSecondLess(period: string): string {
  const two = (at: number): number => Number(period.slice(at, at + 2))
  const seconds = ((two(4) * 24 + two(6)) * 60 + two(8)) * 60 + two(10) - 1
  const parts = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
    seconds % 60,
  ]
  return `0000${parts.map((part) => String(part).padStart(2, '0')).join('')}000R`
}
export const refusal = (pdu: SubmitSm, status: number): Pdu => ({
  ...{ command: 'submit_sm_resp', status, sequence: pdu.sequence, messageId: '', tlvs: noTlvs },
})

/** Builds the text of a receipt in the usual form. */
export const receiptText = (id: string, stat = 'DELIVRD') =>
  Buffer.from(`id:${id} sub:001 dlvrd:001 submit date:2601021200 done date:2601021201 stat:${stat} err:000 text:hello`)
