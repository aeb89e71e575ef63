import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { secondsAfter } from '@gateway/core/time'
import {
  eventCount,
  failingDays,
  type ClaimedList,
  type PushResult,
  type Replay,
  type Webhook,
} from '@gateway/core/webhooks'
import { anAccount, numbers } from '../../builders.ts'
import { eventsOf } from '../../events-of.ts'
import { at, farAhead, longAgo, type Contract } from '../shared.ts'
import { added, answered, aWebhook, claiming, pushAll, replayed, resultOf } from './an-endpoint.ts'

/** Creates an endpoint with `events` waiting events. */
async function waiting(ports: StoredPorts, events: number, fields: Parameters<typeof aWebhook>[1] = {}) {
  const { id: account } = await anAccount(ports)
  const webhook = await added(ports, aWebhook(account, fields))
  await happen(ports, account, events)
  return { account, webhook, backlog: () => ports.webhooks.backlog(webhook.id) }
}

const happen = async (ports: StoredPorts, account: AccountId, events: number): Promise<void> => {
  const entries = numbers(events).map((number) => ({ number, since: longAgo }))
  await ports.suppressions.addAll(account, 'opt-out', entries)
}

const failed = (list: ClaimedList, fields: Partial<PushResult> = {}): PushResult =>
  resultOf(list, { answer: answered(500), verdict: 'retry', next: longAgo, ...fields })

const idsOf = (lists: readonly ClaimedList[]) => lists.flatMap((list) => eventsOf(list).map(({ id }) => id))

const of = (lists: readonly ClaimedList[], { id }: Webhook) => lists.filter(({ webhook }) => webhook.id === id)

export const pushing: Contract<StoredPorts> = {
  'lists have at most the requested size, and do not wait until they are full': async (ports) => {
    const { webhook, backlog } = await waiting(ports, 7, { listSize: 3 })
    const lists = await ports.webhooks.claim(claiming)
    assert.deepEqual(
      lists.map((list) => [eventCount(list), list.tries]),
      [
        [3, 1],
        [3, 1],
        [1, 1],
      ],
    )
    assert.deepEqual(at(lists, 0).webhook, webhook)
    assert.equal(new Set(idsOf(lists)).size, 7)
    assert.deepEqual(await ports.webhooks.claim(claiming), [])
    await ports.webhooks.record(lists.map((list) => resultOf(list)))
    assert.deepEqual(await ports.webhooks.claim(claiming), [])
    assert.deepEqual(await backlog(), { events: 0, lists: 0, dead: 0 })
  },

  'concurrent claimers get different lists, and every waiting event is claimed once': async (ports) => {
    const { webhook } = await waiting(ports, 30, { listSize: 1 })
    const lists = (await Promise.all(Array.from({ length: 12 }, () => ports.webhooks.claim(claiming)))).flat()
    for (let more = lists; more.length > 0; lists.push(...more)) more = [...(await ports.webhooks.claim(claiming))]
    assert.equal(lists.length, 30)
    assert.equal(new Set(lists.map(({ id }) => id)).size, 30)
    assert.equal(new Set(idsOf(lists)).size, 30)
    assert.deepEqual(await ports.webhooks.backlog(webhook.id), { events: 0, lists: 30, dead: 0 })
  },

  'no more lists of an endpoint are claimed than there is room for': async (ports) => {
    const [{ webhook }, full] = [await waiting(ports, 30, { listSize: 1 }), await waiting(ports, 1)]
    assert.equal(of(await ports.webhooks.claim(claiming), webhook).length, claiming.perWebhookMax)
    await ports.suppressions.remove({ scope: full.account, number: at(numbers(1), 0), kind: 'opt-out' })
    const rooms = new Map([
      [webhook.id, 12],
      [full.webhook.id, 0],
    ])
    const lists = await ports.webhooks.claim({ ...claiming, rooms })
    assert.equal(of(lists, webhook).length, 12)
    assert.deepEqual(of(lists, full.webhook), [])
    assert.equal((await full.backlog()).events, 1)
  },

  'every endpoint has its share, and none waits for another': async (ports) => {
    const busy = await waiting(ports, 200, { listSize: 1 })
    const others = [await waiting(ports, 1), await waiting(ports, 1), await waiting(ports, 1)]
    const lists = await ports.webhooks.claim({ ...claiming, listsMax: 8 })
    assert.ok(of(lists, busy.webhook).length >= 2)
    for (const { webhook } of others) assert.equal(of(lists, webhook).length, 1)
    // An endpoint whose events arrived later also gets its share.
    const late = await waiting(ports, 1)
    const rooms = new Map([[busy.webhook.id, 0]])
    assert.deepEqual(
      (await ports.webhooks.claim({ ...claiming, rooms })).map(({ webhook }) => webhook.id),
      [late.webhook.id],
    )
  },

  'with more endpoints than one claim can have, all take turns': async (ports) => {
    const all = []
    for (let i = 0; i < 6; i++) all.push((await waiting(ports, 2, { listSize: 1 })).webhook.id)
    const seen = []
    for (let i = 0; i < 6; i++) {
      const lists = await ports.webhooks.claim({ ...claiming, listsMax: 2 })
      seen.push(...lists.map(({ webhook }) => webhook.id))
    }
    assert.deepEqual(seen.toSorted(), [...all, ...all].toSorted())
  },

  'a failed list is claimed unchanged when it is due, before new ones, and not earlier': async (ports) => {
    const { account, backlog } = await waiting(ports, 3, { listSize: 2 })
    const [first, second] = await ports.webhooks.claim(claiming)
    if (first === undefined || second === undefined) assert.fail('two lists were due')
    await ports.webhooks.record([failed(first), failed(second, { next: farAhead })])
    await ports.suppressions.remove({ scope: account, number: at(numbers(1), 0), kind: 'opt-out' })
    const [again, fresh, ...rest] = await ports.webhooks.claim(claiming)
    assert.deepEqual({ ...again, webhook: undefined }, { ...first, tries: 2, webhook: undefined })
    assert.equal(eventsOf(fresh ?? assert.fail())[0]?.data.type, 'optout.removed')
    assert.deepEqual(rest, [])
    assert.equal((await backlog()).lists, 3)
  },

  'a list is claimed by another after its lease, and a result of the first claimer is then ignored': async (ports) => {
    const { backlog } = await waiting(ports, 1)
    const [dead] = await ports.webhooks.claim({ ...claiming, leaseSeconds: -60 })
    const [claimedList] = await ports.webhooks.claim(claiming)
    if (dead === undefined || claimedList === undefined) assert.fail('no list was due')
    assert.deepEqual([claimedList.id, claimedList.tries, idsOf([claimedList])], [dead.id, 2, idsOf([dead])])
    await ports.webhooks.record([resultOf(dead)])
    await ports.webhooks.release([dead])
    assert.equal((await backlog()).lists, 1)
    assert.deepEqual(await ports.webhooks.claim(claiming), [])
    await ports.webhooks.record([resultOf(claimedList), resultOf(claimedList)])
    assert.equal((await backlog()).lists, 0)
  },

  'a released list is due again, with the same number of the attempt': async (ports) => {
    await waiting(ports, 1)
    const lists = await ports.webhooks.claim(claiming)
    await ports.webhooks.release(lists)
    const again = await ports.webhooks.claim(claiming)
    assert.deepEqual(
      again.map(({ id, tries }) => [id, tries]),
      lists.map(({ id }) => [id, 1]),
    )
  },

  'an endpoint whose requests all failed for five days is paused, and catches up when it is resumed': async (ports) => {
    const { account, webhook, backlog } = await waiting(ports, 1)
    const failAt = async (when: number) => {
      const [list] = await ports.webhooks.claim(claiming)
      if (list === undefined) assert.fail('no list was due')
      await ports.webhooks.record([failed(list, { at: secondsAfter(longAgo, when) })])
      return ports.webhooks.find(account, webhook.id)
    }
    const days = failingDays * 86_400
    assert.deepEqual(await failAt(0), { ...webhook, failingSince: longAgo })
    assert.equal((await failAt(days - 1))?.state, 'active')
    const paused = await failAt(days)
    assert.deepEqual(paused, { ...webhook, state: 'paused', pausedFor: 'failing', failingSince: longAgo })
    await ports.suppressions.remove({ scope: account, number: at(numbers(1), 0), kind: 'opt-out' })
    assert.deepEqual(await ports.webhooks.claim(claiming), [])
    assert.deepEqual(await backlog(), { events: 1, lists: 1, dead: 0 })
    assert.deepEqual(await ports.webhooks.change(account, webhook.id, { state: 'active' }, longAgo), webhook)
    assert.equal((await pushAll(ports)).length, 2)
    assert.deepEqual(await backlog(), { events: 0, lists: 0, dead: 0 })
  },

  'a success resets the time of failures of an endpoint': async (ports) => {
    const { account, webhook } = await waiting(ports, 2, { listSize: 1 })
    const [first, second] = await ports.webhooks.claim(claiming)
    if (first === undefined || second === undefined) assert.fail('two lists were due')
    await ports.webhooks.record([failed(first)])
    await ports.webhooks.record([resultOf(second)])
    assert.deepEqual(await ports.webhooks.find(account, webhook.id), webhook)
  },

  'an endpoint that answers 410 is disabled: new events are not stored, and earlier ones are pushed when it is active again':
    async (ports) => {
      const { account, webhook, backlog } = await waiting(ports, 12, { listSize: 1 })
      const lists = await ports.webhooks.claim(claiming)
      const [list, other, late] = lists
      if (list === undefined || other === undefined || late === undefined) assert.fail('five lists were due')
      const gone = { answer: answered(410), verdict: 'gone', next: undefined } as const
      await ports.webhooks.record([failed(list, gone)])
      await ports.webhooks.record([resultOf(other), failed(late, { next: farAhead })])
      await ports.webhooks.release(lists.slice(3))
      assert.equal((await ports.webhooks.find(account, webhook.id))?.state, 'disabled')
      await ports.suppressions.remove({ scope: account, number: at(numbers(1), 0), kind: 'opt-out' })
      assert.deepEqual(await ports.webhooks.claim(claiming), [])
      await ports.webhooks.purge(100)
      assert.deepEqual(await backlog(), { events: 7, lists: 4, dead: 0 })
      await ports.webhooks.change(account, webhook.id, { state: 'active' }, longAgo)
      const follows = await pushAll(ports)
      assert.equal(follows.length, 11)
      for (const each of [list, late]) assert.equal(follows.find(({ id }) => id === each.id)?.tries, 2)
      assert.deepEqual(new Set(follows.flatMap(eventsOf).map(({ data }) => data.type)), new Set(['optout.added']))
    },

  'a failed test event is not retried, not dead and not replayed, also if its endpoint answers 410': async (ports) => {
    const { account, webhook, backlog } = await waiting(ports, 0)
    for (const verdict of ['failed', 'gone'] as const) {
      await ports.webhooks.addTest(account, webhook.id, longAgo)
      const [test] = await ports.webhooks.claim(claiming)
      if (test === undefined) assert.fail('no list was due')
      await ports.webhooks.record([failed(test, { answer: answered(410), verdict, next: undefined })])
      assert.deepEqual(await ports.webhooks.claim(claiming), [])
      assert.deepEqual(await backlog(), { events: 0, lists: 0, dead: 0 })
      const attempts = (await ports.webhooks.attempts(account, webhook.id, { offset: 0, limit: 9 }))?.items ?? []
      assert.equal(attempts.find(({ list }) => list === test.id)?.verdict, verdict)
      if (verdict === 'failed') assert.deepEqual(await ports.webhooks.find(account, webhook.id), webhook)
    }
    for (const replay of [{ kind: 'dead' }, { kind: 'period', from: longAgo, to: farAhead }] as const)
      assert.equal(await replayed(ports, webhook, replay), 0)
  },

  'dead lists are listed, and replayed once, with the same events in a new list': async (ports) => {
    const { webhook, backlog } = await waiting(ports, 3)
    const lists = await ports.webhooks.claim(claiming)
    await ports.webhooks.record(lists.map((list) => failed(list, { verdict: 'dead', next: undefined })))
    assert.deepEqual(await backlog(), { events: 0, lists: 0, dead: 1 })
    assert.equal(await replayed(ports, webhook, { kind: 'dead' }), 3)
    assert.equal(await replayed(ports, webhook, { kind: 'dead' }), 0)
    const again = await pushAll(ports)
    assert.deepEqual(idsOf(again).toSorted(), idsOf(lists).toSorted())
    assert.notEqual(at(again, 0).id, at(lists, 0).id)
    assert.deepEqual(await backlog(), { events: 0, lists: 0, dead: 0 })
  },

  'delivered events are replayed by event and by time, unchanged': async (ports) => {
    const { webhook } = await waiting(ports, 4, { listSize: 2 })
    const [first, ...rest] = (await pushAll(ports)).flatMap(eventsOf)
    if (first === undefined) assert.fail('no event was due')
    const replay = (selection: Replay) => replayed(ports, webhook, selection)
    assert.equal(await replay({ kind: 'event', event: first.id }), 1)
    assert.deepEqual((await pushAll(ports)).flatMap(eventsOf), [first])
    assert.equal(await replay({ kind: 'event', event: 'nothing' as typeof first.id }), 0)
    const occurred = rest.map((event) => event.occurred)
    const to = secondsAfter(
      occurred.reduce((a, b) => (a > b ? a : b), first.occurred),
      1,
    )
    assert.equal(await replay({ kind: 'period', from: to, to: farAhead }), 0)
    assert.equal(await replay({ kind: 'period', from: longAgo, to }), 4)
    const again = (await pushAll(ports)).flatMap(eventsOf)
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)
    assert.deepEqual(again.toSorted(byId), [first, ...rest].toSorted(byId))
  },

  'a test event is pushed only to its endpoint, in a list of its own, even while paused': async (ports) => {
    const { account, webhook } = await waiting(ports, 1)
    await added(ports, aWebhook(account))
    await ports.webhooks.change(account, webhook.id, { state: 'paused' }, longAgo)
    const test = await ports.webhooks.addTest(account, webhook.id, longAgo)
    const [list, ...rest] = await ports.webhooks.claim(claiming)
    assert.deepEqual(rest, [])
    assert.equal(list?.webhook.id, webhook.id)
    assert.deepEqual(list.groups, [{ id: test, sequence: 1, occurred: longAgo, data: { type: 'test' } }])
  },

  'the backlog of all endpoints is counted by condition, up to the maximum number of rows per endpoint': async (
    ports,
  ) => {
    const none = { endpoints: 0, events: 0, lists: 0, dead: 0, oldest: undefined }
    const conditions = ['active', 'failing', 'paused', 'disabled'] as const
    assert.deepEqual(
      await ports.webhooks.totals(1),
      conditions.map((condition) => ({ condition, ...none })),
    )
    const counted = { perWebhookMax: 2, listsMax: 100 }
    const claimed = async (one: Awaited<ReturnType<typeof waiting>>) =>
      of(await ports.webhooks.claim({ ...claiming, ...counted }), one.webhook)
    await waiting(ports, 0)
    const failing = await waiting(ports, 6, { listSize: 1 })
    const [bad, dead] = await claimed(failing)
    if (bad === undefined || dead === undefined) assert.fail('two lists were due')
    await ports.webhooks.record([failed(bad, { next: farAhead }), failed(dead, { verdict: 'dead', next: undefined })])
    const gone = await waiting(ports, 1)
    const [last] = await claimed(gone)
    if (last === undefined) assert.fail('a list was due')
    await ports.webhooks.record([failed(last, { answer: answered(410), verdict: 'gone', next: undefined })])
    const paused = await waiting(ports, 3)
    await ports.webhooks.change(paused.account, paused.webhook.id, { state: 'paused' }, longAgo)
    const removed = await waiting(ports, 3)
    await ports.webhooks.remove(removed.account, removed.webhook.id)
    const totals = async (rowsMax: number) =>
      (await ports.webhooks.totals(rowsMax)).map(({ condition, endpoints, events, lists, dead: deadLists, oldest }) => [
        condition,
        endpoints,
        events,
        lists,
        deadLists,
        oldest !== undefined && Math.abs(oldest - at(eventsOf(last), 0).occurred) < 600_000,
      ])
    assert.deepEqual(await totals(100), [
      ['active', 1, 0, 0, 0, false],
      ['failing', 1, 2, 3, 1, true],
      ['paused', 1, 3, 0, 0, true],
      ['disabled', 1, 0, 1, 0, true],
    ])
    const [, ofFailing, ofPaused] = await totals(1)
    assert.deepEqual(ofFailing?.slice(1, 5), [1, 1, 1, 1])
    assert.deepEqual(ofPaused?.slice(1, 5), [1, 1, 0, 0])
  },

  'each attempt is listed with its result, newest first': async (ports) => {
    const { account, webhook } = await waiting(ports, 2)
    const attempts = (offset: number, limit: number) => ports.webhooks.attempts(account, webhook.id, { offset, limit })
    assert.deepEqual(await attempts(0, 10), { total: 0, items: [] })
    const [list] = await ports.webhooks.claim(claiming)
    if (list === undefined) assert.fail('no list was due')
    const refused = failed(list, {
      answer: { outcome: 'answered', status: 429, retryAfterSeconds: 1.5, beginning: '"{slow\\', milliseconds: 12 },
    })
    await ports.webhooks.record([refused])
    const [again] = await ports.webhooks.claim(claiming)
    if (again === undefined) assert.fail('no list was due')
    const dead = failed(again, {
      at: secondsAfter(longAgo, 5),
      answer: { outcome: 'failed', failure: 'timeout', milliseconds: 15_000 },
      verdict: 'dead',
      next: undefined,
    })
    await ports.webhooks.record([dead])
    const events = idsOf([list])
    assert.deepEqual(await attempts(0, 1), { total: 2, items: [{ ...dead, events }] })
    assert.deepEqual(await attempts(1, 10), { total: 2, items: [{ ...refused, events }] })
    for (const offset of [2, 2 ** 31, Number.MAX_SAFE_INTEGER])
      assert.deepEqual(await attempts(offset, 10), { total: 2, items: [] })
  },

  'successful attempts are listed among failed ones, each with its result, in pages': async (ports) => {
    const { account, webhook } = await waiting(ports, 3, { listSize: 1 })
    const lists = await ports.webhooks.claim(claiming)
    const [first, second, third] = [at(lists, 0), at(lists, 1), at(lists, 2)]
    const thanks = {
      outcome: 'answered',
      status: 202,
      retryAfterSeconds: 7,
      beginning: 'thanks',
      milliseconds: 3,
    } as const
    const results = [
      failed(first, { at: secondsAfter(longAgo, 1) }),
      resultOf(third, { at: secondsAfter(longAgo, 2), answer: answered(200) }),
      resultOf(second, { at: secondsAfter(longAgo, 3), answer: thanks }),
    ]
    await ports.webhooks.record(results)
    const again = at(await ports.webhooks.claim(claiming), 0)
    const last = resultOf(again, { at: secondsAfter(longAgo, 4), answer: thanks })
    await ports.webhooks.record([last])
    const expected = [last, ...results.toReversed()].map((result) => ({
      ...result,
      events: idsOf(lists.filter(({ id }) => id === result.list)),
    }))
    for (const size of [1, 3, 10])
      for (let offset = 0; offset < 5; offset += size) {
        const page = await ports.webhooks.attempts(account, webhook.id, { offset, limit: size })
        assert.deepEqual(page, { total: 4, items: expected.slice(offset, offset + size) })
      }
  },

  'lists that ended long ago are dropped with their attempts, and so are those of a removed endpoint': async (
    ports,
  ) => {
    const { account, webhook, backlog } = await waiting(ports, 4, { listSize: 1 })
    const gone = await waiting(ports, 5)
    const [old, recent, done] = of(await ports.webhooks.claim({ ...claiming, perWebhookMax: 3 }), webhook)
    if (old === undefined || recent === undefined || done === undefined) assert.fail('three lists were due')
    await ports.webhooks.record([
      resultOf(done),
      failed(old, { verdict: 'dead', next: undefined }),
      failed(recent, { verdict: 'dead', next: undefined, at: farAhead }),
    ])
    assert.equal(await ports.webhooks.remove(gone.account, gone.webhook.id), true)
    while ((await ports.webhooks.purge(2)) > 0);
    assert.deepEqual(await backlog(), { events: 1, lists: 0, dead: 1 })
    assert.deepEqual(await gone.backlog(), { events: 0, lists: 0, dead: 0 })
    const { total } = (await ports.webhooks.attempts(account, webhook.id, { offset: 0, limit: 10 })) ?? {}
    assert.equal(total, 1)
  },
}
