import { instant, secondsAfter, type Instant, type LoginFailures } from '@gateway/core'
import { exchangedFailures } from './exchanged-failures.ts'

const now = instant(Date.UTC(2026, 9, 18))

type Others = Awaited<ReturnType<LoginFailures['exchange']>>

/** A store of which each answer is given by the test, and pauses that the test ends. */
function setUp() {
  const asked: { readonly keys: Readonly<Record<string, number>>; readonly seconds: number }[] = []
  const answers: { readonly resolve: (others: Others) => void; readonly reject: (error: Error) => void }[] = []
  const pauses: (() => void)[] = []
  const learnt: (readonly [string, readonly Instant[]])[] = []
  const store: LoginFailures = {
    exchange: (_by, failed, seconds) => {
      asked.push({ keys: Object.fromEntries(failed.map(({ key, failures }) => [key, failures])), seconds })
      return new Promise((resolve, reject) => answers.push({ resolve, reject }))
    },
  }
  const counts = { learn: (key: string, others: readonly Instant[]) => void learnt.push([key, others]) }
  const paused = () => new Promise<void>((resolve) => pauses.push(resolve))
  return { tell: exchangedFailures(store, counts, 60, paused), asked, answers, pauses, learnt }
}

const settled = () => new Promise(setImmediate)

test('the first failure is told at once, and what fails meanwhile a second later, in one exchange', async () => {
  const { tell, asked, answers, pauses } = setUp()
  tell('a', now)
  expect(asked).toEqual([{ keys: { a: 1 }, seconds: 60 }])
  for (const key of ['a', 'b', 'a']) tell(key, now)
  answers[0]?.resolve([[]])
  await settled()
  expect(asked).toHaveLength(1)
  pauses[0]?.()
  await settled()
  expect(asked[1]?.keys).toEqual({ a: 2, b: 1 })
})

test('there are never two exchanges at a time, and none where nothing failed', async () => {
  const { tell, asked, answers, pauses } = setUp()
  tell('a', now)
  tell('b', now)
  pauses[0]?.()
  await settled()
  expect(asked).toHaveLength(1)
  answers[0]?.resolve([[]])
  await settled()
  expect(asked).toHaveLength(2)
  answers[1]?.resolve([[]])
  pauses[1]?.()
  await settled()
  expect(asked).toHaveLength(2)
})

test('what others told is learnt as long ago as it is for the store', async () => {
  const { tell, answers, learnt } = setUp()
  tell('a', now)
  answers[0]?.resolve([
    [
      { failures: 2, seconds: 45 },
      { failures: 1, seconds: 90 },
    ],
  ])
  await settled()
  expect(learnt).toEqual([['a', [secondsAfter(now, -15), secondsAfter(now, -15), now]]])
})

test('of an exchange that failed nothing is learnt or told again, and the next one is made', async () => {
  const { tell, asked, answers, pauses, learnt } = setUp()
  tell('a', now)
  tell('b', now)
  answers[0]?.reject(new Error('no database'))
  pauses[0]?.()
  await settled()
  expect(learnt).toEqual([])
  expect(asked[1]?.keys).toEqual({ b: 1 })
})

test('no more than 100 users are told at a time, whatever fails', async () => {
  const { tell, asked, answers, pauses } = setUp()
  for (let i = 0; i < 1000; i++) tell(`${i}`, now)
  answers[0]?.resolve([[]])
  pauses[0]?.()
  await settled()
  expect(Object.keys(asked[1]?.keys ?? {})).toHaveLength(100)
})
