import { aNumber } from '@gateway/core/testing'
import { eventsWithoutNumber } from './events-without-number.ts'

const number = aNumber()
const other = '27820000100'
const message = (text: string | null, numbers: readonly string[]) => [
  ...[0, 5, 1, 0, 7, 10, true, null, null, null, text, numbers.map((_, i) => 7 + i), numbers],
]
const reply = (from: string, text: string | null) => [
  4,
  1,
  1,
  null,
  null,
  null,
  null,
  from,
  null,
  null,
  text,
  [9],
  null,
]

test.each([
  ['of one message', message('hi', [number]), message('', ['0'])],
  ['of one without its text', message(null, [number]), message(null, ['0'])],
  ['of a send with another', message('hi', [number, other]), message('hi', ['0', other])],
  ['of a reply', reply(number, 'yes'), reply('0', '')],
  ['of a reply with a plus', reply(`+${number}`, 'yes'), reply('0', '')],
  ['of another', reply(other, `call ${number}`), reply(other, `call ${number}`)],
  ['a copy', [...message('hi', [number]), true], [...message('', ['0']), true]],
])('%s', (_, before, after) => {
  expect(JSON.parse(eventsWithoutNumber(JSON.stringify([before]), number))).toEqual([after])
})

test('an id of the same digits stays, and what cannot be read loses the number wherever it is a value', () => {
  const sameDigits = [[0, 5, 1, 0, Number(number), 10, true, null, null, null, null, [Number(number)], [number]]]
  const after = JSON.parse(eventsWithoutNumber(JSON.stringify(sameDigits), number)) as unknown[][]
  expect([after[0]?.[4], after[0]?.[11], after[0]?.[12]]).toEqual([Number(number), [Number(number)], ['0']])
  expect(eventsWithoutNumber(`{"to":"${number}","of":"+${number}"`, number)).toBe('{"to":"0","of":"0"')
})
