import * as fc from 'fast-check'
import { strict as assert } from 'node:assert'
import type { ClaimedBatch, DeliveryReceipt, DeliveryReceiptCode } from '@gateway/core/dispatch'
import { OUTCOME, type OutcomeCode } from '@gateway/core/messages'
import { checkGenerated } from '../shared.ts'
import { granted, withTraffic, type Traffic } from '../claimed-batches/traffic.ts'
import { changesState, codeByParts } from '../specification/outcomes.ts'
import { aReceipt, handedOver, matchAll } from './sent-messages.ts'

const { sent, delivered, undeliverable, expired, underWay, unknown, rejected, failed } = OUTCOME
const codes = [delivered, expired, undeliverable, underWay, unknown, rejected, failed] as const
const roundsMax = 12

/** Returns references for the parts of a message. */
const referencesIn = (batch: ClaimedBatch, count: number, at = 0): readonly string[] =>
  Array.from({ length: count }, (_, i) => `part-${String(batch.messages[at]?.id)}-${i + 1}`)

const takenAs = (batch: ClaimedBatch, counts: readonly number[], outcome: 'accepted' | 'partly' = 'accepted') =>
  batch.messages.map((message, at) => {
    const [reference = '', ...furtherReferences] = referencesIn(batch, counts[at] ?? 1, at)
    const further = furtherReferences.length === 0 ? {} : { furtherReferences }
    return { batch: batch.id, message, handover: { outcome, reference, ...further } }
  })

/** Creates a message that a carrier has accepted, or is about to accept, in `count` parts. */
async function inParts(traffic: Traffic, count: number) {
  const handed = await handedOver(traffic)
  const references = referencesIn(handed.batch, count)
  const receipt = (part: number, code: DeliveryReceiptCode): DeliveryReceipt =>
    aReceipt(references[part - 1] ?? '', code)
  return {
    ...handed,
    references,
    receipt,
    tell: (part: number, code: DeliveryReceiptCode) => traffic.ports.deliveryReceipts.apply([receipt(part, code)]),
    record: (outcome: 'accepted' | 'partly' = 'accepted') => handed.record(takenAs(handed.batch, [count], outcome)),
    code: async () => (await traffic.codes(handed.account, handed.ids))[0],
  }
}

/** Contract of texts that a carrier accepts in several parts, each with a reference and a receipt of its own. */
export const parts = withTraffic({
  'a message of three parts is delivered when all parts are, in any order': async (traffic) => {
    const one = await inParts(traffic, 3)
    await one.record()
    for (const [part, code] of [
      [2, sent],
      [3, sent],
      [1, delivered],
    ] as const) {
      assert.deepEqual(await one.tell(part, delivered), [])
      assert.equal(await one.code(), code)
    }
  },

  'a message has failed as soon as any part has, and never changes again': async (traffic) => {
    for (const failing of [1, 2, 3]) {
      const one = await inParts(traffic, 3)
      await one.record()
      await one.tell((failing % 3) + 1, delivered)
      await one.tell(failing, undeliverable)
      assert.equal(await one.code(), undeliverable)
      for (const part of [1, 2, 3]) for (const code of codes) await one.tell(part, code)
      await traffic.ports.deliveryReceipts.match(100)
      assert.equal(await one.code(), undeliverable)
    }
  },

  'a repeated receipt of a part counts once': async (traffic) => {
    const one = await inParts(traffic, 2)
    await one.record()
    for (let i = 0; i < 3; i++) assert.deepEqual(await one.tell(2, delivered), [])
    assert.equal(await one.code(), sent)
    await traffic.ports.deliveryReceipts.apply([one.receipt(1, delivered), one.receipt(1, delivered)])
    assert.equal(await one.code(), delivered)
  },

  'a guess never replaces a final receipt of a part, in the same call or a later one': async (traffic) => {
    for (const isSecondNumbered of [true, false]) {
      for (const isGuessFirst of [true, false]) {
        const one = await inParts(traffic, 2)
        await one.record()
        const number = one.batch.messages[0]?.to
        const guess = { ...one.receipt(2, undeliverable), number, isGuess: true }
        const receipt = { ...one.receipt(2, delivered), ...(isSecondNumbered ? { number } : {}) }
        await traffic.ports.deliveryReceipts.apply(isGuessFirst ? [guess, receipt] : [receipt, guess])
        await traffic.ports.deliveryReceipts.apply([guess])
        assert.equal(await one.code(), sent)
        await one.tell(1, delivered)
        assert.equal(await one.code(), delivered)
      }
    }
  },

  'intermediate states of parts are states of the message too': async (traffic) => {
    const one = await inParts(traffic, 2)
    await one.record()
    for (const code of [underWay, unknown, underWay] as const) {
      await one.tell(2, code)
      assert.equal(await one.code(), code)
    }
    await one.tell(1, delivered)
    assert.equal(await one.code(), underWay)
    await one.tell(2, delivered)
    assert.equal(await one.code(), delivered)
  },

  'receipts of parts that arrive before the record are stored and matched, some of them or all': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    for (const early of [[1, 2, 3], [3], [1], [2, 3]]) {
      const one = await inParts(traffic, 3)
      const receipts = early.map((part) => one.receipt(part, delivered))
      assert.deepEqual(await deliveryReceipts.apply(receipts), receipts)
      await one.record()
      await matchAll(traffic, early.length)
      for (const part of [1, 2, 3]) if (!early.includes(part)) await one.tell(part, delivered)
      assert.equal(await one.code(), delivered, `after ${early.join()} came early`)
    }
  },

  'one call applies stored receipts of parts of several messages': async (traffic) => {
    const counts = [2, 3, 2, 4]
    const { account, ids, batch, record } = await handedOver(traffic, { to: counts.length })
    const early = counts.flatMap((count, at) => referencesIn(batch, count, at))
    await traffic.ports.deliveryReceipts.apply(early.map((reference) => aReceipt(reference, delivered)))
    await record(takenAs(batch, counts))
    await matchAll(traffic, early.length)
    assert.deepEqual(
      await traffic.codes(account, ids),
      counts.map(() => delivered),
    )
  },

  'a receipt that was stored before the record counts before a later one, even while it is unmatched': async (
    traffic,
  ) => {
    for (const count of [1, 2]) {
      const one = await inParts(traffic, count)
      await one.tell(1, delivered)
      await one.record()
      await one.tell(1, undeliverable)
      await matchAll(traffic, 1)
      assert.equal(await one.code(), count === 1 ? delivered : sent)
    }
  },

  'of several stored receipts of one part the first final one counts': async (traffic) => {
    const one = await inParts(traffic, 2)
    for (const code of [underWay, delivered, failed] as const) await one.tell(2, code)
    await one.record()
    await matchAll(traffic, 3)
    assert.equal(await one.code(), sent)
    await one.tell(1, delivered)
    assert.equal(await one.code(), delivered)
  },

  'a partly accepted message has failed from the start and stays charged, and its receipts are matched': async (
    traffic,
  ) => {
    const one = await inParts(traffic, 2)
    await one.record('partly')
    assert.equal(await one.code(), failed)
    for (const part of [1, 2]) assert.deepEqual(await one.tell(part, delivered), [])
    assert.equal(await one.code(), failed)
    const alone = await inParts(traffic, 1)
    await alone.record('partly')
    assert.deepEqual(await alone.tell(1, delivered), [])
    assert.equal(await alone.code(), failed)
    assert.equal(await traffic.balance(alone.account), granted - 10)
  },

  'a late report of a dispatcher about several parts is stored with the parts': async (traffic) => {
    const one = await inParts(traffic, 2)
    await traffic.fence(one.dispatcher)
    assert.equal(await one.code(), unknown)
    await one.record()
    await one.record()
    assert.equal(await one.code(), sent)
    for (const part of [1, 2]) await one.tell(part, delivered)
    assert.equal(await one.code(), delivered)
  },

  'receipts of parts are applied in one call with those of messages of one part': async (traffic) => {
    const counts = [1, 3, 1, 2, 1]
    const { account, ids, batch, record } = await handedOver(traffic, { to: counts.length })
    await record(takenAs(batch, counts))
    const all = counts.flatMap((count, at) => referencesIn(batch, count, at))
    const reported = all.filter((reference) => reference !== referencesIn(batch, 3, 1)[1])
    assert.deepEqual(
      await traffic.ports.deliveryReceipts.apply(reported.map((reference) => aReceipt(reference, delivered))),
      [],
    )
    assert.deepEqual(await traffic.codes(account, ids), [delivered, sent, delivered, delivered, delivered])
  },

  'if a carrier gives all parts one id, a receipt applies to all of them': async (traffic) => {
    const { account, ids, batch, record } = await handedOver(traffic)
    const handover = { outcome: 'accepted', reference: 'same', furtherReferences: ['same', 'same'] } as const
    await record(batch.messages.map((message) => ({ batch: batch.id, message, handover })))
    await traffic.ports.deliveryReceipts.apply([aReceipt('same', delivered)])
    assert.deepEqual(await traffic.codes(account, ids), [delivered])
  },

  'a guess of a part applies only to its number and is not stored': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const one = await inParts(traffic, 2)
    await one.record()
    const number = one.batch.messages[0]?.to
    assert.ok(number !== undefined)
    const guess = { ...one.receipt(2, undeliverable), number, isGuess: true }
    const other = { ...guess, number: `${number.slice(0, -1)}${number.endsWith('9') ? 0 : 9}` as typeof number }
    assert.deepEqual(await deliveryReceipts.apply([other]), [other])
    assert.equal(await deliveryReceipts.match(100), 0)
    assert.equal(await one.code(), sent)
    assert.deepEqual(await deliveryReceipts.apply([guess]), [])
    assert.equal(await one.code(), undeliverable)
  },

  'concurrent receipts of parts from several processes are all counted': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const counts = Array.from({ length: 8 }, () => 6)
    const { account, ids, batch, record } = await handedOver(traffic, { to: counts.length })
    await record(takenAs(batch, counts))
    const ofPart = (part: number) =>
      batch.messages.map((_, at) => aReceipt(referencesIn(batch, 6, at)[part] ?? '', delivered))
    await Promise.all([0, 1, 2, 3, 4, 5, 3, 0].map((part) => deliveryReceipts.apply(ofPart(part))))
    assert.deepEqual(
      await traffic.codes(account, ids),
      counts.map(() => delivered),
    )
  },

  'the trace of a message lists its parts': async (traffic) => {
    const one = await inParts(traffic, 3)
    await one.record()
    await one.tell(2, delivered)
    const trace = await traffic.ports.sentMessages.trace(one.ids[0] ?? assert.fail('no message'))
    assert.ok(trace?.place.place === 'decided')
    assert.equal(trace.place.reference, one.references[0])
    assert.deepEqual(
      trace.place.parts.map(({ reference, code, at }) => [reference, code, at !== undefined]),
      one.references.map((reference, i) => [reference, i === 1 ? delivered : sent, i === 1]),
    )
  },

  'the trace of a message of one part lists no parts': async (traffic) => {
    const one = await inParts(traffic, 1)
    await one.record()
    const trace = await traffic.ports.sentMessages.trace(one.ids[0] ?? assert.fail('no message'))
    assert.ok(trace?.place.place === 'decided')
    assert.deepEqual(trace.place.parts, [])
  },

  'an unknown message of several parts adopts receipts once as many fit as it has parts': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, dispatcher, batch } = await handedOver(traffic, { text: 'a'.repeat(400) })
    await traffic.fence(dispatcher)
    const number = batch.messages[0]?.to
    const receipt = (part: number) => aReceipt(`adopted-${String(ids[0])}-${part}`, delivered, { number })
    await deliveryReceipts.apply([receipt(1), receipt(2)])
    assert.equal(await deliveryReceipts.adopt(0), 0)
    await deliveryReceipts.apply([receipt(3)])
    assert.equal(await deliveryReceipts.adopt(0), 1)
    assert.equal(await deliveryReceipts.adopt(0), 0)
    await matchAll(traffic, 3)
    assert.deepEqual(await traffic.codes(account, ids), [delivered])
  },

  'for generated receipts of parts each message has the state of the rules: in one call, one by one, and stored':
    async (traffic) => {
      const { deliveryReceipts } = traffic.ports
      const stories = fc.integer({ min: 2, max: 4 }).chain((count) =>
        fc.record({
          count: fc.constant(count),
          calls: fc.array(
            fc.uniqueArray(fc.record({ part: fc.integer({ min: 1, max: count }), code: fc.constantFrom(...codes) }), {
              selector: ({ part }) => part,
              minLength: 1,
            }),
            { minLength: 1, maxLength: 5 },
          ),
        }),
      )
      await checkGenerated(stories, roundsMax, async ({ count, calls }) => {
        const one = await inParts(traffic, count)
        await one.record()
        let code: OutcomeCode = sent
        const states = Array.from({ length: count }, (): OutcomeCode => sent)
        for (const call of calls) {
          await deliveryReceipts.apply(call.map(({ part, code: state }) => one.receipt(part, state)))
          const news = call.filter(({ part, code: state }) => changesState(states[part - 1] ?? sent, state))
          for (const { part, code: state } of news) states[part - 1] = state
          const undelivered = states.filter((state) => state !== delivered).length
          code = codeByParts(
            code,
            news.map(({ code: state }) => state),
            undelivered,
          )
          assert.equal(await one.code(), code, JSON.stringify(calls))
        }
        // Each generated call now contains receipts for a different message, and a single match call must find all of
        // them.
        const ofParts = await handedOver(traffic, { to: calls.length })
        const receipts = calls.flatMap((call, at) => {
          const references = referencesIn(ofParts.batch, count, at)
          return call.map(({ part, code: state }) => aReceipt(references[part - 1] ?? '', state))
        })
        await deliveryReceipts.apply(receipts)
        await ofParts.record(
          takenAs(
            ofParts.batch,
            calls.map(() => count),
          ),
        )
        await matchAll(traffic, receipts.length)
        const expected = calls.map((call) => {
          const reportedStates = call.map(({ code: state }) => state)
          return codeByParts(sent, reportedStates, count - reportedStates.filter((state) => state === delivered).length)
        })
        assert.deepEqual(await traffic.codes(ofParts.account, ofParts.ids), expected, JSON.stringify(calls))
      })
    },
})
