import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { providerNames, shippedProvider } from '../providers.ts'
import { isUsable, readDescription } from './read-description.ts'
import { descriptionSchema } from './schema.ts'

const send = { url: 'https://sms.example/send', json: { to: '{to}', text: '{text}' } }
const answer = { id: '/id', rules: [{ status: '2xx', is: 'accepted' }] }
const smallest = { send, answer }
const callbacks = {
  signature: { algorithm: 'hmac-sha256', key: '{secret.key}', over: ['body'], at: 'header:x-signature' },
  receipt: { reference: '/id', state: '/state', states: { DELIVRD: 'delivered' } },
}

const problemsOf = (description: unknown): readonly string[] => {
  const read = readDescription(description)
  return isUsable(read) ? [] : read.problems
}

test('the published schema is the one that descriptions are checked with', async () => {
  const published = await readFile(new URL('../../../../docs/http-provider.schema.json', import.meta.url), 'utf8')
  expect(JSON.parse(published)).toEqual(JSON.parse(JSON.stringify(descriptionSchema)))
})

test.each(providerNames)('the shipped description of %s is right', (name) => {
  expect(problemsOf(shippedProvider(name).description)).toEqual([])
})

test('nothing that is JSON makes the check of a description fail', () => {
  const values = fc.oneof(
    fc.jsonValue(),
    fc.record({ send: fc.jsonValue(), answer: fc.jsonValue(), callbacks: fc.jsonValue() }),
    fc.record({ pattern: fc.string({ minLength: 1 }), text: fc.string() }).map(({ pattern, text }) => ({
      send: { url: '/send', json: { a: text } },
      answer: { id: { pattern }, rules: [{ pattern, is: 'accepted' }] },
    })),
  )
  fc.assert(
    fc.property(values, (value) => {
      const read = readDescription(value)
      expect(isUsable(read) || read.problems.length > 0).toBe(true)
    }),
  )
})

test('a description names its secrets, and patterns are compiled', () => {
  const read = readDescription({
    ...{ answer: { ...answer, error: { pattern: 'ERR (\\d+)' } }, callbacks },
    send: { ...send, headers: { authorization: 'Bearer {secret.token}' } },
  })
  expect(isUsable(read) && [[...read.sendSecrets], [...read.callbackSecrets], [...read.patterns.keys()]]).toEqual([
    ['token'],
    ['key', 'path'],
    ['ERR (\\d+)'],
  ])
})

test.each([
  ['no object', 'text', '/: object is expected'],
  ['a missing field', { send }, '/: "answer" is missing'],
  ['an unknown field', { ...smallest, sned: {} }, '/: there is no field "sned"'],
  ['an unknown field of a rule', { send, answer: { ...answer, rules: [{ is: 'accepted', stauts: 200 }] } }, '/answer/rules/0: there is no field "stauts"'],
  ['an unknown outcome', { send, answer: { ...answer, rules: [{ is: 'ok' }] } }, '/answer/rules/0/is: one of accepted, refused, throttled, unknown, broken is expected'],
  ['a status that is none', { send, answer: { ...answer, rules: [{ status: 'ok', is: 'accepted' }] } }, '/answer/rules/0/status: must match pattern'],
  ['a pointer without a slash', { send, answer: { ...answer, id: 'id' } }, '/answer/id: must match pattern'],
  ['two bodies', { answer, send: { ...send, form: { a: 'b' } } }, '/send: form and json exclude each other'],
  ['a GET request with a body', { answer, send: { ...send, method: 'GET' } }, '/send: a GET request has no body'],
  ['a URL of another scheme', { answer, send: { url: 'ftp://sms.example/' } }, '/send/url: must match pattern'],
  ['an unknown placeholder', { answer, send: { ...send, json: { a: [{ 'b/c': 'x{form}' }] } } }, '/send/json/a/0/b~1c: there is no placeholder {form}'],
  ['a placeholder that may be missing in a URL', { answer, send: { ...send, url: 'https://sms.example/{from}' } }, '/send/url: {from} may be missing'],
  ['a placeholder in the host', { answer, send: { ...send, url: 'https://{secret.host}/send' } }, '/send/url: the host has no placeholders'],
  ['a text in a header', { answer, send: { ...send, headers: { 'x-text': '{text}' } } }, '/send/headers/x-text: {text} stands in no header'],
  ['a pattern that does not compile', { send, answer: { ...answer, rules: [{ pattern: '(', is: 'refused' }] } }, '/answer/rules/0/pattern: '],
  ['a pattern that needs backtracking', { send, answer: { ...answer, rules: [{ pattern: '(a)\\1', is: 'refused' }] } }, '/answer/rules/0/pattern: '],
  ['values without a place', { send, answer: { ...answer, rules: [{ in: [1], is: 'refused' }] } }, '/answer/rules/0/in: at or header is missing'],
  ['a price without an amount', { send, answer: { ...answer, price: { amount: '/p', pattern: '[0-9]+' } } }, '/answer/price/pattern: the group "amount" is missing'],
  ['a secret that is not explained', { ...smallest, secrets: {}, send: { ...send, basic: ['{secret.user}', ''] } }, '/secrets: "user" is missing'],
  ['a secret that nothing uses', { ...smallest, secrets: { user: 'x' } }, '/secrets/user: no placeholder names it'],
  ['a signature without a key', { ...smallest, callbacks: { signature: { algorithm: 'hmac-sha1', over: ['body'], at: 'header:x' } } }, '/callbacks/signature: hmac-sha1 needs "key"'],
  ['basic authentication without a pair', { ...smallest, callbacks: { signature: { algorithm: 'basic', key: 'x' } } }, '/callbacks/signature/key: a list of user and password is expected'],
  ['an unknown algorithm', { ...smallest, callbacks: { signature: { algorithm: 'crc32' } } }, '/callbacks/signature/algorithm: one of hmac-sha1'],
  ['an unknown state', { ...smallest, callbacks: { ...callbacks, receipt: { ...callbacks.receipt, states: { A: 'done' } } } }, '/callbacks/receipt/states/A: one of delivered'],
])('%s: the error names the field', (_, description, problem) => {
  expect(problemsOf(description)).toEqual([expect.stringContaining(problem)])
}) // prettier-ignore

test('several problems are named at once, each once, and at most ten', () => {
  const rules = Array.from({ length: 12 }, () => ({ is: 'ok', stauts: 1 }))
  const problems = problemsOf({ answer: { id: '/id', rules } })
  expect([problems.length, problems[0], problems.at(-1)]).toEqual([11, '/: "send" is missing', 'and 15 more'])
})
