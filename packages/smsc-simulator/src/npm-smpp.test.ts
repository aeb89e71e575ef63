import type { AddressInfo, Server } from 'node:net'
import { smppCarrierFromUrl } from '@gateway/adapters-smpp'
import type { Carrier, DeliveryReceipt, SubmissionAnswer } from '@gateway/core/dispatch'
import type { InboundMessage } from '@gateway/core/inbox'
import { bodyOf } from '@gateway/core/messages'
import { until, aBody, aMessageId, anAddress, aNumber, aSender } from '@gateway/core/testing'
import smpp from 'smpp'
import type { Session, SmppPdu } from 'smpp'
import type { Smsc } from './settings.ts'
import { startSmsc } from './start-smsc.ts'

let smsc: Smsc
let clientSession: Session
const delivered: SmppPdu[] = []

beforeEach(async () => {
  smsc = await startSmsc({ changes: { receiptDelay: 10 } })
  delivered.length = 0
  clientSession = smpp.connect({ host: '127.0.0.1', port: smsc.port })
  clientSession.on('deliver_sm', (pdu) => {
    delivered.push(pdu)
    clientSession.send(pdu.response())
  })
})

afterEach(async () => {
  clientSession.destroy()
  await smsc.close()
})

type Request = 'bind_transceiver' | 'submit_sm' | 'query_sm' | 'cancel_sm' | 'enquire_link' | 'unbind'

const ask = (request: Request, fields: object): Promise<SmppPdu> =>
  new Promise((resolve) => clientSession[request](fields, resolve))

const to = (ending: string) => ({
  ...{ destination_addr: `278255501${ending}`, source_addr: '12025550100', short_message: 'hello' },
  registered_delivery: 1,
})

test('an ESME of the npm package smpp binds, submits, gets receipts, asks for the state, and unbinds', async () => {
  const bind = await ask('bind_transceiver', { system_id: 'me', password: 'secret' })
  expect(bind).toMatchObject({ command_status: 0, system_id: 'gateway-smsc' })
  const { message_id: id } = await ask('submit_sm', to('90'))
  await until(() => delivered.length === 1)
  expect(delivered).toMatchObject([
    { esm_class: 4, receipted_message_id: id, message_state: 5, source_addr: '27825550190' },
  ])
  expect(delivered[0]?.short_message?.message).toContain(`id:${id ?? ''} sub:001 dlvrd:000 submit date:`)
  expect(await ask('query_sm', { message_id: id, source_addr: '12025550100' })).toMatchObject({ message_state: 5 })
  expect((await ask('cancel_sm', { message_id: id })).command_status).toBe(0x11)
  expect((await ask('submit_sm', to('93'))).command_status).toBe(0x0b)
  expect((await ask('enquire_link', {})).command_status).toBe(0)
  expect((await ask('unbind', {})).command_status).toBe(0)
  await until(() => smsc.status().links.length === 0)
})

test('an ESME of the npm package smpp reads long arrivals in GSM 7-bit and UCS-2', async () => {
  await ask('bind_transceiver', { system_id: 'me', password: 'secret' })
  const plain = 'Sixteen letters. '.repeat(20)
  const other = 'Żółta 😀 łódź '.repeat(10)
  await smsc.inject({ from: '27825550101', to: '12025550100', text: plain }).acknowledged
  await smsc.inject({ from: '27825550102', to: '12025550100', text: other }).acknowledged
  const textFrom = (number: string): string =>
    delivered
      .filter(({ source_addr }) => source_addr === number)
      .map(({ short_message }) => short_message?.message ?? '')
      .join('')
  expect(textFrom('27825550101')).toBe(plain)
  expect(textFrom('27825550102')).toBe(other)
  expect(delivered.every(({ short_message }) => short_message?.udh !== undefined)).toBe(true)
})

test('a message that is under way can be cancelled, and a receipt reports it', async () => {
  smsc.become('late')
  await ask('bind_transceiver', { system_id: 'me', password: 'secret' })
  const { message_id: id } = await ask('submit_sm', to('01'))
  expect((await ask('query_sm', { message_id: id })).message_state).toBe(1)
  expect((await ask('cancel_sm', { message_id: id })).command_status).toBe(0)
  await until(() => delivered.length === 1)
  expect(delivered).toMatchObject([{ receipted_message_id: id, message_state: 4 }])
  expect((await ask('query_sm', { message_id: '99' })).command_status).toBe(0x67)
})

let server: Server
let carrier: Carrier
let serverSession: Session | undefined
const received: SmppPdu[] = []
const commands: string[] = []
const receipts: DeliveryReceipt[] = []
const inbound: InboundMessage[] = []
const answers: SubmissionAnswer[] = []

/** Starts an SMSC of the npm package smpp that accepts every submission with the next id. */
function serve(connected: Session): void {
  serverSession = connected
  connected.on('error', () => undefined)
  for (const command of ['bind_transceiver', 'enquire_link', 'unbind'] as const) {
    connected.on(command, (pdu) => {
      commands.push(`${command} ${pdu.system_id ?? ''} ${pdu.password ?? ''}`.trim())
      connected.send(pdu.response())
      if (command === 'unbind') connected.close()
    })
  }
  connected.on('submit_sm', (pdu) => {
    received.push(pdu)
    connected.send(pdu.response({ message_id: `npm-${received.length}` }))
  })
}

beforeEach(async () => {
  for (const list of [received, commands, receipts, inbound, answers]) list.length = 0
  server = smpp.createServer(serve)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `smpp://us:secret@127.0.0.1:${(server.address() as AddressInfo).port}?enquireSeconds=1`
  carrier = smppCarrierFromUrl(url, { id: 'npm', report: () => undefined })
  carrier.listen({
    receipts: (some) => Promise.resolve((receipts.push(...some), [])),
    inboundMessages: (some) => Promise.resolve(void inbound.push(...some)),
  })
})

afterEach(async () => {
  await carrier.close(new Promise((resolve) => setTimeout(resolve, 5000).unref()))
  serverSession?.destroy()
  await new Promise((resolve) => server.close(resolve))
})

function submit(...texts: readonly string[]): void {
  const messages = texts.map((text, at) => {
    const body = bodyOf(text)
    if (typeof body === 'string') throw new Error(body)
    return { id: aMessageId(at + 1), from: anAddress(), to: aNumber('27825550101'), body }
  })
  carrier.submit(messages, (some) => void answers.push(...some))
}

const deliver = (fields: object): Promise<SmppPdu> =>
  new Promise((resolve) =>
    serverSession?.deliver_sm({ source_addr: '27825550101', destination_addr: '12025550100', ...fields }, resolve),
  )
const textOf = (pdus: readonly SmppPdu[]): string =>
  pdus.map(({ short_message }) => short_message?.message ?? '').join('')

test('an SMSC of the npm package smpp reads binds, texts of both alphabets and long texts, and sees us unbind', async () => {
  const long = 'A long text. '.repeat(30)
  submit('Hi {€} Ä', 'Żółta 😀', long)
  await until(() => answers.length === 3)
  expect(answers.map((one) => ('reference' in one ? one.reference : one.outcome))).toEqual(['npm-1', 'npm-2', 'npm-3'])
  expect(textOf(received.slice(0, 1))).toBe('Hi {€} Ä')
  expect(textOf(received.slice(1, 2))).toBe('Żółta 😀')
  expect(textOf(received.slice(2))).toBe(long)
  expect(received.slice(2).map(({ short_message }) => short_message?.udh?.[0]?.subarray(3).join())).toEqual([
    '3,1',
    '3,2',
    '3,3',
  ])
  expect(received.map(({ registered_delivery }) => registered_delivery)).toEqual(received.map(() => 1))
  await until(() => commands.includes('enquire_link'))
  await carrier.close(new Promise(() => undefined))
  expect(commands[0]).toBe('bind_transceiver us secret')
  expect(commands.at(-1)).toBe('unbind')
})

test.each([
  ['Acme & Sons', 5, 0],
  ['24x7', 5, 0],
  ['31022', 3, 0],
  ['27825550100', 1, 1],
])(
  'the npm package smpp reads the sender %s with TON %i and NPI %i, and the validity of its message',
  async (from, ton, npi) => {
    const message = { id: aMessageId(1), from: aSender(from), to: aNumber('27825550101'), body: aBody('Hi') }
    carrier.submit([{ ...message, validSeconds: 90.5 }], (some) => void answers.push(...some))
    await until(() => answers.length === 1)
    expect(received).toMatchObject([
      { source_addr: from, source_addr_ton: ton, source_addr_npi: npi, dest_addr_ton: 1, dest_addr_npi: 1 },
    ])
    // The package converts a relative time to an absolute one.
    const validity = received[0]?.validity_period
    expect(validity === undefined ? NaN : Math.abs(Number(validity) - Date.now() - 90_000)).toBeLessThan(60_000)
  },
)

test('receipts and arrivals of the npm package smpp are read and acknowledged', async () => {
  submit('Hi')
  await until(() => answers.length === 1)
  const text = 'id:npm-1 sub:001 dlvrd:001 submit date:2601021200 done date:2601021201 stat:DELIVRD err:000 text:Hi'
  expect((await deliver({ esm_class: 4, short_message: text })).command_status).toBe(0)
  const tlvs = { receipted_message_id: 'npm-1', message_state: 5 }
  expect((await deliver({ esm_class: 4, short_message: '', ...tlvs })).command_status).toBe(0)
  expect(receipts.map(({ reference, code, number }) => [reference, code, number])).toEqual([
    ['npm-1', 0, '27825550101'],
    ['npm-1', 103, '27825550101'],
  ])
  expect((await deliver({ short_message: 'Stop {€}', data_coding: 0 })).command_status).toBe(0)
  expect((await deliver({ short_message: 'Żółta', data_coding: 8 })).command_status).toBe(0)
  const udh = Buffer.from([5, 0, 3, 9, 2, 1])
  expect((await deliver({ short_message: { udh, message: 'first half' } })).command_status).toBe(0)
  expect((await deliver({ message_payload: 'in the payload' })).command_status).toBe(0)
  expect(inbound.map(({ text: content, part }) => [content, part])).toEqual([
    ['Stop {€}', undefined],
    ['Żółta', undefined],
    ['first half', { group: 9, of: 2, number: 1 }],
    ['in the payload', undefined],
  ])
})
