import { strict as assert } from 'node:assert'
import type { DispatcherId, ClaimedBatch, Recorded } from '@gateway/core/dispatch'
import { OUTCOME } from '@gateway/core/messages'
import {
  acceptedAs,
  all,
  allAccepted,
  ascending,
  granted,
  idsOf,
  times,
  claimOf,
  withTraffic,
  type Sent,
  type Traffic,
} from './traffic.ts'

const { accountLocked, blacklisted, expired, optedOut, refused, sent, unknown } = OUTCOME

/** Claims a batch of a new account and marks all its messages. */
async function aMarkedBatch(traffic: Traffic, order: Sent) {
  const account = await traffic.account()
  const ids = await traffic.send(account, order)
  const dispatcher = await traffic.dispatcher()
  const batch = await traffic.claim(dispatcher, ids.length > 10 ? 'bulk' : 'single')
  return { account, ids, dispatcher, batch }
}

/** Returns outcomes for nine messages of the batch: three accepted, three refused, three unknown. */
const ofEveryKind = (batch: ClaimedBatch): readonly Recorded[] => [
  ...allAccepted(batch, batch.messages.slice(0, 3)),
  ...all('refused', batch, batch.messages.slice(3, 6)),
  ...all('unknown', batch, batch.messages.slice(6, 9)),
]
const everyKind = [...times(3, sent), ...times(3, refused), ...times(3, unknown)]

/** Contract of the outcomes of claimed messages. */
export const outcomes = withTraffic({
  'accepted becomes SENT 100, refused becomes 111 with a refund, unknown becomes SENT 106': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const costs = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    const { account, ids, dispatcher, batch } = await aMarkedBatch(traffic, { to: 9, costs })
    await claimedBatches.record(dispatcher, ofEveryKind(batch))
    assert.deepEqual(await traffic.codes(account, ids), everyKind)
    assert.equal(await traffic.balance(account), granted - 511 + 8 + 16 + 32)
    assert.deepEqual(await traffic.fence(dispatcher), { requeued: 0, unknown: 0 })
    assert.deepEqual(await traffic.claimAll(await traffic.dispatcher()), [])
  },

  'an outcome that is recorded twice, also concurrently, counts once': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { account, ids, dispatcher, batch } = await aMarkedBatch(traffic, { to: 9 })
    const record = () => claimedBatches.record(dispatcher, ofEveryKind(batch))
    await Promise.all([record(), record()])
    await record()
    assert.deepEqual(await traffic.codes(account, ids), everyKind)
    assert.equal(await traffic.balance(account), granted - 90 + 30)
  },

  'outcomes may come in any order, for several batches, and twice in one call': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const account = await traffic.account()
    const ids = [...(await traffic.send(account, { to: 9 })), ...(await traffic.send(account, { to: 20 }))]
    const dispatcher = await traffic.dispatcher()
    const single = await traffic.claim(dispatcher, 'single')
    const bulk = await traffic.claim(dispatcher, 'bulk')
    const mixed = [...allAccepted(bulk), ...ofEveryKind(single), ...ofEveryKind(single)].reverse()
    await claimedBatches.record(dispatcher, mixed)
    assert.deepEqual(await traffic.codes(account, ids), [...everyKind, ...times(20, sent)])
    assert.equal(await traffic.balance(account), granted - 290 + 30)
  },

  'references may be any text': async (traffic) => {
    const references = ['', '"', '\\', '{}', 'null', `a,b'c`, '\u0000', 'ü€👋\ud800', 'x'.repeat(5000)]
    const { account, ids, dispatcher, batch } = await aMarkedBatch(traffic, { to: references.length })
    const recorded = batch.messages.map((message, i) => {
      return { batch: batch.id, message, handover: acceptedAs(references[i] ?? '') }
    })
    await traffic.ports.claimedBatches.record(dispatcher, recorded)
    assert.deepEqual(await traffic.codes(account, ids), times(references.length, sent))
  },

  'settling or postponing again after the batch has ended does not fence and changes nothing': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { account, ids, dispatcher, batch } = await aMarkedBatch(traffic, { to: 4 })
    const settle = () =>
      claimedBatches.settle(
        dispatcher,
        batch.id,
        ids.slice(0, 2).map((id) => ({ id, code: expired })),
      )
    const postpone = () => claimedBatches.postpone(dispatcher, batch.id, ids.slice(2), 3600)
    assert.deepEqual(await Promise.all([settle(), postpone()]), ['settled', 'postponed'])
    assert.deepEqual([await settle(), await postpone(), await settle()], ['settled', 'postponed', 'settled'])
    assert.deepEqual(await traffic.codes(account, ids), [expired, expired, ...times(2, 'waiting' as const)])
    assert.equal(await traffic.balance(account), granted - 20)
    assert.deepEqual(await traffic.fence(dispatcher), { requeued: 0, unknown: 0 })
    assert.deepEqual([await settle(), await postpone()], ['fenced', 'fenced'])
  },

  'an outcome of a message that has left its batch changes nothing': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { account, ids, dispatcher, batch } = await aMarkedBatch(traffic, { to: 9 })
    const settled = ids.slice(0, 2).map((id) => ({ id, code: expired }))
    await claimedBatches.settle(dispatcher, batch.id, settled)
    await claimedBatches.postpone(dispatcher, batch.id, ids.slice(2), 0)
    await claimedBatches.record(dispatcher, allAccepted(batch))
    await claimedBatches.record(dispatcher, ofEveryKind(batch))
    await claimedBatches.record(dispatcher, allAccepted(batch))
    assert.deepEqual(await traffic.codes(account, ids), [expired, expired, ...times(7, 'waiting')])
    assert.equal(await traffic.balance(account), granted - 70)
    await promoteAll(traffic)
    assert.deepEqual(idsOf(await traffic.claimAll(dispatcher)), ids.slice(2))
  },

  'a late report corrects a message that recovery made unknown, once': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { account, ids, dispatcher, batch } = await aMarkedBatch(traffic, { to: 20 })
    assert.deepEqual(await traffic.fence(dispatcher), { requeued: 0, unknown: 20 })
    const recorded = ofEveryKind(batch)
    await claimedBatches.record(dispatcher, recorded)
    await Promise.all([claimedBatches.record(dispatcher, recorded), claimedBatches.record(dispatcher, recorded)])
    assert.deepEqual(await traffic.codes(account, ids), [...everyKind, ...times(11, unknown)])
    assert.equal(await traffic.balance(account), granted - 200 + 30)
  },

  'a late report is recorded once, and a repetition adds nothing to the trace': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { account, ids, dispatcher, batch } = await aMarkedBatch(traffic, { to: 4 })
    await traffic.fence(dispatcher)
    const [a, b, c, d] = batch.messages
    assert.ok(a && b && c && d)
    await claimedBatches.record(dispatcher, [...allAccepted(batch, [a, b]), ...all('refused', batch, [c, d])])
    await claimedBatches.record(dispatcher, [...allAccepted(batch, [c, d]), ...all('refused', batch, [a, b])])
    assert.equal(await claimedBatches.postpone(dispatcher, batch.id, ids, 0), 'fenced')
    assert.deepEqual(await traffic.codes(account, ids), [sent, sent, refused, refused])
    assert.equal(await traffic.balance(account), granted - 20)
  },

  'settled messages end with their code and are refunded once, by exactly the charge': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const costs = [1, 10, 100, 1000, 10_000]
    const { account, ids, dispatcher, batch } = await aMarkedBatch(traffic, { to: 5, costs })
    const codes = [expired, accountLocked, optedOut, blacklisted] as const
    const settled = codes.flatMap((code, i) => times(2, { id: ids[i] ?? assert.fail(), code }))
    const settle = () => claimedBatches.settle(dispatcher, batch.id, settled)
    assert.deepEqual(await Promise.all([settle(), settle()]), ['settled', 'settled'])
    assert.equal(await settle(), 'settled')
    assert.deepEqual(await traffic.codes(account, ids), [...codes, 'waiting'])
    assert.equal(await traffic.balance(account), granted - 10_000)
  },

  'settled messages are neither given back nor made unknown': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const account = await traffic.account()
    const ids = await traffic.send(account, { to: 20 })
    const dispatcher = await traffic.dispatcher()
    const batch = await traffic.claim(dispatcher, 'bulk', 20, 10)
    const settled = ids.filter((_, i) => i % 2 === 0).map((id) => ({ id, code: optedOut }))
    assert.equal(await claimedBatches.settle(dispatcher, batch.id, settled), 'settled')
    assert.deepEqual(await traffic.fence(dispatcher), { requeued: 5, unknown: 5 })
    const back = idsOf(await traffic.claimAll(await traffic.dispatcher(), 'bulk'))
    assert.deepEqual(
      ascending(back),
      ids.filter((_, i) => i >= 10 && i % 2 === 1),
    )
  },

  'messages outside the batch are not settled': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { dispatcher, batch } = await aMarkedBatch(traffic, { to: 2 })
    const other = await aMarkedBatch(traffic, { to: 2 })
    const waiting = await traffic.send(other.account)
    const foreign = [...other.ids, ...waiting].map((id) => ({ id, code: expired }))
    assert.equal(await claimedBatches.settle(dispatcher, batch.id, foreign), 'settled')
    assert.deepEqual(await traffic.codes(other.account, [...other.ids, ...waiting]), times(3, 'waiting'))
    assert.equal(await traffic.balance(other.account), granted - 30)
  },

  'a recorded message is neither postponed nor settled while its batch continues': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { account, ids, dispatcher, batch } = await aMarkedBatch(traffic, { to: 5 })
    const recorded = ids.slice(0, 4)
    await claimedBatches.record(dispatcher, allAccepted(batch, batch.messages.slice(0, 4)))
    assert.equal(await claimedBatches.postpone(dispatcher, batch.id, recorded, 0), 'postponed')
    assert.equal(await claimedBatches.promote(10), 0)
    const settled = recorded.map((id) => ({ id, code: expired }))
    assert.equal(await claimedBatches.settle(dispatcher, batch.id, settled), 'settled')
    assert.deepEqual(await traffic.codes(account, ids), [...times(4, sent), 'waiting'])
    assert.equal(await traffic.balance(account), granted - 50)
  },

  'a temporarily refused message returns after its pause, with one more attempt and the same due time': async (
    traffic,
  ) => {
    const { claimedBatches } = traffic.ports
    for (const to of [3, 20]) {
      const lane = to > 10 ? 'bulk' : 'single'
      const { account, ids, dispatcher, batch } = await aMarkedBatch(traffic, { to })
      const [now, later] = [ids.slice(0, 2), ids.slice(2)]
      assert.equal(await claimedBatches.postpone(dispatcher, batch.id, now, 0), 'postponed')
      assert.equal(await claimedBatches.postpone(dispatcher, batch.id, later, 3600), 'postponed')
      assert.equal(await claimedBatches.postpone(dispatcher, batch.id, ids, 0), 'postponed')
      assert.deepEqual(await traffic.codes(account, ids), times(to, 'waiting'))

      for (const attempt of [1, 2]) {
        await promoteAll(traffic)
        const again = await traffic.claim(dispatcher, lane)
        assert.deepEqual(idsOf([again]), now)
        for (const message of again.messages) {
          assert.deepEqual([message.attempt, message.due], [attempt, batch.messages[0]?.due])
        }
        assert.equal(await claimedBatches.postpone(dispatcher, again.id, now, 0), 'postponed')
      }
    }
  },

  'attempts are counted for each message of a batch': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { account, ids, dispatcher, batch } = await aMarkedBatch(traffic, { to: 4 })
    await claimedBatches.postpone(dispatcher, batch.id, ids.slice(1, 3), 0)
    assert.deepEqual(await traffic.fence(dispatcher), { requeued: 0, unknown: 2 })
    await promoteAll(traffic)
    const fresh = await traffic.send(account, { to: 2 })
    const second = await traffic.dispatcher()
    const mixed = await traffic.claim(second, 'single', 4, 0)
    assert.deepEqual(attemptsOf(mixed), [1, 1, 0, 0])
    assert.deepEqual(await traffic.fence(second), { requeued: 4, unknown: 0 })
    const third = await traffic.claim(await traffic.dispatcher())
    assert.deepEqual(idsOf([third]), [...ids.slice(1, 3), ...fresh])
    assert.deepEqual(attemptsOf(third), [1, 1, 0, 0])
  },

  'a temporary refusal reported by a fenced dispatcher refunds nothing; if recorded as refused, it is refunded once':
    async (traffic) => {
      const { claimedBatches } = traffic.ports
      const { account, ids, dispatcher, batch } = await aMarkedBatch(traffic, { to: 6, costs: [3] })
      await traffic.fence(dispatcher)
      const postpone = () => claimedBatches.postpone(dispatcher, batch.id, ids.slice(0, 4), 0)
      const refuse = () => claimedBatches.record(dispatcher, all('refused', batch, batch.messages.slice(0, 4)))
      assert.deepEqual(await Promise.all([postpone(), postpone()]), ['fenced', 'fenced'])
      assert.deepEqual(await traffic.codes(account, ids), times(6, unknown))
      await Promise.all([refuse(), refuse()])
      await refuse()
      assert.deepEqual(await traffic.codes(account, ids), [...times(4, refused), ...times(2, unknown)])
      assert.equal(await traffic.balance(account), granted - 6)
      await promoteAll(traffic)
      assert.equal(await claimedBatches.claim(await traffic.dispatcher(), claimOf('single')), 'nothing')
    },

  'if a message is postponed and settled concurrently, one of the two counts': async (traffic) => {
    const { claimedBatches } = traffic.ports
    for (let round = 0; round < 6; round++) {
      const { account, ids, dispatcher, batch } = await aMarkedBatch(traffic, { to: 10 })
      const settled = ids.map((id) => ({ id, code: expired }))
      await Promise.all([
        claimedBatches.settle(dispatcher, batch.id, settled),
        claimedBatches.postpone(dispatcher, batch.id, ids, 0),
      ])
      const waiting = (await traffic.codes(account, ids)).filter((code) => code === 'waiting').length
      assert.ok(waiting === 0 || waiting === 10)
      await promoteAll(traffic)
      assert.equal(idsOf(await traffic.claimAll(await newDispatcher(traffic, dispatcher))).length, waiting)
    }
  },
})

const attemptsOf = ({ messages }: ClaimedBatch) => messages.map(({ attempt }) => attempt)

async function promoteAll({ ports: { claimedBatches } }: Traffic): Promise<void> {
  while ((await claimedBatches.promote(100)) > 0);
}

async function newDispatcher(traffic: Traffic, old: DispatcherId): Promise<DispatcherId> {
  await traffic.ports.claimedBatches.retire(old)
  return traffic.dispatcher()
}
