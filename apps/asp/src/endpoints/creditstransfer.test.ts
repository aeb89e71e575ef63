import { createBackOffice } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import type { TransferRefusal } from '@gateway/core/credits'
import { anAccount } from '@gateway/core/testing'
import request from 'supertest'
import { startAsp, type Asp } from '../../testing/start-asp.ts'
import { TRANSFER_RESULT } from './creditstransfer.ts'

let asp: Asp
let one: Account
let other: Account
let stranger: Account
beforeEach(async () => {
  asp = await startAsp()
  one = await anAccount(asp.ports, { parent: asp.account.id })
  other = await anAccount(asp.ports, { parent: asp.account.id })
  stranger = await anAccount(asp.ports)
})
afterEach(() => asp.close())

const main = () => asp.account.id
const query = (from: number | string, to: number | string, quantity: number | string) =>
  `fromAccountId=${from}&toAccountId=${to}&transferQuantity=${quantity}`
const transfer = async (from: number | string, to: number | string, quantity: number | string) =>
  (await asp.get('creditstransfer.asp', query(from, to, quantity))).text
const lock = (account: Account) => createBackOffice(asp.ports).commands.lockAccount(account.id)
const balances = () =>
  Promise.all([asp.account, one, other, stranger].map((account) => asp.ports.ledger.balance(account.id)))

describe('the first refusal that applies is answered, and nothing is moved', () => {
  const rows: readonly [string, string, () => Promise<string>][] = [
    ['a sender of more digits than a number holds', 'invalidFromAccount', () => transfer('9'.repeat(400), one.id, 1)],
    ['a sender beyond 2^31', 'invalidFromAccount', () => transfer(4_294_967_296 + main(), one.id, 1)],
    ['a sender with %00', 'invalidFromAccount', () => transfer(`${main()}%00`, one.id, 1)],
    [
      'an unknown receiver, before any lock',
      'invalidToAccount',
      () => lock(asp.account).then(() => transfer(main(), 999, 0)),
    ],
    ['a receiver with a sign', 'invalidToAccount', () => transfer(main(), `-${one.id}`, 1)],
    ['the same account, written otherwise', 'sameAccount', () => transfer(one.id, `00${one.id}`, 1)],
    ['one more than there is', 'insufficientCredits', () => transfer(main(), one.id, 101)],
  ]
  test.each(rows)('%s: %s', async (_title, word, ask) => {
    expect(await ask()).toBe(`Transfer=${word}`)
    expect(await balances()).toEqual([1000, 1000, 1000, 1000])
  })

  test.each([
    '',
    '0',
    '000',
    '-5',
    '%2B5',
    '+5',
    '5+',
    '1.5',
    '1.0',
    '1e1',
    '0x5',
    '1,000',
    '5;',
    '5%0A',
    '5%00',
    '%D9%A5',
    'W5',
    'Infinity',
    'NaN',
    '1000000000001',
    '9'.repeat(400),
  ])('a quantity of "%.20s": invalidQuantity', async (quantity) => {
    expect(await transfer(main(), one.id, quantity)).toBe('Transfer=invalidQuantity')
    expect(await balances()).toEqual([1000, 1000, 1000, 1000])
  })

  test('each refusal has its word', () => {
    const words: Record<TransferRefusal, string> = {
      'invalid-from-account': 'invalidFromAccount',
      'invalid-to-account': 'invalidToAccount',
      'from-account-locked': 'lockedFromAccount',
      'to-account-locked': 'lockedToAccount',
      'same-account': 'sameAccount',
      'invalid-quantity': 'invalidQuantity',
      'insufficient-credits': 'insufficientCredits',
      failed: 'Fail',
    }
    expect(TRANSFER_RESULT).toEqual(words)
  })
})

describe('invalidUser, before anything else', () => {
  const transferWith = async (credentials: string) =>
    (await request(asp.url).get(`/api/creditstransfer.asp?${credentials}&${query(999, 999, 'x')}&clientref=1`)).text

  test('is the answer to the credentials of a sub account, even for its own credits', async () => {
    const backOffice = createBackOffice(asp.ports)
    await backOffice.commands.setPassword(one.id, 'another-one')
    const issued = await backOffice.commands.issueApiKey(one.id)
    if (typeof issued === 'string') throw new Error(issued)
    for (const credentials of [`apikey=${issued.key}`, `user=${one.login}&password=another-one`]) {
      expect(await transferWith(credentials)).toBe('Transfer=invalidUser')
      const own = `/api/creditstransfer.asp?${credentials}&${query(one.id, main(), 1)}`
      expect((await request(asp.url).get(own)).text).toBe('Transfer=invalidUser')
    }
    expect(await balances()).toEqual([1000, 1000, 1000, 1000])
  })
})

describe('an internal failure', () => {
  const failing = async (transferCredits: () => Promise<'failed'>) => {
    const broken = await startAsp({
      gateway: (gateway) => ({ ...gateway, commands: { ...gateway.commands, transferCredits } }),
    })
    const answer = await broken.get('creditstransfer.asp', query(1, 2, 1))
    await broken.close()
    return [answer.status, answer.text]
  }

  test('is answered with Fail if certainly nothing was moved', async () => {
    expect(await failing(() => Promise.resolve('failed'))).toEqual([200, 'Transfer=Fail'])
  })

  test('is answered with 503 if the transfer may have happened', async () => {
    const lost = () => Promise.reject(new Error('the answer was lost'))
    expect(await failing(lost)).toEqual([503, 'Error="Service unavailable"'])
  })
})

describe('with a clientref', () => {
  const moved = async (quantity: string, reference = '7') =>
    (await asp.get('creditstransfer.asp', `${quantity}&clientref=${reference}`)).text

  test('a refused transfer stays refused, whatever the refusal; Fail leaves the clientref free', async () => {
    expect(await moved(query(main(), stranger.id, 'x'), 'a')).toBe('Transfer=invalidToAccount')
    expect(await moved(query(main(), one.id, 101), 'b')).toBe('Transfer=insufficientCredits')
    expect(await transfer(one.id, main(), 50)).toBe('Transfer=Success')
    expect(await moved(query(main(), one.id, 101), 'b')).toBe('Transfer=insufficientCredits')
    const sound = { ...asp.ports.ledger }
    Object.assign(asp.ports.ledger, { transferOnce: () => Promise.resolve('failed') })
    expect(await moved(query(main(), one.id, 101), 'c')).toBe('Transfer=Fail')
    Object.assign(asp.ports.ledger, sound)
    expect(await moved(query(main(), one.id, 101), 'c')).toBe('Transfer=Success')
  })

  test('a blank one counts as missing; an invalid one is refused, and nothing is moved', async () => {
    for (const balance of [900, 800]) {
      expect(await moved(query(main(), one.id, 10), '+')).toBe('Transfer=Success')
      expect((await balances())[0]).toBe(balance)
    }
    expect(await moved(query(main(), one.id, 10), '%7F')).toBe(
      'Error="clientref must be 1 to 255 printable characters"',
    )
    expect((await balances())[0]).toBe(800)
  })
})
