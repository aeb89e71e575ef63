import { aNumber } from '@gateway/core/testing'
import { eventsWithoutNumber } from './postgres-personal-data.ts'

const number = aNumber()
const other = '27820000100'
const message = (text: string | undefined, numbers: readonly string[]) => ({
  ...{ type: 0, sequence: 5, at: 1, code: 0, send: 7, price: 10, hasReference: true },
  ...(text !== undefined && { text }),
  ...{ subjects: numbers.map((_, i) => 7 + i), numbers },
})
const reply = (from: string, text: string) => ({ type: 4, sequence: 1, at: 1, from, text, subjects: [9] })

test.each([
  ['of one message', message('hi', [number]), message('', ['0'])],
  ['of one without its text', message(undefined, [number]), message(undefined, ['0'])],
  ['of a send with another', message('hi', [number, other]), message('hi', ['0', other])],
  [
    'with references',
    { ...message(undefined, [number, other]), references: ['a', 'b'] },
    { ...message(undefined, ['0', other]), references: [null, 'b'] },
  ],
  ['of a reply', reply(number, 'yes'), reply('0', '')],
  ['of a reply with a plus', reply(`+${number}`, 'yes'), reply('0', '')],
  ['of another', reply(other, `call ${number}`), reply(other, `call ${number}`)],
  ['a copy', { ...message('hi', [number]), copy: true }, { ...message('', ['0']), copy: true }],
])('%s', (_, before, after) => {
  expect(JSON.parse(eventsWithoutNumber(JSON.stringify([before]), number))).toEqual([after])
})

test('an id with the same digits stays, and unreadable events lose the number wherever it is a value', () => {
  const same = { ...message(undefined, [number]), send: Number(number), subjects: [Number(number)] }
  expect(JSON.parse(eventsWithoutNumber(JSON.stringify([same]), number))).toEqual([{ ...same, numbers: ['0'] }])
  expect(eventsWithoutNumber(`{"to":"${number}","of":"+${number}"}`, number)).toBe('{"to":"0","of":"0"}')
})
