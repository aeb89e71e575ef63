import fc from 'fast-check'
import { accountAt } from '../account.ts'
import { providerNames, shippedProvider, type ProviderName } from '../providers.ts'
import { readCallback } from './read-callback.ts'

const readJson = (name: ProviderName, body: string) =>
  readCallback(accountAt(shippedProvider(name), {}), {
    method: 'POST',
    url: 'https://gw.example/carriers/x/callback',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(body),
  })

test.each([
  ['a body that is not JSON', 'telnyx', '{"data":', '{"data":'],
  ['an entry without a receipt or message', 'telnyx', '{"data":{"event_type":"call.hangup"}}', '{"data":{"event_type":"call.hangup"}}'],
  ['a list of receipts that is missing', 'infobip', '{"result":[]}', '{"result":[]}'],
  ['a receipt without an id', 'infobip', '{"results":[{"status":{"groupName":"DELIVERED"}}]}', '{"status":{"groupName":"DELIVERED"}}'],
] as const)('%s is kept as unread', (_, name, body, text) => {
  const entry = { reference: undefined, number: undefined, text }
  expect(readJson(name, body)).toEqual({ receipts: [], messages: [], unread: [entry] })
}) // prettier-ignore

test('one entry that cannot be read does not keep the others from being read', () => {
  const odd = { messageId: 'b', status: { groupName: 'NEW' } }
  const results = [{ messageId: 'a', status: { groupName: 'DELIVERED' } }, 7, odd]
  const { receipts, unread } = readJson('infobip', JSON.stringify({ results }))
  expect([receipts.map(({ reference }) => reference), unread.map(({ reference, text }) => [reference, text])]).toEqual([
    ['a'],
    [[undefined, '7'], ['b', JSON.stringify(odd)]],
  ])
}) // prettier-ignore

test('a state that every object inherits is unread', () => {
  const body = JSON.stringify({ results: [{ messageId: 'a', status: { groupName: 'constructor' } }] })
  expect(readJson('infobip', body).unread).toHaveLength(1)
})

test('a blank text of a person is a message', () => {
  const body = JSON.stringify({ results: [{ messageId: 'a', from: '27825550101', to: '12345', text: '' }] })
  expect(readJson('infobip', body).messages).toMatchObject([{ from: '27825550101', to: '12345', text: '' }])
})

test('a group of parts that is not a number has the same number in each part', () => {
  const partOf = (reference: string, number: number) => {
    const fields = { type: 'text', msisdn: '27825550101', text: 'x', 'concat-ref': reference }
    return readJson('vonage', JSON.stringify({ ...fields, 'concat-part': number, 'concat-total': 2 })).messages[0]?.part
  }
  expect(partOf('08B5', 1)?.group).toBe(partOf('08B5', 2)?.group)
  expect(partOf('08B5', 1)?.group).not.toBe(partOf('08B6', 1)?.group)
  expect(partOf('212', 2)).toEqual({ group: 212, number: 2, of: 2 })
})

test('no body makes the reader fail, and none is dropped silently unless the description says so', () => {
  const bodies = fc.oneof(
    fc.string(),
    fc.json(),
    fc.jsonValue().map((value) => JSON.stringify({ results: [value] })),
  )
  fc.assert(
    fc.property(fc.constantFrom(...providerNames), bodies, (name, body) => {
      const { receipts, messages, unread } = readJson(name, body)
      for (const { reference } of receipts) expect(reference).not.toBe('')
      const isEmptyList = /^\s*\[\s*\]\s*$/.test(body)
      if (name !== 'infobip' && name !== 'bulksms') expect(receipts.length + messages.length + unread.length).toBe(1)
      else expect(receipts.length + messages.length + unread.length > 0 || isEmptyList).toBe(true)
    }),
  )
})
