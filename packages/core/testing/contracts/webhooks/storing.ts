import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { credits } from '@gateway/core/credits'
import type { ClaimedBatch, Handover } from '@gateway/core/dispatch'
import { OUTCOME, type MessageId } from '@gateway/core/messages'
import { carrierOptOutText } from '@gateway/core/suppressions'
import {
  defaultEventTypes,
  messageEventId,
  webhookEventTypes,
  type WebhookEvent,
  type WebhookEventType,
} from '@gateway/core/webhooks'
import { aBody, anAccount, anAddress, aNumber, numbers } from '../../builders.ts'
import { eventsOf } from '../../events-of.ts'
import { acceptedAs, leaseSeconds, referenceOf, traffic, type Traffic } from '../claimed-batches/traffic.ts'
import { aReceipt, handedOver, matchAll, receiptsFor, sentMessages } from '../delivery-receipts/sent-messages.ts'
import { at, concurrentCallers, farAhead, longAgo, testCarrier, type Contract } from '../shared.ts'
import { added, aWebhook, pushAll } from './an-endpoint.ts'

/** Settings of an endpoint that subscribes to every event, with texts. */
const everything = { events: webhookEventTypes, withText: true }

const listening = (ports: StoredPorts, account: AccountId) => added(ports, aWebhook(account, everything))

/** Returns the events since the last call, in the order in which they are pushed. */
const happened = async (ports: StoredPorts): Promise<readonly WebhookEvent[]> =>
  (await pushAll(ports)).flatMap(eventsOf)

const shown = (events: readonly WebhookEvent[]) => events.map(({ id, data }) => `${data.type} ${id}`).toSorted()

const stateOf = (type: string, id: MessageId | undefined, sequence: number) =>
  `${type} ${messageEventId(id ?? assert.fail('no message'), sequence)}`

const handed = (batch: ClaimedBatch, handovers: readonly Handover[]) =>
  batch.messages.map((message, i) => ({ batch: batch.id, message, handover: at(handovers, i) }))

async function listeningTraffic(ports: StoredPorts): Promise<{ own: Traffic; account: AccountId }> {
  const own = traffic(ports)
  const account = await own.account()
  await listening(ports, account)
  return { own, account }
}

export const storing: Contract<StoredPorts> = {
  'each answer of a carrier causes an event of its message, with the data of its status': async (ports) => {
    const { own, account } = await listeningTraffic(ports)
    const ids = await own.send(account, { to: 3, costs: [10, 20, 30], text: 'hi' })
    const dispatcher = await own.dispatcher()
    const batch = await own.claim(dispatcher)
    const [first, second, third] = ids
    const outcomes = handed(batch, [acceptedAs('r1'), { outcome: 'unknown' }, { outcome: 'refused' }])
    assert.equal(await ports.claimedBatches.record(dispatcher, outcomes), 'recorded')
    const events = await happened(ports)
    assert.deepEqual(shown(events), [
      stateOf('message.failed', third, 4),
      stateOf('message.sent', first, 2),
      stateOf('message.unknown', second, 1),
    ])
    const statuses = await ports.messages.status(account, ids, longAgo)
    for (const [i, status] of statuses.entries()) {
      if (typeof status === 'string' || status.code === 'waiting') assert.fail('no outcome')
      const { code, number, cost, staysCharged: isCharged } = status
      const event = events.find(({ data }) => 'message' in data && data.message === ids[i])
      if (event === undefined) assert.fail('no event')
      const { type: _, ...data } = event.data
      assert.deepEqual(data, { message: ids[i], code, number, cost, staysCharged: isCharged, text: 'hi' })
      assert.ok(Math.abs(event.occurred - status.at) < 2)
    }
    await ports.claimedBatches.record(dispatcher, outcomes)
    assert.deepEqual(await happened(ports), [], 'a record that comes again changes nothing')
  },

  'an event of acceptance by a carrier is stored only for endpoints that subscribe to it': async (ports) => {
    const own = traffic(ports)
    const onlySent: readonly WebhookEventType[] = ['message.sent']
    for (const events of [onlySent, defaultEventTypes]) {
      const account = await own.account()
      await added(ports, aWebhook(account, { events }))
      const ids = await own.send(account, { to: 20 })
      const dispatcher = await own.dispatcher()
      const batch = await own.claim(dispatcher, 'bulk')
      await ports.claimedBatches.record(
        dispatcher,
        handed(
          batch,
          ids.map((id) => acceptedAs(`${id}`)),
        ),
      )
      const expected = events.includes('message.sent') ? ids.map((id) => stateOf('message.sent', id, 2)) : []
      assert.deepEqual(shown(await happened(ports)), expected.toSorted())
    }
  },

  'events contain a text only if the endpoint wants it': async (ports) => {
    const own = traffic(ports)
    const { account, batch } = await sentMessages(own, { text: 'secret' })
    await added(ports, aWebhook(account, { withText: false }))
    await ports.deliveryReceipts.apply(receiptsFor(batch, OUTCOME.delivered))
    const [event] = await happened(ports)
    assert.deepEqual(event?.data, {
      type: 'message.delivered',
      message: at(batch.messages, 0).id,
      number: at(batch.messages, 0).to,
      code: OUTCOME.delivered,
      cost: credits(10),
      staysCharged: true,
      text: undefined,
    })
  },

  'messages that end without a carrier, or become unknown because their dispatcher died, cause events': async (
    ports,
  ) => {
    const { own, account } = await listeningTraffic(ports)
    const ids = await own.send(account, { to: 3 })
    const dispatcher = await ports.claimedBatches.register(leaseSeconds)
    const batch = await own.claim(dispatcher, 'single', 1000, 2)
    await ports.claimedBatches.settle(dispatcher, batch.id, [{ id: at(ids, 0), code: OUTCOME.optedOut }])
    await own.fence(dispatcher)
    assert.deepEqual(shown(await happened(ports)), [
      stateOf('message.failed', ids[0], 4),
      stateOf('message.unknown', ids[1], 1),
    ])
    const late = batch.messages
      .slice(1, 2)
      .map((message) => ({ batch: batch.id, message, handover: acceptedAs('late') }))
    await ports.claimedBatches.record(dispatcher, late)
    assert.deepEqual(shown(await happened(ports)), [stateOf('message.sent', ids[1], 2)], 'what it is after all')
    assert.equal(await ports.claimedBatches.expire(-3600, 1000), 1)
    assert.deepEqual(shown(await happened(ports)), [stateOf('message.failed', ids[2], 4)])
  },

  'a dispatcher that ends in order causes events of messages with unknown outcomes': async (ports) => {
    const { own, account } = await listeningTraffic(ports)
    const [id] = await own.send(account)
    const dispatcher = await ports.claimedBatches.register(leaseSeconds)
    const batch = await own.claim(dispatcher, 'single', 1000, 1)
    await ports.claimedBatches.mark(dispatcher, batch.id, 1)
    await ports.claimedBatches.retire(dispatcher)
    assert.deepEqual(shown(await happened(ports)), [stateOf('message.unknown', id, 1)])
  },

  'a receipt causes one event, however often it arrives, and only if it changes the state': async (ports) => {
    const own = traffic(ports)
    const { account, batch, ids } = await sentMessages(own, { to: 4 })
    await listening(ports, account)
    const apply = (code: Parameters<typeof receiptsFor>[1]) => () =>
      ports.deliveryReceipts.apply(receiptsFor(batch, code))
    await apply(OUTCOME.underWay)()
    assert.deepEqual(await happened(ports), [], 'still trying tells nothing')
    await apply(OUTCOME.unknown)()
    assert.deepEqual(shown(await happened(ports)), ids.map((id) => stateOf('message.unknown', id, 3)).toSorted())
    await Promise.all(Array.from({ length: concurrentCallers }, apply(OUTCOME.undeliverable)))
    await apply(OUTCOME.delivered)()
    assert.deepEqual(shown(await happened(ports)), ids.map((id) => stateOf('message.failed', id, 4)).toSorted())
  },

  'a receipt that arrived before its message causes an event once it is matched': async (ports) => {
    const own = traffic(ports)
    const { account, batch, ids, record } = await handedOver(own)
    await added(ports, aWebhook(account))
    await ports.deliveryReceipts.apply([aReceipt(referenceOf(at(batch.messages, 0)), OUTCOME.delivered)])
    await record()
    assert.deepEqual(await happened(ports), [])
    await matchAll(own, 1)
    assert.deepEqual(shown(await happened(ports)), [stateOf('message.delivered', ids[0], 4)])
  },

  'each deleted message causes one event, however often and concurrently it is requested': async (ports) => {
    const { own, account } = await listeningTraffic(ports)
    const ids = await own.send(account, { to: 3, costs: [10, 20, 30], due: farAhead, text: 'later' })
    const [sentAtOnce] = await own.send(account)
    const requestedIds = [...ids.slice(0, 2), ...ids.slice(0, 2), sentAtOnce ?? assert.fail('no message')]
    await Promise.all(
      Array.from({ length: concurrentCallers }, () => ports.messages.deleteScheduled(account, requestedIds, longAgo)),
    )
    const events = await happened(ports)
    assert.deepEqual(
      shown(events),
      ids
        .slice(0, 2)
        .map((id) => stateOf('message.failed', id, 4))
        .toSorted(),
    )
    const [status] = await ports.messages.status(account, ids, longAgo)
    if (typeof status !== 'object' || status.code === 'waiting') assert.fail('no outcome')
    const event = events.find(({ id }) => id === messageEventId(at(ids, 0), 4)) ?? assert.fail('no event')
    const { type: _, ...data } = event.data
    const { number, cost, staysCharged: isCharged } = status
    assert.deepEqual(data, {
      message: ids[0],
      code: OUTCOME.cancelled,
      number,
      cost,
      staysCharged: isCharged,
      text: 'later',
    })
    assert.equal(cost, 0)
  },

  'a deletion causes an event only for endpoints that subscribe to failures, and none of other accounts': async (
    ports,
  ) => {
    const own = traffic(ports)
    const [account, stranger] = [await own.account(), await own.account()]
    await added(ports, aWebhook(account, { events: ['message.delivered'] }))
    await added(ports, aWebhook(stranger))
    const ids = await own.send(account, { to: 2, due: farAhead })
    await ports.messages.deleteScheduled(account, ids, longAgo)
    assert.deepEqual(await happened(ports), [])
  },

  'a reply causes an event, and its opt-out another one; a confirmation causes none': async (ports) => {
    const own = traffic(ports)
    const { account, batch } = await sentMessages(own)
    await listening(ports, account)
    const { to: from, id: answers } = at(batch.messages, 0)
    const message = {
      carrier: testCarrier,
      from,
      to: undefined,
      sent: undefined,
      reference: undefined,
      offer: undefined,
    }
    const says = async (text: string) => {
      await ports.inbox.receive([{ ...message, text, part: undefined }], aBody('bye'))
      return happened(ports)
    }
    const events = await says('STOP')
    const [{ id } = assert.fail('no reply')] = (
      await ports.inbox.list(account, 'all', longAgo, { offset: 0, limit: 1 })
    ).items
    assert.deepEqual(
      events.map((event) => [event.id, event.sequence, event.data]),
      [
        [
          `inbound-${id}`,
          1,
          { type: 'reply.received', inbound: id, from, shortCode: undefined, answers, text: 'STOP' },
        ],
        [`optout-added-${id}`, 1, { type: 'optout.added', number: from, inbound: id, answers, text: 'STOP' }],
      ],
    )
    const types = (all: readonly WebhookEvent[]) => all.map(({ data }) => data.type)
    assert.deepEqual(types(await says('stop')), ['reply.received'], 'it was opted out')
    assert.deepEqual(types(await says('START')), ['reply.received', 'optout.removed'])
    assert.deepEqual(types(await says('start')), ['reply.received'], 'it was opted in')
    const dispatcher = await own.dispatcher()
    const confirmations = await own.claim(dispatcher)
    const refused = confirmations.messages.map(() => ({ outcome: 'refused' }) as const)
    await ports.claimedBatches.record(dispatcher, handed(confirmations, refused))
    assert.deepEqual(await happened(ports), [])
  },

  'an opt-out at the carrier causes the event of the failed message, which is free, and that of the opt-out': async (
    ports,
  ) => {
    const own = traffic(ports)
    const { account, batch, record } = await handedOver(own, { to: 2 })
    await listening(ports, account)
    const [message = assert.fail('no message'), accepted = assert.fail('no message')] = batch.messages
    await record([
      { batch: batch.id, message, handover: { outcome: 'refused', optOut: true } },
      { batch: batch.id, message: accepted, handover: acceptedAs(referenceOf(accepted)) },
    ])
    await ports.deliveryReceipts.apply([aReceipt(referenceOf(accepted), OUTCOME.optedOut)])
    const events = await happened(ports)
    const ofMessages = events.flatMap(({ data }) =>
      data.type === 'message.failed' ? [[data.message, data.code, data.cost, data.staysCharged]] : [],
    )
    assert.deepEqual(ofMessages, [
      [message.id, OUTCOME.optedOut, 0, false],
      [accepted.id, OUTCOME.optedOut, 0, false],
    ])
    const optOuts = events.flatMap(({ data }) =>
      data.type === 'optout.added' ? [[data.number, data.text, data.inbound, data.answers]] : [],
    )
    assert.deepEqual(optOuts, [
      [message.to, carrierOptOutText, undefined, message.id],
      [accepted.to, carrierOptOutText, undefined, accepted.id],
    ])
  },

  'a message to a code of the account causes an event of a short code message, not of a reply': async (ports) => {
    const { id: account } = await anAccount(ports)
    await ports.senders.assign(anAddress('31555'), account)
    await listening(ports, account)
    const text = { carrier: testCarrier, from: '27820000000', sent: undefined, reference: undefined, offer: undefined }
    await ports.inbox.receive([{ ...text, to: '31555', text: 'yes', part: undefined }], aBody('bye'))
    const [event, ...rest] = await happened(ports)
    assert.equal(event?.data.type, 'shortcode.received')
    assert.equal('shortCode' in event.data && event.data.shortCode, '31555')
    assert.deepEqual(rest, [])
  },

  'manual and imported opt-outs cause one event each for the account; other suppressions cause none': async (ports) => {
    const { suppressions } = ports
    const { id: scope } = await anAccount(ports)
    await listening(ports, scope)
    const [number, other, third] = [at(numbers(3), 0), at(numbers(3), 1), at(numbers(3), 2)]
    const entry = { scope, number, kind: 'opt-out', since: longAgo } as const
    const all = await Promise.all(Array.from({ length: 8 }, () => suppressions.add(entry)))
    assert.equal(all.filter((one) => one === 'added').length, 1)
    await suppressions.addAll(scope, 'opt-out', [
      { number, since: longAgo },
      { number: other, since: longAgo },
      { number: third, since: longAgo, text: 'no more' },
    ])
    await suppressions.remove(entry)
    await suppressions.remove(entry)
    for (const kind of ['do-not-contact', 'blacklist'] as const) {
      await suppressions.add({ ...entry, scope: 'everybody', kind })
      await suppressions.addAll('everybody', kind, [{ number: aNumber(), since: longAgo }])
      await suppressions.remove({ ...entry, scope: 'everybody', kind })
    }
    const events = await happened(ports)
    const pushedData = events.map(({ data }) => [
      data.type,
      'number' in data && data.number,
      'text' in data && data.text,
    ])
    assert.deepEqual(pushedData.toSorted(), [
      ['optout.added', number, undefined],
      ['optout.added', other, undefined],
      ['optout.added', third, 'no more'],
      ['optout.removed', number, undefined],
    ])
    assert.equal(new Set(events.map(({ id }) => id)).size, 4)
  },

  'an endpoint gets events from its addition on, also while paused, and none of other accounts': async (ports) => {
    const own = traffic(ports)
    const [before, after, paused] = [await sentMessages(own), await sentMessages(own), await sentMessages(own)]
    const stranger = await own.account()
    for (const account of [after.account, paused.account, stranger]) await added(ports, aWebhook(account))
    const pause = async (state: 'active' | 'paused') => {
      const [{ id } = assert.fail('no endpoint')] = await ports.webhooks.list(paused.account)
      await ports.webhooks.change(undefined, id, { state }, longAgo)
    }
    await pause('paused')
    for (const { batch } of [before, after, paused]) {
      await ports.deliveryReceipts.apply(receiptsFor(batch, OUTCOME.delivered))
    }
    await added(ports, aWebhook(before.account))
    assert.deepEqual(shown(await happened(ports)), [stateOf('message.delivered', after.ids[0], 4)])
    await pause('active')
    assert.deepEqual(shown(await happened(ports)), [stateOf('message.delivered', paused.ids[0], 4)])
  },

  'while endpoints come and go, each message is reported at most once to each, and exactly once to one that stays':
    async (ports) => {
      const own = traffic(ports)
      const { account, batch, ids } = await sentMessages(own, { to: 40 })
      const stays = await added(ports, aWebhook(account))
      const comeAndGo = async (): Promise<void> => {
        const { id } = await added(ports, aWebhook(account))
        await ports.webhooks.change(account, id, { state: 'paused' }, longAgo)
        await ports.webhooks.change(account, id, { state: 'active' }, longAgo)
        await ports.webhooks.remove(account, id)
      }
      const receipts = receiptsFor(batch, OUTCOME.delivered)
      await Promise.all([
        ...receipts.map((receipt) => ports.deliveryReceipts.apply([receipt])),
        ...Array.from({ length: 6 }, comeAndGo),
      ])
      const lists = await pushAll(ports)
      const toEach = lists.flatMap((list) => eventsOf(list).map(({ id }) => `${list.webhook.id} ${id}`))
      assert.equal(new Set(toEach).size, toEach.length)
      const toStays = lists.filter(({ webhook }) => webhook.id === stays.id).flatMap(eventsOf)
      assert.deepEqual(shown(toStays), ids.map((id) => stateOf('message.delivered', id, 4)).toSorted())
    },
}
