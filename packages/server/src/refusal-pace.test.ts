import { refusalPace } from './refusal-pace.ts'

test('what comes faster is held back to the rate, and networks take turns', async () => {
  const pace = refusalPace({ perSecond: 100 })
  const begun = performance.now()
  expect(pace.turn('a')).toBeUndefined()
  const answered: string[] = []
  const waiting = ['a1', 'a2', 'a3', 'b1'].map(async (name) => {
    await pace.turn(name.slice(0, 1))
    answered.push(name)
  })
  expect(pace.waiting).toBe(4)
  await Promise.all(waiting)
  expect(answered).toEqual(['a1', 'b1', 'a2', 'a3'])
  // Four of them, 10 ms apart; a timer of node may be early by one.
  expect(performance.now() - begun).toBeGreaterThanOrEqual(36)
  expect(pace.waiting).toBe(0)
})

test('where too many wait, the newest of the network with most is let go', async () => {
  const pace = refusalPace({ perSecond: 100, waitingMax: 2 })
  void pace.turn('a')
  const answered: string[] = []
  const wait = async (name: string) => {
    await pace.turn(name.slice(0, 1))
    answered.push(name)
  }
  const waiting = [wait('a1'), wait('a2')]
  expect(pace.turn('a')).toBeUndefined()
  waiting.push(wait('b1'))
  expect(pace.waiting).toBe(2)
  await Promise.all(waiting)
  expect(answered).toEqual(['a2', 'a1', 'b1'])
})

test('refusals that come no faster than the rate are answered at once, also after a flood', async () => {
  const pace = refusalPace({ perSecond: 100 })
  void pace.turn('a')
  await Promise.all([pace.turn('a'), pace.turn('b')])
  await new Promise((resolve) => setTimeout(resolve, 25))
  expect(pace.turn('a')).toBeUndefined()
})
