import { createGateway } from '@gateway/core'
import { credits } from '@gateway/core/credits'
import { messageId, OUTCOME, type OutcomeCode } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import { aNumber, anAccount } from '@gateway/core/testing'
import { startAsp, type Asp, type AspOptions } from '../../testing/start-asp.ts'

let asp: Asp
const start = async (options?: AspOptions) => {
  asp = await startAsp(options)
}
afterEach(() => asp.close())

const ask = async (ids: string) => (await asp.get('requestbatch.asp', `messageid=${ids}`)).text
const send = (query = '') => asp.get('batchmessage.asp', `message=x&numbers=27825550101&${query}`)

/** Answers every id with this outcome, reached at 2026-10-18 18:24:05 in gateway time. */
const decided = (code: OutcomeCode): AspOptions => ({
  gateway: (gateway) => ({
    ...gateway,
    queryStatus: (_account, ids) => {
      const at = instant(Date.UTC(2026, 9, 18, 16, 24, 5))
      return Promise.resolve(ids.map(() => ({ code, at, number: aNumber(), cost: credits(10), taken: true })))
    },
  }),
})

test.each<[OutcomeCode, string]>([
  [OUTCOME.delivered, 'DELIVERED;2026/10/18;18:24:05;0'],
  [OUTCOME.sent, 'SENT;2026/10/18;18:24:05;100'],
  [OUTCOME.underWay, 'SENT;2026/10/18;18:24:05;105'],
  [OUTCOME.unknown, 'SENT;2026/10/18;18:24:05;106'],
  [OUTCOME.expired, 'SENDINGFAILED;2026/10/18;18:24:05;101'],
  [OUTCOME.cancelled, 'SENDINGFAILED;2026/10/18;18:24:05;102'],
  [OUTCOME.undeliverable, 'SENDINGFAILED;2026/10/18;18:24:05;103'],
  [OUTCOME.rejected, 'SENDINGFAILED;2026/10/18;18:24:05;107'],
  [OUTCOME.refused, 'SENDINGFAILED;2026/10/18;18:24:05;111'],
  [OUTCOME.accountLocked, 'SENDINGFAILED;2026/10/18;18:24:05;202'],
  [OUTCOME.optedOut, 'SENDINGFAILED;2026/10/18;18:24:05;212'],
  [OUTCOME.failed, 'SENDINGFAILED;2026/10/18;18:24:05;213'],
  [OUTCOME.blacklisted, 'SENDINGFAILED;2026/10/18;18:24:05;214'],
])('an outcome of code %i is 7=%s&', async (code, text) => {
  await start(decided(code))
  expect(await ask('7;')).toBe(`7=${text}&`)
})

test('what waits, what is unknown and what is no number is NOTFOUND and nothing more', async () => {
  await start()
  await send()
  await send('scheduled=202701010000')
  expect(await ask('1;2;3;x;-1;1e3;')).toBe('1=NOTFOUND&2=NOTFOUND&3=NOTFOUND&x=NOTFOUND&-1=NOTFOUND&1e3=NOTFOUND&')
})

test("another account's id is NOTFOUND, whatever became of it", async () => {
  await start()
  const other = await anAccount(asp.ports)
  await createGateway(asp.ports).sendMessages(other, [{ text: 'x', recipients: ['27825550101'] }])
  await asp.ports.claimedBatches.expire(-1, 10)
  const id = messageId(1)
  if (id === undefined) throw new Error('no id')
  expect(await createGateway(asp.ports).queryStatus(other, [id])).toMatchObject([{ code: OUTCOME.expired }])
  expect(await ask('1;')).toBe('1=NOTFOUND&')
})

describe('ids', () => {
  test('are answered in request order, as often and as they were given', async () => {
    await start(decided(0))
    const status = 'DELIVERED;2026/10/18;18:24:05;0'
    expect(await ask('9;x;+3+;;9;007')).toBe(`9=${status}&x=NOTFOUND&3=${status}&9=${status}&007=${status}&`)
  })

  test('are echoed so that they forge no other answer', async () => {
    await start()
    expect(await ask('1%26x%3DDELIVERED')).toBe('1%26x%3DDELIVERED=NOTFOUND&')
  })

  test('up to 2^53-1 are ids, and beyond that are not found', async () => {
    await start(decided(0))
    expect(await ask('9007199254740991;9007199254740992;')).toMatch(
      /^9007199254740991=DELIVERED;.*&9007199254740992=NOTFOUND&$/,
    )
  })

  test('a hundred are answered, with or without a last ;', async () => {
    await start()
    const ids = Array.from({ length: 100 }, (_, i) => `${i + 1}`).join(';')
    expect((await ask(ids)).match(/NOTFOUND/g)).toHaveLength(100)
    expect((await ask(`${ids};`)).match(/NOTFOUND/g)).toHaveLength(100)
  })

  test.each(['', ';', ' ; ', '1;%00'])('"%s" are none', async (ids) => {
    await start()
    expect(await ask(ids)).toBe('Error="No message ids supplied"')
  })

  test('more than a hundred are an error, in one parameter or in two', async () => {
    await start()
    const ids = Array.from({ length: 101 }, (_, i) => `${i + 1}`)
    const error = 'Error="Too many message ids supplied"'
    expect(await ask(ids.join(';'))).toBe(error)
    expect(await ask(`${ids.slice(0, 50).join(';')}&messageid=${ids.slice(50).join(';')}`)).toBe(error)
  })
})
