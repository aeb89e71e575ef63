import { once } from 'node:events'
import { connect } from 'node:net'
import { COMMAND_STATUS, MESSAGE_STATE, noTlvs, type Pdu, type QuerySmResp, type SubmitSm } from '@gateway/smpp'
import { until } from '@gateway/core/testing'
import { bound, receiptIdOf, statesFor, submitSm, type Esme } from '../testing/esme.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import type { Smsc, SmscSettings } from './settings.ts'
import { startSmsc } from './start-smsc.ts'

const running: (Smsc | Esme)[] = []
afterEach(async () => {
  for (const each of running.splice(0)) await each.close()
})

async function pair(settings: SmscSettings = {}) {
  const smsc = await startSmsc({ retryMilliseconds: 20, ...settings })
  const esme = await bound(smsc.port)
  running.push(esme, smsc)
  return { smsc, esme }
}

const source = { sourceAddrTon: 1, sourceAddrNpi: 1, sourceAddr: '12025550100' }
const number = (ending: string): string => `278255501${ending}`
let sequence = 1000

/** Sends a request and resolves to its response. */
async function ask<Response extends Pdu>(esme: Esme, request: Pdu): Promise<Response> {
  const sent = { ...request, sequence: ++sequence }
  esme.send(sent)
  const find = () => esme.received.find((pdu) => pdu.sequence === sent.sequence && pdu.command.endsWith('_resp'))
  await until(() => find() !== undefined)
  return find() as Response
}

/** Submits one text to several numbers and resolves to their common id. */
async function submitToAll(esme: Esme, ...endings: readonly string[]) {
  const { command: _, destAddrTon, destAddrNpi, destinationAddr: __, ...fields } = submitSm('', 0)
  const destinations = endings.map((ending) => ({ destAddrTon, destAddrNpi, destinationAddr: number(ending) }))
  return ask<Pdu & { command: 'submit_multi_resp' }>(esme, { command: 'submit_multi', ...fields, destinations })
}

const query = (esme: Esme, messageId: string) =>
  ask<QuerySmResp>(esme, { command: 'query_sm', status: 0, sequence: 0, messageId, ...source, tlvs: noTlvs })

const cancel = (esme: Esme, messageId: string) => {
  const destination = { destAddrTon: 1, destAddrNpi: 1, destinationAddr: '' }
  const fields = { status: 0, sequence: 0, serviceType: '', messageId, ...source, ...destination, tlvs: noTlvs }
  return ask(esme, { command: 'cancel_sm', ...fields })
}

test('submit_multi: the receipts of all numbers have its id, and refused numbers are listed', async () => {
  const { esme } = await pair({ changes: { receiptDelay: 10 } })
  const { status, messageId, unsuccessSmes } = await submitToAll(esme, '01', '93', '90')
  expect([status, unsuccessSmes]).toEqual([
    0,
    [
      {
        destAddrTon: 1,
        destAddrNpi: 1,
        destinationAddr: number('93'),
        errorStatusCode: COMMAND_STATUS.ESME_RINVDSTADR,
      },
    ],
  ])
  await until(() => esme.delivered().length === 2)
  expect(esme.delivered().map(receiptIdOf)).toEqual([messageId, messageId])
  expect([statesFor(esme, number('01')), statesFor(esme, number('90'))]).toEqual([['DELIVRD'], ['UNDELIV']])
})

test.each([
  ['that of all, if they are alike', ['01', '02'], 2, MESSAGE_STATE.DELIVERED],
  ['that of the one that failed, if it ended first', ['90', '01'], 2, MESSAGE_STATE.UNDELIVERABLE],
  ['and if it ended last', ['01', '90'], 2, MESSAGE_STATE.UNDELIVERABLE],
  ['under way, as long as one has no end', ['01', '94'], 1, MESSAGE_STATE.ENROUTE],
])('query_sm of a submit_multi tells one state of its numbers: %s', async (_, endings, receipts, state) => {
  const { smsc, esme } = await pair({ changes: { receiptDelay: 10 } })
  const { messageId } = await submitToAll(esme, ...endings)
  await until(() => esme.delivered().length === receipts && smsc.status().deliveriesWaiting === 0)
  expect(await query(esme, messageId)).toMatchObject({ status: 0, messageId, messageState: state })
})

test('cancel_sm of a submit_multi cancels it for all numbers, with exactly one receipt each, also after a restart', async () => {
  const folder = await temporaryFolder()
  const { smsc, esme } = await pair({ folder, personality: 'late' })
  const { messageId } = await submitToAll(esme, '01', '02')
  expect((await query(esme, messageId)).messageState).toBe(MESSAGE_STATE.ENROUTE)
  expect(await cancel(esme, messageId)).toMatchObject({ status: 0 })
  await until(() => esme.delivered().length === 2 && smsc.status().deliveriesWaiting === 0)
  expect([statesFor(esme, number('01')), statesFor(esme, number('02'))]).toEqual([['DELETED'], ['DELETED']])
  expect((await query(esme, messageId)).messageState).toBe(MESSAGE_STATE.DELETED)
  expect(await cancel(esme, messageId)).toMatchObject({ status: COMMAND_STATUS.ESME_RCANCELFAIL })
  await smsc.close()
  const next = await pair({ folder, changes: { receiptDelay: 10 } })
  next.esme.submit(number('03'))
  await until(() => next.esme.delivered().length > 0)
  expect(next.esme.delivered().map(({ sourceAddr }) => sourceAddr)).toEqual([number('03')])
})

test('outstanding receipts of a submit_multi are sent after a restart with its id, and acknowledged ones are not repeated', async () => {
  const folder = await temporaryFolder()
  const first = await pair({ folder, changes: { receiptDelay: 10 } })
  const firstAnswer = await submitToAll(first.esme, '01', '90')
  await until(() => first.esme.delivered().length === 2 && first.smsc.status().deliveriesWaiting === 0)
  first.smsc.become('late')
  const owed = await submitToAll(first.esme, '02', '91')
  await first.smsc.close()
  const second = await pair({ folder, changes: { receiptDelay: 10 } })
  await until(() => second.esme.delivered().length === 2 && second.smsc.status().deliveriesWaiting === 0)
  expect(second.esme.delivered().map((pdu) => [pdu.sourceAddr, receiptIdOf(pdu)])).toEqual([
    [number('02'), owed.messageId],
    [number('91'), owed.messageId],
  ])
  expect((await query(second.esme, owed.messageId)).messageState).toBe(MESSAGE_STATE.EXPIRED)
  expect((await query(second.esme, firstAnswer.messageId)).messageState).toBe(MESSAGE_STATE.UNDELIVERABLE)
})

describe('submissions that real SMSCs refuse', () => {
  const { ESME_RINVDSTADR, ESME_RINVSCHED, ESME_RINVEXPIRY } = COMMAND_STATUS
  const submit = (esme: Esme, changes: Partial<SubmitSm>) => ask(esme, { ...submitSm(number('01'), 0), ...changes })

  test.each([
    ['no destination', { destinationAddr: '' }, ESME_RINVDSTADR],
    ['letters as the destination', { destinationAddr: 'ACME' }, ESME_RINVDSTADR],
    ['digits and letters', { destinationAddr: '2782555O101' }, ESME_RINVDSTADR],
    ['30 February', { scheduleDeliveryTime: '260230120000000+' }, ESME_RINVSCHED],
    ['an hour 24', { scheduleDeliveryTime: '261124240000000+' }, ESME_RINVSCHED],
    ['a time without an offset', { scheduleDeliveryTime: '261124120000' }, ESME_RINVSCHED],
    ['minutes as a validity', { validityPeriod: '60' }, ESME_RINVEXPIRY],
    ['a relative time with an offset', { validityPeriod: '000002000000004R' }, ESME_RINVEXPIRY],
  ] as const)('%s', async (_, changes, status) => {
    const { esme } = await pair()
    expect(await submit(esme, changes)).toMatchObject({ status, messageId: '' })
  })

  test('well-formed times and a + before the number are accepted', async () => {
    const { esme } = await pair()
    for (const changes of [
      { destinationAddr: `+${number('01')}` },
      { scheduleDeliveryTime: '280229235959908-' },
      { validityPeriod: '000002000000000R' },
    ]) {
      expect(await submit(esme, changes)).toMatchObject({ status: 0 })
    }
  })

  test('a wrong number among several is listed, and a wrong time refuses all', async () => {
    const { esme } = await pair()
    const { command: _, destAddrTon, destAddrNpi, destinationAddr: __, ...fields } = submitSm('', 0)
    const destinations = ['27825550101', ''].map((destinationAddr) => ({ destAddrTon, destAddrNpi, destinationAddr }))
    const all = { command: 'submit_multi', ...fields, destinations } as const
    expect(await ask(esme, all)).toMatchObject({
      status: 0,
      unsuccessSmes: [{ destinationAddr: '', errorStatusCode: ESME_RINVDSTADR }],
    })
    expect(await ask(esme, { ...all, validityPeriod: 'soon' })).toMatchObject({
      status: ESME_RINVEXPIRY,
      messageId: '',
    })
  })
})

test('the server listens only on its configured address', async () => {
  const smsc = await startSmsc({ host: '127.0.0.2' })
  running.push(smsc)
  const socket = connect(smsc.port, '127.0.0.2')
  await once(socket, 'connect')
  socket.destroy()
  await expect(once(connect(smsc.port, '127.0.0.1'), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})
