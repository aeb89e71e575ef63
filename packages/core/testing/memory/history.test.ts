import { createProcessing } from '@gateway/core'
import type { Handover } from '@gateway/core/dispatch'
import { secondsAfter } from '@gateway/core/time'
import {
  anAccount,
  anOrder,
  aNumber,
  memoryStore,
  memoryStoredPorts,
  numbers,
  steppingClock,
} from '@gateway/core/testing'
import { accepted, assertLedger, at, dispatchDue, statusesOf, testCarrier } from '../contracts/shared.ts'

const daySeconds = 86_400

async function setUp() {
  const clock = steppingClock()
  const ports = memoryStoredPorts(memoryStore(clock))
  const { id } = await anAccount(ports, { credits: 100_000 })
  const processing = createProcessing({ ...ports, clock })
  const send = async (count: number, handover: Handover = { outcome: 'unknown' }) => {
    const { ids } = await accepted(ports, anOrder(id, { to: numbers(count) }))
    await dispatchDue(ports, 'single', () => handover)
    return ids
  }
  return { ...ports, ports, account: id, clock, processing, send }
}

test('messages older than 90 days, to the millisecond, are dropped; the balance stays', async () => {
  const { ports, account, clock, processing, send, ledger } = await setUp()
  const ids = await send(3)
  const balance = await ledger.balance(account)
  clock.step(90 * daySeconds)
  expect(await processing.purge()).toEqual({ partitions: 0, sends: 0, messages: 0, progress: 'all' })
  clock.step(0.001)
  expect(await processing.purge()).toEqual({ partitions: 0, sends: 1, messages: 3, progress: 'all' })
  expect(new Set(await statusesOf(ports, account, ids))).toEqual(new Set(['not-found']))
  expect(await ledger.balance(account)).toBe(balance)
  await assertLedger(ports)
})

test('the age of a send counts from its due time, and from the last change of any of its messages', async () => {
  const { ports, account, clock, processing, send, deliveryReceipts, claimedBatches } = await setUp()
  const due = secondsAfter(clock.now(), 100 * daySeconds)
  await accepted(ports, anOrder(account, { to: numbers(1), due }))
  const ids = await send(1, { outcome: 'accepted', reference: 'r' })
  clock.step(95 * daySeconds)
  await deliveryReceipts.apply([
    { carrier: testCarrier, reference: 'r', code: 0, number: undefined, submitted: undefined },
  ])
  // A receipt for a message of this age might mean a newer message with the same reference. It is matched only if no
  // such message is recorded within ten minutes.
  clock.step(601)
  expect(await deliveryReceipts.match(10)).toBe(1)
  expect(await processing.purge()).toMatchObject({ sends: 0 })
  clock.step(90 * daySeconds + 1)
  expect(await processing.purge()).toMatchObject({ sends: 1 })
  expect(await statusesOf(ports, account, ids)).toEqual(['not-found'])
  expect(await claimedBatches.promote(10)).toBe(1)
  await dispatchDue(ports, 'single', () => ({ outcome: 'unknown' }))
  clock.step(90 * daySeconds + 1)
  expect(await processing.purge()).toMatchObject({ sends: 1 })
})

test('more messages than fit in one step are dropped in several steps', async () => {
  const { ports, clock, processing, send } = await setUp()
  for (let i = 0; i < 1001; i++) await send(1)
  clock.step(91 * daySeconds)
  expect(await processing.purge()).toEqual({ partitions: 0, sends: 1000, messages: 1000, progress: 'more' })
  expect(await processing.purge()).toEqual({ partitions: 0, sends: 1, messages: 1, progress: 'all' })
  await assertLedger(ports)
})

test('a receipt of a dropped message is stored and finally dropped; a reused reference stays with the newer message', async () => {
  const { ports, account, clock, processing, send, deliveryReceipts } = await setUp()
  await send(1, { outcome: 'accepted', reference: 'gone' })
  await send(1, { outcome: 'accepted', reference: 'again' })
  clock.step(91 * daySeconds)
  const young = await send(1, { outcome: 'accepted', reference: 'again' })
  expect(await processing.purge()).toMatchObject({ sends: 2 })
  const receipt = { carrier: testCarrier, code: 0, number: aNumber(), submitted: undefined } as const
  await deliveryReceipts.apply([
    { ...receipt, reference: 'gone' },
    { ...receipt, reference: 'again' },
  ])
  expect(await deliveryReceipts.match(10)).toBe(0)
  expect(await statusesOf(ports, account, [at(young, 0)])).toMatchObject([{ code: 0 }])
})
