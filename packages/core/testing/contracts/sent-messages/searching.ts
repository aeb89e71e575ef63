import { strict as assert } from 'node:assert'
import {
  OUTCOME,
  type FoundMessage,
  type MessageId,
  type MessageReference,
  type Msisdn,
  type SearchBounds,
} from '@gateway/core/messages'
import { secondsAfter } from '@gateway/core/time'
import { aNumber, anAddress, numbers } from '../../builders.ts'
import { all, allAccepted, times, withTraffic, type Traffic } from '../claimed-batches/traffic.ts'
import { at, farAhead, longAgo } from '../shared.ts'

const [number = assert.fail()] = numbers(1)

const find = (
  { ports }: Traffic,
  search: SearchBounds & { number?: Msisdn; reference?: MessageReference } = {},
  limit = 1000,
  decidedSince = longAgo,
) => ports.sentMessages.search({ number, ...search }, decidedSince, limit)

const idsOf = (found: readonly FoundMessage[]): readonly MessageId[] => found.map(({ id }) => id)

/**
 * Creates one message to the number in each state, oldest first: sent, postponed, claimed, queued and scheduled. Each
 * send also has messages to other numbers.
 */
async function everywhere(traffic: Traffic) {
  const { claimedBatches } = traffic.ports
  const account = await traffic.account()
  const sendOne = async (due = {}) => at(await traffic.send(account, { to: 3, ...due }), 0)
  const dispatcher = await traffic.dispatcher()
  const sent = await sendOne()
  const claimedBatch = await traffic.claim(dispatcher)
  await claimedBatches.record(dispatcher, allAccepted(claimedBatch))
  const postponed = await sendOne()
  const refused = await traffic.claim(dispatcher)
  await claimedBatches.postpone(dispatcher, refused.id, idsOfBatch(refused.messages), 600)
  const claimed = await sendOne()
  const batch = await traffic.claim(dispatcher, 'single', 1, 1)
  const queued = await sendOne()
  const scheduled = await sendOne({ due: farAhead })
  return { account, sent, postponed, claimed, queued, scheduled, batch, dispatcher }
}

const idsOfBatch = (messages: readonly { readonly id: MessageId }[]) => messages.map(({ id }) => id)

/** Contract of the search for messages by their number. */
export const finding = withTraffic({
  'messages to a number are found in every place, latest due first, each with its present state': async (traffic) => {
    const { account, sent, postponed, claimed, queued, scheduled } = await everywhere(traffic)
    const found = await find(traffic)
    assert.deepEqual(idsOf(found), [scheduled, queued, claimed, postponed, sent])
    const [later, inQueue, inFlight, again, decided] = found.map(({ place }) => place)
    assert.deepEqual(later, { place: 'scheduled', due: farAhead })
    assert.deepEqual(inQueue, { place: 'queue', attempt: 0 })
    assert.deepEqual(inFlight, { place: 'claimed', attempt: 0, marked: true })
    assert.ok(again?.place === 'postponed' && again.attempt === 1 && again.until > longAgo && again.until < farAhead)
    assert.ok(decided?.place === 'decided' && decided.code === OUTCOME.sent && decided.at > longAgo)
    assert.equal(decided.refunded, false)
    for (const message of found) {
      const { accepted: acceptedAt, due, place, id, ...rest } = message
      const isScheduled = id === scheduled
      const expectedPlaces = {
        account,
        from: anAddress(),
        number,
        confirmation: false,
        cost: 10,
        reference: undefined,
        options: {},
      }
      assert.deepEqual(rest, { ...expectedPlaces, scheduled: isScheduled })
      assert.equal(due, isScheduled ? farAhead : acceptedAt, place.place)
      const trace = await traffic.ports.sentMessages.trace(id)
      assert.equal(trace?.accepted, acceptedAt)
    }
  },

  'a search by number returns messages of all accounts or of the specified one, and never of another number': async (
    traffic,
  ) => {
    const [a, b] = [await traffic.account(), await traffic.account()]
    const [first, other] = await traffic.send(a, { to: 2 })
    const [second] = await traffic.send(b)
    assert.deepEqual(idsOf(await find(traffic)), [second, first])
    assert.deepEqual(idsOf(await find(traffic, { account: a })), [first])
    assert.deepEqual(idsOf(await find(traffic, { account: b })), [second])
    assert.deepEqual(idsOf(await find(traffic, { number: at(numbers(2), 1) })), [other])
    assert.deepEqual(await find(traffic, { number: aNumber('27839999999') }), [])
    const dispatcher = await traffic.dispatcher()
    const batches = await traffic.claimAll(dispatcher)
    for (const batch of batches) await traffic.ports.claimedBatches.record(dispatcher, all('unknown', batch))
    assert.deepEqual(idsOf(await find(traffic)), [second, first])
    assert.deepEqual(idsOf(await find(traffic, { account: b })), [second])
  },

  'a number that occurs twice in a text has two messages, and a bulk send is searched completely': async (traffic) => {
    const account = await traffic.account()
    const to = [...numbers(30), number, ...numbers(60).slice(30), number]
    const ids = await traffic.send(account, { numbers: to })
    const expected = [at(ids, 61), at(ids, 30), at(ids, 0)]
    assert.deepEqual(idsOf(await find(traffic)), expected)
    const dispatcher = await traffic.dispatcher()
    const batch = await traffic.claim(dispatcher, 'bulk', 31, 5)
    assert.deepEqual(
      (await find(traffic)).map(({ id, place }) => [id, place.place]),
      [
        [expected[0], 'queue'],
        [expected[1], 'claimed'],
        [expected[2], 'claimed'],
      ],
    )
    await traffic.ports.claimedBatches.record(dispatcher, allAccepted(batch, batch.messages.slice(0, 1)))
    assert.equal((await find(traffic)).at(-1)?.place.place, 'decided')
    await traffic.fence(dispatcher)
    assert.deepEqual(idsOf(await find(traffic)), expected)
  },

  'pages and bounds of time divide the list without a gap or a repetition': async (traffic) => {
    await everywhere(traffic)
    const whole = await find(traffic)
    for (const limit of [1, 2, 5]) {
      const pages: FoundMessage[] = []
      for (let after: FoundMessage | undefined; ;) {
        const page = await find(traffic, { after }, limit)
        assert.ok(page.length <= limit)
        pages.push(...page)
        after = page.at(-1)
        if (after === undefined) break
      }
      assert.deepEqual(pages, whole)
    }
    for (const { due } of whole) {
      assert.deepEqual(
        await find(traffic, { from: due }),
        whole.filter((one) => one.due >= due),
      )
      assert.deepEqual(
        await find(traffic, { to: due }),
        whole.filter((one) => one.due < due),
      )
      assert.deepEqual(
        await find(traffic, { from: due, to: secondsAfter(due, 0.001) }),
        whole.filter((one) => one.due === due),
      )
    }
  },

  'a decided message is found up to its maximum age, a waiting one always': async (traffic) => {
    const { sent, scheduled, queued } = await everywhere(traffic)
    const young = idsOf(await find(traffic, {}, 1000, farAhead))
    assert.ok(!young.includes(sent) && young.includes(queued) && young.includes(scheduled) && young.length === 4)
  },

  'a message that was deleted, or ended without a carrier, is found with its code': async (traffic) => {
    const account = await traffic.account()
    const [id = assert.fail()] = await traffic.send(account, { due: farAhead })
    await traffic.ports.messages.deleteScheduled(account, [id], longAgo)
    const [found] = await find(traffic)
    assert.ok(found?.place.place === 'decided' && found.place.code === OUTCOME.cancelled && found.due === farAhead)
  },

  'a final message is found as refunded if no carrier accepted it or an operator refunded it': async (traffic) => {
    const { ports } = traffic
    const account = await traffic.account()
    const ids = await traffic.send(account, { numbers: times(4, number) })
    const dispatcher = await traffic.dispatcher()
    const { id: batch, messages } = await traffic.claim(dispatcher)
    const outcomes = [
      { outcome: 'accepted', reference: 'a' },
      { outcome: 'refused' },
      { outcome: 'unknown' },
      { outcome: 'unknown' },
    ] as const
    const recorded = messages.map((message, i) => ({ batch, message, handover: at(outcomes, i) }))
    await ports.claimedBatches.record(dispatcher, recorded)
    await ports.ledger.refund({ message: at(ids, 3), why: 'a complaint' }, farAhead)
    const found = (await find(traffic)).toReversed()
    assert.deepEqual(
      found.map(({ place }) => place.place === 'decided' && place.refunded),
      [false, true, false, true],
    )
  },

  'during claims, releases, records and recoveries each search finds each message exactly once': async (traffic) => {
    const { ports } = traffic
    const account = await traffic.account()
    const ids = await traffic.send(account, { numbers: times(40, number) })
    const expected = ids.toReversed()
    let running = true
    const look = async () => {
      while (running) assert.deepEqual(idsOf(await find(traffic)), expected)
    }
    const work = async () => {
      for (let round = 0; round < 6; round++) {
        const dispatcher = await traffic.dispatcher()
        const batch = await traffic.claim(dispatcher, 'bulk', 30, 5)
        await ports.claimedBatches.record(dispatcher, allAccepted(batch, batch.messages.slice(0, 2)))
        await (round % 2 === 0 ? traffic.fence(dispatcher) : ports.claimedBatches.retire(dispatcher))
      }
    }
    await Promise.all([work().finally(() => (running = false)), look(), look()])
  },
})
