import * as fc from 'fast-check'
import { strict as assert } from 'node:assert'
import {
  countingReceipt,
  type ClaimedBatch,
  type DeliveryReceipt,
  type DeliveryReceiptCode,
} from '@gateway/core/dispatch'
import { OUTCOME, type MessageId } from '@gateway/core/messages'
import { secondsAfter } from '@gateway/core/time'
import { numbers } from '../../builders.ts'
import { realClock } from '../../memory/clock.ts'
import { until } from '../../until.ts'
import { all, granted, times, withTraffic, type Traffic } from '../claimed-batches/traffic.ts'
import { at, checkGenerated, longAgo, testCarrier } from '../shared.ts'
import { adoptions, type UnknownMessage } from '../specification/adoptions.ts'
import { changesState } from '../specification/outcomes.ts'
import { acceptedUnder, aReceipt, handedOver, matchAll, otherCarrier } from './sent-messages.ts'

const { sent, delivered, expired, cancelled, undeliverable, underWay, unknown, rejected, failed } = OUTCOME

/** Creates messages whose outcome is unknown, each to a number of its own. */
async function unknownMessages(traffic: Traffic, to: number) {
  const handed = await handedOver(traffic, { to })
  await handed.record(all('unknown', handed.batch))
  return handed
}

/**
 * Returns a receipt for each message, with its number and a submission time, but with a reference that no message has.
 */
const strangers = (batch: ClaimedBatch, rest: Partial<DeliveryReceipt> = {}): DeliveryReceipt[] =>
  batch.messages.map(({ to, id }) =>
    aReceipt(`stranger-${id}`, delivered, { number: to, submitted: realClock().now(), ...rest }),
  )

/**
 * Contract of adoption: a message of unknown outcome without a reference gets a receipt that matches no other message.
 */
export const adopting = withTraffic({
  'an unknown message adopts the one receipt that fits, and is then matched': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch } = await unknownMessages(traffic, 5)
    await deliveryReceipts.apply(strangers(batch))
    assert.equal(await deliveryReceipts.match(100), 0)
    assert.equal(await deliveryReceipts.adopt(0), 5)
    await matchAll(traffic, 5)
    assert.deepEqual(await traffic.codes(account, ids), times(5, delivered))
    assert.equal(await deliveryReceipts.adopt(0), 0)
    assert.equal(await traffic.balance(account), granted - 50)
  },

  'a message made unknown by recovery adopts a receipt too, even one without a submission time': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, dispatcher, batch } = await handedOver(traffic, { to: 2 })
    await traffic.fence(dispatcher)
    await deliveryReceipts.apply(strangers(batch, { submitted: undefined }))
    assert.equal(await deliveryReceipts.adopt(0), 2)
    await matchAll(traffic, 2)
    assert.deepEqual(await traffic.codes(account, ids), [delivered, delivered])
  },

  'a message that becomes unknown after its receipt arrived adopts it nevertheless': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, dispatcher, batch } = await handedOver(traffic, { to: 2 })
    await deliveryReceipts.apply(strangers(batch, { submitted: undefined }))
    const received = realClock().now()
    await until(() => realClock().now() > received)
    await traffic.fence(dispatcher)
    assert.equal(await deliveryReceipts.adopt(0), 2)
    await matchAll(traffic, 2)
    assert.deepEqual(await traffic.codes(account, ids), [delivered, delivered])
  },

  'a late report of the dispatcher does not change a message that adopted a receipt': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, dispatcher, batch, record } = await handedOver(traffic, { to: 2 })
    await traffic.fence(dispatcher)
    await deliveryReceipts.apply(strangers(batch))
    assert.equal(await deliveryReceipts.adopt(0), 2)
    await record(all('refused', batch))
    assert.equal(await traffic.ports.claimedBatches.postpone(dispatcher, batch.id, ids, 0), 'fenced')
    assert.deepEqual(await traffic.codes(account, ids), [unknown, unknown])
    await matchAll(traffic, 2)
    assert.deepEqual(await traffic.codes(account, ids), [delivered, delivered])
    assert.equal(await traffic.balance(account), granted - 20)
  },

  'a receipt is adopted only after it has reached the minimum age': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { batch } = await unknownMessages(traffic, 1)
    await deliveryReceipts.apply(strangers(batch))
    assert.equal(await deliveryReceipts.adopt(3600), 0)
    assert.equal(await deliveryReceipts.adopt(0), 1)
  },

  'with two unknown messages to one number nothing is adopted, because the match is ambiguous': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const one = await unknownMessages(traffic, 1)
    const two = await unknownMessages(traffic, 1)
    await deliveryReceipts.apply(strangers(one.batch))
    assert.equal(await deliveryReceipts.adopt(0), 0)
    assert.deepEqual(await traffic.codes(one.account, one.ids), [unknown])
    assert.deepEqual(await traffic.codes(two.account, two.ids), [unknown])
  },

  'with two references for the number of one unknown message nothing is adopted, because the match is ambiguous':
    async (traffic) => {
      const { deliveryReceipts } = traffic.ports
      const { account, ids, batch } = await unknownMessages(traffic, 1)
      const [first] = strangers(batch)
      assert.ok(first)
      await deliveryReceipts.apply([first, { ...first, reference: 'another' }])
      assert.equal(await deliveryReceipts.adopt(0), 0)
      assert.deepEqual(await traffic.codes(account, ids), [unknown])
    },

  'several receipts of one reference count as one candidate, of which the first final one counts': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch } = await unknownMessages(traffic, 1)
    for (const code of [OUTCOME.underWay, undeliverable, delivered] as const) {
      await deliveryReceipts.apply(strangers(batch, { code }))
    }
    assert.equal(await deliveryReceipts.adopt(0), 1)
    await matchAll(traffic, 3)
    assert.deepEqual(await traffic.codes(account, ids), [undeliverable])
  },

  'a receipt of another carrier, another or no number, or another day is not adopted': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch } = await unknownMessages(traffic, 1)
    const [, other] = numbers(2)
    assert.ok(other)
    await deliveryReceipts.apply([
      ...strangers(batch, { carrier: otherCarrier }),
      ...strangers(batch, { reference: 'a', number: other }),
      ...strangers(batch, { reference: 'b', number: undefined }),
      ...strangers(batch, { reference: 'c', submitted: longAgo }),
    ])
    assert.equal(await deliveryReceipts.adopt(0), 0)
    assert.deepEqual(await traffic.codes(account, ids), [unknown])
  },

  'while a message to the number may be in flight, its receipt is not adopted by another': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const lost = await unknownMessages(traffic, 1)
    const onItsWay = await handedOver(traffic, { to: 1 })
    await deliveryReceipts.apply(strangers(onItsWay.batch))
    assert.equal(await deliveryReceipts.adopt(0), 0)
    const references = strangers(onItsWay.batch).map(({ reference }) => reference)
    await onItsWay.record(
      onItsWay.batch.messages.map((message, i) => ({
        batch: onItsWay.batch.id,
        message,
        handover: { outcome: 'accepted', reference: references[i] ?? '' },
      })),
    )
    assert.equal(await deliveryReceipts.adopt(0), 0)
    await matchAll(traffic, 1)
    assert.deepEqual(await traffic.codes(lost.account, lost.ids), [unknown])
    assert.deepEqual(await traffic.codes(onItsWay.account, onItsWay.ids), [delivered])
  },

  'batches to other numbers, or settled or given back, do not prevent an adoption': async (traffic) => {
    const { claimedBatches, deliveryReceipts } = traffic.ports
    const lost = await unknownMessages(traffic, 1)
    const other = await handedOver(traffic, { to: 20 })
    const [first, second] = other.ids
    assert.ok(first && second)
    await claimedBatches.settle(other.dispatcher, other.batch.id, [{ id: first, code: OUTCOME.expired }])
    await claimedBatches.postpone(other.dispatcher, other.batch.id, [second], 3600)
    await deliveryReceipts.apply(strangers(lost.batch))
    assert.equal(await deliveryReceipts.adopt(0), 1)
  },

  'a receipt is adopted once, also with concurrent calls': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch } = await unknownMessages(traffic, 30)
    await deliveryReceipts.apply(strangers(batch))
    const counts = await Promise.all(times(8, 0).map(() => deliveryReceipts.adopt(0)))
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      30,
    )
    await matchAll(traffic, 30)
    assert.deepEqual(await traffic.codes(account, ids), times(30, delivered))
  },

  'a receipt submitted within the hour before the message became unknown fits': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { batch } = await unknownMessages(traffic, 1)
    const submitted = secondsAfter(realClock().now(), -1800)
    await deliveryReceipts.apply(strangers(batch, { submitted }))
    assert.equal(await deliveryReceipts.adopt(0), 1)
  },
})

const codes = [delivered, expired, cancelled, undeliverable, underWay, unknown, rejected, failed] as const
const roundsMax = 12

/** Submission times far enough from the bounds of `adoptionWindow` that a slow run does not change the case. */
const submittedSeconds = ['untold', 'untold', -7200, -1800, 0, 120, 1200] as const

const some = fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 3 })

/**
 * Cases with a few messages of every outcome to three numbers that no other case uses, and receipts for them. Some
 * receipts arrive before recovery.
 */
const cases = fc.record({
  recovered: some,
  unknown: some,
  accepted: some,
  inFlight: fc.nat({ max: 2 }),
  receipts: fc.array(
    fc.record({
      reference: fc.nat({ max: 7 }),
      code: fc.constantFrom(...codes),
      isOtherCarrier: fc.integer({ min: 0, max: 9 }).map((one) => one === 9),
      number: fc.option(fc.nat({ max: 2 }), { freq: 10, nil: undefined }),
      submitted: fc.constantFrom(...submittedSeconds),
    }),
    { minLength: 2, maxLength: 6 },
  ),
  early: fc.nat({ max: 6 }),
})

type Case = typeof cases extends fc.Arbitrary<infer One> ? One : never

interface Generated {
  readonly batches: Readonly<Record<'recovered' | 'unknown' | 'accepted' | 'inFlight', ClaimedBatch>>
  readonly receipts: readonly DeliveryReceipt[]
}

async function generate(traffic: Traffic, one: Case, round: number): Promise<Generated> {
  const three = numbers(3, String(10 + round))
  const handed = (of: readonly number[]) => handedOver(traffic, { numbers: of.map((i) => at(three, i)) })
  const [recovered, lost, accepted] = [
    await handed(one.recovered),
    await handed(one.unknown),
    await handed(one.accepted),
  ]
  const inFlight = await handed([one.inFlight])
  const reference = (i: number) => `round ${round}, ${i}`
  const receipts = one.receipts.map(({ reference: i, code, isOtherCarrier, number, submitted }): DeliveryReceipt =>
    aReceipt(reference(i), code, {
      carrier: isOtherCarrier ? otherCarrier : testCarrier,
      number: number === undefined ? undefined : at(three, number),
      submitted: submitted === 'untold' ? undefined : secondsAfter(realClock().now(), submitted),
    }),
  )
  const { early } = one
  await traffic.ports.deliveryReceipts.apply(receipts.slice(0, early))
  await traffic.fence(recovered.dispatcher)
  await lost.record(all('unknown', lost.batch))
  await accepted.record(acceptedUnder(accepted.batch, [reference(0), reference(1), reference(2)]))
  await traffic.ports.deliveryReceipts.apply(receipts.slice(early))
  const batches = { recovered: recovered.batch, unknown: lost.batch, accepted: accepted.batch }
  const counting = [receipts.slice(0, early), receipts.slice(early)].flatMap(onePerMessage)
  return { batches: { ...batches, inFlight: inFlight.batch }, receipts: counting }
}

/**
 * Merges receipts of one call that have the same carrier, reference and number, and returns the receipt that counts.
 */
function onePerMessage(receipts: readonly DeliveryReceipt[]): readonly DeliveryReceipt[] {
  const counting = new Map<string, DeliveryReceipt>()
  for (const receipt of receipts) {
    const key = `${receipt.carrier} ${receipt.reference} ${receipt.number ?? ''}`
    counting.set(key, countingReceipt(counting.get(key), receipt))
  }
  return [...counting.values()]
}

interface Unknown extends UnknownMessage {
  readonly id: MessageId
}

/** Returns the result that the rules of core give, on the assumption that everything happens at the same moment. */
function expected({ batches, receipts }: Generated): ReadonlyMap<MessageId, string> {
  const now = realClock().now()
  const acceptedCount = batches.accepted.messages.length
  const isTaken = ({ carrier, reference }: DeliveryReceipt) =>
    carrier === testCarrier && Number(reference.split(', ')[1]) < acceptedCount
  const storedReceipts = receipts.filter((receipt) => !isTaken(receipt)).map((receipt) => ({ receipt, at: now }))
  const inDoubt = [...batches.recovered.messages, ...batches.unknown.messages].map(({ id, to }): Unknown => ({
    id,
    number: to,
    carrier: testCarrier,
    parts: 1,
    handedOver: now,
  }))
  const inDoubtNumbers = new Set(batches.inFlight.messages.map(({ to }) => to))
  const adopted = adoptions(
    storedReceipts,
    inDoubt,
    (carrier, number) => carrier === testCarrier && inDoubtNumbers.has(number),
    now,
  )
  return new Map(adopted.map(({ message, references: [reference = ''] }) => [message.id, reference]))
}

/**
 * Checks that stores, whose SQL statements handle many rows at once, get the same results as the rules of core, which
 * handle one message. Both are run on the same generated cases.
 */
export const agreeing = withTraffic({
  'in generated cases exactly the messages that the rules name adopt the references that the rules name': async (
    traffic,
  ) => {
    let round = 0
    await checkGenerated(cases, roundsMax, async (one) => {
      const generated = await generate(traffic, one, round++)
      const expectedById = expected(generated)
      assert.equal(await traffic.ports.deliveryReceipts.adopt(0), expectedById.size)
      for (const { id } of [...generated.batches.recovered.messages, ...generated.batches.unknown.messages]) {
        const trace = await traffic.ports.sentMessages.trace(id)
        assert.ok(trace?.place.place === 'decided')
        assert.equal(trace.place.reference, expectedById.get(id), `message ${id}`)
      }
    })
  },

  'of generated receipts the one that the rules name counts, whether stored, in one call, or one by one': async (
    traffic,
  ) => {
    const { deliveryReceipts } = traffic.ports
    const tellings = fc.array(fc.constantFrom(...codes), { minLength: 1, maxLength: 5 })
    await checkGenerated(tellings, roundsMax, async (reports) => {
      const [storedFirst, together, apart] = [
        await handedOver(traffic),
        await handedOver(traffic),
        await handedOver(traffic),
      ]
      const receipts = (of: typeof storedFirst) => reports.map((code) => aReceipt(`ref-${String(of.ids[0])}`, code))
      for (const receipt of receipts(storedFirst)) await deliveryReceipts.apply([receipt])
      for (const { record } of [storedFirst, together, apart]) await record()
      await matchAll(traffic, reports.length)
      await deliveryReceipts.apply(receipts(together))
      for (const receipt of receipts(apart)) await deliveryReceipts.apply([receipt])

      const counting = reports.map((code) => ({ code })).reduce(countingReceipt)
      const stepwise = reports.reduce<DeliveryReceiptCode | typeof sent>(
        (code, next) => (changesState(code, next) ? next : code),
        sent,
      )
      const codesOf = async ({ account, ids }: typeof storedFirst) => (await traffic.codes(account, ids))[0]
      assert.deepEqual(
        [await codesOf(storedFirst), await codesOf(together), await codesOf(apart)],
        [counting.code, counting.code, stepwise],
        reports.join(),
      )
    })
  },
})
