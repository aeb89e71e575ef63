import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import type { DispatcherId, ClaimedBatch } from '@gateway/core/dispatch'
import { type MessageId, OUTCOME } from '@gateway/core/messages'
import { instant, secondsAfter } from '@gateway/core/time'
import {
  anAccount,
  aNumber,
  anOrder,
  memoryStore,
  memoryStoredPorts,
  numbers,
  steppingClock,
} from '@gateway/core/testing'
import { accepted, at, assertLedger, collect, longAgo, testCarrier } from '../contracts/shared.ts'

const claimRequest = { carrier: testCarrier, lane: 'single', messagesMax: 100, markedMax: 0, leaseSeconds: 30 } as const
const setUp = () => {
  const clock = steppingClock()
  return { clock, ...memoryStoredPorts(memoryStore(clock)) }
}

async function claimed(
  ports: Pick<StoredPorts, 'claimedBatches'>,
  dispatcher: DispatcherId,
  more = {},
): Promise<ClaimedBatch> {
  const batch = await ports.claimedBatches.claim(dispatcher, { ...claimRequest, ...more })
  if (typeof batch === 'string') throw new Error(batch)
  return batch
}

const codes = async (ports: StoredPorts, by: AccountId, ids: readonly MessageId[]) =>
  (await ports.messages.status(by, ids, longAgo)).map((status) => (typeof status === 'string' ? status : status.code))

test('the clock of the store decides when a lease is over, and only recovery fences', async () => {
  const { clock, claimedBatches } = setUp()
  const dispatcher = await claimedBatches.register(30)
  clock.step(30)
  expect(await claimedBatches.recover()).toEqual({ requeued: 0, unknown: 0 })
  clock.step(1)
  expect(await claimedBatches.extend(dispatcher, 30)).toBe('alive')
  clock.step(31)
  await claimedBatches.recover()
  expect(await claimedBatches.extend(dispatcher, 30)).toBe('fenced')
  expect(await claimedBatches.claim(dispatcher, claimRequest)).toBe('fenced')
})

test('recovery makes marked messages unknown and gives the others back to the queue, in order and with their age', async () => {
  const ports = setUp()
  const { clock, claimedBatches } = ports
  const { id } = await anAccount(ports)
  const { ids } = await accepted(ports, anOrder(id, { to: numbers(4) }))
  const accepting = clock.now()
  const dead = await claimedBatches.register(30)
  const batch = await claimed(ports, dead, { markedMax: 1 })
  await claimedBatches.mark(dead, batch.id, 2)
  await claimedBatches.mark(dead, batch.id, 1)
  clock.step(60)
  expect(await claimedBatches.recover()).toEqual({ requeued: 2, unknown: 2 })
  expect(await codes(ports, id, ids)).toEqual([106, 106, 'waiting', 'waiting'])
  const next = await claimed(ports, await claimedBatches.register(30))
  expect(next.messages.map(({ id, due, attempt }) => ({ id, due, attempt }))).toEqual(
    ids.slice(2).map((id) => ({ id, due: accepting, attempt: 0 })),
  )
  expect(await claimedBatches.settle(dead, batch.id, [{ id: at(batch.messages, 2).id, code: OUTCOME.expired }])).toBe(
    'fenced',
  )
  await assertLedger(ports, 960)
})

test('late outcomes of a fenced dispatcher correct a 106 once, and change nothing else', async () => {
  const ports = setUp()
  const { clock, claimedBatches } = ports
  const { id } = await anAccount(ports)
  const { ids } = await accepted(ports, anOrder(id, { to: numbers(4) }))
  const dead = await claimedBatches.register(30)
  const batch = await claimed(ports, dead, { markedMax: 3 })
  clock.step(60)
  await claimedBatches.recover()
  const outcomes = [
    { outcome: 'accepted', reference: 'r-0' },
    { outcome: 'refused' },
    { outcome: 'unknown' },
    { outcome: 'refused' },
  ] as const
  const recorded = batch.messages.map((message, i) => ({ batch: batch.id, message, handover: at(outcomes, i) }))
  for (let again = 0; again < 2; again++) await claimedBatches.record(dead, recorded)
  expect(await codes(ports, id, ids)).toEqual([100, 111, 106, 'waiting'])
  await assertLedger(ports, 970)
  expect(await claimedBatches.postpone(dead, batch.id, [at(ids, 2), at(ids, 3), at(ids, 0)], 5)).toBe('fenced')
  const refused = batch.messages.map((message) => ({
    batch: batch.id,
    message,
    handover: { outcome: 'refused' } as const,
  }))
  await claimedBatches.record(dead, refused)
  expect(await codes(ports, id, ids)).toEqual([100, 111, 111, 'waiting'])
  await assertLedger(ports, 980)
})

test('messages refused for now wait, return with one more attempt, and expire by their first due time', async () => {
  const ports = setUp()
  const { clock, claimedBatches } = ports
  const { id } = await anAccount(ports)
  const { ids } = await accepted(ports, anOrder(id, { to: numbers(3) }))
  const dispatcher = await claimedBatches.register(1e6)
  const batch = await claimed(ports, dispatcher)
  await claimedBatches.postpone(dispatcher, batch.id, [at(ids, 0), at(ids, 2)], 10)
  await claimedBatches.postpone(dispatcher, batch.id, [at(ids, 0), at(ids, 2)], 10)
  expect(await claimedBatches.promote(100)).toBe(0)
  clock.step(10)
  expect(await claimedBatches.promote(1)).toBe(1)
  const again = await claimed(ports, dispatcher)
  expect(again.messages.map(({ id, attempt }) => [id, attempt])).toEqual([[ids[0], 1]])
  await claimedBatches.retire(dispatcher)
  clock.step(3600)
  expect(await claimedBatches.expire(3610, 100)).toBe(0)
  clock.step(1)
  expect(await claimedBatches.expire(3610, 1)).toBe(2) // one of each place that ranges wait in
  expect(await claimedBatches.expire(3610, 100)).toBe(1)
  expect(await codes(ports, id, ids)).toEqual([101, 101, 101])
  await assertLedger(ports, 1000)
})

test('behind 20 000 single sends of another account a message waits for one claim, queued or promoted', async () => {
  const ports = setUp()
  const { clock, claimedBatches, messages } = ports
  const hog = await anAccount(ports, { credits: 2_000_000 })
  const small = await anAccount(ports)
  const due = secondsAfter(clock.now(), 60)
  const to = [aNumber()]
  for (let i = 0; i < 10_000; i++) {
    await messages.accept(anOrder(hog.id, { to }))
    await messages.accept(anOrder(hog.id, { to, due }))
  }
  await accepted(ports, anOrder(small.id, { to }))
  await accepted(ports, anOrder(small.id, { to, due }))
  const dispatcher = await claimedBatches.register(1e6)
  const first = await claimed(ports, dispatcher)
  expect(first.messages.filter(({ account }) => account === small.id)).toHaveLength(1)
  clock.step(60)
  expect(await claimedBatches.promote(100)).toBe(100)
  const second = await claimed(ports, dispatcher)
  expect(second.messages.filter(({ account }) => account === small.id)).toHaveLength(1)
  while ((await claimedBatches.promote(1000)) > 0);
  let remaining = 20_002 - 200
  for (;;) {
    const batch = await claimedBatches.claim(dispatcher, { ...claimRequest, messagesMax: 1000 })
    if (typeof batch === 'string') break
    remaining -= batch.messages.length
  }
  expect(remaining).toBe(0)
})

test('a claim of the bulk lane has messages of one account, and the accounts take turns', async () => {
  const ports = setUp()
  const [one, two] = [await anAccount(ports, { credits: 10_000 }), await anAccount(ports, { credits: 10_000 })]
  await accepted(ports, anOrder(one.id, { to: numbers(250) }, { to: numbers(20) }))
  await accepted(ports, anOrder(two.id, { to: numbers(11) }))
  const dispatcher = await ports.claimedBatches.register(30)
  const slices: (readonly [number, number])[] = []
  for (let i = 0; i < 4; i++) {
    const { messages } = await claimed(ports, dispatcher, { lane: 'bulk' })
    expect(new Set(messages.map(({ account }) => account)).size).toBe(1)
    slices.push([at(messages, 0).account, messages.length])
  }
  expect(slices).toEqual([
    [one.id, 100],
    [two.id, 11],
    [one.id, 100],
    [one.id, 70],
  ])
  expect(await ports.claimedBatches.claim(dispatcher, { ...claimRequest, lane: 'bulk' })).toBe('nothing')
})

test('a claim reports locks and suppressions as of the claim, even if they came after acceptance', async () => {
  const ports = setUp()
  const { id } = await anAccount(ports)
  await accepted(ports, anOrder(id, { to: [aNumber()] }))
  await ports.accounts.setLocked(id, true)
  await ports.suppressions.add({ scope: id, kind: 'opt-out', number: aNumber(), since: instant(0) })
  await ports.suppressions.add({ scope: 'everybody', kind: 'blacklist', number: aNumber(), since: instant(0) })
  const { messages } = await claimed(ports, await ports.claimedBatches.register(30))
  expect(messages[0]).toMatchObject({ accountLocked: true, suppressions: new Set(['opt-out', 'blacklist']) })
  expect(await collect(ports.accounts.list())).toHaveLength(1)
})
