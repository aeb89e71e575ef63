import { latestMessages, type StoredMessage } from './message-store.ts'

const message = (number: number, systemId = 'gateway'): StoredMessage => ({
  ...{ number, systemId, at: 0, fromTon: 1, fromNpi: 1, from: '12345', toTon: 1, toNpi: 1, to: '972501234567' },
  ...{ receipts: ['DELIVRD'], reply: undefined, done: 0, state: undefined },
})

test('a message is found by its number until the maximum number of newer messages has been added', () => {
  const latest = latestMessages(3)
  for (const number of [100, 101, 102]) latest.add(message(number))
  expect([100, 101, 102].map((number) => latest.find(number))).toEqual([100, 101, 102].map((number) => message(number)))
  latest.add(message(103))
  expect(latest.find(100)).toBeUndefined()
  expect(latest.find(103)).toEqual(message(103))
  expect([97, 104, 106, NaN, 100.5].map((number) => latest.find(number))).toEqual(Array(5).fill(undefined))
})

test('only the state and system id of an ended message are kept, even if its number was dropped', () => {
  const latest = latestMessages(2)
  const [first, second] = [message(7), message(8, 'other')]
  latest.add(first)
  latest.add(second)
  first.state = 'UNDELIV'
  latest.end(first)
  expect(latest.find(7)).toEqual({ systemId: 'gateway', state: 'UNDELIV', hasEnded: true })
  expect(latest.find(8)).toBe(second)
  latest.add(message(9))
  latest.end(first)
  expect(latest.find(9)).toEqual(message(9))
})
