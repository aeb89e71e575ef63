import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import { readIdempotencyKey } from '@gateway/core/client-requests'
import { AnswerDeadline, type MessageId } from '@gateway/core/messages'
import type { Route } from '@gateway/core/routes'
import { aNumber, anAccount, anAnswerDraft, anOrder } from '../../builders.ts'
import { until } from '../../until.ts'
import {
  assertLedger,
  codesOf,
  concurrentCallers,
  dispatchDue,
  farAhead,
  longAgo,
  testCarrier,
  type Contract,
} from '../shared.ts'

const idsIn = (results: readonly (readonly (MessageId | 'insufficient-credits')[])[]) =>
  results.flat().filter((id) => id !== 'insufficient-credits')

const dispatch = async (ports: StoredPorts) =>
  (await dispatchDue(ports, 'single', () => ({ outcome: 'unknown' }))).map(({ id }) => id)

/** Dispatches until `count` messages were sent. A store may hold messages for a moment after their acceptance. */
async function dispatchAll(ports: StoredPorts, count: number): Promise<readonly MessageId[]> {
  const sent: MessageId[] = []
  await until(async () => {
    sent.push(...(await dispatch(ports)))
    return sent.length >= count
  })
  return sent
}

const key = readIdempotencyKey('key')
const request = (account: Awaited<ReturnType<typeof anAccount>>) =>
  key === undefined || key === 'unusable' ? assert.fail() : { account: account.id, key, canonical: 'this' }

/** Promises of `Messages` about orders with a deadline and with consecutive ids. */
export const deadlines: Contract<StoredPorts> = {
  'after a missed deadline nothing is stored or charged': async (ports) => {
    const account = await anAccount(ports)
    const missed = new AnswerDeadline()
    assert.ok(missed.miss())
    const order = anOrder(account.id, { to: [aNumber()] })
    assert.equal(await ports.messages.accept(order, missed), 'overloaded')
    const draft = anAnswerDraft(order)
    assert.equal(await ports.messages.acceptOnce(order, request(account), draft, missed), 'overloaded')
    assert.equal(await ports.clientRequests.find(request(account)), undefined)
    assert.deepEqual(await dispatch(ports), [])
    assert.equal(await ports.ledger.balance(account.id), 1000)
  },

  'an order that meets its deadline is sent, and can no longer miss it': async (ports) => {
    const account = await anAccount(ports)
    const deadline = new AnswerDeadline()
    const order = anOrder(account.id, { to: [aNumber()] }, { to: [aNumber()], due: farAhead })
    const accepted = await ports.messages.accept(order, deadline)
    assert.ok(typeof accepted === 'object')
    assert.equal(deadline.miss(), false)
    const [now, later] = idsIn(accepted.results)
    assert.deepEqual(await dispatchAll(ports, 1), [now])
    assert.deepEqual(await codesOf(ports, account.id, [later ?? assert.fail()]), ['waiting'])
  },

  'of orders whose deadline is missed while they are stored, none is sent or stays charged': async (ports) => {
    const account = await anAccount(ports)
    const deadlines = Array.from({ length: concurrentCallers }, () => new AnswerDeadline())
    const accepting = deadlines.map((deadline) =>
      ports.messages.accept(anOrder(account.id, { to: [aNumber()] }), deadline),
    )
    const missed = deadlines.filter((deadline, i) => i % 2 === 0 && deadline.miss()).length
    const results = await Promise.all(accepting)
    assert.equal(results.filter((result) => result === 'overloaded').length, missed)
    const ids = results.flatMap((result) => (typeof result === 'object' ? idsIn(result.results) : []))
    assert.deepEqual(new Set(await dispatchAll(ports, ids.length)), new Set(ids))
    // Orders that were stored too late may be revoked after their answer.
    await until(async () => (await ports.ledger.balance(account.id)) === 1000 - 10 * ids.length)
    assert.deepEqual(await dispatch(ports), [])
    await assertLedger(ports)
  },

  'with consecutive ids the accepted recipients follow each other in request order, over routes and prices': async (
    ports,
  ) => {
    const account = await anAccount(ports, { credits: 90 })
    const route = (name: string, prefixes: readonly string[]): Route => ({
      ...{ name, prefixes, accounts: [], senders: [] },
      carriers: [{ carrier: testCarrier, priority: 1, weight: 1 }],
    })
    await ports.routes.publish([route('even', ['27820000']), route('others', [])])
    const to = Array.from({ length: 6 }, (_, i) => aNumber(`2782000${i % 2}00${i}`))
    const order = { ...anOrder(account.id, { to, costs: [10, 10, 90, 10, 20, 20] }), isConsecutive: true }
    const accepted = await ports.messages.accept(order)
    assert.ok(typeof accepted === 'object')
    const ids = idsIn(accepted.results)
    assert.deepEqual(
      ids,
      ids.map((_, i) => (ids[0] ?? 0) + i),
    )
    assert.deepEqual(
      accepted.results.flat().map((id) => id === 'insufficient-credits'),
      [false, false, true, false, false, false],
    )
    const statuses = await ports.messages.status(account.id, ids, longAgo)
    assert.deepEqual(
      statuses.map((status) => typeof status === 'object' && status.number),
      to.filter((_, i) => i !== 2),
    )
  },
}
