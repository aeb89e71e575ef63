import { anAccount, anOrder, aNumber, memoryPorts, numbers, steppingClock, until } from '@gateway/core/testing'

test('numbers are different mobile numbers with the requested ending', () => {
  expect(numbers(2)).toEqual(['27820000000', '27820000100'])
  const many = numbers(100_000, '93')
  expect(new Set(many).size).toBe(100_000)
  expect(many.every((number) => number.endsWith('93') && number === aNumber(number))).toBe(true)
})

test('an account is opened as wanted, and its order is charged as wanted', async () => {
  const ports = memoryPorts({ clock: steppingClock() })
  const main = await anAccount(ports)
  const sub = await anAccount(ports, { parent: main.id, credits: 35, login: 'sub' })
  expect(sub).toMatchObject({ parent: main.id, login: 'sub', locked: false })
  expect((await anAccount(ports, { locked: true })).locked).toBe(true)
  expect(await ports.messages.accept(anOrder(sub.id, { to: numbers(4), costs: [20, 5] }))).toMatchObject({
    results: [[1, 2, 3, 4]],
    balance: 0,
  })
})

test('until returns the result of the condition, throws its error, and ends', async () => {
  let count = 0
  expect(await until(() => ++count > 3 && count)).toBe(4)
  await expect(until(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  await expect(until(() => false, 20)).rejects.toThrow('not met after 20 ms')
})
