import fc from 'fast-check'
import { aNumber, anAccount, memoryPorts, steppingClock } from '@gateway/core/testing'
import { createGateway } from '../gateway.ts'
import type { Ports } from '../ports.ts'
import type { SenderAddress } from '../messages/msisdn.ts'
import type { Category, ValidityMinutes } from '../messages/send-options.ts'
import type { BulkRow } from './bulk-sends.ts'
import { fieldsMissing, fillIn, lacksValue } from './fields.ts'
import { draftProblem } from './send-in-bulk.ts'

const optedOut = '27820000003'
const rowsOf = (first: number, count: number): BulkRow[] =>
  Array.from({ length: count }, (_, i) => ({
    ...{ row: first + i, number: String(27820000000 + first + i), fields: [i % 2 === 0 ? 'Ann' : 'Şule'] },
  }))
const calls = [
  rowsOf(1, 4),
  [...rowsOf(5, 3), { ...rowsOf(1, 1)[0], row: 8, refused: 'repeated' } as BulkRow],
  rowsOf(9, 4),
]

async function setUp(granted = 1000) {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const account = await anAccount(ports, { credits: granted })
  const since = clock.now()
  await ports.suppressions.add({ scope: account.id, number: aNumber(optedOut), kind: 'opt-out', since })
  const gateway = createGateway(ports)
  const sender = 'ACME' as SenderAddress
  await ports.senders.allow({
    ...{ account: account.id, sender, destinations: [], defaultFor: [], carriers: [], otherwise: 'refuse' as const },
  })
  const options = { validity: 60 as ValidityMinutes, flash: true, category: 'x' as Category } as const
  const draft = { columns: ['Name'], text: 'Dear {name}', scheduled: undefined, sender, options, key: 'k' }
  const id = await ports.bulkSends.add(account.id, draft, calls)
  const find = async () => (await gateway.queries.findBulkSend(account, id)) ?? fail()
  const refusedRows = async () => {
    const all = await Promise.all(calls.map((_, call) => gateway.queries.bulkRows(account, id, call)))
    return all.flat()
  }
  const sent = async () => (await gateway.queries.listSent(account, { limit: 100 })).messages
  return { clock, ports, account, gateway, id, find, refusedRows, sent }
}

const fail = (): never => {
  throw new Error('not there')
}

class Died extends Error {}

/** Ports of a process that dies at its nth call, before the call is executed or before its result arrives. */
function dying(ports: Ports, nth: number, isDone: boolean): Ports {
  let called = 0
  const guarded = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name) => {
        const method = (target as Record<string | symbol, unknown>)[name]
        if (typeof method !== 'function') return method
        return async (...args: unknown[]): Promise<unknown> => {
          const isLast = ++called >= nth
          if (called > nth || (isLast && !isDone)) throw new Died()
          const answer = (await method.apply(target, args)) as unknown
          if (isLast) throw new Died()
          return answer
        }
      },
    })
  const { bulkSends, clientRequests, messages, accounts, suppressions } = ports
  return {
    ...ports,
    ...{ bulkSends: guarded(bulkSends), clientRequests: guarded(clientRequests), messages: guarded(messages) },
    ...{ accounts: guarded(accounts), suppressions: guarded(suppressions) },
  }
}

test('if processes die at any moment, also during a stop, each row is accepted and charged once or reported as not accepted', async () => {
  const deaths = fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.boolean()), { minLength: 1, maxLength: 5 })
  const property = fc.asyncProperty(deaths, fc.option(fc.integer({ min: 0, max: 4 })), async (processes, stopAfter) => {
    const { clock, ports, gateway, account, id, find, refusedRows, sent } = await setUp(80)
    await gateway.commands.startBulkSend(account, id, 0)
    const finish = async (processPorts: Ports) => {
      const { sendNextCall } = createGateway(processPorts).commands
      while ((await find()).state !== 'ended') if ((await sendNextCall()) === 'nothing') clock.step(11)
    }
    for (const [i, [nth, isDone]] of processes.entries()) {
      if (i === stopAfter) await gateway.commands.stopBulkSend(account, id)
      // Two at a time, because a slow process may be considered dead.
      await Promise.all(
        [dying(ports, nth, isDone), dying(ports, nth + 3, !isDone)].map((processPorts) =>
          finish(processPorts).catch(died),
        ),
      )
    }
    await finish(ports)
    const messages = await sent()
    const refused = (await refusedRows()).filter((row) => row.refused !== 'repeated')
    const all = [...messages, ...refused].map(({ number }) => number).sort()
    expect(all).toEqual(
      calls
        .flat()
        .filter((row) => row.refused === undefined)
        .map(({ number }) => number)
        .sort(),
    )
    const { accepted, refused: howMany, cost } = await find()
    expect([accepted, howMany]).toEqual([messages.length, refused.length])
    expect(await gateway.queries.creditBalance(account.id)).toBe(80 - cost)
    expect((await ports.ledger.check()).differences).toEqual([])
  })
  await fc.assert(property, { numRuns: 60 })
})

const died = (problem: unknown): void => {
  if (!(problem instanceof Died)) throw problem
}

test('the quote predicts the send: parts, cost, and each row that gets no message with its reason', async () => {
  const { gateway, account, id, find, refusedRows } = await setUp(90)
  const quote = await gateway.queries.quoteBulkSend(account, id)
  expect(quote).toMatchObject({ messages: 9, partsMin: 1, partsMax: 1, cost: 90, fullCost: 100, remaining: 0 })
  expect(quote?.examples[1]).toMatchObject({ text: 'Dear Şule' })
  await gateway.commands.startBulkSend(account, id, 0)
  while ((await gateway.commands.sendNextCall()) === 'more');
  expect(await refusedRows()).toEqual(quote?.refused)
  expect((await refusedRows()).map(({ row, refused }) => [row, refused])).toEqual([
    [3, 'opted-out'],
    [8, 'repeated'],
    [12, 'insufficient-credits'],
  ])
  expect(await find()).toMatchObject({ state: 'ended', accepted: 9, refused: 2, repeated: 1, cost: 90 })
})

test('calls that were not started before a stop are not sent, and each of their rows is marked stopped', async () => {
  const { gateway, account, id, find, refusedRows } = await setUp()
  await gateway.commands.startBulkSend(account, id, 0)
  await gateway.commands.sendNextCall()
  expect(await gateway.commands.stopBulkSend(account, id)).toBe(true)
  while ((await gateway.commands.sendNextCall()) === 'more');
  expect(await find()).toMatchObject({ state: 'ended', accepted: 3, refused: 8, cost: 30 })
  expect((await refusedRows()).filter(({ refused }) => refused === 'stopped')).toHaveLength(7)
  expect(await gateway.queries.creditBalance(account.id)).toBe(970)
})

test('a call with a late answer counts if it was accepted before the stop; after the stop it accepts nothing', async () => {
  for (const isBefore of [true, false]) {
    const { clock, ports, gateway, account, id, find, refusedRows } = await setUp()
    await gateway.commands.startBulkSend(account, id, 0)
    let go: () => void = () => undefined
    const release = new Promise<void>((resolve) => (go = resolve))
    const slow = createGateway({
      ...ports,
      messages: {
        ...ports.messages,
        acceptOnce: async (...args) => {
          if (isBefore) await ports.messages.acceptOnce(...args)
          await release
          return ports.messages.acceptOnce(...args)
        },
      },
    })
    const late = slow.commands.sendNextCall()
    await Promise.resolve()
    clock.step(11)
    await gateway.commands.stopBulkSend(account, id)
    if (isBefore) while ((await gateway.queries.listSent(account, { limit: 1 })).messages.length === 0);
    await gateway.commands.sendNextCall()
    go()
    await late
    while ((await gateway.commands.sendNextCall()) === 'more');
    expect((await find()).accepted).toBe(isBefore ? 3 : 0)
    expect((await refusedRows()).filter(({ refused }) => refused === 'stopped')).toHaveLength(isBefore ? 7 : 11)
    expect(await gateway.queries.creditBalance(account.id)).toBe(isBefore ? 970 : 1000)
  }
})

test('a send is continued for 40 hours; after answers have expired, the rows of a started call are unknown', async () => {
  for (const [hours, refused] of [
    [41, 'stopped'],
    [48, 'unknown'],
  ] as const) {
    const { clock, gateway, account, id, refusedRows } = await setUp()
    await gateway.commands.startBulkSend(account, id, 0)
    clock.step(hours * 3600)
    while ((await gateway.commands.sendNextCall()) === 'more');
    expect(new Set((await refusedRows()).map((row) => row.refused))).toEqual(new Set([refused, 'repeated']))
    expect(await gateway.queries.creditBalance(account.id)).toBe(1000)
  }
})

test('a rate limit delays a send, and a locked account gets a refusal for each row', async () => {
  const { clock, ports, gateway, account, id, find, refusedRows } = await setUp()
  await ports.accounts.change(account.id, { recipientsPerSecond: 1 })
  await gateway.commands.startBulkSend(account, id, 0)
  while ((await gateway.commands.sendNextCall()) === 'more');
  expect((await find()).callsEnded).toBe(1)
  clock.step(60)
  await ports.accounts.setLocked(account.id, true)
  for (let steps = 0; steps < 10; steps++) {
    await gateway.commands.sendNextCall()
    clock.step(60)
  }
  expect((await find()).state).toBe('ended')
  expect((await refusedRows()).filter((row) => row.refused === 'account-locked')).toHaveLength(7)
})

test.each([
  ['Dear {Name}, {SUM } is due', ['name', 'Sum'], ['Ann', '12'], 'Dear Ann, 12 is due'],
  ['{name}', ['name'], ['{sum} $&'], '{sum} $&'],
  ['{a}{b}', ['a'], ['1'], '1{b}'],
  ['{name}', [], [], '{name}'],
  ['Dear {Name | customer}, {sum|0}', ['name', 'sum'], [' ', '12'], 'Dear customer, 12'],
  ['{name|}!', ['name'], [''], '!'],
  ['{a|b|c}', ['a'], [''], 'b|c'],
  ['{a|b}', ['a', 'A|B'], ['', '2'], '2'],
  ['{a|x}', ['b'], ['1'], '{a|x}'],
])('%j with the columns %j and the fields %j is %j', (text, columns, fields, filled) => {
  expect(fillIn(text, columns, { fields })).toBe(filled)
})

test('a text with a field that has no column is not a valid draft', () => {
  expect(fieldsMissing('{a} {b} {b} {c|x} {a|y}', ['A'])).toEqual(['b', 'c'])
  expect([draftProblem('{a}', ['a']), draftProblem(' ', ['a']), draftProblem('x'.repeat(919), [])]).toEqual([
    [],
    'no-message',
    'too-long',
  ])
})

test.each([
  ['Dear {name}', [''], true],
  ['Dear {name}', [' '], true],
  ['Dear {name}', ['Ann'], false],
  ['Dear {name|customer}', [''], false],
  ['{name} or {name|you}', [''], true],
  ['Hello', [''], false],
])('%j with the fields %j lacks a value: %j', (text, fields, isLacking) => {
  expect(lacksValue(text, ['name'])({ fields })).toBe(isLacking)
})

test('an account has at most a hundred drafts; another one is refused and does not replace any', async () => {
  const { gateway, account, id } = await setUp()
  const draft = { columns: ['Name'], text: 'Dear {name}', scheduled: undefined, key: 'k' }
  for (let drafts = 1; drafts < 100; drafts++) await gateway.commands.draftBulkSend(account, draft, [rowsOf(1, 1)])
  expect(await gateway.commands.draftBulkSend(account, draft, [rowsOf(1, 1)])).toBe('too-many-drafts')
  expect(await gateway.queries.listBulkDrafts(account, { limit: 200 })).toHaveLength(100)
  expect(await gateway.commands.discardBulkSend(account, id)).toBe(true)
  expect(await gateway.commands.draftBulkSend(account, draft, [rowsOf(1, 1)])).toBeGreaterThan(id)
})

test('a row in which a field of the text is blank is refused, in the quote and in the send, and costs nothing', async () => {
  const { ports, gateway, account } = await setUp()
  const rows = [' ', 'Ann', '', '\t'].map((name, at) => ({
    ...{ row: at + 1, number: aNumber(String(27820000500 + at)), fields: [name, ''] },
  }))
  const draft = { columns: ['Name', 'Note'], text: 'Dear {NAME}', scheduled: undefined, key: 'blank' }
  const id = await ports.bulkSends.add(account.id, draft, [rows])
  const quote = await gateway.queries.quoteBulkSend(account, id)
  expect(quote?.refused.map(({ row, refused }) => [row, refused])).toEqual(
    [1, 3, 4].map((row) => [row, 'missing-value']),
  )
  expect([quote?.messages, quote?.cost]).toEqual([1, 10])
  await gateway.commands.startBulkSend(account, id, 0)
  while ((await gateway.commands.sendNextCall(id)) === 'more');
  const sent = await gateway.queries.findBulkSend(account, id)
  expect([sent?.accepted, sent?.refused, sent?.cost]).toEqual([1, 3, 10])
  const storedRows = await gateway.queries.bulkRows(account, id, 0)
  expect(storedRows.map(({ row, refused }) => [row, refused])).toEqual([1, 3, 4].map((row) => [row, 'missing-value']))
})
