import { strict as assert } from 'node:assert'
import { noBatch, noDispatcher, type ClaimedMessage, type Handover, type Recorded } from '@gateway/core/dispatch'
import { OUTCOME, type MessageId } from '@gateway/core/messages'
import { handedOver, otherCarrier } from '../delivery-receipts/sent-messages.ts'
import { until } from '../../until.ts'
import { at, concurrentCallers, testCarrier } from '../shared.ts'
import { acceptedAs, all, granted, idsOf, withTraffic, type Traffic } from './traffic.ts'

const { sent, refused, unknown } = OUTCOME

const everything = { withinSeconds: 3600, afterSeconds: 0, countMax: 100 }

const idsIn = (messages: readonly ClaimedMessage[]): readonly MessageId[] => messages.map(({ id }) => id)

const lateAs = (messages: readonly ClaimedMessage[], handover: Handover): Recorded[] =>
  messages.map((message) => ({ batch: noBatch, message, handover }))

async function unknownMessages(traffic: Traffic, to: number) {
  const handed = await handedOver(traffic, { to })
  await handed.record(all('unknown', handed.batch))
  return handed
}

/** Contract of messages of unknown outcome that are submitted again under their own ids (ruling 1.17). */
export const repeating = withTraffic({
  'messages whose outcome is unknown, by an answer or by recovery, are returned as they were claimed': async (
    traffic,
  ) => {
    const { claimedBatches } = traffic.ports
    const byAnswer = await unknownMessages(traffic, 2)
    const byRecovery = await handedOver(traffic, { to: 2 })
    await traffic.fence(byRecovery.dispatcher)
    const repeated = await claimedBatches.takeRepeatable(testCarrier, everything)
    const before = [...byAnswer.batch.messages, ...byRecovery.batch.messages]
    const known = ({ id, send, account, from, to, body, due, expires, options, confirmation }: ClaimedMessage) => ({
      ...{ id, send, account, from, to, body, due, expires, options, confirmation },
    })
    assert.deepEqual(repeated.map(known), before.map(known))
  },

  'a message is returned to one of several callers, and again only after a while': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { ids } = await unknownMessages(traffic, 9)
    const waiting = { ...everything, afterSeconds: 600 }
    assert.deepEqual(
      await claimedBatches.takeRepeatable(testCarrier, waiting),
      [],
      'the outcome has just become unknown',
    )
    const soon = { ...everything, afterSeconds: 3 }
    let batches: (readonly ClaimedMessage[])[] = []
    await until(async () => {
      const calls = Array.from({ length: concurrentCallers / 8 }, () =>
        claimedBatches.takeRepeatable(testCarrier, soon),
      )
      batches = (await Promise.all(calls)).filter((some) => some.length > 0)
      return batches.length > 0
    })
    assert.equal(batches.length, 1)
    const [first = assert.fail('no caller got the messages')] = batches
    assert.deepEqual(idsIn(first), ids)
    assert.deepEqual(await claimedBatches.takeRepeatable(testCarrier, waiting), [])
  },

  'a message of another carrier, with a known outcome, or due too long ago is not returned': async (traffic) => {
    const { claimedBatches, deliveryReceipts } = traffic.ports
    const { batch, ids, record } = await unknownMessages(traffic, 3)
    const [first = assert.fail('no message')] = batch.messages
    await record([{ batch: batch.id, message: first, handover: acceptedAs('late') }])
    assert.deepEqual(await claimedBatches.takeRepeatable(otherCarrier, everything), [])
    assert.deepEqual(await claimedBatches.takeRepeatable(testCarrier, { ...everything, withinSeconds: -60 }), [])
    await deliveryReceipts.match(1)
    const one = await claimedBatches.takeRepeatable(testCarrier, { ...everything, countMax: 1 })
    assert.deepEqual(idsIn(one), [at(ids, 1)])
  },

  'facts for screening are those of the moment': async (traffic) => {
    const { claimedBatches, suppressions } = traffic.ports
    const { account, batch } = await unknownMessages(traffic, 2)
    const { to, due } = at(batch.messages, 0)
    await suppressions.add({ scope: account, number: to, kind: 'opt-out', since: due })
    const repeated = await claimedBatches.takeRepeatable(testCarrier, everything)
    assert.deepEqual(
      repeated.map((message) => [[...message.suppressions], message.accountLocked]),
      [
        [['opt-out'], false],
        [[], false],
      ],
    )
  },

  'an answer to a repetition resolves the message once: accepted, or refused and refunded': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { account, ids, batch } = await unknownMessages(traffic, 3)
    const [a = assert.fail(), b = assert.fail()] = await claimedBatches.takeRepeatable(testCarrier, everything)
    await claimedBatches.record(noDispatcher, [
      ...lateAs([a], acceptedAs('again')),
      ...lateAs([b], { outcome: 'refused' }),
    ])
    await claimedBatches.record(noDispatcher, lateAs(batch.messages.slice(0, 2), acceptedAs('once more')))
    assert.deepEqual(await traffic.codes(account, ids), [sent, refused, unknown])
    assert.equal(await traffic.balance(account), granted - 20)
    const trace = await traffic.ports.sentMessages.trace(at(ids, 0))
    assert.ok(trace?.place.place === 'decided' && trace.place.reference === 'again')
  },

  'a message that a dispatcher holds is neither returned nor changed by such an answer': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const { account, batch, ids } = await handedOver(traffic, { to: 2 })
    assert.deepEqual(await claimedBatches.takeRepeatable(testCarrier, everything), [])
    await claimedBatches.record(noDispatcher, lateAs(batch.messages, { outcome: 'refused' }))
    assert.deepEqual(await traffic.codes(account, ids), ['waiting', 'waiting'])
    assert.deepEqual(idsOf([batch]), ids)
  },
})
