import { createGateway, type Gateway } from '@gateway/core'
import type { OptOut } from '@gateway/core/suppressions'
import { aNumber, arrive, assign, write } from '@gateway/core/testing'
import { admissionGate } from '@gateway/server'
import { startRest, type Rest } from '../../../../testing/start-rest.ts'

let rest: Rest
beforeEach(async () => {
  rest = await startRest()
})
afterEach(() => rest.close())

const path = '/sms/incoming/optout'
const begin = '{"timeStamp":"20261018100000000","version":"1.0","statusCode":200,"incomingOptoutMessages":['
const listing = (optOuts: AsyncIterable<readonly OptOut[]>) => (gateway: Gateway) => ({
  ...gateway,
  queries: { ...gateway.queries, listOptOuts: () => optOuts },
})

test('all entries are listed with fields in the ruled order: STOP as a reply, STOP without a message before it, added by hand', async () => {
  await write(rest.ports, rest.account, '27825550101')
  await arrive(rest.ports, '27825550101', 'Stop sending "this"\n')
  await assign(rest.ports, rest.account, '40404')
  await arrive(rest.ports, '27825550102', 'opt out', '40404')
  await createGateway(rest.ports).commands.addOptOut(rest.account, aNumber('27825550103'))
  const answer = await rest.get(path)
  expect(answer.text).toBe(
    `${begin}{"incomingApiMessageId":1,"mobileNumber":"27825550101","receiveTime":"202610181000","messageText":"Stop sending \\"this\\"\\n","outgoingApiMessageId":1},` +
      '{"incomingApiMessageId":2,"mobileNumber":"27825550102","receiveTime":"202610181000","messageText":"opt out","outgoingApiMessageId":null},' +
      '{"incomingApiMessageId":null,"mobileNumber":"27825550103","receiveTime":"202610181000","messageText":"* MANUALLY ADDED BY USER *","outgoingApiMessageId":null}]}',
  )
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'transfer-encoding': 'chunked',
  })
})

test('a list of many entries is complete', async () => {
  const since = rest.clock.now()
  // oxlint-disable-next-line typescript/require-await -- as a list of a database
  async function* many(): AsyncIterable<readonly OptOut[]> {
    for (let i = 0; i < 20_000; i++) yield [{ number: aNumber(`27825${100_000 + i}`), since, reply: undefined }]
  }
  const long = await startRest({ gateway: listing(many()) })
  const { incomingOptoutMessages } = (await long.get(path)).body as { incomingOptoutMessages: unknown[] }
  expect(incomingOptoutMessages).toHaveLength(20_000)
  await long.close()
})

test('a failure before the first entry leads to 503 with the envelope; a later one ends the connection', async () => {
  const [number, since] = [aNumber('27825550103'), rest.clock.now()]
  // oxlint-disable-next-line typescript/require-await -- as a list of a database
  async function* lost(count: number): AsyncIterable<readonly OptOut[]> {
    for (let i = 0; i < count; i++) yield [{ number, since, reply: undefined }]
    throw new Error('lost')
  }
  const gate = admissionGate(1)
  const early = await startRest({ gate, gateway: listing(lost(0)) })
  expect((await early.get(path)).body).toMatchObject({ statusCode: 503, errorMessage: 'The service is not available.' })
  await early.close()
  const late = await startRest({ gate, gateway: listing(lost(5000)) })
  const begun = await fetch(`${late.url}/api/rest/v1${path}`, { headers: { Authorization: late.key } })
  await expect(begun.text()).rejects.toThrow()
  await late.close()
  expect(gate.inFlight).toBe(0)
})
