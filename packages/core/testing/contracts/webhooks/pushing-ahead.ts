import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import { OUTCOME } from '@gateway/core/messages'
import {
  eventCount,
  messageEventId,
  webhookEventTypes,
  type ClaimedList,
  type Replay,
  type Webhook,
} from '@gateway/core/webhooks'
import { aBody, anAccount, numbers } from '../../builders.ts'
import { eventsOf } from '../../events-of.ts'
import { traffic } from '../claimed-batches/traffic.ts'
import { handedOver, receiptsFor, sentMessages } from '../delivery-receipts/sent-messages.ts'
import { farAhead, longAgo, testCarrier, type Contract } from '../shared.ts'
import { added, answered, aWebhook, claiming, pushAll, replayed, resultOf } from './an-endpoint.ts'

/** Creates an endpoint with one event per list and `events` waiting events. */
async function waiting(ports: StoredPorts, events: number): Promise<Webhook> {
  const { id: account } = await anAccount(ports)
  const webhook = await added(ports, aWebhook(account, { listSize: 1 }))
  const entries = numbers(events).map((number) => ({ number, since: longAgo }))
  await ports.suppressions.addAll(account, 'opt-out', entries)
  return webhook
}

const idsOf = (lists: readonly ClaimedList[]) => lists.flatMap((list) => eventsOf(list).map(({ id }) => id))

export const pushingAhead: Contract<StoredPorts> = {
  'all lists of a dead claimer are claimed by another after the lease': async (ports) => {
    const { id } = await waiting(ports, 12)
    const rooms = new Map([[id, 12]])
    const abandoned = await ports.webhooks.claim({ ...claiming, rooms, leaseSeconds: -60 })
    const claimedAgain = await ports.webhooks.claim({ ...claiming, rooms })
    assert.deepEqual(idsOf(claimedAgain).toSorted(), idsOf(abandoned).toSorted())
    assert.deepEqual(new Set(claimedAgain.map(({ tries }) => tries)), new Set([2]))
  },

  'events of one send come in lists of the requested size; events beyond the free room wait': async (ports) => {
    const text = 'a "quote" \\ and {"a": [1]}}}'
    const { account, batch, ids } = await sentMessages(traffic(ports), { to: 11, text, costs: Array(11).fill(20) })
    const newWebhook = aWebhook(account, { listSize: 3, withText: true })
    const webhooks = [
      await added(ports, newWebhook),
      await added(ports, { ...newWebhook, withText: false, listSize: 100 }),
    ]
    await ports.deliveryReceipts.apply(receiptsFor(batch, OUTCOME.delivered))
    const lists = await ports.webhooks.claim({ ...claiming, listsMax: 4, perWebhookMax: 2 })
    const sizes = lists.map((list) => `${webhooks.findIndex(({ id }) => id === list.webhook.id)}: ${eventCount(list)}`)
    assert.deepEqual(sizes.toSorted(), ['0: 3', '0: 3', '1: 11'])
    assert.deepEqual(await ports.webhooks.backlog(webhooks[0]?.id ?? assert.fail()), {
      events: 5,
      lists: 2,
      dead: 0,
    })
    await ports.webhooks.record(lists.map((list) => resultOf(list)))
    const all = [...lists, ...(await pushAll(ports))]
    for (const [i, { id }] of webhooks.entries()) {
      const events = all.filter(({ webhook }) => webhook.id === id).flatMap(eventsOf)
      const messageData = events.map(({ data }) => ('message' in data ? data : assert.fail('not of a message')))
      assert.deepEqual(messageData.map(({ message }) => message).toSorted(), ids.toSorted())
      for (const data of messageData)
        assert.deepEqual([data.text, data.cost, data.staysCharged], [i === 0 ? text : undefined, 20, true])
    }
  },

  'lists of one send are claimed again unchanged after a failure, a release, or the death of the claimer': async (
    ports,
  ) => {
    const { account, batch } = await sentMessages(traffic(ports), { to: 11, text: 'hi', costs: Array(11).fill(20) })
    const webhook = await added(ports, aWebhook(account, { listSize: 3, withText: true }))
    await ports.deliveryReceipts.apply(receiptsFor(batch, OUTCOME.delivered))
    const rooms = new Map([[webhook.id, 3]])
    const [delivered, refused, untried] = await ports.webhooks.claim({ ...claiming, rooms })
    if (delivered === undefined || refused === undefined || untried === undefined) assert.fail('three lists were due')
    const retried = { answer: answered(500), verdict: 'retry', next: longAgo } as const
    await ports.webhooks.record([resultOf(delivered), resultOf(refused, retried)])
    await ports.webhooks.release([untried])
    const again = await ports.webhooks.claim({ ...claiming, rooms, leaseSeconds: -60 })
    assert.equal(again.length, 3)
    const asBefore = (list: ClaimedList) => ({ id: list.id, events: eventsOf(list) })
    const last = again.find(({ id }) => id !== refused.id && id !== untried.id) ?? assert.fail('no other list')
    const before = new Map([refused, untried, last].map((list) => [list.id, list]))
    for (const claimed of [again, await ports.webhooks.claim({ ...claiming, rooms })]) {
      assert.equal(claimed.length, 3)
      for (const list of claimed) assert.deepEqual(asBefore(list), asBefore(before.get(list.id) ?? assert.fail()))
    }
    assert.deepEqual(await ports.webhooks.backlog(webhook.id), { events: 0, lists: 3, dead: 0 })
  },

  'a replay by time includes only ended lists, also of lists that were claimed together': async (ports) => {
    const { account, batch } = await sentMessages(traffic(ports), { to: 11, text: 'hi', costs: Array(11).fill(20) })
    const webhook = await added(ports, aWebhook(account, { listSize: 3 }))
    await ports.deliveryReceipts.apply(receiptsFor(batch, OUTCOME.delivered))
    const lists = await ports.webhooks.claim({ ...claiming, rooms: new Map([[webhook.id, 4]]) })
    const [delivered, refused, dead] = lists
    if (delivered === undefined || refused === undefined || dead === undefined) assert.fail('four lists were due')
    const ended = { answer: answered(500), next: undefined } as const
    await ports.webhooks.record([
      resultOf(delivered),
      resultOf(refused, { ...ended, verdict: 'retry', next: farAhead }),
      resultOf(dead, { ...ended, verdict: 'dead' }),
    ])
    const period = { kind: 'period', from: longAgo, to: farAhead } as const
    assert.equal(await replayed(ports, webhook, period), 6)
    const again = (await pushAll(ports)).flatMap(eventsOf)
    assert.deepEqual(new Set(again), new Set([delivered, dead].flatMap(eventsOf)))
    assert.equal(again.length, 6)
  },

  'a single event is found whatever its type, also if its message has another state since': async (ports) => {
    const own = traffic(ports)
    const { account, batch, ids, record } = await handedOver(own)
    const [id, message] = [ids[0], batch.messages[0] ?? assert.fail('no message')]
    const webhook = await added(ports, aWebhook(account, { listSize: 1, events: webhookEventTypes, withText: true }))
    await record()
    await ports.deliveryReceipts.apply(receiptsFor(batch, OUTCOME.unknown))
    await ports.deliveryReceipts.apply(receiptsFor(batch, OUTCOME.delivered))
    const text = { carrier: testCarrier, from: message.to, to: undefined, sent: undefined, reference: undefined }
    for (const keyword of ['STOP', 'START'])
      await ports.inbox.receive([{ ...text, offer: undefined, text: keyword, part: undefined }], aBody('bye'))
    const optOut = { scope: account, number: message.to, kind: 'opt-out' } as const
    await ports.suppressions.add({ ...optOut, since: longAgo })
    await ports.suppressions.remove(optOut)
    const before = (await pushAll(ports)).flatMap(eventsOf)
    assert.deepEqual(
      before.map(({ data }) => data.type).toSorted(),
      ['delivered', 'sent', 'unknown']
        .map((type) => `message.${type}`)
        .concat(
          ['added', 'added', 'removed', 'removed'].map((type) => `optout.${type}`),
          ['reply.received', 'reply.received'],
        ),
    )
    assert.ok(before.some((event) => event.id === messageEventId(id ?? assert.fail(), 3)))
    for (const event of before) {
      assert.equal(await replayed(ports, webhook, { kind: 'event', event: event.id }), 1)
      assert.deepEqual((await pushAll(ports)).flatMap(eventsOf), [event])
    }
    const unknown = messageEventId(id ?? assert.fail(), 1)
    assert.equal(await replayed(ports, webhook, { kind: 'event', event: unknown }), 0)
  },

  'events of messages are replayed unchanged, alone and together': async (ports) => {
    const { account, batch, ids } = await sentMessages(traffic(ports), { to: 5, text: 'hi', costs: Array(5).fill(20) })
    const webhook = await added(ports, aWebhook(account, { listSize: 2, events: webhookEventTypes, withText: true }))
    await ports.deliveryReceipts.apply(receiptsFor(batch, OUTCOME.delivered))
    const before = (await pushAll(ports)).flatMap(eventsOf)
    assert.equal(before.length, ids.length)
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)
    const again = async (selection: Replay) => {
      await replayed(ports, webhook, selection)
      return (await pushAll(ports)).flatMap(eventsOf).toSorted(byId)
    }
    for (const event of before) assert.deepEqual(await again({ kind: 'event', event: event.id }), [event])
    assert.deepEqual(await again({ kind: 'period', from: longAgo, to: farAhead }), before.toSorted(byId))
  },
}
