import { createGateway, type Gateway } from '@gateway/core'
import type { OptOut } from '@gateway/core/suppressions'
import { aNumber, anAccount, arrive, assign, write } from '@gateway/core/testing'
import { admissionGate } from '@gateway/server'
import { startAsp, type Asp } from '../../testing/start-asp.ts'

let asp: Asp
beforeEach(async () => {
  asp = await startAsp()
})
afterEach(() => asp.close())

const listed = async () => (await asp.get('listoptouts.asp')).text
const failing = (optOuts: AsyncIterable<readonly OptOut[]>) => (gateway: Gateway) => ({
  ...gateway,
  queries: { ...gateway.queries, listOptOuts: () => optOuts },
})

test('every call returns all entries: STOP as a reply, STOP without a message before it, and numbers added by hand', async () => {
  await write(asp.ports, asp.account, '27825550101')
  await arrive(asp.ports, '27825550101', 'Stop sending; a=b & 100%\r\n')
  asp.clock.step(60)
  await arrive(asp.ports, '27825550101', 'STOP')
  await assign(asp.ports, asp.account, '40404')
  await arrive(asp.ports, '27825550102', 'opt out', '40404')
  await createGateway(asp.ports).commands.addOptOut(asp.account, aNumber('27825550103'))
  const all =
    'CLI=27825550101;DateReceived=202610181000;Message=Stop sending%3B a%3Db %26 100%25%0D%0A;SentMessageID=1&' +
    'CLI=27825550102;DateReceived=202610181001;Message=opt out;SentMessageID=&' +
    'CLI=27825550103;DateReceived=202610181001;Message=* MANUALLY ADDED BY USER *;SentMessageID=&'
  const answer = await asp.get('listoptouts.asp')
  expect(answer.text).toBe(all)
  expect(answer.headers).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'transfer-encoding': 'chunked',
  })
  expect(await listed()).toBe(all)
})

test('entries of other accounts and blocked numbers are not listed, and entries never expire', async () => {
  const sub = await anAccount(asp.ports, { parent: asp.account.id })
  await createGateway(asp.ports).commands.addOptOut(sub, aNumber('27825550101'))
  await asp.ports.suppressions.add({
    scope: asp.account.id,
    number: aNumber('27825550102'),
    kind: 'blacklist',
    since: asp.clock.now(),
  })
  await createGateway(asp.ports).commands.addOptOut(asp.account, aNumber('27825550103'))
  asp.clock.step(1000 * 86_400)
  expect(await listed()).toMatch(/^CLI=27825550103;[^&]*&$/)
})

test('a failure before the first entry leads to 503; a later one ends the connection', async () => {
  const number = aNumber('27825550103')
  const since = asp.clock.now()
  // oxlint-disable-next-line typescript/require-await -- as a list of a database
  async function* lost(count: number): AsyncIterable<readonly OptOut[]> {
    for (let i = 0; i < count; i++) yield [{ number, since, reply: undefined }]
    throw new Error('lost')
  }
  const gate = admissionGate(1)
  const early = await startAsp({ gate, gateway: failing(lost(0)) })
  const answer = await early.get('listoptouts.asp')
  expect([answer.status, answer.text]).toEqual([503, 'Error="Service unavailable"'])
  await early.close()
  const late = await startAsp({ gate, gateway: failing(lost(5000)) })
  const begun = await fetch(`${late.url}/api/listoptouts.asp?apikey=${late.key}`)
  await expect(begun.text()).rejects.toThrow()
  await late.close()
  expect(gate.inFlight).toBe(0)
})
