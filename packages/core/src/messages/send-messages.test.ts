import { strict as assert } from 'node:assert'
import {
  aCarrierId,
  anAccount,
  anAddress,
  aNumber,
  aSender,
  memoryPorts,
  steppingClock,
  type AccountOptions,
} from '@gateway/core/testing'
import { credits } from '../credits/credits.ts'
import { createGateway } from '../gateway.ts'
import { readIdempotencyKey } from '../client-requests/client-requests.ts'
import type { Suppression } from '../suppressions/suppressions.ts'
import { secondsAfter } from '../time/instant.ts'
import type { TextToSend } from './screen-texts.ts'
import type { SendResults, SentRecipient } from './send-results.ts'
import type { AllowedSender } from './senders.ts'

const number = '27820000001'
const other = '27820000002'

const setUp = async (options: AccountOptions = {}) => {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const account = await anAccount(ports, options)
  const gateway = createGateway(ports)
  const suppress = (to: string, ...kinds: readonly Suppression[]) =>
    Promise.all(
      kinds.map((kind) =>
        ports.suppressions.add({
          scope: kind === 'opt-out' ? account.id : 'everybody',
          number: aNumber(to),
          kind,
          since: clock.now(),
        }),
      ),
    )
  const send = async (...texts: readonly TextToSend[]): Promise<SendResults> => {
    const results = await gateway.commands.sendMessages(account, texts)
    if (typeof results === 'string' || 'overLimitSeconds' in results) throw new Error('not sent')
    return results
  }
  return { clock, ports, account, gateway, suppress, send }
}

const outcome = (recipient: SentRecipient | undefined) =>
  recipient === undefined ? undefined : 'id' in recipient ? 'accepted' : recipient.refused

describe('precedence of refusals (ruling 1.10)', () => {
  const tooLong = 'a'.repeat(919)
  test.each<[string, AccountOptions, string, string, readonly Suppression[], string]>([
    ['a locked account before everything', { locked: true, credits: 0 }, '', '', [], 'account-locked'],
    ['a blank text before the number', { credits: 0 }, ' \n', '', [], 'no-message'],
    ['a text with U+0000 is no text', {}, 'a\u0000b', number, [], 'no-message'],
    ['a lone surrogate is no text', {}, 'a\ud83d', number, [], 'no-message'],
    ['too long before the number', { credits: 0 }, tooLong, '', [], 'too-long'],
    ['no number before a wrong one', {}, 'hi', ' ', [], 'no-number'],
    ['a wrong number before its price', { credits: 0 }, 'hi', '0820000001', [], 'invalid-number'],
    [
      'the blacklist before trial, opt-out, do-not-contact and credits',
      { trial: { ownNumber: aNumber(number) }, credits: 0 },
      'hi',
      number,
      ['blacklist', 'opt-out', 'do-not-contact'],
      'blacklisted',
    ],
    [
      'trial to self before opt-out',
      { trial: { ownNumber: aNumber(number) }, credits: 0 },
      'hi',
      number,
      ['opt-out', 'do-not-contact'],
      'trial-to-self',
    ],
    ['opted out before do-not-contact', { credits: 0 }, 'hi', number, ['opt-out', 'do-not-contact'], 'opted-out'],
    ['do-not-contact before credits', { credits: 0 }, 'hi', number, ['do-not-contact'], 'do-not-contact'],
    ['credits last', { credits: 9 }, 'hi', number, [], 'insufficient-credits'],
    [
      'a transactional account may pass do-not-contact',
      { transactional: true },
      'hi',
      number,
      ['do-not-contact'],
      'accepted',
    ],
    ['but not an opt-out', { transactional: true }, 'hi', number, ['opt-out'], 'opted-out'],
    ['a trial account may write to others', { trial: { ownNumber: aNumber(other) } }, 'hi', number, [], 'accepted'],
  ])('%s', async (_, options, text, to, suppressions, expected) => {
    const { send, suppress } = await setUp(options)
    await suppress(number, ...suppressions)
    const [results] = await send({ text, recipients: [to] })
    expect(results?.map(outcome)).toEqual([expected])
  })
})

test('a number without a price is invalid (ruling 1.8)', async () => {
  const { ports, send } = await setUp()
  await ports.prices.remove('')
  await ports.prices.set('44', credits(20))
  expect((await send({ text: 'hi', recipients: [number] })).flat().map(outcome)).toEqual(['invalid-number'])
})

test('results are in request order and contain the trimmed number and the balance after each recipient', async () => {
  const { send } = await setUp({ credits: 25 })
  const [results] = await send({ text: 'hi', recipients: [` ${number} `, 'x', number, other, '27820000003'] })
  expect(results?.map((result) => [result.number, outcome(result), result.balance])).toEqual([
    [number, 'accepted', 15],
    ['x', 'invalid-number', 15],
    [number, 'accepted', 5],
    [other, 'insufficient-credits', 5],
    ['27820000003', 'insufficient-credits', 5],
  ])
})

test('a later, cheaper recipient may still fit (ruling 1.11)', async () => {
  const { ports, send } = await setUp({ credits: 25 })
  await ports.prices.set('44', credits(20))
  const [results] = await send({ text: 'hi', recipients: [number, '447400123456', other] })
  expect(results?.map((result) => [outcome(result), result.balance])).toEqual([
    ['accepted', 15],
    ['insufficient-credits', 15],
    ['accepted', 5],
  ])
})

test('several texts are charged in order, each with its own parts; refused texts cost nothing', async () => {
  const { send } = await setUp({ credits: 50 })
  const results = await send(
    { text: 'a'.repeat(161), recipients: [number] },
    { text: '', recipients: [number, other] },
    { text: 'b', recipients: [] },
    { text: 'c', recipients: [number, other] },
  )
  expect(results.map((text) => text.map((result) => [outcome(result), result.balance]))).toEqual([
    [['accepted', 30]],
    [
      ['no-message', 30],
      ['no-message', 30],
    ],
    [],
    [
      ['accepted', 20],
      ['accepted', 10],
    ],
  ])
})

test('a text with more parts than the request allows is too long (ruling 2.4)', async () => {
  const { send } = await setUp()
  const text = 'a'.repeat(161)
  expect((await send({ text, recipients: [number], partsMax: 1 })).flat().map(outcome)).toEqual(['too-long'])
  expect((await send({ text, recipients: [number], partsMax: 2 })).flat().map(outcome)).toEqual(['accepted'])
})

test('the same number twice is two messages (ruling 1.9)', async () => {
  const { send } = await setUp({ credits: 20 })
  const [results] = await send({ text: 'hi', recipients: [number, number] })
  const ids = results?.map((result) => ('id' in result ? result.id : undefined))
  expect(new Set(ids).size).toBe(2)
  expect(results?.at(-1)?.balance).toBe(0)
})

test('a future time is stored, a past one means at once', async () => {
  const { clock, send } = await setUp()
  const soon = secondsAfter(clock.now(), 60)
  const due = async (scheduled: typeof soon) => {
    const [result] = (await send({ text: 'hi', recipients: [number], scheduled })).flat()
    return result !== undefined && 'id' in result ? result.due : 'refused'
  }
  expect(await due(soon)).toBe(soon)
  expect(await due(secondsAfter(clock.now(), -60))).toBeUndefined()
  expect(await due(clock.now())).toBeUndefined()
})

test.each([55, -55])(
  'a scheduled message waits by the clock of the store, even if the local clock is wrong by %d hours',
  async (hours) => {
    const { clock, ports, account } = await setUp()
    const gateway = createGateway({ ...ports, clock: { now: () => secondsAfter(clock.now(), hours * 3600) } })
    const at = (hoursAhead: number) => secondsAfter(clock.now(), hoursAhead * 3600)
    await gateway.commands.sendMessages(
      account,
      [10, -10].map((ahead) => ({ text: 'hi', recipients: [number], scheduled: at(ahead) })),
    )
    const { items } = await gateway.queries.listScheduled(account, { offset: 0, limit: 10 })
    expect(items.map(({ due }) => due)).toEqual([at(10)])
  },
)

test('an account that is locked after it was read accepts and pays nothing', async () => {
  const { ports, account, send } = await setUp({ credits: 100 })
  await ports.accounts.setLocked(account.id, true)
  const results = await send({ text: 'hi', recipients: [number] }, { text: '', recipients: [other] })
  expect(results.flat().map((result) => [outcome(result), result.balance])).toEqual([
    ['account-locked', 100],
    ['account-locked', 100],
  ])
  expect((await ports.ledger.check()).differences).toEqual([])
})

test('an overloaded store is reported as such', async () => {
  const { ports, account } = await setUp()
  const gateway = createGateway({
    ...ports,
    messages: { ...ports.messages, accept: () => Promise.resolve('overloaded' as const) },
  })
  expect(await gateway.commands.sendMessages(account, [{ text: 'hi', recipients: [number] }])).toBe('overloaded')
})

test('64 callers racing for the last 10 credits get exactly 10', async () => {
  const { ports, account, send } = await setUp({ credits: 100 })
  const results = await Promise.all(Array.from({ length: 64 }, () => send({ text: 'hi', recipients: [number] })))
  expect(results.flat(2).filter((result) => 'id' in result)).toHaveLength(10)
  expect(await ports.ledger.balance(account.id)).toBe(0)
  expect((await ports.ledger.check()).differences).toEqual([])
})

test('a send that exceeds the recipient rate of the account is refused as a whole, before anything is charged', async () => {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const gateway = createGateway(ports)
  const { id } = await anAccount(ports, { credits: 1000 })
  await ports.accounts.change(id, { recipientsPerSecond: 10 })
  const found = await ports.accounts.find(id)
  if (found === undefined) throw new Error('no account')
  const send = (count: number) =>
    gateway.commands.sendMessages(found.account, [
      { text: 'hi', recipients: Array.from({ length: count }, (_, i) => `2782555${1000 + i}`) },
    ])
  expect(await send(8)).toHaveLength(1)
  expect(await send(3)).toEqual({ overLimitSeconds: 1 })
  expect(await send(30)).toEqual({ overLimitSeconds: 1 })
  expect(await gateway.queries.creditBalance(id)).toBe(1000 - 80)
  clock.step(1)
  expect(await send(30)).toHaveLength(1)
  expect(await send(1)).toEqual({ overLimitSeconds: 3 })
})

describe('a sender (ruling 1.27)', () => {
  const acme = aSender('Acme')
  const withAcme = async (says: Partial<AllowedSender> = {}) => {
    const world = await setUp()
    const { account, ports } = world
    const all = { account: account.id, sender: acme, destinations: [], defaultFor: [], carriers: [], ...says }
    expect(await ports.senders.allow({ otherwise: 'replace', ...all })).toBe('added')
    /** Returns the sender addresses of the waiting messages, in the order of the message ids. */
    const leaving = async () => {
      const dispatcher = await ports.claimedBatches.register(60)
      const claimRequest = {
        carrier: aCarrierId(),
        lane: 'single',
        messagesMax: 10,
        markedMax: 0,
        leaseSeconds: 60,
      } as const
      const batch = await ports.claimedBatches.claim(dispatcher, claimRequest)
      return typeof batch === 'string' ? batch : batch.messages.map(({ from }) => from)
    }
    return { ...world, leaving }
  }

  test('that the account may use is the sender of its messages; without one the defaults apply', async () => {
    const { send, leaving } = await withAcme()
    await send({ text: 'a', recipients: [number, other], sender: acme }, { text: 'b', recipients: [number] })
    expect(await leaving()).toEqual([acme, acme, anAddress()])
  })

  test('that the account may not use is refused for the whole call, and nothing is charged or stored', async () => {
    const { gateway, account, leaving } = await withAcme({ destinations: ['27'], otherwise: 'refuse' })
    const texts = (sender: string, ...recipients: string[]) => [
      { text: 'a', recipients: [number] },
      { text: 'b', recipients, sender: aSender(sender) },
    ]
    for (const wrong of [texts('Another', number), texts('40404', number), texts('Acme', number, '4915112345678')])
      expect(await gateway.commands.sendMessages(account, wrong)).toBe('invalid-sender')
    expect(await gateway.queries.creditBalance(account.id)).toBe(1000)
    expect(await leaving()).toBe('nothing')
    expect(await gateway.commands.sendMessages(account, texts('Acme', number, '0'))).toHaveLength(2)
  })

  test('is a code of the account, the default for the number, or replaced by that default', async () => {
    const { send, ports, account, gateway, leaving } = await withAcme({ destinations: ['27'], defaultFor: ['2782'] })
    await ports.senders.assign(anAddress('40404'), account.id)
    const owner = (await ports.accounts.find(account.id))?.account ?? account
    await gateway.commands.sendMessages(owner, [{ text: 'a', recipients: [number], sender: anAddress('40404') }])
    await send({ text: 'b', recipients: ['4915112345678', number, '27115550101'] })
    await send({ text: 'c', recipients: ['4915112345678'], sender: acme })
    const [pool] = [anAddress()]
    expect(await leaving()).toEqual([anAddress('40404'), pool, acme, pool, pool])
  })

  test('is part of the identity of a request; a repetition gets its answer even after the sender was removed', async () => {
    const { gateway, account, ports } = await withAcme()
    const key = readIdempotencyKey('one')
    assert.ok(key !== undefined && key !== 'unusable')
    const text = { text: 'a', recipients: [number], sender: acme }
    const first = await gateway.commands.sendMessages(account, [text], key)
    expect(first).toHaveLength(1)
    await ports.senders.disallow(account.id, acme)
    expect(await gateway.commands.sendMessages(account, [text], key)).toEqual(first)
    expect(await gateway.commands.sendMessages(account, [{ ...text, sender: undefined }], key)).toBe('another-request')
    expect(await gateway.commands.sendMessages(account, [text])).toBe('invalid-sender')
  })
})
