import { credits } from '@gateway/core/credits'
import { OUTCOME, type OutcomeCode } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import { aNumber } from '@gateway/core/testing'
import { startAsp, type Asp, type AspOptions } from '../../testing/start-asp.ts'

let asp: Asp
const start = async (options?: AspOptions) => {
  asp = await startAsp(options)
}
afterEach(() => asp.close())

const ask = async (ids: string) => (await asp.get('requestbatch.asp', `messageid=${ids}`)).text
/** Wraps the gateway so that every id has this outcome, reached at 2026-10-18 18:24:05 in gateway time. */
const decided = (code: OutcomeCode): AspOptions => ({
  gateway: (gateway) => ({
    ...gateway,
    queries: {
      ...gateway.queries,
      queryStatus: (_account, ids) => {
        const at = instant(Date.UTC(2026, 9, 18, 16, 24, 5))
        return Promise.resolve(ids.map(() => ({ code, at, number: aNumber(), cost: credits(10), staysCharged: true })))
      },
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
])('the outcome code %i is answered 7=%s&', async (code, text) => {
  await start(decided(code))
  expect(await ask('7;')).toBe(`7=${text}&`)
})

describe('ids', () => {
  test('are echoed so that they cannot forge another answer', async () => {
    await start()
    expect(await ask('1%26x%3DDELIVERED')).toBe('1%26x%3DDELIVERED=NOTFOUND&')
  })

  test('are valid up to 2^53-1, and not found beyond', async () => {
    await start(decided(0))
    expect(await ask('9007199254740991;9007199254740992;')).toMatch(
      /^9007199254740991=DELIVERED;.*&9007199254740992=NOTFOUND&$/,
    )
  })
})
