import { createBackOffice } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import type { TransferRefusal } from '@gateway/core/credits'
import { anAccount } from '@gateway/core/testing'
import { keyFor, startRest, type Rest } from '../../../testing/start-rest.ts'
import { TRANSFER_ERROR } from '@gateway/wire'

let rest: Rest
let one: Account
let other: Account
let stranger: Account
beforeEach(async () => {
  rest = await startRest()
  one = await anAccount(rest.ports, { parent: rest.account.id })
  other = await anAccount(rest.ports, { parent: rest.account.id })
  stranger = await anAccount(rest.ports)
})
afterEach(() => rest.close())

const path = '/credits/transfer'
const main = () => rest.account.id
const bodyOf = (from: unknown, to: unknown, quantity: unknown) => ({
  sendingAccountNumber: from,
  receivingAccountNumber: to,
  transferQuantity: quantity,
})
const transfer = (from: number, to: number, quantity: number, key = rest.key) =>
  rest.post(path, bodyOf(from, to, quantity)).set('Authorization', key)
const answerOf = (answer: { text: string }) => /"statusCode":200,(.*)\}$/.exec(answer.text)?.[1]
const refused = (word: string) => `"transferSuccessful":false,"transferError":"${word}"`
const lock = (account: Account) => createBackOffice(rest.ports).commands.lockAccount(account.id)
const balances = () =>
  Promise.all([rest.account, one, other, stranger].map((account) => rest.ports.ledger.balance(account.id)))

describe('the first refusal that applies is answered, and nothing is moved', () => {
  const rows: readonly [string, string, () => Promise<unknown>][] = [
    ['a sender of 0', 'invalidFromAccount', () => transfer(0, main(), 1)],
    ['a negative sender', 'invalidFromAccount', () => transfer(0 - main(), main(), 1)],
    ['a sender beyond 2^31', 'invalidFromAccount', () => transfer(4_294_967_296 + main(), main(), 1)],
    [
      'an unknown receiver, before any lock',
      'invalidToAccount',
      async () => {
        await lock(rest.account)
        return transfer(main(), 999, 0)
      },
    ],
    [
      'two locked ones: the sender',
      'lockedFromAccount',
      async () => {
        await Promise.all([lock(one), lock(other)])
        return transfer(one.id, other.id, 0)
      },
    ],
    ['a negative quantity', 'invalidQuantity', () => transfer(main(), one.id, -5)],
    ['one credit more than the balance', 'insufficientCredits', () => transfer(main(), one.id, 101)],
  ]
  test.each(rows)('%s: %s', async (_title, word, ask) => {
    expect(answerOf((await ask()) as { text: string })).toBe(refused(word))
    expect(await balances()).toEqual([1000, 1000, 1000, 1000])
  })

  test.each([26, 308, 309, 10_000])(
    'a quantity of %i digits is a whole number and is refused as invalidQuantity',
    async (digits) => {
      const body = JSON.stringify(bodyOf(main(), one.id, 7)).replace('7}', `${'9'.repeat(digits)}}`)
      expect(answerOf(await rest.post(path, body))).toBe(refused('invalidQuantity'))
    },
  )

  test('each refusal has its word', () => {
    const words: Record<Exclude<TransferRefusal, 'failed'>, string> = {
      'invalid-from-account': 'invalidFromAccount',
      'invalid-to-account': 'invalidToAccount',
      'from-account-locked': 'lockedFromAccount',
      'to-account-locked': 'lockedToAccount',
      'same-account': 'sameAccount',
      'invalid-quantity': 'invalidQuantity',
      'insufficient-credits': 'insufficientCredits',
    }
    expect(TRANSFER_ERROR).toEqual(words)
  })
})

describe('a body of the wrong shape is answered with 422, and nothing is moved', () => {
  test.each<[unknown, string]>([
    [[], 'The body must be an object; got an array.'],
    [null, 'The body must be an object; got null.'],
    [bodyOf(undefined, 2, 1), 'sendingAccountNumber is missing.'],
    [bodyOf(1, undefined, 1), 'receivingAccountNumber is missing.'],
    [bodyOf(1, 2, undefined), 'transferQuantity is missing.'],
    [bodyOf('W1', 2, 1), 'sendingAccountNumber must be a whole number; got a string.'],
    [bodyOf('1', 2, 1), 'sendingAccountNumber must be a whole number; got a string.'],
    [bodyOf(1, '2', 1), 'receivingAccountNumber must be a whole number; got a string.'],
    [bodyOf(1, 2, '1'), 'transferQuantity must be a whole number; got a string.'],
    [bodyOf(1, 2, 1.5), 'transferQuantity must be a whole number; got 1.5.'],
    [bodyOf(1, 2, null), 'transferQuantity must be a whole number; got null.'],
    [bodyOf(1, 2, true), 'transferQuantity must be a whole number; got true.'],
    [bodyOf(1, 2, [1]), 'transferQuantity must be a whole number; got an array.'],
  ])('%j', async (body, errorMessage) => {
    const answer = await rest.post(path, body)
    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ errorMessage })
    expect(await balances()).toEqual([1000, 1000, 1000, 1000])
  })

  test.each(['1e1', '1E0', '1.0', '1.00000000000000000001', '1e400', '-1.0'])('a quantity of %s', async (quantity) => {
    const body = JSON.stringify(bodyOf(main(), one.id, 7)).replace('7}', `${quantity}}`)
    const answer = await rest.post(path, body)
    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ errorMessage: `transferQuantity must be a whole number; got ${quantity}.` })
    expect(await balances()).toEqual([1000, 1000, 1000, 1000])
  })
})

describe('an internal failure', () => {
  const failing = async (transferCredits: () => Promise<'failed'>) => {
    const broken = await startRest({
      gateway: (gateway) => ({ ...gateway, commands: { ...gateway.commands, transferCredits } }),
    })
    const answer = await broken.post(path, bodyOf(1, 2, 1))
    await broken.close()
    return answer
  }

  test('after which certainly nothing was moved is answered with 503 and Retry-After, not with a refusal', async () => {
    const answer = await failing(() => Promise.resolve('failed'))
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1'])
    expect(answer.text).not.toContain('transferSuccessful')
  })

  test('after which the credits may have been moved is answered with 503 without Retry-After', async () => {
    const answer = await failing(() => Promise.reject(new Error('the answer was lost')))
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, undefined])
  })
})

describe('with an Idempotency-Key', () => {
  const moved = (key: string, body: object, by = rest.key) =>
    rest.post(path, body).set('Authorization', by).set('Idempotency-Key', key)

  test('a refused transfer stays refused; a wrong shape leaves the key free; a sub account has keys of its own', async () => {
    const body = bodyOf(main(), one.id, 101)
    expect((await moved('k', {})).status).toBe(422)
    expect(answerOf(await moved('k', body))).toBe(refused('insufficientCredits'))
    const back = bodyOf(one.id, main(), 50)
    expect(answerOf(await moved('k', back, await keyFor(rest.ports, one)))).toBe('"transferSuccessful":true')
    expect(answerOf(await moved('k', body))).toBe(refused('insufficientCredits'))
    expect((await moved('k\u0085', body)).status).toBe(422)
    expect(await balances()).toEqual([1500, 500, 1000, 1000])
  })
})
