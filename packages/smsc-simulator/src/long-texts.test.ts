import { until } from '@gateway/core/testing'
import { aSender, aServer, dispatching, endDispatching } from '../testing/dispatching.ts'

afterEach(endDispatching)

const threeParts = 'a'.repeat(400)

test.each([
  ['delivered', '27825550100', 0],
  ['not delivered', '27825550190', 103],
])('a text of three parts is %s once its receipts came', async (_, number, code) => {
  const { ports, send, code: codeOf } = await aSender()
  dispatching(ports, await aServer({ changes: { receiptDelay: 5 } }))
  const message = await send(number, threeParts)
  await until(async () => (await codeOf(message)) === code)
})

test('the receipts of all parts match their message after a restart, through another dispatcher', async () => {
  const { ports, send, code } = await aSender()
  const smsc = await aServer({ personality: 'late' })
  const first = dispatching(ports, smsc)
  const message = await send('27825550100', threeParts)
  await until(async () => (await code(message)) === 100)
  const ids = smsc.journal().flatMap(({ pdu }) => (pdu?.command === 'submit_sm_resp' ? [pdu.messageId] : []))
  expect(new Set(ids).size).toBe(3)
  await first.end()

  dispatching(ports, smsc)
  await until(() => smsc.status().links.length === 1)
  const receipts = ids.map((id) => Buffer.from(`id:${id} sub:001 dlvrd:001 stat:DELIVRD err:000`).toString('hex'))
  for (const [i, octets] of receipts.entries()) {
    expect(await code(message)).toBe(100)
    await smsc.inject({ from: '27825550100', to: '12025550100', octets, esmClass: 4 }).acknowledged
    await until(async () => i < 2 || (await code(message)) === 0)
  }
})
