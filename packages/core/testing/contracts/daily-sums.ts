import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import type { Handover } from '@gateway/core/dispatch'
import { gatewayDay, instant, type GatewayDay } from '@gateway/core/time'
import { withTraffic, type Traffic } from './claimed-batches/traffic.ts'
import { farAhead, longAgo, testCarrier, type Contract } from './shared.ts'

const ever = gatewayDay(longAgo)

/**
 * Claims all due messages in batches of at most `messagesMax`, and records the result of `handover` for each message.
 */
async function handOver(traffic: Traffic, handover: (id: number) => Handover, messagesMax = 10): Promise<void> {
  const holder = await traffic.dispatcher()
  const [single, bulk] = [
    await traffic.claimAll(holder, 'single', messagesMax),
    await traffic.claimAll(holder, 'bulk', messagesMax),
  ]
  for (const batch of [...single, ...bulk]) {
    await traffic.ports.claimedBatches.mark(holder, batch.id, batch.messages.length)
    const outcomes = batch.messages.map((message) => ({ batch: batch.id, message, handover: handover(message.id) }))
    await traffic.ports.claimedBatches.record(holder, outcomes)
  }
}

const accepting = (id: number): Handover => ({ outcome: 'accepted', reference: `r${id}` })

const receipt = ({ deliveryReceipts }: StoredPorts, id: number, code: 0 | 103 | 105): Promise<unknown> =>
  deliveryReceipts.apply([{ carrier: testCarrier, reference: `r${id}`, code, number: undefined, submitted: undefined }])

const sums = async ({ dailySums }: StoredPorts, account: AccountId): Promise<readonly unknown[]> =>
  (await dailySums.ofAccount(account, ever)).map(({ carrier, code, messages }) => [carrier, code, messages])

/** Asserts the sums twice: before and after all pending changes are added up. */
async function assertSums(ports: StoredPorts, account: AccountId, expected: readonly unknown[]): Promise<void> {
  assert.deepEqual(await sums(ports, account), expected)
  while ((await ports.dailySums.fold(2)) > 0);
  assert.deepEqual(await sums(ports, account), expected)
  assert.deepEqual(await ports.dailySums.check(ever), [])
}

export const dailySumsContract: Contract<StoredPorts> = withTraffic({
  'each message counts once, under its present state, on the day of its hand-over': async (traffic) => {
    const { ports } = traffic
    const by = await traffic.account()
    const [a = 0, b = 0, c = 0] = await traffic.send(by, { to: 4 })
    await assertSums(ports, by, [])
    await handOver(traffic, accepting)
    await assertSums(ports, by, [[testCarrier, 100, 4]])
    await receipt(ports, a, 105)
    await receipt(ports, b, 105)
    await receipt(ports, b, 0)
    await receipt(ports, c, 103)
    // Final states do not change any more.
    await receipt(ports, c, 0)
    await assertSums(ports, by, [
      [testCarrier, 0, 1],
      [testCarrier, 100, 1],
      [testCarrier, 103, 1],
      [testCarrier, 105, 1],
    ])
    const day = (await ports.dailySums.ofAccount(by, ever))[0]?.day ?? 0
    assert.ok(Math.abs(day - gatewayDay(instant(Date.now()))) <= 1)
    assert.deepEqual(await ports.dailySums.ofAccount(by, (day + 1) as GatewayDay), [])
  },

  'messages without a carrier count too (cancelled, refused, stopped), and unknown ones until they are resolved':
    async (traffic) => {
      const { ports } = traffic
      const by = await traffic.account()
      const [cancelled] = await traffic.send(by, { due: farAhead })
      assert.ok(cancelled !== undefined)
      await ports.messages.deleteScheduled(by, [cancelled], longAgo)
      await traffic.send(by, { to: 2 })
      await handOver(traffic, (id) => (id % 2 === 0 ? { outcome: 'unknown' } : { outcome: 'refused' }))
      const all = await ports.dailySums.ofAccount(by, ever)
      assert.deepEqual(
        all.map(({ code, messages }) => [code, messages]).toSorted(([a = 0], [b = 0]) => a - b),
        [
          [102, 1],
          [106, 1],
          [111, 1],
        ],
      )
      assert.equal(all.find(({ code }) => code === 102)?.carrier, undefined)
      await assertSums(ports, by, await sums(ports, by))
    },

  'messages of a dead dispatcher count as unknown': async (traffic) => {
    const { ports } = traffic
    const by = await traffic.account()
    await traffic.send(by, { to: 3 })
    const holder = await traffic.dispatcher()
    await traffic.claim(holder, 'single', 3, 2)
    await traffic.fence(holder)
    await assertSums(ports, by, [[testCarrier, 106, 2]])
  },

  'sums over all accounts are listed by carrier and by account, largest first': async (traffic) => {
    const { ports } = traffic
    const [few, many] = [await traffic.account(), await traffic.account()]
    await traffic.send(few)
    await traffic.send(many, { to: 3 })
    await handOver(traffic, accepting)
    assert.deepEqual(await ports.dailySums.byCarrier(ever), [{ carrier: testCarrier, code: 100, messages: 4 }])
    assert.deepEqual(await ports.dailySums.busiest(ever, 5), [
      { account: many, messages: 3 },
      { account: few, messages: 1 },
    ])
    assert.deepEqual(await ports.dailySums.busiest(ever, 1), [{ account: many, messages: 3 }])
    assert.deepEqual(await ports.dailySums.byCarrier(gatewayDay(farAhead)), [])
  },

  'concurrent writes of dispatchers and concurrent folding lose nothing': async (traffic) => {
    const { ports } = traffic
    const accounts = await Promise.all(Array.from({ length: 4 }, () => traffic.account()))
    const ids = (await Promise.all(accounts.map((by) => traffic.send(by, { to: 60 })))).flat()
    const folding = async () => {
      for (let i = 0; i < 10; i++) await ports.dailySums.fold(3)
    }
    await Promise.all([handOver(traffic, accepting, 7), handOver(traffic, accepting, 11), folding(), folding()])
    const receipts = ids.map((id) => receipt(ports, id, id % 3 === 0 ? 103 : 0))
    await Promise.all([...receipts, folding(), folding()])
    assert.deepEqual(await ports.dailySums.check(ever), [])
    for (const by of accounts) {
      const all = await ports.dailySums.ofAccount(by, ever)
      assert.equal(
        all.reduce((sum, { messages }) => sum + messages, 0),
        60,
      )
      assert.ok(all.every(({ code }) => code === 0 || code === 103))
    }
    while ((await ports.dailySums.fold(1000)) > 0);
    assert.deepEqual(await ports.dailySums.check(ever), [])
  },
})
