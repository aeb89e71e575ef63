import { createBackOffice, createGateway } from '@gateway/core'
import type { MessageId, Msisdn } from '@gateway/core/messages'
import { until } from '@gateway/core/testing'
import { COMMAND_STATUS, integerTlv, MESSAGE_STATE, noTlvs, TLV_TAG, tlvText, type Pdu } from '@gateway/smpp'
import { startSmpp, type Customer, type StartedSmpp } from '../testing/start-smpp.ts'

let smpp: StartedSmpp
let customer: Customer

beforeEach(async () => {
  smpp = await startSmpp()
  customer = await smpp.customer()
})
afterEach(() => smpp.stop())

const number = '27825550101'
const idOf = (response: Pdu): string => ('messageId' in response ? response.messageId : '')
/** Balance of the customer in tenths of a credit; it starts with 1000. */
const balance = (): Promise<number> => createGateway(smpp.ports).queries.creditBalance(customer.account.id)

test('a submission is charged and stored, and its id is a decimal number that the account finds', async () => {
  const client = await smpp.bound(customer)
  const response = await client.submit(number, 'hello')
  expect(response).toMatchObject({ command: 'submit_sm_resp', status: 0 })
  expect(idOf(response)).toMatch(/^[1-9][0-9]*$/)
  expect(await balance()).toBe(990)
  expect(await client.request({ ...query, messageId: idOf(response) } as Pdu)).toMatchObject({
    status: 0,
    messageId: idOf(response),
    messageState: MESSAGE_STATE.ENROUTE,
  })
})

test('the trace of a message names the bind: credential, system id and address of the client', async () => {
  const client = await smpp.bound(customer)
  const id = Number(idOf(await client.submit(number, 'hello')))
  const { explainMessage } = createBackOffice(smpp.ports).queries
  const { id: credential, systemId } = customer.credential
  expect((await explainMessage(id as MessageId))?.bind).toEqual({ credential, systemId, remote: '127.0.0.1' })
  await createBackOffice(smpp.ports).commands.removeSmppCredential(credential)
  expect((await explainMessage(id as MessageId))?.bind).toEqual({
    credential,
    systemId: undefined,
    remote: '127.0.0.1',
  })
})

const source = { sourceAddrTon: 0, sourceAddrNpi: 0, sourceAddr: '' }
const query = { command: 'query_sm', status: 0, ...source, tlvs: noTlvs }
const cancel = { command: 'cancel_sm', serviceType: '', status: 0, ...source, destAddrTon: 0, destAddrNpi: 0 }

test('a receipt has the exact text, the TLVs and the exchanged addresses of the submission', async () => {
  const client = await smpp.bound(customer)
  const id = idOf(
    await client.submit(number, 'hello', { sourceAddr: '', destAddrTon: 1, destAddrNpi: 1, registeredDelivery: 1 }),
  )
  await smpp.carry(0)
  await until(() => client.deliveries.length === 1)
  const [receipt] = client.deliveries
  expect(receipt).toMatchObject({ esmClass: 4, sourceAddr: number, sourceAddrTon: 1, sourceAddrNpi: 1 })
  expect(receipt?.shortMessage.toString()).toMatch(
    new RegExp(`^id:${id} sub:001 dlvrd:001 submit date:[0-9]{10} done date:[0-9]{10} stat:DELIVRD err:000 text:$`),
  )
  expect(tlvText(receipt?.tlvs ?? [], TLV_TAG.receipted_message_id)).toBe(id)
})

test('a receipt waits for a receiving bind, and is not sent twice after its acknowledgement', async () => {
  const transmitter = await smpp.connect()
  await transmitter.bind(customer.credential.systemId, customer.password, { command: 'bind_transmitter' })
  await transmitter.submit(number, 'hello')
  await smpp.carry(0)
  const receiver = await smpp.connect()
  await receiver.bind(customer.credential.systemId, customer.password, { command: 'bind_receiver' })
  await until(() => receiver.deliveries.length === 1)
  expect(transmitter.deliveries).toEqual([])
  await receiver.unbind()
  const again = await smpp.bound(customer)
  const idSecond = idOf(await again.submit(number, 'second'))
  await smpp.carry(0)
  await until(() => again.deliveries.length === 1)
  expect(again.deliveries[0]?.shortMessage.toString()).toContain(`id:${idSecond} `)
})

test('a receipt without a response is sent again over the next bind', async () => {
  const silent = await smpp.bound(customer, { deliveryStatus: () => 'none' })
  await silent.submit(number, 'hello')
  await smpp.carry(0)
  await until(() => silent.deliveries.length === 1)
  silent.destroy()
  const next = await smpp.bound(customer)
  await until(() => next.deliveries.length === 1, 20_000)
  expect(next.deliveries[0]?.shortMessage.toString()).toBe(silent.deliveries[0]?.shortMessage.toString())
}, 60_000)

test('no receipt goes to another account', async () => {
  const other = await smpp.bound(await smpp.customer())
  const client = await smpp.bound(customer)
  await client.submit(number, 'hello')
  await smpp.carry(0)
  await until(() => client.deliveries.length === 1)
  expect(other.deliveries).toEqual([])
})

test('a bind below version 3.4 gets receipts without TLVs', async () => {
  const client = await smpp.connect()
  await client.bind(customer.credential.systemId, customer.password, { interfaceVersion: 0x33 })
  await client.submit(number, 'hello')
  await smpp.carry(0)
  await until(() => client.deliveries.length === 1)
  expect(client.deliveries[0]?.tlvs).toEqual([])
})

test('a text in three parts gets an id and a receipt for each part, and is charged as one message', async () => {
  const client = await smpp.bound(customer)
  const responses = []
  for (const part of [1, 2, 3]) {
    const header = Buffer.of(5, 0, 3, 17, 3, part)
    const text = Buffer.concat([header, Buffer.from(String(part).repeat(150))])
    responses.push(await client.submit(number, text, { esmClass: 0x40 }))
  }
  const ids = responses.map(idOf)
  expect(new Set(ids).size).toBe(3)
  await until(async () => (await balance()) === 970)
  await smpp.carry(0)
  await until(() => client.deliveries.length === 3)
  const receipted = client.deliveries.map(({ tlvs }) => tlvText(tlvs, TLV_TAG.receipted_message_id))
  expect(receipted.toSorted()).toEqual(ids.toSorted())
})

test('parts by sar TLVs are joined as well', async () => {
  const client = await smpp.bound(customer)
  const sar = (part: number) => [
    integerTlv(TLV_TAG.sar_msg_ref_num, 2, 4711),
    integerTlv(TLV_TAG.sar_total_segments, 1, 2),
    integerTlv(TLV_TAG.sar_segment_seqnum, 1, part),
  ]
  await client.submit(number, 'b'.repeat(150), { tlvs: sar(2) })
  await client.submit(number, 'a'.repeat(150), { tlvs: sar(1) })
  await until(async () => (await balance()) === 980)
})

test('submit_multi gives consecutive ids and names the refused numbers', async () => {
  const client = await smpp.bound(customer)
  const to = (destinationAddr: string) => ({ destAddrTon: 1, destAddrNpi: 1, destinationAddr })
  const response = await client.request({
    ...{ command: 'submit_multi', status: 0, serviceType: '', ...source, esmClass: 0, protocolId: 0, priorityFlag: 0 },
    ...{ scheduleDeliveryTime: '', validityPeriod: '', registeredDelivery: 1, replaceIfPresentFlag: 0, dataCoding: 0 },
    ...{ destinations: [to(number), to('12'), to('27825550102')], smDefaultMsgId: 0, tlvs: noTlvs },
    ...{ shortMessage: Buffer.from('hello') },
  })
  expect(response).toMatchObject({
    status: 0,
    unsuccessSmes: [{ destinationAddr: '12', errorStatusCode: COMMAND_STATUS.ESME_RINVDSTADR }],
  })
  const first = Number(idOf(response))
  await smpp.carry(0)
  await until(() => client.deliveries.length === 2)
  expect(client.deliveries.map(({ tlvs }) => Number(tlvText(tlvs, TLV_TAG.receipted_message_id)))).toEqual(
    expect.arrayContaining([first, first + 1]),
  )
})

test('a scheduled message can be cancelled once, with its refund', async () => {
  const client = await smpp.bound(customer)
  const response = await client.submit(number, 'later', { scheduleDeliveryTime: '000001000000000R' })
  expect(await balance()).toBe(990)
  const request = { ...cancel, destinationAddr: '', messageId: idOf(response), tlvs: noTlvs } as Pdu
  expect(await client.request(request)).toMatchObject({ status: 0 })
  expect(await balance()).toBe(1000)
  expect(await client.request(request)).toMatchObject({ status: COMMAND_STATUS.ESME_RCANCELFAIL })
})

test('ids of another account look like unknown ids', async () => {
  const stranger = await smpp.bound(await smpp.customer())
  const client = await smpp.bound(customer)
  const messageId = idOf(await client.submit(number, 'hello'))
  for (const id of [messageId, '999999', 'abc', '']) {
    const answer = await stranger.request({ ...query, messageId: id } as Pdu)
    expect(answer).toMatchObject({ status: COMMAND_STATUS.ESME_RQUERYFAIL, messageState: 0 })
  }
})

test.each([
  ['a wrong number', '12', 'hello', {}, COMMAND_STATUS.ESME_RINVDSTADR],
  ['a national number without a country', '0825550101', 'hello', { destAddrTon: 2 }, COMMAND_STATUS.ESME_RINVDSTADR],
  ['a blank text', number, ' ', {}, COMMAND_STATUS.ESME_RINVMSGLEN],
  ['a sender that is not allowed', number, 'hello', { sourceAddr: 'NotMine' }, COMMAND_STATUS.ESME_RINVSRCADR],
  ['an octet outside GSM 7-bit', number, Buffer.of(0x41, 0xa3), {}, 0x104],
  ['binary data', number, 'hello', { dataCoding: 4 }, COMMAND_STATUS.ESME_RSUBMITFAIL],
  ['an unknown data_coding', number, 'hello', { dataCoding: 0x2a }, 0x104],
  ['an odd number of octets in UCS-2', number, 'abc', { dataCoding: 8 }, 0x104],
  ['replace_if_present_flag', number, 'hello', { replaceIfPresentFlag: 1 }, COMMAND_STATUS.ESME_RINVSUBREP],
  ['a wrong priority_flag', number, 'hello', { priorityFlag: 4 }, COMMAND_STATUS.ESME_RINVPRTFLG],
  ['a wrong validity_period', number, 'hello', { validityPeriod: 'tomorrow' }, COMMAND_STATUS.ESME_RINVEXPIRY],
  ['a wrong schedule', number, 'hello', { scheduleDeliveryTime: '260230000000000+' }, COMMAND_STATUS.ESME_RINVEXPIRY],
  ['a header with ports', number, Buffer.from([6, 5, 4, 0, 1, 0, 1, 65]), { esmClass: 0x40 }, 0x45],
  ['a header longer than the text', number, Buffer.of(9, 0), { esmClass: 0x40 }, COMMAND_STATUS.ESME_RINVESMCLASS],
])('%s is refused with its command_status and costs nothing', async (_title, to, text, fields, status) => {
  const client = await smpp.bound(customer)
  expect(await client.submit(to, text, fields)).toMatchObject({ status, messageId: '' })
  expect(await balance()).toBe(1000)
})

test('without credits a submission is refused for good, so that clients do not repeat it', async () => {
  const client = await smpp.bound(await smpp.customer({}, 0))
  expect(await client.submit(number, 'hello')).toMatchObject({ status: COMMAND_STATUS.ESME_RSUBMITFAIL })
})

test('a locked account may bind, and its submissions are refused for good', async () => {
  await createBackOffice(smpp.ports).commands.lockAccount(customer.account.id)
  const client = await smpp.bound(customer)
  expect(await client.submit(number, 'hello')).toMatchObject({ status: COMMAND_STATUS.ESME_RSUBMITFAIL })
})

test('an opted-out number is refused with RINVDSTADR', async () => {
  await createGateway(smpp.ports).commands.addOptOut(customer.account, number as Msisdn)
  const client = await smpp.bound(customer)
  expect(await client.submit(number, 'hello')).toMatchObject({ status: COMMAND_STATUS.ESME_RINVDSTADR })
})

test('one leading + is removed, and a national number is completed with the country of the credential', async () => {
  const own = await smpp.customer({ country: '27' })
  const client = await smpp.bound(own)
  for (const [to, destAddrTon] of [
    [`+${number}`, 1],
    ['0825550101', 2],
    ['825550101', 2],
  ] as const)
    expect(await client.submit(to, 'hello', { destAddrTon })).toMatchObject({ status: 0 })
  await smpp.carry(0)
  await until(() => client.deliveries.length === 3)
  expect(new Set(client.deliveries.map(({ sourceAddr }) => sourceAddr))).toEqual(new Set([number]))
})

test('a repeated user_message_reference gets the first id if the credential says so, and costs nothing', async () => {
  const tlvs = [integerTlv(TLV_TAG.user_message_reference, 2, 4711)]
  const own = await smpp.customer({ isIdempotent: true })
  const client = await smpp.bound(own)
  const ids = []
  for (let time = 0; time < 3; time++) ids.push(idOf(await client.submit(number, 'hello', { tlvs })))
  expect(new Set(ids).size).toBe(1)
  expect(await createGateway(smpp.ports).queries.creditBalance(own.account.id)).toBe(990)
  const others = await smpp.bound(customer)
  const [first, second] = [await others.submit(number, 'a', { tlvs }), await others.submit(number, 'a', { tlvs })]
  expect(idOf(first)).not.toBe(idOf(second))
})

test('alphabets follow the credential: data_coding 1 with GSM octets, and Latin-1 by default', async () => {
  const node = await smpp.customer({ alphabet1: 'gsm' })
  const client = await smpp.bound(node)
  expect(await client.submit(number, Buffer.of(0x00, 0x1b, 0x65), { dataCoding: 1 })).toMatchObject({ status: 0 })
  const jsmpp = await smpp.customer({ alphabet0: 'latin1' })
  const other = await smpp.bound(jsmpp)
  expect(await other.submit(number, Buffer.from('£é', 'latin1'))).toMatchObject({ status: 0 })
  expect(await other.submit(number, Buffer.of(0x80))).toMatchObject({ status: 0x104 })
})

test('a wrong password is RINVPASWD, and an unknown system id looks the same', async () => {
  for (const [systemId, password] of [
    [customer.credential.systemId, 'wrong'],
    ['nobody', customer.password],
  ] as const) {
    const client = await smpp.connect()
    expect(await client.bind(systemId, password)).toMatchObject({ status: COMMAND_STATUS.ESME_RINVPASWD })
  }
})

test('a right password from an address that is not allowed is RBINDFAIL, so that the client tries again', async () => {
  const own = await smpp.customer({ from: ['192.0.2.0/24'] })
  const { systemId } = own.credential
  for (const [password, status] of [
    [own.password, COMMAND_STATUS.ESME_RBINDFAIL],
    ['wrong', COMMAND_STATUS.ESME_RINVPASWD],
  ] as const)
    expect(await (await smpp.connect()).bind(systemId, password)).toMatchObject({ status })
  await createBackOffice(smpp.ports).commands.changeSmppCredential(own.credential.id, { from: ['127.0.0.1/32'] })
  expect(await (await smpp.connect()).bind(systemId, own.password)).toMatchObject({ status: 0 })
})

test('binds over the maximum are refused with RBINDFAIL while the others are alive', async () => {
  const one = await smpp.customer({ binds: 1 })
  await smpp.bound(one)
  const second = await smpp.connect()
  expect(await second.bind(one.credential.systemId, one.password)).toMatchObject({
    status: COMMAND_STATUS.ESME_RBINDFAIL,
  })
}, 30_000)

test('a dead bind is replaced by a new one within five seconds', async () => {
  const one = await smpp.customer({ binds: 1 })
  const dead = await smpp.bound(one, { isAlive: false })
  const next = await smpp.connect()
  expect(await next.bind(one.credential.systemId, one.password)).toMatchObject({ status: 0 })
  await until(() => dead.isClosed)
}, 30_000)

test('a transmitter and a receiver count as one bind', async () => {
  const one = await smpp.customer({ binds: 1 })
  for (const command of ['bind_transmitter', 'bind_receiver'] as const) {
    const client = await smpp.connect()
    expect(await client.bind(one.credential.systemId, one.password, { command })).toMatchObject({ status: 0 })
  }
})

test('a removed credential and a replaced password end the binds', async () => {
  const { commands } = createBackOffice(smpp.ports)
  for (const change of ['removeSmppCredential', 'rotateSmppCredential'] as const) {
    const own = await smpp.customer()
    const client = await smpp.bound(own)
    await commands[change](own.credential.id)
    await until(() => client.isClosed)
    expect(client.received.at(-1)).toMatchObject({ command: 'unbind' })
  }
})

test('a bind that the store has lost is registered again, and stays', async () => {
  const client = await smpp.bound(customer)
  const [bind] = await smpp.ports.smppBinds.list(customer.account.id)
  if (bind === undefined) throw new Error('the store has no bind')
  await smpp.ports.smppBinds.close(bind.process, [bind.id])
  await until(async () => (await smpp.ports.smppBinds.list(customer.account.id)).length === 1)
  expect(await client.submit(number, 'hello')).toMatchObject({ status: 0 })
})

test('a database that does not answer is RSYSERR before a second', async () => {
  const slow = await startSmpp({}, ({ commands, queries }) => ({
    queries,
    commands: { ...commands, submitOverSmpp: () => new Promise(() => undefined) },
  }))
  const own = await slow.customer()
  const client = await slow.bound(own)
  const start = performance.now()
  expect(await client.submit(number, 'hello')).toMatchObject({ status: COMMAND_STATUS.ESME_RSYSERR })
  expect(performance.now() - start).toBeLessThan(1000)
  await slow.stop()
})

test('a database error is RSYSERR for a submission and RBINDFAIL for a bind', async () => {
  const failing = await startSmpp({}, ({ commands, queries }) => ({
    queries,
    commands: { ...commands, submitOverSmpp: () => Promise.reject(new Error('no database')) },
  }))
  const client = await failing.bound(await failing.customer())
  expect(await client.submit(number, 'hello')).toMatchObject({ status: COMMAND_STATUS.ESME_RSYSERR })
  await failing.stop()
  const away = await startSmpp({}, ({ commands, queries }) => ({
    queries,
    commands: { ...commands, authenticateBind: () => Promise.reject(new Error('no database')) },
  }))
  const stranger = await away.connect()
  expect(await stranger.bind('a', 'b')).toMatchObject({ status: COMMAND_STATUS.ESME_RBINDFAIL })
  await away.stop()
})

test('metrics count responses by status, and octets outside the alphabet', async () => {
  const client = await smpp.bound(customer)
  await client.submit(number, 'hello')
  await client.submit(number, Buffer.of(0xff))
  const text = await smpp.metrics()
  expect(text).toContain('gateway_smpp_binds{mode="transceiver"} 1')
  expect(text).toContain('gateway_smpp_responses_total{command="submit_sm",status="ROK"} 1')
  expect(text).toContain('gateway_smpp_responses_total{command="submit_sm",status="RINVDCS"} 1')
  expect(text).toContain('gateway_smpp_stray_texts_total 1')
  // A request that was executed is counted once, also if it was refused.
  expect(text).not.toContain('command="refused"')
})
