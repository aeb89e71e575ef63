import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { DeliveryReceipt, DispatcherId, DoubtDecision } from '@gateway/core/dispatch'
import { credits } from '@gateway/core/credits'
import { OUTCOME, type MessageId, type Msisdn } from '@gateway/core/messages'
import { aNumber } from '../builders.ts'
import {
  all,
  allAccepted,
  idsOf,
  referenceOf,
  times,
  traffic,
  withTraffic,
  type Traffic,
} from './claimed-batches/traffic.ts'
import { at, concurrentCallers, farAhead, longAgo, testCarrier, type Contract } from './shared.ts'

const { delivered, unknown, refused, expired, sent } = OUTCOME

/** Ports on a store whose server can be replaced by a standby that may lack commits. */
export interface PromotablePorts {
  readonly ports: StoredPorts
  /** Resolves once a process has noticed the promotion. */
  readonly promote: () => Promise<void>
}

type Promotable = Traffic & Pick<PromotablePorts, 'promote'>

const place = async ({ ports }: Traffic, id: MessageId) => (await ports.sentMessages.trace(id))?.place.place

const inDoubt = async ({ ports }: Traffic) => (await ports.promotions.open()).map((promotion) => promotion.inDoubt)

/** Claims all due messages of both lanes. */
async function claimable(traffic: Traffic): Promise<MessageId[]> {
  await traffic.ports.claimedBatches.promote(1000)
  const dispatcher = await traffic.dispatcher()
  return idsOf([...(await traffic.claimAll(dispatcher)), ...(await traffic.claimAll(dispatcher, 'bulk'))])
}

async function carryOutAll({ ports }: Traffic, decision: DoubtDecision): Promise<number> {
  assert.equal(await ports.promotions.decide(decision, 'somebody'), 'decided')
  let moved = 0
  for (;;) {
    const some = await ports.promotions.carryOut(2)
    if (some === 0) return moved
    moved += some
  }
}

const receiptFor = (number: Msisdn, reference = 'of the lost server'): DeliveryReceipt => ({
  carrier: testCarrier,
  reference,
  code: delivered,
  number,
  submitted: undefined,
})

/** Runs each check with its own traffic, and then checks the money. */
const withPromotion = (
  promises: Readonly<Record<string, (promotable: Promotable) => Promise<void>>>,
): Contract<PromotablePorts> =>
  Object.fromEntries(
    Object.entries(promises).map(([promise, check]) => [
      promise,
      async ({ ports, promote }: PromotablePorts) => {
        const promotable = { ...traffic(ports), promote }
        await check(promotable)
        await promotable.assertMoney()
      },
    ]),
  )

/** Contract of the port `Promotions` while no standby was promoted. */
export const promotionsContract: Contract<StoredPorts> = withTraffic({
  'without a promotion nothing is in doubt': async (promotable) => {
    const by = await promotable.account()
    const ids = await promotable.send(by, { to: 3 })
    assert.deepEqual(await promotable.ports.promotions.open(), [])
    assert.equal(await promotable.ports.promotions.decide('send', 'somebody'), 'nothing-in-doubt')
    assert.equal(await promotable.ports.promotions.carryOut(1000), 0)
    assert.equal(await promotable.ports.promotions.takeProofs(0), 0)
    assert.equal(await promotable.ports.promotions.expire(-1, 1000), 0)
    assert.deepEqual(await claimable(promotable), ids)
  },
})

/** Contract of the port `Promotions` after the promotion of a standby that may lack commits. */
export const promotedContract: Contract<PromotablePorts> = withPromotion({
  'messages that were due before a promotion are not claimed, and messages accepted afterwards are claimed at once':
    async (promotable) => {
      const by = await promotable.account()
      const before = [...(await promotable.send(by, { to: 3 })), ...(await promotable.send(by, { to: 20 }))]
      await promotable.promote()
      const after = await promotable.send(by, { to: 2 })
      assert.deepEqual(await claimable(promotable), after)
      const [promotion] = await promotable.ports.promotions.open()
      assert.equal(promotion?.messages, before.length)
      assert.equal(promotion.inDoubt, before.length)
      assert.equal(promotion.decision, undefined)
      assert.ok(promotion.due !== undefined && promotion.due.first <= promotion.due.last)
      assert.equal(await place(promotable, at(before, 0)), 'in-doubt')
      assert.deepEqual(await promotable.codes(by, before), times(before.length, 'waiting'))
    },

  'messages that cannot have been submitted are not in doubt': async (promotable) => {
    const by = await promotable.account()
    const [scheduled] = await promotable.send(by, { due: farAhead })
    await promotable.promote()
    assert.deepEqual(await promotable.ports.promotions.open(), [])
    assert.equal(await place(promotable, scheduled ?? assert.fail()), 'scheduled')
    const [deletion] = await promotable.ports.messages.deleteScheduled(by, [scheduled ?? assert.fail()], longAgo)
    assert.equal(deletion?.outcome, 'deleted')
  },

  'a scheduled message in doubt cannot be deleted': async (promotable) => {
    const by = await promotable.account()
    const [id = assert.fail()] = await promotable.send(by, { due: longAgo })
    await promotable.promote()
    assert.equal(await place(promotable, id), 'in-doubt')
    const [deletion] = await promotable.ports.messages.deleteScheduled(by, [id], longAgo)
    assert.notEqual(deletion?.outcome, 'deleted')
    assert.deepEqual(await promotable.codes(by, [id]), ['waiting'])
  },

  'dispatchers from before the promotion submit nothing more, and their marked messages become unknown': async (
    promotable,
  ) => {
    const by = await promotable.account()
    const ids = await promotable.send(by, { to: 4 })
    const dispatcher = await promotable.dispatcher()
    const batch = await promotable.claim(dispatcher, 'single', 1000, 1)
    await promotable.promote()
    assert.equal(await promotable.ports.claimedBatches.mark(dispatcher, batch.id, 4), 'fenced')
    assert.equal(await promotable.ports.claimedBatches.extend(dispatcher, 600), 'fenced')
    assert.deepEqual(await promotable.codes(by, ids), [unknown, ...times(3, 'waiting')])
    assert.deepEqual(await inDoubt(promotable), [3])
  },

  'a late report of a dispatcher proves the outcome of a message in doubt': async (promotable) => {
    const by = await promotable.account()
    const ids = await promotable.send(by, { to: 5 })
    const dispatcher = await promotable.dispatcher()
    const batch = await promotable.claim(dispatcher, 'single', 1000, 0)
    await promotable.promote()
    const [first, second, third] = batch.messages
    const [acceptedOne, no, nobodyKnows] = [first ?? assert.fail(), second ?? assert.fail(), third ?? assert.fail()]
    await promotable.ports.claimedBatches.record(dispatcher, [
      ...allAccepted(batch, [acceptedOne]),
      ...all('refused', batch, [no]),
      ...all('unknown', batch, [nobodyKnows]),
    ])
    assert.deepEqual(await promotable.codes(by, ids), [sent, refused, unknown, 'waiting', 'waiting'])
    assert.deepEqual(await inDoubt(promotable), [2])
    await promotable.ports.deliveryReceipts.apply([
      { ...receiptFor(acceptedOne.to), reference: referenceOf(acceptedOne) },
    ])
    assert.deepEqual(await promotable.codes(by, ids), [delivered, refused, unknown, 'waiting', 'waiting'])
    assert.equal(await carryOutAll(promotable, 'send'), 2)
    assert.deepEqual(await claimable(promotable), ids.slice(3))
  },

  'an unmatched receipt proves that the message to its number was submitted': async (promotable) => {
    const by = await promotable.account()
    const ids = await promotable.send(by, { numbers: [aNumber('27820000001'), aNumber('27820000002')] })
    await promotable.promote()
    await promotable.ports.deliveryReceipts.apply([receiptFor(aNumber('27820000002'))])
    assert.equal(await promotable.ports.promotions.takeProofs(3600), 0, 'its message may still be recorded')
    assert.equal(await promotable.ports.promotions.takeProofs(0), 1)
    assert.equal(await promotable.ports.promotions.takeProofs(0), 0)
    assert.deepEqual(await promotable.codes(by, ids), ['waiting', unknown])
    assert.equal(await promotable.ports.deliveryReceipts.adopt(0), 1)
    await promotable.ports.deliveryReceipts.match(1000)
    assert.deepEqual(await promotable.codes(by, ids), ['waiting', delivered])
    await carryOutAll(promotable, 'send')
    assert.deepEqual(await claimable(promotable), ids.slice(0, 1))
  },

  'a receipt from before the promotion proves nothing': async (promotable) => {
    const by = await promotable.account()
    const number = aNumber('27820000003')
    await promotable.ports.deliveryReceipts.apply([receiptFor(number)])
    await promotable.send(by, { numbers: [number] })
    await promotable.promote()
    assert.equal(await promotable.ports.promotions.takeProofs(0), 0)
    assert.deepEqual(await inDoubt(promotable), [1])
  },

  'a message that an operator releases is claimed once, with its attempts': async (promotable) => {
    const by = await promotable.account()
    const ids = [...(await promotable.send(by, { to: 3 })), ...(await promotable.send(by, { to: 20 }))]
    await promotable.promote()
    assert.equal(await carryOutAll(promotable, 'send'), ids.length)
    assert.deepEqual(await promotable.ports.promotions.open(), [])
    assert.deepEqual(await claimable(promotable), ids)
    assert.deepEqual(await claimable(promotable), [])
  },

  'a message that an operator ends is unknown, stays charged, is never claimed, and its receipt still finds it': async (
    promotable,
  ) => {
    const by = await promotable.account()
    const number = aNumber('27820000004')
    const ids = await promotable.send(by, { numbers: [number, aNumber('27820000005')] })
    await promotable.promote()
    assert.equal(await carryOutAll(promotable, 'end'), 2)
    assert.deepEqual(await promotable.codes(by, ids), [unknown, unknown])
    assert.deepEqual(await claimable(promotable), [])
    await promotable.ports.deliveryReceipts.apply([receiptFor(number)])
    assert.equal(await promotable.ports.promotions.takeProofs(0), 0)
    assert.equal(await promotable.ports.deliveryReceipts.adopt(0), 1)
    await promotable.ports.deliveryReceipts.match(1000)
    assert.deepEqual(await promotable.codes(by, ids), [delivered, unknown])
  },

  'a decision is final, and any process can carry it out': async (promotable) => {
    const by = await promotable.account()
    await promotable.send(by, { to: 3 })
    await promotable.send(by, { to: 3 })
    await promotable.promote()
    assert.equal(await promotable.ports.promotions.carryOut(1000), 0, 'nobody has decided')
    assert.equal(await promotable.ports.promotions.decide('end', 'first'), 'decided')
    assert.equal(await promotable.ports.promotions.carryOut(1), 3, 'a range at least, and not more than is needed')
    assert.equal(await promotable.ports.promotions.decide('send', 'second'), 'decided-otherwise')
    assert.equal(await promotable.ports.promotions.decide('end', 'second'), 'decided')
    const [promotion] = await promotable.ports.promotions.open()
    assert.equal(promotion?.inDoubt, 3)
    assert.deepEqual([promotion.decision?.choice, promotion.decision?.by], ['end', 'first'])
    assert.equal(await promotable.ports.promotions.carryOut(1000), 3)
    assert.equal(await promotable.ports.promotions.decide('send', 'second'), 'nothing-in-doubt')
  },

  'with concurrent decisions and executions each message is moved once': async (promotable) => {
    const by = await promotable.account()
    const ids: MessageId[] = []
    for (let n = 0; n < concurrentCallers; n++) ids.push(...(await promotable.send(by)))
    await promotable.promote()
    const deciding = Array.from({ length: 8 }, (_, n) =>
      promotable.ports.promotions.decide(n % 2 === 0 ? 'send' : 'end', `number ${n}`),
    )
    const answers = await Promise.all(deciding)
    assert.equal(answers.filter((answer) => answer === 'decided').length, 4)
    const moved = await Promise.all(
      Array.from({ length: concurrentCallers }, () => promotable.ports.promotions.carryOut(4)),
    )
    const rest = await promotable.ports.promotions.carryOut(1000)
    assert.equal(
      [...moved, rest].reduce((sum, some) => sum + some, 0),
      ids.length,
    )
    const claimed = await claimable(promotable)
    assert.deepEqual(
      claimed,
      (await promotable.ports.promotions.open()).length === 0 && answers[0] === 'decided' ? ids : [],
    )
  },

  'after another promotion an operator decides again': async (promotable) => {
    const by = await promotable.account()
    const ids = await promotable.send(by, { to: 2 })
    await promotable.send(by, { to: 3 })
    await promotable.promote()
    await promotable.ports.promotions.decide('send', 'somebody')
    assert.equal(await promotable.ports.promotions.carryOut(1), 2)
    await promotable.promote()
    assert.deepEqual(await inDoubt(promotable), [3, 2])
    assert.deepEqual(await claimable(promotable), [])
    assert.equal(await promotable.ports.promotions.carryOut(1000), 0)
    assert.equal(await carryOutAll(promotable, 'end'), 5)
    assert.deepEqual(await promotable.codes(by, ids), [unknown, unknown])
  },

  'a message in doubt beyond its validity ends as unknown, not as expired with a refund': async (promotable) => {
    const by = await promotable.account()
    const ids = await promotable.send(by, { to: 2 })
    await promotable.promote()
    assert.equal(await promotable.ports.promotions.expire(3600, 1000), 0)
    await promotable.ports.claimedBatches.expire(-1, 1000)
    assert.deepEqual(await promotable.codes(by, ids), ['waiting', 'waiting'])
    assert.equal(await promotable.ports.promotions.expire(-1, 1000), 2)
    assert.deepEqual(await promotable.codes(by, ids), [unknown, unknown])
    assert.deepEqual(await promotable.ports.promotions.open(), [])
  },

  'a message that is released beyond its validity expires': async (promotable) => {
    const by = await promotable.account()
    const ids = await promotable.send(by)
    await promotable.promote()
    await carryOutAll(promotable, 'send')
    await promotable.ports.claimedBatches.expire(-1, 1000)
    assert.deepEqual(await promotable.codes(by, ids), [expired])
  },

  'running bulk sends are stopped and listed with the rows that may have been sent': async (promotable) => {
    const by = await promotable.account()
    const { bulkSends, promotions } = promotable.ports
    const row = (at: number) => ({ row: at, number: aNumber(String(27820000000 + at)), fields: [] })
    const rowsOfCalls = [[row(1)], [row(2), row(3)]]
    const add = () => bulkSends.add(by, { columns: [], text: 'x', scheduled: undefined, key: 'k' }, rowsOfCalls)
    const [running, stopping, ended, draft] = [await add(), await add(), await add(), await add()]
    for (const send of [running, stopping, ended]) await bulkSends.start(by, send, 0)
    await bulkSends.stop(by, stopping)
    const end = (send: typeof running, call: number) =>
      bulkSends.end(send, call, { accepted: [], messages: 1, cost: credits(1), refusedRows: [] })
    await end(running, 0)
    await end(ended, 0)
    await end(ended, 1)
    await promotable.promote()
    const states = await Promise.all(
      [running, stopping, ended, draft].map(async (send) => {
        const found = await bulkSends.find(by, send)
        return [found?.state, found?.failedOver !== undefined]
      }),
    )
    assert.deepEqual(states, [
      ['stopping', true],
      ['stopping', true],
      ['ended', false],
      ['draft', false],
    ])
    const listed = (await promotions.failedOverSends()).filter(({ account }) => account === by)
    assert.deepEqual(
      listed.map(({ id, rows }) => [id, rows]),
      [
        [stopping, 3],
        [running, 2],
      ],
    )
    const claimedCall = await bulkSends.take(60, running)
    assert.deepEqual([claimedCall?.call, claimedCall?.send.failedOver], [1, listed[1]?.failedOver])
    const refusedRows = rowsOfCalls[1]?.map((one) => ({ ...one, refused: 'failed-over' as const })) ?? []
    await bulkSends.end(running, 1, { accepted: [], messages: 0, cost: credits(0), refusedRows })
    const last = await bulkSends.find(by, running)
    assert.deepEqual([last?.state, last?.isStopped, last?.refused], ['ended', true, 2])
    assert.deepEqual([await bulkSends.start(by, draft, 0), (await bulkSends.find(by, draft))?.state], [true, 'running'])
  },

  'a dispatcher registered after the promotion works like any other': async (promotable) => {
    const by = await promotable.account()
    await promotable.send(by)
    await promotable.promote()
    const dispatcher: DispatcherId = await promotable.dispatcher()
    const ids = await promotable.send(by, { to: 2 })
    const batch = await promotable.claim(dispatcher)
    assert.equal(await promotable.ports.claimedBatches.record(dispatcher, allAccepted(batch)), 'recorded')
    assert.deepEqual(await promotable.codes(by, ids), [sent, sent])
    assert.deepEqual(await inDoubt(promotable), [1])
  },
})
