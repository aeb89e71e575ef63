import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import {
  INCIDENT,
  OUTCOME,
  type MessageId,
  type MessageLocation,
  type MessageTrace,
  type TracedRefund,
} from '@gateway/core/messages'
import { aCarrierId, aMessageId, anAddress, numbers } from '../../builders.ts'
import { until } from '../../until.ts'
import { acceptedAs, all, allAccepted, referenceOf, withTraffic, type Traffic } from '../claimed-batches/traffic.ts'
import { aReceipt, handedOver, matchAll, receiptsFor } from '../delivery-receipts/sent-messages.ts'
import { finding } from './searching.ts'
import { combined, at, farAhead, longAgo, testCarrier, type Contract } from '../shared.ts'

const nobody = aMessageId(2 ** 52)

async function traceOf({ ports }: Traffic, id: MessageId | undefined): Promise<MessageTrace> {
  return (await ports.sentMessages.trace(id ?? nobody)) ?? assert.fail(`message ${id} has no trace`)
}

async function placeOf<P extends MessageLocation['place']>(traffic: Traffic, id: MessageId | undefined, place: P) {
  const found = (await traceOf(traffic, id)).place
  assert.equal(found.place, place)
  return found as Extract<MessageLocation, { place: P }>
}

const incidentsOf = async (traffic: Traffic, id: MessageId | undefined) =>
  (await traceOf(traffic, id)).incidents.map(({ name }) => name)

const withoutTimes = (refunds: readonly TracedRefund[]) =>
  refunds.map(({ code, messages, amount }) => ({ code, messages, amount }))

const carriersOf = (...names: readonly string[]) =>
  names.map((name, i) => ({ carrier: aCarrierId(name), priority: 1 + i, weight: 3 }))

const telling = withTraffic({
  'a trace has the chosen route with its conditions and position, also after it is unpublished': async (traffic) => {
    const { routes } = traffic.ports
    const others = { name: 'others', prefixes: [], accounts: [], senders: [], carriers: carriersOf('a') }
    const first = { ...others, name: 'first', prefixes: ['1'], senders: [anAddress('45678')] }
    const chosen = { ...others, name: 'chosen', prefixes: ['2782', '2783'], carriers: carriersOf('a', 'b') }
    await routes.publish([first, chosen, others])
    const [id] = await traffic.send(await traffic.account())
    assert.deepEqual((await traceOf(traffic, id)).route, { ...chosen, place: 2 })
    await routes.publish([others])
    assert.deepEqual((await traceOf(traffic, id)).route, { ...chosen, place: undefined })
  },

  'a temporary refusal is recorded with its carrier': async (traffic) => {
    const [id] = await traffic.send(await traffic.account())
    const dispatcher = await traffic.dispatcher()
    const batch = await traffic.claim(dispatcher)
    await traffic.ports.claimedBatches.postpone(dispatcher, batch.id, [id ?? nobody], 60)
    const named = (await traceOf(traffic, id)).incidents.map(({ name, carrier }) => [name, carrier])
    assert.deepEqual(named, [[INCIDENT.refusedForNow, testCarrier]])
  },

  'an id that was never issued has no trace': async (traffic) => {
    const [id = nobody] = await traffic.send(await traffic.account())
    assert.equal(await traffic.ports.sentMessages.trace(nobody), undefined)
    assert.equal(await traffic.ports.sentMessages.trace(aMessageId(id + 1)), undefined)
  },

  'a trace has the account, number, time, price and send of an accepted message': async (traffic) => {
    const account = await traffic.account()
    const ids = await traffic.send(account, { to: 3, costs: [25], text: 'déjà vu' })
    const trace = await traceOf(traffic, ids[1])
    const { accepted, place, ...rest } = trace
    assert.deepEqual(rest, {
      id: ids[1],
      account,
      number: numbers(3)[1],
      from: anAddress(),
      confirmation: false,
      scheduled: undefined,
      expires: undefined,
      options: {},
      reference: undefined,
      refundByHand: undefined,
      text: { characters: 7, encoding: 'gsm-7', parts: 1 },
      cost: 25,
      send: { first: ids[0], messages: 3, debit: 75, refunds: [], carrierPrices: [] },
      route: undefined,
      refusedForNow: 0,
      incidents: [],
      receipts: [],
    })
    assert.deepEqual(place, { place: 'queue', lane: 'single', due: accepted, attempt: 0 })
    assert.ok(accepted > longAgo && accepted < farAhead)
  },

  'a trace never contains the text, only its length, encoding and parts (P-15)': async (traffic) => {
    const text = `топ-секрет 👋 ${'я'.repeat(67)}`
    const [id] = await traffic.send(await traffic.account(), { text })
    const trace = await traceOf(traffic, id)
    assert.deepEqual(trace.text, { characters: 80, encoding: 'ucs-2', parts: 2 })
    assert.ok(!JSON.stringify(trace).includes('секрет'))
  },

  'a trace has the price of the message itself, and the lane of a send to many': async (traffic) => {
    const account = await traffic.account()
    const costs = Array.from({ length: 12 }, (_, i) => (i < 11 ? 10 : 30))
    const ids = await traffic.send(account, { to: 12, costs })
    assert.equal((await traceOf(traffic, ids[0])).cost, 10)
    assert.equal((await traceOf(traffic, ids[11])).cost, 30)
    const { send } = await traceOf(traffic, ids[3])
    assert.deepEqual(send, { first: ids[0], messages: 11, debit: 110, refunds: [], carrierPrices: [] })
    assert.equal((await placeOf(traffic, ids[0], 'queue')).lane, 'bulk')
  },

  'the trace of a scheduled message has its due time': async (traffic) => {
    const [id] = await traffic.send(await traffic.account(), { due: farAhead })
    assert.equal((await traceOf(traffic, id)).scheduled, farAhead)
    assert.deepEqual(await placeOf(traffic, id, 'scheduled'), { place: 'scheduled', due: farAhead })
  },

  'the trace of a message with its own validity has the end of it': async (traffic) => {
    const [id] = await traffic.send(await traffic.account(), { validity: 90 })
    const { accepted, expires, options } = await traceOf(traffic, id)
    assert.deepEqual(options, { validity: 90 })
    assert.equal((expires ?? NaN) - accepted, 90 * 60_000)
  },

  'a trace has the priority and the flash class': async (traffic) => {
    const [id] = await traffic.send(await traffic.account(), { priority: 3, flash: true })
    assert.deepEqual((await traceOf(traffic, id)).options, { priority: 3, flash: true })
  },

  'the trace of a claimed message has its dispatcher and carrier, and whether it may have been submitted': async (
    traffic,
  ) => {
    const ids = await traffic.send(await traffic.account(), { to: 3 })
    const dispatcher = await traffic.dispatcher()
    await traffic.claim(dispatcher, 'single', 10, 2)
    const { leaseUntil, ...first } = await placeOf(traffic, ids[0], 'claimed')
    const expected = { place: 'claimed', dispatcher, carrier: testCarrier, attempt: 0, overdue: false }
    assert.deepEqual(first, { ...expected, marked: true })
    assert.deepEqual(await placeOf(traffic, ids[2], 'claimed'), { ...expected, marked: false, leaseUntil })
    assert.ok(leaseUntil > longAgo && leaseUntil < farAhead)
    assert.equal(await traffic.ports.claimedBatches.extend(dispatcher, -60), 'alive')
    assert.equal((await placeOf(traffic, ids[0], 'claimed')).overdue, true)
  },

  'the trace of an accepted message has its carrier reference and the content of its receipt': async (traffic) => {
    const { ids, batch, record } = await handedOver(traffic)
    await record(batch.messages.map((message) => ({ batch: batch.id, message, handover: acceptedAs('"ref" 7') })))
    const { at: when, stored, ...sent } = await placeOf(traffic, ids[0], 'decided')
    const decided = { place: 'decided', carrier: testCarrier, reference: '"ref" 7', parts: [], refunded: false }
    assert.deepEqual(sent, { ...decided, code: OUTCOME.sent })
    assert.equal(when, stored)
    await traffic.ports.deliveryReceipts.apply([aReceipt('"ref" 7', OUTCOME.delivered)])
    const delivered = await placeOf(traffic, ids[0], 'decided')
    assert.deepEqual(delivered, { ...decided, code: OUTCOME.delivered, at: delivered.at, stored })
    assert.ok(delivered.at >= stored)
    assert.deepEqual(await incidentsOf(traffic, ids[0]), [])
  },

  'the trace of a refused message has its refund, and the number of refunded messages of the send by code': async (
    traffic,
  ) => {
    const account = await traffic.account()
    const ids = await traffic.send(account, { to: 5, due: longAgo })
    const dispatcher = await traffic.dispatcher()
    const batch = await traffic.claim(dispatcher)
    const [first, second, third] = batch.messages
    await traffic.ports.claimedBatches.settle(dispatcher, batch.id, [{ id: at(ids, 4), code: OUTCOME.blacklisted }])
    const refused = [first, second].flatMap((message) => (message ? all('refused', batch, [message]) : []))
    const thirdAccepted = third ? allAccepted(batch, [third]) : []
    await traffic.ports.claimedBatches.record(dispatcher, [...refused, ...thirdAccepted])
    const { code, refunded, carrier, reference } = await placeOf(traffic, ids[0], 'decided')
    assert.deepEqual([code, refunded, carrier, reference], [OUTCOME.refused, true, testCarrier, undefined])
    const blocked = await placeOf(traffic, ids[4], 'decided')
    assert.deepEqual([blocked.code, blocked.refunded, blocked.carrier], [OUTCOME.blacklisted, true, undefined])
    const { send } = await traceOf(traffic, ids[2])
    assert.deepEqual(withoutTimes(send.refunds), [
      { code: OUTCOME.refused, messages: 2, amount: 20 },
      { code: OUTCOME.blacklisted, messages: 1, amount: 10 },
    ])
    for (const { first: from, last } of send.refunds) assert.ok(from <= last && from > longAgo)
  },

  'the trace of a deleted message has its code and refund; the rest of its send waits': async (traffic) => {
    const account = await traffic.account()
    const ids = await traffic.send(account, { to: 4, due: farAhead })
    await traffic.ports.messages.deleteScheduled(account, ids.slice(0, 2), longAgo)
    const { code, refunded, carrier } = await placeOf(traffic, ids[1], 'decided')
    assert.deepEqual([code, refunded, carrier], [OUTCOME.cancelled, true, undefined])
    await placeOf(traffic, ids[2], 'scheduled')
    const { send } = await traceOf(traffic, ids[2])
    assert.deepEqual(withoutTimes(send.refunds), [{ code: OUTCOME.cancelled, messages: 2, amount: 20 }])
  },

  'refunds of free messages have no count': async (traffic) => {
    const { ids, batch, record } = await handedOver(traffic, { to: 2, costs: [0] })
    await record(all('refused', batch))
    const { refunds } = (await traceOf(traffic, ids[0])).send
    assert.deepEqual(withoutTimes(refunds), [{ code: OUTCOME.refused, messages: undefined, amount: 0 }])
  },

  'the trace of a temporarily refused message has the time of its next try and the number of refusals': async (
    traffic,
  ) => {
    const { ids, dispatcher, batch } = await handedOver(traffic)
    await traffic.ports.claimedBatches.postpone(dispatcher, batch.id, ids, 600)
    const { until: end, attempt } = await placeOf(traffic, ids[0], 'postponed')
    assert.ok(end > (await traceOf(traffic, ids[0])).accepted)
    assert.equal(attempt, 1)
    assert.deepEqual(await incidentsOf(traffic, ids[0]), [INCIDENT.refusedForNow])
  },

  'the number of a second attempt is in the trace while the message is queued, claimed and decided': async (
    traffic,
  ) => {
    const { ids, dispatcher, batch } = await handedOver(traffic)
    await traffic.ports.claimedBatches.postpone(dispatcher, batch.id, ids, 0)
    await until(async () => (await traffic.ports.claimedBatches.promote(10)) > 0)
    assert.equal((await placeOf(traffic, ids[0], 'queue')).attempt, 1)
    const again = await traffic.claim(dispatcher)
    assert.equal((await placeOf(traffic, ids[0], 'claimed')).attempt, 1)
    await traffic.ports.claimedBatches.postpone(dispatcher, again.id, ids, 600)
    assert.equal((await placeOf(traffic, ids[0], 'postponed')).attempt, 2)
    assert.equal((await traceOf(traffic, ids[0])).refusedForNow, 2)
    assert.deepEqual(await incidentsOf(traffic, ids[0]), [INCIDENT.refusedForNow, INCIDENT.refusedForNow])
  },

  'a message of a dead dispatcher is unknown with the incident recovered; a later report adds the incident late':
    async (traffic) => {
      const { ids, dispatcher, batch, record } = await handedOver(traffic, { to: 3 })
      await traffic.fence(dispatcher)
      const { code, carrier, reference, refunded } = await placeOf(traffic, ids[0], 'decided')
      const { stored } = await placeOf(traffic, ids[1], 'decided')
      assert.deepEqual([code, carrier, reference, refunded], [OUTCOME.unknown, testCarrier, undefined, false])
      assert.deepEqual(await incidentsOf(traffic, ids[0]), [INCIDENT.recovered])
      const [first, second] = batch.messages
      await record([...(first ? allAccepted(batch, [first]) : []), ...(second ? all('refused', batch, [second]) : [])])
      assert.equal((await placeOf(traffic, ids[0], 'decided')).code, OUTCOME.sent)
      assert.equal((await placeOf(traffic, ids[1], 'decided')).refunded, true)
      assert.equal((await placeOf(traffic, ids[1], 'decided')).stored, stored)
      for (const id of ids.slice(0, 2)) {
        assert.deepEqual(await incidentsOf(traffic, id), [INCIDENT.recovered, INCIDENT.late])
      }
      await traffic.ports.claimedBatches.record(dispatcher, all('refused', batch, batch.messages.slice(2)))
      assert.equal((await placeOf(traffic, ids[2], 'decided')).code, OUTCOME.refused)
      assert.deepEqual(await incidentsOf(traffic, ids[2]), [INCIDENT.recovered, INCIDENT.late])
    },

  'an unmarked message goes back to the queue without an incident': async (traffic) => {
    const ids = await traffic.send(await traffic.account(), { to: 2 })
    const dispatcher = await traffic.dispatcher()
    await traffic.claim(dispatcher, 'single', 10, 1)
    await traffic.fence(dispatcher)
    await placeOf(traffic, ids[1], 'queue')
    assert.deepEqual(await incidentsOf(traffic, ids[1]), [])
  },

  'an early receipt is listed as stored: first for any message to its number, then for its own': async (traffic) => {
    const { ids, batch, record } = await handedOver(traffic)
    const [number] = batch.messages.map(({ to }) => to)
    await traffic.ports.deliveryReceipts.apply(receiptsFor(batch, OUTCOME.delivered, { number }))
    const storedReceipts = (await traceOf(traffic, ids[0])).receipts
    const receipt = { carrier: testCarrier, reference: batch.messages.map(referenceOf)[0], code: OUTCOME.delivered }
    assert.deepEqual(storedReceipts, [{ ...receipt, at: storedReceipts[0]?.at, fits: 'same-number' }])
    await record()
    assert.deepEqual((await traceOf(traffic, ids[0])).receipts, [
      { ...receipt, at: storedReceipts[0]?.at, fits: 'own' },
    ])
    await matchAll(traffic, 1)
    assert.deepEqual((await traceOf(traffic, ids[0])).receipts, [])
  },

  "a receipt with the message's carrier id and another number is never its own": async (traffic) => {
    const { ids, batch, record } = await handedOver(traffic)
    const [number] = numbers(1, '77')
    await traffic.ports.deliveryReceipts.apply(receiptsFor(batch, OUTCOME.delivered, { number }))
    await record()
    assert.deepEqual(
      (await traceOf(traffic, ids[0])).receipts.map(({ fits }) => fits),
      ['other-number'],
    )
    await matchAll(traffic, 0)
    assert.equal((await traceOf(traffic, ids[0])).place.place, 'decided')
  },

  'the trace of an unknown message has the receipts that may resolve it, and its adoption': async (traffic) => {
    const { ids, batch, record } = await handedOver(traffic)
    await record(all('unknown', batch))
    assert.deepEqual(await incidentsOf(traffic, ids[0]), [INCIDENT.unknown])
    const [number] = batch.messages.map(({ to }) => to)
    await traffic.ports.deliveryReceipts.apply([aReceipt('stranger', OUTCOME.delivered, { number })])
    const fits = async () => (await traceOf(traffic, ids[0])).receipts.map((receipt) => receipt.fits)
    assert.deepEqual(await fits(), ['same-number'])
    assert.equal(await traffic.ports.deliveryReceipts.adopt(0), 1)
    assert.deepEqual(await fits(), ['own'])
    assert.equal((await placeOf(traffic, ids[0], 'decided')).reference, 'stranger')
    assert.deepEqual(await incidentsOf(traffic, ids[0]), [INCIDENT.unknown, INCIDENT.adopted])
    await matchAll(traffic, 1)
    assert.equal((await placeOf(traffic, ids[0], 'decided')).code, OUTCOME.delivered)
  },

  'at every moment of claims, releases, records and recoveries each message is in exactly one place': async (
    traffic,
  ) => {
    const { ports } = traffic
    const ids = await traffic.send(await traffic.account(), { to: 60 })
    let running = true
    const look = async () => {
      for (let i = 0; running; i++) {
        const { place } = await traceOf(traffic, ids[i % ids.length])
        assert.notEqual(place.place, 'nowhere')
      }
    }
    const work = async () => {
      for (let round = 0; round < 6; round++) {
        const dispatcher = await traffic.dispatcher()
        const batch = await traffic.claim(dispatcher, 'bulk', 60, 5)
        const [first] = batch.messages
        await ports.claimedBatches.record(dispatcher, first ? allAccepted(batch, [first]) : [])
        await (round % 2 === 0 ? traffic.fence(dispatcher) : ports.claimedBatches.retire(dispatcher))
      }
    }
    await Promise.all([work().finally(() => (running = false)), look(), look()])
  },

  'reading a trace changes nothing': async (traffic) => {
    const { account, ids, record } = await handedOver(traffic, { to: 3 })
    for (let i = 0; i < 3; i++) await Promise.all(ids.map((id) => traceOf(traffic, id)))
    await record()
    assert.deepEqual(await traffic.codes(account, ids), [OUTCOME.sent, OUTCOME.sent, OUTCOME.sent])
  },
})

/** Contract of message traces, and of the search for messages. */
export const traces: Contract<StoredPorts> = combined(telling, finding)
