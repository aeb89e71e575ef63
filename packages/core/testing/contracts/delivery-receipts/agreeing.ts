import * as fc from 'fast-check'
import { strict as assert } from 'node:assert'
import {
  countingReceipt,
  OUTCOME,
  secondsAfter,
  type ClaimedBatch,
  type DeliveryReceipt,
  type DeliveryReceiptCode,
  type MessageId,
} from '@gateway/core'
import { numbers } from '../../builders.ts'
import { realClock } from '../../memory/clock.ts'
import { checkGenerated } from '../check-generated.ts'
import { all, withTraffic, type Traffic } from '../claimed-batches/traffic.ts'
import { at, testCarrier } from '../shared.ts'
import { adoptions, type UnknownMessage } from '../specification/adoptions.ts'
import { changesState } from '../specification/outcomes.ts'
import { acceptedUnder, aReceipt, handedOver, matchAll, otherCarrier } from './sent-messages.ts'

const { sent, delivered, expired, cancelled, undeliverable, underWay, unknown, rejected, failed } = OUTCOME
const codes = [delivered, expired, cancelled, undeliverable, underWay, unknown, rejected, failed] as const
const roundsMax = 12

/** Far enough from the bounds of `adoptionWindow` that a slow run is the same case. */
const submittedSeconds = ['untold', 'untold', -7200, -1800, 0, 120, 1200] as const

const some = fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 3 })

/** A few messages of every outcome to three numbers that no other case has, and receipts of which some come before recovery. */
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

/** Of the receipts of one call. */
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

/** What the rules make of it, as if all of it had happened at one moment. */
function expected({ batches, receipts }: Generated): ReadonlyMap<MessageId, string> {
  const now = realClock().now()
  const taken = batches.accepted.messages.length
  const isTaken = ({ carrier, reference }: DeliveryReceipt) =>
    carrier === testCarrier && Number(reference.split(', ')[1]) < taken
  const kept = receipts.filter((receipt) => !isTaken(receipt)).map((receipt) => ({ receipt, at: now }))
  const inDoubt = [...batches.recovered.messages, ...batches.unknown.messages].map(({ id, to }): Unknown => ({
    id,
    number: to,
    carrier: testCarrier,
    parts: 1,
    left: now,
  }))
  const inDoubtNumbers = new Set(batches.inFlight.messages.map(({ to }) => to))
  const adopted = adoptions(
    kept,
    inDoubt,
    (carrier, number) => carrier === testCarrier && inDoubtNumbers.has(number),
    now,
  )
  return new Map(adopted.map(({ message, references: [reference = ''] }) => [message.id, reference]))
}

/** Stores decide for many rows in one statement what core decides for one: here both decide the same cases. */
export const agreeing = withTraffic({
  'of generated cases exactly those messages are adopted that the rule names, by the references that it names': async (
    traffic,
  ) => {
    let round = 0
    await checkGenerated(cases, roundsMax, async (one) => {
      const generated = await generate(traffic, one, round++)
      const wanted = expected(generated)
      assert.equal(await traffic.ports.deliveryReceipts.adopt(0), wanted.size)
      for (const { id } of [...generated.batches.recovered.messages, ...generated.batches.unknown.messages]) {
        const trace = await traffic.ports.messageTraces.of(id)
        assert.ok(trace?.place.place === 'decided')
        assert.equal(trace.place.reference, wanted.get(id), `message ${id}`)
      }
    })
  },

  'of generated receipts the one counts that the rule names: kept, in one call, and one by one': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const tellings = fc.array(fc.constantFrom(...codes), { minLength: 1, maxLength: 5 })
    await checkGenerated(tellings, roundsMax, async (told) => {
      const [kept, together, apart] = [await handedOver(traffic), await handedOver(traffic), await handedOver(traffic)]
      const receipts = (of: typeof kept) => told.map((code) => aReceipt(`ref-${String(of.ids[0])}`, code))
      for (const receipt of receipts(kept)) await deliveryReceipts.apply([receipt])
      for (const { record } of [kept, together, apart]) await record()
      await matchAll(traffic, told.length)
      await deliveryReceipts.apply(receipts(together))
      for (const receipt of receipts(apart)) await deliveryReceipts.apply([receipt])

      const counting = told.map((code) => ({ code })).reduce(countingReceipt)
      const stepwise = told.reduce<DeliveryReceiptCode | typeof sent>(
        (code, next) => (changesState(code, next) ? next : code),
        sent,
      )
      const codesOf = async ({ account, ids }: typeof kept) => (await traffic.codes(account, ids))[0]
      assert.deepEqual(
        [await codesOf(kept), await codesOf(together), await codesOf(apart)],
        [counting.code, counting.code, stepwise],
        told.join(),
      )
    })
  },
})
