import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import { credits, spend, type Credits } from '@gateway/core/credits'
import { OUTCOME, type MessageId, type MessageStatus, type Msisdn, type Order } from '@gateway/core/messages'
import { instant, secondsAfter } from '@gateway/core/time'
import { aBody, aMessageId, anAccount, anAccountId, anOrder, aNumber, numbers } from '../builders.ts'
import { until } from '../until.ts'
import { agreeing } from './messages/agreeing.ts'
import { deadlines } from './messages/deadlines.ts'
import { referencing } from './messages/references.ts'
import { deleting, scheduled } from './messages/scheduled.ts'
import { choosing } from './senders.ts'
import {
  combined,
  accepted,
  assertLedger,
  concurrentCallers,
  codesOf,
  dispatchDue,
  farAhead,
  longAgo,
  statusesOf,
  testCarrier,
  type Contract,
} from './shared.ts'

const refused = 'insufficient-credits'
const isId = (result: MessageId | typeof refused): result is MessageId => result !== refused
const asSent = () => ({ outcome: 'unknown' }) as const

/** Contract of the acceptance and the status of messages. */
const accepting: Contract<StoredPorts> = {
  'an order is charged in request order, and a later, cheaper recipient may still fit (ruling 1.11)': async (ports) => {
    const { id } = await anAccount(ports, { credits: 100 })
    const { results, ids, balance } = await accepted(ports, anOrder(id, { to: numbers(4), costs: [60, 50, 40, 1] }))
    assert.deepEqual(results.map(isId), [true, false, true, false])
    assert.equal(ids.length, 2)
    assert.equal(balance, 0)
    assert.equal(await ports.ledger.balance(id), 0)
    await assertLedger(ports, 0)
  },

  'the texts of an order are charged in order, each recipient at its own price': async (ports) => {
    const { id } = await anAccount(ports, { credits: 100 })
    const { messages } = ports
    const acceptance = await messages.accept(
      anOrder(
        id,
        { to: numbers(3), costs: [10, 30, 10], text: 'first' },
        { to: numbers(2), costs: [60, 20], text: 'second' },
        { to: numbers(3), costs: [20, 10, 1], text: 'third', due: farAhead },
      ),
    )
    if (typeof acceptance === 'string') assert.fail(acceptance)
    assert.deepEqual(
      acceptance.results.map((ofText) => ofText.map(isId)),
      [
        [true, true, true],
        [false, true],
        [true, true, false],
      ],
    )
    assert.equal(acceptance.balance, 0)
    assertIds(acceptance.results.flat().filter(isId))
    await assertLedger(ports, 0)
  },

  'messages are sent as ordered: each text to its accepted numbers, under their ids': async (ports) => {
    const { id: account } = await anAccount(ports, { credits: 100 })
    const texts = [`it's "100%" \\n\n€ {a} 'x'; drop table send; --`, 'Привет 😀 שלום', 'null']
    const to = numbers(5)
    const costs = [
      [20, 10, 99, 10, 5],
      [5, 99, 5, 5, 5],
      [10, 99, 10, 5, 5],
    ]
    const { results, ids } = await accepted(
      ports,
      anOrder(account, ...texts.map((text, i) => ({ text, to, costs: costs[i] ?? [] }))),
    )
    assert.equal(ids.length, 12)
    const expected = results.flatMap((id, i) => {
      const body = aBody(texts[Math.floor(i / 5)])
      return isId(id) ? [{ id, account, body, to: to[i % 5], attempt: 0, accountLocked: false }] : []
    })
    const sent = await dispatchDue(ports, 'single', asSent)
    assert.deepEqual(
      sent
        .map(({ id, account, body, to, attempt, accountLocked }) => ({ id, account, body, to, attempt, accountLocked }))
        .toSorted((a, b) => a.id - b.id),
      expected,
    )
  },

  'a refused recipient leaves no trace: no charge, no id, nothing to send': async (ports) => {
    const { id } = await anAccount(ports, { credits: 25 })
    const { results, ids, balance } = await accepted(ports, anOrder(id, { to: numbers(5) }))
    assert.deepEqual(results.map(isId), [true, true, false, false, false])
    assert.equal(balance, 5)
    const [first = assert.fail()] = ids
    const around = Array.from({ length: 20 }, (_, i) => (first - 5 + i) as MessageId).filter(
      (id) => id > 0 && !ids.includes(id),
    )
    assert.deepEqual(new Set(await statusesOf(ports, id, around)), new Set(['not-found']))
    const sent = await dispatchDue(ports, 'single', asSent)
    assert.deepEqual(new Set(sent.map(({ to }) => to)), new Set(numbers(2)))
    await assertLedger(ports, 5)
  },

  'an order without an affordable recipient changes nothing': async (ports) => {
    const { id } = await anAccount(ports, { credits: 9 })
    const { results, balance } = await accepted(
      ports,
      anOrder(id, { to: numbers(20) }, { to: numbers(1), due: farAhead }),
    )
    assert.deepEqual(new Set(results), new Set([refused]))
    assert.equal(balance, 9)
    assert.deepEqual(await dispatchDue(ports, 'single', asSent), [])
    assert.deepEqual(await dispatchDue(ports, 'bulk', asSent), [])
    await assertLedger(ports, 9)
  },

  'a free message is accepted without credits': async (ports) => {
    const { id } = await anAccount(ports, { credits: 0 })
    const { results, balance } = await accepted(ports, anOrder(id, { to: numbers(3), costs: [0, 1, 0] }))
    assert.deepEqual(results.map(isId), [true, false, true])
    assert.equal(balance, 0)
    await assertLedger(ports, 0)
  },

  'the same number twice is two messages, two ids and two charges (ruling 1.9)': async (ports) => {
    const { id } = await anAccount(ports, { credits: 100 })
    const { ids, balance } = await accepted(
      ports,
      anOrder(id, { to: [aNumber(), aNumber(), aNumber()], costs: [10, 30, 10] }),
    )
    assertIds(ids)
    assert.equal(ids.length, 3)
    assert.equal(balance, 50)
    assert.equal((await dispatchDue(ports, 'single', asSent)).length, 3)
  },

  'an order of 1000 recipients at different prices is accepted as far as the balance allows': async (ports) => {
    const { id } = await anAccount(ports, { credits: 30_000 })
    const costs = Array.from({ length: 1000 }, (_, i) => (i % 100 < 50 ? 10 : 25))
    const whole = await accepted(ports, anOrder(id, { to: numbers(1000), costs }))
    assertIds(whole.ids)
    assert.equal(whole.ids.length, 1000)
    assert.equal(whole.balance, 12_500)
    assert.deepEqual(new Set(await codesOf(ports, id, whole.ids)), new Set(['waiting']))
    const part = await accepted(ports, anOrder(id, { to: numbers(1000), costs }))
    assert.deepEqual(part.results.map(isId), takenOf(12_500, costs))
    assertIds([...whole.ids, ...part.ids])
    await assertLedger(ports, part.balance)
    const lanes = [await dispatchDue(ports, 'bulk', asSent), await dispatchDue(ports, 'single', asSent)]
    assert.equal(lanes.flat().length, 1000 + part.ids.length)
  },

  'only the account of the order is charged, not its parent': async (ports) => {
    const main = await anAccount(ports, { credits: 100 })
    const sub = await anAccount(ports, { parent: main.id, credits: 30 })
    const { balance } = await accepted(ports, anOrder(sub.id, { to: numbers(4) }))
    assert.equal(balance, 0)
    assert.equal(await ports.ledger.balance(main.id), 100)
    await assertLedger(ports, 100)
  },

  'a locked account accepts nothing and is charged nothing until it is unlocked': async (ports) => {
    const { id } = await anAccount(ports, { credits: 100, locked: true })
    const order = anOrder(id, { to: numbers(2) }, { to: numbers(1), due: farAhead })
    assert.equal(await ports.messages.accept(order), 'account-locked')
    assert.deepEqual(await dispatchDue(ports, 'single', asSent), [])
    await assertLedger(ports, 100)
    await ports.accounts.setLocked(id, false)
    assert.equal((await accepted(ports, order)).balance, 70)
  },

  'after a lock is set nothing more is accepted, however many orders run at that moment': async (ports) => {
    const { accounts, messages, ledger } = ports
    const { id } = await anAccount(ports, { credits: 10_000 })
    const order = anOrder(id, { to: numbers(1) })
    const results: string[] = []
    const race = Array.from({ length: concurrentCallers }, async () => {
      const result = await messages.accept(order)
      results.push(typeof result === 'string' ? result : 'accepted')
    })
    await accounts.setLocked(id, true)
    const after = await Promise.all(Array.from({ length: 8 }, () => messages.accept(order)))
    await Promise.all(race)
    assert.deepEqual(new Set(after), new Set(['account-locked']))
    const count = results.filter((result) => result === 'accepted').length
    assert.equal(await ledger.balance(id), 10_000 - count * 10)
    assert.equal((await dispatchDue(ports, 'single', asSent)).length, count)
  },

  '64 concurrent callers for the last 10 credits get exactly as many messages as the credits allow, and each id once':
    async (ports) => {
      const { id } = await anAccount(ports, { credits: 100 })
      const orders = Array.from({ length: concurrentCallers }, () => anOrder(id, { to: numbers(1) }))
      const acceptances = await Promise.all(orders.map((order) => accepted(ports, order)))
      const ids = acceptances.flatMap(({ ids }) => ids)
      assert.equal(ids.length, 10)
      assert.equal(new Set(ids).size, 10)
      assertSerial(100, orders, acceptances, 0)
      assert.equal((await dispatchDue(ports, 'single', asSent)).length, 10)
      await assertLedger(ports, 0)
    },

  'the results and balances of concurrent orders are those of some sequence of these orders': async (ports) => {
    const { id } = await anAccount(ports, { credits: 1500 })
    const orders = Array.from({ length: concurrentCallers }, (_, i) =>
      anOrder(
        id,
        { to: numbers(1 + (i % 4)), costs: [7 + i, 90 - i, 3, 25] },
        { to: numbers(1), costs: [1 + (i % 9)] },
      ),
    )
    const acceptances = await Promise.all(orders.map((order) => accepted(ports, order)))
    const balance = (await ports.ledger.balance(id)) ?? assert.fail('no balance')
    assertSerial(1500, orders, acceptances, balance)
    await assertLedger(ports, balance)
  },

  'concurrent orders of many accounts get separate ids, and each account is charged for its own': async (ports) => {
    const opened = await Promise.all(Array.from({ length: 16 }, () => anAccount(ports, { credits: 250 })))
    const orders = opened.flatMap(({ id }) =>
      Array.from({ length: 4 }, () => anOrder(id, { to: numbers(12), costs: [8] })),
    )
    const acceptances = await Promise.all(orders.map((order) => accepted(ports, order)))
    for (const { ids } of acceptances) assertIds(ids)
    const ids = acceptances.flatMap(({ ids }) => ids)
    assert.equal(new Set(ids).size, ids.length)
    for (const { id } of opened) {
      const own = orders.flatMap((order, i) => (order.account === id ? [{ order, acceptance: acceptances[i] }] : []))
      assertSerial(
        250,
        own.map(({ order }) => order),
        own.map(({ acceptance }) => acceptance ?? assert.fail()),
        2,
      )
    }
    await assertLedger(ports, 16 * 2)
  },

  'a message with a future time waits until then; a past time means at once': async (ports) => {
    const { id } = await anAccount(ports)
    const late = await accepted(ports, anOrder(id, { to: numbers(2), due: farAhead }))
    const past = await accepted(ports, anOrder(id, { to: numbers(1), due: longAgo }))
    assert.deepEqual(await codesOf(ports, id, [...late.ids, ...past.ids]), ['waiting', 'waiting', 'waiting'])
    await ports.claimedBatches.promote(1000)
    assert.equal(
      await ports.claimedBatches.expire(86_400, 1000),
      0,
      'validity counts from now, not from the time that was past',
    )
    const sent = await dispatchDue(ports, 'single', asSent)
    assert.deepEqual(
      sent.map(({ id }) => id),
      past.ids,
    )
    assert.ok((sent[0]?.due ?? 0) > secondsAfter(longAgo, 86_400), 'it was due when it was accepted')
    assert.deepEqual(await codesOf(ports, id, late.ids), ['waiting', 'waiting'])
    await assertLedger(ports, 970)
  },

  'every requested id has its result in order, also if it is requested twice': async (ports) => {
    const { id } = await anAccount(ports)
    const { ids } = await accepted(ports, anOrder(id, { to: numbers(2), costs: [10, 25] }))
    const [first = assert.fail(), second = assert.fail()] = ids
    await dispatchDue(ports, 'single', (message) =>
      message.id === first ? { outcome: 'accepted', reference: 'r-1' } : { outcome: 'unknown' },
    )
    const [waiting = assert.fail()] = (await accepted(ports, anOrder(id, { to: numbers(3), costs: [15] }))).ids
    const nobodys = aMessageId(Number.MAX_SAFE_INTEGER - 1)
    const requestedIds = [
      second,
      nobodys,
      first,
      waiting,
      second,
      first,
      nobodys,
      waiting,
      aMessageId(Number.MAX_SAFE_INTEGER),
    ]
    const [a = assert.fail(), b = assert.fail()] = numbers(2)
    const sent = { code: OUTCOME.sent, number: a, cost: 10, staysCharged: true }
    const unknown = { code: OUTCOME.unknown, number: b, cost: 25, staysCharged: true }
    const queued = { code: 'waiting', number: a, cost: 15 }
    assert.deepEqual((await statusesOf(ports, id, requestedIds)).map(withoutTime), [
      unknown,
      'not-found',
      sent,
      queued,
      unknown,
      sent,
      'not-found',
      queued,
      'not-found',
    ])
    assert.deepEqual(await statusesOf(ports, id, []), [])
  },

  'ids of another account look exactly like unknown ones, waiting or not, also for its parent (P-10)': async (
    ports,
  ) => {
    const main = await anAccount(ports)
    const sub = await anAccount(ports, { parent: main.id })
    const decided = await accepted(ports, anOrder(sub.id, { to: numbers(2) }))
    await dispatchDue(ports, 'single', asSent)
    const waiting = await accepted(ports, anOrder(sub.id, { to: numbers(1) }, { to: numbers(1), due: farAhead }))
    const ids = [...decided.ids, ...waiting.ids]
    assert.deepEqual(await statusesOf(ports, main.id, ids), ['not-found', 'not-found', 'not-found', 'not-found'])
    assert.deepEqual(
      await statusesOf(ports, anAccountId(2 ** 31 - 8), ids),
      ['not-found', 'not-found', 'not-found', 'not-found'],
      'an account that is not there',
    )
  },

  'a message that a carrier refused is refunded once, and its status has a cost of 0.0': async (ports) => {
    const { id } = await anAccount(ports, { credits: 100 })
    const to = numbers(2)
    const { ids, balance } = await accepted(ports, anOrder(id, { to, costs: [10, 33] }))
    assert.equal(balance, 57)
    await dispatchDue(ports, 'single', ({ id }) => (id === ids[0] ? asSent() : { outcome: 'refused' }))
    assert.deepEqual((await statusesOf(ports, id, ids)).map(withoutTime), [
      { code: OUTCOME.unknown, number: to[0], cost: 10, staysCharged: true },
      { code: OUTCOME.refused, number: to[1], cost: 0, staysCharged: false },
    ])
    await assertLedger(ports, 90)
  },

  'a status has the time at which its state was reached': async (ports) => {
    const { id } = await anAccount(ports)
    const { ids } = await accepted(ports, anOrder(id, { to: numbers(1) }))
    const [message = assert.fail()] = await dispatchDue(ports, 'single', asSent)
    const [status] = await statusesOf(ports, id, ids)
    assert.ok(typeof status === 'object' && status.code !== 'waiting')
    assert.ok(Number.isInteger(status.at) && status.at >= message.due, 'not before it was accepted')
    assert.ok(status.at < secondsAfter(message.due, 600))
  },

  'a message becomes too old at the exact millisecond, by its due time; a waiting one never does (ruling 1.16)': async (
    ports,
  ) => {
    const { messages, claimedBatches } = ports
    const { id } = await anAccount(ports)
    const due = instant(Date.now() + 500)
    const { ids } = await accepted(ports, anOrder(id, { to: numbers(1), due }))
    const [before] = await messages.status(id, ids, farAhead)
    assert.ok(typeof before === 'object' && before.code === 'waiting')
    const [message = assert.fail()] = await until(async () => {
      await claimedBatches.promote(100)
      const sent = await dispatchDue(ports, 'single', asSent)
      return sent.length > 0 && sent
    })
    const [known] = await messages.status(id, ids, message.due)
    assert.equal(typeof known, 'object', 'as old as may be, though accepted before')
    assert.deepEqual(await messages.status(id, ids, instant(message.due + 1)), ['not-found'])
    const waiting = await accepted(ports, anOrder(id, { to: numbers(1) }))
    const [still] = await messages.status(id, waiting.ids, farAhead)
    assert.ok(typeof still === 'object' && still.code === 'waiting')
  },

  'the status of a waiting message has its number and cost, whether queued, scheduled or claimed': async (ports) => {
    const { id } = await anAccount(ports, { credits: 20_000 })
    const to = numbers(300)
    const first = await accepted(ports, anOrder(id, { to: to.slice(0, 5), costs: [3, 5, 3, 3, 3] }))
    const handed = first.ids.filter((_, i) => i % 2 === 0)
    await dispatchDue(ports, 'single', (message) => (handed.includes(message.id) ? asSent() : { outcome: 'refused' }))
    const orders = [
      { to: to.slice(5, 205), costs: [7, 7, 9] },
      { to: to.slice(205, 299), costs: [0], due: farAhead },
      { to: to.slice(299), costs: [11] },
    ]
    const waiting = await accepted(ports, anOrder(id, ...orders))
    const dispatcher = await ports.claimedBatches.register(600)
    const claimRequest = { carrier: testCarrier, messagesMax: 50, markedMax: 50, leaseSeconds: 600 }
    assert.equal(typeof (await ports.claimedBatches.claim(dispatcher, { ...claimRequest, lane: 'bulk' })), 'object')

    const requestedIds = [...first.ids, ...waiting.ids].toReversed()
    const costs = orders.flatMap(({ to, costs }) => to.map((_, i) => costs[i] ?? costs.at(-1)))
    const expected = [
      ...first.ids.map((one) => (handed.includes(one) ? OUTCOME.unknown : OUTCOME.refused)),
      ...waiting.ids.map((_, i) => ({ code: 'waiting', number: to[i + 5], cost: costs[i] })),
    ].toReversed()
    const statuses = await statusesOf(ports, id, requestedIds)
    assert.deepEqual(
      statuses.map((status) => (typeof status === 'object' && status.code !== 'waiting' ? status.code : status)),
      expected,
    )
    assert.deepEqual(
      await statusesOf(ports, id, waiting.ids.slice(3, 5)),
      [3, 4].map((i) => ({ code: 'waiting', number: to[i + 5], cost: costs[i] })),
    )
    await ports.claimedBatches.retire(dispatcher)
  },

  'the statuses of 1000 ids are in the order of the ids': async (ports) => {
    const { id } = await anAccount(ports, { credits: 20_000 })
    const to = numbers(1000)
    const { ids } = await accepted(ports, anOrder(id, { to }))
    await dispatchDue(ports, 'bulk', (message) => ({ outcome: 'accepted', reference: `r-${message.id}` }))
    const shuffled = ids.toSorted((a, b) => ((a * 7919) % 1009) - ((b * 7919) % 1009) || a - b)
    const numberOf = new Map<MessageId, Msisdn | undefined>(ids.map((id, i) => [id, to[i]]))
    const statuses = await statusesOf(ports, id, shuffled)
    assert.deepEqual(
      statuses.map((status) => typeof status === 'object' && status.number),
      shuffled.map((id) => numberOf.get(id)),
    )
  },
}

function assertIds(ids: readonly MessageId[]): void {
  for (const [i, id] of ids.entries()) {
    assert.ok(Number.isSafeInteger(id) && id > (ids[i - 1] ?? 0), `positive and ascending: ${ids[i - 1]}, ${id}`)
  }
}

const takenOf = (balance: number, costs: readonly number[]) => spend(credits(balance), costs.map(credits)).paid

const withoutTime = (status: MessageStatus) => {
  if (typeof status === 'string' || status.code === 'waiting') return status
  const { code, number, cost, staysCharged: isCharged } = status
  return { code, number, cost, staysCharged: isCharged }
}

/**
 * Asserts that these orders could have been executed one after the other, in some order, with the results that they
 * returned.
 */
function assertSerial(
  before: number,
  orders: readonly Order[],
  acceptances: readonly { results: readonly (MessageId | typeof refused)[]; balance: Credits }[],
  after: number,
): void {
  const steps = orders.map((order, i) => {
    const { results, balance } = acceptances[i] ?? assert.fail()
    const costs = order.texts.flatMap(({ to }) => to.map(({ cost }) => cost))
    const charged = costs.reduce((sum, cost, at) => (isId(results[at] ?? refused) ? sum + cost : sum), 0)
    return { from: balance + charged, charged, to: balance, costs, areAccepted: results.map(isId) }
  })
  let balance = before
  for (const step of steps.toSorted((a, b) => b.from - a.from || a.charged - b.charged)) {
    assert.equal(step.from, balance, 'each order finds the balance that the one before it left')
    assert.deepEqual(step.areAccepted, takenOf(step.from, step.costs))
    balance = step.to
  }
  assert.equal(balance, after)
}

export const messagesContract = combined(accepting, scheduled, deleting, choosing, agreeing, referencing, deadlines)
