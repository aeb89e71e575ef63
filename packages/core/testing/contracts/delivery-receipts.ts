import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { ClaimedBatch, DeliveryReceipt, DeliveryReceiptCode } from '@gateway/core/dispatch'
import { hasOutcome, OUTCOME } from '@gateway/core/messages'
import { secondsAfter } from '@gateway/core/time'
import { numbers } from '../builders.ts'
import { realClock } from '../memory/clock.ts'
import { acceptedAs, all, granted, times, withTraffic } from './claimed-batches/traffic.ts'
import { adopting, agreeing } from './delivery-receipts/adopting.ts'
import { fromOutside } from './delivery-receipts/from-outside.ts'
import { carrierOptOuts } from './delivery-receipts/opt-outs.ts'
import { ownIds } from './delivery-receipts/own-ids.ts'
import { carrierPrices } from './delivery-receipts/prices.ts'
import { parts } from './delivery-receipts/parts.ts'
import {
  acceptedUnder,
  aReceipt,
  handedOver,
  matchAll,
  otherCarrier,
  receiptsFor,
  sentMessages,
} from './delivery-receipts/sent-messages.ts'
import { unknownMessages } from './delivery-receipts/unknown-messages.ts'
import { unreadReceipts } from './delivery-receipts/unread-receipts.ts'
import { combined, longAgo, statusesOf, testCarrier, type Contract } from './shared.ts'

const { cancelled, delivered, expired, failed, rejected, sent, underWay, undeliverable, unknown } = OUTCOME
const finals: readonly DeliveryReceiptCode[] = [delivered, expired, cancelled, undeliverable, rejected, failed]

/**
 * Contract of receipts that match a message by its reference, which may be recorded before or after the receipt
 * arrives.
 */
const matching = withTraffic({
  'a receipt sets the state of its message and costs nothing': async (traffic) => {
    const codes: readonly DeliveryReceiptCode[] = [...finals, underWay, unknown]
    const { account, ids, batch } = await sentMessages(traffic, { to: 9 })
    const started = realClock().now()
    const receipts = receiptsFor(batch, delivered).slice(0, 8)
    await traffic.ports.deliveryReceipts.apply(
      receipts.map((receipt, i) => ({ ...receipt, code: codes[i] ?? delivered })),
    )
    assert.deepEqual(await traffic.codes(account, ids), [...codes, sent])
    assert.equal(await traffic.balance(account), granted - 90)
    const [status] = await statusesOf(traffic.ports, account, ids)
    assert.ok(
      status !== undefined && hasOutcome(status) && status.at >= secondsAfter(started, -60),
      'when that state was reached',
    )
  },

  'one call can apply a thousand receipts': async (traffic) => {
    const { account, ids, batch } = await sentMessages(traffic, { to: 1000 })
    await traffic.ports.deliveryReceipts.apply(receiptsFor(batch, delivered))
    assert.deepEqual(await traffic.codes(account, ids), times(1000, delivered))
  },

  'an unmatched receipt is listed, with the messages that wait for its number': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { batch } = await sentMessages(traffic, { to: 2 })
    const account = await traffic.account()
    const [to, other] = numbers(2, '77')
    assert.ok(to !== undefined && other !== undefined)
    const waiting = await traffic.send(account, { numbers: [to, other] })
    await deliveryReceipts.apply([
      aReceipt('lost', delivered, { number: to }),
      aReceipt('without a number', failed),
      ...receiptsFor(batch, delivered),
    ])
    // A carrier repeats a receipt if the acknowledgement was lost.
    await deliveryReceipts.apply([aReceipt('lost', delivered, { number: to }), aReceipt('without a number', failed)])
    const listed = await deliveryReceipts.unmatched(10)
    assert.deepEqual(listed.map(({ reference, code, number, waiting: ids }) => [reference, code, number, ids]).sort(), [
      ['lost', delivered, to, [waiting[0]]],
      ['without a number', failed, undefined, []],
    ])
    assert.ok(listed.every(({ carrier }) => carrier === testCarrier))
    assert.equal((await deliveryReceipts.unmatched(1)).length, 1)
  },

  'a receipt with a number never matches a message to another one, at once or later': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch } = await sentMessages(traffic, { to: 2 })
    const [first, second] = batch.messages.map(({ to }) => to)
    const crossed = receiptsFor(batch, delivered).map((receipt, i) => ({
      ...receipt,
      number: i === 0 ? second : first,
    }))
    assert.deepEqual(await deliveryReceipts.apply(crossed), crossed)
    await deliveryReceipts.match(100)
    assert.deepEqual(await traffic.codes(account, ids), [sent, sent])
    const own = receiptsFor(batch, delivered).map((receipt, i) => ({ ...receipt, number: i === 0 ? first : second }))
    assert.deepEqual(await deliveryReceipts.apply([...crossed, ...own]), crossed)
    assert.deepEqual(await traffic.codes(account, ids), [delivered, delivered])
  },

  'unmatched receipts are returned, and an unmatched guess is not stored': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const handed = await handedOver(traffic)
    const [receipt] = receiptsFor(handed.batch, delivered)
    assert.ok(receipt !== undefined)
    const number = handed.batch.messages[0]?.to
    const guess = { ...receipt, number, isGuess: true }
    assert.deepEqual(await deliveryReceipts.apply([guess]), [guess])
    await handed.record()
    assert.equal(await deliveryReceipts.match(100), 0)
    assert.deepEqual(await traffic.codes(handed.account, handed.ids), [sent])
    assert.deepEqual(await deliveryReceipts.apply([guess]), [])
    assert.deepEqual(await deliveryReceipts.apply([guess]), [], 'a message whose state is final is known')
    assert.deepEqual(await traffic.codes(handed.account, handed.ids), [delivered])
  },

  'in one call a receipt wins over every guess, in any order, also if its message is not known yet': async (
    traffic,
  ) => {
    const { deliveryReceipts } = traffic.ports
    const cases = [
      { guessed: delivered, reported: failed, known: failed, isNumbered: true },
      { guessed: delivered, reported: failed, known: failed, isNumbered: false },
      { guessed: failed, reported: underWay, known: failed, isNumbered: true },
      { guessed: underWay, reported: delivered, known: delivered, isNumbered: false },
    ] as const
    for (const { guessed, reported, known, isNumbered } of cases) {
      for (const isGuessFirst of [true, false]) {
        const of = (batch: ClaimedBatch): readonly DeliveryReceipt[] => {
          const number = batch.messages[0]?.to
          const guess = receiptsFor(batch, guessed, { number, isGuess: true })
          const receipt = receiptsFor(batch, reported, isNumbered ? { number } : {})
          return isGuessFirst ? [...guess, ...receipt] : [...receipt, ...guess]
        }
        const title = JSON.stringify({ guessed, reported, isNumbered, isGuessFirst })
        const one = await sentMessages(traffic)
        assert.deepEqual(await deliveryReceipts.apply(of(one.batch)), [], title)
        assert.deepEqual(await traffic.codes(one.account, one.ids), [known], title)
        const early = await handedOver(traffic)
        assert.equal((await deliveryReceipts.apply(of(early.batch))).length, 2, title)
        await early.record()
        await matchAll(traffic, 1)
        assert.deepEqual(await traffic.codes(early.account, early.ids), [reported], title)
      }
    }
  },

  'of several receipts of one message in a call, some of them with its number, the first final one counts': async (
    traffic,
  ) => {
    for (const [first, second] of [
      [delivered, failed],
      [failed, delivered],
      [underWay, failed],
    ] as const) {
      for (const isFirstNumbered of [true, false]) {
        const { account, ids, batch } = await sentMessages(traffic)
        const number = batch.messages[0]?.to
        await traffic.ports.deliveryReceipts.apply([
          ...receiptsFor(batch, first, isFirstNumbered ? { number } : {}),
          ...receiptsFor(batch, second, isFirstNumbered ? {} : { number }),
        ])
        assert.deepEqual(await traffic.codes(account, ids), [first === underWay ? second : first])
      }
    }
  },

  'observed properties of a carrier are stored by carrier, and the latest value counts': async ({
    ports: { deliveryReceipts },
  }) => {
    assert.equal(await deliveryReceipts.learnedForm(testCarrier), undefined)
    await deliveryReceipts.keepLearnedForm(testCarrier, 'HEX')
    await deliveryReceipts.keepLearnedForm(testCarrier, 'decimal-10')
    assert.equal(await deliveryReceipts.learnedForm(testCarrier), 'decimal-10')
    assert.equal(await deliveryReceipts.learnedForm(otherCarrier), undefined)
  },

  'an empty list of receipts causes no work': async (traffic) => {
    await traffic.ports.deliveryReceipts.apply([])
    assert.equal(await traffic.ports.deliveryReceipts.match(100), 0)
    assert.equal(await traffic.ports.deliveryReceipts.adopt(0), 0)
  },

  'a final state never changes': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    for (const code of finals) {
      const { account, ids, batch } = await sentMessages(traffic)
      await deliveryReceipts.apply(receiptsFor(batch, code))
      const [before] = await statusesOf(traffic.ports, account, ids)
      for (const next of [...finals, underWay, unknown] as const) await deliveryReceipts.apply(receiptsFor(batch, next))
      assert.deepEqual(await statusesOf(traffic.ports, account, ids), [before])
      await deliveryReceipts.match(100)
      assert.deepEqual(await statusesOf(traffic.ports, account, ids), [before])
    }
  },

  'a delivered message stays delivered after an undeliverable receipt, also in one call': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const one = await sentMessages(traffic)
    await deliveryReceipts.apply([...receiptsFor(one.batch, delivered), ...receiptsFor(one.batch, undeliverable)])
    assert.deepEqual(await traffic.codes(one.account, one.ids), [delivered])
    const two = await sentMessages(traffic)
    await deliveryReceipts.apply([...receiptsFor(two.batch, undeliverable), ...receiptsFor(two.batch, delivered)])
    assert.deepEqual(await traffic.codes(two.account, two.ids), [undeliverable])
  },

  'states that are not final may follow one another in any order': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch } = await sentMessages(traffic)
    for (const code of [underWay, unknown, underWay, underWay, delivered] as const) {
      await deliveryReceipts.apply(receiptsFor(batch, code))
      assert.deepEqual(await traffic.codes(account, ids), [code])
    }
  },

  'in one call a final state wins over one that is not, in any order': async (traffic) => {
    const { account, ids, batch } = await sentMessages(traffic)
    const codes: readonly DeliveryReceiptCode[] = [underWay, failed, unknown, delivered, underWay]
    await traffic.ports.deliveryReceipts.apply(codes.flatMap((code) => receiptsFor(batch, code)))
    assert.deepEqual(await traffic.codes(account, ids), [failed])
  },

  'a receipt that arrives before the record of its message is stored and matched later': async (traffic) => {
    const { account, ids, batch, record } = await handedOver(traffic, { to: 20 })
    await traffic.ports.deliveryReceipts.apply(receiptsFor(batch, delivered))
    assert.deepEqual(await traffic.codes(account, ids), times(20, 'waiting'))
    await record()
    await matchAll(traffic, 20)
    assert.deepEqual(await traffic.codes(account, ids), times(20, delivered))
    assert.equal(await traffic.ports.deliveryReceipts.match(1000), 0)
  },

  'a stored receipt without a match is tried again': async (traffic) => {
    const { account, ids, batch, record } = await handedOver(traffic, { to: 3 })
    await traffic.ports.deliveryReceipts.apply(receiptsFor(batch, delivered))
    assert.equal(await traffic.ports.deliveryReceipts.match(1000), 0)
    await record()
    await matchAll(traffic, 3)
    assert.deepEqual(await traffic.codes(account, ids), times(3, delivered))
  },

  'of several stored receipts of a message the first final one counts': async (traffic) => {
    const { account, ids, batch, record } = await handedOver(traffic)
    for (const code of [underWay, rejected, delivered, unknown] as const) {
      await traffic.ports.deliveryReceipts.apply(receiptsFor(batch, code))
    }
    await record()
    await matchAll(traffic, 4)
    assert.deepEqual(await traffic.codes(account, ids), [rejected])
  },

  'of several stored receipts of a message the first final one counts, also if matched one by one': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch, record } = await handedOver(traffic)
    for (const code of [underWay, rejected, delivered, unknown] as const)
      await deliveryReceipts.apply(receiptsFor(batch, code))
    await record()
    // If the answer to a call was lost, the call is repeated and may store its receipt twice.
    for (let found = 0; found < 4;) {
      const more = await deliveryReceipts.match(1)
      assert.ok(more > 0)
      found += more
    }
    assert.deepEqual(await traffic.codes(account, ids), [rejected])
  },

  'a match call tries receipts of at most the requested number of messages': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch, record } = await handedOver(traffic, { to: 10 })
    await deliveryReceipts.apply(receiptsFor(batch, delivered))
    await record()
    assert.ok((await deliveryReceipts.match(4)) >= 4)
    const codes = await traffic.codes(account, ids)
    assert.ok(codes.filter((code) => code === delivered).length <= 4)
    await matchAll(traffic, 6)
    assert.deepEqual(await traffic.codes(account, ids), times(10, delivered))
  },

  'early, repeated, shuffled and concurrent receipts lead to the same state as receipts one by one': async (
    traffic,
  ) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch, record } = await handedOver(traffic, { to: 60 })
    const receipts = [underWay, delivered, delivered, unknown].flatMap((code) => receiptsFor(batch, code))
    const calls = times(6, receipts).map((each, i) => deliveryReceipts.apply(rotated(each, i * 37)))
    const sweeps = times(4, 0).map(() => deliveryReceipts.match(100))
    await Promise.all([...calls, record(), ...sweeps])
    await Promise.all(times(4, receipts).map((each, i) => deliveryReceipts.apply(rotated(each, i * 53).reverse())))
    await Promise.all(times(4, 0).map(() => deliveryReceipts.match(1000)))
    assert.deepEqual(await traffic.codes(account, ids), times(60, delivered))
  },

  'of two concurrent final receipts one counts and stays': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch } = await sentMessages(traffic, { to: 40 })
    await Promise.all(finals.map((code) => deliveryReceipts.apply(receiptsFor(batch, code))))
    const codes = await traffic.codes(account, ids)
    assert.ok(codes.every((code) => finals.includes(code as DeliveryReceiptCode)))
    await Promise.all(finals.map((code) => deliveryReceipts.apply(receiptsFor(batch, code))))
    assert.deepEqual(await traffic.codes(account, ids), codes)
  },

  'references of different carriers are separate': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch } = await sentMessages(traffic, { to: 2 })
    await deliveryReceipts.apply(receiptsFor(batch, failed, { carrier: otherCarrier }))
    await deliveryReceipts.match(100)
    assert.deepEqual(await traffic.codes(account, ids), [sent, sent])
  },

  'references that differ in one character, or in letter case, are different': async (traffic) => {
    const references = ['a', 'A', 'a ', '', '"', '\\', `a'b`, '{a}', 'null', 'a,b', 'ü€👋']
    const { account, ids, batch, record } = await handedOver(traffic, { to: references.length })
    await record(acceptedUnder(batch, references))
    for (const [i, reference] of references.entries()) {
      await traffic.ports.deliveryReceipts.apply([aReceipt(reference, delivered)])
      const expectedCodes = references.map((_, k) => (k <= i ? delivered : sent))
      assert.deepEqual(await traffic.codes(account, ids), expectedCodes)
    }
  },

  'a reference with unusual characters finds its message': async (traffic) => {
    const references = ['\u0000', 'a\u0000b', '\ud800', 'x'.repeat(5000)]
    const { account, ids, batch, record } = await handedOver(traffic, { to: references.length })
    await traffic.ports.deliveryReceipts.apply([aReceipt(references[1] ?? '', delivered)])
    await record(acceptedUnder(batch, references))
    await matchAll(traffic, 1)
    await traffic.ports.deliveryReceipts.apply(references.map((reference) => aReceipt(reference, delivered)))
    assert.deepEqual(await traffic.codes(account, ids), times(4, delivered))
  },

  'a message that ended without a carrier is not changed by any receipt': async (traffic) => {
    const { account, ids, batch, record } = await handedOver(traffic, { to: 3 })
    await record(all('refused', batch))
    await traffic.ports.deliveryReceipts.apply(receiptsFor(batch, delivered))
    assert.equal(await traffic.ports.deliveryReceipts.match(100), 0)
    assert.deepEqual(await traffic.codes(account, ids), times(3, OUTCOME.refused))
    assert.equal(await traffic.balance(account), granted)
  },

  'a recovered message whose late record and receipt arrive becomes delivered': async (traffic) => {
    const { account, ids, dispatcher, batch, record } = await handedOver(traffic, { to: 5 })
    await traffic.ports.deliveryReceipts.apply(receiptsFor(batch, delivered))
    await traffic.fence(dispatcher)
    assert.deepEqual(await traffic.codes(account, ids), times(5, unknown))
    await record()
    await matchAll(traffic, 5)
    await record(all('refused', batch))
    assert.deepEqual(await traffic.codes(account, ids), times(5, delivered))
    assert.equal(await traffic.balance(account), granted - 50)
  },

  'a message that its carrier reports as unknown is not changed by a late report of its dispatcher': async (
    traffic,
  ) => {
    const { account, ids, batch, record, dispatcher } = await sentMessages(traffic, { to: 2 })
    await traffic.ports.deliveryReceipts.apply(receiptsFor(batch, unknown, { submitted: longAgo }))
    await record(all('refused', batch))
    assert.equal(await traffic.ports.claimedBatches.postpone(dispatcher, batch.id, ids, 0), 'postponed')
    await record(batch.messages.map((message) => ({ batch: batch.id, message, handover: acceptedAs('another') })))
    assert.deepEqual(await traffic.codes(account, ids), [unknown, unknown])
    assert.equal(await traffic.balance(account), granted - 20)
  },
})

const rotated = <T>(items: readonly T[], by: number): T[] => {
  const place = by % items.length
  return [...items.slice(place), ...items.slice(0, place)]
}

/** Contract of the port `DeliveryReceipts`. After each check every account has exactly the right credits. */
export const deliveryReceiptsContract: Contract<StoredPorts> = combined(
  matching,
  adopting,
  agreeing,
  ownIds,
  carrierOptOuts,
  carrierPrices,
  parts,
  fromOutside,
  unreadReceipts,
  unknownMessages,
)
