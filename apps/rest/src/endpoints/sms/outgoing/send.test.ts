import { request as httpRequest } from 'node:http'
import { createGateway } from '@gateway/core'
import { readIdempotencyKey } from '@gateway/core/client-requests'
import { credits } from '@gateway/core/credits'
import type { Refusal } from '@gateway/core/messages'
import { numbers } from '@gateway/core/testing'
import { startRest, type Rest, type RestOptions } from '../../../../testing/start-rest.ts'
import { RECIPIENT_ERROR } from '@gateway/wire'

let rest: Rest
const start = async (options?: RestOptions) => {
  rest = await startRest(options)
}
afterEach(() => rest.close())

const path = '/sms/outgoing/send'
const to = (...mobileNumbers: string[]) => mobileNumbers.map((mobileNumber) => ({ mobileNumber }))
const one = '27825550101'

interface Recipient {
  readonly acceptError: string
  readonly apiMessageId: number | null
}
const recipientsOf = (answer: { body: unknown }) => (answer.body as { recipients: readonly Recipient[] }).recipients

test('an answer echoes a hostile number as an escaped string', async () => {
  await start()
  const hostile = '"},{"accepted":true\n\u2028'
  const answer = await rest.post(path, { message: 'hello', recipients: to(hostile) })
  expect(recipientsOf(answer)).toMatchObject([{ mobileNumber: hostile.trim(), accepted: false }])
})

test('has the word of the query-string interface', async () => {
  await start()
  const words: Record<Refusal, string> = {
    'account-locked': 'ACCOUNTLOCKED',
    'no-message': 'NO MESSAGE',
    'too-long': 'TOOLONG',
    'no-number': 'BADDEST',
    'invalid-number': 'BADDEST',
    blacklisted: 'BADDEST',
    'trial-to-self': 'TRIALNOT2SELF',
    'opted-out': 'OPTEDOUT',
    'do-not-contact': 'WASPADNC',
    'insufficient-credits': 'INSUFFICIENT CREDITS',
  }
  expect(RECIPIENT_ERROR).toEqual(words)
})

describe('scheduledTime', () => {
  const sendAt = async (scheduledTime: unknown) => rest.post(path, { message: 'x', recipients: to(one), scheduledTime })

  test.each(['202610181000', '000101010000', '  '])('%j means now and is echoed as null', async (time) => {
    await start()
    expect(recipientsOf(await sendAt(time))).toMatchObject([{ accepted: true, scheduledTime: null }])
  })

  test.each(['tomorrow', '202602301200', '2026101810011', ' 202610181001', 0, -1, 20261018.5, '202610182400', '0'])(
    '%j is no time: 422, and nothing is sent',
    async (time) => {
      await start()
      const answer = await sendAt(time)
      expect(answer.status).toBe(422)
      expect(answer.body).toMatchObject({
        errorMessage: expect.stringMatching(/^scheduledTime must be a time YYYYMMDDHHmm; got .+\.$/) as string,
      })
      expect((await rest.get('/credits/balance')).body).toMatchObject({ creditBalance: 100 })
    },
  )
})

describe('a body of the wrong shape', () => {
  const good = { message: 'hello', recipients: to(one) }
  const [high, nul] = ['\ud83d', '\0']
  const recipientsError = (got: string) => `recipients must be an array of 1 to 1000 objects; got ${got}.`

  test.each<[unknown, string]>([
    [[], 'The body must be an object; got an array.'],
    [null, 'The body must be an object; got null.'],
    ['"text"', 'The body must be an object; got a string.'],
    [{ recipients: to(one) }, 'message is missing.'],
    [{ ...good, message: 5 }, 'message must be a string; got a number.'],
    [{ ...good, message: null }, 'message must be a string; got null.'],
    [{ ...good, message: '' }, 'message must not be blank.'],
    [{ ...good, message: ' \n' }, 'message must not be blank.'],
    [{ ...good, message: '\u200b' }, 'message must not be blank.'],
    [{ ...good, message: `a${nul}` }, 'message must not contain U+0000 or an unpaired surrogate.'],
    [{ ...good, message: `a${high}` }, 'message must not contain U+0000 or an unpaired surrogate.'],
    [{ message: 'hello' }, 'recipients is missing.'],
    [{ ...good, recipients: [] }, recipientsError('an empty array')],
    [{ ...good, recipients: one }, recipientsError('a string')],
    [{ ...good, recipients: { 0: { mobileNumber: one } } }, recipientsError('an object')],
    [{ ...good, recipients: to(...numbers(1000), one) }, recipientsError('an array of 1001')],
    [{ ...good, recipients: [one] }, 'recipients.0 must be an object; got a string.'],
    [{ ...good, recipients: [...to(one), {}] }, 'recipients.1.mobileNumber is missing.'],
    [
      { ...good, recipients: [{ mobileNumber: 27825550101 }] },
      'recipients.0.mobileNumber must be a string of digits; got a number.',
    ],
    [
      { ...good, recipients: to(`${one}${high}`) },
      'recipients.0.mobileNumber must not contain U+0000 or an unpaired surrogate.',
    ],
    [
      { ...good, recipients: [{ mobileNumber: one, clientMessageId: 7 }] },
      'recipients.0.clientMessageId must be a string without U+0000 or an unpaired surrogate; got 7.',
    ],
    [
      { ...good, recipients: [{ mobileNumber: one, clientMessageId: nul }] },
      'recipients.0.clientMessageId must not contain U+0000 or an unpaired surrogate.',
    ],
    [{ ...good, maxSegments: 0 }, 'maxSegments must be a whole number from 1 to 6; got 0.'],
    [{ ...good, maxSegments: 7 }, 'maxSegments must be a whole number from 1 to 6; got 7.'],
    [{ ...good, maxSegments: 1.5 }, 'maxSegments must be a whole number from 1 to 6; got 1.5.'],
    [{ ...good, maxSegments: '3' }, 'maxSegments must be a whole number from 1 to 6; got "3".'],
    [{ ...good, validityMinutes: 0 }, 'validityMinutes must be a whole number from 1 to 4320; got 0.'],
    [{ ...good, validityMinutes: 4321 }, 'validityMinutes must be a whole number from 1 to 4320; got 4321.'],
    [{ ...good, validityMinutes: '60' }, 'validityMinutes must be a whole number from 1 to 4320; got "60".'],
    [{ ...good, priority: 4 }, 'priority must be a whole number from 0 to 3; got 4.'],
    [{ ...good, priority: -1 }, 'priority must be a whole number from 0 to 3; got -1.'],
    [{ ...good, priority: '2' }, 'priority must be a whole number from 0 to 3; got "2".'],
    [{ ...good, flash: 1 }, 'flash must be true or false; got 1.'],
    [{ ...good, flash: 'true' }, 'flash must be true or false; got "true".'],
    [{ ...good, scheduledTime: true }, 'scheduledTime must be a string or a number YYYYMMDDHHmm; got true.'],
  ])('is answered with 422 and names the field, row %#', async (body, errorMessage) => {
    await start()
    const answer = await rest.post(path, body)
    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ errorMessage })
  })
})

describe('a body with unknown or omitted fields', () => {
  test.each([
    '"unknown":{"deep":[1]},"campaign":"\\ud83d\\u0000"',
    '"__proto__":{"maxSegments":1},"constructor":null,"toString":1',
  ])('is sent: %s', async (fields) => {
    await start()
    const answer = await rest.post(path, `{"message":"x","recipients":[{"mobileNumber":"${one}"}],${fields}}`)
    expect(recipientsOf(answer)).toMatchObject([{ accepted: true }])
    expect(({} as Record<string, unknown>)['maxSegments']).toBeUndefined()
  })

  test('treats inherited properties as missing', async () => {
    await start()
    const answer = await rest.post(path, `{"__proto__":{"message":"x","recipients":[{"mobileNumber":"${one}"}]}}`)
    expect(answer.status).toBe(422)
  })
})

test('a full store leads to 503 with Retry-After, and nothing is charged', async () => {
  await start({
    gateway: (gateway) => ({
      ...gateway,
      commands: { ...gateway.commands, sendMessages: () => Promise.resolve('overloaded') },
    }),
  })
  const answer = await rest.post(path, { message: 'x', recipients: to(one) })
  expect(answer.status).toBe(503)
  expect(answer.headers['retry-after']).toBe('1')
})

describe('with an Idempotency-Key', () => {
  const body = {
    message: 'x'.repeat(161),
    recipients: [...to(one, 'x'), { mobileNumber: '27825550102', clientMessageId: 'a"1' }],
    scheduledTime: '202610190000',
  }
  const sent = (key: string, sendBody: object | string = body) => rest.post(path, sendBody).set('Idempotency-Key', key)
  const withoutTime = ({ text }: { text: string }) => text.replace(/"timeStamp":"[0-9]{17}"/, '')
  const balance = async () => (await rest.get('/credits/balance')).text

  test('a repeated request gets the first answer byte for byte, except for its time, and is carried out once', async () => {
    await start({ account: { credits: 35 } })
    const first = await sent('k')
    expect(recipientsOf(first)).toMatchObject([
      { apiMessageId: 1, creditCost: 2, newCreditBalance: 1.5 },
      { acceptError: 'BADDEST' },
      { clientMessageId: 'a"1', acceptError: 'INSUFFICIENT CREDITS' },
    ])
    rest.clock.step(47 * 3600)
    await rest.ports.ledger.topUp(rest.account.id, credits(500), 'meanwhile', rest.clock.now())
    // The same request in another notation.
    const spaced = JSON.stringify({ extra: 1, maxSegments: 6, ...body, scheduledTime: 202610190000 }, undefined, 2)
    for (const again of [await sent('k'), await sent('k', spaced), await sent(' k ')]) {
      expect([again.status, withoutTime(again)]).toEqual([200, withoutTime(first)])
      expect(again.text).not.toBe(first.text)
    }
    expect(await balance()).toContain('"creditBalance":51.5')
  })

  test.each(['', '  ', '\t'])('a blank one (%j) counts as missing', async (key) => {
    await start()
    for (const id of [1, 2]) expect(recipientsOf(await sent(key))[0]).toMatchObject({ apiMessageId: 2 * id - 1 })
  })

  test.each([
    ['k'.repeat(256), `"${'k'.repeat(60)}…"`],
    ['a\tb', '"a\\tb"'],
    ['a\u0085b', '"a\u0085b"'],
  ])('%j is an invalid key: 422 names it after the body was checked, and nothing is sent', async (key, named) => {
    await start()
    const answer = await sent(key)
    expect([answer.status, answer.body]).toMatchObject([
      422,
      { errorMessage: `Idempotency-Key must be 1 to 255 printable characters; got ${named}.` },
    ])
    expect((await sent(key, '{')).status).toBe(400)
    expect(await balance()).toContain('"creditBalance":100.0')
  })

  test('the first of two headers counts; a key in UTF-8 is the same as in the other interfaces', async () => {
    await start()
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const keys = ['clé €', 'other'].map((key) => Buffer.from(key).toString('latin1'))
      const headers = { Authorization: rest.key, 'Content-Type': 'application/json', 'Idempotency-Key': keys }
      const options = { method: 'POST', headers }
      httpRequest(`${rest.url}/api/rest/v1${path}`, options, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end(Buffer.from(JSON.stringify({ message: 'x', recipients: to(one) })))
    })
    expect(status).toBe(200)
    const key = readIdempotencyKey('clé €')
    if (key === undefined || key === 'unusable') throw new Error('no key')
    const again = await createGateway(rest.ports).commands.sendMessages(
      rest.account,
      [{ text: 'x', recipients: [one] }],
      key,
    )
    expect(again).toMatchObject([[{ id: 1 }]])
  })
})
