import { strict as assert } from 'node:assert'
import { OUTCOME } from '@gateway/core/messages'
import {
  all,
  allAccepted,
  ascending,
  idsOf,
  leaseSeconds,
  noLease,
  times,
  claimOf,
  withTraffic,
  type Traffic,
} from './traffic.ts'

const { expired, refused, sent, unknown } = OUTCOME

/** Claims a batch of ten messages of a new account, none of them marked. */
async function aClaimedBatch(traffic: Traffic, markedMax = 0) {
  const account = await traffic.account()
  const ids = await traffic.send(account, { to: 10 })
  const dispatcher = await traffic.dispatcher()
  const batch = await traffic.claim(dispatcher, 'single', 10, markedMax)
  return { account, ids, dispatcher, batch }
}

/** Contract of the life of a dispatcher, and of what happens to its messages when it ends. */
export const fencing = withTraffic({
  'a fenced dispatcher cannot mark, settle, postpone, extend or claim': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { account, ids, dispatcher, batch } = await aClaimedBatch(traffic)
    assert.deepEqual(await traffic.fence(dispatcher), { requeued: 10, unknown: 0 })
    assert.equal(await claimedBatches.mark(dispatcher, batch.id, 10), 'fenced')
    const settled = ids.map((id) => ({ id, code: expired }))
    assert.equal(await claimedBatches.settle(dispatcher, batch.id, settled), 'fenced')
    assert.equal(await claimedBatches.postpone(dispatcher, batch.id, ids, 0), 'fenced')
    assert.equal(await claimedBatches.extend(dispatcher, leaseSeconds), 'fenced')
    assert.equal(await claimedBatches.claim(dispatcher, claimOf('single')), 'fenced')
    assert.deepEqual(await traffic.codes(account, ids), times(10, 'waiting'))
    assert.deepEqual(idsOf(await traffic.claimAll(await traffic.dispatcher())), ids)
  },

  'a fenced dispatcher cannot claim from the bulk lane either': async (traffic) => {
    const account = await traffic.account()
    const ids = await traffic.send(account, { to: 20 })
    const dispatcher = await traffic.dispatcher()
    await traffic.fence(dispatcher)
    assert.equal(await traffic.ports.claimedBatches.claim(dispatcher, claimOf('bulk')), 'fenced')
    assert.deepEqual(idsOf(await traffic.claimAll(await traffic.dispatcher(), 'bulk')), ids)
  },

  'records of a fenced dispatcher about messages that cannot have been submitted change nothing': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { account, ids, dispatcher, batch } = await aClaimedBatch(traffic)
    await traffic.fence(dispatcher)
    await claimedBatches.record(dispatcher, allAccepted(batch))
    assert.deepEqual(await traffic.codes(account, ids), times(10, 'waiting'))
    const [again] = await traffic.claimAll(await traffic.dispatcher())
    assert.ok(again)
    assert.deepEqual(idsOf([again]), ids)
  },

  'dispatcher ids are unique': async (traffic) => {
    const registered = await Promise.all(times(16, 0).map(() => traffic.dispatcher()))
    assert.equal(new Set(registered).size, 16)
  },

  'an expired lease ends a dispatcher only when it is recovered; until then it can be extended': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { account, ids, dispatcher, batch } = await aClaimedBatch(traffic)
    assert.equal(await claimedBatches.extend(dispatcher, noLease), 'alive')
    assert.equal(await claimedBatches.extend(dispatcher, leaseSeconds), 'alive')
    assert.deepEqual(await claimedBatches.recover(), { requeued: 0, unknown: 0 })
    assert.equal(await claimedBatches.mark(dispatcher, batch.id, 10), 'marked')
    await claimedBatches.record(dispatcher, allAccepted(batch))
    assert.deepEqual(await traffic.codes(account, ids), times(10, sent))
  },

  'messages of failed claims are given back as if never claimed, and known batches stay': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const account = await traffic.account()
    const dispatcher = await traffic.dispatcher()
    const ids = await traffic.send(account, { to: 10 })
    const bulk = await traffic.send(account, { to: 20 })
    const known = await traffic.claim(dispatcher, 'single', 10, 4)
    await traffic.claim(dispatcher, 'bulk', 15, 7)
    const other = await traffic.dispatcher()
    const lastBatch = await traffic.claim(other, 'bulk', 5, 5)
    for (let times = 0; times < 2; times++) await claimedBatches.disown(dispatcher, [known.id])
    assert.equal(await claimedBatches.mark(dispatcher, known.id, 10), 'marked')
    assert.deepEqual(idsOf(await traffic.claimAll(other, 'bulk')), bulk.slice(0, 15))
    assert.equal(await claimedBatches.record(other, allAccepted(lastBatch)), 'recorded')
    assert.equal(await claimedBatches.record(dispatcher, allAccepted(known)), 'recorded')
    assert.deepEqual(await traffic.codes(account, ids), times(10, sent))
    assert.deepEqual(await traffic.codes(account, bulk), [...times(15, 'waiting'), ...times(5, sent)])
  },

  'all messages of a dispatcher that knows no batch are given back; an ended dispatcher has none': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { account, ids, dispatcher } = await aClaimedBatch(traffic, 10)
    await claimedBatches.disown(dispatcher, [])
    assert.equal(await claimedBatches.extend(dispatcher, leaseSeconds), 'alive')
    assert.deepEqual(await traffic.codes(account, ids), times(10, 'waiting'))
    assert.deepEqual(idsOf(await traffic.claimAll(dispatcher)), ids)
    await traffic.fence(dispatcher)
    await claimedBatches.disown(dispatcher, [])
    assert.deepEqual(await traffic.codes(account, ids), times(10, unknown))
  },

  'a claim extends the lease': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const account = await traffic.account()
    await traffic.send(account)
    const dispatcher = await claimedBatches.register(noLease)
    const batch = await traffic.claim(dispatcher)
    assert.deepEqual(await claimedBatches.recover(), { requeued: 0, unknown: 0 })
    assert.equal(await claimedBatches.mark(dispatcher, batch.id, 1), 'marked')
  },

  'a mark is never reduced': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { account, ids, dispatcher, batch } = await aClaimedBatch(traffic)
    assert.equal(await claimedBatches.mark(dispatcher, batch.id, 7), 'marked')
    assert.equal(await claimedBatches.mark(dispatcher, batch.id, 3), 'marked')
    assert.deepEqual(await traffic.fence(dispatcher), { requeued: 3, unknown: 7 })
    assert.deepEqual(await traffic.codes(account, ids), [...times(7, unknown), ...times(3, 'waiting')])
  },

  'marks in the same call as outcomes are set together with them': async (traffic) => {
    const { claimedBatches } = traffic.ports
    for (const [outcome, code] of [
      ['accepted', sent],
      ['refused', refused],
      ['unknown', unknown],
    ] as const) {
      const { account, ids, dispatcher, batch } = await aClaimedBatch(traffic, 3)
      const firstThree = batch.messages.slice(0, 3)
      const outcomes = outcome === 'accepted' ? allAccepted(batch, firstThree) : all(outcome, batch, firstThree)
      const marks = [{ batch: batch.id, upTo: 7 }]
      assert.equal(await claimedBatches.record(dispatcher, outcomes, marks), 'recorded')
      assert.equal(await claimedBatches.record(dispatcher, [], [{ batch: batch.id, upTo: 5 }]), 'recorded')
      await traffic.fence(dispatcher)
      const codes = [...times(3, code), ...times(4, unknown), ...times(3, 'waiting' as const)]
      assert.deepEqual(await traffic.codes(account, ids), codes)
      await traffic.claimAll(await traffic.dispatcher())
    }
  },

  'one record may end some batches and mark others': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const first = await aClaimedBatch(traffic, 10)
    const ids = await traffic.send(first.account, { to: 10 })
    const second = await traffic.claim(first.dispatcher, 'single', 10, 0)
    const outcomes = allAccepted(first.batch)
    const marks = [{ batch: second.id, upTo: 4 }]
    assert.equal(await claimedBatches.record(first.dispatcher, outcomes, marks), 'recorded')
    await traffic.fence(first.dispatcher)
    assert.deepEqual(await traffic.codes(first.account, first.ids), times(10, sent))
    assert.deepEqual(await traffic.codes(first.account, ids), [...times(4, unknown), ...times(6, 'waiting' as const)])
  },

  'marks of a recovered batch are not set, but its outcomes are recorded': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { account, ids, dispatcher, batch } = await aClaimedBatch(traffic, 3)
    await traffic.fence(dispatcher)
    const outcomes = allAccepted(batch, batch.messages.slice(0, 3))
    const marks = [{ batch: batch.id, upTo: 7 }]
    assert.equal(await claimedBatches.record(dispatcher, outcomes, marks), 'fenced')
    assert.deepEqual(await traffic.codes(account, ids), [...times(3, sent), ...times(7, 'waiting' as const)])
  },

  'marks that come with outcomes and race with recovery are set completely or not at all; marked messages become unknown':
    async (traffic) => {
      const { claimedBatches } = traffic.ports
      for (let round = 0; round < 10; round++) {
        const { account, ids, dispatcher, batch } = await aClaimedBatch(traffic, 3)
        await claimedBatches.extend(dispatcher, noLease)
        const outcomes = allAccepted(batch, batch.messages.slice(0, 3))
        const marks = [{ batch: batch.id, upTo: 10 }]
        const [answer] = await Promise.all([
          claimedBatches.record(dispatcher, outcomes, marks),
          claimedBatches.recover(),
        ])
        const codes = await traffic.codes(account, ids)
        // If the answer was lost, the marks may have been set anyway, and recovery may have run before the second
        // attempt.
        const isUnknown = answer === 'recorded' || codes[3] === unknown
        assert.deepEqual(codes, [...times(3, sent), ...times(7, isUnknown ? unknown : 'waiting')])
        await traffic.claimAll(await traffic.dispatcher())
      }
    },

  'recovery makes marked messages without a record unknown, gives the unmarked ones back, and changes nothing else':
    async (traffic) => {
      const { claimedBatches } = traffic.ports
      const { account, ids, dispatcher, batch } = await aClaimedBatch(traffic, 6)
      const [first, second, third, fourth] = batch.messages
      assert.ok(first && second && third && fourth)
      await claimedBatches.record(dispatcher, allAccepted(batch, [first, second]))
      await claimedBatches.settle(dispatcher, batch.id, [{ id: third.id, code: OUTCOME.optedOut }])
      await claimedBatches.postpone(dispatcher, batch.id, [fourth.id], 0)
      assert.deepEqual(await traffic.fence(dispatcher), { requeued: 4, unknown: 2 })
      assert.deepEqual(await traffic.codes(account, ids), [
        sent,
        sent,
        212,
        'waiting',
        106,
        106,
        ...times(4, 'waiting'),
      ])
      assert.deepEqual(await claimedBatches.recover(), { requeued: 0, unknown: 0 })
      assert.equal(await claimedBatches.promote(100), 1)
      assert.deepEqual(ascending(idsOf(await traffic.claimAll(await traffic.dispatcher()))), [ids[3], ...ids.slice(6)])
    },

  'recovery does not affect dispatchers that are alive': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { account, ids, dispatcher, batch } = await aClaimedBatch(traffic, 10)
    const dead = await aClaimedBatch(traffic, 10)
    assert.deepEqual(await traffic.fence(dead.dispatcher), { requeued: 0, unknown: 10 })
    await claimedBatches.record(dispatcher, allAccepted(batch))
    assert.deepEqual(await traffic.codes(account, ids), times(10, sent))
  },

  'concurrent recoveries recover everything once': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const dead = [await aClaimedBatch(traffic, 3), await aClaimedBatch(traffic, 3), await aClaimedBatch(traffic, 3)]
    await Promise.all(dead.map(({ dispatcher }) => claimedBatches.extend(dispatcher, noLease)))
    const recovered = await Promise.all(times(16, 0).map(() => claimedBatches.recover()))
    const sum = (of: 'requeued' | 'unknown') => recovered.reduce((total, counts) => total + counts[of], 0)
    assert.deepEqual([sum('requeued'), sum('unknown')], [21, 9])
    const back = idsOf(await traffic.claimAll(await traffic.dispatcher()))
    assert.deepEqual(ascending(back), ascending(dead.flatMap(({ ids }) => ids.slice(3))))
  },

  'a dispatcher that retires gives its unmarked messages back, once, and is removed': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { account, ids, dispatcher } = await aClaimedBatch(traffic, 4)
    await claimedBatches.retire(dispatcher)
    await claimedBatches.retire(dispatcher)
    assert.deepEqual(await traffic.codes(account, ids), [...times(4, unknown), ...times(6, 'waiting')])
    assert.equal(await claimedBatches.extend(dispatcher, leaseSeconds), 'fenced')
    assert.deepEqual(idsOf(await traffic.claimAll(await traffic.dispatcher())), ids.slice(4))
  },

  'retirement and recovery that race end a dispatcher once': async (traffic) => {
    const { claimedBatches } = traffic.ports
    for (let round = 0; round < 8; round++) {
      const { account, ids, dispatcher } = await aClaimedBatch(traffic, 5)
      await claimedBatches.extend(dispatcher, noLease)
      await Promise.all([
        claimedBatches.recover(),
        claimedBatches.retire(dispatcher),
        claimedBatches.recover(),
        claimedBatches.retire(dispatcher),
      ])
      assert.deepEqual(await traffic.codes(account, ids), [...times(5, unknown), ...times(5, 'waiting')])
      assert.deepEqual(idsOf(await traffic.claimAll(await traffic.dispatcher())), ids.slice(5))
    }
  },

  'a claim that races with the end of its dispatcher loses no message': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const account = await traffic.account()
    const ids = [...(await traffic.send(account, { to: 10 })), ...(await traffic.send(account, { to: 20 }))]
    for (let round = 0; round < 12; round++) {
      const dispatcher = await claimedBatches.register(noLease)
      await Promise.all([
        claimedBatches.claim(dispatcher, claimOf('single', 10, 0)),
        claimedBatches.claim(dispatcher, claimOf('bulk', 20, 0)),
        round % 2 === 0 ? claimedBatches.recover() : claimedBatches.retire(dispatcher),
        claimedBatches.recover(),
      ])
      await claimedBatches.extend(dispatcher, noLease)
      await claimedBatches.recover()
      const next = await traffic.dispatcher()
      const back = [...(await traffic.claimAll(next)), ...(await traffic.claimAll(next, 'bulk'))]
      assert.deepEqual(ascending(idsOf(back)), ids)
      assert.deepEqual(await claimedBatches.extend(next, noLease), 'alive')
      assert.deepEqual(await traffic.codes(account, ids), times(30, 'waiting'))
      for (const batch of back) await claimedBatches.postpone(next, batch.id, idsOf([batch]), 0)
      while ((await claimedBatches.promote(100)) > 0);
      await claimedBatches.recover()
    }
  },

  'a record that races with recovery is stored nevertheless': async (traffic) => {
    const { claimedBatches } = traffic.ports
    for (let round = 0; round < 8; round++) {
      const { account, ids, dispatcher, batch } = await aClaimedBatch(traffic, 10)
      await claimedBatches.extend(dispatcher, noLease)
      const outcomes = [
        ...allAccepted(batch, batch.messages.slice(0, 6)),
        ...all('refused', batch, batch.messages.slice(6)),
      ]
      // The outcomes are recorded in one call or in two, so that recovery runs concurrently with each way.
      const records =
        round % 2 === 0
          ? [claimedBatches.record(dispatcher, outcomes)]
          : [
              claimedBatches.record(dispatcher, outcomes.slice(0, 8)),
              claimedBatches.record(dispatcher, outcomes.slice(8)).then(() => claimedBatches.record(dispatcher, [])),
            ]
      await Promise.all([claimedBatches.recover(), ...records, claimedBatches.recover()])
      await claimedBatches.record(dispatcher, outcomes)
      assert.deepEqual(await traffic.codes(account, ids), [...times(6, sent), ...times(4, refused)])
      assert.equal(await traffic.balance(account), 1_000_000 - 60)
      assert.deepEqual(await traffic.claimAll(await traffic.dispatcher()), [])
    }
  },

  'if a mark races with recovery, marked messages become unknown and the others are back in the queue': async (
    traffic,
  ) => {
    const { claimedBatches } = traffic.ports
    for (let round = 0; round < 8; round++) {
      const { account, ids, dispatcher, batch } = await aClaimedBatch(traffic)
      await claimedBatches.extend(dispatcher, noLease)
      const [marked] = await Promise.all([claimedBatches.mark(dispatcher, batch.id, 10), claimedBatches.recover()])
      assert.deepEqual(await traffic.codes(account, ids), times(10, marked === 'marked' ? unknown : 'waiting'))
      await traffic.claimAll(await traffic.dispatcher())
    }
  },

  'if settling and postponing race with recovery, each message ends in one place': async (traffic) => {
    const { claimedBatches } = traffic.ports
    for (let round = 0; round < 8; round++) {
      const { account, ids, dispatcher, batch } = await aClaimedBatch(traffic)
      await claimedBatches.extend(dispatcher, noLease)
      const settled = ids.slice(0, 5).map((id) => ({ id, code: OUTCOME.blacklisted }))
      const [settling, postponing] = await Promise.all([
        claimedBatches.settle(dispatcher, batch.id, settled),
        claimedBatches.postpone(dispatcher, batch.id, ids.slice(5), 0),
        claimedBatches.recover(),
      ])
      const codes = await traffic.codes(account, ids)
      assert.deepEqual(codes, [...times(5, settling === 'settled' ? 214 : 'waiting'), ...times(5, 'waiting')])
      assert.equal(await claimedBatches.promote(100), postponing === 'postponed' ? 1 : 0)
      const back = idsOf(await traffic.claimAll(await traffic.dispatcher()))
      assert.deepEqual(ascending(back), ascending(ids.filter((_, i) => codes[i] === 'waiting')))
    }
  },
})
