import smpp, { type Session, type SmppPdu } from 'smpp'
import { until } from '@gateway/core/testing'
import type { Smsc } from './smsc.ts'
import { startSmsc } from './start-smsc.ts'

let smsc: Smsc
let session: Session
const delivered: SmppPdu[] = []

beforeEach(async () => {
  smsc = await startSmsc({ changes: { receiptDelay: 10 } })
  delivered.length = 0
  session = smpp.connect({ host: '127.0.0.1', port: smsc.port })
  session.on('deliver_sm', (pdu) => {
    delivered.push(pdu)
    session.send(pdu.response())
  })
})

afterEach(async () => {
  session.destroy()
  await smsc.close()
})

type Request = 'bind_transceiver' | 'submit_sm' | 'query_sm' | 'cancel_sm' | 'enquire_link' | 'unbind'

const ask = (request: Request, fields: object): Promise<SmppPdu> =>
  new Promise((resolve) => session[request](fields, resolve))

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

test('a message that is under way is cancelled, and a receipt says so', async () => {
  smsc.become('late')
  await ask('bind_transceiver', { system_id: 'me', password: 'secret' })
  const { message_id: id } = await ask('submit_sm', to('01'))
  expect((await ask('query_sm', { message_id: id })).message_state).toBe(1)
  expect((await ask('cancel_sm', { message_id: id })).command_status).toBe(0)
  await until(() => delivered.length === 1)
  expect(delivered).toMatchObject([{ receipted_message_id: id, message_state: 4 }])
  expect((await ask('query_sm', { message_id: '99' })).command_status).toBe(0x67)
})
