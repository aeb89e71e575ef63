import * as fc from 'fast-check'
import { strict as assert } from 'node:assert'
import { codeOfHandover, type Handover } from '@gateway/core/dispatch'
import { isExpired, isFinal, isAcceptedByCarrier, OUTCOME, type OutcomeCode } from '@gateway/core/messages'
import { secondsAfter } from '@gateway/core/time'
import { realClock } from '../../memory/clock.ts'
import { checkGenerated } from '../shared.ts'
import { aReceipt } from '../delivery-receipts/sent-messages.ts'
import { isLateTruth } from '../specification/outcomes.ts'
import { granted, idsOf, withTraffic } from './traffic.ts'

const outcomes = fc.constantFrom('accepted', 'partly', 'refused', 'opted-out', 'unknown')

/**
 * Reports about one message: at most one before its dispatcher is declared dead, and up to three afterwards. Before the
 * dispatcher is declared dead, a receipt may also report an accepted message as unknown.
 */
const stories = fc.array(
  fc.record({
    inTime: fc.option(outcomes, { nil: undefined }),
    late: fc.array(outcomes, { maxLength: 3 }),
    receipt: fc.boolean(),
  }),
  { minLength: 1, maxLength: 14 },
)

type Outcome = Handover['outcome'] | 'opted-out'

function handoverOf(outcome: Outcome, reference: string): Handover {
  if (outcome === 'opted-out') return { outcome: 'refused', optOut: true }
  return outcome === 'accepted' || outcome === 'partly' ? { outcome, reference } : { outcome }
}

/**
 * Checks that stores, whose SQL statements handle many messages at once, get the same results as the rules of core,
 * which handle one message. Both are run on the same generated cases.
 */
export const agreeing = withTraffic({
  'for generated outcomes, in time and late, each message has the code and the refund of the rules': async (
    traffic,
  ) => {
    const { claimedBatches } = traffic.ports
    await checkGenerated(stories, 12, async (story) => {
      const account = await traffic.account()
      const ids = await traffic.send(account, { to: story.length })
      const dispatcher = await traffic.dispatcher()
      const batch = await traffic.claim(dispatcher, ids.length > 10 ? 'bulk' : 'single')
      const stored = story.map((): { code: OutcomeCode; reference: string | undefined } | undefined => undefined)
      const record = async (outcomeOf: (i: number) => Outcome | undefined, time: number) => {
        const recorded = batch.messages.flatMap((message, i) => {
          const outcome = outcomeOf(i)
          if (outcome === undefined) return []
          const handover = handoverOf(outcome, `${message.id} ${time}`)
          const before = stored[i]
          const reference = 'reference' in handover ? handover.reference : undefined
          if (before === undefined || isLateTruth(before, handover.outcome))
            stored[i] = { code: codeOfHandover(handover), reference }
          return [{ batch: batch.id, message, handover }]
        })
        await claimedBatches.record(dispatcher, recorded)
      }
      await record((i) => story[i]?.inTime, 0)
      for (const [i, one] of stored.entries()) {
        if (one?.reference === undefined || story[i]?.receipt !== true) continue
        if (!isFinal(one.code)) stored[i] = { ...one, code: OUTCOME.unknown }
        await traffic.ports.deliveryReceipts.apply([aReceipt(one.reference, OUTCOME.unknown)])
      }
      await traffic.fence(dispatcher)
      for (const i of stored.keys()) stored[i] ??= { code: OUTCOME.unknown, reference: undefined }
      for (const time of [0, 1, 2]) await record((i) => story[i]?.late[time], time + 1)

      assert.deepEqual(
        await traffic.codes(account, ids),
        stored.map((one) => one?.code),
      )
      const charged = stored.filter(
        (one) => one && isAcceptedByCarrier({ ...one, hasReference: one.reference !== undefined }),
      )
      assert.equal(await traffic.balance(account), granted - 10 * charged.length)
    })
  },

  'for generated waiting times, each message expires by the rules': async (traffic) => {
    const { claimedBatches } = traffic.ports
    // Values are at least a minute away from the limit, so that a slow run does not change the result.
    const settings = fc.constantFrom(-3600, -60, 60, 3600, 48 * 3600)
    const own = fc.constantFrom(undefined, -4320, -1, 1, 4320)
    await checkGenerated(fc.tuple(settings, own), 12, async ([validitySeconds, validity]) => {
      const account = await traffic.account()
      const more = validity === undefined ? {} : { validity }
      const ids = [
        ...(await traffic.send(account, { to: 2, ...more })),
        ...(await traffic.send(account, { to: 11, ...more })),
      ]
      await claimedBatches.expire(validitySeconds, 100)
      const now = realClock().now()
      const expires = validity && secondsAfter(now, validity * 60)
      const code = isExpired({ due: now, expires }, now, validitySeconds) ? OUTCOME.expired : 'waiting'
      assert.deepEqual(
        await traffic.codes(account, ids),
        ids.map(() => code),
      )
      const dispatcher = await traffic.dispatcher()
      const remaining = [...(await traffic.claimAll(dispatcher)), ...(await traffic.claimAll(dispatcher, 'bulk'))]
      assert.deepEqual(idsOf(remaining), code === 'waiting' ? ids : [])
    })
  },
})
