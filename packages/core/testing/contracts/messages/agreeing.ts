import * as fc from 'fast-check'
import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { credits, spend, type Credits } from '@gateway/core/credits'
import type { ClaimedMessage, DeliveryReceiptCode, Handover } from '@gateway/core/dispatch'
import {
  isAcceptedByCarrier,
  OUTCOME,
  statusOf,
  undeletedOutcome,
  type Deletion,
  type MessageFacts,
  type MessageId,
  type OutcomeCode,
} from '@gateway/core/messages'
import { instant, secondsAfter, type Instant } from '@gateway/core/time'
import { anAccount, anOrder, numbers } from '../../builders.ts'
import { realClock } from '../../memory/clock.ts'
import { until } from '../../until.ts'
import { withTraffic, type Traffic } from '../claimed-batches/traffic.ts'
import { accepted, at, checkGenerated, farAhead, longAgo, testCarrier } from '../shared.ts'
import { isDeletable } from '../specification/messages.ts'
import { changesState } from '../specification/outcomes.ts'
import { soon } from './scheduled.ts'

const { cancelled, delivered, expired, optedOut, refused, sent, underWay, undeliverable, unknown } = OUTCOME

const fates = ['waits', 'accepted', 'unknown', 'refused', 'postponed', 'stopped'] as const
type Fate = (typeof fates)[number]

const text = fc.record({
  count: fc.integer({ min: 1, max: 12 }),
  costs: fc.array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 3 }),
  when: fc.constantFrom('now', 'past', 'soon', 'far'),
})

const history = fc.record({
  granted: fc.integer({ min: 0, max: 900 }),
  texts: fc.array(text, { minLength: 3, maxLength: 6 }),
  /** Number of batches to claim, of 7 messages each. Due messages that are not claimed stay in the queue. */
  claims: fc.integer({ min: 0, max: 6 }),
  /** Fates of the claimed messages, in order. After the last fate the list starts again. */
  fates: fc.array(fc.constantFrom<Fate[]>(...fates), { minLength: 1, maxLength: 9 }),
  receipts: fc.array(
    fc.constantFrom<(DeliveryReceiptCode | undefined)[]>(
      delivered,
      expired,
      undeliverable,
      underWay,
      cancelled,
      undefined,
    ),
    {
      minLength: 1,
      maxLength: 5,
    },
  ),
  /** Positions of the messages to delete, some of them twice. */
  deletes: fc.array(fc.nat({ max: 60 }), { maxLength: 60 }),
})

interface Text {
  readonly count: number
  readonly costs: readonly number[]
  readonly when: 'now' | 'past' | 'soon' | 'far'
}

interface Known {
  readonly id: MessageId
  facts: MessageFacts
  readonly scheduled: boolean
  claimed: boolean
  attempts: number
}

/** Accepts each text as one order, and asserts that the accepted recipients are those that `spend` pays for. */
async function acceptAll(ports: StoredPorts, by: AccountId, texts: readonly Text[], granted: number) {
  const known: Known[] = []
  const due = { now: undefined, past: longAgo, soon: soon(), far: farAhead }
  let balance = credits(granted)
  for (const { count, costs, when } of texts) {
    const to = numbers(count)
    const all = to.map((_, i) => credits(costs[i] ?? costs.at(-1) ?? 0))
    const spending = spend(balance, all)
    const result = await accepted(ports, anOrder(by, { to, costs, ...(due[when] && { due: due[when] }) }))
    assert.deepEqual(
      [result.results.map((id) => id !== 'insufficient-credits'), result.balance],
      [spending.paid, spending.balance],
    )
    balance = spending.balance
    for (const [i, id] of result.results.entries()) {
      if (id === 'insufficient-credits') continue
      // The time of acceptance is unknown here. It does not matter, because the outcome is set before `due` is used.
      const facts = { number: at(to, i), cost: at(all, i), due: due[when] ?? longAgo, outcome: undefined }
      // A message that is due soon may already be due on a busy machine, so ask the store whether it is still
      // scheduled.
      const scheduled =
        when === 'far' || (when === 'soon' && (await ports.sentMessages.trace(id))?.scheduled !== undefined)
      known.push({ id, facts, scheduled, claimed: false, attempts: 0 })
    }
  }
  return { known, balance, soon: due.soon }
}

/** Claims batches, and applies the fate returned by `fateOf` to each claimed message. */
async function decide(traffic: Traffic, known: readonly Known[], claims: number, fateOf: (place: number) => Fate) {
  const { claimedBatches } = traffic.ports
  const dispatcher = await traffic.dispatcher()
  const byId = new Map(known.map((one) => [one.id, one]))
  let place = 0
  for (let claim = 0; claim < claims; claim++) {
    const lane = claim % 2 === 0 ? 'single' : 'bulk'
    const claimRequest = { carrier: testCarrier, lane, messagesMax: 7, markedMax: 7, leaseSeconds: 600 } as const
    const batch = await claimedBatches.claim(dispatcher, claimRequest)
    if (typeof batch === 'string') continue
    await claimedBatches.mark(dispatcher, batch.id, batch.messages.length)
    const all = batch.messages.map((message) => {
      const one = byId.get(message.id) ?? assert.fail('a message of another account')
      one.claimed = true
      one.facts = { ...one.facts, due: message.due }
      return { message, one, fate: fateOf(place++) }
    })
    const of = (...someFates: readonly Fate[]) => all.filter(({ fate }) => someFates.includes(fate))
    await claimedBatches.record(
      dispatcher,
      of('accepted', 'unknown', 'refused').map(({ message, fate }) => ({
        batch: batch.id,
        message,
        handover: handoverOf(message, fate),
      })),
    )
    await claimedBatches.settle(
      dispatcher,
      batch.id,
      of('stopped').map(({ message: { id } }) => ({ id, code: optedOut })),
    )
    await claimedBatches.postpone(
      dispatcher,
      batch.id,
      of('postponed').map(({ message: { id } }) => id),
      3600,
    )
    for (const { one, fate } of all) {
      if (fate === 'postponed') Object.assign(one, { claimed: false, attempts: 1 })
      const code = codes[fate]
      if (code !== undefined) decideAs(one, code, fate === 'accepted')
    }
  }
}

const codes: Readonly<Partial<Record<Fate, OutcomeCode>>> = { accepted: sent, unknown, refused, stopped: optedOut }

const handoverOf = ({ id }: ClaimedMessage, fate: Fate): Handover =>
  fate === 'accepted'
    ? { outcome: fate, reference: `agreeing ${id}` }
    : { outcome: fate === 'refused' ? fate : 'unknown' }

function decideAs(one: Known, code: OutcomeCode, hasReference: boolean): void {
  one.facts = { ...one.facts, outcome: { code, at: longAgo, hasReference } }
}

/** Asserts the outcome of each message, except its time, as the account and an operator see it. */
async function assertStatuses({ ports }: Traffic, by: AccountId, known: readonly Known[]): Promise<void> {
  const timeless = (status: unknown) => (typeof status === 'object' ? { ...status, at: undefined } : status)
  const dues = new Set(known.map(({ facts: { due } }) => due))
  const sinces = [longAgo, farAhead, ...[...dues].flatMap((due) => [due, instant(due + 1)])]
  const ids = known.map(({ id }) => id)
  for (const since of sinces) {
    const statuses = await ports.messages.status(by, ids, since)
    const expected = known.map(({ facts }) => statusOf(facts, since))
    assert.deepEqual(statuses.map(timeless), expected.map(timeless))
  }
  for (const { id, facts } of known.slice(0, 10)) {
    const { place } = (await ports.sentMessages.trace(id)) ?? assert.fail(`message ${id} has no trace`)
    assert.equal(place.place === 'decided', facts.outcome !== undefined)
    if (place.place === 'decided' && facts.outcome !== undefined)
      assert.equal(place.refunded, !isAcceptedByCarrier(facts.outcome))
  }
}

/** Returns the expected results as if the ids were deleted one after the other. */
function expectedDeletions(requested: readonly Known[], since: Instant): readonly Deletion[] {
  const gone = new Set<Known>()
  return requested.map((one) => {
    const { number, cost } = one.facts
    const canGo = one.facts.outcome === undefined && !one.claimed && isDeletable(one.scheduled, one.attempts)
    if (!canGo || gone.has(one)) {
      const outcome = gone.has(one) ? 'not-found' : undeletedOutcome(one.facts, since)
      return outcome === 'sent' ? { outcome, number } : { outcome }
    }
    gone.add(one)
    return { outcome: 'deleted', number, refunded: cost }
  })
}

const spent = (known: readonly Known[]): Credits =>
  credits(
    known.reduce((sum, { facts: { cost, outcome } }) => sum + (outcome && !isAcceptedByCarrier(outcome) ? 0 : cost), 0),
  )

/**
 * Checks that stores, whose SQL statements handle many messages at once, get the same results as the rules of core,
 * which handle one message. Both are run on the same generated histories.
 */
export const agreeing = withTraffic({
  'in generated histories each message is charged, refunded, reported, too old and deletable by the rules': async (
    traffic,
  ) => {
    const { ports } = traffic
    await checkGenerated(history, 4, async ({ granted, texts, claims, fates, receipts, deletes }) => {
      const { id: by } = await anAccount(ports, { credits: granted })
      const { known, soon } = await acceptAll(ports, by, texts, granted)
      await until(() => realClock().now() > secondsAfter(soon, 0.1))
      while ((await ports.claimedBatches.promote(100)) > 0);
      await decide(traffic, known, claims, (place) => at(fates, place % fates.length))
      for (const [i, one] of known.entries()) {
        const code = receipts[i % receipts.length]
        const { outcome } = one.facts
        if (code === undefined || outcome?.hasReference !== true) continue
        const receipt = {
          carrier: testCarrier,
          reference: `agreeing ${one.id}`,
          code,
          number: undefined,
          submitted: undefined,
        }
        await ports.deliveryReceipts.apply([receipt])
        if (changesState(outcome.code, code)) decideAs(one, code, true)
      }
      await assertStatuses(traffic, by, known)

      const requested = deletes.flatMap((place) => known[place] ?? [])
      for (const [since, some] of [
        [farAhead, requested.slice(0, requested.length / 2)],
        [longAgo, requested],
      ] as const) {
        const expected = expectedDeletions(some, since)
        const ids = some.map(({ id }) => id)
        assert.deepEqual(await ports.messages.deleteScheduled(by, ids, since), expected)
        for (const [i, { outcome }] of expected.entries())
          if (outcome === 'deleted') decideAs(at(some, i), cancelled, false)
      }
      await assertStatuses(traffic, by, known)
      assert.equal(await traffic.balance(by), granted - spent(known))
      // Empty the queues for the next history.
      await decide(traffic, known, 50, () => 'unknown')
    })
  },
})
