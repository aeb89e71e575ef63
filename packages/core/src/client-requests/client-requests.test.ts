import * as fc from 'fast-check'
import { anAccount, aNumber, memoryPorts, numbers, steppingClock, type AccountOptions } from '@gateway/core/testing'
import { credits } from '../credits/credits.ts'
import { createGateway } from '../gateway.ts'
import type { TextToSend } from '../messages/screen-texts.ts'
import { createProcessing } from '../processing.ts'
import { secondsAfter } from '../time/instant.ts'
import { firstAnswerSeconds, readIdempotencyKey, type IdempotencyKey } from './client-requests.ts'

test.each([
  ['not given', undefined, undefined],
  ['empty', '', undefined],
  ['white space', ' \t\u00a0\u3000 ', undefined],
  ['one character', '7', '7'],
  ['white space around it does not count', ' order 7\n', 'order 7'],
  ['any script and symbol', 'Grüße ключ 鍵 €😀"\\;&', 'Grüße ключ 鍵 €😀"\\;&'],
  ['255 characters', 'k'.repeat(255), 'k'.repeat(255)],
  ['255 characters beyond U+FFFF', '😀'.repeat(255), '😀'.repeat(255)],
  ['256 characters', 'k'.repeat(256), 'unusable'],
  ['256 characters beyond U+FFFF', '😀'.repeat(256), 'unusable'],
  ['U+0000', 'a\u0000', 'unusable'],
  ['a line break inside', 'a\nb', 'unusable'],
  ['a C1 control', 'a\u0085b', 'unusable'],
  ['a zero width space', 'a\u200bb', 'unusable'],
  ['a line separator inside', 'a\u2028b', 'unusable'],
  ['an unpaired surrogate', 'a\ud83d', 'unusable'],
])('%s', (_what, text, read) => {
  expect(readIdempotencyKey(text)).toBe(read)
})

const number = '27820000001'
const hello: readonly TextToSend[] = [{ text: 'hello', recipients: [number] }]

function key(text = 'k'): IdempotencyKey {
  const read = readIdempotencyKey(text)
  if (read === undefined || read === 'unusable') throw new Error(`no key: ${text}`)
  return read
}

async function setUp(options: AccountOptions = {}) {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const account = await anAccount(ports, options)
  return { clock, ports, account, gateway: createGateway(ports), balance: () => ports.ledger.balance(account.id) }
}

describe('a send with a key', () => {
  test('is executed once; every repetition has the first results, whatever has changed', async () => {
    const { clock, ports, account, gateway, balance } = await setUp({ credits: 35 })
    await ports.prices.set('2783', credits(15))
    const texts = [
      { text: 'one', recipients: ['27830000001', ' 27820000001 ', 'x', ''], scheduled: secondsAfter(clock.now(), 600) },
      { text: '', recipients: [number] },
      { text: 'two', recipients: ['27820000002', '27830000002', '27830000003'] },
    ]
    const first = await gateway.commands.sendMessages(account, texts, key())
    expect(first).toMatchObject([
      [{ id: 1, cost: 15 }, { id: 2, cost: 10, number }, { refused: 'invalid-number' }, { refused: 'no-number' }],
      [{ refused: 'no-message' }],
      [{ id: 3, cost: 10 }, { refused: 'insufficient-credits' }, { refused: 'insufficient-credits', balance: 0 }],
    ])

    await ports.ledger.topUp(account.id, credits(1000), 'meanwhile', clock.now())
    await ports.prices.set('', credits(70))
    await ports.suppressions.add({ scope: account.id, number: aNumber(number), kind: 'opt-out', since: clock.now() })
    clock.step(3600)
    expect(await gateway.commands.sendMessages(account, texts, key())).toEqual(first)
    await ports.accounts.setLocked(account.id, true)
    expect(await gateway.commands.sendMessages({ ...account, locked: true }, texts, key())).toEqual(first)
    expect(await createGateway(ports).commands.sendMessages(account, texts, key())).toEqual(first)
    expect(await balance()).toBe(1000)
  })

  test('of which every recipient is refused has a stored answer, which stays when the reason has gone', async () => {
    const { ports, clock, account, gateway, balance } = await setUp({ credits: 0 })
    const first = await gateway.commands.sendMessages(account, hello, key())
    expect(first).toMatchObject([[{ refused: 'insufficient-credits', balance: 0 }]])
    const locked = await gateway.commands.sendMessages({ ...account, locked: true }, hello, key('locked'))
    await ports.ledger.topUp(account.id, credits(500), 'meanwhile', clock.now())
    expect(await gateway.commands.sendMessages(account, hello, key())).toEqual(first)
    expect(await gateway.commands.sendMessages(account, hello, key('locked'))).toEqual(locked)
    expect(await balance()).toBe(500)
  })

  test('whose account is locked between screening and charging has that answer', async () => {
    const { ports, account, gateway } = await setUp({ locked: true })
    const first = await gateway.commands.sendMessages({ ...account, locked: false }, hello, key())
    expect(first).toMatchObject([[{ refused: 'account-locked' }]])
    await ports.accounts.setLocked(account.id, false)
    expect(await gateway.commands.sendMessages({ ...account, locked: false }, hello, key())).toEqual(first)
  })

  const base = { text: 'a', recipients: ['27820000001', '27820000002'] }
  test.each<[string, readonly TextToSend[]]>([
    ['another text', [{ ...base, text: 'b' }]],
    ['other numbers', [{ ...base, recipients: ['27820000001', '27820000003'] }]],
    ['the same numbers in another order', [{ ...base, recipients: ['27820000002', '27820000001'] }]],
    ['one number more', [{ ...base, recipients: [...base.recipients, number] }]],
    ['a time', [{ ...base, scheduled: secondsAfter(steppingClock().now(), 60) }]],
    ['a time that is past', [{ ...base, scheduled: secondsAfter(steppingClock().now(), -60) }]],
    ['a limit of parts', [{ ...base, partsMax: 3 }]],
    [
      'an own id of a recipient',
      [{ ...base, recipients: ['27820000001', { number: '27820000002', clientMessageId: 'x' }] }],
    ],
    [
      'two texts',
      [
        { ...base, recipients: ['27820000001'] },
        { ...base, recipients: ['27820000002'] },
      ],
    ],
    ['two texts with the numbers elsewhere', [base, { text: 'a', recipients: [] }]],
  ])('is another request with %s', async (_what, texts) => {
    const { account, gateway, balance } = await setUp()
    const first = await gateway.commands.sendMessages(account, [base], key())
    expect(await gateway.commands.sendMessages(account, texts, key())).toBe('another-request')
    expect(await gateway.commands.sendMessages(account, [base], key())).toEqual(first)
    expect(await balance()).toBe(980)
  })

  test('is the same request if only white space around numbers or the form of the recipients differs', async () => {
    const { account, gateway, balance } = await setUp()
    await gateway.commands.sendMessages(account, [base], key())
    const alike: readonly TextToSend[] = [
      { ...base, recipients: [' 27820000001', '27820000002\n'] },
      { ...base, recipients: base.recipients.map((number) => ({ number, clientMessageId: null, more: 1 })) },
    ]
    for (const texts of alike)
      expect(await gateway.commands.sendMessages(account, [texts], key())).toMatchObject([
        texts.recipients.map((recipient, i) => ({ recipient, number: base.recipients[i], id: i + 1 })),
      ])
    expect(await balance()).toBe(980)
  })

  test('has its answer for 48 hours and not a millisecond longer; then the key is free and the answer is deleted', async () => {
    const { clock, ports, account, gateway, balance } = await setUp()
    const first = await gateway.commands.sendMessages(account, hello, key())
    clock.step(firstAnswerSeconds - 0.001)
    expect(await gateway.commands.sendMessages(account, hello, key())).toEqual(first)
    await createProcessing(ports).purge()
    expect(await gateway.commands.sendMessages(account, [{ text: 'b', recipients: [number] }], key())).toBe(
      'another-request',
    )
    clock.step(0.001)
    expect(await gateway.commands.sendMessages(account, [{ text: 'b', recipients: [number] }], key())).toMatchObject([
      [{ id: 2 }],
    ])
    expect(await balance()).toBe(980)
    await createProcessing(ports).purge()
    expect(await gateway.commands.sendMessages(account, hello, key())).toBe('another-request')
  })

  test('returns the same results again, whatever they are', async () => {
    const { ports, account } = await setUp({ credits: 100_000 })
    const recipient = fc.constantFrom('27820000001', '27830000001', '27840000001', '', 'x', '27850000001')
    const text = fc.record({
      text: fc.constantFrom('', 'a', 'b'.repeat(200), 'c'.repeat(919)),
      recipients: fc.array(recipient, { minLength: 1, maxLength: 12 }),
      scheduled: fc.constantFrom(undefined, secondsAfter(steppingClock().now(), 3600)),
    })
    await ports.prices.set('2783', credits(15))
    await ports.suppressions.add({
      scope: account.id,
      number: aNumber('27840000001'),
      kind: 'opt-out',
      since: steppingClock().now(),
    })
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 4 }), fc.nat({ max: 60 }), async (texts, rest) => {
        const { id } = await anAccount(ports, { credits: rest })
        const poor = { ...account, id }
        const first = await createGateway(ports).commands.sendMessages(poor, texts, key(`run ${++runs}`))
        expect(await createGateway(ports).commands.sendMessages(poor, texts, key(`run ${runs}`))).toEqual(first)
        // The first answer lists the accepted messages, each with an id of its own.
        const ids = (first as readonly (readonly object[])[]).flat().flatMap((one) => ('id' in one ? [one.id] : []))
        expect(new Set(ids).size).toBe(ids.length)
      }),
      { numRuns: 200 },
    )
  })

  test('stores a thousand recipients in thirty characters if ids are consecutive and prices equal', async () => {
    const { ports, account, gateway } = await setUp({ credits: 100_000 })
    const storedTexts: string[] = []
    const keeping = createGateway({
      ...ports,
      messages: {
        ...ports.messages,
        acceptOnce: async (order, request, draft) => {
          const accepted = await ports.messages.acceptOnce(order, request, draft)
          const found = await ports.clientRequests.find(request)
          if (typeof found === 'object') storedTexts.push(found.text)
          return accepted
        },
      },
    })
    await ports.prices.set('278200999', credits(20))
    expect(await gateway.commands.sendMessages(account, hello, key())).toHaveLength(1)
    await keeping.commands.sendMessages(account, [{ text: 'a', recipients: numbers(1000) }], key('many'))
    expect(storedTexts).toEqual(['[[null,[2,999,10],[1001,1,20]]]'])
  })
})

describe('concurrent calls', () => {
  test('64 calls with one key and one request execute it once, and all get its results, also beyond a rate limit', async () => {
    const { account, gateway, balance } = await setUp()
    const limited = { ...account, recipientsPerSecond: 2 }
    const texts = [{ text: 'a', recipients: ['27820000001', '27820000002'] }]
    const all = await Promise.all(
      Array.from({ length: 64 }, () => gateway.commands.sendMessages(limited, texts, key())),
    )
    for (const one of all) expect(one).toEqual(all[0])
    expect(all[0]).toMatchObject([[{ id: 1 }, { id: 2 }]])
    expect(await gateway.commands.sendMessages(limited, texts, key())).toEqual(all[0])
    expect(await gateway.commands.sendMessages(limited, texts, key('new'))).toEqual({ overLimitSeconds: 1 })
    expect(await balance()).toBe(980)
  })

  test('one key with different requests: one is executed, the others are refused', async () => {
    const { account, gateway, balance } = await setUp()
    const all = await Promise.all(
      Array.from({ length: 64 }, (_, i) =>
        gateway.commands.sendMessages(account, [{ text: `text ${i % 4}`, recipients: [number] }], key()),
      ),
    )
    expect(all.filter((one) => one === 'another-request')).toHaveLength(48)
    expect(await balance()).toBe(990)
  })

  test('a send and a transfer under one key: one is executed', async () => {
    const { ports, account, gateway } = await setUp()
    const sub = await anAccount(ports, { parent: account.id, credits: 0 })
    const requested = { from: account.id, to: sub.id, quantity: 7 }
    const [sent, moved] = await Promise.all([
      gateway.commands.sendMessages(account, hello, key()),
      gateway.commands.transferCredits(account, requested, key()),
    ])
    expect([sent, moved].filter((one) => one === 'another-request')).toHaveLength(1)
    const balances = await Promise.all([account, sub].map(({ id }) => ports.ledger.balance(id)))
    expect([
      [990, 0],
      [930, 70],
    ]).toContainEqual(balances)
  })

  test('a call that waits for a failing one fails with it, and the key is free again', async () => {
    const { ports, account } = await setUp()
    let fails = 1
    const messages = {
      ...ports.messages,
      acceptOnce: (...args: Parameters<typeof ports.messages.acceptOnce>) =>
        fails-- > 0 ? Promise.reject(new Error('lost')) : ports.messages.acceptOnce(...args),
    }
    const gateway = createGateway({ ...ports, messages })
    const both = await Promise.allSettled([1, 2].map(() => gateway.commands.sendMessages(account, hello, key())))
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await gateway.commands.sendMessages(account, hello, key())).toMatchObject([[{ id: 1 }]])
  })
})

test('a refusal of the whole call (overload, rate limit) does not use up the key', async () => {
  const { ports, account, gateway, clock } = await setUp()
  const acceptOnce = () => Promise.resolve('overloaded' as const)
  const full = createGateway({ ...ports, messages: { ...ports.messages, acceptOnce } })
  expect(await full.commands.sendMessages(account, hello, key())).toBe('overloaded')
  const limited = { ...account, recipientsPerSecond: 1 }
  const texts = [{ text: 'two', recipients: ['27820000001', '27820000002'] }]
  await gateway.commands.sendMessages(limited, texts)
  expect(await gateway.commands.sendMessages(limited, texts, key())).toMatchObject({ overLimitSeconds: 2 })
  clock.step(10)
  expect(await gateway.commands.sendMessages(limited, texts, key())).toMatchObject([[{ id: 3 }, { id: 4 }]])
})

describe('a transfer with a key', () => {
  async function family() {
    const { ports, account: main, gateway, clock } = await setUp({ credits: 500 })
    const sub = await anAccount(ports, { parent: main.id, credits: 0 })
    const balances = () => Promise.all([main, sub].map(({ id }) => ports.ledger.balance(id)))
    return { ports, main, sub, gateway, clock, balances }
  }

  test('moves credits once; another quantity is another request; 64 concurrent calls get the same answer', async () => {
    const { main, sub, gateway, balances } = await family()
    const requested = { from: main.id, to: sub.id, quantity: 30 }
    const all = await Promise.all(
      Array.from({ length: 64 }, () => gateway.commands.transferCredits(main, requested, key())),
    )
    expect(new Set(all)).toEqual(new Set(['done']))
    expect(await gateway.commands.transferCredits(main, requested, key())).toBe('done')
    expect(await gateway.commands.transferCredits(main, { ...requested, quantity: 3 }, key())).toBe('another-request')
    expect(await balances()).toEqual([200, 300])
  })

  test('stores the reason of a refusal, by whichever rule, but not a failure', async () => {
    const { ports, main, sub, gateway, clock, balances } = await family()
    const wrong = { from: main.id, to: 4711, quantity: NaN }
    const large = { from: main.id, to: sub.id, quantity: 51 }
    expect(await gateway.commands.transferCredits(main, wrong, key('wrong'))).toBe('invalid-to-account')
    expect(await gateway.commands.transferCredits(main, large, key('large'))).toBe('insufficient-credits')
    await ports.ledger.topUp(main.id, credits(100), 'meanwhile', clock.now())
    expect(await gateway.commands.transferCredits(main, large, key('large'))).toBe('insufficient-credits')
    expect(await gateway.commands.transferCredits(main, { ...wrong, to: sub.id }, key('wrong'))).toBe('another-request')

    const transferOnce = () => Promise.resolve('failed' as const)
    const broken = createGateway({ ...ports, ledger: { ...ports.ledger, transferOnce } })
    expect(await broken.commands.transferCredits(main, large, key('failed'))).toBe('failed')
    expect(await gateway.commands.transferCredits(main, large, key('failed'))).toBe('done')
    expect(await balances()).toEqual([90, 510])
  })

  test('uses keys separate from those of the main account', async () => {
    const { main, sub, gateway, balances } = await family()
    expect(await gateway.commands.transferCredits(main, { from: main.id, to: sub.id, quantity: 30 }, key())).toBe(
      'done',
    )
    expect(await gateway.commands.transferCredits(sub, { from: sub.id, to: main.id, quantity: 20 }, key())).toBe('done')
    expect(await balances()).toEqual([400, 100])
  })
})
